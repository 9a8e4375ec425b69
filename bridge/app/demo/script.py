"""The fixed conversation without a browser: said, compared on all sides, printed."""

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
from bridge.app.demo.reading import Read, bare, in_order, read, read_archived
from bridge.app.demo.running import Demo
from bridge.app.demo.world import AGENT, ROOMS, demo_types
from bridge.errors import BridgeError
from bridge.sandbox.feed import Shown
from bridge.uacs import Conversation

ARCHIVE_MARK = "--- The archive of the room, one UACS Conversation in JSON ---"
PATIENCE = 20.0  # seconds until a line must be seen everywhere
_LOOK = 0.005
_WIDEST = 110  # characters of a line of the transcript
_MOST_LINES = 6


@dataclass(frozen=True)
class Expected:
    """One message that each side must show once; `thread` is the number of its root."""

    author: str
    text: str
    thread: int | None = None


@dataclass
class Played:
    """What was said, and how it went."""

    expected: list[Expected] = field(default_factory=list[Expected])
    roots: dict[int, int] = field(default_factory=dict[int, int])  # line -> number in `expected`
    crossings: list[float] = field(default_factory=list[float])  # milliseconds
    grown: dict[str, list[int]] = field(default_factory=dict[str, list[int]])  # lengths seen
    late: list[str] = field(default_factory=list[str])


async def play_script(demo: Demo, *, json_only: bool = False, patience: float = PATIENCE) -> int:
    """Have the conversation and print it. 0: every side shows what it should."""
    played = await _play(demo, patience)
    conversation = await archived(demo, ROOMS[0])
    problems = list(played.late)
    for platform in demo.sides:
        problems += _compare_side(demo, platform, played)
    problems += _compare_archive(conversation, played) + _compare_growth(played)
    document = conversation.model_dump(mode="json", exclude_none=True)
    if not json_only:
        click.echo("\n\n".join(_transcript(demo, platform) for platform in demo.sides))
        click.echo(f"\n{_summary(played, problems)}\n\n{ARCHIVE_MARK}")
    click.echo(orjson.dumps(document, option=orjson.OPT_INDENT_2).decode())
    for problem in problems:
        click.echo(problem, err=True)
    return 1 if problems else 0


# --- saying -------------------------------------------------------------------------------------


async def _play(demo: Demo, patience: float) -> Played:
    played = Played()
    cast = Cast(demo, patience=patience)
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
            if await _seen_everywhere(demo, played, line, patience):
                played.crossings.append((time.monotonic() - began) * 1000)
            if line.answered:
                await _answered(demo, played, patience)
    finally:
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching
    return played


async def _seen_everywhere(demo: Demo, played: Played, line: Line, patience: float) -> bool:
    missing = set(demo.sides)
    end = time.monotonic() + patience
    while missing and time.monotonic() < end:
        missing = {name for name in missing if not _shows(demo, name, played.expected[-1])}
        await asyncio.sleep(_LOOK)
    for name in missing:
        played.late.append(
            f"{name}: what {line.person} said on {line.platform} did not come within {patience:g} s"
        )
    return not missing


def _shows(demo: Demo, platform: str, expected: Expected) -> bool:
    """Whether the newest messages of this author are, put together, what was said."""
    text, author = bare(expected.text), bare(expected.author)
    joined_text = ""
    for read_message in map(read, reversed(_standing(demo, platform))):
        if bare(read_message.author) == author:
            joined_text = bare(read_message.text) + joined_text
            if joined_text == text:
                return True
    return False


async def _answered(demo: Demo, played: Played, patience: float) -> None:
    """Wait for the agent's whole answer; what the archive has is what all must show."""
    end = time.monotonic() + patience
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
    played.late.append(f"{AGENT}: its answer is not the same on all sides after {patience:g} s")


async def _watch(demo: Demo, played: Played) -> None:
    """Note how the agent's answer grows on each side."""
    async for change in demo.feed.watch():
        read_message = read(change.message)
        if read_message.author == AGENT and change.message.channel in _channels(demo):
            lengths = played.grown.setdefault(change.message.platform, [])
            if not lengths or lengths[-1] != len(bare(read_message.text)):
                lengths.append(len(bare(read_message.text)))


def _channels(demo: Demo) -> set[str]:
    return {side.channel_of(ROOMS[0]) for side in demo.sides.values()}


def _standing(demo: Demo, platform: str) -> list[Shown]:
    return demo.standing(platform, demo.sides[platform].channel_of(ROOMS[0]))


# --- comparing ----------------------------------------------------------------------------------


def _compare_side(demo: Demo, platform: str, played: Played) -> list[str]:
    """Authors, texts, order and threads; nothing missing, nothing twice."""
    messages = _standing(demo, platform)
    reads = _joined([read(shown) for shown in messages], played.expected)
    numbers = {read_message.id: number for number, read_message in enumerate(reads)}
    look = demo_types()[platform].demo
    threaded = look is None or look.threads
    shown = [
        _line(
            read_message.author,
            read_message.text,
            None if read_message.thread is None else numbers.get(read_message.thread, -1),
        )
        for read_message in reads
    ]
    expected_lines = [
        _line(read_message.author, read_message.text, read_message.thread if threaded else None)
        for read_message in played.expected
    ]
    problems = _difference(
        f"{demo.sides[platform].label} does not show what it should", expected_lines, shown
    )
    if look is not None:
        problems += look.complaints(messages)
    return problems


def _compare_archive(conversation: Conversation, played: Played) -> list[str]:
    archived_lines = [_line(m.actor.name or "", read_archived(m)) for m in conversation.messages]
    expected_lines = [_line(expected.author, expected.text) for expected in played.expected]
    return _difference("The archive does not hold what was said", expected_lines, archived_lines)


def _compare_growth(played: Played) -> list[str]:
    return [
        f"{platform}: the agent's answer did not grow; lengths seen: {lengths}"
        for platform, lengths in played.grown.items()
        if _streams(platform) and (len(lengths) < 2 or lengths != sorted(lengths))
    ]


def _streams(platform: str) -> bool:
    look = demo_types()[platform].demo
    return look is None or look.streams


def _joined(reads: Sequence[Read], expected: Sequence[Expected]) -> list[Read]:
    """Parts of a text that was cut are put together again, where they stand after one another."""
    texts = {bare(read_message.text) for read_message in expected}
    joined: list[Read] = []
    for read_message in reads:
        last = joined[-1] if joined else None
        if last and (last.author, last.thread) == (read_message.author, read_message.thread):
            whole = bare(last.text + read_message.text)
            if bare(last.text) not in texts and any(text.startswith(whole) for text in texts):
                both = f"{last.text}\n\n{read_message.text}"
                joined[-1] = Read(last.id, last.author, both, last.time, last.bot, last.thread)
                continue
        joined.append(read_message)
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


def _transcript(demo: Demo, platform: str) -> str:
    side = demo.sides[platform]
    channel = next(
        read_message.name for read_message in side.channels if read_message.room == ROOMS[0]
    )
    title = f"{side.label}: #{channel} of {side.workspace_name}"
    lines = [title, "=" * len(title)]
    for read_message in in_order(_standing(demo, platform)):
        lines += _printed(read_message)
    return "\n".join(lines)


def _printed(read_message: Read) -> list[str]:
    indent = "" if read_message.thread is None else "    | "
    badge = " [app]" if read_message.bot else ""
    first, *more = _shortened(read_message.text) or [""]
    head = f"{indent}{read_message.time[11:19]}  {read_message.author}{badge}: "
    return [head + first, *(f"{indent}          {line}" for line in more)]


def _shortened(text: str) -> list[str]:
    """The lines of a text, as far as a transcript needs them."""
    lines = [
        line if len(line) <= _WIDEST else f"{line[:_WIDEST].rstrip()}…"
        for line in text.split("\n")
        if line.strip()
    ]
    if len(lines) <= _MOST_LINES:
        return lines
    return [*lines[: _MOST_LINES - 1], f"… and {len(lines) - _MOST_LINES + 1} paragraphs more"]


def _summary(played: Played, problems: Sequence[str]) -> str:
    times = sorted(played.crossings)
    if problems or not times:
        return f"{len(played.expected)} messages; NOT every side shows what it should"
    median, slowest = times[len(times) // 2], times[-1]
    return (
        f"{len(played.expected)} messages, each once on every side, in order and in its thread; "
        f"seen everywhere after {median:.0f} ms (median), {slowest:.0f} ms (slowest: rate limits)"
    )
