"""The Bot Framework's own cards and connector cards as containers."""

from __future__ import annotations

import pytest
from pydantic import JsonValue

from bridge.content.cards.rendering import Payload
from bridge.content.cards.tree import (
    Actions,
    Asset,
    Button,
    Choice,
    Container,
    DateInput,
    Divider,
    Fields,
    Gallery,
    Image,
    LabelledValue,
    Node,
    Option,
    Player,
    Prose,
    Section,
    Table,
    TextInput,
)
from bridge.content.text.tree import Emphasis, Heading, Link, Paragraph, Strong, Text
from connectors.teams.cards import read_payload
from tests.connectors.teams.cards import Json, line, prose

OPEN: Json = {"type": "openUrl", "title": "Open", "value": "https://a.example"}
PICTURE = Image(Asset(url="https://a.example/p.png", alt="p"))


def read(kind: str, content: JsonValue) -> tuple[Node, ...]:
    return read_payload(Payload(f"application/vnd.microsoft.{kind}", content)).nodes


def test_a_hero_card_has_its_image_as_hero() -> None:
    read_nodes = read("card.hero", {
        "title": "T",
        "subtitle": "S",
        "text": "a <b>b</b>",
        "images": [
            {"url": "https://a.example/p.png", "alt": "p"},
            {"url": "https://a.example/q.png"},
        ],
        "buttons": [OPEN, {"type": "messageBack", "title": "Say", "text": "t", "value": {"n": 1}}],
        "tap": {"type": "openUrl", "value": "https://a.example/tap"},
    })  # fmt: skip

    native_action: JsonValue = {"msteams": {"type": "messageBack", "text": "t", "value": {"n": 1}}}
    buttons = (
        Button(line("Open"), does="open", url="https://a.example"),
        Button(line("Say"), value=native_action),
    )
    assert read_nodes == (
        Container(
            (
                Gallery((Image(Asset(url="https://a.example/q.png")),)),
                Prose((Paragraph((Text("a "), Strong(line("b")))),)),
                Actions(buttons),
            ),
            form="card",
            title=line("T"),
            subtitle=line("S"),
            link="https://a.example/tap",
            hero=PICTURE,
        ),
    )


def test_a_thumbnail_card_has_its_image_as_thumbnail() -> None:
    images: JsonValue = [{"url": "https://a.example/p.png", "alt": "p"}]

    assert read("card.thumbnail", {"text": "t", "images": images}) == (
        Container((prose("t"),), form="card", thumbnail=PICTURE),
    )


def test_a_tap_on_a_card_without_a_title_is_a_button() -> None:
    tap: JsonValue = {"type": "openUrl", "value": "https://a.example"}
    other: JsonValue = {"type": "imBack", "value": "hi"}

    assert read("card.hero", {"text": "t", "tap": tap}) == (
        Container(
            (prose("t"), Actions((Button(line("Open"), does="open", url="https://a.example"),))),
            form="card",
        ),
    )
    assert read("card.hero", {"title": "t", "tap": other}) == (
        Container(
            (Actions((Button(line("Select"), value={"msteams": other}),)),),
            form="card",
            title=line("t"),
        ),
    )


def test_a_receipt_card_has_facts_items_and_totals() -> None:
    read_nodes = read("card.receipt", {
        "title": "Order",
        "facts": [{"key": "Number", "value": "12"}],
        "items": [
            {"title": "Pen", "subtitle": "blue", "quantity": "2", "price": "$ 4",
             "image": {"url": "https://a.example/p.png", "alt": "p"}},
        ],
        "tax": "$ 1",
        "total": "$ 5",
    })  # fmt: skip

    goods = (
        (
            PICTURE,
            Prose((Paragraph((Strong(line("Pen")),)),)),
            Prose((Paragraph(line("blue")),), subtle=True),
        ),
        (prose("2"),),
        (prose("$ 4"),),
    )

    def labelled(label: str, value: str) -> LabelledValue:
        return LabelledValue(line(label), (Paragraph(line(value)),))

    assert read_nodes == (
        Container(
            (
                Fields((labelled("Number", "12"),)),
                Table((goods,), header=False),
                Fields((labelled("Tax", "$ 1"), labelled("Total", "$ 5"))),
            ),
            form="card",
            title=line("Order"),
        ),
    )


def test_a_list_card_has_headings_and_items_with_images_or_buttons() -> None:
    read_nodes = read("teams.card.list", {
        "title": "L",
        "items": [
            {"type": "section", "title": "People"},
            {"type": "person", "title": "Ann", "subtitle": "Boss",
             "tap": {"type": "imBack", "value": "whois"}},
            {"type": "resultItem", "title": "R", "icon": "https://a.example/i.png", "tap": OPEN},
            {"type": "file", "id": "https://a.example/x", "title": "x.docx"},
        ],
        "buttons": [OPEN],
    })  # fmt: skip

    whois = Button(line("Select"), value={"msteams": {"type": "imBack", "value": "whois"}})
    assert read_nodes == (
        Container(
            (
                Prose((Paragraph((Strong(line("People")),)),)),
                Section((prose("Ann"), Prose((Paragraph(line("Boss")),), subtle=True)), whois),
                Section(
                    (Prose((Paragraph((Link("https://a.example", line("R")),)),)),),
                    Image(Asset(url="https://a.example/i.png"), size="small"),
                    leading=True,
                ),
                Prose((Paragraph((Link("https://a.example/x", line("x.docx")),)),)),
                Actions((Button(line("Open"), does="open", url="https://a.example"),)),
            ),
            form="card",
            title=line("L"),
        ),
    )


@pytest.mark.parametrize(("kind", "plays"), [("video", "video"), ("audio", "audio")])
def test_video_and_audio_cards_have_a_poster_and_a_duration(kind: str, plays: str) -> None:
    (container,) = read(f"card.{kind}", {
        "title": "T",
        "text": "t",
        "duration": "PT2M5S",
        "image": {"url": "https://a.example/p.png", "alt": "p"},
        "media": [{"url": "https://a.example/1.mp4"}, {"url": "https://a.example/2.webm"}],
    })  # fmt: skip

    assert isinstance(container, Container)
    player, text = container.nodes
    assert isinstance(player, Player)
    assert (player.kind, player.asset) == (
        plays, Asset(url="https://a.example/1.mp4", seconds=125.0)
    )  # fmt: skip
    assert (player.poster, text, container.title) == (PICTURE.asset, prose("t"), line("T"))


def test_an_animation_card_is_an_image() -> None:
    assert read("card.animation", {"media": [{"url": "https://a.example/x.gif"}]}) == (
        Container((Image(Asset(url="https://a.example/x.gif")),), form="card"),
    )


@pytest.mark.parametrize("kind", ["card.signin", "card.oauth"])
def test_a_sign_in_card_opens_its_page(kind: str) -> None:
    button: JsonValue = {"type": "signin", "title": "Sign in", "value": "https://a.example/in"}

    assert read(kind, {"text": "Please", "buttons": [button]}) == (
        Container(
            (
                prose("Please"),
                Actions((Button(line("Sign in"), does="open", url="https://a.example/in"),)),
            ),
            form="card",
        ),
    )


# --- connector cards ------------------------------------------------------------------------


def connector(card: JsonValue) -> tuple[Node, ...]:
    return read("teams.card.o365connector", card)


def test_a_connector_card_has_a_colour_and_sections() -> None:
    (container,) = connector({
        "@type": "MessageCard",
        "themeColor": "0076D7",
        "title": "T",
        "text": "a **b**",
        "sections": [
            {
                "startGroup": True,
                "title": "Done",
                "activityTitle": "Ann",
                "activitySubtitle": "today",
                "activityText": "wrote _it_",
                "activityImage": "https://a.example/p.png",
                "facts": [{"name": "State", "value": "good"}],
                "images": [{"image": "https://a.example/1.png", "title": "one"}],
            },
        ],
    })  # fmt: skip

    person = Image(Asset(url="https://a.example/p.png"), size="small", round=True)
    assert container == Container(
        (
            Prose((Paragraph((Text("a "), Strong(line("b")))),)),
            Divider(),
            Prose((Heading(4, line("Done")),)),
            Section(
                (
                    Prose((Paragraph((Strong(line("Ann")),)),)),
                    Prose((Paragraph(line("today")),), subtle=True),
                    Prose((Paragraph((Text("wrote "), Emphasis(line("it")))),)),
                ),
                person,
                leading=True,
            ),
            Fields((LabelledValue(line("State"), (Paragraph(line("good")),)),)),
            Image(Asset(url="https://a.example/1.png", alt="one")),
        ),
        form="card",
        title=line("T"),
        color=0x0076D7,
    )


def test_connector_card_actions_are_links_presses_and_forms() -> None:
    post: Json = {"@type": "HttpPOST", "name": "Save", "target": "https://a.example/save"}
    (container,) = connector({
        "@type": "MessageCard",
        "text": "t",
        "potentialAction": [
            {"@type": "OpenUri", "name": "Open",
             "targets": [{"os": "iOS", "uri": "https://a.example/i"},
                         {"os": "default", "uri": "https://a.example"}]},
            {"@type": "ViewAction", "name": "View", "target": ["https://a.example/v"]},
            post,
            {"@type": "ActionCard", "name": "Comment", "inputs": [
                {"@type": "TextInput", "id": "c", "title": "Words", "isMultiline": True},
                {"@type": "DateInput", "id": "d", "title": "Day", "includeTime": False},
                {"@type": "MultichoiceInput", "id": "m", "title": "State", "isMultiSelect": "true",
                 "choices": [{"display": "Open", "value": "1"}]},
            ], "actions": [post]},
        ],
    })  # fmt: skip

    native_action: JsonValue = {"@type": "HttpPOST", "target": "https://a.example/save"}
    form: tuple[Node, ...] = (
        TextInput(id="c", label=line("Words"), multiline=True),
        DateInput(id="d", label=line("Day")),
        Choice(id="m", label=line("State"), options=(Option(line("Open"), "1"),), many=True),
        Actions((Button(line("Save"), does="submit", value=native_action),)),
    )
    assert isinstance(container, Container)
    assert container.nodes[1] == Actions(
        (
            Button(line("Open"), does="open", url="https://a.example"),
            Button(line("View"), does="open", url="https://a.example/v"),
            Button(line("Save"), value=native_action),
            Button(line("Comment"), does="reveal", nodes=form),
        )
    )


def test_nested_action_cards_keep_all_of_their_text() -> None:
    action: Json = {"@type": "HttpPOST", "name": "deepest", "target": "x"}
    for number in range(300):
        field: Json = {"@type": "TextInput", "id": "x", "title": f"field {number}"}
        action = {
            "@type": "ActionCard",
            "name": f"card {number}",
            "inputs": [field],
            "actions": [action],
        }

    representation = repr(connector({"@type": "MessageCard", "potentialAction": [action]}))

    assert all(f"'field {number}'" in representation for number in range(300))
    assert all(f"'card {number}'" in representation for number in range(300))
    assert "'deepest'" in representation
