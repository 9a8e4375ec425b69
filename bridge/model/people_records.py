"""Linked accounts and shown names, as the store keeps them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bridge.model.refs import ActorId, PersonId, RoomId

HowLinked = Literal["email", "command", "code"]


CodeUse = Literal["linked", "wrong", "own", "too_many"]


CODE_TRIES = 5  # wrong codes that one account may give ...


CODE_WINDOW = 600.0  # ... within so many seconds


@dataclass(frozen=True)
class LinkedAccount:
    """One of a person's accounts, how and when (seconds since 1970) it was linked."""

    actor: ActorId
    person: PersonId
    how: HowLinked
    linked: float


@dataclass(frozen=True)
class ShownName:
    """An author's own name, and what they are called in a room, where names are told apart."""

    room: RoomId
    actor: ActorId
    name: str
    shown: str
