"""People, channels and messages of an export as UACS objects with additions, and back."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import orjson

from bridge.archive.additions import NAMES, reactions_in, seconds_of
from bridge.content.messages.metadata import KEY
from bridge.errors import InvalidUacs
from bridge.model import (
    AccountId,
    ActorId,
    ChannelRef,
    MessageId,
    MessagePosted,
    Person,
    Place,
    conversation_id_of,
)
from bridge.model.export_records import ROOMS, ExportedChannel, ExportedMessage, ExportedPerson
from bridge.model.refs import channel_of_key, native_id_in
from bridge.model.room_records import RoomFacts, membership_json
from bridge.uacs import read_message, to_timestamp

IMPORT = AccountId("import")
_OURS = (*NAMES, "reactions")


def person_json(exported: ExportedPerson) -> dict[str, Any]:
    """Return an actor with its picture and, if it has one, the platform's own object."""
    person = exported.person.model_dump(mode="json", exclude_defaults=True)
    return person if exported.native is None else {**person, "native": exported.native}


def read_person(value: Mapping[str, Any]) -> ExportedPerson:
    """Read what `person_json` wrote. Raises ValidationError."""
    person = Person.model_validate({k: v for k, v in value.items() if k != "native"})
    return ExportedPerson(person, value.get("native"))


def conversation_json(exported: ExportedChannel) -> dict[str, Any]:
    """Return a Conversation without messages; what UACS has no field for is in its metadata."""
    is_room = exported.kind == "room"
    facts = exported.facts or RoomFacts()
    about: dict[str, Any] = {
        "kind": exported.kind,
        "name": exported.name,
        "channel": None if is_room else exported.channel.key,
        "topic": exported.topic or None,
        "members": list(exported.members) or None,
        "native": exported.native,
        "memberships": [*map(membership_json, facts.memberships)] or None,
    }
    conversation: dict[str, Any] = {
        "conversation_id": str(conversation_id_of(Place(channel=exported.channel))),
        "metadata": {
            **facts.metadata,
            KEY: {name: value for name, value in about.items() if value is not None},
        },
    }
    if exported.created is not None:
        created = datetime.fromtimestamp(exported.created, UTC)
        conversation["created_at"] = to_timestamp(created)
    return conversation


def read_conversation(value: Mapping[str, Any]) -> ExportedChannel:
    """Read what `conversation_json` wrote. The channels of a room's messages are named by these.

    Raises:
        ValueError: it names no channel.
    """
    metadata = value.get("metadata")
    about = metadata.get(KEY) if isinstance(metadata, dict) else None
    if not isinstance(about, dict):
        raise InvalidUacs(f"$.metadata.{KEY}", about, "must name the channel")
    if about.get("kind") == "room":
        platform, workspace = ROOMS
        name = str(about.get("name", ""))
        room = ChannelRef(platform=platform, workspace=workspace, channel=name)
        return ExportedChannel(room, name, "room")
    members = about.get("members")
    return ExportedChannel(
        channel=channel_of_key(str(about.get("channel", ""))),
        name=str(about.get("name", "")),
        kind=about["kind"] if about.get("kind") in _KINDS else "public",
        topic=str(about.get("topic", "")),
        members=tuple(map(ActorId, map(str, members))) if isinstance(members, list) else (),
        created=seconds_of(value.get("created_at")),
        native=about.get("native"),
    )


_KINDS = ("public", "private", "group", "direct", "thread")


def exported_message(
    value: Mapping[str, Any], people: Mapping[str, Person], room: ChannelRef, payload: bytes
) -> ExportedMessage:
    """Read a UACS message with additions. `people` have the picture of its author; an agent's
    answer, which is in no channel, goes to `room`.

    Raises:
        InvalidUacs: it breaks the schema, or has no time.
        ValueError: it names no channel.
    """
    metadata = value.get("metadata") or {}
    own = metadata.get(KEY) if isinstance(metadata, dict) else None
    about: Mapping[str, Any] = own if isinstance(own, dict) else {}
    message = read_message(orjson.dumps(_without_additions(value, metadata, about)))
    place = _place_of(about, room)
    time = seconds_of(message.timestamp)
    if time is None:
        raise InvalidUacs("$.timestamp", message.timestamp, "must be the time of the message")
    edited, audience = seconds_of(about.get("edited_at")), about.get("recipients")
    author = people.get(message.actor.id) or Person(
        id=ActorId(message.actor.id),
        name=message.actor.name or message.actor.id,
        bot=message.actor.role == "assistant",
    )
    return ExportedMessage(
        posted=MessagePosted(
            account=IMPORT,
            place=place,
            time=datetime.fromtimestamp(time, UTC),
            native_id=_native_id(about, place, message.message_id),
            message=message,
            author=author,
            edited_at=None if edited is None else datetime.fromtimestamp(edited, UTC),
            audience=tuple(map(ActorId, audience)) if isinstance(audience, list) else None,
        ),
        payload=payload,
        root_id=_message_id(about.get("thread_root")),
        reply_to_id=_message_id(about.get("reply_to")),
        reactions=reactions_in(about),
        editor=ActorId(about["editor"]) if isinstance(about.get("editor"), str) else None,
        deleted=about.get("deleted") is True,
        pinned=about.get("pinned") is True,
    )


def _without_additions(
    value: Mapping[str, Any], metadata: Mapping[str, Any], about: Mapping[str, Any]
) -> dict[str, Any]:
    """The message as the archive stores it, which keeps the additions in columns."""
    rest = {name: item for name, item in about.items() if name not in _OURS}
    others = {name: item for name, item in metadata.items() if name != KEY}
    if rest.keys() - {"version"}:
        others[KEY] = rest
    stored = {name: item for name, item in value.items() if name != "metadata"}
    return {**stored, "metadata": others} if others else stored


def _place_of(about: Mapping[str, Any], room: ChannelRef) -> Place:
    key, thread = about.get("channel"), about.get("thread")
    if not isinstance(key, str):
        return Place(channel=room)
    return Place(channel=channel_of_key(key), thread=thread if isinstance(thread, str) else None)


def _native_id(about: Mapping[str, Any], place: Place, message_id: str) -> str:
    native_id = about.get("native_id")
    if isinstance(native_id, str):
        return native_id
    return native_id_in(place.channel.key, MessageId(message_id)) or message_id


def _message_id(value: object) -> MessageId | None:
    return MessageId(value) if isinstance(value, str) else None
