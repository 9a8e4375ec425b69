"""Lines of the protocol are read and written as the specifications say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.irc.isupport import Support
from connectors.irc.wire import Line, format_tags, formatted, parse, parse_tags, words_within

LINES = {
    b"PING": Line("PING"),
    b"PING :a b\r\n": Line("PING", ("a b",)),
    b":irc.local 001 bridge :Welcome": Line("001", ("bridge", "Welcome"), "irc.local"),
    b"  :a!b@c  privmsg   #x   y  ": Line("PRIVMSG", ("#x", "y"), "a!b@c"),
    b"@time=1;+reply=a\\sb :a!b@c PRIVMSG #x ::-)": Line(
        "PRIVMSG", ("#x", ":-)"), "a!b@c", {"time": "1", "+reply": "a b"}
    ),
    b"PRIVMSG #x :": Line("PRIVMSG", ("#x", "")),
    b":a!b@c PRIVMSG #x :caf\xe9\n": Line("PRIVMSG", ("#x", "caf\xe9"), "a!b@c"),
    "PRIVMSG #x :caf\u00e9".encode(): Line("PRIVMSG", ("#x", "caf\u00e9")),
    b"PRIVMSG #x :a\0b": Line("PRIVMSG", ("#x", "ab")),
}


@pytest.mark.parametrize("raw", LINES)
def test_a_line_is_read(raw: bytes) -> None:
    assert parse(raw) == LINES[raw]


@pytest.mark.parametrize("raw", [b"", b"\r\n", b"   ", b":only.a.source", b"@only=tags"])
def test_bytes_without_a_command_are_no_line(raw: bytes) -> None:
    assert parse(raw) is None


def test_tag_escapes_are_read_and_the_last_of_two_values_counts() -> None:
    written = r"a=1\:2\s3\\4\r\n5\b\;b=;c;a=\:;=x"

    assert parse_tags(written) == {"a": ";", "b": "", "c": ""}
    assert parse_tags(r"a=1\:2\s3\\4\r\n5\b") == {"a": "1;2 3\\4\r\n5b"}


@given(st.dictionaries(st.text("abc+-/", min_size=1), st.text(max_size=20), max_size=4))
def test_tags_survive_the_way_out_and_back(tags: dict[str, str]) -> None:
    assert parse_tags(format_tags(tags)) == tags


@given(st.text(max_size=60))
def test_no_text_begins_another_line(text: str) -> None:
    line = formatted("PRIVMSG", "#x", text)

    assert line.endswith(b"\r\n")
    assert not set(b"\r\n\0") & set(line[:-2])


@pytest.mark.parametrize("target", ["", "a b", ":a"])
def test_a_target_that_would_become_another_parameter_is_refused(target: str) -> None:
    with pytest.raises(ValueError, match="last parameter"):
        formatted("PRIVMSG", target, "text")


@given(st.binary(max_size=120))
def test_any_bytes_are_read(raw: bytes) -> None:
    parse(raw)


def test_words_are_packed_into_lines_of_a_size() -> None:
    assert words_within(["aa", "bb", "cc"], 5) == ["aa bb", "cc"]


def test_names_are_folded_by_the_casemapping_of_the_server() -> None:
    name = "A[]\\~Ä"

    assert Support().with_tokens(["CASEMAPPING=ascii"]).fold(name) == "a[]\\~Ä"
    assert Support().with_tokens(["CASEMAPPING=rfc1459"]).fold(name) == "a{}|^Ä"
    assert Support().with_tokens(["CASEMAPPING=strict-rfc1459"]).fold(name) == "a{}|~Ä"


def test_tokens_of_the_server_are_read() -> None:
    tokens = ["CHANTYPES=#", "STATUSMSG=@+", "LINELEN=1024", "NICKLEN=30", "BOT=B", "A=x\\x20y"]
    support = Support().with_tokens(tokens).with_tokens(["-NICKLEN"])

    assert (support.line_bytes, support.nick_length, support.bot_mode) == (1024, 9, "B")
    assert support.tokens["A"] == "x y"
    assert support.without_status("@#ops") == "#ops"
    assert not support.is_channel("&local")


def test_clienttagdeny_can_exempt_tags() -> None:
    denied = Support().with_tokens(["CLIENTTAGDENY=*,-reply"])

    assert denied.takes_client_tag("reply")
    assert not denied.takes_client_tag("draft/react")
    assert Support().takes_client_tag("draft/react")
