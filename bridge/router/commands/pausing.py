"""The commands `pause` and `resume` of a room."""

from __future__ import annotations

from bridge.model import RoomId
from bridge.router.commands.command import Command, CommandCall
from bridge.router.rooms.bans import BansAndPauses
from bridge.router.signals import Signal


def pausing_commands(pauses: BansAndPauses, room_resumed: Signal[RoomId]) -> tuple[Command, ...]:
    async def pause(call: CommandCall) -> str:
        await pauses.pause(call.room.id, f"by {call.actor}", call.actor)
        return 'This room is paused: nothing is carried until an admin says "resume".'

    async def resume(call: CommandCall) -> str:
        was_paused = await pauses.resume(call.room.id)
        await room_resumed.emit(call.room.id)
        return "This room goes on." if was_paused else "This room was not paused."

    return (
        Command("pause", "carry nothing in this room", pause),
        Command("resume", "go on", resume),
    )
