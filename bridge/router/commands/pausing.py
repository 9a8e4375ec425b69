"""The commands `pause` and `resume` of a room."""

from __future__ import annotations

from bridge.model import RoomId
from bridge.router.commands.command import Command, GivenCommand
from bridge.router.rooms.bans import BansAndPauses
from bridge.router.signals import Signal


def pausing_commands(pauses: BansAndPauses, room_resumed: Signal[RoomId]) -> tuple[Command, ...]:
    async def pause(given: GivenCommand) -> str:
        await pauses.pause(given.room.id, f"by {given.actor}", given.actor)
        return 'This room is paused: nothing is carried until an admin says "resume".'

    async def resume(given: GivenCommand) -> str:
        was_paused = await pauses.resume(given.room.id)
        await room_resumed.emit(given.room.id)
        return "This room goes on." if was_paused else "This room was not paused."

    return (
        Command("pause", "carry nothing in this room", pause),
        Command("resume", "go on", resume),
    )
