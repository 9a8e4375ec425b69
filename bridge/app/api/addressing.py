"""How programs call an agent of a room. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from bridge.router.turns.selection import is_named
from bridge.uacs import ContentPart, TextPart


def calling(parts: Sequence[ContentPart], agent: str) -> tuple[ContentPart, ...]:
    """Return the parts with the agent's name before them, so that the agent answers; unchanged for
    a room as a whole (""), and where the text names the agent."""
    if not agent:
        return tuple(parts)
    first, *rest = parts
    if not isinstance(first, TextPart):
        return (TextPart(text=f"@{agent}"), *parts)
    if is_named(agent, first.text):
        return tuple(parts)
    return (first.model_copy(update={"text": f"@{agent} {first.text}"}), *rest)
