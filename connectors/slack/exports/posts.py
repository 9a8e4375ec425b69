"""A message object of an export -> what an importer takes. The live decoder reads it.

Source: docs.slack.dev "Message object", its subtypes (2026-08); slack.com help "Read Slack export
files"; older forms as exports of 2016 have them (`file`, `comment`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import BinaryIO

from bridge.errors import InvalidData, UndecodableEvent
from bridge.model import AccountId, ActorId, ChannelRef, MessagePosted, Person, Raw
from bridge.model.export_records import (
    ExportedFile,
    ExportedMessage,
    ExportedPerson,
    ExportedReaction,
    ExportItem,
    NotUnderstood,
)
from bridge.runtime.json_stream import parsed
from connectors.slack import ids
from connectors.slack.cards.read_media import file_id
from connectors.slack.decode import POST_SUBTYPES, posted_message
from connectors.slack.emoji import reaction_to_emoji
from connectors.slack.exports.people import People
from connectors.slack.json_values import Json, object_at, objects_at, text_at, whole_at
from connectors.slack.payload import Payload

IMPORT = AccountId("import")
TOMBSTONE = "tombstone"
# Subtypes of what a person or an app says; Slack itself writes all others.
SPOKEN = POST_SUBTYPES | {
    "assistant_app_thread", "document_mention", "file_comment", "file_mention", "reply_broadcast",
    "slackbot_response",
}  # fmt: skip
_WORDS = {
    "channel_join": "joined the channel",
    "channel_leave": "left the channel",
    "group_join": "joined the channel",
    "group_leave": "left the channel",
    "channel_archive": "archived the channel",
    "channel_unarchive": "unarchived the channel",
    "channel_convert_to_private": "made the channel private",
    "channel_convert_to_public": "made the channel public",
    "channel_name": "renamed the channel",
    "channel_topic": "changed the topic of the channel",
    "channel_purpose": "changed the purpose of the channel",
    "pinned_item": "pinned a message",
    "bot_add": "added an integration",
    "bot_remove": "removed an integration",
    "reminder_add": "set a reminder",
    "huddle_thread": "started a huddle",
    TOMBSTONE: "This message was deleted.",
}
_DECODING = (ValueError, TypeError, OverflowError, RecursionError, InvalidData)


@dataclass(frozen=True)
class _Post(Payload):
    """A message of an export as the decoder takes it; its author is named by the list of people."""

    people: People = field(default_factory=People)

    def author(self, post: Json) -> Person:
        user, bot = text_at(post, "user"), text_at(post, "bot_id")
        known = self.people.person(self.team, user or bot) if user or bot else None
        if known is not None and not bot:
            return known
        person = super().author(post)
        if known is None or person.id != known.id:
            return person
        named = person.name != (user or bot)
        update = {"bot": True} if named else {"bot": True, "name": known.name}
        picture = person.picture or known.picture
        return person.model_copy(update={**update, "picture": picture})

    def addresses_us(self, post: Json) -> bool:
        """Nobody answers a message of an export."""
        del post
        return False


@dataclass
class ChannelPosts:
    """The messages of one channel in one part of an export.

    - `people`: all that the export lists; `listed`: whether an author was among the people before.
    - `pins`: the ts of pinned messages.
    - `file`: opens a file of the export by its Slack id; None if the export has no bytes of it.
    - `repeats`: it is normal that a message comes several times; the first one counts.
    """

    channel: ChannelRef
    people: People
    listed: Callable[[str], bool]
    pins: frozenset[str] = frozenset()
    file: Callable[[str], tuple[int, Callable[[], BinaryIO]] | None] = lambda _id: None
    repeats: bool = False
    _seen: set[str] = field(default_factory=set[str])
    _authors: set[ActorId] = field(default_factory=set[ActorId])

    def __post_init__(self) -> None:
        self._raw = Raw(
            account=IMPORT, kind="history", dedupe_key="export", order_key=ids.order_key_at(0),
            channel=self.channel, payload=b"",
        )  # fmt: skip

    def read(self, payload: bytes, where: str) -> Iterator[ExportItem]:
        """Yield the message of this JSON with what belongs to it, or a report."""
        try:
            post = parsed(payload)
        except ValueError as error:
            yield NotUnderstood(where, "message that is no JSON", str(error)[:200])
            return
        yield from self.items(post, payload, where)

    def items(self, post: object, payload: bytes, where: str) -> Iterator[ExportItem]:
        """Yield the message of this object with what belongs to it, or a report."""
        if not isinstance(post, dict):
            yield NotUnderstood(where, "message that is no object", type(post).__name__)
            return
        ts = text_at(post, "ts")
        if not ids.is_ts(ts):
            what = "message without time" if not post.get("ts") else "message with an invalid time"
            yield NotUnderstood(where, what, repr(post.get("ts"))[:40])
            return
        if ts in self._seen:
            if not self.repeats:
                yield NotUnderstood(where, "message that appears twice", ts)
            return
        self._seen.add(ts)
        try:
            posted = self._posted(post)
        except UndecodableEvent as error:
            yield NotUnderstood(where, "message that cannot be decoded", str(error)[:200])
            return
        except _DECODING as error:
            yield NotUnderstood(where, "message that cannot be decoded", type(error).__name__)
            return
        yield from self._author(posted.author, where)
        yield self._message(post, payload, posted)
        if post.get("reactions"):
            yield from _unlisted_reactions(post, where)

    def _posted(self, post: Json) -> MessagePosted:
        subtype = text_at(post, "subtype")
        said = post if subtype in POST_SUBTYPES and "file" not in post else _modern(post, subtype)
        team = self.channel.workspace
        posted = posted_message(_Post(self._raw, {}, said, team, None, self.people))
        if subtype in SPOKEN:
            return posted
        message = posted.message
        actor = message.actor.model_copy(update={"role": "system"})
        return posted.model_copy(update={"message": message.model_copy(update={"actor": actor})})

    def _author(self, author: Person, where: str) -> Iterator[ExportItem]:
        """A person who is not in the list, before their first message."""
        if author.id in self._authors:
            return
        self._authors.add(author.id)
        parts = ids.split_actor(author.id)
        native = parts[1] if parts else ""
        if parts and parts[2] is None and self.listed(native):
            return
        yield ExportedPerson(author)
        if author.name == native:
            yield NotUnderstood(where, "author who is not in the list of people", native)

    def _message(self, post: Json, payload: bytes, posted: MessagePosted) -> ExportedMessage:
        ts, team = posted.native_id, self.channel.workspace
        editor = text_at(post, "edited", "user") if post.get("edited") else ""
        return ExportedMessage(
            posted=posted,
            payload=payload,
            root=posted.place.thread,
            reactions=_reactions(post, team) if post.get("reactions") else (),
            editor=ids.actor_id(team, editor) if editor else None,
            deleted=text_at(post, "subtype") == TOMBSTONE,
            pinned=ts in self.pins or self.channel.channel in _pinned_to(post),
            files=self._files(post) if post.get("files") or post.get("file") else {},
        )

    def _files(self, post: Json) -> Mapping[str, ExportedFile]:
        files: dict[str, ExportedFile] = {}
        for file in (*objects_at(post, "files"), object_at(post, "file")):
            native = text_at(file, "id")
            if native and (found := self.file(native)) is not None:
                size, opening = found
                name = text_at(file, "name") or native
                files[file_id(native)] = ExportedFile(name=name, open=opening, size=size)
        return files


def _modern(post: Json, subtype: str) -> Json:
    """The message with the members that messages have today, and with words for every subtype."""
    modern = {**post, "type": "message"}
    file, comment = object_at(post, "file"), object_at(post, "comment")
    if file and not objects_at(post, "files"):
        modern["files"] = [file]
    if subtype == "file_comment" and text_at(comment, "comment"):
        modern |= {"text": text_at(comment, "comment"), "files": []}
        modern["user"] = text_at(post, "user") or text_at(comment, "user")
    if not text_at(post, "user") and subtype == "huddle_thread":
        modern["user"] = text_at(post, "room", "created_by")
    if subtype not in SPOKEN and not text_at(post, "text") and not post.get("blocks"):
        modern["text"] = _WORDS.get(subtype) or f"({subtype.replace('_', ' ')})"
        if text_at(post, "user") and subtype != TOMBSTONE:
            modern["text"] = f"<@{text_at(post, 'user')}> {modern['text']}"
    return modern


def _reactions(post: Json, team: str) -> tuple[ExportedReaction, ...]:
    return tuple(
        ExportedReaction(reaction_to_emoji(name), ids.actor_id(team, user))
        for reaction in objects_at(post, "reactions")
        if (name := text_at(reaction, "name"))
        for user in dict.fromkeys(texts_in(reaction.get("users")))
    )


def _unlisted_reactions(post: Json, where: str) -> Iterator[NotUnderstood]:
    for reaction in objects_at(post, "reactions"):
        missing = (whole_at(reaction, "count") or 0) - len(texts_in(reaction.get("users")))
        if missing > 0:
            what = "reactions of people whom the export does not list"
            yield NotUnderstood(where, what, str(missing))
        if not text_at(reaction, "name"):
            yield NotUnderstood(where, "reaction without a name")


def _pinned_to(post: Json) -> list[str]:
    return texts_in(post.get("pinned_to")) if "pinned_to" in post else []


def texts_in(value: object) -> list[str]:
    """The texts of a list; other items are skipped."""
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
