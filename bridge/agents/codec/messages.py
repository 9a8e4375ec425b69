"""What a codec has read of an API -> UACS messages and conversations, and the reverse for call
arguments. Pure: no clock; the same JSON gives the same ids."""

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


def message_of(message: ReadMessage, agent: str, message_id: str, created: int | None) -> Message:
    """Return the UACS message. `created` is in seconds since 1970; messages without a time get
    1970."""
    actor = {
        "instructions": Actor(id=instructions_id(agent), role="system"),
        "agent": Actor(id=agent_id(agent), role="assistant", name=agent),
        "tool": Actor(id="tool", role="tool"),
        "user": Actor(id=ANONYMOUS_USER, role="human"),
    }[message.role]
    if message.name:
        actor = actor.model_copy(update={"name": message.name})
    return Message(
        message_id=message_id,
        timestamp=_timestamp(created),
        actor=actor,
        content=tuple(message.parts) or (TextPart(text=""),),
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
    """Return an API's response as the agent's message. `rest` is the response beside its content,
    which only this agent sees; `created` is in seconds since 1970."""
    message = message_of(ReadMessage("agent", parts), agent, answer_id or "answer", created)
    metadata: Json = {"agents": {agent: {"api": api, "response": rest}}}
    if usage:
        metadata["usage"] = usage
    return message.model_copy(update={"metadata": metadata})


def iso_seconds(value: JsonValue) -> int | None:
    """Return an ISO 8601 time in seconds since 1970; None if it is invalid."""
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
    read_messages: Sequence[ReadMessage],
    agent: str,
    api: str,
    request: Json,
    tools: Sequence[Json],
    answer_format: Sequence[ContentPart],
) -> Conversation:
    """Return a request as a conversation. `request` is the request beside its messages; the
    requested answer format becomes a part of the last message."""
    messages = [
        message_of(read_message, agent, str(n), None)
        for n, read_message in enumerate(read_messages)
    ]
    if answer_format:
        if not messages or messages[-1].actor.role == "assistant":
            messages.append(
                message_of(ReadMessage("user", answer_format), agent, str(len(messages)), None)
            )
        else:
            last = messages[-1]
            content = (*last.content, *answer_format)
            messages[-1] = last.model_copy(update={"content": content})
    metadata: Json = {"agents": {agent: {"api": api, "request": request}}}
    if tools:
        metadata["tools"] = cast("JsonValue", list(tools))
    epoch = _timestamp(None)
    return Conversation(
        conversation_id=str(uuid.uuid5(_READ, f"{agent}:{len(messages)}")),
        created_at=epoch,
        updated_at=epoch,
        messages=tuple(messages),
        metadata=metadata,
    )


def moderation_of(reason: str, **results: JsonValue) -> Json:
    """Return the result of a vendor's filters: its own word for why it withheld an answer (empty if
    it did not), and the filters' results."""
    return {"why": reason, "results": {key: value for key, value in results.items() if value}}


def usage_of(
    api: str,
    model: str,
    *,
    input: JsonValue,  # noqa: A002 - the field's own word
    output: JsonValue,
    cached: JsonValue = None,
    reasoning: JsonValue = None,
) -> Json:
    """Return token counts under the same names for every API; empty if the API reported none."""
    counts = {
        "input_tokens": number(input),
        "output_tokens": number(output),
        "cached_tokens": number(cached),
        "reasoning_tokens": number(reasoning),
    }
    known_counts: Json = {key: count for key, count in counts.items() if count is not None}
    return (
        {"api": api, **({"model": model} if model else {}), **known_counts} if known_counts else {}
    )


def read_arguments(value: JsonValue) -> Json | None:
    """Return a call's arguments from JSON in a string; None if they are not an object."""
    if not isinstance(value, str):
        return value if isinstance(value, dict) else {} if value is None else None
    if not value.strip():
        return {}
    try:
        arguments = orjson.loads(value)
    except orjson.JSONDecodeError:
        try:
            arguments = json.loads(value, parse_constant=_refuse)
        except ValueError:
            return None
    return arguments if isinstance(arguments, dict) else None


def write_arguments(arguments: object) -> str:
    """Return a call's arguments as JSON in a string."""
    return json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))


def _refuse(word: str) -> object:
    raise ValueError(f"{word} is no JSON")
