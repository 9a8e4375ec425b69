"""Alerts, tasks, charts, polls, images and videos."""

from __future__ import annotations

from bridge.content.cards.rendering import Rendering
from bridge.content.cards.tree import (
    Alert,
    Asset,
    Badge,
    Chart,
    File,
    Gallery,
    Image,
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
from bridge.content.markdown import markdown_to_text
from bridge.content.text.tree import Link
from bridge.model import Loss
from tests.connectors.slack.written_cards import (
    PICTURE,
    PICTURE_ELEMENT,
    blocks,
    bodies,
    line_of,
    losses,
    mrkdwn,
    plain,
    prose,
    rich,
    run,
    section,
    text,
    write,
)

# --- text, tasks and charts -------------------------------------------------------------------


def test_alerts_are_quotes_that_start_with_a_sign() -> None:
    node = Alert("error", markdown_to_text("It **failed**"), at="/a")

    assert blocks(node) == [section("> ⛔ It *failed*")]
    assert losses(node)[0].kind == "alert_as_prose"


def test_badges_bars_and_stars_are_text() -> None:
    assert blocks(
        Badge(line_of("New"), hint=line_of("since today")),
        Progress(3, max=10, label=line_of("Copied")),
        Rating(4.2, count=37),
    ) == [
        section("*New* (since today)"),
        section("Copied ▓▓▓░░░░░░░ 30 %"),
        section("★★★★☆ 4.2/5 (37)"),
    ]


def test_tasks_are_a_plan() -> None:
    node = Tasks(
        (
            Task(
                line_of("Read"),
                "done",
                (prose("all"),),
                (),
                (Link("https://e.example", line_of("it")),),
            ),
            Task(line_of("Write")),
        ),
        title=line_of("Plan"),
    )

    assert blocks(node) == [
        {
            "type": "plan",
            "title": "Plan",
            "tasks": [
                {
                    "type": "task_card",
                    "task_id": "task",
                    "title": "Read",
                    "status": "complete",
                    "details": rich(run(text("all"))),
                    "sources": [{"type": "url", "url": "https://e.example", "text": "it"}],
                },
                {"type": "task_card", "task_id": "task~2", "title": "Write", "status": "pending"},
            ],
        }
    ]


def test_tasks_that_hold_more_than_text_are_a_list() -> None:
    node = Tasks((Task(line_of("Read"), "done", (Image(PICTURE),)),), at="/t")

    assert blocks(node) == [section("✅ Read"), PICTURE_ELEMENT]
    assert losses(node)[0].kind == "tasks_as_nodes"


def series(name: str, *values: float) -> Series:
    return Series(name, tuple(Point(f"d{n}", value) for n, value in enumerate(values)))


def test_charts_are_drawn_by_slack() -> None:
    node = Chart("row", (series("a", 1, 2), series("b", 3, 4)), title="T", x_title="x", at="/c")

    assert blocks(node) == [
        {
            "type": "data_visualization",
            "title": "T",
            "chart": {
                "type": "bar",
                "axis_config": {"categories": ["d0", "d1"], "x_label": "x"},
                "series": [
                    {
                        "name": name,
                        "data": [{"label": "d0", "value": v}, {"label": "d1", "value": w}],
                    }
                    for name, v, w in (("a", 1, 2), ("b", 3, 4))
                ],
            },
        }
    ]
    assert losses(node)[0].kind == "chart_form"


def test_charts_that_slack_does_not_draw_are_tables() -> None:
    gaps = Chart("line", (series("a", 1), series("b", 1, 2)), at="/c")

    assert blocks(gaps)[0]["type"] == "table"
    assert losses(gaps)[0].kind == "chart_as_table"


def test_three_charts_are_two_messages() -> None:
    pie = Chart("pie", (series("", 1, 2),), title="T")

    assert [len(body["blocks"]) for body in bodies(pie, pie, pie)] == [2, 1]


def test_polls_are_lists() -> None:
    node = Poll(
        line_of("Lunch?"), (PollAnswer(line_of("Soup"), "🍲", 3), PollAnswer(line_of("Bread")))
    )

    (block,) = blocks(node)

    assert block["elements"][0] == run(text("📊 "), text("Lunch?", bold=True))
    assert block["elements"][1]["elements"] == [run(text("🍲 Soup: 3")), run(text("Bread"))]


# --- media ------------------------------------------------------------------------------------


def test_pictures_are_image_blocks() -> None:
    node = Image(PICTURE, title=line_of("Tom"), link="https://e.example")

    assert blocks(node) == [
        {**PICTURE_ELEMENT, "title": plain("Tom")},
        {"type": "context", "elements": [mrkdwn("<https://e.example>")]},
    ]


def test_images_without_a_public_url_are_links_or_uploads() -> None:
    node = Image(
        Asset(file_id="blob:sha256-1", alt="A cat", page="https://e.example/p"),
        title=line_of("Tom"),
        at="/i",
    )

    assert blocks(node) == [section("🖼 <https://e.example/p|Tom> (A cat)")]
    assert losses(node) == (
        Loss(path="/i", kind="image_as_prose", what="A cat", shown_as="a link"),
    )
    (message,) = write(node, rendering=Rendering(uploads=True)).messages
    assert (message.body["blocks"], message.files) == ([section("Tom")], (node.asset,))


def test_images_stored_by_slack_are_referenced_by_file_id() -> None:
    node = Image(Asset(file_id="slack:F0CAT", private=True, alt="A cat"))

    assert blocks(node) == [{"type": "image", "slack_file": {"id": "F0CAT"}, "alt_text": "A cat"}]


def test_images_of_a_type_that_slack_refuses_are_links() -> None:
    node = Image(Asset(url="https://e.example/p.svg", alt="A drawing"))

    assert blocks(node) == [section("🖼 <https://e.example/p.svg|A drawing>")]


def test_videos_and_files_are_links() -> None:
    film = Player(
        "video", Asset(url="https://e.example/f.mp4"), title=line_of("Film"),
        author=line_of("Ada"), poster=PICTURE, link="https://e.example/watch",
    )  # fmt: skip
    file = File(Asset(url="https://e.example/f.pdf", name="f.pdf"))

    assert blocks(Gallery((film,)), file) == [
        PICTURE_ELEMENT,
        section("🎬 <https://e.example/watch|Film>\n\nAda"),
        section("📎 <https://e.example/f.pdf|f.pdf>"),
    ]
