"""Commands that people give in a channel: `@bridge status`, or `/bridge status` where there are
slash commands. COMMANDS is all of them.

What does not read as a whole as one of them is an ordinary message: people also talk to agents.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

import structlog

from bridge.content.markdown import text_to_markdown
from bridge.content.markdown.mentions import mentioned_actors
from bridge.content.text.tree import Break, Inline, Paragraph, Text
from bridge.errors import BridgeError
from bridge.model import AccountId, ActorId, CommandGiven, Level, MessagePosted, Place, split_key
from bridge.model.room_records import Ban
from bridge.router.commands.direct import direct_command, is_direct_command
from bridge.router.commands.hand_over import give_back, hand_over, is_admin, take_over
from bridge.router.commands.targets import person_meant, reads_as_person
from bridge.router.inbound.context import Passage, Surroundings
from bridge.router.outbound.notices import notice_id
from bridge.router.rooms.rooms import Member, Room
from bridge.uacs import TextPart

log = structlog.get_logger()

_MENTION = re.compile(r"^\s*(?:\[@[^\]\n]{0,200}\]\(<?uacs:actor/[^)\n]{1,300}\)[\s,:]*)+")
_CHANNEL = re.compile(r"\[#([^\]\s]{0,200})\]\(<?uacs:channel/([^)>\s]{1,300})>?\)")
_LONGEST = 500  # characters of a command
_MOST_LOST = 5  # messages that did not arrive, of which one answer tells


@dataclass(frozen=True)
class Asked:
    """A command as it was given: `words` behind its name, with mentions as actor ids; `answers`
    is what the answer must name, where the platform waits for one; `key` names the delivery, and
    `private` says that nobody else could read the command."""

    actor: ActorId
    words: tuple[str, ...]
    place: Place
    room: Room
    member: Member
    key: str
    answers: str | None = None
    private: bool = False


@dataclass(frozen=True)
class Command:
    """`words`: how many may follow; `everybody`: not only admins may give it; `whispered`: its
    answer is for the asker alone, where that can be; `fits`: in a mention the words must be so,
    too. `run` gives the answer in plain words, a line each."""

    usage: str
    about: str
    run: Callable[[Asked, Surroundings], Awaitable[str]]
    words: range = range(1)
    everybody: bool = False
    whispered: bool = False
    fits: Callable[[Sequence[str]], bool] | None = None


async def hear_command(passage: Passage, around: Surroundings) -> str | None:
    """Before the gate, which is shut where a room is paused; only in channels of rooms."""
    event = passage.event
    if not isinstance(event, MessagePosted) or not event.addresses_us or event.author.bot:
        return None
    actor = event.author.id
    name, words = read_words(_said(event))
    rooms = around.rooms.hearing(event.account, event.place.channel)
    command = COMMANDS.get(name)
    if not rooms or command is None or len(words) not in command.words:
        return None
    if command.fits and not command.fits(words):
        return None
    member = rooms[0].member(event.place.channel)
    if member is None:
        return None
    asked = Asked(actor, words, event.place, rooms[0], member, passage.row.raw.dedupe_key)
    answer = await _answer(command, asked, around)
    private = command.whispered and _can_whisper(asked, around)
    await _say(asked, answer, passage.row.raw.dedupe_key, around, private=private)
    return f"command: {name}"


async def hear_slash_command(passage: Passage, around: Surroundings) -> str | None:
    """As `hear_command`, but it is never an ordinary message: every one is answered."""
    event = passage.event
    if not isinstance(event, CommandGiven):
        return None
    name, words = read_words(event.text)
    name = name or "help"
    rooms = around.rooms.hearing(event.account, event.place.channel)
    member = rooms[0].member(event.place.channel) if rooms else None
    command = COMMANDS.get(name)
    if member is None:
        return "command: no room"
    key = passage.row.raw.dedupe_key
    asked = Asked(
        event.actor, words, event.place, rooms[0], member, key, event.answers, private=True
    )
    if command is None or len(words) not in command.words:
        usage = f"; it is {command.usage!r}" if command else ""
        answer = f"{name!r} is no command in this form{usage}. To list them: {event.command} help"
    else:
        answer = await _answer(command, asked, around)
    private = _can_whisper(asked, around)
    await _say(asked, answer, passage.row.raw.dedupe_key, around, private=private)
    return f"command: {name}" if command else "command: not known"


async def _answer(command: Command, asked: Asked, around: Surroundings) -> str:
    if not command.everybody and not is_admin(asked.actor, around.admins):
        return f"Only admins of this bridge may do that. You are {asked.actor}"
    try:
        answer = await command.run(asked, around)
    except BridgeError as error:
        log.info("command_failed", command=command.usage.split()[0], error=str(error))
        return error.public
    log.info("command_given", command=command.usage.split()[0], by=asked.actor, room=asked.room.id)
    return answer


def _said(event: MessagePosted) -> str:
    """The words behind our name; empty where it is not one short text."""
    first = event.message.content[0]
    if len(event.message.content) > 1 or not isinstance(first, TextPart):
        return ""
    if len(first.text) > _LONGEST:
        return ""
    return _MENTION.sub("", first.text, count=1)


def read_words(text: str) -> tuple[str, tuple[str, ...]]:
    """The command's name, and what follows it: mentions as ids of actors, channels `KEY#NAME`."""
    for actor in mentioned_actors(text):
        link = re.compile(r"\[@[^\]\n]{0,200}\]\(<?uacs:actor/" + re.escape(actor) + r">?\)")
        text = link.sub(lambda _, known=actor: known, text)
    text = _CHANNEL.sub(lambda found: f"{unquote(found[2])}#{found[1]}", text)
    name, *words = text.split() or [""]
    return name.casefold().lstrip("/!"), tuple(words)


async def _say(asked: Asked, answer: str, key: str, around: Surroundings, *, private: bool) -> None:
    """In the channel alone where it was asked; `private`: to the asker alone."""
    lines: list[Inline] = []
    for line in answer.split("\n"):
        lines += [Break(), Text(line)] if lines else [Text(line)]
    await around.notices.say(
        notice_id("answer", asked.place.channel.key, key),
        text_to_markdown((Paragraph(tuple(lines)),)),
        asked.room.id,
        [asked.member],
        to=asked.actor if private else None,
        answers=asked.answers,
    )


def _can_whisper(asked: Asked, around: Surroundings) -> bool:
    if asked.answers:
        return True
    connector = around.connectors.get(asked.member.account)
    features = connector.capabilities.features if connector else {}
    return features.get("whispers", Level.DROPPED) in (Level.FULL, Level.PARTIAL)


# --- the commands ---------------------------------------------------------------------------


async def _help(asked: Asked, around: Surroundings) -> str:
    admin = is_admin(asked.actor, around.admins)
    shown = [one for one in COMMANDS.values() if one.everybody or admin]
    return "\n".join(f"{one.usage} — {one.about}" for one in shown)


async def _status(asked: Asked, around: Surroundings) -> str:
    room = asked.room
    others = [around.rooms.name_of(m.channel) for m in room.members if m != asked.member]
    lines = [f"Room {room.id}: bridged to {', '.join(others) or 'nothing else'}; archived."]
    if room.agents:
        lines.append(f"Agents: {', '.join(seat.agent for seat in room.agents)}")
    if paused := around.decided.paused(room.id):
        lines.append(f"Paused: {paused.why}")
    status = await around.store.status()
    lanes = {member.channel.lane: member for member in room.members}
    for lane in status.lanes:
        if lane.waiting and lane.lane in lanes:
            name = around.rooms.name_of(lanes[lane.lane].channel)
            lines.append(f"{name}: {lane.waiting} waiting")
    return "\n".join(lines)


async def _pause(asked: Asked, around: Surroundings) -> str:
    await around.decided.pause(asked.room.id, f"by {asked.actor}", asked.actor)
    return 'This room is paused: nothing is carried until an admin says "resume".'


async def _resume(asked: Asked, around: Surroundings) -> str:
    was = await around.decided.resume(asked.room.id)
    around.loops.forget(asked.room.id)
    return "This room goes on." if was else "This room was not paused."


async def _block(asked: Asked, around: Surroundings) -> str:
    actor = await person_meant(asked.words, asked.room, around.store)
    await around.decided.bar(actor, "blocked", asked.actor, asked.room.id)
    return f"{actor} is blocked in this room."


async def _unblock(asked: Asked, around: Surroundings) -> str:
    actor = await person_meant(asked.words, asked.room, around.store)
    done = await around.decided.unbar(actor, "blocked", asked.room.id)
    return f"{actor} is not blocked any more." if done else f"{actor} was not blocked here."


async def _optout(asked: Asked, around: Surroundings) -> str:
    await around.decided.bar(asked.actor, "opted_out", asked.actor, None)
    return 'What you say is neither carried nor kept from now on. "optin" takes it back.'


async def _optin(asked: Asked, around: Surroundings) -> str:
    done = await around.decided.unbar(asked.actor, "opted_out", None)
    return "What you say is carried and kept again." if done else "You had not opted out."


async def _blocked(asked: Asked, around: Surroundings) -> str:
    here: list[Ban] = [
        one for one in around.decided.barred()
        if one.why == "blocked" and one.room in (None, asked.room.id)
    ]  # fmt: skip
    return "\n".join(one.actor for one in here) or "Nobody is blocked here."


async def _me(asked: Asked, around: Surroundings) -> str:
    """Everybody who reads a code could take the account that it was made for: it is whispered, or
    not made at all. Giving it may be seen by all, for then it is used up."""
    if asked.words:
        await around.linking.finish_link(asked.actor, asked.words[0])
        return "Your accounts are one person's now: a mention of one is a mention of the other."
    if not _can_whisper(asked, around):
        return (
            "Nobody can be whispered to here. Ask for a code elsewhere, and give it here: me CODE"
        )
    code = await around.linking.begin_link(asked.actor)
    return f"Say this on another platform within 10 minutes, to nobody but me: me {code}"


async def _why(asked: Asked, around: Surroundings) -> str:
    lost = await around.told.lost_in(asked.room, asked.place.channel)
    lines = [line for _, line in lost[:_MOST_LOST]]
    if more := len(lost) - len(lines):
        lines.append(f"And {more} more.")
    return "\n".join(lines) or "All that was said here has arrived, or is on its way."


async def _retry(asked: Asked, around: Surroundings) -> str:
    count = await around.told.retry_in(asked.room, asked.place.channel)
    if not count:
        return "There is nothing to try again."
    return f"Tried again: {count} {'message' if count == 1 else 'messages'}."


async def _direct(asked: Asked, around: Surroundings) -> str:
    account, room = asked.member.account, asked.room.id
    return await direct_command(
        asked.actor, account, room, asked.words, asked.key, around, private=asked.private
    )


async def _link(asked: Asked, around: Surroundings) -> str:
    account, channel = asked.words
    meant = _channel_meant(account, channel, around)
    return await around.linker().link(asked.room.id, account, meant, asked.actor)


def _channel_meant(account: str, channel: str, around: Surroundings) -> str:
    """A mention is made where it is typed, also of a channel that is called so elsewhere."""
    key, _, name = channel.partition("#")
    if key.count(":") != 2:
        return channel
    platform, *_, own_id = split_key(key)
    connector = around.connectors.get(AccountId(account))
    here = connector is not None and connector.capabilities.platform == platform
    return own_id if here else f"#{name}"


async def _unlink(asked: Asked, around: Surroundings) -> str:
    return await around.linker().unlink(asked.room.id, asked.member, asked.actor)


async def _take_over(asked: Asked, around: Surroundings) -> str:
    return await take_over(asked.room, asked.actor, asked.place, asked.words, around)


async def _give_back(asked: Asked, around: Surroundings) -> str:
    return await give_back(asked.room, asked.actor, asked.place, asked.words, around)


async def _hand_over(asked: Asked, around: Surroundings) -> str:
    return await hand_over(asked.room, asked.actor, asked.place, asked.words, around)


COMMANDS: Mapping[str, Command] = {
    "help": Command("help", "what you may ask for", _help, everybody=True),
    "status": Command("status", "what this channel is bridged to", _status, everybody=True),
    "optout": Command("optout", "have nothing of yours carried", _optout, everybody=True),
    "optin": Command("optin", "take that back", _optin, everybody=True),
    "me": Command(
        "me [CODE]",
        "link your accounts: ask for a code, give it elsewhere",
        _me,
        range(2),
        everybody=True,
        whispered=True,
    ),
    "take-over": Command(
        "take-over [@PERSON]",
        "agents are silent here, or to this person, until give-back",
        _take_over,
        range(2),
        everybody=True,
    ),
    "give-back": Command(
        "give-back [@PERSON]", "agents answer again", _give_back, range(2), everybody=True
    ),
    "hand-over": Command(
        "hand-over AGENT [@PERSON]",
        "another agent answers here, or to this person, until give-back",
        _hand_over,
        range(1, 3),
        everybody=True,
    ),
    "why": Command("why", "what did not arrive, and why", _why, everybody=True, whispered=True),
    "retry": Command("retry", "try that again", _retry, everybody=True, whispered=True),
    "dm": Command(
        "dm on|off|@PERSON WORDS",
        "write to somebody on another platform, or have them write to you",
        _direct,
        range(501),
        everybody=True,
        whispered=True,
        fits=is_direct_command,
    ),
    "pause": Command("pause", "carry nothing in this room", _pause),
    "resume": Command("resume", "go on", _resume),
    "block": Command(
        "block @PERSON", "admit nothing of theirs here", _block, range(1, 6), fits=reads_as_person
    ),
    "unblock": Command(
        "unblock @PERSON", "admit them again", _unblock, range(1, 6), fits=reads_as_person
    ),
    "blocked": Command("blocked", "who is blocked here", _blocked),
    "link": Command("link ACCOUNT #CHANNEL", "take a channel into this room", _link, range(2, 3)),
    "unlink": Command("unlink", "take this channel out of its room", _unlink),
}
