"""UACS Markdown and the text tree say the same in both directions."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bridge.content.markdown import markdown_to_text, text_to_markdown, text_to_plain
from bridge.content.markdown.by_html import read_by_html
from bridge.content.markdown.inline_writer import run_to_markdown
from bridge.content.markdown.plain_run_writer import plain_run_to_markdown
from bridge.content.markdown.reader import read_events
from bridge.content.markdown.writer import (
    _write,  # pyright: ignore[reportPrivateUsage]  # the long way, to compare the short one with
)
from bridge.content.text.inlines import leaves, plain_inlines
from bridge.content.text.normal import cleaned, flat_blocks, normal
from bridge.content.text.tree import (
    Block,
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
from bridge.content.text.urls import safe_url
from bridge.model import ActorId
from tests.examples import examples

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
    ("one  \ntwo<br>three\\\nfour", (Paragraph((
        Text("one"), Break(), Text("two"), Break(), Text("three"), Break(), Text("four"),
    )),)),
    ("a<br><br>b", (Paragraph((Text("a"),)), Paragraph((Text("b"),)))),
    ("a ||hidden **b**|| c || d", (Paragraph((
        Text("a "), Spoiler((Text("hidden "), Strong((Text("b"),)))), Text(" c || d"),
    )),)),
    ("\\||a\\|| &#124;|b `||c||`", (Paragraph((Text("||a|| ||b "), Code("||c||"))),)),
    ("<code>a*b</code> and <b>no", (Paragraph((Code("a*b"), Text(" and <b>no"))),)),
    ("**a **b** c**", (Paragraph((Strong((Text("a b c"),)),)),)),
    ("<b>x **y** z</b>", (Paragraph((Strong((Text("x y z"),)),)),)),
    ("**a****b**", (Paragraph((Strong((Text("a****b"),)),)),)),
    ("[a **b**](https://x.y/(z))", (Paragraph((
        Link("https://x.y/(z)", (Text("a "), Strong((Text("b"),)))),
    )),)),
    ("![alt](https://x.y/i.png)", (Paragraph((Link("https://x.y/i.png", (Text("alt"),)),)),)),
    ("<me@x.example>", (Paragraph((Link("mailto:me@x.example", (Text("me@x.example"),)),)),)),
    ("(https://x.y/a_(b)), https://x.y/c).", (Paragraph((
        Text("("), Link("https://x.y/a_(b)", (Text("https://x.y/a_(b)"),)), Text("), "),
        Link("https://x.y/c", (Text("https://x.y/c"),)), Text(")."),
    )),)),
    ("<div>\n*x*\n</div>", (Paragraph((
        Text("<div>"), Break(), Text("*x*"), Break(), Text("</div>"),
    )),)),
    ("42.", (List((ListItem(()),), 42),)),
    ("- a\n-\n- [ ] b", (List((
        ListItem((Paragraph((Text("a"),)),)), ListItem(()),
        ListItem((Paragraph((Text("b"),)),), False),
    )),)),
    ("a\x00b\ud800", (Paragraph((Text("a\ufffdb\ufffd"),)),)),
    ("> \n\n#\n\nx", (Paragraph((Text("x"),)),)),
    ("<small>a **b**\nc</small>\n\nd", (
        Paragraph((Text("a "), Strong((Text("b"),)), Break(), Text("c")), subtle=True),
        Paragraph((Text("d"),)),
    )),
    ("a <small>b</small>", (Paragraph((Text("a <small>b</small>"),)),)),
]  # fmt: skip


@pytest.mark.parametrize(("markdown", "tree"), READ)
def test_markdown_is_read_into_the_expected_tree(markdown: str, tree: tuple[Block, ...]) -> None:
    assert markdown_to_text(markdown) == tree


@pytest.mark.parametrize(("_markdown", "tree"), READ)
def test_written_markdown_is_read_as_the_same_tree(_markdown: str, tree: tuple[Block, ...]) -> None:
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
    assert (
        markdown_to_text(text_to_markdown((Paragraph((Text(text),)),)))
        == (Paragraph((Text(text),)),)
        or text_to_plain(markdown_to_text(text_to_markdown((Paragraph((Text(text),)),)))) == text
    )


def content(document: Document, *, shows_urls: bool = False) -> str:
    """All that a tree says, without white space and without signs of lists and quotes; with the
    URLs that a link shows where it has no words, or may not be one."""
    text = "".join(_block_content(block, shows_urls) for block in flat_blocks(document))
    return "".join(cleaned(text).split())


def _block_content(block: Block, shows_urls: bool) -> str:
    match block:
        case Paragraph(children) | Heading(_, children):
            return _words(children, shows_urls)
        case CodeBlock(value):
            return value
        case Table(header, rows):
            return "".join(_words(cell, shows_urls) for row in (header, *rows) for cell in row)
        case _:
            return ""


def _words(nodes: Sequence[Inline], shows_urls: bool) -> str:
    if not shows_urls:
        return plain_inlines(nodes)
    return "".join(_with_urls(node, in_link=False) for node in nodes)


def _with_urls(node: Inline, *, in_link: bool) -> str:
    if isinstance(node, Link) and not in_link:
        words = plain_inlines(node.children)
        visible = words.strip(" \t\n\r\v\f")
        if url := safe_url(node.url):
            return words if visible else url
        return words if visible == node.url or not node.url else f"{words} ({node.url})"
    if isinstance(node, Strong | Emphasis | Strike | Underline | Spoiler | Link):
        inside = in_link or isinstance(node, Link)
        return "".join(_with_urls(child, in_link=inside) for child in node.children)
    return plain_inlines((node,))


ALPHABET = [
    *"ab *_~`[]()<>#-+.!|\\&:/1=\t\n\"'@^${}%;,xX", "é", "😀", "\u200d", "\u0301", "א", "\u00a0",
    "\x00", "\ud800", "\r\n", "\u2028", "。", "http://a", "https://b.c/d)", "&amp;", "&#124;",
    "<b>", "<u>", "</u>", "<br>", "||", "**", "```", "---", "- ", "1. ", "[x] ", "    ",
    "uacs:actor/x", "](", "mailto:a@b", "www.x.y", "\x0b", "\x85", "\u3000", "§", "€", "\ufeff",
    "[a]: /u", "<!--", "<div>", "<small>", "</small>",
]  # fmt: skip
WORDS = st.lists(st.sampled_from(ALPHABET), max_size=6).map("".join)
URLS = st.builds(
    str.__add__,
    st.sampled_from(["http://", "https://x.y/", "mailto:", "javascript:", "data:", "file:", ""]),
    WORDS,
)
LEAF: st.SearchStrategy[Inline] = st.one_of(
    st.builds(Text, WORDS),
    st.builds(Code, WORDS),
    st.just(Break()),
    st.builds(Mention, WORDS.map(ActorId), WORDS),
    st.builds(ChannelLink, WORDS, WORDS),
    st.builds(Emoji, WORDS, st.sampled_from([None, "😀"]), st.none() | URLS),
    st.builds(Timestamp, st.integers(-5, 10**18), st.sampled_from(["f", "R", ""]), WORDS),
    st.just(Broadcast("here")),
)


def runs(
    inner: st.SearchStrategy[Inline], max_size: int = 4
) -> st.SearchStrategy[tuple[Inline, ...]]:
    return st.lists(inner, max_size=max_size).map(tuple)


INLINE = st.recursive(
    LEAF,
    lambda inner: st.one_of(
        *(st.builds(kind, runs(inner)) for kind in (Strong, Emphasis, Strike, Underline, Spoiler)),
        st.builds(Link, URLS, runs(inner, 2)),
    ),
    max_leaves=6,
)
RUN = runs(INLINE)
CELLS = st.lists(RUN, max_size=3).map(tuple)


def documents(inner: st.SearchStrategy[Block], max_size: int = 3) -> st.SearchStrategy[Document]:
    return st.lists(inner, max_size=max_size).map(tuple)


BLOCK: st.SearchStrategy[Block] = st.recursive(
    st.builds(Paragraph, RUN, st.sampled_from([False, False, True]))
    | st.builds(Heading, st.integers(0, 7), RUN)
    | st.builds(CodeBlock, WORDS, st.just("py") | WORDS)
    | st.builds(Table, CELLS, st.lists(CELLS, max_size=2).map(tuple), st.just(("left", None)))
    | st.just(Rule()),
    lambda inner: (
        st.builds(Quote, documents(inner))
        | st.builds(
            List,
            st.lists(
                st.builds(
                    ListItem, documents(inner, 2), st.sampled_from([None, None, True, False])
                ),
                max_size=3,
            ).map(tuple),
            st.sampled_from([None, None, 1, 7, 0, 10**10, -3]),
        )
    ),
    max_leaves=4,
)
DOCUMENT = documents(BLOCK)
TYPED = st.lists(st.sampled_from(ALPHABET), max_size=20).map("".join) | st.text(max_size=100)


def holds_for_a_tree(document: Document) -> None:
    """The laws: what is read is the normal form of what was written; nothing visible is lost."""
    whole = normal(document)
    written = text_to_markdown(document)

    assert normal(whole) == whole
    assert markdown_to_text(written) == whole
    assert text_to_markdown(whole) == written
    assert content(whole) == content(document, shows_urls=True)


def holds_for_a_text(markdown: str) -> None:
    document = markdown_to_text(markdown)

    assert normal(document) == document
    assert markdown_to_text(text_to_markdown(document)) == document


@settings(max_examples=examples(100))
@given(DOCUMENT)
def test_any_tree_survives_writing_and_reading(document: Document) -> None:
    holds_for_a_tree(document)


@settings(max_examples=examples(150))
@given(TYPED)
def test_any_string_can_be_read_and_written(markdown: str) -> None:
    holds_for_a_text(markdown)


def test_an_invalid_link_labelled_with_its_address_shows_it_once() -> None:
    document = (Paragraph((Link("a", (Text(" a"), Break())),)),)

    assert normal(document) == (Paragraph((Text(" a"),)),)
    holds_for_a_tree(document)


@pytest.mark.parametrize("words", [Code("\r\n"), Code(" \t"), Strong((Code("\f"),))])
def test_a_link_with_a_blank_label_shows_its_url(words: Inline) -> None:
    document = (Paragraph((Link("http://a", (words,)),)),)

    assert normal(document) == (Paragraph((Link("http://a", (Text("http://a"),)),)),)
    holds_for_a_tree(document)


ORDINARY = st.lists(
    st.tuples(
        st.sampled_from(
            ["", "", "", "- ", "  - ", "1. ", "2) ", "# ", "> ", "- [x] ", "    ", "```\n", "---",
             "| a | b |\n|---|:-:|\n| 1 | **2** |\n", "```py\na < b\n```\n"]
        ),
        st.lists(
            st.sampled_from(
                ["a", "two words", "é", "😀", "**b**", "_i_", "~~s~~", "`c`", "**a _b_ c**",
                 "***x***", "[l](http://x.y/z)", "[ **l** ](https://x.y/%20)", "https://a.b/c_d", "<https://a.b>",
                 "a_b_c", "2 * 3", "\\*", "&amp;", "<", "&", "a  ", "x\\",
                 "[@Ann](uacs:actor/s:T:U)", "**a**__b__", "`a``b`", "|", "[x]", "100%"]
            ),
            max_size=5,
        ).map(" ".join),
        st.sampled_from(["\n", "\n", "\n\n"]),
    ).map("".join),
    max_size=8,
).map("".join)  # fmt: skip


def holds_for_both_readers(markdown: str) -> None:
    clean = cleaned(markdown)

    assert markdown_to_text(markdown) == read_events(clean)
    assert read_by_html(clean) in (None, read_events(clean))


@settings(max_examples=examples(150))
@given(TYPED | ORDINARY | st.text(alphabet="abc 1.,;!?'\"()%@^${}\n:/-+=#é😀", max_size=60))
def test_the_fast_readers_give_the_same_tree_as_the_event_reader(markdown: str) -> None:
    holds_for_both_readers(markdown)


def holds_for_both_writers(document: Document) -> None:
    whole = normal(document)
    written: list[str] = []
    mark = ""
    for block in whole:
        mark = _write((block,), written, mark, run_to_markdown, 0)

    assert text_to_markdown(document) == "\n\n".join(written)


@settings(max_examples=examples(100))
@given(DOCUMENT | ORDINARY.map(markdown_to_text))
def test_the_fast_writer_writes_the_same_as_the_full_writer(document: Document) -> None:
    holds_for_both_writers(document)


@pytest.mark.long
@settings(max_examples=20_000)
@given(DOCUMENT, TYPED | ORDINARY)
def test_many_trees_and_strings_satisfy_all_properties(document: Document, markdown: str) -> None:
    holds_for_a_tree(document)
    holds_for_a_text(markdown)
    holds_for_both_readers(markdown)
    holds_for_both_writers(document)


def test_a_common_answer_is_read_and_written_by_the_fast_paths() -> None:
    markdown = "## A\n\n- **b** `c`\n  - [d](https://x.y/z?a=b&c)\n\n> _e_\n\n| f |\n| --- |\n| g |"

    document = read_by_html(markdown)

    assert document is not None
    for block in document:
        _write((block,), [], "", plain_run_to_markdown, 0)


@settings(max_examples=examples(60))
@given(DOCUMENT)
def test_another_parser_finds_no_markup_in_escaped_text(document: Document) -> None:
    oracle = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    texts = [line for block in document for line in text_lines(block)]

    for text in texts:
        markdown = text_to_markdown((Paragraph((Text(text),)),))
        (block,) = markdown_to_text(markdown)
        tokens = oracle.parse(markdown)
        visible = [child for token in tokens for child in token.children or []]

        assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
        assert {child.type for child in visible} <= {"text"}
        assert isinstance(block, Paragraph)
        assert "".join(child.content for child in visible) == plain_inlines(block.children)


def text_lines(block: Block) -> list[str]:
    """Texts of a tree that are one line without a bare URL."""
    if not isinstance(block, Paragraph):
        return []
    texts = [node.value for node in leaves(block.children) if isinstance(node, Text)]
    return [text for text in texts if text.strip() and text.isprintable() and "://" not in text]


DEEP = [
    ">" * 20_000, "*" * 200_000, "[" * 100_000, "- " * 10_000, "<u>" * 20_000, "**a " * 50_000,
    "<u><b>x" * 10_000, "`a" * 20_000, "https://a" + ")" * 200_000, "||a" * 10_000,
    "a<br>" * 10_000, "\n".join(" " * (2 * depth) + "- a" for depth in range(500)),
    "[a](http://x)" * 5_000, "|a" * 300 + "\n" + "|-" * 300 + "\n" + "x\n" * 300,
    "*a _b " * 10_000 + "_ *" * 10_000,
]  # fmt: skip


@pytest.mark.parametrize("nasty", DEEP, ids=range(len(DEEP)))
def test_deep_and_hostile_text_is_read_within_ten_seconds(nasty: str) -> None:
    start = time.process_time()

    text_to_plain(markdown_to_text(text_to_markdown(markdown_to_text(nasty + "x"))))

    assert time.process_time() - start < 10


def test_deeply_nested_trees_are_written() -> None:
    inline: Inline = Text("x")
    block: Block = Paragraph((Text("y"),))
    for depth in range(5_000):
        inline = (Strong, Emphasis, Underline)[depth % 3]((inline,))
        block = Quote((block,)) if depth % 2 else List((ListItem((block,)),))

    document = (Paragraph((inline,)), block)

    assert content(markdown_to_text(text_to_markdown(document))) == "xy"
    assert text_to_plain(document).endswith("y")


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)", "JaVaScript:alert(1)", " javascript:x", "java\nscript:x", "data:,x",
        "file:///etc/passwd", "vbscript:x", "//x.y", "/path", "\x00javascript:x", "http:javascript",
        "uacs:nothing/x", "uacs:actor/", "uacs:time/1e9", "uacs:time/" + "9" * 5000,
        "uacs:time/--1",
    ],
)  # fmt: skip
def test_unsafe_urls_become_text(url: str) -> None:
    read = markdown_to_text(f"[words](<{url.replace(chr(10), '')}>)")
    built = normal((Paragraph((Link(url, (Text("words"),)),)),))

    for document in (read, built):
        (block,) = document
        assert isinstance(block, Paragraph)
        assert all(isinstance(node, Text | Break) for node in block.children)
        assert plain_inlines(block.children).startswith("words (")


def test_a_mention_in_typed_text_is_escaped() -> None:
    """Connectors hand on what people type as text, which is escaped; only agents write Markdown."""
    typed = "[@Admin](uacs:actor/slack:T:U)"

    written = text_to_markdown((Paragraph((Text(typed),)),))

    assert written == "\\[@Admin\\](uacs:actor/slack:T:U)"
    assert markdown_to_text(written) == (Paragraph((Text(typed),)),)


@pytest.mark.parametrize(
    ("tree", "markdown"),
    [
        ((Strong((Text(" a "),)), Text("b")), "&#32;**a** b"),
        ((Text("x"), Emphasis((Text("y"),)), Text("z")), "x<em>y</em>z"),
        ((Text("x"), Strong((Text("y"),)), Text("z")), "x**y**z"),
        ((Strong((Text("a"), Emphasis((Text("b"),)))),), "**a<em>b</em>**"),
        ((Text("see "), Link("https://a.b/c", (Text("https://a.b/c"),))), "see https://a.b/c"),
        ((Link("https://a.b/c_d", (Text("https://a.b/c_d"),)),), "<https://a.b/c_d>"),
        ((Link("https://a.b/(c d", (Text("x"),)),), "[x](<https://a.b/(c%20d>)"),
        ((Text("wow!"), Link("https://a.b", (Text("x"),))), "wow\\![x](https://a.b)"),
        ((Spoiler((Text("a|b"),)),), "||a\\|b||"),
        ((Code("a`b"), Text(" a < b & c > d -> e")), "``a`b`` a < b & c > d -> e"),
        ((Mention(ActorId("x:a%3Ab:1"), "A [b]"),), "[@A \\[b\\]](uacs:actor/x:a%253Ab:1)"),
    ],
)
def test_written_markdown_is_easy_to_read(tree: tuple[Inline, ...], markdown: str) -> None:
    assert text_to_markdown((Paragraph(tree),)) == markdown
