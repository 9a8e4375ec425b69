"""A timeline and its messages -> a UACS Conversation; and the excerpt of a message."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from bridge.content.markdown import markdown_to_text, text_to_plain
from bridge.model.archive_records import Timeline, View
from bridge.model.room_records import RoomFacts, membership_json
from bridge.model.times import datetime_of
from bridge.uacs import Conversation, Message, TextPart, to_timestamp

_EXCERPT = 100  # characters of an excerpt
_LOOKED_AT = 1000  # characters of source that are read for it


ToolDescription = Mapping[str, JsonValue]
"""A tool as a Conversation describes it: `{"name", "description", "parameters"}`."""


def conversation_of(
    timeline: Timeline,
    created: float,
    updated: float,
    messages: Sequence[Message],
    tools: Mapping[str, Sequence[ToolDescription]] | None = None,
    facts: RoomFacts | None = None,
) -> Conversation:
    """Build the Conversation. Fields that UACS lacks are in `metadata.uacs_bridge`, the tools by
    agent in `metadata.tools`, a room's own metadata beside them."""
    about: dict[str, JsonValue] = {
        "kind": timeline.kind,
        "name": timeline.name,
        **timeline.metadata,
    }
    if facts is not None and facts.memberships:
        about["memberships"] = [membership_json(one) for one in facts.memberships]
    return Conversation(
        conversation_id=str(timeline.id),
        created_at=to_timestamp(datetime_of(created)),
        updated_at=to_timestamp(datetime_of(updated)),
        messages=tuple(messages),
        metadata={
            **({} if facts is None else facts.metadata),
            "uacs_bridge": about,
            **({"tools": _with_agents(tools)} if tools else {}),
        },
    )


def own_tools(
    tools: Mapping[str, Sequence[ToolDescription]], view: View
) -> Mapping[str, Sequence[ToolDescription]]:
    """Return the tools that a member is shown: an agent sees only its own."""
    name = (view.member or "").removeprefix("agent:")
    if name == (view.member or ""):
        return tools
    return {agent: tools[agent] for agent in tools if agent == name}


def _with_agents(tools: Mapping[str, Sequence[ToolDescription]]) -> list[JsonValue]:
    """Each once, with the `agents` that may call it."""
    tools_by_key: dict[str, dict[str, JsonValue]] = {}
    agents_by_key: dict[str, list[JsonValue]] = {}
    for agent, described in tools.items():
        for tool in described:
            key = json.dumps(tool, sort_keys=True)
            tools_by_key.setdefault(key, dict(tool))
            agents_by_key.setdefault(key, []).append(agent)
    return [{**tool, "agents": agents_by_key[key]} for key, tool in tools_by_key.items()]


def excerpt_of(message: Message) -> str:
    """Return the first words in one line of plain text, at most 100 characters; `[image]` without
    text."""
    spoken = [_plain(part) for part in message.content if isinstance(part, TextPart)]
    texts = spoken or [f"[{part.type}]" for part in message.content]
    text = " ".join(" ".join(texts).split())
    return text if len(text) <= _EXCERPT else text[: _EXCERPT - 1] + "…"


def _plain(part: TextPart) -> str:
    text = part.text[:_LOOKED_AT]
    return text if part.format == "plain" else text_to_plain(markdown_to_text(text))
