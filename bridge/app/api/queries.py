"""Rooms, their Conversations, single messages, files and searches, as far as a token sees them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC
from typing import Any

import orjson

from bridge.app.api.api_keys import Caller
from bridge.app.api.gateway import Gateway, RoomView
from bridge.app.api.problems import Problem
from bridge.app.api.shapes import Channel, Room, RoomList, You
from bridge.app.api.view import conversation_view, mentions, outside_view
from bridge.archive.additions import with_additions
from bridge.archive.search_names import names_in
from bridge.archive.search_query import BadQuery, read_query, shows_words
from bridge.content.cards.interactions import SCHEMA_ID as INTERACTION
from bridge.content.messages.metadata import read_bridge_metadata
from bridge.errors import StoreError
from bridge.model import MessageId, message_id_of
from bridge.model.archive_records import Position, StoredMessage
from bridge.model.search_records import FoundMessage
from bridge.model.times import datetime_of
from bridge.ports.store.archive import ArchiveStore
from bridge.router.rooms.programs import outside_channel
from bridge.uacs import Conversation, Message, StructuredDataPart, to_timestamp, write

MOST_MESSAGES = 200  # per page
MOST_FOUND = 50  # per search
MOST_CONTEXT = 10  # messages on each side of a found one
LONGEST_QUERY = 500  # characters
LARGEST_NUMBER = 2**53  # the largest number of a message in its room
_POSITION = re.compile(r"(\d{1,15})\.(\d{1,15})")


def room_of(gateway: Gateway, caller: Caller, room_name: str) -> RoomView:
    """The room with this name.

    Raises:
        Problem: 404; the room does not exist, or the token may not see it.
    """
    for room in gateway.rooms():
        if room.id == room_name and caller.sees(room.id):
            return room
    raise Problem(
        404,
        "There is no such room, or the token may not see it",
        value=room_name,
        todo="GET /v1/rooms lists the rooms that it sees",
    )


async def room_list(gateway: Gateway, caller: Caller) -> RoomList:
    rooms = [room for room in gateway.rooms() if caller.sees(room.id)]
    return RoomList(you=you_of(caller), rooms=[await _room_entry(gateway, room) for room in rooms])


def you_of(caller: Caller) -> You:
    expires = caller.token.expires
    return You(
        name=caller.name,
        actor_id=caller.actor,
        role=caller.token.role,
        scopes=list(caller.token.scopes),
        expires=None if expires is None else to_timestamp(datetime_of(expires)),
    )


async def _room_entry(gateway: Gateway, room: RoomView) -> Room:
    channels = [
        Channel(platform=channel.platform, name=gateway.name_of(channel))
        for channel in room.channels
    ]
    return Room(
        id=room.id,
        conversation_id=str(room.conversation),
        channels=channels,
        agents=list(room.agents),
        position=position_text(await gateway.store.position(room.conversation)),
    )


async def conversation(
    gateway: Gateway, caller: Caller, room: RoomView, limit: int, before: int | None
) -> Conversation:
    """A page of the room's conversation.

    `metadata.uacs_bridge` has `next_before`, where the next older page begins, and `position`,
    after which events are new to a reader of this page.
    """
    position = await gateway.store.position(room.conversation)
    try:
        page = await gateway.store.page(
            room.conversation, limit=limit, viewer=caller.actor, before=before
        )
    except StoreError:
        if position != Position():
            raise
        return _empty_conversation(gateway, room)
    conversation_seen = conversation_view(page.conversation, room.tools)
    metadata: dict[str, Any] = dict(conversation_seen.metadata or {})
    ours = dict(metadata.get("uacs_bridge") or {})
    ours |= {"next_before": page.first if page.more else None, "position": position_text(position)}
    messages = await with_additions(gateway.store, conversation_seen.messages)
    return conversation_seen.model_copy(
        update={"messages": messages, "metadata": {**metadata, "uacs_bridge": ours}}
    )


def _empty_conversation(gateway: Gateway, room: RoomView) -> Conversation:
    """The conversation of a room without messages."""
    now = to_timestamp(datetime_of(gateway.clock.time()))
    about: dict[str, Any] = {"kind": "room", "name": room.id, "next_before": None}
    return Conversation(
        conversation_id=str(room.conversation),
        created_at=now,
        updated_at=now,
        messages=(),
        metadata={"uacs_bridge": {**about, "position": position_text(Position())}},
    )


async def visible_message(
    gateway: Gateway, caller: Caller, room: RoomView, message: str
) -> StoredMessage:
    """A message of this room.

    Raises:
        Problem: 404; the message does not exist, is deleted, or the token may not see it.
    """
    rooms = await gateway.store.rooms_of(MessageId(message), viewer=caller.actor)
    stored = None
    if room.conversation in rooms:
        stored = await gateway.store.message(MessageId(message))
    if stored is None or stored.state == "deleted":
        raise Problem(
            404,
            "There is no such message in this room",
            value=message,
            todo="GET /v1/rooms/{room} lists the messages with their ids",
        )
    return stored


async def message_view(
    gateway: Gateway, caller: Caller, room: RoomView, stored: StoredMessage
) -> dict[str, Any]:
    """The fields of a `MessageView` for the caller, ready for JSON."""
    shown = outside_view(stored.message, room.tools)
    (message,) = await with_additions(gateway.store, [shown])
    yours = stored.author.id == caller.actor
    return {
        "room": room.id,
        "message": orjson.Fragment(write(message)),
        "state": stored.state,
        "thread": stored.root,
        "yours": yours,
        "mentions_you": not yours
        and (
            mentions(message, caller.name, caller.actor)
            or _is_press_on_own_card(caller, room, message)
        ),
    }


def _is_press_on_own_card(caller: Caller, room: RoomView, message: Message) -> bool:
    """Whether the message is a press on a card that this token posted in the room."""
    first = message.content[0]
    if not isinstance(first, StructuredDataPart) or first.schema_id != INTERACTION:
        return False
    card = first.data.get("message") if isinstance(first.data, Mapping) else None
    return str(card).startswith(message_id_of(outside_channel(room.id), f"{caller.name}/"))


async def search(
    gateway: Gateway,
    caller: Caller,
    rooms: Sequence[RoomView],
    query: str,
    limit: int,
    before: int | None = None,
    context: int = 0,
) -> dict[str, Any]:
    """The fields of `Hits`, ready for JSON; with `context` messages on each side of a hit.

    Raises:
        Problem: 422; the query cannot be understood.
    """
    store = gateway.store
    try:
        resolved = await read_query(query, names_in(store), UTC)
    except BadQuery as error:
        raise Problem(
            422, str(error), value=query, todo="write words: q=deploy friday from:ann"
        ) from None
    by_id = {room.conversation: room for room in rooms}
    resolved = replace(resolved, conversations=tuple(by_id), readers=(caller.actor,))
    page = await store.find(resolved, limit=limit, before=before)
    hits: list[dict[str, Any]] = []
    for found in page.found:
        room = next(by_id[own_id] for own_id in found.conversations if own_id in by_id)
        message = outside_view(found.stored.message, room.tools)
        if message is not found.stored.message and not shows_words(message, resolved.words):
            continue  # hidden content must not be found
        number = await store.number_of(room.conversation, MessageId(message.message_id))
        (whole,) = await with_additions(store, [message])
        fragment = orjson.Fragment(write(whole))
        hit: dict[str, Any] = {"room": room.id, "number": number, "message": fragment}
        if context:
            around = await store.around(found, room.conversation, resolved, count=context)
            hit["before"] = await _views(store, room, around.before)
            hit["behind"] = await _views(store, room, around.behind)
        hits.append(hit)
    return {"hits": hits, "next": page.more}


async def _views(
    store: ArchiveStore, room: RoomView, found: Sequence[FoundMessage]
) -> list[orjson.Fragment]:
    shown = [outside_view(one.stored.message, room.tools) for one in found]
    return [orjson.Fragment(write(message)) for message in await with_additions(store, shown)]


def media_type_of(message: Message, file_id: str) -> str | None:
    """The media type of a file of the message; None if the message does not show the file."""
    for part in message.content:
        source = getattr(part, "source", None)
        if source is not None and source.file_id == file_id:
            return str(getattr(part, "media_type", ""))
    for stored_file in read_bridge_metadata(message)[0].kept.values():
        if stored_file.file_id == file_id:
            return stored_file.media_type
    return None


def position_text(position: Position) -> str:
    return f"{position.posted}.{position.changed}"


def position_of(text: str) -> Position:
    """The position in a text that `position_text` wrote.

    Raises:
        Problem: 422; the text is no position.
    """
    match = _POSITION.fullmatch(text)
    if match is None:
        raise Problem(
            422,
            "This is no position in a room",
            value=text,
            todo="give the id of an event as it came, such as 12.3; or leave it out for what is "
            "new from now on",
        )
    return Position(int(match[1]), int(match[2]))
