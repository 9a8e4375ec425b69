"""Where an agent answers: conditions, from the most specific to none, and which of them collide.
Pure values."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from bridge.content.text.globs import matches, meet
from bridge.content.text.patterns import Pattern
from bridge.model import ChannelRef

Rank = tuple[int, int]

_PATTERN, _PEOPLE, _THREADS, _CHANNELS = 8, 4, 2, 1
NOWHERE: Rank = (-1, 0)
ANYWHERE: Rank = (0, 0)


@dataclass(frozen=True)
class Asking:
    """What is looked at: `channel` under the name that people call it (empty: none), who said it by
    all their ids and names, whether in a thread, and the words."""

    channel: ChannelRef
    name: str
    who: Collection[str]
    threaded: bool
    text: str


@dataclass(frozen=True)
class Route:
    """Every condition that is given must hold.

    - `channels`: globs of names (with or without #), ids or keys; `people`: globs of ids or names;
      `threads`: in threads alone, or never there; `pattern`: is found in the words.
    - `priority`: a higher one goes before all that is more specific.
    """

    channels: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    threads: bool | None = None
    pattern: Pattern | None = None
    priority: int = 0

    @cached_property
    def rank(self) -> Rank:
        """The higher, the more specific: words before people, threads and channels."""
        weight = _PATTERN * (self.pattern is not None) + _PEOPLE * bool(self.people)
        weight += _THREADS * (self.threads is not None) + _CHANNELS * bool(self.channels)
        return self.priority, weight

    def fits(self, asked: Asking) -> bool:
        if self.threads is not None and self.threads != asked.threaded:
            return False
        if self.channels and not _any(self.channels, _names_of(asked)):
            return False
        if self.people and not _any(self.people, asked.who):
            return False
        return self.pattern is None or self.pattern.is_in(asked.text)


def rank_of(routes: Sequence[Route], asked: Asking) -> Rank:
    """The best of those that fit; NOWHERE where none does, ANYWHERE where there are none."""
    if not routes:
        return ANYWHERE
    return max((route.rank for route in routes if route.fits(asked)), default=NOWHERE)


def collide(one: Route, other: Route) -> bool:
    """Whether the two are as specific as one another, and something may fit both. Whether two
    patterns may be found in one text is not known, so they collide."""
    if one.rank != other.rank or one.threads != other.threads:
        return False
    if one.channels and not _may_meet(one.channels, other.channels):
        return False
    return not one.people or _may_meet(one.people, other.people, by=":")


def _any(globs: Sequence[str], texts: Collection[str]) -> bool:
    return any(matches(glob, text) for glob in globs for text in texts)


def _names_of(asked: Asking) -> list[str]:
    names = [asked.name, f"#{asked.name}"] if asked.name else []
    return [*names, asked.channel.channel, asked.channel.key]


def _may_meet(some: Sequence[str], others: Sequence[str], by: str = "") -> bool:
    """`by` tells ids from names: whether an id has a certain name is not known."""
    for one in some:
        for other in others:
            if by and (by in one) != (by in other):
                return True
            if meet(one.lstrip("#"), other.lstrip("#")):
                return True
    return False
