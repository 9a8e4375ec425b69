"""The state of the local Discord: users, guilds, channels, threads, messages, webhooks. Pure."""

from __future__ import annotations

import asyncio
import hashlib
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

from connectors.discord.sandbox.cdn import Attachment, Cdn
from connectors.discord.sandbox.rich.polls import Poll
from connectors.discord.sandbox.snowflakes import Snowflakes


class ChannelType(IntEnum):
    TEXT = 0
    DM = 1
    CATEGORY = 4
    ANNOUNCEMENT = 5
    ANNOUNCEMENT_THREAD = 10
    PUBLIC_THREAD = 11
    PRIVATE_THREAD = 12
    FORUM = 15


class MessageType(IntEnum):
    DEFAULT = 0
    USER_JOIN = 7
    PINNED = 6
    THREAD_CREATED = 18
    REPLY = 19
    CHAT_INPUT_COMMAND = 20
    THREAD_STARTER = 21
    CONTEXT_MENU_COMMAND = 23
    POLL_RESULT = 46


SPOKEN = frozenset(
    {
        MessageType.DEFAULT,
        MessageType.REPLY,
        MessageType.CHAT_INPUT_COMMAND,
        MessageType.CONTEXT_MENU_COMMAND,
    }
)


@dataclass(slots=True)
class User:
    id: int
    username: str
    global_name: str | None = None
    avatar: str | None = None
    bot: bool = False

    @property
    def display_name(self) -> str:
        return self.global_name or self.username


@dataclass(slots=True)
class App:
    """An application with its bot; `granted` are its privileged intents."""

    id: int
    name: str
    user: User
    token: str
    granted: int
    owner: User
    commands: dict[int, dict[str, Any]] = field(default_factory=dict[int, dict[str, Any]])


@dataclass(slots=True)
class Role:
    id: int
    name: str
    permissions: int
    position: int = 0
    color: int = 0
    bot_id: int | None = None


@dataclass(slots=True)
class Overwrite:
    id: int
    kind: int  # 0 role, 1 member
    allow: int
    deny: int


@dataclass(slots=True)
class Member:
    user: User
    joined_at: str
    nick: str | None = None
    roles: list[int] = field(default_factory=list[int])

    @property
    def display_name(self) -> str:
        return self.nick or self.user.display_name


@dataclass(slots=True)
class Guild:
    id: int
    name: str
    owner_id: int
    roles: dict[int, Role] = field(default_factory=dict[int, Role])
    members: dict[int, Member] = field(default_factory=dict[int, Member])
    channels: dict[int, Channel] = field(default_factory=dict[int, "Channel"])
    threads: dict[int, Channel] = field(default_factory=dict[int, "Channel"])
    premium_tier: int = 0
    emojis: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])  # of its own
    system_channel: int | None = None  # where Discord reports who joins

    @property
    def largest_file(self) -> int:
        """Bytes of one file (discord-api-docs reference, "Uploading Files"; by boost tier)."""
        return {2: 50, 3: 100}.get(self.premium_tier, 10) << 20


@dataclass(slots=True)
class ThreadData:
    """The fields that only threads have."""

    owner_id: int
    archive_time: str
    auto_archive_minutes: int = 1440
    archived: bool = False
    locked: bool = False
    invitable: bool = True
    applied_tags: list[str] = field(default_factory=list[str])
    members: dict[int, str] = field(default_factory=dict[int, str])  # user -> joined at
    total_sent: int = 0  # messages ever, without the message that the thread began with
    message_count: int = 0  # `total_sent` without deleted messages


@dataclass(slots=True)
class Channel:
    """A channel, thread or DM with its messages; ids increase, so `order` is sorted."""

    id: int
    type: int
    name: str | None
    guild: Guild | None = None
    parent: Channel | None = None
    position: int = 0
    topic: str | None = None
    overwrites: dict[int, Overwrite] = field(default_factory=dict[int, Overwrite])
    thread: ThreadData | None = None
    recipients: dict[int, User] = field(default_factory=dict[int, User])
    tags: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    last_message_id: int | None = None
    messages: dict[int, Message] = field(default_factory=dict[int, "Message"])
    order: list[int] = field(default_factory=list[int])

    @property
    def is_private_thread(self) -> bool:
        return self.type == ChannelType.PRIVATE_THREAD

    @property
    def takes_messages(self) -> bool:
        return self.type not in (ChannelType.CATEGORY, ChannelType.FORUM)

    @property
    def root(self) -> Channel:
        """The channel itself, or the parent of a thread."""
        return self.parent if self.thread and self.parent else self

    def add(self, message: Message) -> None:
        self.messages[message.id] = message
        self.order.append(message.id)
        self.last_message_id = message.id

    def remove(self, message_id: int) -> Message | None:
        message = self.messages.pop(message_id, None)
        if message is not None:
            del self.order[bisect_left(self.order, message_id)]
        return message

    def page(
        self, limit: int, *, before_id: int | None, after_id: int | None, around_id: int | None
    ) -> list[Message]:
        """Return a page of history, newest first; `around_id` wins over `before_id`, `after_id`."""
        order = self.order
        if around_id is not None:
            middle = bisect_left(order, around_id)
            low = max(0, middle - limit // 2)
            ids = order[low : low + limit]
        elif before_id is not None:
            high = bisect_left(order, before_id)
            ids = order[max(0, high - limit) : high]
        elif after_id is not None:
            low = bisect_right(order, after_id)
            ids = order[low : low + limit]
        else:
            ids = order[-limit:]
        return [self.messages[message_id] for message_id in reversed(ids)]


@dataclass(slots=True)
class Reaction:
    """One emoji under a message, and the users who reacted with it."""

    emoji: dict[str, Any]
    users: dict[int, None] = field(default_factory=dict[int, None])


@dataclass(slots=True)
class Message:
    id: int
    channel: Channel
    author: User
    content: str
    type: int = MessageType.DEFAULT
    edited: str | None = None
    mentions: list[User] = field(default_factory=list[User])
    mention_roles: list[int] = field(default_factory=list[int])
    mention_everyone: bool = False
    embeds: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    components: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    flags: int = 0
    tts: bool = False
    webhook_id: int | None = None
    application_id: int | None = None
    reference: dict[str, Any] | None = None
    thread: Channel | None = None  # the thread that began from this message
    reactions: dict[str, Reaction] = field(default_factory=dict[str, Reaction])
    attachments: list[Attachment] = field(default_factory=list[Attachment])
    poll: Poll | None = None
    stickers: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    snapshots: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    interaction: dict[str, Any] | None = None  # `interaction_metadata` of an answer to one
    audience: int | None = None  # the only user who sees it
    pinned_at: str | None = None


@dataclass(slots=True, eq=False)
class Interaction:
    """An interaction of a user with an application, and the state of its answer."""

    id: int
    token: str
    kind: int  # 2 command, 3 component, 5 modal
    app: App
    user: User
    channel: Channel
    data: dict[str, Any]
    created_at: float
    first_answer: asyncio.Future[int]  # its result is the type of the first answer
    source: Message | None = None  # the message with the component
    answer: int | None = None
    original: Message | None = None
    loading: bool = False
    modal: dict[str, Any] | None = None
    followups: dict[int, Message] = field(default_factory=dict[int, Message])


@dataclass(slots=True)
class Webhook:
    id: int
    token: str
    channel: Channel
    name: str
    avatar: str | None
    user: User
    application_id: int | None


class State:
    """All objects by id. `now` returns seconds since 1970."""

    def __init__(
        self, now: Callable[[], float] = time.time, base_url: str = "http://localhost"
    ) -> None:
        self.now = now
        self.cdn = Cdn(base_url, now)
        self.ids = Snowflakes(now)
        self.users: dict[int, User] = {}
        self.apps: dict[str, App] = {}  # by token
        self.guilds: dict[int, Guild] = {}
        self.channels: dict[int, Channel] = {}  # threads and DMs too
        self.dms: dict[frozenset[int], Channel] = {}
        self.webhooks: dict[int, Webhook] = {}
        self.pictures: dict[str, str | bytes] = {}  # hash -> address or bytes
        self.attachments: dict[int, tuple[Channel, Attachment]] = {}
        self.files_in_use: set[str] = set()  # of the file store
        self.whispers: dict[int, Message] = {}
        self.interactions: dict[str, Interaction] = {}  # by token
        self.nonces: dict[tuple[int, int, str], tuple[float, int]] = {}  # -> when, message

    def app_of(self, user_id: int) -> App | None:
        return next((app for app in self.apps.values() if app.user.id == user_id), None)

    def add_channel(self, channel: Channel) -> Channel:
        self.channels[channel.id] = channel
        if channel.guild is not None:
            place = channel.guild.threads if channel.thread else channel.guild.channels
            place[channel.id] = channel
        return channel

    def drop_channel(self, channel: Channel) -> None:
        """Remove a channel with its threads and webhooks."""
        for thread in list(self.threads_of(channel)):
            self.drop_channel(thread)
        for webhook in self.webhooks_in(channel):
            del self.webhooks[webhook.id]
        del self.channels[channel.id]
        if channel.guild is not None:
            channel.guild.channels.pop(channel.id, None)
            channel.guild.threads.pop(channel.id, None)

    def dm_of(self, first: User, other: User) -> Channel:
        """Return the DM channel between two users, created if needed."""
        pair = frozenset({first.id, other.id})
        if pair not in self.dms:
            both = {first.id: first, other.id: other}
            channel = Channel(self.ids.next(), ChannelType.DM, None, recipients=both)
            self.dms[pair] = self.add_channel(channel)
        return self.dms[pair]

    def threads_of(self, channel: Channel) -> Iterator[Channel]:
        if channel.guild is not None and channel.thread is None:
            yield from (t for t in channel.guild.threads.values() if t.parent is channel)

    def webhooks_in(self, channel: Channel) -> list[Webhook]:
        return [webhook for webhook in self.webhooks.values() if webhook.channel is channel]

    def share_a_guild(self, first: int, other_id: int) -> bool:
        return any(first in g.members and other_id in g.members for g in self.guilds.values())

    def keep_picture(self, picture: str | bytes) -> str:
        """Store a picture (its address or bytes) and return the hash that Discord uses for it."""
        raw = picture if isinstance(picture, bytes) else picture.encode()
        key = hashlib.sha256(raw).hexdigest()[:32]
        self.pictures[key] = picture
        return key
