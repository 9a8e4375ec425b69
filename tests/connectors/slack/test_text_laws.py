"""What mrkdwn can express is read as it was written; any string is read, in bounded time.

mrkdwn cannot express: headings, tables, underline, spoilers and small print; code and quotes in
lists, code in quotes, quotes in quotes; the language of code; a style over several lines, several
styles in the label of a link; the sign of an enclosing style, signs of styles in the label of a
link, backticks in code; the id of a mentioned person.
"""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.content.text.normal import normal
from bridge.content.text.split import split_text
from bridge.content.text.tree import (
    Code,
    Document,
    Emoji,
    Emphasis,
    Inline,
    Link,
    Paragraph,
    Strike,
    Strong,
    Text,
    Timestamp,
)
from connectors.slack.emoji import emoji_to_reaction, reaction_to_emoji
from connectors.slack.mrkdwn import escape
from connectors.slack.text import mrkdwn_to_text, text_to_mrkdwn
from tests.content.text_strategies import HOSTILE, Sayable, runs, styled, texts, words
from tests.examples import examples

TEAM = "T1"

LEAVES: st.SearchStrategy[Inline] = st.one_of(
    texts(),
    words("`").map(Code),
    st.builds(
        Link,
        st.sampled_from(["https://a.example/b?c=d&e", "http://x.example", "mailto:a@b.example"]),
        texts(*"*_~`:", "://").map(lambda text: (text,)),
    ),
    st.builds(Timestamp, st.integers(0, 10**10), st.sampled_from("tTdDfFR"), words("```")),
    st.sampled_from([Emoji("tada", "🎉"), Emoji("wave::skin-tone-3", "👋🏼")]),
)
STYLED = st.recursive(
    texts(*"*_~`:", "://"),
    lambda inner: styled(inner, (Strong, Emphasis, Strike)),
    max_leaves=3,
)
SAYABLE = Sayable(
    runs(LEAVES | styled(STYLED, (Strong, Emphasis, Strike))),
    code=words("```", max_pieces=4),
)


@settings(max_examples=examples(200))
@given(SAYABLE.documents())
def test_a_written_document_is_read_back_unchanged(document: Document) -> None:
    check_round_trip(document)


@pytest.mark.long
@settings(max_examples=10_000)
@given(SAYABLE.documents())
def test_a_large_written_document_is_read_back_unchanged(document: Document) -> None:
    check_round_trip(document)


def check_round_trip(document: Document) -> None:
    assert normal(mrkdwn_to_text(text_to_mrkdwn(document), TEAM)) == normal(document)


def test_a_custom_emoji_is_written_as_its_name() -> None:
    document = (Paragraph((Text("go "), Emoji("party", None, "https://e.example/p.png"))),)

    assert text_to_mrkdwn(document) == "go :party:"
    assert mrkdwn_to_text("go :party:", TEAM) == (Paragraph((Text("go :party:"),)),)


@pytest.mark.parametrize(
    ("name", "emoji"),
    [
        ("+1", "👍"),
        ("wave::skin-tone-3", "👋🏼"),
        ("heart", "❤️"),
        ("de", "🇩🇪"),
        ("man-woman-girl-boy", "👨‍👩‍👧‍👦"),
        ("party-parrot", ":party-parrot:"),
    ],
)
def test_reaction_names_and_emoji_are_mapped_both_ways(name: str, emoji: str) -> None:
    assert reaction_to_emoji(name) == emoji
    assert emoji_to_reaction(emoji) == name


@pytest.mark.parametrize(
    ("name", "emoji"), [("thumbsup", "👍"), ("simple_smile", "🙂"), ("flag-de", "🇩🇪")]
)
def test_alternative_reaction_names_map_to_the_same_emoji(name: str, emoji: str) -> None:
    assert reaction_to_emoji(name) == emoji


def test_an_emoji_without_a_reaction_name_is_not_mapped() -> None:
    assert emoji_to_reaction("x") is None


@given(st.text(max_size=200) | st.lists(words(), max_size=20).map("\n".join))
@settings(max_examples=examples(150))
def test_any_mrkdwn_is_stable_after_one_round(mrkdwn: str) -> None:
    once = mrkdwn_to_text(text_to_mrkdwn(mrkdwn_to_text(mrkdwn, TEAM)), TEAM)

    again = mrkdwn_to_text(text_to_mrkdwn(once), TEAM)
    assert normal(again) == normal(once)


@pytest.mark.parametrize("sign", HOSTILE)
def test_a_hundred_kilobytes_of_any_character_take_bounded_time(sign: str) -> None:
    start = time.process_time()

    text_to_mrkdwn(mrkdwn_to_text(sign * (100_000 // len(sign)), TEAM))

    assert time.process_time() - start < 5


@pytest.mark.parametrize("text", ["שלום עולם ", "e\u0301", "👨‍👩‍👧‍👦", "a < b & c ", "漢字かな。"])
def test_split_text_fits_slacks_count_of_characters(text: str) -> None:
    """Slack counts escaped text: `&`, `<` and `>` as their entities."""
    pieces = split_text(text * 200, 150, lambda piece: len(escape(piece)))

    written = [text_to_mrkdwn((Paragraph((Text(piece),)),)) for piece in pieces]
    assert max(map(len, written)) <= 150
    assert "".join(pieces).replace(" ", "") == (text * 200).replace(" ", "")
    assert not any(piece.startswith(("\u0301", "\u200d", "👩")) for piece in pieces)
