"""What stands between a room and an agent: it sees what an agent is told, and what it says."""

from __future__ import annotations

from typing import Any, Protocol

from pydantic import BaseModel, JsonValue

from bridge.model.turns import Turn
from bridge.uacs import Message


class TurnPolicy(Protocol):
    """A policy during one turn. Whatever it raises ends the turn, and nothing more is shown;
    PolicyRefused says why."""

    async def before(self, turn: Turn) -> Turn:
        """What the agent is told in place of this."""
        ...

    async def told(self, message: Message) -> Message:
        """... and of what it is told while it works."""
        ...

    async def said(self, text: str) -> str:
        """What is shown in place of one piece of text, as far as it goes: it is asked again
        with more, and what was shown already cannot change any more."""
        ...

    async def given(self, part: JsonValue) -> JsonValue:
        """What is shown in place of a whole part."""
        ...


class AgentPolicy(Protocol):
    """`hold_back`: how many characters at the end of a text are not shown yet, because what comes
    may change them. A word that has not ended is always held back."""

    hold_back: int

    def begin(self) -> TurnPolicy: ...


class PolicyType(Protocol):
    """What an entry point of the group `uacs_bridge.policies` names: one per kind of policy."""

    kind: str
    settings: type[BaseModel]

    def build(self, settings: Any) -> AgentPolicy: ...
