"""API keys of programs, as the store keeps them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Scope = Literal["read", "post", "interact"]


Role = Literal["human", "assistant"]


@dataclass(frozen=True)
class ApiToken:
    """What opens rooms to a program. Of the token itself only a digest is kept. `rooms` are globs;
    times are seconds since 1970; `per_minute`: requests that it may make."""

    name: str
    digest: str
    role: Role
    rooms: tuple[str, ...]
    scopes: tuple[Scope, ...]
    created: float
    expires: float | None
    per_minute: int
