"""Formatted text and tables as blocks that lose nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bridge.content.cards.tree import (
    Button,
    Divider,
    Node,
    Prose,
    Table,
)
from bridge.content.text.tree import Link, Paragraph
from bridge.model import Loss
from tests.connectors.slack.written_cards import (
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
    token,
    write,
)

# --- prose ------------------------------------------------------------------------------------


def test_headings_are_headers_and_deep_ones_are_bold() -> None:
    assert blocks(prose("# One\n\n## Two\n\n### Three\n\nfour")) == [
        {"type": "header", "text": plain("One")},
        {"type": "header", "text": plain("Two")},
        section("*Three*\n\nfour"),
    ]


def test_a_heading_that_no_header_block_can_hold_is_bold() -> None:
    assert blocks(prose("# See [it](https://e.example)"), prose(f"# {'x' * 151}")) == [
        section("*See <https://e.example|it>*"),
        section(f"*{'x' * 151}*"),
    ]


def test_an_escaped_emoji_name_in_a_header_stays_text() -> None:
    assert blocks(prose("# Say \\:tada:"), prose("# [:tada:](uacs:emoji/tada)")) == [
        {"type": "header", "text": {**plain("Say :tada:"), "emoji": False}},
        {"type": "header", "text": plain(":tada:")},
    ]


def test_lists_code_with_a_language_and_underline_are_rich_text() -> None:
    assert blocks(prose("so:\n\n1. one\n   - in\n2. two\n\n```py\nx\n```\n\n<u>u</u>")) == [
        rich(
            run(text("so:")),
            {"type": "rich_text_list", "elements": [run(text("one"))], "style": "ordered"},
            {
                "type": "rich_text_list",
                "elements": [run(text("in"))],
                "style": "bullet",
                "indent": 1,
            },
            {
                "type": "rich_text_list",
                "elements": [run(text("two"))],
                "style": "ordered",
                "offset": 1,
            },
            {"type": "rich_text_preformatted", "elements": [text("x")], "language": "py"},
            run(text("u", underline=True)),
        )
    ]


def test_text_that_mrkdwn_cannot_escape_is_rich_text() -> None:
    assert blocks(prose(r"a \*b\* c")) == [rich(run(text("a *b* c")))]


def test_mentions_are_readable_and_notify_nobody() -> None:
    written_blocks = blocks(
        prose("[@Ada](uacs:actor/slack:T1:UADA) [@here](uacs:broadcast/here) <!channel>")
    )

    assert written_blocks == [
        {
            "type": "section",
            "text": {**mrkdwn("@Ada @here &lt;!channel&gt;"), "verbatim": True},
        }
    ]


def test_rules_are_dividers_and_tables_are_tables() -> None:
    assert blocks(prose("a\n\n---\n\n| n | v |\n|---|--:|\n| **x** | 1 |")) == [
        section("a"),
        {"type": "divider"},
        {
            "type": "table",
            "rows": [
                [{"type": "raw_text", "text": "n"}, {"type": "raw_text", "text": "v"}],
                [rich(run(text("x", bold=True))), {"type": "raw_text", "text": "1"}],
            ],
            "column_settings": [{"align": "left"}, {"align": "right"}],
        },
    ]


def test_subtle_prose_is_a_context_and_huge_prose_is_a_header() -> None:
    assert blocks(prose("small", subtle=True), prose("BIG", size="huge")) == [
        {"type": "context", "elements": [mrkdwn("small")]},
        {"type": "header", "text": plain("BIG")},
    ]


def test_long_text_is_split_between_sentences_and_long_code_between_lines() -> None:
    sentences = "A sentence of some words. " * 150
    code = "\n".join(f"line {number}" for number in range(500))

    written_blocks = blocks(prose(f"{sentences}\n\n```py\n{code}\n```"))

    texts = [
        [inline["text"] for element in block["elements"] for inline in element["elements"]]
        for block in written_blocks
    ]
    assert all(len("".join(line)) <= 2_950 for line in texts)
    assert texts[0][0].endswith("words.")
    assert "\n".join(line for part in texts[2:] for line in part).endswith(code[-2_000:])
    assert {
        element.get("language") for block in written_blocks[2:] for element in block["elements"]
    } == {"py"}


def test_a_split_list_continues_its_numbers() -> None:
    items = "\n".join(f"{number}. {'word ' * 40}" for number in range(1, 31))

    written_blocks = blocks(prose(items))

    offsets = [block["elements"][0].get("offset", 0) for block in written_blocks]
    lengths = [len(block["elements"][0]["elements"]) for block in written_blocks]
    assert offsets == [sum(lengths[:index]) for index in range(len(lengths))]
    assert sum(lengths) == 30


def test_a_link_with_a_too_long_url_is_its_text_and_a_loss() -> None:
    url = f"https://e.example/{'x' * 3_000}"

    written = write(Prose((Paragraph((Link(url, line_of("here")),)),), at="/p"), summary="s")

    assert written.messages[0].body["blocks"] == [rich(run(text("here")))]
    assert written.losses == (Loss(path="/p", kind="long_url", what=url, shown_as="its text"),)


# --- tables -----------------------------------------------------------------------------------


def cell(words: str) -> tuple[Node, ...]:
    return (prose(words),) if words else ()


def test_a_long_table_continues_in_further_messages_with_its_header() -> None:
    rows = ((cell("n"),), *((cell(str(number)),) for number in range(150)))

    parts = [body["blocks"][0]["rows"] for body in bodies(Table(rows))]

    assert [len(part) for part in parts] == [100, 52]
    assert {part[0][0]["text"] for part in parts} == {"n"}


def test_a_narrow_second_table_of_a_message_is_fixed_width_text() -> None:
    table = Table(((cell("a"), cell("b")), (cell("1"), cell(""))), at="/t")

    written = write(table, table)

    assert written.messages[0].body["blocks"] == [
        {
            "type": "table",
            "rows": [
                [{"type": "raw_text", "text": "a"}, {"type": "raw_text", "text": "b"}],
                [{"type": "raw_text", "text": "1"}, {"type": "raw_text", "text": " "}],
            ],
        },
        section("```\na │ b\n──┼──\n1 │\n```"),
    ]
    assert written.losses == (
        Loss(
            path="/t",
            kind="table_as_code",
            what="a table of its own",
            shown_as="fixed-width text",
        ),
    )


def test_a_table_with_buttons_is_written_row_by_row() -> None:
    button = Button(line_of("Go"), at="/b")

    written_blocks = blocks(Table(((cell("a"), cell("b")), (cell("1"), (button,))), at="/t"))

    assert written_blocks == [
        section("a | b"),
        section("1"),
        {
            "type": "actions",
            "elements": [
                {
                    "type": "button",
                    "text": plain("Go"),
                    "action_id": token("/b"),
                    "value": token("/b"),
                }
            ],
        },
    ]


def test_a_table_of_too_many_columns_is_a_list() -> None:
    rows = (tuple(cell(f"h{n}") for n in range(21)), tuple(cell(f"v{n}") for n in range(21)))

    (block,) = blocks(Table(rows))

    assert block["type"] == "rich_text"
    assert losses(Table(rows))[0].kind == "table_as_prose"


def test_a_table_written_as_a_list_shows_its_header_once() -> None:
    rows = tuple(tuple(cell(f"{row}{n}") for n in range(21)) for row in "hvw")

    (block,) = blocks(Table(rows))

    head, items = block["elements"]
    assert "".join(element["text"] for element in head["elements"]).split(" | ") == [
        f"h{n}" for n in range(21)
    ]
    assert [item["elements"][0]["text"].split(" | ")[0] for item in items["elements"]] == [
        "v0",
        "w0",
    ]


@pytest.mark.parametrize("more", [(), (Divider(),)])
def test_partial_styles_of_a_label_are_reported_as_losses(more: tuple[Divider, ...]) -> None:
    whole = prose("[**all**](https://a.example)")
    parts = replace(prose("[**some** text](https://a.example)"), at="/p")

    assert losses(whole, *more) == ()
    assert losses(parts, *more) == (
        Loss(path="/p", kind="label_style", what="some text", shown_as="without styles"),
    )
