"""Where an agent answers: conditions, from the most specific to none, and which of them collide.
Pure values."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from bridge.content.text.globs import any_matches, meet
from bridge.content.text.patterns import Pattern
from bridge.model import ChannelRef

Rank = tuple[int, int]

_PATTERN, _PEOPLE, _THREADS, _CHANNELS = 8, 4, 2, 1
NOWHERE: Rank = (-1, 0)
ANYWHERE: Rank = (0, 0)


@dataclass(frozen=True)
class RoutedMessage:
    """What the conditions of a route look at: the channel, its `name` as people call it (empty:
    none), all ids and names of the author, whether the message is in a thread, and its text."""

    channel: ChannelRef
    name: str
    author_names: Collection[str]
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
        """The higher, the more specific: a pattern before people, threads and channels."""
        weight = _PATTERN * (self.pattern is not None) + _PEOPLE * bool(self.people)
        weight += _THREADS * (self.threads is not None) + _CHANNELS * bool(self.channels)
        return self.priority, weight

    def fits(self, message: RoutedMessage) -> bool:
        if self.threads is not None and self.threads != message.threaded:
            return False
        if self.channels and not any_matches(self.channels, _names_of(message)):
            return False
        if self.people and not any_matches(self.people, message.author_names):
            return False
        return self.pattern is None or self.pattern.is_in(message.text)


def rank_of(routes: Sequence[Route], message: RoutedMessage) -> Rank:
    """Return the best rank of the routes that fit; NOWHERE where none fits, ANYWHERE where there
    are no routes."""
    if not routes:
        return ANYWHERE
    return max((route.rank for route in routes if route.fits(message)), default=NOWHERE)


def collide(route: Route, other: Route) -> bool:
    """Whether the two routes are equally specific and some message may fit both. Whether two
    patterns can match one text is not known, so they collide."""
    if route.rank != other.rank or route.threads != other.threads:
        return False
    if route.channels and not _may_meet(route.channels, other.channels):
        return False
    return not route.people or _may_meet(route.people, other.people, by=":")


def _names_of(message: RoutedMessage) -> list[str]:
    names = [message.name, f"#{message.name}"] if message.name else []
    return [*names, message.channel.channel, message.channel.key]


def _may_meet(globs: Sequence[str], other_globs: Sequence[str], by: str = "") -> bool:
    """`by` tells ids from names: whether an id has a certain name is not known."""
    for glob in globs:
        for other_glob in other_globs:
            if by and (by in glob) != (by in other_glob):
                return True
            if meet(glob.lstrip("#"), other_glob.lstrip("#")):
                return True
    return False
