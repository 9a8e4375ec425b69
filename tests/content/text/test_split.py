"""Long texts in pieces: each fits, together they say the same, and nothing is torn apart."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable
from itertools import accumulate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.content.markdown import markdown_to_text
from bridge.content.text.inlines import plain_inlines
from bridge.content.text.normal import flat_blocks
from bridge.content.text.split import split_text, utf16_length
from bridge.content.text.tree import CodeBlock, Heading, Paragraph
from tests.examples import examples


def slack_length(text: str) -> int:
    return len(text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))


LENGTHS = pytest.mark.parametrize("length", [len, utf16_length, slack_length])

CASES: list[tuple[str, int, list[str]]] = [
    ("short", 20, ["short"]),
    ("one two three. four five six", 20, ["one two three.", "four five six"]),
    ("first paragraph\n\nsecond paragraph\nwith two lines", 36, [
        "first paragraph", "second paragraph\nwith two lines",
    ]),
    ("a line of words\nanother line of words", 30, ["a line of words", "another line of words"]),
    ("```py\nfirst = 1\n    second = 2\n```", 30, [
        "```py\nfirst = 1\n```", "```py\n    second = 2\n```",
    ]),
    ("> ```\n> one = 1\n> two = 2\n> ```", 26, [
        "> ```\n> one = 1\n> ```", "> ```\n> two = 2\n> ```",
    ]),
    ("- ```\n  one one one\n  two two two\n  ```", 30, [
        "- ```\n  one one one\n  ```", "  ```\n  two two two\n  ```",
    ]),
    ("- ☑ ```\n  a\n  ```\n\n```\none one one\ntwo two two\n```", 32, [
        "- ☑ ```\n  a\n  ```", "```\none one one\ntwo two two\n```",
    ]),
    ("- [x] ```\n  one one one\n  two two two\n  ```", 34, [
        "- [x] ```\n  one one one\n   ```", "   ```\n  two two two\n  ```",
    ]),
    ("> quoted words that go on and on", 22, ["> quoted words that go", "> on and on"]),
    ("**bold words that go on and on**", 22, ["**bold words that go**", "**on and on**"]),
    ("**bold _and slanted words_ here**", 24, ["**bold _and slanted_**", "**_words_ here**"]),
    ("> **bold words,\n> that go on** here", 24, ["> **bold words,**", "> **that go on** here"]),
    ("some `code in a line` and text", 20, ["some `code in a`", "`line` and text"]),
    ("1. first item here\n2. second item here\n3. third item", 42, [
        "1. first item here\n2. second item here", "3. third item",
    ]),
    ("| name | n |\n| --- | --- |\n| one | 1 |\n| two | 2 |\n| three | 3 |", 58, [
        "| name | n |\n| --- | --- |\n| one | 1 |\n| two | 2 |",
        "| name | n |\n| --- | --- |\n| three | 3 |",
    ]),
    ("see [the long label](https://x.y/z) now", 36, ["see [the long label](https://x.y/z)", "now"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "limit", "pieces"), CASES)
def test_texts_are_split_at_natural_places(text: str, limit: int, pieces: list[str]) -> None:
    assert split_text(text, limit) == pieces


def test_no_piece_begins_with_a_sign_that_would_start_a_block() -> None:
    pieces = split_text("some words and then - 5 # 7 > 3 and more words", 20)

    assert not [piece for piece in pieces if re.match(r"[#>-]", piece)]
    assert " ".join(pieces) == "some words and then - 5 # 7 > 3 and more words"


TOKENS = [
    "[@Ann Lee](uacs:actor/slack:T:U)", "[a (b) c](https://x.y/z_(1))", "<@U123456>", "&amp;",
    "<https://x.y|a label of words>", "<:party:123456789>", ":white_check_mark:", "\\*", "<t:1:R>",
    "<!date^1700000000^{date}|then>", "https://example.org/a/b", "``a ` b``", "![i m g](<u v>)",
    "e\u0301\u0302", "👨‍👩‍👧‍👦", "🇩🇪", "👍🏽", "각", "नि", "क्ष", "1\ufe0f\u20e3",
    "\u1100\u1161\u11a8", "🏴\U000e0067\U000e007f",
]  # fmt: skip


@pytest.mark.parametrize("token", TOKENS)
@pytest.mark.parametrize("length", [len, utf16_length])
def test_no_token_is_split(token: str, length: Callable[[str], int]) -> None:
    for before in range(48):
        for glue in ("", " "):
            text = "x" * before + glue + token + "y" * 44
            pieces = split_text(text, 44, length)

            assert sum(piece.count(token) for piece in pieces) == 1, (text, pieces)
            assert all(length(piece) <= 44 for piece in pieces)


def test_a_token_that_is_longer_than_the_limit_is_split() -> None:
    pieces = split_text("<@" + "x" * 100 + ">", 30)

    assert "".join(pieces) == "<@" + "x" * 100 + ">"
    assert max(map(len, pieces)) <= 30


def content(markdown: str) -> str:
    texts: list[str] = []
    for block in flat_blocks(markdown_to_text(markdown)):
        match block:
            case Paragraph(children) | Heading(_, children):
                texts.append(plain_inlines(children))
            case CodeBlock(value):
                texts.append(value)
            case _:
                pass
    return "".join("".join(texts).split())


PHRASES = st.sampled_from(
    ["some words", "**bold words here**", "_slanted text_", "~~gone for good~~", "||hidden||",
     "`code here`", "[@Ann](uacs:actor/slack:T:U)", "[a label](https://x.y/z)", "&amp;", "\\*",
     "snake_case", "a *b* c", "<u>under it</u>", "漢字かな交じり文。", "e\u0301e\u0301e\u0301",
     "👨‍👩‍👧", "2 * 3", "End.", "https://example.org/path", "**bold _and slanted_ words**",
     "longwordwithoutanyspace"]
)  # fmt: skip
LINES = st.lists(PHRASES, min_size=1, max_size=12).map(" ".join)
BLOCKS = st.one_of(
    LINES,
    st.lists(LINES, min_size=1, max_size=4).map("\n".join),
    st.lists(LINES, min_size=1, max_size=4).map(lambda lines: "\n".join(f"> {x}" for x in lines)),
    st.lists(LINES, min_size=1, max_size=4).map(lambda lines: "\n".join(f"- {x}" for x in lines)),
    st.lists(LINES, max_size=9).map(lambda lines: "\n".join(["```py", *lines, "```"])),
    LINES.map(lambda line: f"## {line}"),
)
MARKDOWN = st.lists(BLOCKS, min_size=1, max_size=5).map("\n\n".join)


@LENGTHS
@settings(max_examples=examples(60))
@given(text=MARKDOWN, limit=st.integers(120, 600))
def test_pieces_fit_the_limit_and_keep_the_content(
    length: Callable[[str], int], text: str, limit: int
) -> None:
    pieces = split_text(text, limit, length)

    assert all(length(piece) <= limit for piece in pieces)
    assert "".join(map(content, pieces)) == content(text)


@LENGTHS
@settings(max_examples=examples(100))
@given(text=st.text(max_size=300) | MARKDOWN, limit=st.integers(20, 60))
def test_any_text_is_split_to_any_limit(
    length: Callable[[str], int], text: str, limit: int
) -> None:
    pieces = split_text(text, limit, length)

    assert all(length(piece) <= limit for piece in pieces)


CLUSTERS = ["a", *(token for token in TOKENS if not token.isascii())]


@settings(max_examples=examples(200))
@given(clusters=st.lists(st.sampled_from(CLUSTERS), min_size=30, max_size=80))
def test_no_grapheme_cluster_is_split(clusters: list[str]) -> None:
    pieces = split_text("".join(clusters), 30)

    borders = set(accumulate(map(len, clusters)))
    assert "".join(pieces) == "".join(clusters)
    assert set(accumulate(map(len, pieces))) <= borders


def test_a_limit_that_is_too_small_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 20"):
        split_text("x", 19)


@pytest.mark.parametrize(
    "text",
    [
        "Hello team, the deploy of the new build went well and nobody noticed. " * 14286,
        "x" * 1_000_000,
        "a" + "\u0301" * 300_000,
        "[" * 300_000,
        "](" * 150_000,
        "*a _b ~c `d " * 25_000,
        "```x\n" * 60_000,
        "```\n" + "x = 1\n" * 160_000,
        "|a|b|\n|-|-|\n" + "|c|d|\n" * 50_000,
        "\n" * 300_000,
        ("word " * 15 + "\n") * 10_000,
    ],
)
def test_long_texts_are_split_in_linear_time(text: str) -> None:
    start = time.process_time()

    pieces = split_text(text, 2000)

    assert time.process_time() - start < 5
    assert max(map(len, pieces)) <= 2000


CODE_IN_A_LINE = {
    "one tick": "`" + "word " * 1200 + "end`",
    "one tick, no space": "`" + "x" * 4500 + "`",
    "two ticks": "``" + "wo`rd " * 1200 + "end``",
    "two ticks, no space": "``" + "a```b" * 900 + "``",
    "three ticks in a line": "so ```" + "word " * 1200 + "end```",
    "in bold": "**see `" + "word " * 1200 + "end` there**",
}


@pytest.mark.parametrize("text", CODE_IN_A_LINE.values(), ids=CODE_IN_A_LINE)
@pytest.mark.parametrize("limit", [200, 1000, 4000])
def test_inline_code_that_is_longer_than_the_limit_is_closed_and_reopened(
    text: str, limit: int
) -> None:
    pieces = split_text(text, limit)

    assert len(pieces) > 1
    for piece in pieces:
        assert len(piece) <= limit
        runs = Counter(len(run) for run in re.findall("`+", piece))
        ticks = len(re.findall("`+", text)[0])
        assert runs[ticks] == 2 or piece.strip() == "so", piece
    letters = "".join(re.sub(r"[\s`*]", "", piece) for piece in pieces)
    assert letters == re.sub(r"[\s`*]", "", text)
