"""Actors below an agent: what one of them says, and whether it may under its own name. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import orjson
from pydantic import JsonValue

from bridge.agents.codec.json_values import obj, text
from bridge.agents.codec.speakers import agent_id
from bridge.content.text.globs import matches
from bridge.model.turns import AgentEvent, MessageSaid, PartGiven
from bridge.uacs import ContentPart, write

_LONGEST = 100  # characters of an id or a name


def said_by(
    actor: JsonValue, parts: Sequence[ContentPart], agent: str, own_id: str = ""
) -> MessageSaid | None:
    """Return what an actor says who stands below the agent: `{"id": "agent:AGENT/NAME"}` or
    `{"id": "NAME"}`, with `name` and `role`. None for the agent itself, and for no content."""
    who: Mapping[str, JsonValue] = obj(actor)
    own = agent_id(agent)
    below = text(who.get("id")).removeprefix(f"{own}/")[:_LONGEST]
    name = " ".join(text(who.get("name")).split())[:_LONGEST]
    if below in (own, agent) or not (below or name) or (not below and name == agent) or not parts:
        return None
    return MessageSaid(
        actor=below or name,
        name=name,
        role="tool" if who.get("role") == "tool" else "assistant",
        parts=tuple(cast("JsonValue", orjson.loads(write(part))) for part in parts),
        id=own_id,
    )


def as_allowed(event: AgentEvent, actors: Sequence[str]) -> Sequence[AgentEvent]:
    """Return the event. What an actor says that may not speak under its own name (`actors` are
    globs) is part of the agent's answer, with the name before it."""
    if not isinstance(event, MessageSaid) or any(matches(one, event.actor) for one in actors):
        return [event]
    name = event.name or event.actor
    head: JsonValue = {"type": "text", "text": f"{name}:", "format": "plain"}
    return [PartGiven(part=part) for part in (head, *event.parts)]
