"""Images, videos, files and nodes with an element of their own in Adaptive Cards."""

from __future__ import annotations

from typing import Any

import pytest

from bridge.content.cards.rendering import Rendering
from bridge.content.cards.tree import (
    Actions,
    Alert,
    Asset,
    Badge,
    Button,
    Chart,
    Container,
    File,
    Gallery,
    Image,
    Native,
    Node,
    Player,
    Point,
    Poll,
    PollAnswer,
    Progress,
    Rating,
    Series,
    Task,
    Tasks,
)
from connectors.teams.capabilities import CARD_NODES
from tests.connectors.teams.written import Json, elements, kinds, line, prose, text, write
from tests.content.card_strategies import node_types

PICTURE = Asset(url="https://a.example/p.png", alt="a cat")
ADAPTIVE = "application/vnd.microsoft.card.adaptive+json"


def only(node: Node) -> Json:
    (element,) = elements(node)
    return element


def test_the_capabilities_list_every_node_type() -> None:
    assert set(CARD_NODES) == node_types()


# --- pictures -----------------------------------------------------------------------------------


def test_an_image_keeps_its_alt_text_size_shape_and_link() -> None:
    image = Image(
        PICTURE, size="large", round=True, link="https://a.example", title=line("My *cat*")
    )

    assert elements(image) == [
        {
            "type": "Image",
            "url": "https://a.example/p.png",
            "altText": "a cat",
            "size": "large",
            "style": "person",
            "selectAction": {"type": "Action.OpenUrl", "url": "https://a.example"},
        },
        text("My \\*cat\\*", weight="bolder", spacing="small"),
    ]


def test_a_small_data_url_image_is_kept() -> None:
    tiny = "data:image/png;base64," + "A" * 400

    assert only(Image(Asset(url=tiny)))["url"] == tiny


@pytest.mark.parametrize(
    ("asset", "lost"),
    [
        (Asset(url="https://a.example/p.png", private=True, alt="a cat"), "a cat"),
        (Asset(url="data:image/png;base64," + "A" * 9000, alt="a cat"), "a cat"),
        (Asset(url="data:text/html;base64,AAAA", alt="a cat"), "a cat"),
        (
            Asset(url="https://a.example/p.svg?x=1", alt="a cat"),
            "a cat https://a.example/p.svg?x=1",
        ),
        (Asset(url="images/p.png", alt="a cat"), "a cat images/p.png"),
        (Asset(file_id="blob:sha256-1", alt="a cat"), "a cat"),
    ],
)
def test_an_image_that_teams_cannot_fetch_is_text(asset: Asset, lost: str) -> None:
    assert only(Image(asset)) == text("🖼 a cat")
    assert kinds(write(Image(asset, at="/i"))) == [("/i", "image_as_link", lost)]


def test_a_private_image_is_a_link_to_its_page() -> None:
    asset = Asset(private=True, page="https://a.example/see", name="p.png", alt="a cat")

    assert only(Image(asset)) == text("🖼 [a cat](https://a.example/see)")


def test_a_spoiler_image_is_hidden_behind_a_toggle_button() -> None:
    button, box = elements(Image(Asset(url="https://a.example/p.png", spoiler=True)))

    assert button["actions"][0]["title"] == "Spoiler"
    assert (box["isVisible"], box["items"][0]["type"]) == (False, "Image")


def test_the_images_of_a_gallery_are_image_sets_and_other_media_are_below() -> None:
    film = Player("video", Asset(url="https://a.example/f.mp4", name="f.mp4"))

    written_elements = elements(Gallery((Image(PICTURE), Image(PICTURE), film, Image(PICTURE))))

    assert [element["type"] for element in written_elements] == [
        "ImageSet",
        "TextBlock",
        "ImageSet",
    ]
    assert written_elements[0]["imageSize"] == "medium"


# --- films, sounds, files -----------------------------------------------------------------------


def test_a_video_of_a_supported_host_is_a_media_element() -> None:
    film = Player(
        "video",
        Asset(name="film"),
        link="https://www.youtube.com/watch?v=1",
        title=line("Our film"),
        author=line("Ann"),
        poster=Asset(url="https://a.example/p.png"),
    )

    assert elements(film) == [
        text("[Our film](https://www.youtube.com/watch?v=1)", weight="bolder", spacing="small"),
        {
            "type": "Media",
            "sources": [{"mimeType": "video/mp4", "url": "https://www.youtube.com/watch?v=1"}],
            "poster": "https://a.example/p.png",
            "altText": "film",
        },
        text("Ann", isSubtle=True),
    ]


def test_other_videos_are_a_poster_and_a_link() -> None:
    film = Player(
        "video",
        Asset(url="https://a.example/f.mp4", name="f.mp4"),
        description=line("2 minutes"),
        poster=PICTURE,
        at="/p",
    )

    assert elements(film) == [
        {
            "type": "Image",
            "url": "https://a.example/p.png",
            "altText": "a cat",
            "size": "stretch",
            "selectAction": {"type": "Action.OpenUrl", "url": "https://a.example/f.mp4"},
        },
        text("🎬 [f.mp4](https://a.example/f.mp4)\n\n2 minutes"),
    ]
    assert kinds(write(film)) == [("/p", "player_as_link", "f.mp4")]


def test_a_video_of_a_lookalike_host_is_a_link() -> None:
    film = Player("video", Asset(url="https://notyoutube.com/1"), title=line("x"))

    assert only(film) == text("🎬 [x](https://notyoutube.com/1)")


@pytest.mark.parametrize("link", ["https://youtu.be/1", "https://a.example/page"])
def test_the_unlinked_url_of_a_video_is_reported(link: str) -> None:
    film = Player(
        "video", Asset(page="https://embed.example/1"), title=line("x"), link=link, at="/v"
    )

    assert ("/v", "address", "https://embed.example/1") in kinds(write(film))


def test_a_file_is_a_link() -> None:
    asset = Asset(url="https://a.example/a.pdf", name="a.pdf")

    assert only(File(asset)) == text("📎 [a.pdf](https://a.example/a.pdf)")
    assert only(File(asset, title=line("The plan"))) == text(
        "📎 [The plan](https://a.example/a.pdf) · a.pdf"
    )


def test_a_file_without_a_url_is_written_as_its_name() -> None:
    file = File(Asset(file_id="blob:sha256-1", name="a.pdf"), at="/f")

    assert only(file) == text("📎 a.pdf")
    assert kinds(write(file)) == [("/f", "file_as_link", "a.pdf")]


def test_stored_files_are_links_when_the_bridge_serves_them() -> None:
    rendering = Rendering(url_of=lambda asset: f"https://files.example/{asset.file_id[-1]}")

    assert elements(File(Asset(file_id="blob:sha256-1", name="a.pdf")), rendering=rendering) == [
        text("📎 [a.pdf](https://files.example/1)")
    ]


# --- forms of their own -------------------------------------------------------------------------


def test_an_alert_is_a_container_of_its_style() -> None:
    assert only(Alert("error", prose("It failed").text)) == {
        "type": "Container",
        "style": "attention",
        "items": [text("⛔ It failed")],
    }


def test_a_badge_has_bold_text_as_its_fallback() -> None:
    assert only(Badge(line("New"), icon="Star", hint=line("since today"), style="good")) == {
        "type": "Badge",
        "text": "New",
        "style": "Good",
        "icon": "Star",
        "tooltip": "since today",
        "fallback": text("**New** (since today)"),
    }
    assert only(Badge(icon="Star")) == {"type": "Icon", "name": "Star", "fallback": "drop"}


def test_progress_is_a_progress_bar_below_its_label() -> None:
    assert elements(Progress(30, label=line("Upload"), style="good")) == [
        text("Upload"),
        {
            "type": "ProgressBar",
            "value": 30,
            "max": 100,
            "color": "Good",
            "fallback": text("▓▓▓░░░░░░░ 30 %"),
        },
    ]
    assert only(Progress(None)) == {"type": "ProgressBar", "fallback": text("⏳")}


def test_a_rating_has_stars_as_its_fallback() -> None:
    assert only(Rating(4.2, count=37)) == {
        "type": "Rating",
        "value": 4.2,
        "max": 5,
        "count": 37,
        "fallback": text("★★★★☆ 4.2/5 (37)"),
    }


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), 1e300])
def test_invalid_numbers_in_progress_and_ratings_are_written_safely(odd: float) -> None:
    written_elements = elements(
        Progress(odd),
        Progress(1, max=odd),
        Progress(5, max=0),
        Rating(odd),
        Rating(-odd, max=-1),
    )

    assert [element["type"] for element in written_elements] == ["ProgressBar"] * 3 + ["Rating"] * 2


def test_tasks_start_with_the_sign_of_their_state() -> None:
    tasks = Tasks(
        (Task(line("Search"), "done", (prose("3 results"),)), Task(line("Write"), "running")),
        title=line("Plan"),
    )

    assert elements(tasks) == [
        text("**Plan**"),
        text("✅ Search"),
        text("3 results"),
        text("🔄 Write"),
    ]


def test_a_poll_is_text_with_its_question_and_answers() -> None:
    poll = Poll(line("Lunch?"), (PollAnswer(line("Yes"), "🍏", 2), PollAnswer(line("No"))), at="/p")

    assert only(poll) == text("📊 **Lunch?**\n\n- 🍏 Yes: 2\n- No")
    assert kinds(write(poll)) == [("/p", "poll_as_text", "voting")]


# --- charts -------------------------------------------------------------------------------------

SALES = Series("Sales", (Point("Mon", 1), Point("Tue", 2.5)))
COSTS = Series("Costs", (Point("Mon", 3),), "good")
VALUES = [{"x": "Mon", "y": 1}, {"x": "Tue", "y": 2.5}]


@pytest.mark.parametrize(
    ("chart", "drawn"),
    [
        (
            Chart("pie", (Series("", SALES.points),), title="T"),
            {
                "type": "Chart.Pie", "title": "T",
                "data": [{"legend": "Mon", "value": 1}, {"legend": "Tue", "value": 2.5}],
            },
        ),
        (
            Chart("gauge", (Series("", SALES.points),), value=2),
            {
                "type": "Chart.Gauge", "value": 2,
                "segments": [{"legend": "Mon", "size": 1}, {"legend": "Tue", "size": 2.5}],
            },
        ),
        (
            Chart("bar", (Series("", SALES.points),), x_title="Day", y_title="€"),
            {"type": "Chart.VerticalBar", "data": VALUES, "xAxisTitle": "Day", "yAxisTitle": "€"},
        ),
        (
            Chart("stacked_bar", (SALES, COSTS)),
            {
                "type": "Chart.VerticalBar.Grouped", "stacked": True,
                "data": [
                    {"legend": "Sales", "values": VALUES},
                    {"legend": "Costs", "values": [{"x": "Mon", "y": 3}], "color": "good"},
                ],
            },
        ),
        (
            Chart("stacked_row", (SALES, COSTS)),
            {
                "type": "Chart.HorizontalBar.Stacked",
                "data": [
                    {
                        "title": "Mon",
                        "data": [
                            {"legend": "Sales", "value": 1},
                            {"legend": "Costs", "value": 3, "color": "good"},
                        ],
                    },
                    {"title": "Tue", "data": [{"legend": "Sales", "value": 2.5}]},
                ],
            },
        ),
        (
            Chart("line", (SALES,)),
            {"type": "Chart.Line", "data": [{"legend": "Sales", "values": VALUES}]},
        ),
    ],
)  # fmt: skip
def test_a_chart_has_a_table_as_its_fallback(chart: Chart, drawn: Json) -> None:
    written_elements = only(chart)
    fallback = written_elements.pop("fallback")

    assert written_elements == drawn
    assert "Table" in str(fallback)
    assert write(chart).losses == ()


def test_a_chart_without_numbers_is_a_table() -> None:
    chart = Chart("bar", (Series("a", (Point("x", float("nan")),)),), at="/c")

    assert only(chart)["type"] == "Table"
    assert kinds(write(chart)) == [("/c", "chart_as_table", "a bar chart")]


# --- native elements ----------------------------------------------------------------------------


def test_a_native_adaptive_element_is_written_unchanged_with_a_fallback() -> None:
    payload: dict[str, Any] = {"type": "ProgressRing", "label": "Loading", "size": "Large"}

    assert only(Native(ADAPTIVE, payload, (prose("Loading"),))) == {
        **payload,
        "fallback": text("Loading"),
    }


def test_a_native_adaptive_action_is_written_in_an_action_set() -> None:
    payload: dict[str, Any] = {"type": "Action.ResetInputs", "title": "Reset"}

    assert only(Native(ADAPTIVE, payload)) == {
        "type": "ActionSet",
        "actions": [{**payload, "fallback": "drop"}],
    }


@pytest.mark.parametrize(
    "payload",
    [
        None,
        [],
        {"title": "no type"},
        {"type": "CompoundButton", "selectAction": {"type": "Action.Submit", "data": {"a": 1}}},
        {"type": "Icon", "name": "x", "selectAction": {"type": "Action.OpenUrl", "url": "tel:1"}},
        {"type": "Thing", "text": "<at>Ann</at>"},
        {"type": "Thing", "items": [{"type": "Input.Text", "id": "x"}]},
        {"type": "Thing", "text": "x" * 7000},
        {"type": "Thing", "half": "\ud800"},
        {"type": "TextBlock", "text": {"type": "Image"}},
        {"type": "Thing", "targetElements": ["nobody"]},
        {"type": "Component", "name": "x", "url": "${where}"},
        {"type": "Chart.Pie", "title": "Votes"},
        {"type": "Chart.Pie", "title": "Votes", "data": {"a": 1}},
        {"type": "Action.ResetInputs", "title": ["Reset"]},
    ],
)
def test_an_unsafe_native_payload_is_written_as_its_fallback(payload: Any) -> None:
    node = Native(ADAPTIVE, payload, (prose("the same"),), at="/n")

    assert only(node) == text("the same")
    assert kinds(write(node)) == [("/n", "native_as_fallback", ADAPTIVE)]


def test_a_native_action_without_a_title_takes_its_fallbacks_title() -> None:
    payload: dict[str, Any] = {"type": "Action.ResetInputs"}
    button = Button(line("Reset"), does="press", disabled=True)

    titled = only(Native(ADAPTIVE, payload, (Actions((button,)),)))["actions"][0]
    bare = only(Native(ADAPTIVE, payload))["actions"][0]

    assert (titled["title"], bare["title"]) == ("Reset", "…")


def test_a_native_payload_of_another_platform_becomes_its_fallback() -> None:
    node = Native("application/vnd.acme+json", {"type": "Icon"}, (prose("x", subtle=True),))

    assert only(node) == text("x", isSubtle=True)


def test_malformed_values_in_native_elements_are_written_safely() -> None:
    payload: dict[str, Any] = {"type": "Thing", "users": [{"id": []}, {"type": 7, "id": "x"}]}
    show = Button(line("Show"), does="toggle", targets=("box",))

    written_elements = elements(Native(ADAPTIVE, payload), show, Container((prose("x"),), id="box"))

    assert written_elements[0]["users"] == payload["users"]


def test_a_native_element_with_a_repeated_id_is_written_as_its_fallback() -> None:
    payload: dict[str, Any] = {"type": "Icon", "name": "Star", "id": "star"}

    written_elements = elements(
        Native(ADAPTIVE, payload), Native(ADAPTIVE, payload, (prose("Star"),))
    )

    assert written_elements == [{**payload, "fallback": "drop"}, text("Star")]
