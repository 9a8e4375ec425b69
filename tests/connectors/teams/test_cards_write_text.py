"""Text in Adaptive Cards: the Markdown of TextBlocks, and runs where it does not suffice."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bridge.content.cards.tree import Card, Fields, LabelledValue, Prose
from bridge.content.text.tree import (
    Break,
    Broadcast,
    ChannelLink,
    Code,
    CodeBlock,
    Document,
    Emoji,
    Emphasis,
    Heading,
    Inline,
    Link,
    List,
    ListItem,
    Mention,
    Paragraph,
    Quote,
    Rule,
    Spoiler,
    Strike,
    Strong,
    Table,
    Text,
    Timestamp,
    Underline,
)
from bridge.model import ActorId
from connectors.teams.cards.write_elements import start
from connectors.teams.cards.write_runs import BOLD, ITALIC, escape, runs_of, to_markdown
from tests.connectors.teams.cards import nodes
from tests.connectors.teams.written import RENDERING, Json, elements, kinds, line, text, write

# A look that makes it a card, whatever it says.
QUIET = {"isSubtle": True}


def markdown(*inlines: Inline) -> str:
    (only,) = elements(Prose((Paragraph(inlines),), subtle=True))
    assert only["type"] == "TextBlock"
    return only["text"]


def runs(*inlines: Inline) -> list[Json]:
    (only,) = elements(Prose((Paragraph(inlines),), subtle=True))
    assert only["type"] == "RichTextBlock"
    return [{name: value for name, value in run.items() if name not in ("type", "isSubtle")}
            for run in only["inlines"]]  # fmt: skip


# --- one line -----------------------------------------------------------------------------------


def test_bold_italic_and_links_are_markdown() -> None:
    link = Link("https://a.example/x_(y)?a=1&b=2", line("here"))

    assert markdown(Text("a "), Strong((Text("b "), Emphasis(line("c")))), Text(", "), link) == (
        "a **b _c_**, [here](https://a.example/x_%28y%29?a=1&b=2)"
    )


def test_breaks_and_paragraphs_are_separated_by_an_empty_line() -> None:
    two = Prose((Paragraph((Text("a"), Break(), Text("b"))), Paragraph(line("c"))), subtle=True)

    assert elements(two) == [text("a\n\nb\n\nc", isSubtle=True)]


def test_mentions_channel_links_and_emoji_are_plain_text() -> None:
    assert markdown(
        Mention(ActorId("slack:T:U"), "Ann_B"), Text(" "), Broadcast("here"), Text(" "),
        ChannelLink("slack:T:C", "general"), Text(" "), Emoji("wave", "👋"), Emoji("party"),
    ) == "@Ann_B @here #general 👋:party:"  # fmt: skip


@pytest.mark.parametrize(
    ("style", "written", "read_as"),
    [
        ("d", "{{DATE(2026-11-23T10:00:00Z)}}", "d"),
        ("D", "{{DATE(2026-11-23T10:00:00Z, SHORT)}}", "D"),
        ("t", "{{TIME(2026-11-23T10:00:00Z)}}", "t"),
        ("T", "{{TIME(2026-11-23T10:00:00Z)}}", "t"),
        ("f", "{{DATE(2026-11-23T10:00:00Z, SHORT)}} {{TIME(2026-11-23T10:00:00Z)}}", "f"),
        ("F", "{{DATE(2026-11-23T10:00:00Z, LONG)}} {{TIME(2026-11-23T10:00:00Z)}}", "F"),
        ("R", "{{DATE(2026-11-23T10:00:00Z, SHORT)}} {{TIME(2026-11-23T10:00:00Z)}}", "f"),
    ],
)
def test_a_timestamp_in_a_text_block_is_shown_once_in_the_readers_time_zone(
    style: str, written: str, read_as: str
) -> None:
    moment = Timestamp(1795428000, style, "Monday at ten")

    source = markdown(Text("Due "), Strong((moment,)), Text(" or so"))
    (read_node,) = nodes(text(source))

    assert source == f"Due **{written}** or so"
    assert isinstance(read_node, Prose)
    (paragraph,) = read_node.text
    assert isinstance(paragraph, Paragraph)
    strong = paragraph.children[1]
    assert isinstance(strong, Strong)
    (again,) = strong.children
    assert isinstance(again, Timestamp)
    assert (again.unix, again.style) == (1795428000, read_as)


def test_a_timestamp_outside_a_text_block_is_its_fallback_text() -> None:
    moment = Timestamp(1795428000, "f", "Nov 23, 10 am")
    fact = LabelledValue(line("Due"), (Paragraph((moment,)),))

    assert runs(Strike(line("a")), moment)[1] == {"text": "Nov 23, 10 am"}
    assert markdown(Link("https://a.example", (moment,))) == "[Nov 23, 10 am](https://a.example)"
    (facts,) = elements(Fields((fact,)))
    assert facts["facts"] == [{"title": "Due", "value": "Nov 23, 10 am"}]
    assert markdown(Timestamp(10**12, "f", "in ages")) == str(10**12)
    assert markdown(Timestamp(0, "d")) == "{{DATE(1970-01-01T00:00:00Z)}}"


@pytest.mark.parametrize(
    ("style", "fallback", "expected"),
    [
        ("f", "Nov 23", "2026-11-23 10:00 UTC"),
        ("R", "soon", "2026-11-23 10:00 UTC"),
        ("t", "", "10:00 UTC"),
        ("t", "at 10:00", "at 10:00"),
        ("d", "Nov 23", "Nov 23"),
        ("D", "Monday", "2026-11-23"),
    ],
)
def test_the_text_of_a_timestamp_has_every_shown_part(
    style: str, fallback: str, expected: str
) -> None:
    moment = Timestamp(1795428000, style, fallback)
    fact = LabelledValue(line("Due"), (Paragraph((moment,)),))

    (facts,) = elements(Fields((fact,)))
    assert facts["facts"][0]["value"].replace("\\", "") == expected


def test_strike_underline_and_code_are_runs() -> None:
    assert runs(
        Text("a "), Strike((Text("b"), Strong(line("c")))), Underline(line("d")), Code("e"),
        Link("https://a.example", (Emphasis(line("f")),)),
    ) == [
        {"text": "a "},
        {"text": "b", "strikethrough": True},
        {"text": "c", "weight": "bolder", "strikethrough": True},
        {"text": "d", "underline": True},
        {"text": "e", "fontType": "monospace"},
        {
            "text": "f",
            "italic": True,
            "selectAction": {"type": "Action.OpenUrl", "url": "https://a.example"},
        },
    ]  # fmt: skip


def test_a_spoiler_among_other_text_is_labelled_and_highlighted() -> None:
    assert runs(Text("a "), Spoiler(line("b"))) == [
        {"text": "a "},
        {"text": "[spoiler: b]", "highlight": True},
    ]


def test_a_style_inside_a_word_is_written_as_runs() -> None:
    assert runs(Text("un"), Strong(line("believ")), Text("able")) == [
        {"text": "un"},
        {"text": "believ", "weight": "bolder"},
        {"text": "able"},
    ]


def test_the_style_of_only_white_space_is_dropped() -> None:
    assert markdown(Text("a"), Strong(line(" ")), Text("b")) == "a b"


@pytest.mark.parametrize(
    ("words", "written"),
    [
        ("2 * 3 * 4", "2 \\* 3 \\* 4"),
        ("snake_case _x_", "snake_case \\_x\\_"),
        ("[x](https://a.example)", "\\[x\\](https://a.example)"),
        ("- no list", "\\- no list"),
        ("-5 degrees", "-5 degrees"),
        ("1. no list", "1\\. no list"),
        ("1.5 litres", "1.5 litres"),
        ("# no heading", "\\# no heading"),
        ("#1", "#1"),
        ("> no quote", "\\> no quote"),
        ("---", "\\---"),
        ("<b> & <at>A</at>", "&lt;b> & &lt;at>A&lt;/at>"),
        ("&lt; stays", "&amp;lt; stays"),
        ("1 < 2 & 3", "1 < 2 & 3"),
        ("C:\\dir\\*", "C:\\dir\\\\\\*"),
        ("`x` ~~y~~", "\\`x\\` \\~\\~y\\~\\~"),
        ("{{DATE(2017-02-14T06:08:39Z)}}", "{\\{DATE(2017-02-14T06:08:39Z)}}"),
        ("    four spaces", "four spaces"),
    ],
)
def test_only_characters_that_would_be_markup_are_escaped(words: str, written: str) -> None:
    assert markdown(Text(words)) == written


@given(st.text(st.sampled_from("ab 1_*[]()`~<>&;#-+.!\\{}|\"'"), max_size=40))
def test_escaped_text_is_read_back_as_the_same_characters(words: str) -> None:
    read = MarkdownIt("commonmark").enable("strikethrough").parse(escape(words, starts=True))

    inline = [token for token in read if token.type == "inline"]
    visible = "".join(
        child.content for token in inline for child in token.children or [] if child.type == "text"
    )
    kinds = {child.type for token in inline for child in token.children or []}
    assert kinds <= {"text"}
    assert " ".join(visible.split()) == " ".join(words.split())


def test_a_link_after_an_exclamation_mark_is_not_an_image() -> None:
    assert markdown(Text("Look!"), Link("https://a.example", line("here"))) == (
        "Look\\![here](https://a.example)"
    )


_WORDS = st.text(st.sampled_from("ab 1_*[]()`~<>&;!\\|.\"'é"), min_size=1, max_size=8).map(Text)
_INLINES = st.recursive(
    _WORDS,
    lambda inner: st.one_of(
        st.builds(Strong, st.tuples(inner, _WORDS)),
        st.builds(Emphasis, st.tuples(inner)),
        st.builds(Link, st.just("https://a.example/(x)?a=1&lt;b"), st.tuples(_WORDS)),
    ),
    max_leaves=4,
)


@given(st.lists(_INLINES, min_size=1, max_size=4).map(tuple))
def test_written_markdown_is_read_back_with_the_same_styles(run: tuple[Inline, ...]) -> None:
    written_markdown = to_markdown(runs_of(run, start(Card(()), RENDERING)))

    if written_markdown is not None:
        assert _read(written_markdown) == _meant(run)


def _meant(run: tuple[Inline, ...]) -> list[tuple[str, bool, bool, bool]]:
    """Return each character with its styles, except white space, which marks may exclude."""
    return [
        (char, bool(bits & BOLD), bool(bits & ITALIC), bool(url))
        for text_, bits, url in runs_of(run, start(Card(()), RENDERING))
        for char in text_
        if not char.isspace()
    ]


def _read(markdown_: str) -> list[tuple[str, bool, bool, bool]]:
    characters: list[tuple[str, bool, bool, bool]] = []
    bold = italic = linked = 0
    for block in MarkdownIt("commonmark").parse(markdown_):
        for child in block.children or []:
            bold += child.nesting * (child.type.startswith("strong"))
            italic += child.nesting * (child.type.startswith("em"))
            linked += child.nesting * (child.type.startswith("link"))
            assert child.type in ("text", "strong_open", "strong_close", "em_open", "em_close",
                                "link_open", "link_close", "text_special")  # fmt: skip
            characters += [(char, bold > 0, italic > 0, linked > 0)
                      for char in child.content if not char.isspace()]  # fmt: skip
    return characters


# --- blocks -------------------------------------------------------------------------------------


def test_headings_have_the_heading_style_and_a_larger_size() -> None:
    node = Prose(tuple(Heading(level, line(f"h{level}")) for level in (1, 2, 3, 4)))

    assert [(element["text"], element.get("size")) for element in elements(node)] == [
        ("h1", "extraLarge"), ("h2", "large"), ("h3", "medium"), ("h4", None),
    ]  # fmt: skip
    assert all(element["style"] == "heading" for element in elements(node))


def test_a_list_of_one_level_is_markdown() -> None:
    numbers = List((ListItem(prose_document("a")), ListItem(prose_document("b"), checked=True)), 3)
    bullets = List((ListItem(prose_document("c")), ListItem((), checked=False)))

    assert elements(Prose((Paragraph(line("x")), numbers, bullets), subtle=True)) == [
        text("x\n\n3. a\n4. ☑ b", isSubtle=True),
        text("- c\n- ☐", isSubtle=True),
    ]


def test_lists_in_lists_are_indented_below_their_item() -> None:
    inner = List((ListItem(prose_document("b")),), 1)
    outer = List((ListItem((*prose_document("a"), inner)), ListItem(prose_document("c"))))

    assert elements(Prose((outer,), subtle=True)) == [
        text("- a", **QUIET),
        indented(text("1. b", **QUIET)),
        text("- c", **QUIET, spacing="small"),
    ]


def test_list_items_with_code_are_runs_after_a_bullet() -> None:
    item = ListItem((Paragraph((Text("run "), Code("x"))),))

    assert elements(Prose((List((item,)),), subtle=True)) == [
        {
            "type": "RichTextBlock",
            "inlines": [
                {"type": "TextRun", "text": "• run ", "isSubtle": True},
                {"type": "TextRun", "text": "x", "isSubtle": True, "fontType": "monospace"},
            ],
        }
    ]


def test_all_items_of_one_list_have_the_same_layout() -> None:
    link = Link("https://a.example", line("there"))
    nested = List((ListItem(prose_document("d")),))
    plain, styled, coded, broken = (
        ListItem(prose_document("plain")),
        ListItem((Paragraph((Strong(line("bold")), Text(" and "), link)),)),
        ListItem((Paragraph((Code("x"),)), nested)),
        ListItem((Paragraph((Text("two"), Break(), Text("lines"))),), checked=True),
    )
    mixed = List((plain, styled, coded, broken), 1)
    simple = List((plain, styled, ListItem((*prose_document("e"), nested)), plain))

    assert elements(Prose((mixed,), subtle=True)) == [
        text("1\\. plain", **QUIET),
        text("2\\. **bold** and [there](https://a.example)", **QUIET, spacing="small"),
        {
            "type": "RichTextBlock",
            "inlines": [
                {"type": "TextRun", "text": "3. ", "isSubtle": True},
                {"type": "TextRun", "text": "x", "isSubtle": True, "fontType": "monospace"},
            ],
            "spacing": "small",
        },
        indented(text("- d", **QUIET)),
        text("4\\. ☑ two\n\nlines", **QUIET, spacing="small"),
    ]
    assert elements(Prose((simple,), subtle=True)) == [
        text("- plain\n- **bold** and [there](https://a.example)\n- e", **QUIET),
        indented(text("- d", **QUIET)),
        text("- plain", **QUIET, spacing="small"),
    ]


def test_a_loss_of_an_item_beside_one_with_code_is_reported_once() -> None:
    items = (
        ListItem((Paragraph((Link("javascript:x", line("a")),)),)),
        ListItem((Paragraph((Code("x"),)),)),
    )

    assert [kind for _, kind, _ in kinds(write(Prose((List(items),), subtle=True)))] == [
        "unsafe_link"
    ]


def test_a_quote_is_an_emphasis_container() -> None:
    quote = Quote((Paragraph(line("a")), Quote((Paragraph(line("b")),))))

    assert elements(Prose((quote,), subtle=True)) == [
        {
            "type": "Container",
            "style": "emphasis",
            "items": [
                text("a", **QUIET),
                {"type": "Container", "style": "emphasis", "items": [text("b", **QUIET)]},
            ],
        }
    ]


def test_code_has_fixed_width_text_as_its_fallback() -> None:
    assert elements(Prose((CodeBlock("if x:\n  y = '*'", "py"),), subtle=True)) == [
        {
            "type": "CodeBlock",
            "codeSnippet": "if x:\n  y = '*'",
            "language": "Python",
            "fallback": {
                "type": "RichTextBlock",
                "inlines": [
                    {
                        "type": "TextRun",
                        "text": "if x:\n\u00a0\u00a0y = '*'",
                        "fontType": "monospace",
                    }
                ],
            },
        }
    ]


def test_code_in_an_unsupported_language_is_plain_text() -> None:
    assert (
        elements(Prose((CodeBlock("x", "brainfuck"),), subtle=True))[0]["language"] == "PlainText"
    )


def test_a_table_in_text_is_a_table() -> None:
    table = Table((line("a"), ()), ((line("1"), (Code("2"),)),), ("right", None))

    (table_element,) = elements(Prose((table,)))

    assert table_element == {
        "type": "Table",
        "columns": [{"width": 1, "horizontalCellContentAlignment": "right"}, {"width": 1}],
        "rows": [
            row([text("a")], []),
            row(
                [text("1")],
                [
                    {
                        "type": "RichTextBlock",
                        "inlines": [{"type": "TextRun", "text": "2", "fontType": "monospace"}],
                    }
                ],
            ),
        ],
    }


def test_a_rule_is_a_separator_above_the_next_element() -> None:
    prose = Prose((Paragraph(line("a")), Rule(), Paragraph(line("b")), Rule()), subtle=True)

    assert elements(prose) == [
        text("a", **QUIET),
        text("b", **QUIET, separator=True),
        {"type": "Container", "items": [], "separator": True},
    ]


def test_prose_keeps_its_size_colour_and_alignment() -> None:
    prose = Prose(prose_document("x"), size="huge", style="warning", subtle=True, align="center")

    assert elements(prose) == [
        text("x", size="extraLarge", color="warning", isSubtle=True, horizontalAlignment="center")
    ]


def test_small_print_is_small() -> None:
    prose = Prose((Heading(2, line("T")), Paragraph(line("x"), subtle=True)))

    assert elements(prose)[1] == text("x", size="small", isSubtle=True)


def test_deeply_nested_quotes_are_flattened() -> None:
    block: Quote | Paragraph = Paragraph(line("deep"))
    for _ in range(900):
        block = Quote((block,))

    assert "deep" in str(elements(Prose((block,), subtle=True)))


def test_deeply_nested_styles_are_written_once() -> None:
    inline: Inline = Text("deep")
    for _ in range(3000):
        inline = Strong((Emphasis((inline,)),))

    assert markdown(inline) == "**_deep_**"


def prose_document(words: str) -> Document:
    return (Paragraph(line(words)),)


def indented(*items: Json) -> Json:
    return {
        "type": "ColumnSet",
        "spacing": "small",
        "columns": [
            {"type": "Column", "width": "20px", "items": []},
            {"type": "Column", "width": "stretch", "items": list(items)},
        ],
    }


def row(*cells: list[Json]) -> Json:
    return {"type": "TableRow", "cells": [{"type": "TableCell", "items": cell} for cell in cells]}
