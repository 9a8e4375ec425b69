"""Figures of an archive."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Speaker:
    """An author and the number of their messages."""

    id: str
    name: str
    bot: bool
    messages: int


@dataclass(frozen=True)
class RefusedEvent:
    """An event that no room admitted: when it came (seconds since 1970), its channel's key, its
    kind, and why."""

    at: float
    account: str
    channel: str
    kind: str
    outcome: str


@dataclass(frozen=True)
class Statistics:
    """Figures of the messages of a time.

    - `messages`: how many there are, deleted ones and whispers included; `people`: their authors.
    - `edited`, `deleted`, `whispers`, `in_threads`, `by_agents`: how many of them.
    - `reactions`: how many there are on them.
    - `first`, `last`: times of the oldest and the newest, in seconds since 1970.
    - `by_month`: by `2026-11` (UTC), without gaps; `by_hour`: 24 numbers, by the hour of the day
      (UTC); `by_weekday`: 7 numbers, Monday first.
    - `by_platform`: by the platform's name; messages of agents and programs by "".
    - `by_channel`: by the name of the room's or channel's conversation, the largest first.
    - `speakers`: the authors with the most messages.
    - `losses`: what copies could not show, by kind.
    """

    messages: int = 0
    people: int = 0
    edited: int = 0
    deleted: int = 0
    whispers: int = 0
    in_threads: int = 0
    by_agents: int = 0
    reactions: int = 0
    first: float | None = None
    last: float | None = None
    by_month: tuple[tuple[str, int], ...] = ()
    by_hour: tuple[int, ...] = (0,) * 24
    by_weekday: tuple[int, ...] = (0,) * 7
    by_platform: tuple[tuple[str, int], ...] = ()
    by_channel: tuple[tuple[str, int], ...] = ()
    speakers: tuple[Speaker, ...] = ()
    losses: Mapping[str, int] | None = None
