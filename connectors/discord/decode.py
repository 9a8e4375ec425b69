"""Gateway events and messages read back, as `receive` wrapped them -> events. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

from pydantic import ValidationError

from bridge.content.cards.messages import Content
from bridge.content.cards.reader import is_rich
from bridge.content.markdown import text_to_markdown
from bridge.content.messages.metadata import BridgeMetadata, with_bridge_metadata
from bridge.content.safety.mentions import Reference, with_references
from bridge.content.text.tree import Broadcast, GroupMention, Heading, Inline, Mention, Text
from bridge.errors import InvalidData, UndecodableEvent
from bridge.model import (
    AccountId,
    ActionPressed,
    ActorId,
    ChannelClosed,
    ChannelCreated,
    ChannelRef,
    ChannelRenamed,
    CommandGiven,
    Event,
    FeedbackGiven,
    Ignored,
    MemberJoined,
    MessageDeleted,
    MessageEdited,
    MessagePinned,
    MessagePosted,
    MessagesBulkDeleted,
    MessageUnpinned,
    Person,
    Place,
    PollEnded,
    Raw,
    ReactionAdded,
    ReactionRemoved,
    ReactionsCleared,
    ThreadDeleted,
    ThreadStarted,
    TopicChanged,
    TypingStarted,
    Unknown,
    message_id_of,
    split_key,
)
from bridge.uacs import Actor, Message, TextPart
from connectors.discord import ids
from connectors.discord.capabilities import EPHEMERAL, JOINED, PINNED, SPOKEN_TYPES, SYSTEM_TYPES
from connectors.discord.commands import command_in
from connectors.discord.content import (
    HIDDEN,
    NOTHING_SAID,
    is_hidden,
    is_typed,
    origin_of,
    rich_content,
    typed_content,
)
from connectors.discord.feedback import sense_of
from connectors.discord.presses import COMMAND, PRESS, SUBMISSION, press_target, user_of, values_in
from connectors.discord.settings import CDN_URL
from connectors.discord.shapes import (
    EmojiData,
    MemberData,
    MessageData,
    OwnershipData,
    PollData,
    PollMediaData,
    PollResultsData,
    UpdateData,
    UserData,
    Wrapped,
    WrappedBulk,
    WrappedChannel,
    WrappedDelete,
    WrappedInteraction,
    WrappedMessage,
    WrappedReaction,
    WrappedTyping,
    WrappedUpdate,
)
from connectors.discord.text import Names, discord_to_text
from connectors.discord.unpinned import PINNED_MESSAGE, UNPINNED

_FORWARD = 1
_IDS_IN_TEXT = re.compile(r"<(?:#|@&)(\d{1,20})>")


def decode(raw: Raw, cdn: str = CDN_URL) -> Sequence[Event]:
    """Return the events of a raw event.

    `cdn` is the base address of pictures. Raises UndecodableEvent when the payload is not what
    Discord documents.
    """
    if raw.channel is None:
        raise UndecodableEvent(f"{raw.kind} names no channel; it cannot be placed")
    decoder = _DECODERS.get(raw.kind, _unknown)
    try:
        decoded = decoder(_Origin(raw, raw.channel, cdn), raw.payload)
        return decoded if isinstance(decoded, list) else [decoded]
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        path = "/".join(str(step) for step in ("", *first["loc"]))
        raise UndecodableEvent(f"{raw.kind} {path or '/'}: {first['msg']}") from None
    except (InvalidData, ValueError, OverflowError) as error:
        raise UndecodableEvent(f"{raw.kind}: {error}") from None


class _Origin:
    """The account, channel, kind and order key of a payload."""

    def __init__(self, raw: Raw, channel: ChannelRef, cdn: str) -> None:
        self.account: AccountId = raw.account
        self.channel = channel
        self.order_key = raw.order_key
        self.kind = raw.kind
        self.cdn = cdn

    def place(self, channel_id: str, message: str = "") -> Place:
        """Return the place of an event; any channel but the raw event's own is a thread of it.

        The first message of a forum post has the thread's id: it is the root, as in a channel.
        """
        in_thread = channel_id not in (self.channel.channel, message)
        return Place(channel=self.channel, thread=channel_id if in_thread else None)

    def actor(self, user: str | None) -> ActorId:
        return ids.actor_id(self.channel, user or ids.SOMEBODY)


def _unknown(origin: _Origin, payload: bytes) -> Event:
    wrapped = Wrapped.model_validate_json(payload)
    return Unknown(
        account=origin.account,
        place=Place(channel=origin.channel),
        time=_time(wrapped.at, origin.order_key),
        kind=origin.kind,
    )


def _posted(origin: _Origin, payload: bytes) -> Event:
    wrapped = WrappedMessage.model_validate_json(payload)
    data = wrapped.d
    place = origin.place(data.channel_id, data.id)
    if data.type == PINNED and (pinned := data.message_reference) and pinned.message_id:
        return MessagePinned(
            account=origin.account, place=place, time=data.timestamp, target=pinned.message_id,
            actor=origin.actor(data.author.id), own=_is_own(wrapped.own, data),
        )  # fmt: skip
    if data.type == JOINED and data.author.id != wrapped.own.user:
        person = _author(origin, data)
        return MemberJoined(
            account=origin.account, place=place, time=data.timestamp, actor=person.id, person=person
        )
    if data.type not in SPOKEN_TYPES:
        if data.type in SYSTEM_TYPES:
            reason = f"a system message of type {data.type}"
            return Ignored(account=origin.account, place=place, time=data.timestamp, reason=reason)
        kind = f"message type {data.type}"
        return Unknown(account=origin.account, place=place, time=data.timestamp, kind=kind)
    author = _author(origin, data)
    own = _is_own(wrapped.own, data)
    return MessagePosted(
        account=origin.account,
        place=place,
        time=data.timestamp,
        native_id=data.id,
        message=_message(origin, wrapped, author, payload, own=own),
        author=author,
        reply_to=_reply_target(data),
        addresses_us=not own and _addresses_bridge(wrapped.own, origin.channel, data),
        edited_at=data.edited_timestamp,
        own=own,
        audience=_audience(origin, data),
    )


def _audience(origin: _Origin, data: MessageData) -> tuple[ActorId, ...] | None:
    """Return the only reader of an ephemeral message: the user of the interaction."""
    if not data.flags & EPHEMERAL:
        return None
    metadata = data.interaction_metadata
    return (origin.actor(metadata.user.id if metadata and metadata.user else data.author.id),)


def _updated(origin: _Origin, payload: bytes) -> Event:
    wrapped_update = WrappedUpdate.model_validate_json(payload)
    update = wrapped_update.d
    place = origin.place(update.channel_id, update.id)
    if update.poll and update.poll.results and update.poll.results.is_finalized:
        now = _time(wrapped_update.at, origin.order_key)
        return _poll_ended(origin, now, update, update.poll, update.poll.results)
    if update.edited_timestamp is None or update.content is None or update.author is None:
        # Discord also updates a message when its links unfold, or a thread or pin is added.
        now = _time(None, origin.order_key)
        reason = "a message changed, but nobody edited it"
        return Ignored(account=origin.account, place=place, time=now, reason=reason)
    wrapped = WrappedMessage.model_validate_json(payload)
    author = _author(origin, wrapped.d)
    return MessageEdited(
        account=origin.account,
        place=place,
        time=update.edited_timestamp,
        actor=author.id,
        target=update.id,
        message=_message(origin, wrapped, author, payload),
        edited_at=update.edited_timestamp,
        own=_is_own(wrapped.own, wrapped.d),
    )


def _poll_ended(
    origin: _Origin, time: datetime, update: UpdateData, poll: PollData, results: PollResultsData
) -> Event:
    """Return the poll's counts; Discord leaves answers without votes out of its counts."""
    votes = {count.id: count.count for count in results.answer_counts}
    return PollEnded(
        account=origin.account,
        place=origin.place(update.channel_id, update.id),
        time=time,
        actor=origin.actor(update.author.id if update.author else None),
        target=update.id,
        counts=tuple(
            (_answer(answer.poll_media), votes.get(answer.answer_id, 0)) for answer in poll.answers
        ),
    )


def _answer(media: PollMediaData) -> str:
    return " ".join(word for word in (_emoji(media.emoji), media.text) if word)


def _deleted(origin: _Origin, payload: bytes) -> Event:
    wrapped = WrappedDelete.model_validate_json(payload)
    return MessageDeleted(
        account=origin.account,
        place=origin.place(wrapped.d.channel_id, wrapped.d.id),
        time=_time(wrapped.at, origin.order_key),
        actor=origin.actor(None),
        target=wrapped.d.id,
    )


def _bulk_deleted(origin: _Origin, payload: bytes) -> Event:
    wrapped = WrappedBulk.model_validate_json(payload)
    return MessagesBulkDeleted(
        account=origin.account,
        place=origin.place(wrapped.d.channel_id),
        time=_time(wrapped.at, origin.order_key),
        actor=origin.actor(None),
        targets=wrapped.d.ids,
    )


def _reaction(
    event: type[ReactionAdded] | type[ReactionRemoved],
) -> Callable[[_Origin, bytes], Event]:
    def decoder(origin: _Origin, payload: bytes) -> Event:
        wrapped = WrappedReaction.model_validate_json(payload)
        return event(
            account=origin.account,
            place=origin.place(wrapped.d.channel_id, wrapped.d.message_id),
            time=_time(wrapped.at, origin.order_key),
            actor=origin.actor(wrapped.d.user_id),
            target=wrapped.d.message_id,
            emoji=_emoji(wrapped.d.emoji) or "�",
            own=bool(wrapped.own.user) and wrapped.d.user_id == wrapped.own.user,
        )

    return decoder


def _pin(kind: type[MessagePinned | MessageUnpinned]) -> Callable[[_Origin, bytes], Event]:
    def decoder(origin: _Origin, payload: bytes) -> Event:
        """Decode a pin event; Discord does not say who pinned."""
        wrapped = WrappedUpdate.model_validate_json(payload)
        return kind(
            account=origin.account,
            place=origin.place(wrapped.d.channel_id, wrapped.d.id),
            time=_time(wrapped.at, origin.order_key),
            actor=origin.actor(None),
            target=wrapped.d.id,
            own=wrapped.own.unpinned,
        )

    return decoder


def _typing(origin: _Origin, payload: bytes) -> Event:
    wrapped = WrappedTyping.model_validate_json(payload)
    return TypingStarted(
        account=origin.account,
        place=origin.place(wrapped.d.channel_id),
        time=_time(wrapped.at, origin.order_key),
        actor=origin.actor(wrapped.d.user_id),
        own=wrapped.d.user_id == wrapped.own.user,
    )


def _reactions_cleared(origin: _Origin, payload: bytes) -> Event:
    wrapped = WrappedReaction.model_validate_json(payload)
    return ReactionsCleared(
        account=origin.account,
        place=origin.place(wrapped.d.channel_id, wrapped.d.message_id),
        time=_time(wrapped.at, origin.order_key),
        actor=origin.actor(None),
        target=wrapped.d.message_id,
        emoji=_emoji(wrapped.d.emoji),
    )


def _thread_created(origin: _Origin, payload: bytes) -> Event:
    wrapped = WrappedChannel.model_validate_json(payload)
    place = origin.place(wrapped.d.id)
    if wrapped.forum or not wrapped.d.newly_created:
        now = _time(wrapped.at, origin.order_key)
        reason = "its first message has its name" if wrapped.forum else "we were added to a thread"
        return Ignored(account=origin.account, place=place, time=now, reason=reason)
    return ThreadStarted(
        account=origin.account,
        place=place,
        time=ids.time_of(wrapped.d.id),
        actor=origin.actor(wrapped.d.owner_id),
        name=wrapped.d.name or "",
        root=wrapped.d.id,  # a thread that began from a message has the id of that message
        own=wrapped.own.webhook or wrapped.d.owner_id == wrapped.own.user,
    )


def _channel_created(origin: _Origin, payload: bytes) -> Event:
    wrapped = WrappedChannel.model_validate_json(payload)
    return ChannelCreated(
        account=origin.account,
        place=Place(channel=origin.channel),
        time=_time(wrapped.at, origin.order_key),
        name=wrapped.d.name or "",
    )


def _thread_deleted(origin: _Origin, payload: bytes) -> Event:
    wrapped = WrappedChannel.model_validate_json(payload)
    return ThreadDeleted(
        account=origin.account,
        place=origin.place(wrapped.d.id),
        time=_time(wrapped.at, origin.order_key),
        actor=origin.actor(None),
    )


def _channel_updated(origin: _Origin, payload: bytes) -> list[Event]:
    """Return the changes of a channel, or of a thread in it."""
    wrapped = WrappedChannel.model_validate_json(payload)
    place, time = origin.place(wrapped.d.id), _time(wrapped.at, origin.order_key)
    news: list[Event] = []
    if "name" in wrapped.changed:
        name = wrapped.d.name or ""
        news.append(ChannelRenamed(account=origin.account, place=place, time=time, name=name))
    if "topic" in wrapped.changed:
        names = Names(origin.channel, {}, wrapped.names)
        topic = text_to_markdown(tuple(discord_to_text(wrapped.d.topic or "", names)))
        news.append(TopicChanged(account=origin.account, place=place, time=time, topic=topic))
    if not news:
        reason = "neither its name nor its topic changed"
        news = [Ignored(account=origin.account, place=place, time=time, reason=reason)]
    return news


def _channel_deleted(origin: _Origin, payload: bytes) -> Event:
    wrapped = WrappedChannel.model_validate_json(payload)
    return ChannelClosed(
        account=origin.account,
        place=Place(channel=origin.channel),
        time=_time(wrapped.at, origin.order_key),
        reason="the channel was deleted",
    )


def _interaction(origin: _Origin, payload: bytes) -> Event:
    """Return the event of a press, a submitted form, or a command."""
    wrapped = WrappedInteraction.model_validate_json(payload)
    data, time = wrapped.d, _time(wrapped.at, origin.order_key)
    if data.get("type") == COMMAND and user_of(data) and data.get("id"):
        command, text = command_in(data)
        names = Names(origin.channel, {}, {})
        return CommandGiven(
            account=origin.account,
            place=origin.place(str(data.get("channel_id") or "")),
            time=time,
            actor=origin.actor(user_of(data)),
            command=command,
            text=text_to_markdown(tuple(discord_to_text(text, names))),
            answers=str(data["id"]),
        )
    token, target, _ = press_target(data)
    user = user_of(data)
    if (sense := sense_of(data)) and target and user:
        return FeedbackGiven(
            account=origin.account,
            place=origin.place(str(data.get("channel_id") or ""), target),
            time=time,
            actor=origin.actor(user),
            target=target,
            sense=sense,
        )
    if data.get("type") not in (PRESS, SUBMISSION) or not (token and target and user):
        place = Place(channel=origin.channel)
        kind = f"interaction of type {data.get('type')}"
        return Unknown(account=origin.account, place=place, time=time, kind=kind)
    return ActionPressed(
        account=origin.account,
        place=origin.place(str(data.get("channel_id") or ""), target),
        time=time,
        actor=origin.actor(user),
        target=target,
        token=token,
        native=data.get("data"),
        values=values_in(data),
        answers=str(data["id"]) if data.get("id") else None,
    )


_DECODERS: Mapping[str, Callable[[_Origin, bytes], Event | list[Event]]] = {
    "MESSAGE_CREATE": _posted,
    "MESSAGE_UPDATE": _updated,
    "MESSAGE_DELETE": _deleted,
    "MESSAGE_DELETE_BULK": _bulk_deleted,
    "MESSAGE_REACTION_ADD": _reaction(ReactionAdded),
    "MESSAGE_REACTION_REMOVE": _reaction(ReactionRemoved),
    "MESSAGE_REACTION_REMOVE_ALL": _reactions_cleared,
    "MESSAGE_REACTION_REMOVE_EMOJI": _reactions_cleared,
    UNPINNED: _pin(MessageUnpinned),
    PINNED_MESSAGE: _pin(MessagePinned),
    "TYPING_START": _typing,
    "THREAD_CREATE": _thread_created,
    "THREAD_UPDATE": _channel_updated,
    "THREAD_DELETE": _thread_deleted,
    "CHANNEL_CREATE": _channel_created,
    "CHANNEL_UPDATE": _channel_updated,
    "CHANNEL_DELETE": _channel_deleted,
    "INTERACTION_CREATE": _interaction,
}
KINDS = tuple(_DECODERS)


# --- people ---------------------------------------------------------------------------------


def person_of(
    channel: ChannelRef, user: UserData, member: MemberData | None, cdn: str = CDN_URL
) -> Person:
    """Return a user's name and picture as members of the channel's guild see them."""
    member = member or user.member
    nick = member.nick if member else None
    return Person(
        id=ids.actor_id(channel, user.id),
        name=nick or user.global_name or user.username or user.id,
        picture=_picture(channel, user, member, cdn),
        bot=user.bot,
    )


def _author(origin: _Origin, data: MessageData) -> Person:
    channel = origin.channel
    if data.webhook_id is None:
        return person_of(channel, data.author, data.member, origin.cdn)
    name = data.author.username or "webhook"
    native = ids.webhook_author(data.webhook_id, name)
    picture = _picture(channel, data.author, None, origin.cdn)
    return Person(id=ids.actor_id(channel, native), name=name, picture=picture, bot=True)


def _picture(channel: ChannelRef, user: UserData, member: MemberData | None, cdn: str) -> str:
    if member and member.avatar and not ids.is_direct(channel):
        path = f"guilds/{channel.workspace}/users/{user.id}/avatars/{member.avatar}"
        return f"{cdn}/{path}.png?size=128"
    if user.avatar:
        return f"{cdn}/avatars/{user.id}/{user.avatar}.png?size=128"
    return f"{cdn}/embed/avatars/{(int(user.id) >> 22) % 6}.png"


def _is_own(own: OwnershipData, data: MessageData) -> bool:
    """Return whether the post is ours: from the bot itself, or through our application's webhook.

    Posts of another bridge count as own, so that they are not relayed again.
    """
    if data.webhook_id is not None:
        return (
            own.webhook
            or own.bridge
            or (bool(own.application) and data.application_id == own.application)
        )
    return bool(own.user) and data.author.id == own.user


def _addresses_bridge(own: OwnershipData, channel: ChannelRef, data: MessageData) -> bool:
    return ids.is_direct(channel) or any(user.id == own.user for user in data.mentions)


def _reply_target(data: MessageData) -> str | None:
    """Return the id of the message that this one replies to.

    A reference to another channel is a crosspost or a forward.
    """
    reference = data.message_reference
    if reference is None or reference.type == _FORWARD:
        return None
    same_channel = reference.channel_id in (None, data.channel_id)
    return reference.message_id if same_channel else None


# --- words ----------------------------------------------------------------------------------


def ids_in_text(content: str) -> list[str]:
    """Return the ids of roles and channels in a text; `receive` adds their names to the event."""
    return _IDS_IN_TEXT.findall(content)


def _message(
    origin: _Origin, wrapped: WrappedMessage, author: Person, payload: bytes, *, own: bool = False
) -> Message:
    """Return the message; our own posts keep Discord's text, because they are not relayed."""
    data, channel = wrapped.d, origin.channel
    content = _own(data) if own else _content(channel, wrapped, payload)
    message = Message(
        message_id=message_id_of(channel, data.id),
        timestamp=data.timestamp.isoformat(timespec="milliseconds"),
        actor=Actor(id=author.id, role="assistant" if author.bot else "human", name=author.name),
        content=content.parts,
    )
    if own or not is_rich(message):
        return message
    link = origin_of(channel, origin.place(data.channel_id, data.id).thread, data.id)
    return with_bridge_metadata(message, content.additions.model_copy(update={"origin": link}))


def _own(data: MessageData) -> Content:
    text = data.content or NOTHING_SAID
    return Content((TextPart(text=text, format="plain"),), BridgeMetadata())


def _content(channel: ChannelRef, wrapped: WrappedMessage, payload: bytes) -> Content:
    data = wrapped.d
    people = {user.id: person_of(channel, user, None).name for user in data.mentions}
    document = tuple(discord_to_text(data.content, Names(channel, people, wrapped.names)))
    if "@" in data.content:
        document = with_references(
            document, lambda reference: _without_silent_ping(reference, data)
        )
    if wrapped.title:
        document = (Heading(2, (Text(wrapped.title),)), *document)
    if is_typed(data):
        hidden = not document and is_hidden(dict(data))
        return typed_content(document, otherwise=HIDDEN if hidden else NOTHING_SAID)
    return rich_content(payload, data, document, channel.workspace)


def _without_silent_ping(node: Reference, data: MessageData) -> Inline:
    """Return a mention that pinged nobody as plain text, any other node unchanged.

    The author may lack the permission to mention a role or everybody, or a bot suppressed the ping.
    """
    match node:
        case GroupMention(group, name) if data.mention_roles is not None:
            return node if split_key(group)[-1] in data.mention_roles else Text(f"@{name}")
        case Broadcast(range=range_) if data.mention_everyone is False:
            return Text(f"@{range_}")
        case Mention(actor, name) if data.author.bot or data.webhook_id:
            pinged = {user.id for user in data.mentions}
            return node if split_key(actor)[-1] in pinged else Text(f"@{name}")
        case _:
            return node


def _emoji(emoji: EmojiData | None) -> str | None:
    if emoji is None or not emoji.name:
        return None
    return f":{emoji.name}:" if emoji.id else emoji.name


def _time(at: float | None, order_key: str) -> datetime:
    """Return the receive time `at`, or else the time in the snowflake of the order key."""
    if at is not None:
        return datetime.fromtimestamp(at, UTC)
    return ids.time_of(order_key) if order_key.isdecimal() else datetime.fromtimestamp(0, UTC)
