"""An archived message of any platform -> a chatMessage of Microsoft Graph. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import blake2b

import orjson

from bridge.content.markdown import markdown_to_text
from bridge.content.messages.parts import message_text
from bridge.model import ChannelRef, Person
from bridge.model.export_records import ArchivedMessage, ExportedReaction
from connectors.teams import ids
from connectors.teams.activity import KIND, Json, object_of, objects, string
from connectors.teams.cards.schemas import CARDS, QUOTED, schema_of
from connectors.teams.exports.activity_of_message import account_in, emoji_of
from connectors.teams.html_writer import text_to_html

_CHANNEL, _CHAT = "@thread.tacv2", "@thread.v2"
_CHATS = ("direct", "group")
_NO_TEAM = "00000000-0000-0000-0000-000000000000"


@dataclass
class Written:
    """A chatMessage; `lost` is what it does not say, and what stands in its place."""

    message: Json
    lost: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])


@dataclass(frozen=True)
class Placed:
    """A message with the ids of its export: its own, of its thread's root, of the answered one."""

    archived: ArchivedMessage
    conversation: str
    own_id: str
    root: str | None = None
    reply_to: str | None = None


def conversation_in(channel: ChannelRef, kind: str) -> str:
    """Return the id of a channel or chat; one of another platform gets an id that looks alike."""
    if channel.platform == ids.PLATFORM:
        return channel.channel
    digest = blake2b(channel.key.encode(), digest_size=16).hexdigest()
    return f"19:{digest}{_CHAT if kind in _CHATS else _CHANNEL}"


def identity_of(person: Person) -> Json:
    """Return the identity set of a person or bot; of another platform with the actor's id."""
    of_teams = person.id.startswith(f"{ids.PLATFORM}:")
    account = ids.split_actor(person.id)[1] if of_teams else person.id
    if ids.is_bot(account):
        app = {"id": account.removeprefix("28:"), "displayName": person.name}
        return {"application": app, "device": None, "user": None}
    user = {"id": account, "displayName": person.name, "userIdentityType": "aadUser"}
    return {"application": None, "device": None, "user": user}


def changed_native(archived: ArchivedMessage, native: Json) -> Json | None:
    """Return a chatMessage of an import with what the archive knows better; None if it was edited
    since then, so that its content is to be written anew."""
    edited = _seconds(string(native, "lastEditedDateTime"))
    if archived.edited_at is not None and (edited is None or archived.edited_at > edited + 1):
        return None
    changes: Json = {}
    if archived.deleted and not native.get("deletedDateTime"):
        changes["deletedDateTime"] = _time(archived.edited_at or archived.time)
    if archived.reactions or native.get("reactions"):
        listed = {_key(one) for one in objects(native, "reactions")}
        reactions = [_reaction(one, archived) for one in archived.reactions]
        if listed != {_key(one) for one in reactions}:
            changes["reactions"] = reactions
    return {**native, **changes} if changes else native


def written_message(placed: Placed) -> Written:
    """Return the chatMessage of a message that no import has as one."""
    archived, own_id = placed.archived, placed.own_id
    is_chat = not ids.has_threads(ids.channel_ref("", placed.conversation))
    place = {"teamId": _NO_TEAM, "channelId": placed.conversation}
    written = Written({
        "id": own_id,
        "replyToId": None if is_chat else placed.root,
        "messageType": "message",
        "createdDateTime": _time(archived.time),
        "lastModifiedDateTime": _time(archived.edited_at or archived.time),
        "lastEditedDateTime": None if archived.edited_at is None else _time(archived.edited_at),
        "deletedDateTime": _time(archived.edited_at or archived.time) if archived.deleted else None,
        "subject": None,
        "chatId": placed.conversation if is_chat else None,
        "channelIdentity": None if is_chat else place,
        "eventDetail": None,
        "from": identity_of(archived.author),
    })  # fmt: skip
    written.message |= _of_activity(archived) or _of_text(placed, written)
    written.message["reactions"] = [_reaction(one, archived) for one in archived.reactions]
    return written


# --- content ------------------------------------------------------------------------------------


def _of_activity(archived: ArchivedMessage) -> Json | None:
    """Return the content of a live message of Teams: the inverse of `activity_of`."""
    if archived.payload_kind != KIND or archived.payload is None or archived.edited_at is not None:
        return None
    try:
        activity = orjson.loads(archived.payload)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(activity, dict) or string(activity, "type") != "message":
        return None
    attached = objects(activity, "attachments")
    html = [one for one in attached if string(one, "contentType").lower() == "text/html"]
    others = [one for one in attached if one not in html]
    content = string(html[0], "content") if html else string(activity, "text")
    if not html and string(activity, "textFormat") not in ("", "plain"):
        return None
    return {
        "body": {"contentType": "html" if html else "text", "content": content},
        "attachments": [_attachment(index, one) for index, one in enumerate(others, 1)],
        "mentions": list(_mentions(activity)),
    }


def _attachment(number: int, attachment: Json) -> Json:
    content = attachment.get("content")
    if schema_of(string(attachment, "contentType")) in CARDS and isinstance(content, dict):
        content = orjson.dumps(content).decode()
    return {"id": str(number), **attachment, **({"content": content} if content else {})}


def _mentions(activity: Json) -> Iterator[Json]:
    entities = [one for one in objects(activity, "entities") if string(one, "type") == "mention"]
    for number, entity in enumerate(entities):
        mentioned = object_of(entity, "mentioned")
        account, name = string(mentioned, "id"), string(mentioned, "name")
        kind = "conversation" if account.startswith("19:") else "user"
        kind, account = ("application", account[3:]) if ids.is_bot(account) else (kind, account)
        identity = {kind: {"id": account, "displayName": name}}
        yield {"id": number, "mentionText": name, "mentioned": identity}


def _of_text(placed: Placed, written: Written) -> Json:
    """Return the content of any message as HTML, with the answered message as a quote."""
    markdown, losses = message_text(placed.archived.message)
    written.lost += ((loss.what, loss.shown_as or "text") for loss in losses)
    html = text_to_html(markdown_to_text(markdown))
    attachments: list[Json] = []
    if placed.reply_to is not None:
        html = f'<attachment id="{placed.reply_to}"></attachment>{html}'
        quoted = orjson.dumps({"messageId": placed.reply_to}).decode()
        attachments.append({"id": placed.reply_to, "contentType": QUOTED, "content": quoted})
    body = {"contentType": "html", "content": html}
    return {"body": body, "attachments": attachments, "mentions": []}


def _reaction(reaction: ExportedReaction, archived: ArchivedMessage) -> Json:
    person = Person(id=reaction.actor, name="")
    of_emoji: Json = {"reactionType": reaction.emoji}
    if reaction.emoji.startswith(":"):
        of_emoji = {"reactionType": "custom", "displayName": reaction.emoji.strip(":")}
    at = archived.time if reaction.at is None else reaction.at
    return {**of_emoji, "createdDateTime": _time(at), "user": identity_of(person)}


def _key(reaction: Json) -> tuple[str, str]:
    """Return emoji and person, which tell one reaction from another."""
    return emoji_of(reaction), str(account_in(object_of(reaction, "user")).get("id"))


# --- values -------------------------------------------------------------------------------------


def _time(seconds: float) -> str:
    moment = datetime.fromtimestamp(round(seconds, 3), UTC)
    text = moment.isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


def _seconds(text: str) -> float | None:
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        return None
