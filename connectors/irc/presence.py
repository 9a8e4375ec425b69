"""Many people who leave or come back by one netsplit -> one event for each channel. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

_HOST = r"[\w-]+(?:\.[\w*-]+)+"
_SPLIT = re.compile(rf"({_HOST}|\*\.net) ({_HOST}|\*\.split)")
GATHER_S = 2.0  # in which the quits of one split come
RETURN_S = 600.0  # after which a return is a join like any other


def is_split(reason: str) -> bool:
    """Whether a QUIT's words are the names of two servers that lost one another. Servers put
    `Quit: ` before the words of people, so nobody can fake it where they do."""
    return _SPLIT.fullmatch(reason) is not None


@dataclass
class Gathered:
    """The people of one split in one channel."""

    servers: str
    nicks: dict[str, None] = field(default_factory=dict[str, None])


class Splits:
    """Gathers quits and joins until they are taken out. `folded` nicks of one network."""

    def __init__(self) -> None:
        self._left: dict[tuple[str, str], Gathered] = {}
        self._back: dict[tuple[str, str], Gathered] = {}
        self._away: dict[tuple[str, str], tuple[str, float]] = {}  # (channel, nick) -> servers

    def quit(self, channels: Iterable[str], nick: str, servers: str, now: float) -> None:
        for channel in channels:
            gathered = self._left.setdefault((channel, servers), Gathered(servers))
            gathered.nicks[nick] = None
            self._away[channel, nick] = (servers, now)

    def joined(self, channel: str, nick: str, now: float) -> bool:
        """Whether somebody comes back from a split; else they joined."""
        servers, at = self._away.pop((channel, nick), ("", 0.0))
        if not servers or now - at > RETURN_S:
            return False
        self._back.setdefault((channel, servers), Gathered(servers)).nicks[nick] = None
        return True

    def take_left(self) -> list[tuple[str, Gathered]]:
        """Return each channel with the people who left it, and forget them."""
        taken, self._left = self._left, {}
        return [(channel, gathered) for (channel, _), gathered in taken.items()]

    def take_back(self) -> list[tuple[str, Gathered]]:
        taken, self._back = self._back, {}
        return [(channel, gathered) for (channel, _), gathered in taken.items()]
