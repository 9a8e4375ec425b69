"""`uacs-bridge rooms`: configured rooms, and what the store has of them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bridge.app.cli.commands.options import config_option, json_option, settings_from
from bridge.app.printing import heading, many, nothing, print_json, table

if TYPE_CHECKING:
    from bridge.app.settings.rooms import MemberSettings
    from bridge.ports.store.whole import Store

_ARROWS = {"in": "-> room", "out": "<- room", "both": "<-> room"}


@click.command("rooms")
@config_option
@json_option
def command(config: Path, as_json: bool) -> None:
    """List the rooms with their channels and agents.

    \b
    Examples:
      uacs-bridge rooms -c bridge.yaml
      uacs-bridge rooms --json
    """
    rooms = asyncio.run(_facts(config))
    if as_json:
        print_json(rooms)
    else:
        click.echo("\n".join(_lines(rooms)))


async def _facts(config: Path) -> dict[str, Any]:
    from bridge.app.cli.commands.stores import reading

    settings = settings_from(config)
    conversations: dict[str, tuple[str, int]] = {}
    names: dict[tuple[str, int], str] = {}
    if settings.store.url is not None or settings.store.path.exists():
        async with reading(settings.store) as store:
            conversations = {
                timeline.name: (str(timeline.id), count)
                for timeline, count in await store.conversations()
                if timeline.kind == "room"
            }
            names = {
                (name, index): await _name(member, store)
                for name, room in settings.rooms.items()
                for index, member in enumerate(room.members)
            }
    return {
        name: {
            "conversation": conversations.get(name, (None, 0))[0],
            "messages": conversations.get(name, (None, 0))[1],
            "members": [
                {**member.model_dump(), "name": names.get((name, index), "")}
                for index, member in enumerate(room.members)
            ],
            "agents": [membership.model_dump() for membership in room.agents],
        }
        for name, room in settings.rooms.items()
    }


async def _name(member: MemberSettings, store: Store) -> str:
    """The channel's name, if the bridge has looked it up."""
    from bridge.app.rooms.channel_lookup import remembered_channel, remembered_name

    if member.is_pattern:
        return ""
    key = await remembered_channel(member, store)
    return await remembered_name(key, [member.account], store) if key else ""


def _channel(member: Mapping[str, Any]) -> str:
    """The channel as configured; an id with its name."""
    channel, name = str(member["channel"]), str(member["name"])
    plain = channel.removeprefix("#").casefold()
    return f"{channel} (#{name})" if name and plain != name.casefold() else channel


def _lines(rooms: Mapping[str, Any]) -> Iterator[str]:
    if not rooms:
        yield nothing("rooms yet", "Write them under `rooms` in the configuration.")
    for name, room in rooms.items():
        yield heading(name)
        if room["conversation"]:
            yield f"  {many(room['messages'], 'message')}, conversation {room['conversation']}"
        else:
            yield "  nothing was said yet"
        yield table(
            ("account", "channel", "workspace", "flow"),
            [
                (m["account"], _channel(m), m["workspace"] or "-", _ARROWS[m["flow"]])
                for m in room["members"]
            ],
        )
        for membership in room["agents"]:
            yield f"  agent @{membership['agent']}, listens to {membership['listen']}"
        yield ""
