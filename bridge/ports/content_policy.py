"""Content policies stand between rooms and an agent: they see its input and its output."""

from __future__ import annotations

from typing import Any, Protocol

from pydantic import BaseModel, JsonValue

from bridge.model.turns import Turn
from bridge.uacs import Message


class TurnFilter(Protocol):
    """A content policy during one turn.

    Each method returns its argument, changed or not. Any exception ends the turn, and people see
    nothing more of it; they see the text of a `ContentRefused`.
    """

    async def filter_turn(self, turn: Turn) -> Turn:
        """Returns the turn that the agent receives."""
        ...

    async def filter_message(self, message: Message) -> Message:
        """Returns the message that the agent receives while it works."""
        ...

    async def filter_text(self, text: str) -> str:
        """Returns what people see of one piece of text, as far as the agent has written it.

        The method is called again with the same text and more of it; what it returned before must
        be the beginning of what it returns then.
        """
        ...

    async def filter_part(self, part: JsonValue) -> JsonValue:
        """Returns what people see of a whole part."""
        ...


class ContentPolicy(Protocol):
    """A configured policy.

    `holdback` is the number of characters at the end of a growing text that people do not see yet,
    because the text that follows may change them. An incomplete word is always held back.
    """

    holdback: int

    def begin(self) -> TurnFilter:
        """Returns the filter of a new turn."""
        ...


class ContentPolicyType(Protocol):
    """One kind of policy: what an entry point of the group `uacs_bridge.policies` names."""

    kind: str
    settings: type[BaseModel]

    def build(self, settings: Any) -> ContentPolicy:
        """Builds a policy from an instance of `settings`."""
        ...
