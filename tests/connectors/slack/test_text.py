"""mrkdwn and rich_text are read as Slack shows them, and written text notifies nobody."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.content.markdown import markdown_to_text, text_to_markdown
from bridge.content.text.inlines import merge_texts, plain_inlines
from bridge.content.text.tree import (
    Break,
    Broadcast,
    ChannelLink,
    Code,
    CodeBlock,
    Document,
    Emoji,
    Emphasis,
    GroupMention,
    Inline,
    Link,
    List,
    ListItem,
    Mention,
    Paragraph,
    Quote,
    Rule,
    Strike,
    Strong,
    Text,
    Timestamp,
    Underline,
)
from bridge.model import ActorId
from connectors.slack.sandbox.text import posted_text
from connectors.slack.text import mrkdwn_to_text, rich_text_to_text, text_to_mrkdwn
from tests.examples import examples

TEAM = "T1"
ADA = Mention(ActorId("slack:T1:UADA"), "UADA")


def line(*nodes: Inline) -> Document:
    return (Paragraph(nodes),)


READ: dict[str, Document] = {
    "*b* _i_ ~s~ `c*d`": line(
        Strong((Text("b"),)), Text(" "), Emphasis((Text("i"),)), Text(" "),
        Strike((Text("s"),)), Text(" "), Code("c*d"),
    ),
    "*a _b_ c*": line(Strong((Text("a "), Emphasis((Text("b"),)), Text(" c")))),
    "snake_case 2*3*4 * x *": line(Text("snake_case 2*3*4 * x *")),
    "a\u200b*b*\u200bc": line(Text("a"), Strong((Text("b"),)), Text("c")),
    "*open\nend*": line(Text("*open"), Break(), Text("end*")),
    "a &lt;b&gt; &amp;amp;": line(Text("a <b> &amp;")),
    "<@UADA> <@UADA|ada>": line(ADA, Text(" "), Mention(ActorId("slack:T1:UADA"), "ada")),
    "<#C9|general> <#C9|>": line(
        ChannelLink("slack:T1:C9", "general"), Text(" "), ChannelLink("slack:T1:C9", "C9")
    ),
    "<!subteam^S1|@devs>": line(GroupMention("slack:T1:S1", "devs")),
    "<!here> <!channel|channel>": line(Broadcast("here"), Text(" "), Broadcast("channel")),
    "<https://a.test/?x=1&amp;y=2|A &amp; B>": line(
        Link("https://a.test/?x=1&y=2", (Text("A & B"),))
    ),
    "<https://a.test|*bold* _it_ :tada:> <https://a.test|user1_simanneal>": line(
        Link(
            "https://a.test",
            (
                Strong((Text("bold"),)),
                Text(" "),
                Emphasis((Text("it"),)),
                Text(" "),
                Emoji("tada", "🎉"),
            ),
        ),
        Text(" "),
        Link("https://a.test", (Text("user1_simanneal"),)),
    ),
    "<https://a.test>": line(Link("https://a.test", (Text("https://a.test"),))),
    "<mailto:a@b.test|a@b.test>": line(Link("mailto:a@b.test", (Text("a@b.test"),))),
    "<javascript:alert(1)|press>": line(Text("press (javascript:alert(1))")),
    "<tel:+4912345|+49 123 45>": line(Text("+49 123 45")),
    "<tel:+4912345|us>": line(Text("us (tel:+4912345)")),
    "<www.example.com/a|docs>": line(Text("docs (www.example.com/a)")),
    "<!date^1392734382^Posted {date_num} at {time} by me|once>": line(
        Text("Posted "),
        Timestamp(1392734382, "f", "2014-02-18 14:39 UTC"),
        Text(" by me"),
    ),
    "<!date^1700000000^{date_short} {time}|then>": line(Timestamp(1700000000, "f", "then")),
    "<!date^1700000000^{ago}^https://a.test|then>": line(
        Link("https://a.test", (Timestamp(1700000000, "R", "then"),))
    ),
    "<!date^soon^{ago}|soon>": line(Text("soon")),
    "<!date^1700000000^just words|then>": line(Text("just words")),
    ":tada: 10:30:45 :+1: a:b:c": line(
        Emoji("tada", "🎉"), Text(" 10:30:45 "), Emoji("+1", "👍"), Text(" a:b:c")
    ),
    ":wave::skin-tone-3:": line(Emoji("wave::skin-tone-3", "👋🏼")),
    ":tada::tada:!": line(Emoji("tada", "🎉"), Emoji("tada", "🎉"), Text("!")),
    "*:simple_smile:* 12:100:00 :100:": line(
        Strong((Emoji("simple_smile", "🙂"),)), Text(" 12:100:00 "), Emoji("100", "💯")
    ),
    "root:x:0:0 ::1 :30: :party_parrot: :Smile:": line(
        Text("root:x:0:0 ::1 :30: :party_parrot: :Smile:")
    ),
    "so:\n• a\n    ◦ ☑ b\n        c\n\n    d\n• e\n3. f\n4. g": (
        *line(Text("so:")),
        List((
            ListItem((
                *line(Text("a")),
                List((ListItem(line(Text("b"), Break(), Text("c")), checked=True),)),
                *line(Text("d")),
            )),
            ListItem(line(Text("e"))),
        )),
        List((ListItem(line(Text("f"))), ListItem(line(Text("g")))), 3),
    ),
    "\u200b• no list\n\u200b1. nor this": line(Text("• no list"), Break(), Text("1. nor this")),
    "2026. was\n1.5 and - x": (
        List((ListItem(line(Text("was"))),), 2026), *line(Text("1.5 and - x")),
    ),
    "a\n———\n&gt; • q": (*line(Text("a")), Rule(), Quote((List((ListItem(line(Text("q"))),)),))),
    "&gt; q1\n&gt; q2\nafter": (
        Quote((Paragraph((Text("q1"), Break(), Text("q2"))),)), *line(Text("after"))
    ),
    "&gt;&gt;&gt; all\nthe\n\nrest": (
        Quote((Paragraph((Text("all"), Break(), Text("the"))), Paragraph((Text("rest"),)))),
    ),
    "run ```\nx = `1` &lt; 2\n\ny\n``` now": (
        *line(Text("run ")), CodeBlock("x = `1` < 2\n\ny"), *line(Text(" now"))
    ),
    "a\r\nb\n\nc": (*line(Text("a"), Break(), Text("b")), *line(Text("c"))),
    "": (),
    " \n ": (),
}  # fmt: skip


@pytest.mark.parametrize("mrkdwn", READ)
def test_mrkdwn_is_read(mrkdwn: str) -> None:
    assert mrkdwn_to_text(mrkdwn, TEAM) == READ[mrkdwn]


def rich(*elements: dict[str, Any]) -> Document:
    return rich_text_to_text({"type": "rich_text", "elements": list(elements)}, TEAM)


def section(*elements: dict[str, Any]) -> dict[str, Any]:
    return {"type": "rich_text_section", "elements": list(elements)}


def run(text: str, **style: bool) -> dict[str, Any]:
    return {"type": "text", "text": text, "style": style}


def items(*texts: str, indent: int = 0, style: str = "bullet", **more: Any) -> dict[str, Any]:
    elements = [section(run(text)) for text in texts]
    return {
        "type": "rich_text_list",
        "style": style,
        "indent": indent,
        "elements": elements,
        **more,
    }


def test_neighbouring_runs_of_one_style_are_merged() -> None:
    document = rich(
        section(run("a ", bold=True), run("b", bold=True, italic=True), run(" c", bold=True))
    )

    assert document == line(Strong((Text("a "), Emphasis((Text("b"),)), Text(" c"))))


def test_every_inline_element_is_read() -> None:
    document = rich(
        section(
            run("x", underline=True),
            run("f()", code=True, strike=True),
            {"type": "link", "url": "https://a.test", "text": "A"},
            {"type": "link", "url": "slack://open"},
            {"type": "emoji", "name": "wave", "unicode": "1f44b-1f3fd", "skin_tone": 4},
            {"type": "emoji", "name": "party", "url": "https://e.test/p.gif"},
            {"type": "emoji", "name": "tada"},
            {"type": "emoji", "name": "wave", "skin_tone": 3},
            {"type": "emoji", "name": "partyparrot"},
            {"type": "user", "user_id": "UADA"},
            {"type": "channel", "channel_id": "C9"},
            {"type": "usergroup", "usergroup_id": "S1"},
            {"type": "broadcast", "range": "everyone"},
            {"type": "date", "timestamp": 1700000000, "format": "{time}", "fallback": "22:13"},
            {"type": "color", "value": "#ff0000"},
            {"type": "citation", "text": "[1]"},
            {"type": "canvas"},
        )
    )

    assert document == line(
        Underline((Text("x"),)), Strike((Code("f()"),)), Link("https://a.test", (Text("A"),)),
        Text("slack://open"), Emoji("wave::skin-tone-4", "👋🏽"),
        Emoji("party", None, "https://e.test/p.gif"), Emoji("tada", "🎉"),
        Emoji("wave::skin-tone-3", "👋🏼"), Emoji("partyparrot"), ADA,
        ChannelLink("slack:T1:C9", "C9"), GroupMention("slack:T1:S1", "S1"), Broadcast("everyone"),
        Timestamp(1700000000, "t", "22:13"), Text("#ff0000[1][canvas]"),
    )  # fmt: skip


def test_lists_nest_by_indent_and_continue_after_it() -> None:
    document = rich(
        items("one", "two", style="ordered"),
        items("deep", indent=1),
        items("three", style="ordered", offset=2),
    )

    def item(text: str, *below: List) -> ListItem:
        return ListItem((Paragraph((Text(text),)), *below))

    deep = List((item("deep"),))
    assert document == (List((item("one"), item("two", deep), item("three")), 1),)


def test_many_continued_lists_are_read_in_linear_time() -> None:
    lists = [items("x", indent=number % 2) for number in range(10_000)]
    start = time.process_time()

    (block,) = rich(*lists)

    assert isinstance(block, List)
    assert len(block.items) == 5_000
    assert time.process_time() - start < 3


def test_quotes_and_code_are_blocks() -> None:
    document = rich(
        section(run("so:\n")),
        {"type": "rich_text_quote", "elements": [run("a\n\nb")]},
        {"type": "rich_text_preformatted", "elements": [run("x\ny")], "language": "python"},
    )

    assert document == (
        *line(Text("so:")),
        Quote((Paragraph((Text("a"),)), Paragraph((Text("b"),)))),
        CodeBlock("x\ny", "python"),
    )


WRITTEN: dict[str, str] = {
    "**b** _i_ ~~s~~ `c`": "*b* _i_ ~s~ `c`",
    "foo**bar**baz": "foo\u200b*bar*\u200bbaz",
    "- a\n\n  b\n- c": "• a\n\n    b\n• c",
    "1\\. a\n• b": "\u200b1. a\n\u200b• b",
    "&#32;&#32;in": "\u200b  in",
    "5 of :party: and :smile:": "5 of :party: and <!date^00000000^{_}|:>smile:",
    "😀 [:party:](uacs:emoji/party?url=https%3A%2F%2Fe.test%2Fp.png)": "😀 :party:",
    "**two\nlines**": "*two*\n*lines*",
    r"\*lit\* and snake_case": "<!date^00000000^{_}|*>lit* and snake_case",
    r"5 \* 3 \* 2": "5 * 3 * 2",
    ":smile: at 10:30:45": "<!date^00000000^{_}|:>smile: at 10:30:45",
    r"\> not a quote": "<!date^00000000^{_}|&gt;> not a quote",
    "> quoted\n\nplain": "> quoted\nplain",
    "> a\n> > b": "> a\n>\n> &gt; b",
    "hey <!channel> <@U1> & &amp;": "hey &lt;!channel&gt; &lt;@U1&gt; &amp; &amp;",
    "[@Ada *x*](uacs:actor/slack:T1:UADA)": "@Ada x",
    "[@here](uacs:broadcast/here)": "@here",
    "[#general](uacs:channel/slack:T1:C9)": "#general",
    "[A|B](https://a.test/a|b?c=<d>)": "<https://a.test/a%7Cb?c=%3Cd%3E|A|B>",
    "[**x**](https://a.test) [**x** y](https://a.test)": (
        "*<https://a.test|x>* <https://a.test|x y>"
    ),
    r"[\*x\* a_b](https://a.test)": "<https://a.test|∗x* a_b>",
    "https://a.test/?x=1&y=2": "<https://a.test/?x=1&amp;y=2>",
    "[then](uacs:time/1700000000?style=R)": "<!date^1700000000^{ago}|then>",
    "[](uacs:time/1700000000?style=R)": "<!date^1700000000^{ago}|2023-11-14 22:13 UTC>",
    "[:party:](uacs:emoji/party)": ":party:",
    "# Big **news**": "*Big news*",
    "- a\n  1. b\n- [x] c": "• a\n    1. b\n• ☑ c",
    "```py\na < b\n```": "```\na &lt; b\n```",
    "| a | bb |\n|-|-|\n| 1 | 2 |": "```\na | bb\n--|---\n1 | 2\n```",
    "---": "———",
    "<u>x</u> ||y||": "x ||y||",
}


@pytest.mark.parametrize("markdown", WRITTEN)
def test_mrkdwn_is_written(markdown: str) -> None:
    assert text_to_mrkdwn(markdown_to_text(markdown)) == WRITTEN[markdown]


# --- laws -----------------------------------------------------------------------------------

_CHARS = st.characters(
    exclude_categories=["Cs", "Cc", "Zl", "Zp", "Zs"], exclude_characters="\u200b"
)
_WORDS = st.lists(
    st.text(st.sampled_from("ab*_~`:<>&|!@#^{}[]()1.") | _CHARS, min_size=1, max_size=8),
    min_size=1, max_size=4,
).map(" ".join)  # fmt: skip
_PLAIN_WORDS = st.text("abcdeé😀1", min_size=1, max_size=6)
_STYLED = st.recursive(
    st.builds(Text, _PLAIN_WORDS),
    lambda inner: st.builds(
        lambda kind, children: kind(tuple(children)),
        st.sampled_from([Strong, Emphasis, Strike]),
        st.lists(inner, min_size=1, max_size=3),
    ),
    max_leaves=4,
)


@given(_WORDS)
def test_text_that_looks_like_markup_stays_text(words: str) -> None:
    document = line(Text(words))

    (paragraph,) = mrkdwn_to_text(text_to_mrkdwn(document), TEAM)

    assert paragraph == Paragraph((Text(words),))


@given(_WORDS, _WORDS)
def test_text_beside_a_style_stays_text(before: str, after: str) -> None:
    document = line(Text(before + " "), Strong((Text("x"),)), Text(" " + after))

    (paragraph,) = mrkdwn_to_text(text_to_mrkdwn(document), TEAM)

    assert paragraph == document[0]


@given(st.lists(_STYLED, min_size=1, max_size=5))
def test_styles_are_kept_when_written_and_read_as_mrkdwn(nodes: list[Inline]) -> None:
    document = line(*nodes)

    again = mrkdwn_to_text(text_to_mrkdwn(document), TEAM)

    assert len(again) == 1
    assert isinstance(again[0], Paragraph)
    assert _shape(again[0].children) == _shape(nodes)


def _shape(nodes: Any, styles: frozenset[type] = frozenset()) -> list[tuple[str, frozenset[type]]]:
    """Each character with its styles, as a reader sees them."""
    characters: list[tuple[str, frozenset[type]]] = []
    for node in merge_texts(nodes):
        if isinstance(node, Text):
            characters += [(char, styles) for char in node.value]
        else:
            characters += _shape(getattr(node, "children"), styles | {type(node)})  # noqa: B009
    return characters


@given(st.text(_CHARS | st.sampled_from("*_~`<>&:\n |!@#"), max_size=80))
@settings(max_examples=examples(300))
def test_any_mrkdwn_can_be_read_and_written_again(mrkdwn: str) -> None:
    document = mrkdwn_to_text(mrkdwn, TEAM)

    assert isinstance(text_to_markdown(document), str)
    assert isinstance(text_to_mrkdwn(document), str)


_PINGS = re.compile(r"<(?:@|!(?!date\^)|#)")


@given(st.text(_CHARS | st.sampled_from("<>!@#&;*_~`[]()\\|\n -"), max_size=80))
@settings(max_examples=examples(300))
def test_no_text_becomes_a_ping(markdown: str) -> None:
    mrkdwn = text_to_mrkdwn(markdown_to_text(markdown))

    assert not _PINGS.search(mrkdwn)
    assert posted_text(mrkdwn, link=False).count("<!") == mrkdwn.count("<!date^")


@pytest.mark.parametrize(
    "name", ["<!channel>", "a|b> <!here", "*x* `y`", "<@U1>", "^{date}", "\n<!here>"]
)
def test_no_name_becomes_a_ping(name: str) -> None:
    mention = Mention(ActorId("a:b:c"), name)
    document = line(
        mention, GroupMention("g", name), ChannelLink("c", name),
        Link("https://a.test", (Text(name),)), Timestamp(1, "f", name), Emoji(name),
    )  # fmt: skip

    mrkdwn = text_to_mrkdwn(document)

    assert not _PINGS.search(mrkdwn)
    assert plain_inlines([mention]).replace("\n", " ").strip("@*` ")[:1] in mrkdwn


HOSTILE = {
    "signs": "*" * 50_000,
    "pairs": "_a " * 10_000 + "a* " * 10_000,
    "openings": "<" * 50_000,
    "fences": "```" * 20_000,
    "colons": ":a" * 30_000,
    "quotes": "> " * 30_000,
    "ticks": "`" * 50_000,
}


@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_is_read_in_linear_time(hostile: str) -> None:
    start = time.process_time()

    document = mrkdwn_to_text(hostile, TEAM)
    text_to_mrkdwn(document)

    assert time.process_time() - start < 2.0
