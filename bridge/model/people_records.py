"""Linked accounts and display names, as the store has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bridge.model.refs import ActorId, PersonId, RoomId

LinkMethod = Literal["email", "command", "code"]


CodeUse = Literal["linked", "wrong", "own", "too_many"]


CODE_TRIES = 5  # wrong codes that one account may enter ...


CODE_WINDOW = 600.0  # ... within this many seconds


@dataclass(frozen=True)
class LinkedAccount:
    """One of a person's accounts; `how` and when (seconds since 1970) it was linked."""

    actor: ActorId
    person: PersonId
    how: LinkMethod
    linked: float


@dataclass(frozen=True)
class DisplayName:
    """An author's own name, and their display name in a room that distinguishes equal names."""

    room: RoomId
    actor: ActorId
    name: str
    shown: str
