"""Short names and characters of emoji lead to one another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.content.text.emoji import emoji_of, short_name_of
from bridge.content.text.emoji_table import TABLE

NAMED = {
    "smile": "😄",
    "+1": "👍",
    "thumbsup": "👍",
    "heart": "❤️",
    "flag-us": "🇺🇸",
    "us": "🇺🇸",
    "knife_fork_plate": "🍽️",
    "woman-running": "🏃‍♀️",
    "woman-running::skin-tone-3": "🏃🏼‍♀️",
    "wave::skin-tone-3": "👋🏼",
    "golfer::skin-tone-6": "🏌🏿",
    "100": "💯",
    "skin-tone-4": "🏽",
    "handshake::skin-tone-2-5": "🫱🏻‍🫲🏾",
    "man-heart-man::skin-tone-2": "👨🏻‍❤️‍👨🏻",
    "man-heart-man::skin-tone-2-3": "👨🏻‍❤️‍👨🏼",
    "flag-england": "🏴󠁧󠁢󠁥󠁮󠁧󠁿",
    "hash": "#️⃣",
}


@pytest.mark.parametrize("name", NAMED)
def test_an_emoji_name_has_characters(name: str) -> None:
    assert emoji_of(name) == NAMED[name]


@pytest.mark.parametrize(
    "name",
    ["", "party_parrot", "smile::skin-tone-3", "wave::skin-tone-7", "Smile", "30", ":", "::"],
)
def test_an_unknown_emoji_name_has_no_characters(name: str) -> None:
    assert emoji_of(name) is None


@pytest.mark.parametrize(
    ("emoji", "name"),
    [
        ("👍", "+1"), ("❤", "heart"), ("❤️", "heart"), ("👋🏼", "wave::skin-tone-3"),
        ("🫱🏻‍🫲🏾", "handshake::skin-tone-2-5"), ("👨🏻‍❤️‍👨🏻", "man-heart-man::skin-tone-2"),
        ("1️⃣", "one"), ("😄🏼", None), ("a", None), ("", None), ("😄😄", None), ("\ufe0f", None),
    ],
)  # fmt: skip
def test_the_first_name_of_an_emoji_is_found(emoji: str, name: str | None) -> None:
    assert short_name_of(emoji) == name


NAMES = [name for word in TABLE.split() for name in word.partition("=")[0].split("/")]


def test_every_emoji_name_in_the_table_can_be_converted_and_back() -> None:
    for name in NAMES:
        emoji = emoji_of(name)
        assert emoji
        again = short_name_of(emoji)
        assert again
        assert emoji_of(again) == emoji

    assert len(set(NAMES)) == len(NAMES) > 1900


@given(st.sampled_from(NAMES), st.sampled_from(["2", "3", "6", "2-3", "6-2", "5-5"]))
def test_skin_tones_can_be_converted_and_back(name: str, tones: str) -> None:
    emoji = emoji_of(f"{name}::skin-tone-{tones}")

    if emoji is not None:
        again = short_name_of(emoji)
        assert again
        assert emoji_of(again) == emoji


@given(st.text())
def test_any_string_can_be_looked_up_as_an_emoji_name(text: str) -> None:
    assert emoji_of(text) is None or text in NAMES
    assert short_name_of(text) is None or emoji_of(short_name_of(text) or "")


def test_the_emoji_table_is_small() -> None:
    assert len(TABLE) < 60_000
