"""What the local network remembers: channels, their people, what was said, and faults to come."""

from __future__ import annotations

import itertools
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Literal

MOST_KEPT = 2048  # messages of a channel, as ergo's default

FaultKind = Literal[
    "rate_limited",  # answer 263 and do nothing
    "refuse",  # answer 404 and do nothing
    "close",  # break the connection, and do nothing
    "lose_answer",  # do it, then break the connection before the answer
    "delay",  # answer `seconds` late
    "silent",  # do nothing, and say nothing
    "duplicate",  # tell everybody twice
]


@dataclass(frozen=True)
class Fault:
    """One thing to do wrong with the next message of a client (`from_client`) or of a person."""

    kind: FaultKind
    seconds: float = 0.0
    from_client: bool = True


@dataclass
class Said:
    """A message that was said; `text` has line breaks where it was sent as several lines."""

    id: str
    at: int  # milliseconds since 1970
    nick: str
    mask: str
    account: str
    command: str
    target: str
    text: str
    tags: dict[str, str] = field(default_factory=dict[str, str])
    lines: list[tuple[str, bool]] = field(default_factory=list[tuple[str, bool]])


@dataclass
class Room:
    """A channel. `modes`: c strips nothing but refuses colours, m is moderated, k has a key."""

    name: str
    topic: str = ""
    key: str = ""
    modes: set[str] = field(default_factory=set[str])
    nicks: dict[str, str] = field(default_factory=dict[str, str])  # folded -> as it is written
    operators: set[str] = field(default_factory=set[str])
    kept: deque[Said] = field(default_factory=lambda: deque[Said](maxlen=MOST_KEPT))


class World:
    """One network. Times rise by at least a millisecond from message to message."""

    def __init__(self) -> None:
        self.rooms: dict[str, Room] = {}
        self.direct: dict[str, deque[Said]] = {}
        self.people: dict[str, str] = {}  # folded nick -> nick, of people of the API
        self.accounts: dict[str, str] = {}  # account -> password
        self.logged_in: dict[str, str] = {}  # folded nick -> account
        self.faults: list[Fault] = []
        self._ids = itertools.count(1)
        self._last = 1_790_000_000_000

    def now(self) -> int:
        self._last = max(self._last + 1, int(time.time() * 1000))
        return self._last

    def new_id(self) -> str:
        return f"m{next(self._ids):06d}"

    def room(self, name: str) -> Room:
        return self.rooms.setdefault(fold(name), Room(name))

    def take_fault(self, *kinds: FaultKind, from_client: bool) -> Fault | None:
        for fault in self.faults:
            if fault.kind in kinds and fault.from_client == from_client:
                self.faults.remove(fault)
                return fault
        return None

    def find(self, target: str, msgid: str) -> Said | None:
        return next((one for one in self.room(target).kept if one.id == msgid), None)


def fold(name: str) -> str:
    """CASEMAPPING=ascii, as ngircd and ergo have it."""
    return name.lower()
