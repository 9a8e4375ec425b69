"""One function applied to every string that an agent reads or writes. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import cast

from pydantic import JsonValue

from bridge.model.turns import Turn
from bridge.uacs import Message, write

Change = Callable[[str], str]
_UNCHANGED_KEYS = frozenset((
    "type", "schema_id", "id", "tool_call_id", "source", "media_type", "format",
))  # fmt: skip


def in_turn(turn: Turn, change: Change) -> Turn:
    """Returns the turn with `change` applied to every message of its conversation."""
    messages = tuple(in_message(message, change) for message in turn.conversation.messages)
    conversation = turn.conversation.model_copy(update={"messages": messages})
    return turn.model_copy(update={"conversation": conversation})


def in_message(message: Message, change: Change) -> Message:
    """Returns the message with `change` applied to its text, tool calls, results and author's name.

    Ids and bytes stay as they are. A message that does not change is returned as the same object.
    """
    content: list[JsonValue] = [json.loads(write(part)) for part in message.content]
    changed = [in_json(part, change) for part in content]
    actor = message.actor
    name = change(actor.name) if actor.name else actor.name
    if changed == content and name == actor.name:
        return message
    fields = {key: getattr(message, key) for key in message.model_fields_set}
    return Message.model_validate(
        {**fields, "content": changed, "actor": actor.model_copy(update={"name": name})}
    )


def in_json(value: JsonValue, change: Change) -> JsonValue:
    """Returns the JSON with `change` applied to its strings, except to ids and types."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [in_json(item, change) for item in value]
    if isinstance(value, Mapping):
        return {
            key: item if key in _UNCHANGED_KEYS else in_json(cast("JsonValue", item), change)
            for key, item in value.items()
        }
    return value
