"""Lines of a server, as `raws` wrapped them -> events. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from bridge.content.markdown import text_to_markdown
from bridge.content.text.plain import text_to_plain
from bridge.content.text.tree import Document
from bridge.errors import InvalidData, UndecodableEvent
from bridge.model import (
    ActionPressed,
    ActorId,
    ChannelClosed,
    ChannelRef,
    Event,
    Ignored,
    MemberJoined,
    MemberLeft,
    MessageDeleted,
    MessagePosted,
    OperationId,
    Person,
    Place,
    Raw,
    ReactionAdded,
    ReactionRemoved,
    TopicChanged,
    TypingStarted,
    Unknown,
    actor_id_of,
    message_id_of,
)
from bridge.uacs import Actor, Message, TextPart, to_timestamp
from connectors.irc import ids
from connectors.irc.bylines import is_bridged, without_gaps
from connectors.irc.text import from_action, irc_to_text

NETSPLIT, NETJOIN, PRESS = "NETSPLIT", "NETJOIN", "PRESS"
KINDS = (
    "PRIVMSG", "NOTICE", "TAGMSG", "REDACT", "JOIN", "PART", "QUIT", "KICK", "NICK", "TOPIC",
    "MODE", NETSPLIT, NETJOIN, PRESS,
)  # fmt: skip
NO_TEXT = "[message without text]"
_LATEST = 253_402_300_799  # seconds: the last moment of the year 9999


class LineData(BaseModel):
    """One line of the protocol."""

    model_config = ConfigDict(frozen=True)

    command: str = ""
    source: str = ""
    params: tuple[str, ...] = ()
    tags: dict[str, str] = {}

    @property
    def nick(self) -> str:
        return self.source.partition("!")[0]

    def param(self, index: int) -> str:
        return self.params[index] if index < len(self.params) else ""

    @property
    def last(self) -> str:
        return self.params[-1] if self.params else ""


class PressData(BaseModel):
    """A press of an action of a card."""

    model_config = ConfigDict(frozen=True)

    token: str
    target: str
    values: dict[str, JsonValue] = {}


class Wrapped(BaseModel):
    """A line with what was known when it came: `id` is its native id, `us` our nick, `people` the
    native actors of nicks that its text may address, `nicks` those of a netsplit."""

    model_config = ConfigDict(frozen=True)

    line: LineData
    at: float
    id: str = ""
    us: str = ""
    own: bool = False
    operation: str | None = None
    slot: int = 0
    account: str = ""
    people: dict[str, str] = {}
    nicks: tuple[str, ...] = ()
    press: PressData | None = None


class _Origin:
    """Where a line came from, and what was known of it."""

    def __init__(self, raw: Raw, channel: ChannelRef, wrapped: Wrapped) -> None:
        if not 0 <= wrapped.at <= _LATEST:
            raise ValueError(f"{wrapped.at} is no time")
        self.raw = raw
        self.wrapped = wrapped
        self.line = wrapped.line
        self.place = Place(channel=channel)
        self.time = datetime.fromtimestamp(wrapped.at, UTC)

    @property
    def account(self) -> str:
        return self.line.tags.get("account", "") or self.wrapped.account

    @property
    def actor(self) -> ActorId:
        return self.actor_of(ids.native_actor(self.line.nick, self.account))

    def actor_of(self, native: str) -> ActorId:
        return actor_id_of(ids.PLATFORM, self.place.channel.workspace, native)

    def ignored(self, reason: str) -> Event:
        return Ignored(account=self.raw.account, place=self.place, time=self.time, reason=reason)


def decode(raw: Raw) -> Sequence[Event]:
    """Raises UndecodableEvent when the payload is not what `raws` writes."""
    if raw.channel is None:
        raise UndecodableEvent(f"{raw.kind} names no channel; it cannot be placed")
    try:
        wrapped = Wrapped.model_validate_json(raw.payload)
        return [_event(_Origin(raw, raw.channel, wrapped))]
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        path = "/".join(str(step) for step in ("", *first["loc"]))
        raise UndecodableEvent(f"{raw.kind} {path or '/'}: {first['msg']}") from None
    except (InvalidData, ValueError, OverflowError) as error:
        raise UndecodableEvent(f"{raw.kind}: {error}") from None


def _event(origin: _Origin) -> Event:  # one flat match over the kinds
    match origin.raw.kind:
        case "PRIVMSG" | "NOTICE":
            return _posted(origin)
        case "TAGMSG":
            return _tagged(origin)
        case "REDACT":
            return MessageDeleted(
                account=origin.raw.account, place=origin.place, time=origin.time,
                actor=origin.actor, target=origin.line.param(1),
            )  # fmt: skip
        case "PRESS":
            return _pressed(origin)
        case "JOIN":
            return _joined(origin)
        case "PART" | "QUIT":
            return _left(origin, origin.actor)
        case "KICK":
            return _kicked(origin)
        case "NETSPLIT" | "NETJOIN":
            return _split(origin)
        case "TOPIC":
            topic = text_to_plain(irc_to_text(origin.line.last))
            return TopicChanged(
                account=origin.raw.account, place=origin.place, time=origin.time, topic=topic
            )
        case "NICK":
            return origin.ignored("somebody has another nick")
        case "MODE":
            return origin.ignored("a mode of the channel")
        case kind:
            return Unknown(
                account=origin.raw.account, place=origin.place, time=origin.time, kind=kind
            )


# --- messages ---------------------------------------------------------------------------------


def _posted(origin: _Origin) -> Event:
    line, wrapped = origin.line, origin.wrapped
    text, is_action = without_gaps(line.last), False
    if text.startswith("\x01"):
        command, _, words = text.strip("\x01").partition(" ")
        if command.upper() != "ACTION":
            return origin.ignored(f"CTCP {command[:20]}")
        text, is_action = words, True
    if not text.strip():  # blank lines of a message for clients that take no batches
        return origin.ignored("an empty line")
    people = {nick: origin.actor_of(native) for nick, native in wrapped.people.items()}
    document = irc_to_text(text, people)
    bot = "NOTICE" in (line.command, origin.raw.kind) or "bot" in line.tags or is_bridged(line.last)
    author = Person(id=origin.actor, name=line.nick or "?", bot=bot)
    native_id = wrapped.id or ids.made_id(int(wrapped.at * 1000), line.nick, line.last)
    return MessagePosted(
        account=origin.raw.account,
        place=origin.place,
        time=origin.time,
        native_id=native_id,
        message=_message(
            origin, native_id, author, from_action(document) if is_action else document
        ),
        author=author,
        reply_to=_answered(line),
        addresses_us=not wrapped.own and not bot and _addresses(origin, text),
        own=wrapped.own,
        operation=OperationId(wrapped.operation) if wrapped.operation else None,
        slot=wrapped.slot,
    )


def _message(origin: _Origin, native_id: str, author: Person, document: Document) -> Message:
    text = text_to_markdown(document) or NO_TEXT
    return Message(
        message_id=message_id_of(origin.place.channel, native_id),
        timestamp=to_timestamp(origin.time),
        actor=Actor(id=author.id, role="assistant" if author.bot else "human", name=author.name),
        content=(TextPart(text=text, format="markdown"),),
    )


def _answered(line: LineData) -> str | None:
    return line.tags.get("+reply") or line.tags.get("+draft/reply") or None


def _addresses(origin: _Origin, text: str) -> bool:
    """Whether the message is to our bot alone, or has its nick as a word of its own."""
    if ids.is_direct(origin.place.channel):
        return True
    us = origin.wrapped.us
    if not us:
        return False
    return bool(
        re.search(rf"(?<![\w@-]){re.escape(us)}(?![\w-])|@{re.escape(us)}(?![\w-])", text, re.I)
    )


def _tagged(origin: _Origin) -> Event:
    """A reaction, somebody typing, or a tag that nobody here knows."""
    tags, target = origin.line.tags, _answered(origin.line)
    for tag, kind in (("+draft/react", ReactionAdded), ("+draft/unreact", ReactionRemoved)):
        if (emoji := tags.get(tag)) and target:
            return kind(
                account=origin.raw.account, place=origin.place, time=origin.time,
                actor=origin.actor, target=target, emoji=emoji[:64], own=origin.wrapped.own,
            )  # fmt: skip
    if tags.get("+typing") == "active" or tags.get("+draft/typing") == "active":
        return TypingStarted(
            account=origin.raw.account, place=origin.place, time=origin.time,
            actor=origin.actor, own=origin.wrapped.own,
        )  # fmt: skip
    return origin.ignored("tags that are not shown")


def _pressed(origin: _Origin) -> Event:
    press = origin.wrapped.press
    if press is None:
        raise ValueError("it has no press")
    return ActionPressed(
        account=origin.raw.account, place=origin.place, time=origin.time, actor=origin.actor,
        target=press.target, token=press.token, native=origin.line.last, values=press.values,
    )  # fmt: skip


# --- who is there -----------------------------------------------------------------------------


def _joined(origin: _Origin) -> Event:
    if origin.wrapped.own:
        return origin.ignored("we joined")
    person = Person(id=origin.actor, name=origin.line.nick or "?")
    return MemberJoined(
        account=origin.raw.account, place=origin.place, time=origin.time, actor=person.id,
        person=person,
    )  # fmt: skip


def _left(origin: _Origin, actor: ActorId) -> Event:
    if origin.wrapped.own:
        return origin.ignored("we left")
    return MemberLeft(account=origin.raw.account, place=origin.place, time=origin.time, actor=actor)


def _kicked(origin: _Origin) -> Event:
    line = origin.line
    if origin.wrapped.own:
        reason = f"{line.nick} kicked our bot: {line.last}"[:300]
        return ChannelClosed(
            account=origin.raw.account, place=origin.place, time=origin.time, reason=reason
        )
    return _left(origin, origin.actor_of(ids.native_actor(line.param(1), origin.wrapped.account)))


def _split(origin: _Origin) -> Event:
    """A netsplit, or the return from one, is one event; its actor names the number of people."""
    count = len(origin.wrapped.nicks)
    actor = origin.actor_of(f"{ids.NETSPLIT} {count} {origin.line.last}")
    if origin.raw.kind == NETSPLIT:
        return _left(origin, actor)
    person = split_person(actor)
    return MemberJoined(
        account=origin.raw.account, place=origin.place, time=origin.time, actor=actor, person=person
    )


def split_person(actor: ActorId) -> Person | None:
    """`12 people (netsplit of a.example b.example)`; None for a real actor."""
    parts = ids.split_actor(actor)
    if parts is None or not parts[1].startswith(ids.NETSPLIT):
        return None
    count, _, servers = parts[1].removeprefix(ids.NETSPLIT).strip().partition(" ")
    people = "1 person" if count == "1" else f"{count} people"
    return Person(id=actor, name=f"{people} (netsplit of {servers})")
