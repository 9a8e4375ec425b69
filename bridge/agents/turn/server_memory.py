"""What an agent's server remembers of a room, as a cache: the archive is the truth. Pure.

The last part of an answer names what the server calls the conversation, the message up to which it
was told, and the hash of all up to there. Where something of that was edited or deleted, or the
answer itself was, the server is told all anew under a new name. The router says whether that is so,
also of what is too old to be shown; where it says nothing, the hash is another.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bridge.agents.codec.json_values import Json, obj, text
from bridge.agents.codec.native_parts import state
from bridge.agents.codec.speakers import agent_id, is_edited
from bridge.agents.turn.history import history_is_unchanged
from bridge.content.messages.agent_parts import STATE
from bridge.uacs import ContentPart, Conversation, Message, StructuredDataPart, write


@dataclass(frozen=True)
class Memory:
    """What the server calls things, and what was said since it was told."""

    ids: Json
    new_messages: tuple[Message, ...]


def memory_part(conversation: Conversation, api: str, ids: Json) -> StructuredDataPart:
    """For the end of an answer to the last message of this conversation."""
    messages = conversation.messages
    kept: Json = {"ids": ids, "upto": messages[-1].message_id, "hash": _hash(messages)}
    return state(api, memory=kept)


def memory_of(conversation: Conversation, agent: str, api: str) -> Memory | None:
    """None where the server must be told all."""
    own = agent_id(agent)
    last = next(
        (message for message in reversed(conversation.messages) if message.actor.id == own), None
    )
    kept = obj(_memory_of(last, api)) if last is not None and not is_edited(last) else {}
    upto = text(kept.get("upto"))
    found = [n for n, one in enumerate(conversation.messages) if one.message_id == upto]
    if not found:
        return None
    same = history_is_unchanged(conversation)
    if same is None:
        same = _hash(conversation.messages[: found[0] + 1]) == kept.get("hash")
    if not same:
        return None
    new_messages = [
        message for message in conversation.messages[found[0] + 1 :] if message.actor.id != own
    ]
    return Memory(obj(kept.get("ids")), tuple(new_messages))


def is_memory(part: ContentPart) -> bool:
    return isinstance(part, StructuredDataPart) and part.schema_id == STATE and (
        isinstance(part.data, Mapping) and "memory" in part.data
    )  # fmt: skip


def without_memory(message: Message) -> Message:
    kept = tuple(part for part in message.content if not is_memory(part))
    return message.model_copy(update={"content": kept})


def _memory_of(message: Message, api: str) -> Json:
    for part in reversed(message.content):
        if isinstance(part, StructuredDataPart) and is_memory(part):
            data = obj(part.data)  # pyright: ignore[reportArgumentType] - JSON, whatever it holds
            return obj(data.get("memory")) if data.get("api") == api else {}
    return {}


def _hash(messages: Sequence[Message]) -> str:
    """Of who said what, not of what is noted beside it (reactions, where it was shown)."""
    found = hashlib.sha256()
    for message in messages:
        parts = (write(part) for part in message.content)
        for piece in (message.message_id.encode(), message.actor.id.encode(), *parts):
            found.update(len(piece).to_bytes(8, "big") + piece)
    return found.hexdigest()
