"""The form of a card in Teams: text, text and a card, one card or several cards."""

from __future__ import annotations

from bridge.content.cards.rendering import NativeMessage, Rendering, Written
from bridge.content.cards.tree import (
    Asset,
    Button,
    Carousel,
    Column,
    Columns,
    Container,
    Divider,
    Fields,
    File,
    Image,
    LabelledValue,
    Prose,
)
from bridge.content.text.tree import (
    CodeBlock,
    Heading,
    Link,
    List,
    ListItem,
    Paragraph,
    Quote,
    Spoiler,
    Strike,
    Strong,
    Text,
)
from tests.connectors.teams.written import (
    CARD,
    bodies,
    cards,
    elements,
    kinds,
    line,
    press,
    prose,
    text,
    write,
)


def boxed(words: str) -> Container:
    return Container((prose(words),), form="card", title=line(f"title of {words}"))


def test_an_empty_card_gives_no_message() -> None:
    assert write(summary="nothing to see") == Written(())


def test_prose_is_a_message_with_text() -> None:
    written = write(
        Prose((Paragraph((Text("Done: "), Strong(line("all")))), CodeBlock("x = 1", "python"))),
        Prose((Quote((Paragraph((Strike(line("old")),)),)), List((ListItem(prose("a").text),)))),
    )

    assert written == Written(
        (
            NativeMessage(
                {
                    "type": "message",
                    "textFormat": "markdown",
                    "text": "Done: **all**\n\n```python\nx = 1\n```\n\n> <s>old</s>\n\n- a",
                }
            ),
        )
    )


def test_styled_prose_or_a_heading_is_a_card() -> None:
    assert elements(Prose((Heading(1, line("Big")), Paragraph(line("small"))))) == [
        text("Big", style="heading", weight="bolder", size="extraLarge"),
        text("small"),
    ]
    assert elements(prose("quiet", subtle=True)) == [text("quiet", isSubtle=True)]


def test_a_card_has_its_version_width_and_summary() -> None:
    written = write(Divider(), prose("hi"), summary="news\nof today")

    assert bodies(written) == [
        {
            "type": "message",
            "summary": "news of today",
            "attachments": [
                {
                    "contentType": CARD,
                    "content": {
                        "type": "AdaptiveCard",
                        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
                        "version": "1.5",
                        "msteams": {"width": "Full"},
                        "body": [text("hi", separator=True)],
                    },
                }
            ],
        }
    ]


def test_a_container_after_prose_is_a_card_below_the_text() -> None:
    panel = Container((prose("more"),), form="panel", style="good")

    (body,) = bodies(write(prose("Look:"), panel, summary="unused"))

    assert body["text"] == "Look:"
    assert "summary" not in body
    assert [attachment["content"]["body"] for attachment in body["attachments"]] == [
        [{"type": "Container", "items": [text("more")], "style": "good"}]
    ]


def test_prose_between_other_nodes_stays_in_the_card() -> None:
    fields = Fields((LabelledValue(line("a"), prose("b").text),))

    (body,) = bodies(write(prose("Look:"), fields, prose("after")))

    assert "text" not in body
    assert body["attachments"][0]["content"]["body"] == [
        text("Look:"),
        {"type": "FactSet", "facts": [{"title": "a", "value": "b"}]},
        text("after"),
    ]


def test_a_carousel_is_several_attachments() -> None:
    (body,) = bodies(write(prose("Choose"), Carousel((boxed("one"), boxed("two")))))

    assert (body["text"], body["attachmentLayout"]) == ("Choose", "carousel")
    assert [attachment["content"]["body"] for attachment in body["attachments"]] == [
        [text(f"title of {n}", style="heading", weight="bolder", size="medium"), text(n)]
        for n in ("one", "two")
    ]


def test_more_than_ten_cards_continue_in_the_next_message() -> None:
    written = write(Carousel(tuple(boxed(f"c{n}") for n in range(12))))

    assert [len(body["attachments"]) for body in bodies(written)] == [10, 2]
    assert {body["attachmentLayout"] for body in bodies(written)} == {"carousel"}


def test_several_cards_are_stacked_attachments() -> None:
    (body,) = bodies(write(boxed("one"), boxed("two")))

    assert len(body["attachments"]) == 2
    assert "attachmentLayout" not in body


def test_a_single_card_is_written_without_an_outer_container() -> None:
    assert elements(boxed("one"))[1] == text("one")


def test_a_carousel_among_other_nodes_has_a_stacked_fallback() -> None:
    page = Container((prose("1"), Button(line("Go"), at="/b")))
    two = Container((prose("2"),), style="accent")

    first, _ = elements(Divider(large=True), Carousel((page, two)), Divider())
    go = {"type": "ActionSet", "actions": [press("Go", "token/b")]}
    accent = {"type": "Container", "items": [text("2")], "style": "accent"}

    assert first == {
        "type": "Carousel",
        "pages": [
            {"type": "CarouselPage", "items": [text("1"), go]},
            {"type": "CarouselPage", "items": [accent]},
        ],
        "fallback": {
            "type": "Container",
            "items": [
                {"type": "Container", "items": [text("1"), go]},
                {"type": "Container", "items": [accent]},
            ],
        },
        "separator": True,
        "spacing": "extraLarge",
    }


def test_stored_files_are_sent_with_the_text() -> None:
    picture = Asset(file_id="blob:sha256-1", alt="a cat", media_type="image/png")
    notes = Asset(file_id="blob:sha256-2", name="notes.txt")
    rendering = Rendering(uploads=True)

    written = write(prose("See"), Image(picture), File(notes), rendering=rendering)

    assert written == Written(
        (
            NativeMessage(
                {"type": "message", "textFormat": "markdown", "text": "See\n\n📎 notes.txt"},
                (picture, notes),
            ),
        )
    )


def test_files_without_text_are_one_message() -> None:
    picture = Asset(file_id="blob:sha256-1", alt="a cat")

    written = write(Image(picture), rendering=Rendering(uploads=True))

    assert written.messages == (NativeMessage({"type": "message"}, (picture,)),)


def test_a_file_is_sent_with_the_card_that_names_it() -> None:
    asset = Asset(file_id="blob:sha256-1", name="a.pdf")
    long = tuple(Divider() if n % 2 else prose(f"{n} " + "long words " * 300) for n in range(13))

    written = write(*long, File(asset), *long, rendering=Rendering(uploads=True))

    places = [index for index, message in enumerate(written.messages) if message.files]
    assert len(written.messages) > 2
    assert places
    assert "a.pdf" in str(written.messages[places[0]].body)
    assert places[0] < len(written.messages) - 1


def test_a_paragraph_that_is_one_spoiler_stays_hidden() -> None:
    assert elements(Prose((Paragraph((Spoiler(line("he did it")),)),))) == [
        {
            "type": "ActionSet",
            "actions": [
                {
                    "type": "Action.ToggleVisibility",
                    "title": "Spoiler",
                    "targetElements": ["hidden"],
                }
            ],
        },
        {"type": "Container", "id": "hidden", "isVisible": False, "items": [text("he did it")]},
    ]


def test_a_spoiler_inside_text_is_shown_and_reported() -> None:
    node = Prose((Paragraph((Text("I think "), Spoiler(line("he did it")))),), at="/nodes/0")

    written = write(node)

    assert bodies(written)[0]["text"] == "I think &#91;spoiler: he did it&#93;"
    assert kinds(written) == [("/nodes/0", "spoiler_shown", "he did it")]


def test_the_same_card_gives_the_same_bytes() -> None:
    nodes = (Columns((Column((prose("a"),)), Column((Button(line("b")),)))), boxed("c"))

    assert write(*nodes) == write(*nodes)


def test_a_written_card_mentions_nobody() -> None:
    written = write(
        prose("<at>Ann</at> @everyone"),
        Container((prose("<at>Ann</at>"),), form="panel", title=line("<at>Ann</at>")),
    )

    (body,) = bodies(written)
    assert "entities" not in body
    assert "entities" not in cards(written)[0]["msteams"]
    assert "<at>" not in str(body)


def test_an_unsafe_link_in_text_is_written_as_its_text() -> None:
    node = Prose((Paragraph((Link("javascript:alert(1)", line("press")),)),), subtle=True)

    written = write(node)

    assert cards(written)[0]["body"] == [text("press", isSubtle=True)]
    assert kinds(written) == [("", "unsafe_link", "javascript:alert(1)")]
