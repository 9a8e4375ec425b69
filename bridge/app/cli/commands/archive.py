"""`uacs-bridge archive`: archived messages as UACS Conversations, and exports of any format."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

import click

from bridge.app.cli.commands import (
    archive_accesses,
    archive_ask,
    archive_backfill,
    archive_files,
    archive_keeping,
    archive_replay,
    archive_search,
    archive_stats,
    archive_verify,
)
from bridge.app.cli.commands.options import config_option, settings_from
from bridge.errors import StoreError

if TYPE_CHECKING:
    from bridge.model import ActorId
    from bridge.model.archive_records import View
    from bridge.ports.store.whole import Store


@click.group("archive")
def command() -> None:
    """Print, search, import, export and erase archived messages."""


for subcommand in (
    *archive_files.COMMANDS,
    archive_backfill.command,
    archive_replay.command,
    archive_search.command,
    archive_ask.command,
    archive_stats.command,
    *archive_keeping.COMMANDS,
    archive_verify.command,
    archive_accesses.command,
):
    command.add_command(subcommand)


@command.command("show")
@click.argument("room", required=False)
@config_option
@click.option("--newest", type=click.IntRange(1), help="Only this number of newest messages.")
@click.option("--channel", metavar="KEY", help="A channel's own conversation instead of a room's.")
@click.option(
    "--member", metavar="KEY", help="Only messages from the times when this member was in the room."
)
@click.option("--reader", metavar="WHO", help="Also messages to this person only.")
@click.option(
    "--tool-messages", is_flag=True, help="Results of tools as messages of the tool (role tool)."
)
@click.option(
    "--between", metavar="WHO WHO", nargs=2, help="The direct messages between two people (`dm`)."
)
def show(
    room: str | None,
    config: Path,
    newest: int | None,
    channel: str | None,
    member: str | None,
    reader: str | None,
    tool_messages: bool,
    between: tuple[str, str] | None,
) -> None:
    """Print a room's conversation as UACS, in JSON.

    ROOM is a room's name or a conversation's id. KEY is platform:workspace:channel, with :thread
    behind it for one thread, as `rooms` and `explain` print it; a member may also be agent:NAME.
    WHO is an actor's id (slack:T01:U01), a name, or a name on one platform (discord:Ann).

    What was said to some people alone is left out, unless a reader is one of them. What two people
    wrote to one another by `dm` is in no room: name the two.

    \b
    Examples:
      uacs-bridge archive show general --newest 20
      uacs-bridge archive show --channel slack:T0ACME:C0123
      uacs-bridge archive show general --member agent:helper
      uacs-bridge archive show --channel slack:T0ACME:C0123 --reader slack:T0ACME:U0ANN
      uacs-bridge archive show --between slack:Ann discord:Bob
    """
    if between:
        if room or channel or member or reader:
            raise click.UsageError(
                "--between permits no other option: it names all who may read the messages"
            )
        click.echo(asyncio.run(_between(config, between, newest, tool_messages=tool_messages)))
        return
    if (room is None) == (channel is None):
        raise click.UsageError("name a room, or a channel with --channel")
    if member is not None and room is None:
        raise click.UsageError("--member is of a room: name the room")
    whose = _conversation(
        config, room or "", channel, newest, member, reader, tool_messages=tool_messages
    )
    click.echo(asyncio.run(whose))


async def _conversation(
    config: Path,
    room: str,
    channel: str | None,
    newest: int | None,
    member: str | None,
    reader: str | None,
    *,
    tool_messages: bool,
) -> str:
    from bridge.app.cli.commands.stores import note_access, reading
    from bridge.model.archive_records import View

    settings = settings_from(config)
    async with reading(settings.store) as store:
        conversation_id = await _room(store, room) if channel is None else _channel(channel)
        facts = {"room": room, "channel": channel, "member": member, "reader": reader}
        note_access(settings.store.path, config, "show", newest=newest, **facts)
        readers = () if reader is None else await _accounts(store, reader)
        view = View(member=member, readers=readers)
        return await _conversation_json(
            store, conversation_id, newest, view, tool_messages=tool_messages
        )


async def _between(
    config: Path, two: tuple[str, str], newest: int | None, *, tool_messages: bool
) -> str:
    from bridge.app.cli.commands.find_person import find_person
    from bridge.app.cli.commands.stores import note_access, reading
    from bridge.model.archive_records import View
    from bridge.router.rooms.direct_messages import conversation_between

    settings = settings_from(config)
    async with reading(settings.store) as store:
        note_access(settings.store.path, config, "show", between=two, newest=newest)
        first, second = [await find_person(store, name) for name in two]
        conversation_id = conversation_between(first, second)
        view = View(readers=(first, second))
        return await _conversation_json(
            store, conversation_id, newest, view, tool_messages=tool_messages
        )


async def _conversation_json(
    store: Store, conversation_id: UUID, newest: int | None, view: View, *, tool_messages: bool
) -> str:
    from bridge.archive.additions import with_additions
    from bridge.content.messages.tool_messages import with_tool_messages
    from bridge.uacs import write

    conversation = await store.conversation(conversation_id, newest=newest, view=view)
    messages = await with_additions(store, conversation.messages)
    if tool_messages:
        messages = with_tool_messages(messages)
    whole = conversation.model_copy(update={"messages": messages})
    return json.dumps(json.loads(write(whole)), indent=2, ensure_ascii=False)


async def _accounts(store: Store, name_or_id: str) -> tuple[ActorId, ...]:
    """All linked accounts of this person."""
    from bridge.app.cli.commands.find_person import find_person

    actor = await find_person(store, name_or_id)
    return (
        actor,
        *(account.actor for account in await store.accounts_of(actor) if account.actor != actor),
    )


async def _room(store: Store, name: str) -> UUID:
    rooms = {t.name: t.id for t, _ in await store.conversations() if t.kind == "room"}
    if name in rooms:
        return rooms[name]
    try:
        return UUID(name)
    except ValueError:
        names = ", ".join(sorted(rooms)) or "none"
        raise StoreError(
            f"There are no messages in a room {name!r} yet; rooms with messages: {names}"
        ) from None


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
