"""Discord's markdown and the text tree are equivalent, and text never becomes markup."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.content.text.plain import text_to_plain
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
from connectors.discord.ids import channel_ref
from connectors.discord.text import Names, discord_to_text, text_to_discord
from tests.examples import examples

NAMES = Names(channel_ref("1", "2"), {"5": "Ann"}, {"7": "general", "9": "devs"})


def line(*children: Inline) -> Document:
    return (Paragraph(children),)


def t(value: str) -> tuple[Inline, ...]:
    return (Text(value),)


READ_AND_WRITTEN: list[tuple[str, Document]] = [
    ("plain words", line(Text("plain words"))),
    ("**bold**", line(Strong(t("bold")))),
    ("*it*", line(Emphasis(t("it")))),
    ("__under__", line(Underline(t("under")))),
    ("~~gone~~", line(Strike(t("gone")))),
    ("||secret||", line(Spoiler(t("secret")))),
    ("`co*de`", line(Code("co*de"))),
    ("``a`b``", line(Code("a`b"))),
    ("_**both**_", line(Emphasis((Strong(t("both")),)))),
    ("**a _b_**", line(Strong((Text("a "), Emphasis(t("b")))))),
    ("one\ntwo", line(Text("one"), Break(), Text("two"))),
    ("one\n\ntwo", (Paragraph(t("one")), Paragraph(t("two")))),
    ("# H\ntext", (Heading(1, t("H")), Paragraph(t("text")))),
    ("### H3", (Heading(3, t("H3")),)),
    ("> q1\n> q2", (Quote(line(Text("q1"), Break(), Text("q2"))),)),
    ("```py\nx = 1\n```", (CodeBlock("x = 1", "py"),)),
    ("```\nfoo\nbar\n```", (CodeBlock("foo\nbar"),)),
    (
        "- a\n  - b\n- c",
        (
            List(
                (
                    ListItem((Paragraph(t("a")), List((ListItem(line(Text("b"))),)))),
                    ListItem(line(Text("c"))),
                )
            ),
        ),
    ),
    ("3. a\n4. b", (List((ListItem(line(Text("a"))), ListItem(line(Text("b")))), 3),)),
    ("https://x.yz/a_b?c=d", line(Link("https://x.yz/a_b?c=d", t("https://x.yz/a_b?c=d")))),
    ("[label](https://x.yz/a_(b))", line(Link("https://x.yz/a_(b)", t("label")))),
    ("<#7>", line(ChannelLink("discord:1:7", "general"))),
    (
        "<:party:12>",
        line(Emoji("party", url="https://cdn.discordapp.com/emojis/12.webp")),
    ),
    ("<a:go:12>", line(Emoji("go", url="https://cdn.discordapp.com/emojis/12.gif"))),
    ("<t:1700000000:R>", line(Timestamp(1700000000, "R"))),
    ("👍 snake_case_name", line(Text("👍 snake_case_name"))),
]


@pytest.mark.parametrize(("native", "document"), READ_AND_WRITTEN)
def test_reading_and_writing_are_inverse(native: str, document: Document) -> None:
    assert discord_to_text(native, NAMES) == document
    assert text_to_discord(document) == native


READ_ONLY: list[tuple[str, Document]] = [
    ("_it_", line(Emphasis(t("it")))),
    ("***both***", line(Emphasis((Strong(t("both")),)))),
    ("<@5> <@!6>", line(Mention(ActorId("discord:1:5"), "Ann"), Text(" "),
                        Mention(ActorId("discord:1:6"), "6"))),
    ("<@&9>", line(GroupMention("discord:1:9", "devs"))),
    ("@everyone @here", line(Broadcast("everyone"), Text(" "), Broadcast("here"))),
    ("<https://x.yz>", line(Link("https://x.yz", t("https://x.yz")))),
    ("see https://x.yz/a).", line(Text("see "), Link("https://x.yz/a", t("https://x.yz/a")),
                                  Text(")."))),
    ('[l](https://x.yz "tip")', line(Link("https://x.yz", t("l")))),
    ("-# small", (Paragraph(t("small"), subtle=True),)),
    (">>> a\nb\n\nc", (Quote((Paragraph((Text("a"), Break(), Text("b"))), Paragraph(t("c")))),)),
    ("> > a", (Quote(line(Text("> a"))),)),
    (r"\*no\* \_x\_ \\", line(Text(r"*no* _x_ " + "\\"))),
    ("a ```py\nx\n``` b", (Paragraph(t("a")), CodeBlock("x", "py"), Paragraph(t("b")))),
    ("``````", line(Text("``````"))),
    ("open ``` **a _b ~~c ||d", line(Text("open ``` **a _b ~~c ||d"))),
    ("</ping:12> <id:browse>", line(Text("/ping #browse"))),
    ("<t:99999999999999>", line(Text("<t:99999999999999>"))),
    ("#no heading\n#", line(Text("#no heading"), Break(), Text("#"))),
    ("[x](javascript:alert)", line(Text("[x](javascript:alert)"))),
    ("**** ____", line(Text("**** ____"))),
    ("2 * 3 * 4", line(Text("2 * 3 * 4"))),
]  # fmt: skip


@pytest.mark.parametrize(("native", "document"), READ_ONLY)
def test_reading_follows_discords_clients(native: str, document: Document) -> None:
    assert discord_to_text(native, NAMES) == document


WRITTEN_ONLY: list[tuple[Document, str]] = [
    (line(Mention(ActorId("slack:T:U"), "Ann*")), r"@Ann\*"),
    (line(Mention(ActorId("slack:T:U"), "everyone")), "@\u200beveryone"),
    (line(Broadcast("channel")), "@channel"),
    (line(Broadcast("everyone")), "@\u200beveryone"),
    (line(ChannelLink("slack:T:C", "general")), "#general"),
    (line(Emoji("smile", "😄")), "😄"),
    (line(Emoji("party", url="https://emoji.slack-edge.com/x.png")), ":party:"),
    (line(Text("https://x.yz is text")), r"https\://x.yz is text"),
    (line(Link("https://x.yz", t("https://bank.yz"))), r"https\://bank.yz (<https://x.yz>)"),
    (line(Link("mailto:a@b.c", t("mail me"))), "mail me (a@b.c)"),
    (line(Link("https://x.yz", t("https://x.yz")), Text("a")), r"<https://x.yz>a"),
    (line(Link("https://x.yz", t("https://x.yz")), Text("!")), r"https://x.yz!"),
    (line(Spoiler((Link("https://x.yz", t("https://x.yz")),))), "||<https://x.yz>||"),
    ((Heading(5, t("deep")),), "### deep"),
    ((Rule(),), "────────────"),
    ((Quote((Quote(line(Text("in"))), Paragraph(t("out")))),), "> in\n> \n> out"),
    (
        (Table((t("a"), t("bb")), ((t("1"), t("2")),)),),
        "```\na | bb\n--+---\n1 | 2\n```",
    ),
    (line(Code("``")), "` `` `"),
    (line(Code("a```b`")), "`` a`\u200b`\u200b`b` ``"),
    ((CodeBlock("a ``` b"),), "```\na `\u200b`\u200b` b\n```"),
    (
        (List((ListItem(line(Text("x")), True), ListItem(line(Text("y")), False))),),
        "- ☑ x\n- ☐ y",
    ),
    (line(Text("───")), "\u200b───"),
    ((List((ListItem(line(Text("☑ x"))),)),), "- \u200b☑ x"),
    ((List((ListItem((CodeBlock("a\n\nb"),)),)),), "- ```\n  a\n  \u200b\n  b\n  ```"),
    (
        (Table((t("👍🏽"), ()), ((t("a"), t("漢")),), ("right", None)),),
        "```\n👍🏽 |\n---+---\n a | 漢\n```",
    ),
]


@pytest.mark.parametrize(("document", "native"), WRITTEN_ONLY)
def test_unsupported_text_nodes_are_written_in_the_nearest_form(
    document: Document, native: str
) -> None:
    assert text_to_discord(document) == native


MARKUP = st.text(st.sampled_from("*_~|`<>@#[]()\\:-.1 ahe/tps\u200b\n+!é"), min_size=1, max_size=40)


@given(st.text(st.characters(exclude_characters="\n\r"), min_size=1) | MARKUP)
@settings(max_examples=examples(250))
def test_text_that_looks_like_markup_stays_text(value: str) -> None:
    lines = value.replace("\r", "\n").split("\n")
    children: list[Inline] = []
    for row_text in lines:
        children += [Break(), Text(row_text)] if children else [Text(row_text)]

    read = discord_to_text(text_to_discord(line(*children)), NAMES)

    expected = "\n".join(row_text.strip() for row_text in lines)
    plain_text = text_to_plain(read)
    assert [row_text.strip() for row_text in plain_text.split("\n") if row_text.strip()] == [
        row_text for row_text in expected.split("\n") if row_text
    ]
    assert all(isinstance(block, Paragraph) for block in read)


WORDS = st.text(st.sampled_from("ab*_`|~ #->.1[]("), min_size=1, max_size=8).map(lambda s: f"x{s}y")
LEAVES = st.builds(Text, WORDS) | st.builds(Code, st.sampled_from(["c", "a`b", "**", "a``b"]))


def _styled(inner: st.SearchStrategy[Inline]) -> st.SearchStrategy[Inline]:
    children = st.lists(inner, min_size=1, max_size=3).map(tuple)
    kinds = (Strong, Emphasis, Strike, Underline, Spoiler)
    return st.one_of(*(st.builds(kind, children) for kind in kinds))


INLINES = st.recursive(LEAVES, _styled, max_leaves=8)


@given(st.lists(INLINES, min_size=1, max_size=5))
@settings(max_examples=examples(250))
def test_nested_styles_keep_every_character_and_are_stable(nodes: list[Inline]) -> None:
    document = line(*nodes)

    once = text_to_discord(document)
    read = discord_to_text(once, NAMES)

    assert text_to_plain(read).replace("\u200b", "") == text_to_plain(document)
    assert discord_to_text(text_to_discord(read), NAMES) == read


@given(MARKUP | st.text(max_size=200))
@settings(max_examples=examples(250))
def test_any_text_is_read_and_stable_after_one_round(native: str) -> None:
    read = discord_to_text(native, NAMES)

    written = text_to_discord(read)

    again = discord_to_text(written, NAMES)
    assert text_to_discord(again) == written


@pytest.mark.parametrize(
    "piece", ["[", "[a](", "*", "**a ", "`", "```", "<", "> ", "- ", "  - ", "||", "_a", "\\", "(", "https://"]
)  # fmt: skip
def test_hostile_text_is_read_in_bounded_time(piece: str) -> None:
    began = time.process_time()

    text_to_discord(discord_to_text(piece * (20_000 // len(piece)), NAMES))

    assert time.process_time() - began < 3
