"""What the archive knows of a message beside its content, in `metadata.uacs_bridge`: the way out to
JSON and the way back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import orjson

from bridge.content.messages.metadata import KEY, VERSION
from bridge.model.export_records import ArchivedMessage, ExportedReaction
from bridge.model.refs import ActorId, MessageId
from bridge.ports.store.archive import ArchiveStore
from bridge.uacs import Message

# Beside these, `reactions` has the people by emoji, as everywhere.
NAMES = (
    "channel", "thread", "native_id", "thread_root", "reply_to", "edited_at", "editor", "versions",
    "deleted", "pinned", "recipients", "reacted", "epoch",
)  # fmt: skip


def additions_of(message: ArchivedMessage) -> dict[str, Any]:
    """Return the additions to `metadata.uacs_bridge`; a value that says nothing is absent.

    - `channel` (its key) and `thread` (the platform's id): where it was posted; `native_id`.
    - `thread_root`, `reply_to`: message ids.
    - `edited_at`, `editor`, `versions`: the last edit or deletion, and how many former states there
      are; `deleted`, `pinned`.
    - `recipients`: the only readers; `epoch`: the number of the room's membership at that time.
    - `reactions`: people by emoji; `reacted`: each reaction with its time.
    """
    found: dict[str, Any] = {}
    if (place := message.place) is not None:
        found["channel"] = place.channel.key
        if place.thread is not None:
            found["thread"] = place.thread
    if message.native_id is not None:
        found["native_id"] = message.native_id
    if message.root is not None:
        found["thread_root"] = message.root
    if message.reply_to is not None:
        found["reply_to"] = message.reply_to
    if message.edited_at is not None or message.deleted or message.versions:
        found.update(_changes(message))
    if message.pinned:
        found["pinned"] = True
    if message.audience is not None:
        found["recipients"] = message.audience
    if message.epoch is not None:
        found["epoch"] = message.epoch
    if message.reactions:
        actors: dict[str, list[str]] = {}
        for reaction in message.reactions:
            actors.setdefault(reaction.emoji, []).append(reaction.actor)
        found["reactions"] = [{"emoji": emoji, "actors": who} for emoji, who in actors.items()]
        found["reacted"] = [
            {"emoji": r.emoji, "actor": r.actor, **({} if r.at is None else {"at": _time(r.at)})}
            for r in message.reactions
        ]
    return found


def _changes(message: ArchivedMessage) -> dict[str, Any]:
    changes = {
        "edited_at": None if message.edited_at is None else _time(message.edited_at),
        "editor": message.editor,
        "versions": message.versions or None,
        "deleted": message.deleted or None,
    }
    return {name: value for name, value in changes.items() if value is not None}


def message_json(message: ArchivedMessage) -> dict[str, Any]:
    """Return the UACS message as JSON, with the additions."""
    value: dict[str, Any] = orjson.loads(message.body)
    metadata = value.get("metadata") or {}
    own = metadata.get(KEY)
    known: Mapping[str, Any] = own if isinstance(own, dict) else {"version": VERSION}
    metadata[KEY] = {**known, **additions_of(message)}
    value["metadata"] = metadata
    return value


def message_bytes(message: ArchivedMessage) -> bytes:
    """Return `message_json` as JSON. A message without metadata, as most are, is not parsed."""
    if b'"metadata"' in message.body:
        return _dumped(message_json(message))
    metadata = {KEY: {"version": VERSION, **additions_of(message)}}
    return b'%b,"metadata":%b}' % (message.body[:-1], orjson.dumps(metadata))


def _dumped(value: Any) -> bytes:
    try:
        return orjson.dumps(value)
    except TypeError:  # integers beyond 64 bits
        return json.dumps(value, ensure_ascii=False).encode()


async def with_additions(store: ArchiveStore, messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return the messages with the additions; those that the archive does not have stay."""
    known = await store.archived([MessageId(message.message_id) for message in messages])
    return tuple(
        _with_additions(message, known.get(MessageId(message.message_id))) for message in messages
    )


def _with_additions(message: Message, archived: ArchivedMessage | None) -> Message:
    if archived is None:
        return message
    metadata = message.metadata or {}
    own = metadata.get(KEY)
    known: Mapping[str, Any] = own if isinstance(own, dict) else {"version": VERSION}
    added = {**metadata, KEY: {**known, **additions_of(archived)}}
    return message.model_copy(update={"metadata": added})


def reactions_in(own: Mapping[str, Any]) -> tuple[ExportedReaction, ...]:
    """Return the reactions in the additions; those without time are from `reactions`."""
    reacted = own.get("reacted")
    if isinstance(reacted, list):
        return tuple(
            ExportedReaction(item["emoji"], ActorId(item["actor"]), seconds_of(item.get("at")))
            for item in reacted
            if isinstance(item, dict) and item.keys() >= {"emoji", "actor"}
        )
    reactions = own.get("reactions")
    return tuple(
        ExportedReaction(item["emoji"], ActorId(actor))
        for item in (reactions if isinstance(reactions, list) else ())
        if isinstance(item, dict) and isinstance(item.get("actors"), list) and "emoji" in item
        for actor in item["actors"]
        if isinstance(actor, str)
    )


def seconds_of(text: object) -> float | None:
    """Return an RFC 3339 time as seconds since 1970; None if it is none."""
    if not isinstance(text, str):
        return None
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError):
        return None


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()
