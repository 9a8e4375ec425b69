"""Gateway dispatches and history messages, as `receive` wrapped them -> events. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from pydantic import JsonValue, ValidationError

from bridge.content.markdown import text_to_markdown
from bridge.content.text import (
    Block,
    Heading,
    Inline,
    Link,
    Paragraph,
    Quote,
    Strong,
    Text,
)
from bridge.errors import InvalidData, UndecodableEvent
from bridge.model import (
    AccountId,
    ActorId,
    ChannelClosed,
    ChannelCreated,
    ChannelRef,
    ChannelRenamed,
    Event,
    Ignored,
    MessageDeleted,
    MessageEdited,
    MessagePosted,
    MessagesBulkDeleted,
    Person,
    Place,
    Raw,
    ReactionAdded,
    ReactionRemoved,
    ReactionsCleared,
    ThreadStarted,
    Unknown,
    message_id_of,
)
from bridge.uacs import Actor, Message, TextPart
from connectors.discord import ids
from connectors.discord.capabilities import SPOKEN_TYPES, SYSTEM_TYPES
from connectors.discord.settings import CDN_URL
from connectors.discord.shapes import (
    EmbedData,
    EmojiData,
    MemberData,
    MessageData,
    OwnData,
    SaidData,
    StickerData,
    UserData,
    Wrapped,
    WrappedBulk,
    WrappedChannel,
    WrappedDelete,
    WrappedMessage,
    WrappedReaction,
    WrappedUpdate,
)
from connectors.discord.text import Names, discord_to_text

_SUPPRESS_EMBEDS = 1 << 2
_FORWARD = 1
_IDS_IN_TEXT = re.compile(r"<(?:#|@&)(\d{1,20})>")


def decode(raw: Raw, cdn: str = CDN_URL) -> Sequence[Event]:
    """Raises UndecodableEvent when the payload is not what Discord documents.

    `cdn` is where pictures are.
    """
    if raw.channel is None:
        raise UndecodableEvent(f"{raw.kind} names no channel; it cannot be placed")
    decoder = _DECODERS.get(raw.kind, _unknown)
    try:
        return [decoder(_Origin(raw, raw.channel, cdn), raw.payload)]
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        path = "/".join(str(step) for step in ("", *first["loc"]))
        raise UndecodableEvent(f"{raw.kind} {path or '/'}: {first['msg']}") from None
    except (InvalidData, ValueError, OverflowError) as error:
        raise UndecodableEvent(f"{raw.kind}: {error}") from None


class _Origin:
    """Where a payload came from."""

    def __init__(self, raw: Raw, channel: ChannelRef, cdn: str) -> None:
        self.account: AccountId = raw.account
        self.channel = channel
        self.order_key = raw.order_key
        self.kind = raw.kind
        self.cdn = cdn

    def place(self, channel_id: str, message: str = "") -> Place:
        """`receive` put the parent into the raw, so any other channel is a thread of it.

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
        message=_message(origin.channel, wrapped, author, own=own),
        author=author,
        reply_to=_answered(data),
        addresses_us=not own and _addresses(wrapped.own, origin.channel, data),
        own=own,
    )


def _updated(origin: _Origin, payload: bytes) -> Event:
    update = WrappedUpdate.model_validate_json(payload).d
    place = origin.place(update.channel_id, update.id)
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
        message=_message(origin.channel, wrapped, author),
        edited_at=update.edited_timestamp,
        own=_is_own(wrapped.own, wrapped.d),
    )


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
        )

    return decoder


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
    if not wrapped.d.newly_created:
        now = _time(wrapped.at, origin.order_key)
        reason = "we were added to a thread"
        return Ignored(account=origin.account, place=place, time=now, reason=reason)
    return ThreadStarted(
        account=origin.account,
        place=place,
        time=ids.time_of(wrapped.d.id),
        actor=origin.actor(wrapped.d.owner_id),
        name=wrapped.d.name or "",
        root=wrapped.d.id,  # a thread that began from a message has the id of that message
    )


def _channel_created(origin: _Origin, payload: bytes) -> Event:
    wrapped = WrappedChannel.model_validate_json(payload)
    return ChannelCreated(
        account=origin.account,
        place=Place(channel=origin.channel),
        time=_time(wrapped.at, origin.order_key),
        name=wrapped.d.name or "",
    )


def _channel_updated(origin: _Origin, payload: bytes) -> Event:
    wrapped = WrappedChannel.model_validate_json(payload)
    return ChannelRenamed(
        account=origin.account,
        place=Place(channel=origin.channel),
        time=_time(wrapped.at, origin.order_key),
        name=wrapped.d.name or "",
    )


def _channel_deleted(origin: _Origin, payload: bytes) -> Event:
    wrapped = WrappedChannel.model_validate_json(payload)
    return ChannelClosed(
        account=origin.account,
        place=Place(channel=origin.channel),
        time=_time(wrapped.at, origin.order_key),
        reason="the channel was deleted",
    )


_DECODERS: Mapping[str, Callable[[_Origin, bytes], Event]] = {
    "MESSAGE_CREATE": _posted,
    "MESSAGE_UPDATE": _updated,
    "MESSAGE_DELETE": _deleted,
    "MESSAGE_DELETE_BULK": _bulk_deleted,
    "MESSAGE_REACTION_ADD": _reaction(ReactionAdded),
    "MESSAGE_REACTION_REMOVE": _reaction(ReactionRemoved),
    "MESSAGE_REACTION_REMOVE_ALL": _reactions_cleared,
    "MESSAGE_REACTION_REMOVE_EMOJI": _reactions_cleared,
    "THREAD_CREATE": _thread_created,
    "CHANNEL_CREATE": _channel_created,
    "CHANNEL_UPDATE": _channel_updated,
    "CHANNEL_DELETE": _channel_deleted,
}
KINDS = tuple(_DECODERS)


# --- people ---------------------------------------------------------------------------------


def person_of(
    channel: ChannelRef, user: UserData, member: MemberData | None, cdn: str = CDN_URL
) -> Person:
    """A user as the members of this guild see them."""
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
        where = f"guilds/{channel.workspace}/users/{user.id}/avatars/{member.avatar}"
        return f"{cdn}/{where}.png?size=128"
    if user.avatar:
        return f"{cdn}/avatars/{user.id}/{user.avatar}.png?size=128"
    return f"{cdn}/embed/avatars/{(int(user.id) >> 22) % 6}.png"


def _is_own(own: OwnData, data: MessageData) -> bool:
    """Posts by us: through a webhook that our application owns, or by the bot itself."""
    if data.webhook_id is not None:
        return own.webhook or (bool(own.application) and data.application_id == own.application)
    return bool(own.user) and data.author.id == own.user


def _addresses(own: OwnData, channel: ChannelRef, data: MessageData) -> bool:
    return ids.is_direct(channel) or any(user.id == own.user for user in data.mentions)


def _answered(data: MessageData) -> str | None:
    """Replies stay in their channel; a reference to another is a crosspost or a forward."""
    reference = data.message_reference
    if reference is None or reference.type == _FORWARD:
        return None
    here = reference.channel_id in (None, data.channel_id)
    return reference.message_id if here else None


# --- words ----------------------------------------------------------------------------------


def ids_in_text(content: str) -> list[str]:
    """Roles and channels that a text names: only `receive` can know what they are called."""
    return _IDS_IN_TEXT.findall(content)


def _message(
    channel: ChannelRef, wrapped: WrappedMessage, author: Person, *, own: bool = False
) -> Message:
    """Our own posts are never shown again: their words stay as Discord has them."""
    data = wrapped.d
    text = data.content if own else _words(channel, wrapped)
    role = "assistant" if author.bot else "human"
    return Message(
        message_id=message_id_of(channel, data.id),
        timestamp=data.timestamp.isoformat(timespec="milliseconds"),
        actor=Actor(id=author.id, role=role, name=author.name),
        content=(
            TextPart(text=text or "[message without text]", format="plain" if own else "markdown"),
        ),
    )


def _words(channel: ChannelRef, wrapped: WrappedMessage) -> str:
    blocks = (*_forwarded(channel, wrapped), *_said(channel, wrapped.d, wrapped.names))
    return text_to_markdown(blocks)


def _forwarded(channel: ChannelRef, wrapped: WrappedMessage) -> Iterator[Block]:
    for snapshot in wrapped.d.message_snapshots:
        said = tuple(_said(channel, snapshot.message, wrapped.names))
        yield Paragraph((Text("↪ forwarded:"),))
        yield Quote(said or (Paragraph((Text("[message without text]"),)),))


def _said(channel: ChannelRef, data: SaidData, others: Mapping[str, str]) -> Iterator[Block]:
    people = {user.id: person_of(channel, user, None).name for user in data.mentions}
    names = Names(channel, people, others)
    yield from discord_to_text(data.content, names)
    for text in _component_texts(data.components, 0):
        yield from discord_to_text(text, names)
    for embed in data.embeds:
        # Discord adds embeds of other types itself, for links that the text holds already.
        if (embed.type == "rich" and not data.flags & _SUPPRESS_EMBEDS) or not data.content:
            yield from _embed(embed, names)
    for file in data.attachments:
        yield _line("file", file.title or file.description or file.filename, file.url)
    for sticker in data.sticker_items:
        yield _line("sticker", sticker.name, _sticker_url(sticker))
    if data.poll:
        yield _line("poll", data.poll.question.text or "?", "")
        for answer in data.poll.answers:
            yield Paragraph((Text(f"○ {answer.poll_media.text or '?'}"),))


def _embed(embed: EmbedData, names: Names) -> Iterator[Block]:
    if embed.author and embed.author.name:
        yield Paragraph((Text(embed.author.name),))
    if embed.title:
        yield Heading(3, (_linked(embed.title, embed.url or ""),))
    elif embed.url:
        yield Paragraph((_linked(embed.url, embed.url),))
    yield from discord_to_text(embed.description or "", names)
    for named in embed.fields:
        yield Paragraph((Strong((Text(_flat(named.name or "")),)),))
        yield from discord_to_text(named.value or "", names)
    if embed.image and embed.image.url:
        yield _line("image", "embedded", embed.image.url)
    if embed.footer and embed.footer.text:
        yield Paragraph((Text(_flat(embed.footer.text)),))


def _component_texts(components: Sequence[JsonValue], depth: int) -> Iterator[str]:
    """What Components V2 say in words: the text displays, in order (docs: type 10)."""
    for component in components:
        if not isinstance(component, dict) or depth > 5:
            continue
        if component.get("type") == 10 and isinstance(content := component.get("content"), str):
            yield content
        inner = component.get("components")
        if isinstance(inner, list):
            yield from _component_texts(inner, depth + 1)


def _line(kind: str, name: str, url: str) -> Paragraph:
    return Paragraph((_linked(f"{kind}: {_flat(name)}", url, bracketed=True),))


def _linked(label: str, url: str, *, bracketed: bool = False) -> Inline:
    if url.startswith(("http://", "https://")) and not re.search(r"\s", url):
        return Link(url, (Text(_flat(label)),))
    return Text(f"[{_flat(label)}]" if bracketed else _flat(label))


def _flat(text: str) -> str:
    return " ".join(text.split())


def _sticker_url(sticker: StickerData) -> str:
    if sticker.format_type == 4:
        return f"https://media.discordapp.net/stickers/{sticker.id}.gif"
    return f"{CDN_URL}/stickers/{sticker.id}.png" if sticker.format_type != 3 else ""


def _emoji(emoji: EmojiData | None) -> str | None:
    if emoji is None or not emoji.name:
        return None
    return f":{emoji.name}:" if emoji.id else emoji.name


def _time(at: float | None, order_key: str) -> datetime:
    """When it was heard; else the time that its id carries."""
    if at is not None:
        return datetime.fromtimestamp(at, UTC)
    return ids.time_of(order_key) if order_key.isdecimal() else datetime.fromtimestamp(0, UTC)
