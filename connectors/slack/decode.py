"""A stored Slack payload -> events. Pure: no network, no clock.

Kinds: `message` (a post from the Events API), `event_callback` (every other event), `history` (read
back, in the same envelope), `interactive`, `slash_commands`, `other`. Source: docs.slack.dev
"Events API" and its event pages (2026-08).
"""

from __future__ import annotations

from collections.abc import Callable

from bridge.content.cards.messages import Content
from bridge.content.cards.reader import is_rich
from bridge.content.markdown import text_to_markdown
from bridge.content.messages.metadata import BridgeMetadata, with_bridge_metadata
from bridge.errors import InvalidData, UndecodableEvent
from bridge.model import (
    AccountRevoked,
    AnswerStopped,
    ChannelClosed,
    ChannelCreated,
    ChannelRenamed,
    CommandGiven,
    Event,
    Ignored,
    MemberJoined,
    MemberLeft,
    MessageDeleted,
    MessageEdited,
    MessagePinned,
    MessagePosted,
    MessageUnpinned,
    Raw,
    ReactionAdded,
    ReactionRemoved,
    TopicChanged,
    Unknown,
    message_id_of,
)
from bridge.uacs import Actor, Message, TextPart, to_timestamp
from connectors.slack import ids
from connectors.slack.content import (
    NO_CONTENT,
    foreign_metadata,
    is_unfurl,
    origin_of,
    post_content,
)
from connectors.slack.emoji import reaction_to_emoji
from connectors.slack.ids import Identity
from connectors.slack.json_values import Json, object_at, objects_at, text_at
from connectors.slack.payload import Payload, operation_in
from connectors.slack.presses import pressed
from connectors.slack.text import mrkdwn_to_text

# Kind -> JSON pointers of credentials, which are stored apart; `*` is every item of a list.
CREDENTIALS: dict[str, tuple[str, ...]] = {
    "message": ("/token",),
    "event_callback": ("/token", "/event/bot_access_token"),
    "history": (),
    "interactive": (
        "/token",
        "/trigger_id",
        "/response_url",
        "/response_urls/*/response_url",
        "/bot_access_token",
        "/interactivity/interactivity_pointer",
    ),
    "slash_commands": ("/token", "/trigger_id", "/response_url"),
    "other": ("/token", "/trigger_id", "/response_url", "/event/bot_access_token"),
}
KINDS = tuple(CREDENTIALS)

POST_SUBTYPES = frozenset({"", "bot_message", "file_share", "me_message", "thread_broadcast"})
_REPEATED_SUBTYPES = {
    "channel_archive": "channel_archive",
    "channel_join": "member_joined_channel",
    "channel_leave": "member_left_channel",
    "channel_name": "channel_rename",
    "channel_unarchive": "channel_unarchive",
    "group_archive": "group_archive",
    "group_join": "member_joined_channel",
    "group_leave": "member_left_channel",
    "group_name": "group_rename",
    "group_unarchive": "group_unarchive",
    "message_replied": "the reply itself",
    "pinned_item": "pin_added",
}

_RENAMES = frozenset(
    {"channel_name", "group_name"}
)  # only these messages report the change when a channel is read back


def decode(raw: Raw, identity: Identity | None) -> tuple[Event, ...]:
    """The events of a payload; `identity` is None until Slack has answered who we are.

    Raises UndecodableEvent, and nothing else.
    """
    try:
        return (_event(Payload.of(raw, identity)),)
    except UndecodableEvent:
        raise
    except (ValueError, TypeError, OverflowError, RecursionError, InvalidData) as error:
        raise UndecodableEvent(
            f"Slack payload of kind {raw.kind!r} ({raw.dedupe_key!r}) cannot be read: {error}"
        ) from error


def _event(payload: Payload) -> Event:
    match payload.raw.kind:
        case "message" | "event_callback" | "history":
            kind = text_at(payload.inner, "type") or text_at(payload.body, "type")
            return _EVENTS.get(kind, _unknown)(payload)
        case "slash_commands":
            return _command(payload)
        case "interactive":
            return pressed(payload) or _unknown(payload)
        case _:
            return _unknown(payload)


# --- posts ----------------------------------------------------------------------------------


def _message(payload: Payload) -> Event:
    subtype = text_at(payload.inner, "subtype")
    if subtype in POST_SUBTYPES:
        return posted_message(payload)
    if subtype in _RENAMES and payload.raw.kind == "history":
        return ChannelRenamed(name=text_at(payload.inner, "name"), **payload.common())
    if subtype in _REPEATED_SUBTYPES:
        return _ignored(payload, f"{_REPEATED_SUBTYPES[subtype]} tells it")
    return _SUBTYPES.get(subtype, _unknown)(payload)


def posted_message(payload: Payload) -> MessagePosted:
    """The event of a post of any subtype. Raises UndecodableEvent for a post without a ts."""
    post = payload.inner
    is_ours = payload.is_ours(post)
    operation, slot = operation_in(object_at(post, "metadata"))
    # Another account of a bridge in the same workspace also posts copies: the router ignores them.
    # Only our own app's posts name an operation reliably: anybody may write metadata.
    own = is_ours or (operation is not None and bool(text_at(post, "bot_id")))
    ts = payload.target("ts")
    common = payload.common(post)
    common["time"] = ids.time_of(ts)
    if (
        post.get("is_ephemeral") is True
    ):  # Slack does not name the recipient; we saw it, so it was for us
        common["audience"] = tuple(ids.actor_id(payload.team, user) for user in payload.our_users())
    return MessagePosted(
        native_id=ts,
        message=_uacs_message(payload, post, own=own),
        author=payload.author(post),
        broadcast=text_at(post, "subtype") == "thread_broadcast",
        addresses_us=not own and payload.addresses_us(post),
        edited_at=payload.edited_at(post) if payload.raw.kind == "history" else None,
        own=own,
        operation=operation if is_ours else None,
        slot=slot if is_ours else 0,
        **common,
    )


def _changed(payload: Payload) -> Event:
    now = object_at(payload.inner, "message")
    before = object_at(payload.inner, "previous_message")
    if text_at(now, "subtype") == "tombstone":
        return _gone(payload, payload.target("message", "ts"), before)
    if before and _content(now) == _content(before):
        return _ignored(payload, "the content has not changed (an unfurl, a reply, a pin)")
    if not before and not object_at(now, "edited"):
        return _ignored(payload, "nobody edited it")
    editor = text_at(now, "edited", "user")
    read_back = payload.edited_at(now) if payload.raw.kind == "history" else None
    return MessageEdited(
        target=payload.target("message", "ts"),
        message=_uacs_message(payload, now),
        edited_at=read_back or payload.time,  # finer than `edited.ts`, which has whole seconds
        own=payload.is_ours(now),
        actor=ids.actor_id(payload.team, editor) if editor else payload.author(now).id,
        **payload.common(now),
    )


def _deleted(payload: Payload) -> Event:
    before = object_at(payload.inner, "previous_message")
    return _gone(payload, payload.target("deleted_ts"), before)


def _gone(payload: Payload, target: str, before: Json) -> Event:
    """The deletion of a message. Slack does not name the person who deleted it, so the author is
    the actor."""
    actor = payload.author(before).id
    return MessageDeleted(target=target, actor=actor, **payload.common(before))


def _uacs_message(payload: Payload, post: Json, *, own: bool = False) -> Message:
    """The UACS message of a post. Our own posts are not relayed, so their text stays mrkdwn."""
    author = payload.author(post)
    content = _own(post) if own else post_content(post, payload.team)
    message = Message(
        message_id=message_id_of(payload.channel, text_at(post, "ts")),
        timestamp=to_timestamp(ids.time_of(text_at(post, "ts"))),
        actor=Actor(id=author.id, role="assistant" if author.bot else "human", name=author.name),
        content=content.parts,
    )
    return (
        message if own or not is_rich(message) else _with_additions(payload, post, message, content)
    )


def _own(post: Json) -> Content:
    text = text_at(post, "text") or NO_CONTENT
    return Content((TextPart(text=text, format="plain"),), BridgeMetadata())


def _with_additions(payload: Payload, post: Json, message: Message, content: Content) -> Message:
    """Add the origin, the payload that each part represents, and the metadata of another app."""
    origin = origin_of(payload.team, payload.channel.channel, text_at(post, "ts"))
    if (foreign := foreign_metadata(post)) is not None:
        message = message.model_copy(update={"metadata": {"slack": foreign}})
    return with_bridge_metadata(message, content.additions.model_copy(update={"origin": origin}))


def _content(post: Json) -> tuple[object, ...]:
    """The fields that people see as content: no unfurls, reply counts, pins or reactions."""
    attached = [item for item in objects_at(post, "attachments") if not is_unfurl(item)]
    files = [(text_at(item, "id"), text_at(item, "mode")) for item in objects_at(post, "files")]
    return text_at(post, "text"), post.get("blocks"), attached, files


# --- everything else ------------------------------------------------------------------------


def _topic(payload: Payload) -> Event:
    written = mrkdwn_to_text(text_at(payload.inner, "topic"), payload.team)
    return TopicChanged(topic=text_to_markdown(written), **payload.common())


def _reaction(payload: Payload) -> Event:
    if text_at(payload.inner, "item", "type") != "message":
        return _ignored(payload, "a reaction to something that is no message")
    name = text_at(payload.inner, "reaction")
    if not name:
        raise UndecodableEvent("Slack reaction event has no 'reaction'")
    kind = ReactionAdded if payload.inner.get("type") == "reaction_added" else ReactionRemoved
    target = payload.target("item", "ts")
    emoji, own = reaction_to_emoji(name), _is_own_change(payload)
    return kind(target=target, emoji=emoji, actor=payload.actor(), own=own, **payload.common())


def _is_own_change(payload: Payload) -> bool:
    return text_at(payload.inner, "user") in payload.our_users()


def _pin(payload: Payload) -> Event:
    item = object_at(payload.inner, "item")
    if item.get("type") != "message":
        return _ignored(payload, "a pin on something that is no message")
    kind = MessagePinned if payload.inner.get("type") == "pin_added" else MessageUnpinned
    path = ("item", "message", "ts") if object_at(item, "message") else ("item", "ts")
    target, own = payload.target(*path), _is_own_change(payload)
    return kind(target=target, actor=payload.actor(), own=own, **payload.common())


def _joined(payload: Payload) -> Event:
    if text_at(payload.inner, "user") in payload.our_users():
        return _ignored(payload, "we joined")
    return MemberJoined(actor=payload.actor(), **payload.common())


def _left(payload: Payload) -> Event:
    if text_at(payload.inner, "user") in payload.our_users():
        return ChannelClosed(reason="we left", **payload.common())
    return MemberLeft(actor=payload.actor(), **payload.common())


def _renamed(payload: Payload) -> Event:
    return ChannelRenamed(name=text_at(payload.inner, "channel", "name"), **payload.common())


def _created(payload: Payload) -> Event:
    return ChannelCreated(name=text_at(payload.inner, "channel", "name"), **payload.common())


def _closed(payload: Payload) -> Event:
    kind = text_at(payload.inner, "type").rpartition("_")[2]
    reason = {"left": "we were removed", "archive": "archived"}.get(kind, "deleted")
    return ChannelClosed(reason=reason, **payload.common())


def _revoked(payload: Payload) -> Event:
    return AccountRevoked(reason=text_at(payload.inner, "type"), **payload.common())


def _command(payload: Payload) -> Event:
    command, user = text_at(payload.body, "command"), text_at(payload.body, "user_id")
    if not command or not user:
        raise UndecodableEvent("Slack slash command has no 'command' or no 'user_id'")
    actor = ids.actor_id(payload.team, user)
    text = text_to_markdown(mrkdwn_to_text(text_at(payload.body, "text"), payload.team))
    return CommandGiven(command=command, text=text, actor=actor, **payload.common())


def _ignored(payload: Payload, reason: str) -> Event:
    return Ignored(reason=reason, **payload.common())


def _unknown(payload: Payload) -> Event:
    words = (
        text_at(payload.inner, "type") or text_at(payload.body, "type") or payload.raw.kind,
        text_at(payload.inner, "subtype"),
    )
    return Unknown(kind=":".join(word for word in words if word), **payload.common())


def _stopped(payload: Payload) -> Event:
    listed = payload.inner.get("streaming_message_ts")
    targets = [ts for ts in listed if isinstance(ts, str)] if isinstance(listed, list) else []
    return AnswerStopped(
        actor=payload.actor(),
        targets=tuple(filter(ids.is_ts, targets)),
        **payload.common(payload.inner),
    )


_EVENTS: dict[str, Callable[[Payload], Event]] = {
    "agent_session_stopped": _stopped,
    "app_mention": posted_message,
    "app_uninstalled": _revoked,
    "channel_archive": _closed,
    "channel_created": _created,
    "channel_deleted": _closed,
    "channel_left": _closed,
    "channel_rename": _renamed,
    "group_archive": _closed,
    "group_deleted": _closed,
    "group_left": _closed,
    "group_rename": _renamed,
    "member_joined_channel": _joined,
    "member_left_channel": _left,
    "message": _message,
    "pin_added": _pin,
    "pin_removed": _pin,
    "reaction_added": _reaction,
    "reaction_removed": _reaction,
    "tokens_revoked": _revoked,
}
_SUBTYPES: dict[str, Callable[[Payload], Event]] = {
    "channel_topic": _topic,
    "group_topic": _topic,
    "message_changed": _changed,
    "message_deleted": _deleted,
}
