"""`uacs-bridge archive`: what was said, as UACS Conversations."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

import click

from bridge.app.commands.options import config_option, settings_from
from bridge.errors import StoreError

if TYPE_CHECKING:
    from bridge.ports.store import Store


@click.group("archive")
def command() -> None:
    """Read what was said."""


@command.command("show")
@click.argument("room", required=False)
@config_option
@click.option("--newest", type=click.IntRange(1), help="Only so many messages, the newest ones.")
@click.option("--channel", metavar="KEY", help="A channel's own conversation instead of a room's.")
def show(room: str | None, config: Path, newest: int | None, channel: str | None) -> None:
    """Print a room's conversation as UACS, in JSON.

    ROOM is a room's name or a conversation's id. KEY is platform:workspace:channel, with :thread
    behind it for one thread, as `rooms` and `explain` print it.

    \b
    Examples:
      uacs-bridge archive show general --newest 20
      uacs-bridge archive show --channel slack:T0ACME:C0123
    """
    if (room is None) == (channel is None):
        raise click.UsageError("name a room, or a channel with --channel")
    click.echo(asyncio.run(_conversation(config, room or "", channel, newest)))


async def _conversation(config: Path, room: str, channel: str | None, newest: int | None) -> str:
    from bridge.app.commands.stores import reading
    from bridge.uacs import write

    async with reading(settings_from(config)) as store:
        wanted = await _room(store, room) if channel is None else _channel(channel)
        found = json.loads(write(await store.conversation(wanted, newest=newest)))
        return json.dumps(found, indent=2, ensure_ascii=False)


async def _room(store: Store, name: str) -> UUID:
    rooms = {t.name: t.id for t, _ in await store.conversations() if t.kind == "room"}
    if name in rooms:
        return rooms[name]
    try:
        return UUID(name)
    except ValueError:
        known = ", ".join(sorted(rooms)) or "none"
        raise StoreError(f"Nothing was said in a room {name!r} yet; known are: {known}") from None


def _channel(key: str) -> UUID:
    from bridge.model import ChannelRef, Place, conversation_id_of, split_key

    segments = split_key(key)
    if len(segments) not in (3, 4):
        raise click.BadParameter(
            f"{key!r} is not platform:workspace:channel or platform:workspace:channel:thread"
        )
    channel = ChannelRef(platform=segments[0], workspace=segments[1], channel=segments[2])
    return conversation_id_of(
        Place(channel=channel, thread=segments[3] if len(segments) == 4 else None)
    )
