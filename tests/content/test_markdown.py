"""UACS Markdown and the text tree say the same in both directions."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.content.markdown import markdown_to_text, text_to_markdown, text_to_plain
from bridge.content.text import (
    Block,
    Break,
    Broadcast,
    ChannelLink,
    Code,
    CodeBlock,
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

READ: list[tuple[str, tuple[Block, ...]]] = [
    ("hello", (Paragraph((Text("hello"),)),)),
    ("one\ntwo", (Paragraph((Text("one"), Break(), Text("two"))),)),
    ("**b** *i* ~~s~~", (Paragraph((
        Strong((Text("b"),)), Text(" "), Emphasis((Text("i"),)), Text(" "), Strike((Text("s"),)),
    )),)),
    ("<u>x</u> <spoiler>y</spoiler>", (Paragraph((
        Underline((Text("x"),)), Text(" "), Spoiler((Text("y"),)),
    )),)),
    ("see https://a.example/x.", (Paragraph((
        Text("see "), Link("https://a.example/x", (Text("https://a.example/x"),)), Text("."),
    )),)),
    ("[@Ann](uacs:actor/slack:T:U) in [#ops](uacs:channel/slack:T:C)", (Paragraph((
        Mention(ActorId("slack:T:U"), "Ann"), Text(" in "), ChannelLink("slack:T:C", "ops"),
    )),)),
    ("[@here](uacs:broadcast/here) [3 May](uacs:time/17?style=R)", (Paragraph((
        Broadcast("here"), Text(" "), Timestamp(17, "R", "3 May"),
    )),)),
    ("[x](javascript:alert)", (Paragraph((Text("x (javascript:alert)"),)),)),
    ("## Head `c`", (Heading(2, (Text("Head "), Code("c"))),)),
    ("> a\n> > b", (Quote((Paragraph((Text("a"),)), Quote((Paragraph((Text("b"),)),)))),)),
    ("```py\nx = 1\n```", (CodeBlock("x = 1", "py"),)),
    ("- [x] a\n- b\n\n  3. c", (List((
        ListItem((Paragraph((Text("a"),)),), True),
        ListItem((Paragraph((Text("b"),)), List((ListItem((Paragraph((Text("c"),)),)),), 3))),
    )),)),
    ("|a|b|\n|:-|-:|\n|1|2|", (Table(
        ((Text("a"),), (Text("b"),)), (((Text("1"),), (Text("2"),)),), ("left", "right"),
    ),)),
    ("---", (Rule(),)),
]  # fmt: skip


@pytest.mark.parametrize(("markdown", "tree"), READ)
def test_markdown_is_read_as_people_mean_it(markdown: str, tree: tuple[Block, ...]) -> None:
    assert markdown_to_text(markdown) == tree


@pytest.mark.parametrize(("_markdown", "tree"), READ)
def test_what_is_written_reads_as_the_same_tree(_markdown: str, tree: tuple[Block, ...]) -> None:
    assert markdown_to_text(text_to_markdown(tree)) == tree


@pytest.mark.parametrize(
    "text",
    [
        "2 * 3 * 4", "_under_ snake_case", "# no heading", "- no list", "1. no list", "1) x",
        "> no quote", "`code`", "[l](http://x.example)", "<b>", "&amp;", "a | b", "~~no~~", "---",
        "===", "+ plus", "![i](u)", "\\*", "<!channel>", "||no||", "***", "```", "~~~", "&lt;",
    ],
)  # fmt: skip
def test_text_that_looks_like_markup_stays_text(text: str) -> None:
    assert markdown_to_text(text_to_markdown((Paragraph((Text(text),)),))) == (
        Paragraph((Text(text),)),
    ) or text_to_plain(markdown_to_text(text_to_markdown((Paragraph((Text(text),)),)))) == text


WORDS = st.text(alphabet="ab *_~`[]()<>#-+.!|\\&:/1é😀", min_size=1, max_size=8)
INLINE: st.SearchStrategy[Inline] = st.recursive(
    st.builds(Text, WORDS)
    | st.builds(Code, WORDS)
    | st.just(Break())
    | st.builds(Mention, st.just(ActorId("slack:T:U1")), WORDS.map(str.strip).filter(bool))
    | st.builds(Emoji, st.just("party"), st.none(), st.just("https://e.example/p.png")),
    lambda inner: st.one_of(
        *(
            st.builds(kind, st.lists(inner, min_size=1, max_size=3).map(tuple))
            for kind in (Strong, Emphasis, Strike, Underline, Spoiler)
        )
    ),
    max_leaves=6,
)
RUN = st.lists(INLINE, min_size=1, max_size=5).map(tuple)
BLOCK: st.SearchStrategy[Block] = st.recursive(
    st.builds(Paragraph, RUN)
    | st.builds(Heading, st.integers(1, 6), RUN)
    | st.builds(CodeBlock, WORDS, st.sampled_from(["", "py"]))
    | st.just(Rule()),
    lambda inner: st.builds(Quote, st.lists(inner, min_size=1, max_size=3).map(tuple))
    | st.builds(
        List,
        st.lists(
            st.builds(
                ListItem,
                st.lists(inner, min_size=1, max_size=2).map(tuple),
                st.sampled_from([None, True, False]),
            ),
            min_size=1,
            max_size=3,
        ).map(tuple),
        st.sampled_from([None, 1, 7]),
    ),
    max_leaves=4,
)
DOCUMENT = st.lists(BLOCK, min_size=1, max_size=4).map(tuple)


@settings(max_examples=400, deadline=None)
@given(DOCUMENT)
def test_writing_is_stable(document: tuple[Block, ...]) -> None:
    once = markdown_to_text(text_to_markdown(document))

    assert markdown_to_text(text_to_markdown(once)) == once


@settings(max_examples=400, deadline=None)
@given(DOCUMENT)
def test_no_visible_character_is_lost(document: tuple[Block, ...]) -> None:
    def letters(tree: tuple[Block, ...]) -> str:
        return "".join(c for c in text_to_plain(tree) if not c.isspace())

    assert letters(markdown_to_text(text_to_markdown(document))) == letters(document)


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=200))
def test_any_string_is_read(markdown: str) -> None:
    document = markdown_to_text(markdown)

    assert markdown_to_text(text_to_markdown(document)) is not None


@pytest.mark.parametrize("nasty", [">" * 5000, "*" * 20000, "[" * 20000, "- " * 3000, "<u>" * 5000])
def test_deep_nesting_is_read_in_time(nasty: str) -> None:
    text_to_markdown(markdown_to_text(nasty + "x"))
