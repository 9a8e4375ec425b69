"""The state of the local network: channels, people, messages, and the faults to come."""

from __future__ import annotations

import itertools
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Literal

HISTORY_LENGTH = 2048  # messages of a channel, as ergo's default

FaultKind = Literal[
    "rate_limited",  # answer 263 and do nothing
    "refuse",  # answer 404 and do nothing
    "close",  # break the connection and do nothing
    "lose_answer",  # publish the message, then break the connection before the answer
    "delay",  # publish the message `seconds` late
    "silent",  # do nothing and answer nothing
    "duplicate",  # deliver the message twice to everybody
]


@dataclass(frozen=True)
class Fault:
    """A fault in the next message of a client (`from_client`) or of a person."""

    kind: FaultKind
    seconds: float = 0.0
    from_client: bool = True


@dataclass
class Message:
    """A PRIVMSG or NOTICE. A line break in `text` separates the lines of a multiline message;
    `lines` holds its lines as they were sent, each with its `draft/multiline-concat`."""

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
    reactions: dict[str, dict[str, None]] = field(  # emoji -> nicks, in order
        default_factory=dict[str, dict[str, None]]
    )


@dataclass
class Channel:
    """A channel. Of its `modes`, `c` refuses colours and `m` moderates; `key` is that of `k`."""

    name: str
    topic: str = ""
    key: str = ""
    modes: set[str] = field(default_factory=set[str])
    nicks: dict[str, str] = field(default_factory=dict[str, str])  # folded -> as it is written
    operators: set[str] = field(default_factory=set[str])
    history: deque[Message] = field(default_factory=lambda: deque[Message](maxlen=HISTORY_LENGTH))


class World:
    """One network. Every time is at least a millisecond later than the one before."""

    def __init__(self) -> None:
        self.channels: dict[str, Channel] = {}
        self.people: dict[str, str] = {}  # folded nick -> nick, of people without a connection
        self.accounts: dict[str, str] = {}  # account -> password
        self.logged_in: dict[str, str] = {}  # folded nick -> account
        self.faults: list[Fault] = []
        self._ids = itertools.count(1)
        self._last = 1_790_000_000_000

    def now(self) -> int:
        """Returns the time in milliseconds since 1970."""
        self._last = max(self._last + 1, int(time.time() * 1000))
        return self._last

    def new_id(self) -> str:
        return f"m{next(self._ids):06d}"

    def channel(self, name: str) -> Channel:
        """Returns the channel of this name, which is made where it is new."""
        return self.channels.setdefault(fold(name), Channel(name))

    def take_fault(self, *kinds: FaultKind, from_client: bool) -> Fault | None:
        """Removes and returns the first waiting fault of these kinds."""
        for fault in self.faults:
            if fault.kind in kinds and fault.from_client == from_client:
                self.faults.remove(fault)
                return fault
        return None

    def find(self, target: str, msgid: str) -> Message | None:
        history = self.channel(target).history
        return next((message for message in history if message.id == msgid), None)


def fold(name: str) -> str:
    """CASEMAPPING=ascii, as ngircd and ergo have it."""
    return name.lower()
