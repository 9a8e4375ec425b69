"""One authenticated request of a program."""

from __future__ import annotations

from dataclasses import dataclass

from bridge.agents.codec.json_values import Json
from bridge.app.tasks.tasks import Tasks

VISIT = "uacs_bridge.visit"
"""The key under which the visit stands in the scope of a request."""


@dataclass(frozen=True)
class Visit:
    """Who asks whom: a program, and the room or the agent (`agent`) in it, with its card."""

    program: str
    room: str
    agent: str
    tasks: Tasks
    card: Json
