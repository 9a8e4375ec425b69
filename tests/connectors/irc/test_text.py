"""mIRC formatting becomes the text tree, and the tree becomes lines with codes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.content.markdown import markdown_to_text, text_to_markdown
from bridge.content.text.normal import normal
from bridge.content.text.tree import (
    BREAK,
    Broadcast,
    ChannelLink,
    Code,
    Document,
    Emphasis,
    Inline,
    Mention,
    Paragraph,
    Ping,
    Spoiler,
    Strike,
    Strong,
    Text,
    Underline,
)
from bridge.model import ActorId
from connectors.irc.formatting import plain, read_runs
from connectors.irc.text import as_action, from_action, irc_to_text, text_to_irc

READ = {
    "plain": "plain",
    "\x02bold\x02 and \x1ditalic\x1d": "**bold** and *italic*",
    "\x02bold\x0f off": "**bold** off",
    "\x02a\x1db\x02c\x1d": "**a*b***\\*c\\*",
    "\x0304red\x03 and \x0301,00on white\x03!": "red and on white!",
    "\x03" + "5five": "five",
    "\x0312,3a\x0399b": "ab",
    "\x04ff0000hex\x04": "hex",
    "\x1estruck\x1e": "~~struck~~",
    "\x11code *x*\x11": "`code *x*`",
    "\x16reverse\x16": "reverse",
    "\x02\x1d\x0f": "",
    "bell\x07 and tab\there": "bell and tab\there",
    "see https://example.com/a_b_c": "see <https://example.com/a_b_c>",
    "one\ntwo": "one\ntwo",
    "1 * 2 * 3 _x_": "1 \\* 2 \\* 3 \\_x\\_",
}


@pytest.mark.parametrize("line", [line for line in READ if line != "\x02a\x1db\x02c\x1d"])
def test_a_line_with_codes_is_read(line: str) -> None:
    assert irc_to_text(line) == markdown_to_text(READ[line])


def test_codes_that_overlap_are_nested() -> None:
    bold = Strong((Text("a"), Emphasis((Text("b"),))))

    assert irc_to_text("\x02a\x1db\x02c\x1d") == (Paragraph((bold, Emphasis((Text("c"),)))),)


def test_text_in_the_colour_of_its_ground_is_a_spoiler() -> None:
    assert irc_to_text("he \x031,1dies\x03 there") == (
        Paragraph((Text("he "), Spoiler((Text("dies"),)), Text(" there"))),
    )


def test_an_addressed_nick_is_a_mention() -> None:
    people = {"Alice": ActorId("irc:n:~alice"), "al": ActorId("irc:n:~al")}

    assert irc_to_text("alice: ask @Al, not alice", people) == (
        Paragraph(
            (
                Mention(ActorId("irc:n:~alice"), "alice"), Text(": ask "),
                Mention(ActorId("irc:n:~al"), "Al"), Text(", not alice"),
            )
        ),
    )  # fmt: skip
    assert irc_to_text("alicex: hi a@al", people) == markdown_to_text("alicex: hi a@al")


WRITTEN = {
    "**bold** and *it*": ["\x02bold\x0f and \x1dit\x0f"],
    "`x*y`": ["\x11x*y\x0f"],
    "# Title\n\nbody": ["\x02Title\x0f", "body"],
    "> quoted\n> again": ["> quoted", "> again"],
    "- a\n- b\n  - c": ["• a", "• b", "  • c"],
    "3. a\n4. b": ["3. a", "4. b"],
    "- [x] done\n- [ ] open": ["• [x] done", "• [ ] open"],
    "```py\nif x:\n    y()\n```": ["if x:", "    y()"],
    "[site](https://example.com/)": ["site (https://example.com/)"],
    "<https://example.com/>": ["https://example.com/"],
    "| a | b |\n|---|---|\n| 1 | 2 |": ["a | b", "--+--", "1 | 2"],
    "one\ntwo\n\n\nthree": ["one", "two", "three"],
    "---": ["-" * 20],
}


@pytest.mark.parametrize("markdown", WRITTEN)
def test_the_tree_becomes_lines(markdown: str) -> None:
    assert text_to_irc(markdown_to_text(markdown)) == WRITTEN[markdown]


def test_only_a_real_mention_is_a_bare_nick() -> None:
    def written(node: Inline) -> list[str]:
        return text_to_irc((Paragraph((node,)),))

    assert written(Mention(ActorId("x:y:1"), "bob")) == ["@bob"]
    assert written(Ping(ActorId("irc:n:~bob"), "bob")) == ["bob"]
    assert written(Broadcast("here")) == ["@here"]
    assert written(ChannelLink("x:y:c", "general")) == ["#general"]


def test_a_digit_behind_a_spoiler_is_no_colour() -> None:
    hidden = (Paragraph((Strong((Spoiler((Text("x"),)), Text("12"))),)),)
    (line,) = text_to_irc(hidden)

    assert plain(line) == "x12"
    assert styles_of(irc_to_text(line)) == styles_of(hidden)


def test_a_text_emphasised_as_a_whole_is_an_action() -> None:
    waves = markdown_to_text("*waves at **all***")

    assert from_action(markdown_to_text("waves at **all**")) == waves
    assert as_action(waves) == markdown_to_text("waves at **all**")
    assert as_action(markdown_to_text("*waves* at all")) is None


WORDS = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp", "Zs", "Cf")),
    min_size=1, max_size=8,
).map(Text)  # fmt: skip
STYLES = (Strong, Emphasis, Strike, Underline, Spoiler)


def inlines(depth: int) -> st.SearchStrategy[tuple[Inline, ...]]:
    leaf = WORDS | WORDS.map(lambda word: Code(word.value))
    if not depth:
        return st.lists(leaf, min_size=1, max_size=3).map(tuple)
    styled = st.builds(lambda kind, inner: kind(inner), st.sampled_from(STYLES), inlines(depth - 1))
    return st.lists(leaf | styled | st.just(BREAK), min_size=1, max_size=4).map(tuple)


def styles_of(document: Document) -> list[tuple[str, frozenset[str]]]:
    """Every character with its styles, whatever the order of nesting."""
    found: list[tuple[str, frozenset[str]]] = []

    def walk(nodes: tuple[Inline, ...], on: frozenset[str]) -> None:
        for node in nodes:
            match node:
                case Text(value):
                    found.extend((sign, on) for sign in value if not sign.isspace())
                case Code(value):
                    found.extend((sign, on | {"Code"}) for sign in value if not sign.isspace())
                case Strong(inner) | Emphasis(inner) | Strike(inner) | Underline(inner):
                    walk(inner, on | {type(node).__name__})
                case Spoiler(inner):
                    walk(inner, on | {"Spoiler"})
                case _:
                    pass

    for block in document:
        if isinstance(block, Paragraph):
            walk(block.children, frozenset())
    return found


@given(inlines(3))
def test_formatting_survives_the_way_out_and_back(children: tuple[Inline, ...]) -> None:
    document = normal((Paragraph(children),))

    back = irc_to_text("\n".join(text_to_irc(document)))

    assert styles_of(back) == styles_of(document)


@given(st.text(max_size=80))
def test_any_line_is_read_and_holds_no_codes_afterwards(line: str) -> None:
    read = irc_to_text(line)

    assert not set("\x02\x03\x04\x0f\x11\x16\x1d\x1e\x1f") & set(text_to_markdown(read))
    assert "".join(run.text for run in read_runs(line)) == plain(line)


@given(st.text(max_size=200))
def test_any_text_is_written_in_lines_without_breaks(markdown: str) -> None:
    for line in text_to_irc(markdown_to_text(markdown)):
        assert line.strip()
        assert not set("\r\n\0\x01") & set(line)
