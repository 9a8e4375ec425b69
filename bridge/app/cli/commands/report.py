"""`uacs-bridge report`: what a room decided: refusals, agents chosen, what was hidden, tools that
were allowed."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bridge.app.cli.commands.options import config_option, json_option, seconds_of, settings_from
from bridge.app.printing import heading, nothing, print_json, printable, table, when

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bridge.model import ActorId, ChannelRef, RoomId
    from bridge.ports.store.whole import Store

_DAY = 86_400.0


@click.command("report")
@click.argument("room")
@click.option("--since", metavar="TIME", help="From this time on; else of the last 7 days.")
@click.option("--limit", default=200, type=click.IntRange(1), show_default=True,
              help="The number of decisions of each kind, the newest ones.")  # fmt: skip
@config_option
@json_option
def command(room: str, since: str | None, limit: int, config: Path, as_json: bool) -> None:
    """Tell what a room decided, and why.

    It lists who is and was in the room, what was not admitted, which agents answered and why they
    were chosen, what policies hid, which calls of tools people allowed, and the sources that
    answers name. It has no texts of people. In a channel, `@bridge why` as a reply to an agent's
    answer tells the same of that answer.

    \b
    Examples:
      uacs-bridge report general
      uacs-bridge report general --since 2026-11-01 --json
    """
    report = asyncio.run(_report(config, room, seconds_of("--since", since), limit))
    if as_json:
        print_json(report)
    else:
        click.echo("\n".join(_lines(report)))


async def _report(config: Path, room: str, since: float | None, limit: int) -> dict[str, Any]:
    import time

    from bridge.app.cli.commands.stores import note_access, reading
    from bridge.errors import StoreError
    from bridge.model import RoomId
    from bridge.router.turns.reasons import reasons_of

    settings = settings_from(config)
    begin = time.time() - 7 * _DAY if since is None else since
    async with reading(settings.store) as store:
        note_access(settings.store.path, config, "report", room=room)
        rooms = {t.name: t.id for t, _ in await store.conversations() if t.kind == "room"}
        if room not in rooms:
            names = ", ".join(sorted(rooms)) or "none"
            raise StoreError(f"Nothing was said in a room {room!r} yet; there are: {names}")
        conversation = await store.conversation(rooms[room], newest=1)
        ours = (conversation.metadata or {}).get("uacs_bridge")
        members: Any = ours.get("memberships", []) if isinstance(ours, dict) else []

        async def name_of(actor: ActorId) -> str:
            person = await store.person(actor)
            return person.name if person is not None else actor

        room_id = RoomId(room)
        turns = await store.turns_of_room(room_id, since=begin, limit=limit)
        answers = [
            {"at": turn.asked, "turn": turn.id, **asdict(await reasons_of(store, turn, name_of))}
            for turn in turns
        ]
        refused = await store.refused_events(_channels(members), since=begin, limit=limit)
        return {
            "room": room,
            "since": begin,
            "members": members,
            "refused": [asdict(event) for event in refused],
            "answers": answers,
            "approvals": await _approvals(store, room_id, begin, limit),
        }


def _channels(members: Sequence[Mapping[str, Any]]) -> Sequence[ChannelRef]:
    from bridge.model import ChannelRef, split_key

    keys = [split_key(str(one.get("member", ""))) for one in members]
    return [
        ChannelRef(platform=key[0], workspace=key[1], channel=key[2])
        for key in keys
        if len(key) == 3
    ]


async def _approvals(store: Store, room: RoomId, since: float, limit: int) -> list[dict[str, Any]]:
    return [
        {
            "at": one.created, "tool": one.tool, "agent": one.agent, "asker": one.asker,
            "state": one.state,
            "decisions": [
                {"by": by.actor, "allowed": by.allowed, "at": by.at} for by in one.decisions
            ],
        }
        for one in reversed(await store.approvals(room=room, newest=limit))
        if one.created >= since
    ]  # fmt: skip


def _lines(report: Mapping[str, Any]) -> list[str]:
    lines = [heading(f"{report['room']} since {when(report['since'])}"), ""]
    members = [
        (printable(str(one.get("name") or one.get("member"))), str(one.get("joined") or "-"),
         str(one.get("left") or "-"))
        for one in report["members"]
    ]  # fmt: skip
    lines += [heading("Members"), table(("member", "since", "until"), members), ""]
    refused = [
        (when(one["at"]), one["channel"], one["kind"], printable(one["outcome"]))
        for one in report["refused"]
    ]
    none = nothing("refusals", "Everything that people and programs said was admitted.")
    lines += [heading("Not admitted")]
    lines += [table(("when", "channel", "what", "why"), refused, empty=none), ""]
    answers = [
        (when(one["at"]), one["agent"], printable(one["asker"]) or "-", one["chosen"] or "-",
         _ended(one), _hidden(one), _tools(one), str(len(one["sources"])))
        for one in report["answers"]
    ]  # fmt: skip
    heads = ("when", "agent", "asked by", "chosen because", "ended", "hidden", "tools", "sources")
    none = nothing("turns of agents", "Questions to agents appear here.")
    lines += [heading("Agents"), table(heads, answers, empty=none), ""]
    approvals = [
        (when(one["at"]), one["agent"], printable(one["tool"]), one["asker"], one["state"],
         ", ".join(by["by"] for by in one["decisions"]) or "-")
        for one in report["approvals"]
    ]  # fmt: skip
    heads = ("when", "agent", "tool", "for", "decided", "by")
    none = nothing("calls that needed leave", "Those of tools with `approve` appear here.")
    return [
        *lines,
        heading("Calls that somebody had to allow"),
        table(heads, approvals, empty=none),
    ]


def _ended(answer: Mapping[str, Any]) -> str:
    if answer["answered"]:
        return "answered"
    return printable(answer["ended"]) or "no answer"


def _hidden(answer: Mapping[str, Any]) -> str:
    parts = [f"in {answer['hidden']} messages"] if answer["hidden"] else []
    parts += ["in the answer"] if answer["changed"] else []
    return ", ".join(parts) or "-"


def _tools(answer: Mapping[str, Any]) -> str:
    named = [f"{name} ({how})" if how else name for name, how in answer["tools"]]
    return printable(", ".join(named)) or "-"
