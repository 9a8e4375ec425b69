"""Teams' HTML and Markdown against the text tree; a CommonMark parser is the reference."""

from __future__ import annotations

import time

import pyromark
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.content.text.inlines import plain_inlines
from bridge.content.text.tree import (
    Block,
    Break,
    Broadcast,
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
from connectors.teams.html_reader import read_elements, read_simply
from connectors.teams.text import escape_name, escape_text, html_to_text, text_to_teams

_OPTIONS = (
    pyromark.Options.ENABLE_TABLES
    | pyromark.Options.ENABLE_STRIKETHROUGH
    | pyromark.Options.ENABLE_TASKLISTS
    | pyromark.Options.ENABLE_FOOTNOTES
    | pyromark.Options.ENABLE_MATH
    | pyromark.Options.ENABLE_HEADING_ATTRIBUTES
    | pyromark.Options.ENABLE_SUPERSCRIPT
    | pyromark.Options.ENABLE_SUBSCRIPT
)


def paragraph(*inlines: Inline) -> Document:
    return (Paragraph(inlines),)


def read_back(teams: str) -> Document:
    """Return the document that a reader of Teams' mixture of Markdown and HTML sees."""
    return html_to_text(pyromark.html(teams, options=_OPTIONS)).document


@pytest.mark.parametrize(
    ("html", "document"),
    [
        ("<p>a <strong>b</strong></p>", paragraph(Text("a "), Strong((Text("b"),)))),
        (
            "<div><div>one</div><div>&nbsp;</div><div>two<br>three</div>\n</div>",
            (Paragraph((Text("one"),)), Paragraph((Text("two"), Break(), Text("three")))),
        ),
        ("a<br><br>b", (Paragraph((Text("a"),)), Paragraph((Text("b"),)))),
        ("<p>x<u> y </u>z</p>", paragraph(Text("x "), Underline((Text("y"),)), Text(" z"))),
        (
            "<ul><li>a</li><li>b<ol start=3><li>c</li></ol></li></ul>",
            (
                List(
                    (
                        ListItem((Paragraph((Text("a"),)),)),
                        ListItem(
                            (
                                Paragraph((Text("b"),)),
                                List((ListItem((Paragraph((Text("c"),)),)),), start=3),
                            )
                        ),
                    )
                ),
            ),
        ),
        ("<blockquote><p>q</p></blockquote>", (Quote((Paragraph((Text("q"),)),)),)),
        (
            '<codeblock class="Python"><code>a = 1<br>b&lt;2</code></codeblock>',
            (CodeBlock("a = 1\nb<2", "python"),),
        ),
        ("<pre>x\n  y</pre>", (CodeBlock("x\n  y"),)),
        ("<p><code>a  b</code></p>", paragraph(Code("a b"))),
        ("<h2>T</h2><hr>", (Heading(2, (Text("T"),)), Rule())),
        (
            '<a href="https://x.example/?a=1&amp;b=2">l</a>',
            paragraph(Link("https://x.example/?a=1&b=2", (Text("l"),))),
        ),
        ('<a href="javascript:alert(1)">l</a>', paragraph(Text("l (javascript:alert(1))"))),
        ('<a href="tel:+4912345">us</a>', paragraph(Text("us (tel:+4912345)"))),
        ('<a href="www.example.com">www.example.com</a>', paragraph(Text("www.example.com"))),
        ('<span style="font-weight: 700">b</span>', paragraph(Strong((Text("b"),)))),
        (
            '<span style="font-style:italic;text-decoration:underline">u</span>',
            paragraph(Emphasis((Underline((Text("u"),)),))),
        ),
        (
            "<table><tbody><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></tbody></table>",
            (Table(((Text("a"),), (Text("b"),)), (((Text("c"),), ()),), (None, None)),),
        ),
        (
            'hi <img itemtype="http://schema.skype.com/Emoji" alt="🙂"><emoji alt="🎉"></emoji>',
            paragraph(Text("hi "), Emoji("🙂", unicode="🙂"), Emoji("🎉", unicode="🎉")),
        ),
        (
            '<img itemtype="http://schema.skype.com/AMSImage" src="https://a.example/">',
            paragraph(Text("[image]")),
        ),
        (
            '<img src="https://gif.example/cat.gif" alt="a cat">',
            paragraph(Link("https://gif.example/cat.gif", (Text("[image: a cat]"),))),
        ),
        ("<at>Bo</at> 1 < 2 & 3", paragraph(Text("@Bo 1 < 2 & 3"))),
        ("<script>alert(1)</script>x<style>y</style>", paragraph(Text("x"))),
        ("<p>never <b>closed", paragraph(Text("never "), Strong((Text("closed"),)))),
        ("", ()),
    ],
)
def test_html_is_read(html: str, document: Document) -> None:
    assert html_to_text(html).document == document


@pytest.mark.parametrize(
    ("html", "document"),
    [
        (
            "<table><tr><th>a </th><th><b>b</b></th></tr> <tr><td>1<br>2</td><td></table>",
            (
                Table(
                    ((Text("a"),), (Strong((Text("b"),)),)),
                    (((Text("1 2"),), ()),),
                    (None, None),
                ),
            ),
        ),
        ("<table><tr><td> </td></tr></table>", ()),
        (
            "<table><caption>a</caption>b<tr>c<td>d</td></tr><tr><td>e</table>",
            (
                Paragraph((Text("a"),)),
                Paragraph((Text("b"),)),
                Paragraph((Text("c"),)),
                Table(((Text("d"),),), (((Text("e"),),),), (None,)),
            ),
        ),
        ("a <hr /> b", (Paragraph((Text("a"),)), Rule(), Paragraph((Text("b"),)))),
        ("a <br> b", paragraph(Text("a"), Break(), Text("b"))),
        ("<b>a</i> b</b>", paragraph(Strong((Text("a b"),)))),
        ("&#42;a&#42; &#60;b&#62;", paragraph(Text("*a* <b>"))),
        ("<p>\n\t a\r\n b &nbsp; c </p>\n", paragraph(Text("a b c"))),
    ],
)
def test_the_fast_and_the_full_html_reader_agree(html: str, document: Document) -> None:
    assert read_elements(html).document == document
    assert read_simply(html) in (None, document)


_text_pieces = st.sampled_from(
    ["a", "b c", " d", "e ", "&amp;", "&#42;", "&#9;", "&nbsp;", " ", "\n", "", "é", "x://y"]
)
_html = st.recursive(
    _text_pieces,
    lambda inner: (
        st.builds("{}{}{}".format, inner, st.sampled_from(["", " ", "<br>", "<hr>", "\n"]), inner)
        | st.builds(
            "<{0}>{1}</{0}>".format,
            st.sampled_from(["p", "div", "blockquote", "h1", "b", "em", "s", "code", "pre"]),
            inner,
        )
        | st.builds('<a href="https://x.example/">{}</a>'.format, inner)
        | st.builds("<ul>\n<li>{}</li> <li>{}</li></ul>".format, inner, inner)
        | st.builds("<table><tr><th>{}</th> <td>{}</td></tr></table>".format, inner, inner)
    ),
    max_leaves=8,
)


@given(_html)
def test_generated_simple_html_is_read_the_same_by_both_readers(html: str) -> None:
    assert read_simply(html) in (None, read_elements(html).document)


def test_a_common_message_is_read_by_the_fast_reader() -> None:
    html = "<p>a <b>b</b></p><ul><li>c</li></ul><hr><table><tr><td>d</td></tr></table>&#42;"

    assert read_simply(html) is not None


def test_a_mention_span_is_resolved_by_the_callback() -> None:
    ann = Mention(ActorId("teams:t:ann"), "Ann")
    html = '<span itemtype="http://schema.skype.com/Mention" itemid="3">Ann</span>!'

    read = html_to_text(
        html, lambda number, name: ann if (number, name) == ("3", "Ann") else Text("?")
    )

    assert read.document == paragraph(ann, Text("!"))


@given(st.text())
def test_any_string_is_read(html: str) -> None:
    html_to_text(html)


@pytest.mark.parametrize(
    "piece", ["<", "<a ", "<b>", "<a '", '<a x="', "<!--", "<ul><li>", "&#", "<at><tr><ul>", "<p>"]
)
def test_hostile_html_is_read_in_bounded_time(piece: str) -> None:
    began = time.process_time()

    html_to_text(piece * (100_000 // len(piece)))

    assert time.process_time() - began < 5


# Each of these would be markup, a mention or HTML if it went out as it is.
NASTY = [
    "*a*", "**a**", "_a_", "__a__", "~~a~~", "`a`", "[a](https://b.example)", "![a](b)", "# a",
    "- a", "+ a", "1. a", "1) a", "> a", "---", "===", "a | b", "|-|-|", "<b>a</b>", "<at>Ann</at>",
    '<img src="https://x.example/1">', "<script>", "&lt;b&gt;", "&amp;", "&#42;", "{hidden}",
    "a {.class} b", "$x$", "x^2^", "H~2~O", "==m==", "++i++", "[^1]", "\\*", "``` x", "~~~",
    "    code", "\tcode", "<!-- x", "https://x.example/_a_*b*", "www.x.example", ":a:", "[ ] a",
    "- [ ] a",    "<https://x.example>", "[a]: b", "a\\", "*", "**", "&", "<",
]  # fmt: skip


@pytest.mark.parametrize("nasty", NASTY)
def test_text_is_never_markup(nasty: str) -> None:
    visible = " ".join(nasty.split())

    assert read_back(text_to_teams(paragraph(Text(nasty)))) == paragraph(Text(visible))
    assert read_back(text_to_teams(paragraph(Text("a "), Strong((Text(nasty),))))) in (
        paragraph(Text("a "), Strong((Text(visible),))),
        paragraph(Text(f"a {visible}")),
    )


@given(st.lists(st.sampled_from([*NASTY, " ", "a", "é", "漢", "\u00a0"]), max_size=6).map("".join))
def test_text_never_becomes_markup(value: str) -> None:
    document = paragraph(Text(value))

    assert plain(read_back(text_to_teams(document))) == squeezed(plain(document))
    assert all(isinstance(block, Paragraph) for block in read_back(text_to_teams(document)))


@pytest.mark.parametrize(
    ("document", "teams"),
    [
        (paragraph(Strong((Text("a b"),)), Text(" c")), "**a b** c"),
        (paragraph(Text("x"), Strong((Text("(a)"),)), Text("y")), "x<b>(a)</b>y"),
        (paragraph(Emphasis((Text("a"),))), "*a*"),
        (paragraph(Strike((Text("a"),)), Underline((Text("b"),))), "<s>a</s><u>b</u>"),
        (paragraph(Text("a"), Break(), Text("- b")), "a<br>&#45; b"),
        (paragraph(Code("x")), "`x`"),
        (paragraph(Code("a<b>`")), "<code>a&lt;b&gt;&#96;</code>"),
        ((CodeBlock("a = 1", "python"),), "```python\na = 1\n```"),
        ((CodeBlock("<b>\nx"),), "<pre>&lt;b&gt;<br>x</pre>"),
        (paragraph(Link("https://x.example/a", (Text("https://x.example/a"),))), "https://x.example/a"),
        (paragraph(Link("https://x.example/(a)", (Text("a]"),))), "[a&#93;](https://x.example/%28a%29)"),
        (paragraph(Link("javascript:x", (Text("a"),))), "a"),
        (paragraph(Mention(ActorId("slack:T:U"), "An*n")), "@An&#42;n"),
        (paragraph(Broadcast("everyone")), "@everyone"),
        (paragraph(Spoiler((Text("x"),))), "&#91;spoiler: x&#93;"),
        (paragraph(Emoji("party")), ":party:"),
        (paragraph(Timestamp(0)), "1970-01-01 00:00 UTC"),
        ((Heading(2, (Text("T"),)),), "**T**"),
        ((Quote((Paragraph((Text("a"),)), Paragraph((Text("b"),)))),), "> a\n>\n> b"),
        (
            (List((ListItem((Paragraph((Text("a"),)),), checked=True),), start=2),),
            "2. ☑ a",
        ),
        (
            (Table(((Text("a"),), (Text("b"),)), (((Text("1"),), (Text("2"),)),)),),
            "**a** &#124; **b**<br>1 &#124; 2",
        ),
        ((Rule(),), "<hr>"),
        ((), ""),
    ],
)  # fmt: skip
def test_a_document_is_written(document: Document, teams: str) -> None:
    assert text_to_teams(document) == teams


def test_names_cannot_contain_markup_or_direction_controls() -> None:
    assert escape_name("Ann\u202e** says\nBo") == "Ann &#42;&#42; says Bo"
    assert escape_name(" \u200b ") == "Unknown"
    assert escape_text("- <b>") == "&#45; &lt;b&gt;"


# --- round trips ----------------------------------------------------------------------------------

_words = st.text("abc*_~`<>&[]{}#|.-+1) é", min_size=1, max_size=8).map(
    lambda value: " ".join(value.split())
).filter(bool)  # fmt: skip
_styles = st.sampled_from([Strong, Emphasis, Strike, Underline])


def _inlines(depth: int) -> st.SearchStrategy[Inline]:
    leaf = st.builds(Text, _words) | st.builds(
        lambda words: Link("https://x.example/", (Text(words),)), _words
    )
    if not depth:
        return leaf
    return leaf | st.builds(
        lambda style, inner: style(tuple(inner)),
        _styles,
        st.lists(_inlines(depth - 1), min_size=1, max_size=3),
    )


_paragraphs = st.lists(_inlines(2), min_size=1, max_size=4).map(lambda run: Paragraph(tuple(run)))


def _blocks(depth: int) -> st.SearchStrategy[Block]:
    code = st.builds(
        CodeBlock, st.text("ab<&`\n ", min_size=1).filter(lambda code: bool(code.strip()))
    )
    leaf = _paragraphs | code
    if not depth:
        return leaf
    inner = st.lists(_blocks(depth - 1), min_size=1, max_size=2).map(tuple)
    items = st.lists(inner.map(ListItem), min_size=1, max_size=3).map(tuple)
    return leaf | st.builds(Quote, inner) | st.builds(List, items, st.none() | st.integers(1, 20))


@given(st.lists(_blocks(2), max_size=4).map(tuple))
def test_every_visible_character_survives_in_order(document: Document) -> None:
    read = read_back(text_to_teams(document))

    assert letters(plain(read)) == letters(plain(document))


@given(st.lists(_blocks(1), min_size=1, max_size=3).map(tuple))
def test_blocks_keep_their_kinds(document: Document) -> None:
    read = read_back(text_to_teams(document))

    assert [type(block) for block in read] == [type(block) for block in document]


def plain(blocks: Document) -> str:
    """Return all characters of a document, one block per line."""
    lines: list[str] = []
    for block in blocks:
        match block:
            case Paragraph(children) | Heading(_, children):
                lines.append(plain_inlines(children))
            case Quote(inner):
                lines.append(plain(inner))
            case CodeBlock(value):
                lines.append(value)
            case List(items):
                lines += [plain(item.blocks) for item in items]
            case Table(header, rows):
                lines += [plain_inlines(cell) for row in (header, *rows) for cell in row]
            case Rule():
                pass
    return "\n".join(lines)


def squeezed(value: str) -> str:
    return " ".join(value.split())


def letters(value: str) -> str:
    return "".join(value.split())
