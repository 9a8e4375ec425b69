"""`uacs-bridge rooms`: rooms as they are configured, with what the store has of them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from bridge.app.commands.options import config_option, json_option, settings_from
from bridge.app.commands.show import heading, print_json, table

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
    found = asyncio.run(_facts(config))
    if as_json:
        print_json(found)
    else:
        click.echo("\n".join(_lines(found)))


async def _facts(config: Path) -> dict[str, Any]:
    from bridge.app.commands.stores import reading

    settings = settings_from(config)
    kept: dict[str, tuple[str, int]] = {}
    if settings.store.path.exists():
        async with reading(settings) as store:
            kept = {
                timeline.name: (str(timeline.id), count)
                for timeline, count in await store.conversations()
                if timeline.kind == "room"
            }
    return {
        name: {
            "conversation": kept.get(name, (None, 0))[0],
            "messages": kept.get(name, (None, 0))[1],
            "members": [member.model_dump() for member in room.members],
            "agents": [seat.model_dump() for seat in room.agents],
        }
        for name, room in settings.rooms.items()
    }


def _lines(found: Mapping[str, Any]) -> Iterator[str]:
    if not found:
        yield "There are no rooms yet: write them under `rooms:` in the configuration."
    for name, room in found.items():
        yield heading(name)
        if room["conversation"]:
            yield f"  {room['messages']} messages, conversation {room['conversation']}"
        else:
            yield "  nothing was said yet"
        yield table(
            ("account", "channel", "workspace", "flow"),
            [
                (m["account"], m["channel"], m["workspace"] or "-", _ARROWS[m["flow"]])
                for m in room["members"]
            ],
        )
        for seat in room["agents"]:
            yield f"  agent @{seat['agent']}, listens to {seat['listen']}"
        yield ""
