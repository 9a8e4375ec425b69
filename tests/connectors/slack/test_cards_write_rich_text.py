"""The text tree as rich text: literal, nested by indent, and equal when it is read back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings

from bridge.content.markdown import markdown_to_text
from bridge.content.text.inlines import plain_inlines
from bridge.content.text.plain import text_to_plain
from bridge.content.text.tree import (
    Break,
    CodeBlock,
    Document,
    Emoji,
    Link,
    List,
    ListItem,
    Paragraph,
    Quote,
    Spoiler,
    Strong,
    Text,
    Timestamp,
    Underline,
)
from connectors.slack.rich_text import rich_text_to_text
from connectors.slack.rich_text_writer import rich_text_length, text_to_rich_text
from tests.connectors.slack.slack_rules import faults
from tests.connectors.slack.written_cards import run, text
from tests.content.card_strategies import DOCUMENTS, marks, marks_of, numbered
from tests.examples import examples

PRESERVED = (
    "one **bold _both_** `code` ~~gone~~ <u>under</u>",
    "[label](https://e.example) https://bare.example",
    "first\n\nsecond\nline",
    "- a\n- b",
    "3. three\n4. four",
    "1. one\n   - deep\n   - deeper\n2. two",
    "> quoted\n> lines",
    "```py\nx = 1\n\ny\n```",
    "so:\n\n- a\n\nafter",
    "[then](uacs:time/1700000000?style=R) [:party:](uacs:emoji/party)",
)


def test_a_document_written_as_rich_text_is_read_back_unchanged() -> None:
    for markdown in PRESERVED:
        document = markdown_to_text(markdown)

        assert rich_text_to_text({"elements": text_to_rich_text(document)}, "T1") == document


def test_lists_and_code_in_a_quote_have_a_border() -> None:
    document = markdown_to_text("> so\n>\n> - a\n>\n> ```\n> x\n> ```\n>\n> > deep")

    assert text_to_rich_text(document) == [
        {"type": "rich_text_quote", "elements": [text("so")]},
        {"type": "rich_text_list", "elements": [run(text("a"))], "style": "bullet", "border": 1},
        {"type": "rich_text_preformatted", "elements": [text("x")], "border": 1},
        {"type": "rich_text_quote", "elements": [text("> deep")]},
    ]


def test_code_in_a_list_splits_it_and_the_numbers_continue() -> None:
    code = ListItem((Paragraph((Text("b"),)), CodeBlock("x")))
    document: Document = (
        List((ListItem((Paragraph((Text("a"),)),)), code, ListItem((Paragraph((Text("c"),)),))), 5),
    )

    assert text_to_rich_text(document) == [
        {
            "type": "rich_text_list",
            "elements": [run(text("a")), run(text("b"))],
            "style": "ordered",
            "offset": 4,
        },
        {"type": "rich_text_preformatted", "elements": [text("x")]},
        {
            "type": "rich_text_list",
            "elements": [run(text("c"))],
            "style": "ordered",
            "offset": 6,
        },
    ]


def test_markup_and_control_characters_in_text_are_harmless() -> None:
    nasty = "<!here> *a* :tada: \x00\x1b \ud800"

    assert text_to_rich_text((Paragraph((Text(nasty),)),)) == [
        run(text("<!here> *a* :tada:    \ufffd"))
    ]


def test_valid_dates_emoji_and_links_are_rich_text_elements() -> None:
    line = (
        Timestamp(1_700_000_000, "d", "14 Nov"),
        Timestamp(-1, "d", "long ago"),
        Emoji("party"),
        Emoji("no name"),
        Link("javascript:x", (Text("press"),)),
        Spoiler((Strong((Text("s"),)),)),
        Break(),
        Underline((Text("u"),)),
    )

    assert text_to_rich_text((Paragraph(line),)) == [
        run(
            {
                "type": "date",
                "timestamp": 1_700_000_000,
                "format": "{date_num}",
                "fallback": "14 Nov",
            },
            text("long ago"),
            {"type": "emoji", "name": "party"},
            text(":no name:press||"),
            text("s", bold=True),
            text("||\n"),
            text("u", underline=True),
        )
    ]


def test_an_empty_document_gives_no_elements() -> None:
    empty: tuple[Document, ...] = ((), (Paragraph(()),), (Quote(()),), (Paragraph((Text(" "),)),))

    assert [text_to_rich_text(document) for document in empty] == [[], [], [], []]


def test_deeply_nested_documents_are_written() -> None:
    quoted: Any = Paragraph((Text("x"),))
    listed: Any = Paragraph((Text("x"),))
    styled: Any = Text("x")
    for _ in range(500):
        quoted, listed = Quote((quoted,)), List((ListItem((listed,)),))
        styled = Strong((styled,))

    for document in ((quoted,), (listed,), (Paragraph((styled,)),)):
        assert "x" in text_to_plain(
            rich_text_to_text({"elements": text_to_rich_text(document)}, "T1")
        )


def texts_of(elements: Any) -> Iterator[str]:
    for element in elements:
        yield from texts_of(element.get("elements", ()))
        yield str(element.get("text") or element.get("fallback") or "")


@settings(
    max_examples=examples(150),
)
@given(DOCUMENTS.map(numbered))
def test_every_word_of_a_document_is_written_in_order(document: Document) -> None:
    elements = text_to_rich_text(document)

    block = {"type": "rich_text", "elements": elements}
    small = bool(elements) and rich_text_length(elements) < 3_000
    assert marks(" ".join(texts_of(elements))) == marks_of(document)
    assert not small or faults({"text": "x", "blocks": [block]}) == []


def test_a_link_whose_text_is_its_url_is_written_without_text() -> None:
    link = Link("https://e.example/", (Text("https://e.example/"),))

    assert text_to_rich_text((Paragraph((link,)),)) == [
        run({"type": "link", "url": "https://e.example/"})
    ]
    assert plain_inlines((link,)) == link.url
