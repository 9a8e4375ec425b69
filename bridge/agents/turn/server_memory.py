"""What an agent's server remembers of a room, as a cache: the archive is authoritative. Pure.

The last part of an answer holds the server's id of the conversation, the last message that the
server received, and the hash of everything up to there. If one of those messages or the answer was
edited or deleted, the server receives the whole room under a new id. The router reports whether
that is so, also for messages too old to be shown; if it does not, the hash decides."""

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
    """The server's ids, and the messages since its last answer."""

    ids: Json
    new_messages: tuple[Message, ...]


def memory_part(conversation: Conversation, api: str, ids: Json) -> StructuredDataPart:
    """Return the part at the end of an answer to the last message of this conversation."""
    messages = conversation.messages
    memory: Json = {"ids": ids, "upto": messages[-1].message_id, "hash": _hash(messages)}
    return state(api, memory=memory)


def memory_of(conversation: Conversation, agent: str, api: str) -> Memory | None:
    """Return what the server remembers; None if it must receive the whole room."""
    own = agent_id(agent)
    last = next(
        (message for message in reversed(conversation.messages) if message.actor.id == own), None
    )
    memory = obj(_memory_of(last, api)) if last is not None and not is_edited(last) else {}
    last_known = text(memory.get("upto"))
    places = [
        index
        for index, message in enumerate(conversation.messages)
        if message.message_id == last_known
    ]
    if not places:
        return None
    is_unchanged = history_is_unchanged(conversation)
    if is_unchanged is None:
        is_unchanged = _hash(conversation.messages[: places[0] + 1]) == memory.get("hash")
    if not is_unchanged:
        return None
    new_messages = [
        message for message in conversation.messages[places[0] + 1 :] if message.actor.id != own
    ]
    return Memory(obj(memory.get("ids")), tuple(new_messages))


def is_memory(part: ContentPart) -> bool:
    """Return whether a part holds a server's memory."""
    return isinstance(part, StructuredDataPart) and part.schema_id == STATE and (
        isinstance(part.data, Mapping) and "memory" in part.data
    )  # fmt: skip


def without_memory(message: Message) -> Message:
    """Return the message without such parts."""
    content = tuple(part for part in message.content if not is_memory(part))
    return message.model_copy(update={"content": content})


def _memory_of(message: Message, api: str) -> Json:
    for part in reversed(message.content):
        if isinstance(part, StructuredDataPart) and is_memory(part):
            data = obj(part.data)  # pyright: ignore[reportArgumentType] - JSON, whatever it holds
            return obj(data.get("memory")) if data.get("api") == api else {}
    return {}


def _hash(messages: Sequence[Message]) -> str:
    """Hash authors and content, without reactions and other metadata."""
    digest = hashlib.sha256()
    for message in messages:
        parts = (write(part) for part in message.content)
        for piece in (message.message_id.encode(), message.actor.id.encode(), *parts):
            digest.update(len(piece).to_bytes(8, "big") + piece)
    return digest.hexdigest()
