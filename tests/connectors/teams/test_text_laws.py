"""Documents that Teams' Markdown and HTML can express survive a round trip; names and long texts
keep their characters.

Neither can express: headings below the third, small print, spoilers, times, the person behind a
mention, aligned columns. Markdown has no headings and tables at all, and no language for code with
HTML.
"""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.content.text.normal import normal
from bridge.content.text.split import split_text, utf16_length
from bridge.content.text.tree import (
    Block,
    Code,
    CodeBlock,
    Document,
    Emphasis,
    Heading,
    Inline,
    Link,
    List,
    Paragraph,
    Quote,
    Strike,
    Strong,
    Text,
    Underline,
)
from connectors.teams.emoji import emoji_to_reaction, reaction_to_emoji
from connectors.teams.text import (
    escape_name,
    html_to_text,
    teams_to_text,
    text_to_html,
    text_to_teams,
)
from tests.content.text_strategies import HOSTILE, Sayable, runs, styled, texts, words
from tests.examples import examples

URL = "https://a.example/b"
STYLES = (Strong, Emphasis, Strike, Underline)
EVERYWHERE: tuple[type[Block], ...] = (Paragraph, List, CodeBlock, Quote, Heading)

TEXTS = texts("://", "http")
LEAVES: st.SearchStrategy[Inline] = st.one_of(
    TEXTS,
    words().map(Code),
    st.builds(
        Link, st.sampled_from([f"{URL}?c=d&e", "mailto:a@b.example"]), TEXTS.map(lambda t: (t,))
    ),
    st.just(Link(URL, (Text(URL),))),
)
RUNS = runs(LEAVES | styled(LEAVES, STYLES) | styled(styled(TEXTS, STYLES), STYLES))
IN_HTML = Sayable(
    RUNS, code=words(max_pieces=4), languages=("", "py", "c++"), headings=3,
    in_items=EVERYWHERE, in_quotes=EVERYWHERE,
)  # fmt: skip
IN_MARKDOWN = Sayable(
    RUNS, code=words("<", ">", "&", "`", max_pieces=4), in_items=EVERYWHERE, in_quotes=EVERYWHERE
)
LAW = settings(max_examples=examples(150))


@LAW
@given(IN_HTML.documents())
def test_a_document_written_as_html_is_read_back_unchanged(document: Document) -> None:
    assert normal(html_to_text(text_to_html(document)).document) == normal(document)


@LAW
@given(IN_MARKDOWN.documents())
def test_a_document_written_as_markdown_is_read_back_unchanged(document: Document) -> None:
    assert normal(teams_to_text(text_to_teams(document))) == normal(document)


@pytest.mark.parametrize("sign", HOSTILE)
def test_a_hundred_kilobytes_of_any_character_take_bounded_time(sign: str) -> None:
    start = time.process_time()

    document = html_to_text(sign * (100_000 // len(sign))).document
    text_to_teams(document)
    text_to_html(document)

    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    "text", ["שלום עולם ", "e\u0301", "👨‍👩‍👧‍👦", "a < b & c ", "漢字かな。", "𝒳𝓎 "]
)
def test_split_text_fits_teams_count_of_utf16_units(text: str) -> None:
    pieces = split_text(text_to_teams((Paragraph((Text(text * 100),)),)), 120, utf16_length)

    assert max(map(utf16_length, pieces)) <= 120
    assert not any(piece.startswith(("\u0301", "\u200d")) for piece in pieces)
    assert all(piece.encode() for piece in pieces)  # no half of a character


@pytest.mark.parametrize(
    "name", ["می\u200cخواهم", "क\u094d\u200dष", "Ann 👩\u200d🚀", "José", "e\u0301", "עדי"]
)
def test_names_keep_joiner_characters(name: str) -> None:
    assert escape_name(name) == name


@pytest.mark.parametrize("name", ["A\u200cn\u200dn", "\u200dAnn\u200d", "Ann\u2060", "\u200fAnn"])
def test_names_lose_invisible_characters(name: str) -> None:
    assert escape_name(name).replace(" ", "") == "Ann"


@pytest.mark.parametrize(
    ("name", "emoji"),
    [
        ("like", "👍"),
        ("like-tone3", "👍🏽"),
        ("heart", "❤️"),
        ("1f44b_wavinghand", "👋"),
        ("1f44b_wavinghand-tone4", "👋🏾"),
        ("faceexhaling", "😮‍💨"),
    ],
)
def test_reaction_names_and_emoji_are_mapped_both_ways(name: str, emoji: str) -> None:
    assert reaction_to_emoji(name) == emoji
    assert emoji_to_reaction(emoji) == name


@pytest.mark.parametrize(
    ("name", "emoji"),
    [
        ("yes", "👍"),
        ("1f1e9-1f1ea_flagde", "🇩🇪"),
        ("0031-fe0f-20e3_keycapone", "1️⃣"),
        ("0031_one", ":0031_one:"),
        ("ownpicture", ":ownpicture:"),
    ],
)
def test_every_known_reaction_name_is_read(name: str, emoji: str) -> None:
    assert reaction_to_emoji(name) == emoji


def test_an_emoji_without_a_reaction_name_is_not_mapped() -> None:
    assert emoji_to_reaction("🇩🇪") is None
    assert emoji_to_reaction(":party:") is None
