"""Events for the bridge itself: direct messages to our bot, commands and pairing codes.

A direct message goes to the person whose message it answers, or is a command. Where agents answer
in direct messages, too, all other direct messages are for them. Commands and codes are answered,
and not archived.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import structlog

from bridge.content.markdown import text_to_markdown
from bridge.errors import BridgeError
from bridge.model import CommandGiven, Event, MessagePosted, split_key
from bridge.model.room_records import DirectEnd
from bridge.ports.store.messages import MessageStore
from bridge.router.commands.direct_messages import DirectCommand
from bridge.router.commands.parser import Commands, in_lines, read_words
from bridge.router.inbound.context import Planned, Received, ended
from bridge.router.outbound.notices import Notices, notice_id
from bridge.router.rooms.bans import BansAndPauses
from bridge.router.rooms.codes import pairing_code_in
from bridge.router.rooms.direct_messages import DirectMessages
from bridge.router.rooms.rooms import Member, Room, Rooms
from bridge.router.turns.access import AgentAccess
from bridge.uacs import TextPart

log = structlog.get_logger()

_DIRECT_HELP = (
    "To whom? Answer one of their messages (as a reply, or in its thread), or begin with "
    '"dm @NAME".'
)


@dataclass(frozen=True)
class AnswerDirectCommand:
    """Carries out the command `dm` where somebody who accepts direct messages gives it to our bot
    alone."""

    directs: DirectMessages
    command: DirectCommand
    notices: Notices

    async def __call__(self, received: Received) -> Received | Planned:
        event = received.event
        end = self.directs.end_at(event.account, event.place.channel)
        if end is None:
            return received
        match event:
            case CommandGiven():
                return ended(await self._run(event.text, end, received.key))
            case MessagePosted():
                if split_key(event.author.id)[-1] != split_key(end.actor)[-1]:
                    return ended("direct: another's")
                text = _only_text(event)
                if read_words(text)[0] != "dm":
                    return received
                return ended(await self._run(text, end, received.key))
            case _:
                return received

    async def _run(self, text: str, end: DirectEnd, key: str) -> str:
        name, words = read_words(text)
        if name != "dm":
            usage = "Here it is: dm on, dm off, or dm @NAME and what to say."
            await _post(self.notices, end, usage, key)
            return "command: not known"
        try:
            answer = await self.command.run(end.actor, end.account, end.room, words, key)
        except BridgeError as error:
            log.info("command_failed", command="dm", error=str(error))
            answer = error.public
        await _post(self.notices, end, answer, key)
        return "command: dm"


@dataclass(frozen=True)
class CarryDirectMessage:
    """Gives an event of direct messages to the room of the two people whom it concerns."""

    store: MessageStore
    directs: DirectMessages
    rooms: Rooms
    bans: BansAndPauses
    notices: Notices

    async def __call__(self, received: Received) -> Received | Planned:
        event = received.event
        end = self.directs.end_at(event.account, event.place.channel)
        if end is None:
            return received
        if isinstance(event, MessagePosted):
            return await self._carry(received, event, end)
        rooms = await self._rooms_of(event, end)
        if not rooms and not self.rooms.receiving_from(event.account, event.place.channel):
            return ended("direct: it is nobody else's")
        return replace(received, rooms=rooms)

    async def _carry(
        self, received: Received, event: MessagePosted, end: DirectEnd
    ) -> Received | Planned:
        with_agents = bool(self.rooms.receiving_from(event.account, event.place.channel))
        partner = await self._partner(event, end, alone=not with_agents)
        room = self.directs.room_of(end.actor, partner.actor) if partner else None
        if with_agents and room is None:
            return received
        if partner is None or room is None:
            await _post(self.notices, end, _DIRECT_HELP, received.key)
            return ended("direct: to nobody")
        shared = self.directs.shared_room(end.actor, partner.actor)
        if shared and (refusal := self.bans.refuses_actor(end.actor, shared)):
            return ended(f"not admitted: {refusal}")
        audience = (end.actor, partner.actor)
        event = _by(event, end).model_copy(update={"audience": audience, "addresses_us": False})
        return replace(received, event=event, rooms=(room,), direct=room)

    async def _partner(
        self, event: MessagePosted, end: DirectEnd, *, alone: bool
    ) -> DirectEnd | None:
        """The author of the message that this one answers. Where they and our bot are `alone`, a
        message that answers none is for the only person with whom its author ever wrote."""
        answered = event.reply_to or event.place.thread
        if answered is None:
            partners = self.directs.partners(end.actor) if alone else ()
            return partners[0] if len(partners) == 1 else None
        message_id = await self.store.resolve(event.place.channel, answered)
        for post in await self.store.posts_of(message_id) if message_id else ():
            if partner := self.directs.partner(post.room, end.actor):
                return partner
        return None

    async def _rooms_of(self, event: Event, end: DirectEnd) -> tuple[Room, ...]:
        """The two people in whose messages it happened; of an event about many messages: all."""
        target = getattr(event, "target", None)
        if target is None:
            return tuple(self.directs.rooms_at(end))
        message_id = await self.store.resolve(event.place.channel, target)
        posts = await self.store.posts_of(message_id) if message_id else ()
        rooms = (self.directs.find(post.room) for post in posts)
        return tuple({room.id: room for room in rooms if room is not None}.values())


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
        event = received.event
        if not isinstance(event, MessagePosted) or not event.addresses_us or event.author.bot:
            return received
        outcome = await self.commands.answer_mention(event, received.key)
        return ended(outcome) if outcome else received


@dataclass(frozen=True)
class TakePairingCode:
    """Pairs the author of a direct message that is a pairing code with the code's agent."""

    access: AgentAccess

    async def __call__(self, received: Received) -> Received | Planned:
        event = received.event
        if not isinstance(event, MessagePosted) or event.author.bot:
            return received
        code = pairing_code_in(event.message)
        outcome = None if code is None else await self.access.use_code(event, code)
        return ended(outcome) if outcome else received


def _by(event: MessagePosted, end: DirectEnd) -> MessagePosted:
    """The event under the id that its author has elsewhere: direct messages may have no server."""
    author = event.author.model_copy(update={"id": end.actor})
    actor = event.message.actor.model_copy(update={"id": end.actor})
    message = event.message.model_copy(update={"actor": actor})
    return event.model_copy(update={"author": author, "message": message})


def _only_text(event: MessagePosted) -> str:
    first = event.message.content[0]
    alone = len(event.message.content) == 1
    return first.text.strip() if alone and isinstance(first, TextPart) else ""


async def _post(notices: Notices, end: DirectEnd, text: str, key: str) -> None:
    """The bridge's own words, to this person alone."""
    await notices.post(
        notice_id("answer", end.channel.key, key),
        text_to_markdown(in_lines(text)),
        end.room,
        [Member(end.account, end.channel)],
    )
