"""The commands `why` and `retry`: messages of a channel that did not arrive elsewhere."""

from __future__ import annotations

from bridge.router.commands.command import Command, GivenCommand
from bridge.router.outbound.failures import DeliveryFailures

_MOST_LINES = 5  # of messages in one answer


def failure_commands(failures: DeliveryFailures) -> tuple[Command, ...]:
    async def why(given: GivenCommand) -> str:
        lost = await failures.lost_in(given.room, given.place.channel)
        lines = [line for _, line in lost[:_MOST_LINES]]
        if more := len(lost) - len(lines):
            lines.append(f"And {more} more.")
        return "\n".join(lines) or "All that was said here has arrived, or is on its way."

    async def retry(given: GivenCommand) -> str:
        count = await failures.retry_in(given.room, given.place.channel)
        if not count:
            return "There is nothing to try again."
        return f"Tried again: {count} {'message' if count == 1 else 'messages'}."

    return (
        Command("why", "what did not arrive, and why", why, everybody=True, whispered=True),
        Command("retry", "try that again", retry, everybody=True, whispered=True),
    )
