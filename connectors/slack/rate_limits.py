"""The rate limits of Slack: answers with 429, and methods that read, whose requests wait for their
turn."""

from __future__ import annotations

import bisect
import itertools
import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from bridge.errors import RateLimited
from bridge.model import Rate
from bridge.ports.clock import Clock
from connectors.slack.capabilities import READS

_REFUSED = ("ratelimited", "rate_limited", "message_limit_exceeded")
_DEFAULT_RETRY = 30.0  # seconds, when Slack's answer has no Retry-After
_MAX_RETRY = 3600.0


def rate_limit_of(
    label: str, status: int, headers: Mapping[str, str], code: str
) -> RateLimited | None:
    """Return the error of an answer with 429 or one of Slack's codes for it; None for any other.
    `label` names the request."""
    if status != 429 and code not in _REFUSED:
        return None
    wait = _retry_after(headers)
    return RateLimited(f"{label}: Slack asks to wait {wait:g} s", retry_after=wait, code=code)


def _retry_after(headers: Mapping[str, str]) -> float:
    """The seconds of the Retry-After header, within bounds; header names are case-insensitive."""
    header = next((value for name, value in headers.items() if name.lower() == "retry-after"), "")
    try:
        seconds = float(header)
    except (TypeError, ValueError):
        return _DEFAULT_RETRY
    return min(max(seconds, 1.0), _MAX_RETRY) if math.isfinite(seconds) else _DEFAULT_RETRY


class Urgency(IntEnum):
    """The priority of a request.

    - `LANE`: a search for a post that may exist; its whole lane waits for it.
    - `LIVE`: live events of a channel wait until the channel is read.
    - `USUAL`: look-ups.
    - `CATCH_UP`: a channel is read, and no live event waits for it.
    - `READ_BACK`: old posts are compared.
    - `PAST`: a channel is read into the archive.
    """

    LANE = 0
    LIVE = 1
    USUAL = 2
    CATCH_UP = 3
    READ_BACK = 4
    PAST = 5


# The share of a limit that each urgency may use; the remainder is reserved for higher ones.
_SHARES = {
    Urgency.LANE: 1.0,
    Urgency.LIVE: 0.9,
    Urgency.USUAL: 0.8,
    Urgency.CATCH_UP: 0.7,
    Urgency.READ_BACK: 0.7,
    Urgency.PAST: 0.5,
}


@dataclass(order=True)
class _Waiting:
    urgency: Urgency
    number: int


@dataclass
class _Line:
    """The waiting requests of one method, and the times of requests within the last window."""

    rate: Rate
    waiting: list[_Waiting] = field(default_factory=list[_Waiting])
    taken: deque[float] = field(default_factory=deque[float])
    blocked_until: float = -math.inf

    def free_at(self, now: float, urgency: Urgency) -> float:
        """When one more request fits (monotonic seconds); `now` or earlier means now."""
        while self.taken and self.taken[0] + self.rate.seconds <= now:
            self.taken.popleft()
        return self._free_after(self.taken, urgency)

    def turn_of(self, now: float, last: _Waiting) -> float:
        """When the request has its turn if no more urgent one arrives."""
        self.free_at(now, last.urgency)
        taken = deque(self.taken)
        for waiter in self.waiting[: self.waiting.index(last) + 1]:
            taken.append(max(now, self._free_after(taken, waiter.urgency)))
        return taken[-1]

    def _free_after(self, taken: deque[float], urgency: Urgency) -> float:
        allowed = max(1, int(self.rate.count * _SHARES[urgency]))
        free = taken[-allowed] + self.rate.seconds if len(taken) >= allowed else -math.inf
        return max(self.blocked_until, free)


class Pace:
    """The reads of one token: Slack limits them by method, workspace and app, in
    sliding windows."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lines = {method: _Line(rate) for method, rate in READS.items()}
        self._numbers = itertools.count()

    async def turn(
        self, method: str, urgency: Urgency = Urgency.USUAL, *, wait_limit: float = math.inf
    ) -> None:
        """Wait until the method may be called: by urgency, then in order of arrival.

        Raises RateLimited when the wait would exceed `wait_limit` seconds. A cancelled request
        takes no turn.
        """
        line = self._lines.get(method)
        if line is None:
            return
        waiter = _Waiting(urgency, next(self._numbers))
        bisect.insort(line.waiting, waiter)
        try:
            now = self._clock.monotonic()
            if wait_limit < math.inf and (pause := line.turn_of(now, waiter) - now) > wait_limit:
                raise RateLimited(
                    f"{method}: Slack's limit of {line.rate.count} in {line.rate.seconds:g} s is "
                    "used up; the call is repeated then", retry_after=pause, code="paced",
                )  # fmt: skip
            while (free := line.free_at(now, urgency)) > now or line.waiting[0] is not waiter:
                await self._clock.sleep(max(0.0, free - now))
                now = self._clock.monotonic()
            line.taken.append(now)
        finally:
            line.waiting.remove(waiter)

    def block(self, method: str, seconds: float) -> None:
        """Block the method for `seconds` after Slack refused it: no request goes before, however
        urgent."""
        if line := self._lines.get(method):
            line.blocked_until = max(line.blocked_until, self._clock.monotonic() + seconds)
