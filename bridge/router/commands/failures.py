"""The command `retry`: messages of a channel that did not arrive elsewhere."""

from __future__ import annotations

from bridge.router.commands.command import Command, CommandCall
from bridge.router.outbound.failures import DeliveryFailures


def failure_commands(failures: DeliveryFailures) -> tuple[Command, ...]:
    async def retry(call: CommandCall) -> str:
        count = await failures.retry_in(call.room, call.place.channel)
        if not count:
            return "There is nothing to try again."
        return f"Tried again: {count} {'message' if count == 1 else 'messages'}."

    return (
        Command("retry", "try again what did not arrive", retry, everybody=True, whispered=True),
    )
