"""Lines are cut by bytes, at words, and never within a character."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.irc.bylines import GAP, byline, nick_from, quieted, without_gaps
from connectors.irc.form import Form
from connectors.irc.formatting import plain, read_runs
from connectors.irc.splitting import split_line

CODES = st.sampled_from(["\x02", "\x1d", "\x0301,01", "\x03", "\x0f", "\x11", " "])
TEXTS = st.lists(CODES | st.text(max_size=30), max_size=12).map("".join)


@given(TEXTS, st.integers(40, 200))
def test_no_piece_is_longer_than_the_limit_and_nothing_is_lost(line: str, limit: int) -> None:
    pieces = split_line(line, limit)

    assert all(len(piece.text.encode("utf-8", "replace")) <= limit for piece in pieces)
    joined = "".join(plain(piece.text) for piece in pieces)
    assert joined.replace(" ", "") == plain(line).replace(" ", "")


@given(TEXTS, st.integers(40, 200))
def test_formatting_goes_on_in_the_next_piece(line: str, limit: int) -> None:
    def signs(lines: list[str]) -> list[tuple[str, frozenset[str]]]:
        runs = [run for line in lines for run in read_runs(line)]
        return [(sign, frozenset(run.styles)) for run in runs for sign in run.text if sign != " "]

    assert signs([piece.text for piece in split_line(line, limit)]) == signs([line])


@given(st.lists(st.text("abcdefgh", min_size=1, max_size=12), min_size=1, max_size=60))
def test_words_stay_whole_and_their_gaps_join_them_again(words: list[str]) -> None:
    line = " ".join(words)
    pieces = split_line(line, 60)

    assert "".join(f"{piece.gap or ''}{piece.text}" for piece in pieces) == line
    assert [word for piece in pieces for word in piece.text.split(" ")] == words


def test_a_grapheme_of_several_characters_is_not_split() -> None:
    family = "👨‍👩‍👧‍👦"
    pieces = split_line(family * 30, 120)

    assert all(piece.text.replace(family, "") == "" for piece in pieces)
    assert {piece.gap for piece in pieces} == {None, ""}


def test_seven_hundred_bytes_of_emoji_arrive_whole_in_lines_of_512_bytes() -> None:
    room = Form().room("#general")
    pieces = split_line("🎉" * 175, room)

    assert "".join(piece.text for piece in pieces) == "🎉" * 175
    assert len(pieces) == 2


def test_a_limit_without_room_is_refused() -> None:
    with pytest.raises(ValueError, match="40"):
        split_line("text", 39)


def test_the_room_in_a_line_excludes_the_prefix_of_the_server() -> None:
    mask = "bridge!~bridge@localhost"
    room = Form(mask=len(mask)).room("#general")

    assert len(f":{mask} PRIVMSG #general :{'x' * room}\r\n") == 512


@pytest.mark.parametrize(
    "name", ["Ann", "ä", "👨‍👩‍👧 family", "e\u0301a", "<a> b", "a\nb\0c\x02", ""]
)
def test_a_byline_is_one_line_and_notifies_nobody(name: str) -> None:
    prefix = byline(name)

    assert prefix.startswith("<")
    assert prefix.endswith("> ")
    assert prefix.count("<") == prefix.count(">") == prefix.count(GAP) == 1
    assert not set("\n\0\x02") & set(prefix)


def test_the_gap_is_removed_from_a_copied_name() -> None:
    assert without_gaps(f"{quieted('alice')}: hi") == "alice: hi"


@pytest.mark.parametrize(
    ("name", "nick"),
    [("Zoë Müller", "Zoe_Muller[b]"), ("7of9", "_7of9[b]"), ("日本", "someone[b]"),
     ("x" * 50, "x" * 27 + "[b]")],
)  # fmt: skip
def test_a_name_becomes_a_nick_that_servers_take(name: str, nick: str) -> None:
    assert nick_from(name, "[b]", 30) == nick
