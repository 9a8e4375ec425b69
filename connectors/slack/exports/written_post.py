"""An archived message -> a message object of a Slack export.

A message of Slack keeps its own object, as far as the archive knows nothing newer; a message of
another platform is written with the card writer and the text writer of the connector.
"""

from __future__ import annotations

import base64
import hashlib
import mimetypes
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from bridge.content.cards.reader import Cards, is_rich
from bridge.content.cards.rendering import public_url
from bridge.content.markdown import markdown_to_text
from bridge.content.messages.metadata import read_bridge_metadata
from bridge.content.messages.parts import message_text
from bridge.content.safety.mentions import with_counterparts
from bridge.model import ActorId, Counterparts, Person, Upload
from bridge.model.export_records import ArchivedMessage, ExportedReaction
from bridge.runtime.json_stream import parsed
from bridge.uacs import Message, StructuredDataPart
from connectors.slack import ids
from connectors.slack.cards.read_media import file_id
from connectors.slack.cards.schemas import BLOCKS
from connectors.slack.emoji import emoji_to_reaction, reaction_to_emoji
from connectors.slack.exports.kinds import SLACK_ZIP
from connectors.slack.exports.posts import TOMBSTONE, texts_in
from connectors.slack.exports.viewer_blocks import viewer_blocks
from connectors.slack.json_values import Json, object_at, objects_at, text_at
from connectors.slack.rich import rich_bodies
from connectors.slack.text import text_to_mrkdwn

_LIVE = frozenset(("message", "event_callback", "history"))
_ENVELOPE = ("channel", "channel_type", "event_ts")
_READ_ONLY_KINDS = "slackdump-"
_CONTENT = ("text", "blocks", "attachments")
_OF_A_THREAD = ("thread_ts", "parent_user_id", "reply_count", "reply_users", "reply_users_count",
                "latest_reply", "replies")  # fmt: skip


@dataclass
class WrittenPost:
    """A message object; `raw` is its JSON if that is in the archive unchanged.

    - `uploads`: the stored files of the message, by the id that each has in the object.
    - `lost`: what the object does not say, and what stands in its place.
    """

    post: Json
    raw: bytes | None = None
    uploads: list[tuple[str, Upload]] = field(default_factory=list[tuple[str, Upload]])
    lost: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])


def native_post(archived: ArchivedMessage) -> tuple[Json, bytes | None] | None:
    """The message object that the archive has, and its bytes if they are of such an export; None
    for a message of another platform."""
    if archived.payload is None:
        return None
    kind = archived.payload_kind
    is_export = kind == SLACK_ZIP or kind.startswith(_READ_ONLY_KINDS)
    if not is_export and (kind not in _LIVE or not _is_of_slack(archived)):
        return None
    try:
        value = parsed(archived.payload)
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    if is_export:
        post = cast("Json", value)
        return (post, archived.payload if kind == SLACK_ZIP else None) if _has_ts(post) else None
    event = object_at(value, "event")
    if text_at(event, "subtype") == "message_changed":
        event = object_at(event, "message")
    if not _has_ts(event):
        return None
    return {name: member for name, member in event.items() if name not in _ENVELOPE}, None


def written_native(
    archived: ArchivedMessage, post: Json, raw: bytes | None, cards: Cards, actors: Actors
) -> WrittenPost:
    """The object of a message of Slack, with what the archive knows better: edits, reactions, and
    that it was deleted."""
    written = WrittenPost(post, raw)
    if archived.deleted and text_at(post, "subtype") != TOMBSTONE:
        kept = {name: post[name] for name in _OF_A_THREAD if name in post}
        written.post, written.raw = {**_tombstone(text_at(post, "ts")), **kept}, None
        written.lost.append(("deleted message", "a tombstone"))
        return written
    changes: Json = {}
    if not _is_current(archived, post):
        content = _content(archived.message, cards, actors, written)
        written.post = {name: value for name, value in post.items() if name not in _CONTENT}
        author = actors.user(archived.author.id)
        changes |= {**content, "edited": {"user": author, "ts": _ts(archived.edited_at)}}
    if archived.reactions or post.get("reactions"):
        listed = {
            (reaction_to_emoji(text_at(reaction, "name")), user)
            for reaction in objects_at(post, "reactions")
            for user in texts_in(reaction.get("users"))
        }
        archived_reactions = [(one.emoji, actors.user(one.actor)) for one in archived.reactions]
        if {(_same(emoji), user) for emoji, user in listed} != {
            (_same(emoji), user) for emoji, user in archived_reactions
        }:
            changes["reactions"] = _reactions(archived.reactions, actors, written)
    if changes:
        written.post, written.raw = {**written.post, **changes}, None
    if post.get("files"):
        written.uploads += _kept_files(archived.message, post)
    return written


def written_foreign(
    archived: ArchivedMessage, ts: str, thread_ts: str | None, cards: Cards, actors: Actors
) -> WrittenPost:
    """The object of a message that is of another platform, or of which no native message is
    stored."""
    if archived.deleted:
        written = WrittenPost(_tombstone(ts), lost=[("deleted message", "a tombstone")])
    else:
        written = WrittenPost({"type": "message", "ts": ts})
        written.post |= _author_members(archived, actors)
        written.post |= _content(archived.message, cards, actors, written)
        if archived.edited_at is not None:
            user = actors.user(archived.author.id)
            written.post["edited"] = {"user": user, "ts": _ts(archived.edited_at)}
        if archived.reactions:
            written.post["reactions"] = _reactions(archived.reactions, actors, written)
    if thread_ts is not None and thread_ts != ts:
        written.post["thread_ts"] = thread_ts
    if archived.reply_to is not None and archived.reply_to != archived.root:
        written.lost.append(("reference to the answered message", ""))
    return written


# --- authors --------------------------------------------------------------------------------


class Actors(Mapping[ActorId, Person]):
    """The ids of people in the export: Slack's own, and made-up ones for people of other
    platforms; as a mapping, what a mention becomes."""

    def __init__(self) -> None:
        self._known: set[ActorId] = set()

    def add(self, actor: ActorId) -> None:
        """Remember a person of another platform as somebody who can be mentioned."""
        self._known.add(actor)

    def user(self, actor: ActorId) -> str:
        """The user id of an actor."""
        parts = ids.split_actor(actor)
        return parts[1] if parts is not None else made_up("U", actor)

    def __getitem__(self, actor: ActorId) -> Person:
        if actor not in self._known and ids.split_actor(actor) is None:
            raise KeyError(actor)
        user = self.user(actor)
        return Person(id=ids.actor_id("", user), name=user)

    def __iter__(self) -> Iterator[ActorId]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known) + 1  # everybody of Slack


class _OfSlack(Mapping[str, str]):
    """Channels and user groups of Slack stay what they are."""

    def __getitem__(self, key: str) -> str:
        if not key.startswith(f"{ids.PLATFORM}:"):
            raise KeyError(key)
        return key

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 1


def made_up(letter: str, of: str) -> str:
    """An id as Slack forms them, for something that is not of Slack; always the same."""
    digest = hashlib.sha256(of.encode("utf-8", "replace")).digest()
    return letter + base64.b32encode(digest)[:10].decode()


def _author_members(archived: ArchivedMessage, actors: Actors) -> Json:
    author = archived.author
    members: Json = {"user": actors.user(author.id), "username": author.name}
    if author.picture:
        members["icons"] = {f"image_{size}": author.picture for size in (48, 72)}
    if archived.message.actor.role == "system":
        return {"subtype": "system_message", **members}
    if author.bot or archived.message.actor.role in ("assistant", "tool"):
        return {"subtype": "bot_message", "bot_id": made_up("B", author.id), **members}
    return members


# --- content --------------------------------------------------------------------------------


def _content(message: Message, cards: Cards, actors: Actors, written: WrittenPost) -> Json:
    """Text, blocks, attachments and files of a message; what would be several messages in Slack is
    one in the export."""
    counterparts = _counterparts(actors)
    if not is_rich(message):
        markdown, losses = message_text(message)
        text = text_to_mrkdwn(with_counterparts(markdown_to_text(markdown), counterparts))
        written.lost += [(loss.kind, loss.shown_as) for loss in losses]
        return {"text": text}
    bodies, losses = rich_bodies(message, (), cards, public_url, counterparts)
    written.lost += [(loss.kind, loss.shown_as) for loss in losses]
    texts = [text for body in bodies if (text := str(body.content.get("text") or ""))]
    content: Json = {"text": "\n".join(texts)}
    for name in ("blocks", "attachments"):
        listed = [item for body in bodies for item in cast("Any", body.content.get(name) or ())]
        if listed:
            content[name] = listed
    if "blocks" in content and not _has_own_blocks(message):
        content["blocks"] = viewer_blocks(content["blocks"], counterparts)
    uploads = [upload for body in bodies for upload in body.files]
    for index, upload in enumerate(uploads):
        native = made_up("F", f"{message.message_id} {index} {upload.file_id}")
        written.uploads.append((native, upload))
        content.setdefault("files", []).append(_file(native, upload))
    return content


def _has_own_blocks(message: Message) -> bool:
    return any(
        isinstance(part, StructuredDataPart) and part.schema_id == BLOCKS
        for part in message.content
    )


def _counterparts(actors: Actors) -> Counterparts:
    of_slack = _OfSlack()
    return Counterparts.model_construct(
        people=actors, groups=of_slack, channels=of_slack, links={}, everyone=True
    )


def _file(native: str, upload: Upload) -> Json:
    ending = upload.name.rpartition(".")[2].lower() if "." in upload.name else ""
    filetype = ending or (mimetypes.guess_extension(upload.media_type) or "").lstrip(".")
    file: Json = {
        "id": native, "name": upload.name, "title": upload.name, "mimetype": upload.media_type,
        "filetype": filetype, "pretty_type": filetype.upper(), "size": upload.size,
        "mode": "hosted", "is_external": False, "url_private": "", "permalink": "",
    }  # fmt: skip
    return {**file, "alt_txt": upload.alt} if upload.alt else file


def _kept_files(message: Message, post: Json) -> Iterator[tuple[str, Upload]]:
    """The stored copies of the files that a message object lists."""
    kept = read_bridge_metadata(message)[0].kept
    for file in objects_at(post, "files"):
        native = text_at(file, "id")
        if (copy := kept.get(file_id(native))) is not None:
            name = text_at(file, "name") or native
            yield (
                native,
                Upload(file_id=copy.file_id, name=name, media_type=copy.media_type, size=copy.size),
            )


def _reactions(
    reactions: tuple[ExportedReaction, ...], actors: Actors, written: WrittenPost
) -> list[Json]:
    users: dict[str, list[str]] = {}
    for reaction in reactions:
        name = emoji_to_reaction(reaction.emoji)
        if name is None:
            name = reaction.emoji
            written.lost.append(("emoji without a name in Slack", name))
        listed = users.setdefault(name, [])
        if (user := actors.user(reaction.actor)) not in listed:
            listed.append(user)
    if any(reaction.at is not None for reaction in reactions):
        written.lost.append(("times of reactions", ""))
    return [{"name": name, "users": listed, "count": len(listed)} for name, listed in users.items()]


# --- small things ---------------------------------------------------------------------------


def _tombstone(ts: str) -> Json:
    return {
        "type": "message", "subtype": TOMBSTONE, "text": "This message was deleted.",
        "user": ids.SLACKBOT, "hidden": True, "ts": ts,
    }  # fmt: skip


def _is_current(archived: ArchivedMessage, post: Json) -> bool:
    """Whether the object has the latest edit; Slack gives its time in whole seconds."""
    if archived.edited_at is None:
        return True
    edited = text_at(post, "edited", "ts")
    return ids.is_ts(edited) and archived.edited_at - ids.time_of(edited).timestamp() < 1.0


def _is_of_slack(archived: ArchivedMessage) -> bool:
    return archived.place is not None and archived.place.channel.platform == ids.PLATFORM


def _has_ts(post: Json) -> bool:
    return ids.is_ts(text_at(post, "ts"))


def _same(emoji: str) -> str:
    return emoji_to_reaction(emoji) or emoji


def _ts(seconds: float | None) -> str:
    return ids.ts_at(seconds or 0.0)
