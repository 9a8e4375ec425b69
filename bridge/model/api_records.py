"""API keys of programs, as the store has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Scope = Literal["read", "post", "interact"]


Role = Literal["human", "assistant"]


@dataclass(frozen=True)
class ApiToken:
    """An API key of a program; the store has only a digest of the key itself.

    `rooms` are globs, and so are `actors`: who may speak below the program, under names of their
    own. Times are in seconds since 1970; `per_minute` is the maximum number of
    requests per minute.
    """

    name: str
    digest: str
    role: Role
    rooms: tuple[str, ...]
    scopes: tuple[Scope, ...]
    created: float
    expires: float | None
    per_minute: int
    actors: tuple[str, ...] = ()
