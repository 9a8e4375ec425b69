"""The command `status`: what a room is bridged to, and what waits."""

from __future__ import annotations

from bridge.ports.store.outbox import OutboxStore
from bridge.router.commands.command import Command, CommandCall
from bridge.router.rooms.bans import BansAndPauses
from bridge.router.rooms.rooms import Rooms


def status_commands(store: OutboxStore, rooms: Rooms, bans: BansAndPauses) -> tuple[Command, ...]:
    async def status(call: CommandCall) -> str:
        room = call.room
        others = [rooms.name_of(m.channel) for m in room.members if m != call.member]
        lines = [f"Room {room.id}: bridged to {', '.join(others) or 'nothing else'}; archived."]
        if room.agents:
            lines.append(f"Agents: {', '.join(membership.agent for membership in room.agents)}")
        if paused := bans.paused(room.id):
            lines.append(f"Paused: {paused.reason}")
        lanes = {member.channel.lane: member for member in room.members}
        for lane in await store.lanes_waiting():
            if lane.waiting and lane.lane in lanes:
                name = rooms.name_of(lanes[lane.lane].channel)
                lines.append(f"{name}: {lane.waiting} waiting")
        return "\n".join(lines)

    return (Command("status", "what this channel is bridged to", status, everybody=True),)
