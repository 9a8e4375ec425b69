"""Documents that Discord's markdown can express survive a round trip; any string is read, in
bounded time.

It cannot express: headings below the third, tables, quotes in quotes, quotes and several paragraphs
in lists, two lists of one kind side by side in an item; styles that touch (some), three ticks in
code; labels that look like URLs, email addresses; the person behind a mention, the fallback of a
time.
"""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.content.text.normal import normal
from bridge.content.text.split import split_text
from bridge.content.text.tree import (
    Block,
    Break,
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
    Paragraph,
    Quote,
    Spoiler,
    Strike,
    Strong,
    Text,
    Timestamp,
    Underline,
)
from connectors.discord.emoji import custom_emoji, emoji_to_reaction, native_emoji
from connectors.discord.ids import channel_ref
from connectors.discord.text import Names, discord_to_text, text_to_discord
from tests.content.text_strategies import HOSTILE, Sayable, texts, words
from tests.examples import examples

NAMES = Names(channel_ref("1", "2"), others={"7": "general"})
URL = "https://a.example/b"


def styled(inner: st.SearchStrategy[Inline], *kinds: type[Inline]) -> st.SearchStrategy[Inline]:
    """Styles around words, with spaces inside."""
    spaced = inner.map(lambda node: (Text("a "), node, Text(" b")))
    return st.one_of(*(st.builds(kind, inner.map(lambda node: (node,)) | spaced) for kind in kinds))


PLAIN = texts("://", "http")
LEAVES: st.SearchStrategy[Inline] = st.one_of(
    PLAIN,
    words("``").map(Code),
    st.builds(Link, st.sampled_from([f"{URL}?c=d&e", f"{URL}/(y)"]), PLAIN.map(lambda t: (t,))),
    st.just(Link(URL, (Text(URL),))),
    st.builds(Timestamp, st.integers(0, 10**10), st.sampled_from("tTdDfFR")),
    st.sampled_from(
        [custom_emoji("party", "12", moving=True), ChannelLink("discord:1:7", "general")]
    ),
    styled(styled(PLAIN, Emphasis, Underline, Spoiler), Strong, Strike),
    styled(styled(PLAIN, Strong, Strike), Emphasis, Underline, Spoiler),
)
RUNS = st.lists(
    st.tuples(LEAVES, st.sampled_from([Text(" "), Text(" "), Break()])), min_size=1, max_size=4
).map(lambda pairs: tuple([node for pair in pairs for node in pair][:-1]))
IN_QUOTES: tuple[type[Block], ...] = (Paragraph, List, CodeBlock, Heading)
SAYABLE = Sayable(
    RUNS, code=words("```", max_pieces=4), languages=("", "py"), headings=3, subtle=True, below=1,
    in_items=(List,), in_quotes=IN_QUOTES,
)  # fmt: skip


def holds(document: Document) -> None:
    assert normal(discord_to_text(text_to_discord(document), NAMES)) == normal(document)


@settings(max_examples=examples(150))
@given(SAYABLE.documents())
def test_a_written_document_is_read_back_unchanged(document: Document) -> None:
    holds(document)


@pytest.mark.long
@settings(max_examples=10_000)
@given(SAYABLE.documents())
def test_a_large_written_document_is_read_back_unchanged(document: Document) -> None:
    holds(document)


@pytest.mark.parametrize("sign", HOSTILE)
def test_a_hundred_kilobytes_of_any_character_take_bounded_time(sign: str) -> None:
    start = time.process_time()

    text_to_discord(discord_to_text(sign * (100_000 // len(sign)), NAMES))

    assert time.process_time() - start < 5


def test_deep_trees_are_written() -> None:
    inline: Inline = Text("x")
    block: Block = Paragraph((Text("y"),))
    for depth in range(5_000):
        inline = (Strong((inline,)), Link(URL, (inline,)), Spoiler((inline,)))[depth % 3]
        block = Quote((block,)) if depth % 2 else List((ListItem((block,)),))

    written = text_to_discord((Paragraph((inline,)), block))

    assert "x" in written
    assert written.endswith("y")


def test_small_print_is_a_subtle_paragraph() -> None:
    small = (
        Paragraph((Text("x"),)),
        Paragraph((Text("a"), Break(), Text("b")), subtle=True),
        Paragraph((Text("y"),)),
    )

    assert discord_to_text("x\n-# a\n-# b\ny", NAMES) == small
    assert text_to_discord(small) == "x\n-# a\n-# b\ny"


def test_subtle_text_that_imitates_our_reply_line_is_not_small_print() -> None:
    forged = (Paragraph((Strong((Text("↪ Boss"),)), Text(": hello")), subtle=True),)

    assert text_to_discord(forged) == "**↪ Boss**: hello"


def test_typed_emoji_names_stay_text() -> None:
    assert discord_to_text(":smile: 12:30:45", NAMES) == (Paragraph((Text(":smile: 12:30:45"),)),)
    assert text_to_discord((Paragraph((Text(":smile:"),)),)) == ":smile:"


@pytest.mark.parametrize(
    ("emoji", "native", "reaction"),
    [
        (Emoji("tada", "🎉"), None, "🎉"),
        (custom_emoji("party", "12", moving=False), "<:party:12>", "party:12"),
        (custom_emoji("aa", "12", moving=True), "<a:aa:12>", "aa:12"),
        (Emoji("party", None, "https://e.example/p.png"), None, None),
        (Emoji("party"), None, None),
    ],
)
def test_emoji_are_written_in_discords_format(
    emoji: Emoji, native: str | None, reaction: str | None
) -> None:
    assert native_emoji(emoji) == native
    assert emoji_to_reaction(emoji) == reaction


@pytest.mark.parametrize("text", ["שלום עולם ", "e\u0301", "👨‍👩‍👧‍👦", "a * b _ ", "漢字かな。"])
def test_split_text_fits_discords_count_of_code_points(text: str) -> None:
    pieces = split_text(text_to_discord((Paragraph((Text(text * 100),)),)), 120)

    read = [discord_to_text(piece, NAMES) for piece in pieces]
    assert max(map(len, pieces)) <= 120
    assert not any(piece.startswith(("\u0301", "\u200d")) for piece in pieces)
    assert all(isinstance(block, Paragraph) for document in read for block in document)
