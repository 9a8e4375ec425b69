"""Valid and malformed rich_text blocks."""

from __future__ import annotations

import time
from typing import Any

from bridge.content.text.tree import (
    CodeBlock,
    Document,
    Emphasis,
    Link,
    List,
    ListItem,
    Paragraph,
    Quote,
    Strike,
    Strong,
    Text,
    Underline,
)
from connectors.slack.text import rich_text_to_text


def read(*elements: dict[str, Any]) -> Document:
    return rich_text_to_text({"type": "rich_text", "elements": list(elements)}, "T1")


def section(*elements: dict[str, Any]) -> dict[str, Any]:
    return {"type": "rich_text_section", "elements": list(elements)}


def text_element(text: str, **style: bool) -> dict[str, Any]:
    return {"type": "text", "text": text, "style": style}


def bullets(*texts: str, **members: Any) -> dict[str, Any]:
    items = [section(text_element(text)) for text in texts]
    return {"type": "rich_text_list", "style": "bullet", "elements": items, **members}


def paragraph(text: str) -> Paragraph:
    return Paragraph((Text(text),))


def item(text: str) -> ListItem:
    return ListItem((paragraph(text),))


def test_neighbouring_runs_of_one_style_are_merged() -> None:
    (node,) = read(
        section(
            text_element("a", bold=True),
            text_element("b", bold=True, italic=True),
            text_element("c", strike=True),
        )
    )

    assert node == Paragraph((Strong((Text("a"), Emphasis((Text("b"),)))), Strike((Text("c"),))))


def test_underlined_and_highlighted_text_keeps_its_text() -> None:
    (node,) = read(section(text_element("a", underline=True), text_element("b", highlight=True)))

    assert node == Paragraph((Underline((Text("a"),)), Text("b")))


def test_bordered_lists_and_code_belong_to_the_quote_above() -> None:
    quote = {"type": "rich_text_quote", "elements": [text_element("said")]}
    code = {"type": "rich_text_preformatted", "elements": [text_element("x = 1")], "border": 1}

    blocks = read(quote, bullets("one", border=1), code, bullets("two"))

    assert blocks == (
        Quote((paragraph("said"), List((item("one"),)), CodeBlock("x = 1"))),
        List((item("two"),)),
    )


def test_a_list_with_a_border_and_no_quote_above_is_a_quote() -> None:
    assert read(bullets("a"), bullets("b", border=1)) == (
        List((item("a"),)),
        Quote((List((item("b"),)),)),
    )


def test_an_unknown_rich_text_element_with_a_url_is_a_link() -> None:
    canvas = {"type": "canvas", "title": "Plan", "url": "https://example.com/docs/F1"}
    label = {"type": "tag", "text": "urgent", "color": "red"}
    chip = {"type": "color", "value": "#aa00ff"}

    (node,) = read(section(canvas, text_element(" "), label, text_element(" "), chip))

    assert node == Paragraph(
        (Link("https://example.com/docs/F1", (Text("Plan"),)), Text(" urgent #aa00ff"))
    )


def test_nested_sections_are_read_as_their_content() -> None:
    assert read(section(section(section(text_element("deep"))))) == (paragraph("deep"),)


def test_elements_nested_a_thousand_times_are_read() -> None:
    element = text_element("deep")
    for _ in range(900):
        element = section(element)

    assert read(element) == (paragraph("deep"),)


def test_many_lists_and_many_runs_take_time_that_grows_with_their_number() -> None:
    lists = [bullets("x") for _ in range(20_000)]
    runs = section(*(text_element("y", bold=True) for _ in range(50_000)))

    begun = time.process_time()
    blocks = read(*lists, runs)

    assert isinstance(blocks[0], List)
    assert len(blocks[0].items) == 20_000
    assert blocks[1] == Paragraph((Strong((Text("y" * 50_000),)),))
    assert time.process_time() - begun < 10


def test_a_section_inside_preformatted_text_is_code() -> None:
    (node,) = read({"type": "rich_text_preformatted", "elements": [section(text_element("a = 1"))]})

    assert node == CodeBlock("a = 1")
