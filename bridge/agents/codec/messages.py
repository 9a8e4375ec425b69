"""What was read of an API -> UACS messages and conversations. Pure: no clock, ids that repeat."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import cast

import orjson
from pydantic import JsonValue

from bridge.agents.codec.json_values import Json, number, text
from bridge.agents.codec.prompt import PromptRole
from bridge.agents.codec.speakers import ANONYMOUS_USER, agent_id, instructions_id
from bridge.errors import InvalidUacs
from bridge.model.times import datetime_of
from bridge.uacs import Actor, ContentPart, Conversation, Message, TextPart, to_timestamp

_READ = uuid.UUID("6f0b2c5e-54f4-5ed5-9d0b-3b5f0c9a7d11")


@dataclass(frozen=True)
class ReadMessage:
    """One message of an API."""

    role: PromptRole
    parts: Sequence[ContentPart]
    name: str = ""


def message_of(said: ReadMessage, agent: str, message_id: str, created: int | None) -> Message:
    """`created` in seconds since 1970; APIs whose messages have no time give 1970."""
    actor = {
        "instructions": Actor(id=instructions_id(agent), role="system"),
        "agent": Actor(id=agent_id(agent), role="assistant", name=agent),
        "tool": Actor(id="tool", role="tool"),
        "user": Actor(id=ANONYMOUS_USER, role="human"),
    }[said.role]
    if said.name:
        actor = actor.model_copy(update={"name": said.name})
    return Message(
        message_id=message_id,
        timestamp=_timestamp(created),
        actor=actor,
        content=tuple(said.parts) or (TextPart(text=""),),
    )


def response_message(
    parts: Sequence[ContentPart],
    agent: str,
    api: str,
    rest: JsonValue,
    *,
    answer_id: str,
    created: int | None = None,
    usage: Json | None = None,
) -> Message:
    """What an API answered; `rest` is what it said beside, for this agent alone. `created` as in
    `message_of`."""
    message = message_of(ReadMessage("agent", parts), agent, answer_id or "answer", created)
    metadata: Json = {"agents": {agent: {"api": api, "response": rest}}}
    if usage:
        metadata["usage"] = usage
    return message.model_copy(update={"metadata": metadata})


def iso_seconds(value: JsonValue) -> int | None:
    """A time of ISO 8601 in seconds since 1970; None where it is none."""
    try:
        return int(datetime.fromisoformat(text(value)).timestamp())
    except (ValueError, OverflowError, OSError):
        return None


def _timestamp(created: int | None) -> str:
    try:
        return to_timestamp(datetime_of(created or 0))
    except (InvalidUacs, OverflowError, ValueError, OSError):
        return to_timestamp(datetime_of(0))


def conversation_of(
    said: Sequence[ReadMessage],
    agent: str,
    api: str,
    request: Json,
    tools: Sequence[Json],
    wanted: Sequence[ContentPart],
) -> Conversation:
    """A request as a conversation; the format that it wants goes to its last message."""
    messages = [message_of(one, agent, str(n), None) for n, one in enumerate(said)]
    if wanted:
        if not messages or messages[-1].actor.role == "assistant":
            messages.append(
                message_of(ReadMessage("user", wanted), agent, str(len(messages)), None)
            )
        else:
            last = messages[-1]
            content = (*last.content, *wanted)
            messages[-1] = last.model_copy(update={"content": content})
    metadata: Json = {"agents": {agent: {"api": api, "request": request}}}
    if tools:
        metadata["tools"] = cast("JsonValue", list(tools))
    when = _timestamp(None)
    return Conversation(
        conversation_id=str(uuid.uuid5(_READ, f"{agent}:{len(messages)}")),
        created_at=when,
        updated_at=when,
        messages=tuple(messages),
        metadata=metadata,
    )


def moderation_of(why: str, **results: JsonValue) -> Json:
    """What a vendor's filters said: its own word for why an answer was held back (empty where none
    was), and what they found."""
    return {"why": why, "results": {key: value for key, value in results.items() if value}}


def usage_of(
    api: str,
    model: str,
    *,
    input: JsonValue,  # noqa: A002 - the field's own word
    output: JsonValue,
    cached: JsonValue = None,
    reasoning: JsonValue = None,
) -> Json:
    """Tokens in the same words for every API; empty where it told none."""
    counts = {
        "input_tokens": number(input),
        "output_tokens": number(output),
        "cached_tokens": number(cached),
        "reasoning_tokens": number(reasoning),
    }
    told: Json = {key: count for key, count in counts.items() if count is not None}
    return {"api": api, **({"model": model} if model else {}), **told} if told else {}


def read_arguments(value: JsonValue) -> Json | None:
    """A call's arguments: JSON in a string. None where they are no object."""
    if not isinstance(value, str):
        return value if isinstance(value, dict) else {} if value is None else None
    if not value.strip():
        return {}
    try:
        found = orjson.loads(value)
    except orjson.JSONDecodeError:
        try:
            found = json.loads(value, parse_constant=_refuse)
        except ValueError:
            return None
    return found if isinstance(found, dict) else None


def write_arguments(arguments: object) -> str:
    """Return a call's arguments as JSON in a string."""
    return json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))


def _refuse(word: str) -> object:
    raise ValueError(f"{word} is no JSON")
