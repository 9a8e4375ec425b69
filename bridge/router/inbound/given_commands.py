"""Commands and pairing codes among the events of a channel: they are answered, and not archived."""

from __future__ import annotations

from dataclasses import dataclass

from bridge.model import CommandGiven, MessagePosted
from bridge.router.commands.parser import Commands
from bridge.router.inbound.context import Planned, Received, ended
from bridge.router.turns.access import AgentAccess


@dataclass(frozen=True)
class AnswerSlashCommand:
    """Carries out a slash command."""

    commands: Commands

    async def __call__(self, received: Received) -> Received | Planned:
        if not isinstance(received.event, CommandGiven):
            return received
        return ended(await self.commands.answer_slash_command(received.event, received.key))


@dataclass(frozen=True)
class AnswerCommand:
    """Carries out a command that a message gives. It stands before admission, which refuses all
    messages where a room is paused."""

    commands: Commands

    async def __call__(self, received: Received) -> Received | Planned:
        if not isinstance(received.event, MessagePosted):
            return received
        outcome = await self.commands.answer_mention(received.event, received.key)
        return ended(outcome) if outcome else received


@dataclass(frozen=True)
class TakePairingCode:
    """A code that somebody gives in a direct message opens an agent to that person."""

    access: AgentAccess

    async def __call__(self, received: Received) -> Received | Planned:
        if not isinstance(received.event, MessagePosted):
            return received
        outcome = await self.access.hear_code(received.event)
        return ended(outcome) if outcome else received
