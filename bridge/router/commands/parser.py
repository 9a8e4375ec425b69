"""Commands that people give in a channel: `@bridge status`, or `/bridge status` where there are
slash commands. A mention that is not as a whole a command is an ordinary message: people also talk
to agents.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import unquote

import structlog

from bridge.content.markdown import text_to_markdown
from bridge.content.markdown.mentions import mentioned_actors
from bridge.content.text.tree import Break, Document, Inline, Paragraph, Text
from bridge.errors import BridgeError
from bridge.model import AccountId, CommandGiven, MessagePosted
from bridge.ports.connector import Connector
from bridge.router.commands.command import Command, CommandCall, is_admin
from bridge.router.outbound.notices import Notices, notice_id
from bridge.router.rooms.features import has_whispers
from bridge.router.rooms.rooms import Member, Rooms
from bridge.uacs import TextPart

log = structlog.get_logger()

_MENTION = re.compile(r"^\s*(?:\[@[^\]\n]{0,200}\]\(<?uacs:actor/[^)\n]{1,300}\)[\s,:]*)+")
_CHANNEL = re.compile(r"\[#([^\]\s]{0,200})\]\(<?uacs:channel/([^)>\s]{1,300})>?\)")
_LONGEST = 500  # characters of a command


class Commands:
    """All commands: reads what people give, carries it out and answers in the channel."""

    def __init__(
        self,
        commands: Iterable[Command],
        rooms: Rooms,
        connectors: Mapping[AccountId, Connector],
        notices: Notices,
        admins: Sequence[str],
    ) -> None:
        """`help` is added to the `commands`; it lists them in this order, those for admins last."""
        self._rooms = rooms
        self._connectors = connectors
        self._notices = notices
        self._admins = admins
        listed = [Command("help", "what you may ask for", self._help, everybody=True), *commands]
        listed.sort(key=lambda command: not command.everybody)
        self.by_name: Mapping[str, Command] = {command.name: command for command in listed}
        self._by_former_name = {
            command.former_name: command for command in listed if command.former_name
        }

    async def answer_mention(self, event: MessagePosted, key: str) -> str | None:
        """Carry out the command that a message gives, in channels of rooms. Returns the outcome, or
        None for an ordinary message. `event` addresses our bot, and a person wrote it; `key` names
        the delivery."""
        name, words = read_words(_text_for_us(event))
        rooms = self._rooms.receiving_from(event.account, event.place.channel)
        command = self._command(name)
        if not rooms or command is None or len(words) not in command.words:
            return None
        if command.fits and not command.fits(words):
            return None
        member = rooms[0].member(event.place.channel)
        if member is None:
            return None
        call = CommandCall(
            event.author.id, words, event.place, rooms[0], member, key,
            can_whisper=self._can_whisper(member), replies_to=event.reply_to,
        )  # fmt: skip
        answer = await self._run(command, call) + _former_name_note(command, name)
        await self._post(call, answer, private=command.whispered and call.can_whisper)
        return f"command: {name}"

    async def answer_slash_command(self, event: CommandGiven, key: str) -> str:
        """As `answer_mention`, but no slash command is an ordinary message: each is answered."""
        name, words = read_words(event.text)
        name = name or "help"
        rooms = self._rooms.receiving_from(event.account, event.place.channel)
        member = rooms[0].member(event.place.channel) if rooms else None
        command = self._command(name)
        if member is None:
            return "command: no room"
        call = CommandCall(
            event.actor, words, event.place, rooms[0], member, key, event.answers, private=True,
            can_whisper=bool(event.answers) or self._can_whisper(member),
        )  # fmt: skip
        if command is None or len(words) not in command.words:
            usage = f"; it is {command.usage!r}" if command else ""
            answer = (
                f"{name!r} is no command in this form{usage}. To list them: {event.command} help"
            )
        else:
            answer = await self._run(command, call) + _former_name_note(command, name)
        await self._post(call, answer, private=call.can_whisper)
        return f"command: {name}" if command else "command: not known"

    def _command(self, name: str) -> Command | None:
        return self.by_name.get(name) or self._by_former_name.get(name)

    async def _run(self, command: Command, call: CommandCall) -> str:
        if not command.everybody and not is_admin(call.actor, self._admins):
            return f"Only admins of this bridge may do that. You are {call.actor}"
        try:
            answer = await command.run(call)
        except BridgeError as error:
            log.info("command_failed", command=command.name, error=str(error))
            return error.public
        log.info("command_given", command=command.name, by=call.actor, room=call.room.id)
        return answer

    async def _help(self, call: CommandCall) -> str:
        admin = is_admin(call.actor, self._admins)
        listed = [command for command in self.by_name.values() if command.everybody or admin]
        return "\n".join(f"{command.usage} — {command.about}" for command in listed)

    async def _post(self, call: CommandCall, answer: str, *, private: bool) -> None:
        """In the channel of the command; `private`: to the asker alone."""
        await self._notices.post(
            notice_id("answer", call.place.channel.key, call.key),
            text_to_markdown(in_lines(answer)),
            call.room.id,
            [call.member],
            to=call.actor if private else None,
            answers=call.answers,
        )

    def _can_whisper(self, member: Member) -> bool:
        return has_whispers(self._connectors, member.account)


def _former_name_note(command: Command, name: str) -> str:
    """A line that names the new name, for a command that was given by its former one."""
    return f'\n"{name}" is now called "{command.name}".' if name == command.former_name else ""


def _text_for_us(event: MessagePosted) -> str:
    """The words behind our name; empty where the message is not one short text."""
    first = event.message.content[0]
    if len(event.message.content) > 1 or not isinstance(first, TextPart):
        return ""
    if len(first.text) > _LONGEST:
        return ""
    return _MENTION.sub("", first.text, count=1)


def read_words(text: str) -> tuple[str, tuple[str, ...]]:
    """The command's name, and the words that follow it: mentions as ids of actors, channels as
    `KEY#NAME`."""
    for actor in mentioned_actors(text):
        link = re.compile(r"\[@[^\]\n]{0,200}\]\(<?uacs:actor/" + re.escape(actor) + r">?\)")
        text = link.sub(lambda _, actor_id=actor: actor_id, text)
    text = _CHANNEL.sub(lambda found: f"{unquote(found[2])}#{found[1]}", text)
    name, *words = text.split() or [""]
    return name.casefold().lstrip("/!").rstrip("?"), tuple(words)


def in_lines(text: str) -> Document:
    """Plain words as a text, each line of it in a line of its own."""
    inlines: list[Inline] = []
    for line in text.split("\n"):
        inlines += [Break(), Text(line)] if inlines else [Text(line)]
    return (Paragraph(tuple(inlines)),)
