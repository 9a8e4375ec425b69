"""The commands `why` and `retry`: messages of a channel that did not arrive elsewhere."""

from __future__ import annotations

from bridge.router.commands.command import Command, CommandCall
from bridge.router.outbound.failures import DeliveryFailures

_MOST_LINES = 5  # messages that one answer lists


def failure_commands(failures: DeliveryFailures) -> tuple[Command, ...]:
    async def list_failures(call: CommandCall) -> str:
        undelivered = await failures.undelivered_in(call.room, call.place.channel)
        lines = [line for _, line in undelivered[:_MOST_LINES]]
        if more := len(undelivered) - len(lines):
            lines.append(f"And {more} more.")
        return "\n".join(lines) or "All messages of this channel have arrived, or are on their way."

    async def retry(call: CommandCall) -> str:
        count = await failures.retry_in(call.room, call.place.channel)
        if not count:
            return "There is nothing to try again."
        return f"Tried again: {count} {'message' if count == 1 else 'messages'}."

    return (
        Command(
            "why", "what did not arrive, and why", list_failures, everybody=True, whispered=True
        ),
        Command("retry", "try that again", retry, everybody=True, whispered=True),
    )
