"""Logs of irssi, WeeChat, ZNC, XChat and supybot become messages with stable ids."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from bridge.errors import ExportUnreadable
from bridge.model.export_records import (
    ExportedChannel,
    ExportedMessage,
    ExportItem,
    NotUnderstood,
)
from bridge.ports.exports import ExportFormat, ReadOptions
from bridge.testing.export_contract import ExportFormatContract, read_all
from connectors.irc.exports import IrcLogs

BERLIN = ReadOptions(timezone=ZoneInfo("Europe/Berlin"))
IRSSI = """\
--- Log opened Mon Jan 09 23:58:30 2017
23:58 -!- eve [~e@host.example.net] has joined #two
23:59 <@fin> hello \x02world\x02
--- Day changed Tue Jan 10 2017
00:00 <+eve> hi
00:01  * fin nods
00:02 -bot:#two- a notice
--- Log closed Tue Jan 10 00:03:00 2017
"""
WEECHAT = """\
2020-05-01 12:00:00\t-->\tann (~a@host) has joined #Den
2020-05-01 12:00:05\t@ann\thello
2020-05-01 12:00:06\t *\tann waves
2020-05-01 12:00:07\t--\tNotice(bot): careful
2020-05-01 12:00:08\t--\tann is now known as anna
"""
ZNC = """\
[02:33:19] *** Quits: bo (Bo@user/bo) (Quit: Leaving)
[14:36:32] <adam> They come with more problems
[14:36:32] <adam> They come with more problems
[14:36:40] * adam sighs
[14:36:41] -services- identify
"""
XCHAT = """\
**** BEGIN LOGGING AT Mon Dec 31 21:11:55 2011
dec 31 21:11:58 <fpi> ola!
dec 31 39:95:90 <fpi> uh oh wrong date!
"""


def logs(folder: Path) -> Path:
    files = {
        "libera/#two.log": IRSSI,
        "irc.oftc.#den.weechatlog": WEECHAT,
        "quakenet/#chan/2017-04-07.log": ZNC,
        "xnet/#gugle.log": XCHAT,
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder


class TestContract(ExportFormatContract):
    @pytest.fixture
    def form(self) -> ExportFormat:
        return IrcLogs()

    @pytest.fixture
    def sample(self, tmp_path: Path) -> Path:
        return logs(tmp_path / "logs")

    @pytest.fixture
    def options(self) -> ReadOptions:
        return BERLIN

    def messages_in(self, path: Path) -> int:
        lines = [line for f in path.rglob("*log") for line in f.read_text("utf-8").splitlines()]
        return sum(not line.startswith(("---", "****")) for line in lines)

    def comparable(self, path: Path) -> object:
        raise NotImplementedError  # the format is only read


def read(folder: Path, options: ReadOptions = BERLIN) -> dict[str, list[tuple[str, str, str, str]]]:
    """Time, role, author and text of each message, by channel."""
    found: dict[str, list[tuple[str, str, str, str]]] = {}
    for item in read_all(IrcLogs(), folder, options):
        if isinstance(item, ExportedMessage):
            message = item.posted.message
            found.setdefault(item.posted.place.channel.key, []).append(
                (
                    message.timestamp[:19],
                    message.actor.role,
                    item.posted.author.name,
                    message.content[0].text,  # pyright: ignore
                )
            )
    return found


def test_each_client_s_lines_become_messages_with_times_in_utc(tmp_path: Path) -> None:
    assert read(logs(tmp_path)) == {
        "irc:libera:#two": [
            ("2017-01-09T22:58:00", "system", "IRC", "eve [~e@host.example.net] has joined #two"),
            ("2017-01-09T22:59:00", "human", "fin", "hello **world**"),
            ("2017-01-09T23:00:00", "human", "eve", "hi"),
            ("2017-01-09T23:01:00", "human", "fin", "_nods_"),
            ("2017-01-09T23:02:00", "assistant", "bot", "a notice"),
        ],
        "irc:oftc:#den": [
            ("2020-05-01T10:00:00", "system", "IRC", "ann (~a@host) has joined #Den"),
            ("2020-05-01T10:00:05", "human", "ann", "hello"),
            ("2020-05-01T10:00:06", "human", "ann", "_waves_"),
            ("2020-05-01T10:00:07", "assistant", "bot", "careful"),
            ("2020-05-01T10:00:08", "system", "IRC", "ann is now known as anna"),
        ],
        "irc:quakenet:#chan": [
            ("2017-04-07T00:33:19", "system", "IRC", "Quits: bo (Bo@user/bo) (Quit: Leaving)"),
            ("2017-04-07T12:36:32", "human", "adam", "They come with more problems"),
            ("2017-04-07T12:36:32", "human", "adam", "They come with more problems"),
            ("2017-04-07T12:36:40", "human", "adam", "_sighs_"),
            ("2017-04-07T12:36:41", "assistant", "services", "identify"),
        ],
        "irc:xnet:#gugle": [("2011-12-31T20:11:58", "human", "fpi", "ola!")],
    }


def test_lines_that_are_not_understood_are_reported_with_their_place(tmp_path: Path) -> None:
    reported = [
        i for i in read_all(IrcLogs(), logs(tmp_path), BERLIN) if isinstance(i, NotUnderstood)
    ]

    assert [(item.where, item.what) for item in reported] == [
        ("xnet/#gugle.log:3", "a line of an unknown shape or without a time")
    ]


@pytest.mark.parametrize(
    ("line", "time", "text"),
    [
        ("[14:18:55] <mg> Hello!", "2004-02-04T14:18:55", "Hello!"),
        ("[2004-02-04T14:18:55] <mg> Hello!", "2004-02-04T14:18:55", "Hello!"),
        ("[02-Feb-2004 14:18:55] <mg> Hello!", "2004-02-02T14:18:55", "Hello!"),
        ("1075917300 <mg> Hello!", "2004-02-04T17:55:00", "Hello!"),
        (
            "T 1075917300 \x0331\x08<\x08mg\x08>\x08\x0f\x0330Hello!",
            "2004-02-04T17:55:00",
            "Hello!",
        ),
        ("T 1075917300 \x0319*\x0f\tTalking on #c", "2004-02-04T17:55:00", "Talking on #c"),
        ("14:18 <mg> apples > oranges", "2004-02-04T14:18:00", "apples > oranges"),
        ("2:18 PM <mg> Hello!", "2004-02-04T14:18:00", "Hello!"),
        ("12:01 am <mg> Hello!", "2004-02-04T00:01:00", "Hello!"),
        ("14:18 <mg!n=m@10.1.1.1> Hello > you", "2004-02-04T14:18:00", "Hello > you"),
        ("14:18 < mg> Hello!", "2004-02-04T14:18:00", "Hello!"),
        ("14:18 <@mg> \x0304red\x03", "2004-02-04T14:18:00", "red"),
        ("14:18 <mg> <b> *no* [markup](x)", "2004-02-04T14:18:00", r"\<b> \*no\* \[markup\](x)"),
    ],
)
def test_a_line_may_have_any_of_these_shapes(
    tmp_path: Path, line: str, time: str, text: str
) -> None:
    (tmp_path / "net").mkdir()
    (tmp_path / "net" / "#c.2004-02-04.log").write_text(line + "\n", "utf-8")

    (messages,) = read(tmp_path, ReadOptions(timezone=ZoneInfo("UTC"))).values()

    assert [(when, words) for when, _, _, words in messages] == [(time, text)]


def ids_of(items: list[ExportItem]) -> list[str]:
    return [i.posted.message.message_id for i in items if isinstance(i, ExportedMessage)]


def test_a_log_that_has_grown_keeps_the_ids_of_its_lines(tmp_path: Path) -> None:
    before = ids_of(read_all(IrcLogs(), logs(tmp_path), BERLIN))
    with (tmp_path / "quakenet/#chan/2017-04-07.log").open("a") as log:
        log.write("[14:36:32] <adam> They come with more problems\n[23:59:59] <adam> end\n")

    after = ids_of(read_all(IrcLogs(), tmp_path, BERLIN))

    assert set(before) < set(after)
    assert len(after) == len(set(after)) == len(before) + 2


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("net/#c.log", ReadOptions(), "--timezone"),
        ("#c.log", BERLIN, ""),
        ("notes.md", BERLIN, "there are no logs"),
    ],
)
def test_what_is_missing_is_named(
    tmp_path: Path, name: str, options: ReadOptions, said: str
) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("[14:18:55] <mg> Hello!\n")
    if not said:
        assert IrcLogs().reader(tmp_path, ReadOptions("net", ZoneInfo("UTC"))).units()
        return
    with pytest.raises(ExportUnreadable, match=said):
        IrcLogs().reader(tmp_path, options)


def test_logs_with_times_alone_are_recognised(tmp_path: Path) -> None:
    logs(tmp_path)

    assert IrcLogs().recognises(tmp_path / "quakenet")
    assert IrcLogs().recognises(tmp_path / "libera" / "#two.log")


def test_mixed_encodings_long_lines_and_links_out_of_the_folder_do_no_harm(tmp_path: Path) -> None:
    folder = tmp_path / "net"
    folder.mkdir()
    outside = tmp_path / "secret.txt"
    outside.write_text("[14:18:55] <mg> secret\n")
    (folder / "#link.log").symlink_to(outside)
    (folder / "#c.2020-01-01.log").write_bytes(
        b"[01:00:00] <a> caf\xe9\n[01:00:01] <a> caf\xc3\xa9\n[01:00:02] <a> \x00\x07x\n"
        b"[01:00:03] <a> " + b"x" * 200_000 + b"\n[01:00:04] <a> end\n[25:00:00] <a> never\n"
    )

    items = read_all(IrcLogs(), folder, ReadOptions("net", ZoneInfo("UTC")))

    texts = [i.posted.message.content[0].text for i in items if isinstance(i, ExportedMessage)]  # pyright: ignore
    assert texts == ["café", "café", "x", "end"]
    assert Counter(i.what for i in items if isinstance(i, NotUnderstood)) == {
        "a line that is too long": 1,
        "a line of an unknown shape or without a time": 1,
    }
    assert len([i for i in items if isinstance(i, ExportedChannel)]) == 1


def test_every_line_of_the_recorded_logs_is_read_or_reported() -> None:
    if not (corpus := os.environ.get("UACS_CORPUS")):
        pytest.skip("UACS_CORPUS names no folder of recorded payloads")
    folder = Path(corpus) / "exports" / "irc"
    items = read_all(IrcLogs(), folder, ReadOptions("net", ZoneInfo("UTC")))
    count = sum(isinstance(item, ExportedMessage | NotUnderstood) for item in items)
    lines = [line for f in folder.rglob("*.log") for line in f.read_bytes().split(b"\n")]
    headers = sum(b"LOGGING AT" in one or b"Log " in one or b"Day changed" in one for one in lines)

    assert count >= sum(bool(line.strip()) for line in lines) - headers
    assert json.dumps(read(folder, ReadOptions("net", ZoneInfo("UTC"))))
    messages = sum(isinstance(item, ExportedMessage) for item in items)
    assert messages > 0.6 * count  # the others have no date
