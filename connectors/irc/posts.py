"""Calls that wait for what the server makes of them: by label, by echo, or by a fence of PING."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from bridge.errors import (
    AuthFailed,
    FormRefused,
    NotFound,
    PlatformError,
    RateLimited,
    Refused,
    Unavailable,
    Unsettled,
)
from bridge.model import Call
from connectors.irc.raws import Sent
from connectors.irc.wire import Line

_TRY_AGAIN_S = 10.0  # numeric 263 and RATE_LIMITED do not say for how long
_MAX_REMEMBERED = 500


@dataclass(eq=False)
class Waiting:
    """One call: `text` is its first line, `target` the folded name of its channel."""

    call: Call
    target: str
    text: str
    label: str
    written: bool = False
    settled: asyncio.Future[str] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )

    @property
    def sent(self) -> Sent:
        """What an echo proves."""
        return Sent(self.call.operation, self.call.slot)

    def write(self) -> None:
        self.written = True

    def settle(self, native_id: str) -> None:
        if not self.settled.done():
            self.settled.set_result(native_id)

    def fail(self, error: PlatformError) -> None:
        if not self.settled.done():
            self.settled.set_exception(error)
            self.settled.exception()  # the sender may have given up


class Posts:
    """All calls under way on one connection, in the order in which they were sent. A call that
    was given up is remembered: its echo may still come."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._waiting: list[Waiting] = []

    def label(self) -> str:
        return f"u{next(self._numbers)}"

    def add(self, waiting: Waiting) -> None:
        self._waiting.append(waiting)
        del self._waiting[:-_MAX_REMEMBERED]

    def labelled(self, label: str) -> Waiting | None:
        return next(
            (waiting for waiting in self._waiting if label and waiting.label == label), None
        )

    def echoed(self, line: Line, label: str, fold: Callable[[str], str]) -> Waiting | None:
        """The call whose echo this line is: by its label, else the oldest to this target with
        the same text. It waits no more."""
        call = self.labelled(label)
        if call is None:
            target = fold(line.param(0))
            same = (waiting for waiting in self._open(target) if _same(waiting.text, line.last))
            call = next(same, None)
        if call is not None:
            self._waiting.remove(call)
        return call

    def fenced(self, token: str, native_id: Callable[[Waiting], str]) -> None:
        """The server answered a PING that followed a call: it took the call before that."""
        call = self.labelled(token)
        if call is not None:
            self._waiting.remove(call)
            call.settle(native_id(call))

    def acknowledged(self, label: str, native_id: Callable[[Waiting], str]) -> None:
        """The server took a labelled command and has nothing to say to it."""
        call = self.labelled(label)
        if call is not None:
            self._waiting.remove(call)
            call.settle(call.call.native_id or native_id(call))

    def refused(self, line: Line, label: str, fold: Callable[[str], str]) -> bool:
        """An error numeric or FAIL ends the call that it means; False where it means none."""
        error = error_of(line)
        if error is None:
            return False
        call = self.labelled(label)
        if call is None:
            targets = {fold(param) for param in line.params[1:-1]}
            open_calls = [
                waiting
                for waiting in self._waiting
                if waiting.written and not waiting.settled.done()
            ]
            meant = [open_call for open_call in open_calls if open_call.target in targets]
            call = next(iter(meant or (open_calls if line.command in _UNNAMED else [])), None)
        if call is None:
            return False
        self._waiting.remove(call)
        call.fail(error)
        return True

    def lost(self, reason: str) -> None:
        """The connection has ended: nobody will answer any more."""
        for waiting in self._waiting:
            if waiting.written:
                waiting.fail(Unsettled(f"{reason} before the server answered", code="lost"))
            else:
                waiting.fail(Unavailable(f"{reason} before the message was sent", code="lost"))
        self._waiting.clear()

    def _open(self, target: str) -> Iterator[Waiting]:
        return (
            waiting for waiting in self._waiting if waiting.written and waiting.target == target
        )


def _same(ours: str, echoed: str) -> bool:
    """Servers may change what they echo (colours that a channel strips), never the first word."""
    return ours == echoed or ours.split("\n")[0] == echoed.split("\n")[0]


_NOT_THERE = ("401", "403", "442")
_FORBIDDEN = ("404", "405", "412", "489", "415", "408")
_LOGIN = ("477",)
_BROKEN = ("411", "417", "461")
_UNNAMED = ("263", "411", "412", "417", "461")


def error_of(line: Line) -> PlatformError | None:
    """What an error reply means for the call that caused it; None for any other line."""
    code, words = line.command, line.last
    if code == "FAIL":
        code, text = line.param(1), f"The server refuses it: {words} ({line.param(1)})"
        if "RATE" in code or code == "TRY_AGAIN":
            return RateLimited(text, retry_after=_TRY_AGAIN_S, code=code)
        return Refused(text, code=code)
    text = f"The server refuses it: {words} ({code}, {line.param(1)})"
    if code == "263":
        return RateLimited(text, retry_after=_TRY_AGAIN_S, code=code)
    if code in _NOT_THERE:
        return NotFound(f"{text}; is the bot in the channel?", code=code)
    if code in _FORBIDDEN:
        formed = any(mark in words.lower() for mark in ("+c", "colo", "format"))
        return (FormRefused if formed else Refused)(text, code=code)
    if code in _LOGIN:
        return AuthFailed(f"{text}; the bot must log in to an account", code=code)
    return Refused(text, code=code) if code in _BROKEN else None
