"""The demo without a browser: plays a fixed conversation, compares all platforms, and prints it."""

from __future__ import annotations

import asyncio
import difflib
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import click
import orjson

from bridge.app.demo.acting import Cast
from bridge.app.demo.lines import Line, lines_of
from bridge.app.demo.page import archived
from bridge.app.demo.reading import VisibleMessage, bare, in_order, read, read_archived
from bridge.app.demo.running import Demo
from bridge.app.demo.world import AGENT, ROOMS, demo_types
from bridge.errors import BridgeError
from bridge.sandbox.feed import LocalMessage
from bridge.uacs import Conversation

ARCHIVE_MARK = "--- The archive of the room, one UACS Conversation in JSON ---"
LINE_TIMEOUT = 20.0  # seconds for a line to appear on all platforms
_LOOK = 0.005
_WIDEST = 110  # characters of a line of the transcript
_MOST_LINES = 6


@dataclass(frozen=True)
class Expected:
    """A message that each platform must show once; `thread` is the number of its root."""

    author: str
    text: str
    thread: int | None = None


@dataclass
class ScriptRun:
    """The posted messages, and measurements and problems of one run."""

    expected: list[Expected] = field(default_factory=list[Expected])
    roots: dict[int, int] = field(default_factory=dict[int, int])  # line -> number in `expected`
    crossings: list[float] = field(default_factory=list[float])  # milliseconds
    grown: dict[str, list[int]] = field(default_factory=dict[str, list[int]])  # lengths seen
    late: list[str] = field(default_factory=list[str])


async def play_script(demo: Demo, *, json_only: bool = False, timeout: float = LINE_TIMEOUT) -> int:
    """Play the conversation and print it; returns 0 if every platform shows what it should,
    else 1."""
    played = await _play(demo, timeout)
    conversation = await archived(demo, ROOMS[0])
    problems = list(played.late)
    for platform in demo.sides:
        problems += _compare_side(demo, platform, played)
    problems += _compare_archive(conversation, played) + _compare_growth(played)
    document = conversation.model_dump(mode="json", exclude_none=True)
    if not json_only:
        click.echo("\n\n".join(transcript(demo, platform) for platform in demo.sides))
        click.echo(f"\n{_summary(played, problems)}\n\n{ARCHIVE_MARK}")
    click.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2).decode())
    for problem in problems:
        click.echo(problem, err=True)
    return 1 if problems else 0


# --- playing ------------------------------------------------------------------------------------


async def _play(demo: Demo, timeout: float) -> ScriptRun:
    played = ScriptRun()
    cast = Cast(demo, timeout=timeout)
    watching = asyncio.create_task(_watch(demo, played))
    try:
        for number, line in enumerate(lines_of("script", demo_types())):
            began = time.monotonic()
            try:
                await cast.say(line)
            except BridgeError as error:
                played.late.append(str(error))
                break
            played.roots[number] = len(played.expected)
            thread = None if line.thread is None else played.roots[line.thread]
            played.expected.append(Expected(line.person, line.reads or line.text, thread))
            if await _wait_until_everywhere(demo, played, line, timeout):
                played.crossings.append((time.monotonic() - began) * 1000)
            if line.answered:
                await _wait_for_answer(demo, played, timeout)
    finally:
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching
    return played


async def _wait_until_everywhere(demo: Demo, played: ScriptRun, line: Line, timeout: float) -> bool:
    missing = set(demo.sides)
    end = time.monotonic() + timeout
    while missing and time.monotonic() < end:
        missing = {name for name in missing if not _shows(demo, name, played.expected[-1])}
        await asyncio.sleep(_LOOK)
    for name in missing:
        played.late.append(
            f"{name}: what {line.person} said on {line.platform} did not come within {timeout:g} s"
        )
    return not missing


def _shows(demo: Demo, platform: str, expected: Expected) -> bool:
    """Whether the author's newest messages, joined, have the expected text."""
    text, author = bare(expected.text), bare(expected.author)
    joined_text = ""
    for message in map(read, reversed(_standing(demo, platform))):
        if bare(message.author) == author:
            joined_text = bare(message.text) + joined_text
            if joined_text == text:
                return True
    return False


async def _wait_for_answer(demo: Demo, played: ScriptRun, timeout: float) -> None:
    """Wait until all platforms show the agent's whole answer, as the archive has it."""
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        conversation = await archived(demo, ROOMS[0])
        answers = [m for m in conversation.messages if m.actor.name == AGENT]
        expected = Expected(AGENT, read_archived(answers[-1])) if answers else None
        status = await demo.bridge.store.status()
        busy = sum(status.turns.get(state, 0) for state in ("queued", "running", "waiting"))
        if expected and not busy and all(_shows(demo, name, expected) for name in demo.sides):
            played.expected.append(expected)
            return
        await asyncio.sleep(0.02)
    played.late.append(f"{AGENT}: its answer is not the same on all sides after {timeout:g} s")


async def _watch(demo: Demo, played: ScriptRun) -> None:
    """Record how the agent's answer grows on each platform."""
    async for change in demo.feed.watch():
        message = read(change.message)
        if message.author == AGENT and change.message.channel in _channels(demo):
            lengths = played.grown.setdefault(change.message.platform, [])
            if not lengths or lengths[-1] != len(bare(message.text)):
                lengths.append(len(bare(message.text)))


def _channels(demo: Demo) -> set[str]:
    return {side.channel_of(ROOMS[0]) for side in demo.sides.values()}


def _standing(demo: Demo, platform: str) -> list[LocalMessage]:
    return demo.standing(platform, demo.sides[platform].channel_of(ROOMS[0]))


# --- comparing ----------------------------------------------------------------------------------


def _compare_side(demo: Demo, platform: str, played: ScriptRun) -> list[str]:
    """Compare a platform's authors, texts, order and threads with the expected ones."""
    messages = _standing(demo, platform)
    reads = _joined([read(actual_lines) for actual_lines in messages], played.expected)
    numbers = {message.id: number for number, message in enumerate(reads)}
    look = demo_types()[platform].demo
    threaded = look is None or look.threads
    actual_lines = [
        _line(
            message.author,
            message.text,
            None if message.thread is None else numbers.get(message.thread, -1),
        )
        for message in reads
    ]
    expected_lines = [
        _line(message.author, message.text, message.thread if threaded else None)
        for message in played.expected
    ]
    problems = _difference(
        f"{demo.sides[platform].label} does not show what it should", expected_lines, actual_lines
    )
    if look is not None:
        problems += look.complaints(messages)
    return problems


def _compare_archive(conversation: Conversation, played: ScriptRun) -> list[str]:
    archived_lines = [_line(m.actor.name or "", read_archived(m)) for m in conversation.messages]
    expected_lines = [_line(expected.author, expected.text) for expected in played.expected]
    return _difference("The archive does not hold what was said", expected_lines, archived_lines)


def _compare_growth(played: ScriptRun) -> list[str]:
    return [
        f"{platform}: the agent's answer did not grow; lengths seen: {lengths}"
        for platform, lengths in played.grown.items()
        if _streams(platform) and (len(lengths) < 2 or lengths != sorted(lengths))
    ]


def _streams(platform: str) -> bool:
    look = demo_types()[platform].demo
    return look is None or look.streams


def _joined(reads: Sequence[VisibleMessage], expected: Sequence[Expected]) -> list[VisibleMessage]:
    """The messages with adjacent parts of a split text joined."""
    texts = {bare(message.text) for message in expected}
    joined: list[VisibleMessage] = []
    for message in reads:
        last = joined[-1] if joined else None
        if last and (last.author, last.thread) == (message.author, message.thread):
            whole = bare(last.text + message.text)
            if bare(last.text) not in texts and any(text.startswith(whole) for text in texts):
                both = f"{last.text}\n\n{message.text}"
                joined[-1] = VisibleMessage(
                    last.id, last.author, both, last.time, last.bot, last.thread
                )
                continue
        joined.append(message)
    return joined


def _line(author: str, text: str, thread: int | None = None) -> str:
    where = "" if thread is None else f" (in the thread of message {thread})"
    return f"{bare(author)}{where}: {bare(text)}"


def _difference(title: str, expected: Sequence[str], actual: Sequence[str]) -> list[str]:
    if list(expected) == list(actual):
        return []
    lines = difflib.unified_diff(expected, actual, "expected", "shown", lineterm="", n=1)
    return [title, *(f"  {line[:400]}" for line in lines)]


# --- printing -----------------------------------------------------------------------------------


def transcript(demo: Demo, platform: str) -> str:
    """Return what the first room shows on a platform, as text."""
    side = demo.sides[platform]
    channel = next(channel.name for channel in side.channels if channel.room == ROOMS[0])
    title = f"{side.label}: #{channel} of {side.workspace_name}"
    lines = [title, "=" * len(title)]
    for message in in_order(_standing(demo, platform)):
        lines += _message_lines(message)
    return "\n".join(lines)


def _message_lines(message: VisibleMessage) -> list[str]:
    indent = "" if message.thread is None else "    | "
    badge = " [app]" if message.bot else ""
    first, *more = _shortened(message.text) or [""]
    head = f"{indent}{message.time[11:19]}  {message.author}{badge}: "
    return [head + first, *(f"{indent}          {line}" for line in more)]


def _shortened(text: str) -> list[str]:
    """The first lines of a text, shortened for a transcript."""
    lines = [
        line if len(line) <= _WIDEST else f"{line[:_WIDEST].rstrip()}…"
        for line in text.split("\n")
        if line.strip()
    ]
    if len(lines) <= _MOST_LINES:
        return lines
    return [*lines[: _MOST_LINES - 1], f"… and {len(lines) - _MOST_LINES + 1} paragraphs more"]


def _summary(played: ScriptRun, problems: Sequence[str]) -> str:
    times = sorted(played.crossings)
    if problems or not times:
        return f"{len(played.expected)} messages; NOT every side shows what it should"
    median, slowest = times[len(times) // 2], times[-1]
    return (
        f"{len(played.expected)} messages, each once on every side, in order and in its thread; "
        f"seen everywhere after {median:.0f} ms (median), {slowest:.0f} ms (slowest: rate limits)"
    )
