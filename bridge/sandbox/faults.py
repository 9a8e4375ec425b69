"""Faults on request: what the local platforms do wrong when they are asked to."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Literal

from pydantic import BaseModel, ConfigDict

FaultKind = Literal[
    "status",  # answer an API call with `status` and do nothing
    "rate_limited",  # answer 429 with Retry-After `seconds` and do nothing
    "hang",  # do nothing and answer after `seconds`, with 504
    "lose_answer",  # do what was asked, then break the connection before the answer
    "late_request",  # wait for `seconds`, then do what was asked, whoever still listens
    "late_answer",  # do what was asked, and answer `seconds` late
    "drop",  # an event for the app is never delivered
    "delay",  # ... is delivered `seconds` late
    "duplicate",  # ... is delivered twice
    "reorder",  # ... is delivered after the next one of the same channel
    "disconnect",  # close the app's sockets
]


class Fault(BaseModel):
    """One thing to do wrong, `times` times (None: until cleared).

    `where` is a glob over operation names: an API call is
    `<platform>:<method or route name>:<channel>`; an event is `<platform>:event:<channel>`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: FaultKind
    where: str = "*"
    times: int | None = 1
    seconds: float = 0.0
    status: int = 500


class Faults:
    """The faults that are waiting to happen; each use counts one down."""

    def __init__(self) -> None:
        self._waiting: list[tuple[Fault, int | None]] = []

    def add(self, fault: Fault) -> None:
        self._waiting.append((fault, fault.times))

    def clear(self) -> None:
        self._waiting.clear()

    def take(self, where: str, *kinds: FaultKind) -> Fault | None:
        """The first waiting fault of these kinds for the operation `where`, used up by one."""
        for index, (fault, left) in enumerate(self._waiting):
            if fault.kind in kinds and fnmatchcase(where, fault.where):
                if left is not None and left <= 1:
                    del self._waiting[index]
                elif left is not None:
                    self._waiting[index] = (fault, left - 1)
                return fault
        return None
