"""Greets a channel that joins a room: one notice there names the channels that it is bridged to and
who reads them; the others learn of readers from outside of the new channel's workspace."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import structlog

from bridge.errors import PlatformError, StoreError
from bridge.model import AccountId
from bridge.ports.connector import Connector
from bridge.router.outbound.notices import Notices, notice_id, plain_markdown
from bridge.router.rooms.rooms import Member, Room, Rooms

log = structlog.get_logger()

_AT_ONCE = 500  # rooms, in about 1 ms
_NEWS = 86_400.0  # seconds after joining within which a channel is greeted
_MOST_LOOKED_UP = 20  # channels of a room whose readers are looked up
_DEADLINE = 20.0  # seconds that a platform has to name the readers of one channel


async def greet(
    rooms: Rooms, connectors: Mapping[AccountId, Connector], notices: Notices, now: float
) -> None:
    """Greet the channels that joined lately; a channel that was greeted is not greeted again."""
    try:
        for number, room in enumerate(rooms.all):
            if number % _AT_ONCE == 0:
                await asyncio.sleep(0)
            if not room.options.greet or now - max(room.joined.values(), default=0.0) >= _NEWS:
                continue
            for member in room.members:
                since = room.joined.get(member.channel.key, 0.0)
                if since and now - since < _NEWS:
                    await _greet_member(room, member, repr(since), rooms, connectors, notices)
    except StoreError as error:  # the next start greets them
        log.warning("greeting_failed", error=str(error))


async def _greet_member(
    room: Room, member: Member, since: str, rooms: Rooms,
    connectors: Mapping[AccountId, Connector], notices: Notices,
) -> None:  # fmt: skip
    joined = notice_id("joined", room.id, member.channel.key, since)
    if await notices.was_posted(joined):
        return
    others = room.listeners(besides=member.channel)
    if mine := await _outsiders(member, connectors):
        name = rooms.name_of(member.channel)
        words = f"⚠️ {name} joined this room: what is said here is also read by {_listed(mine)}."
        opened = notice_id("opened", room.id, member.channel.key, since)
        await notices.post(opened, plain_markdown(words), room.id, others)
    outsiders_of = [
        (member, await _outsiders(member, connectors)) for member in others[:_MOST_LOOKED_UP]
    ]
    warnings = [
        f"⚠️ {rooms.name_of(member.channel)} is also read by {_listed(readers)}."
        for member, readers in outsiders_of if readers
    ]  # fmt: skip
    if not member.listens:
        return
    words = " ".join([_words(room, member, rooms), *warnings])
    await notices.post(joined, plain_markdown(words), room.id, [member])


async def _outsiders(member: Member, connectors: Mapping[AccountId, Connector]) -> Sequence[str]:
    """The readers of a channel from outside of its workspace; none for a channel that is not shown
    the room."""
    connector = connectors.get(member.account)
    outsiders = connector.abilities.outsiders if connector else None
    if not member.listens or outsiders is None:
        return ()
    try:
        async with asyncio.timeout(_DEADLINE):
            return await outsiders.of_channel(member.channel)
    except (PlatformError, TimeoutError) as error:
        log.warning("outsiders_lookup_failed", channel=member.channel.key, error=str(error))
        return ()


def _words(room: Room, member: Member, rooms: Rooms) -> str:
    names = [rooms.name_of(m.channel) for m in room.members if m.channel != member.channel]
    to = ", ".join(names) or f"room {room.id}"
    text = f"This channel is bridged to {to}: what is said here is carried there, and archived."
    if room.options.private:
        text += f' A message that begins with "{room.options.private[0]}" stays here.'
    return text + ' Mention the bot with "optout" to have nothing of yours carried.'


def _listed(readers: Sequence[str]) -> str:
    return " and ".join(readers)
