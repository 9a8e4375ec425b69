"""Actions of people and apps: each changes the state, the gateway's events and the feed."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, Literal

from bridge.sandbox.feed import Change, Feed, LocalMessage
from connectors.discord.sandbox.drafts import Draft
from connectors.discord.sandbox.errors import thread_is_archived
from connectors.discord.sandbox.events import Event
from connectors.discord.sandbox.permissions import Permission, permissions_in
from connectors.discord.sandbox.rich.polls import result_embed
from connectors.discord.sandbox.shapes import (
    Json,
    channel_json,
    gateway_message_json,
    member_json,
    message_json,
    thread_json,
    user_json,
)
from connectors.discord.sandbox.snowflakes import iso_time, made_at
from connectors.discord.sandbox.state import (
    SPOKEN,
    App,
    Channel,
    ChannelType,
    Guild,
    Member,
    Message,
    MessageType,
    Reaction,
    State,
    ThreadData,
    User,
    Webhook,
)
from connectors.discord.sandbox.text import ALL_MENTIONS, Allowed, find_mentions, read_text
from connectors.discord.sandbox.uploads import attach

EPHEMERAL = 1 << 6
MAX_WHISPERS = 1000


class StateChanges:
    """Applies all changes of the state, and emits their events."""

    def __init__(
        self, state: State, feed: Feed, emit: Callable[[Event], None], base_url: str
    ) -> None:
        self.state = state
        self.base_url = base_url
        self.typed: deque[tuple[int, int]] = deque(maxlen=1000)  # channel id, user id
        self.left_guild: Callable[[App, Guild], None] = lambda _app, _guild: None
        self._feed = feed
        self._emit = emit

    def post(
        self,
        channel: Channel,
        author: User,
        draft: Draft,
        *,
        allowed: Allowed = ALL_MENTIONS,
        reply_to: Message | None = None,
        reference: Json | None = None,
        webhook: Webhook | None = None,
        application_id: int | None = None,
        nonce: str | int | None = None,
        message_id: int | None = None,
    ) -> Json:
        """Post a message in a channel or thread; returns it as REST does."""
        self._open_thread(channel, author)
        message = self.compose(channel, author, draft, message_id=message_id)
        message.type = MessageType.REPLY if reference else MessageType.DEFAULT
        message.webhook_id = webhook.id if webhook else None
        message.application_id = application_id
        message.reference = reference
        find_mentions(message, self.state, allowed, reply_to.author if reply_to else None)
        return self.publish(message, nonce)

    def compose(
        self, channel: Channel, author: User, draft: Draft, *, message_id: int | None = None
    ) -> Message:
        """Return the message of a draft, not yet added to its channel."""
        message = Message(
            id=message_id or self.state.ids.next(),
            channel=channel,
            author=author,
            content=draft.content or "",
            embeds=draft.embeds or [],
            components=draft.components or [],
            flags=draft.flags or 0,
            tts=draft.tts,
            poll=draft.poll,
        )
        if draft.files:
            message.attachments = attach(self.state, channel, draft.files, [])
        if message.poll is not None:
            message.poll.ends = self.state.now() + message.poll.hours * 3600
        return message

    def edit(self, message: Message, draft: Draft, allowed: Allowed) -> Json:
        """Change the fields that the draft has; returns the message as REST does."""
        if draft.content is not None or "content" in draft.body:
            message.content = draft.content or ""
            find_mentions(message, self.state, allowed)
        if draft.embeds is not None:
            message.embeds = draft.embeds
        if draft.components is not None:
            message.components = draft.components
        if draft.files is not None:
            message.attachments = attach(
                self.state, message.channel, draft.files, message.attachments,
                ephemeral=message.audience is not None,
            )  # fmt: skip
        if draft.flags is not None:
            message.flags = draft.flags | message.flags & 1 << 15
        message.edited = iso_time(self.state.now())
        if message.audience is not None:
            return message_json(message, self.state)
        shape = self._update(message)
        self._publish_change("edited", message, shape)
        return shape

    def whisper(self, message: Message, person: int) -> Json:
        """Show a composed message to one user only; no event is emitted."""
        message.audience = person
        message.flags |= EPHEMERAL
        for attachment in message.attachments:
            attachment.ephemeral = True
        whispers = self.state.whispers
        whispers[message.id] = message
        while len(whispers) > MAX_WHISPERS:
            del whispers[next(iter(whispers))]
        return message_json(message, self.state)

    def vote(self, message: Message, user: User, answers: set[int]) -> None:
        """Set a user's answers to the message's poll."""
        if message.poll is None:
            return
        added, removed = message.poll.vote(user.id, answers)
        for name, numbers in (
            ("MESSAGE_POLL_VOTE_REMOVE", removed), ("MESSAGE_POLL_VOTE_ADD", added),
        ):  # fmt: skip
            for number in numbers:
                data = {
                    "user_id": str(user.id), "message_id": str(message.id), "answer_id": number,
                    **_place(message.channel),
                }  # fmt: skip
                self._emit(Event(name, message.channel, data))
        self._publish_change("marked", message)

    def end_poll(self, message: Message) -> Json:
        """Count the votes once; a message in the channel replies to the poll with the result."""
        poll = message.poll
        if poll is None or poll.finalized:
            return message_json(message, self.state)
        poll.finalized = True
        poll.ends = self.state.now()
        shape = self._update(message)
        line = Message(
            id=self.state.ids.next(),
            channel=message.channel,
            author=message.author,
            content="",
            type=MessageType.POLL_RESULT,
            reference=reference_to(message),
            embeds=[result_embed(poll)],
        )
        self.publish(line)
        return shape

    def join(self, guild: Guild, user: User) -> None:
        """Add a member; Discord reports it in the system channel."""
        member = Member(user, iso_time(self.state.now()))
        guild.members[user.id] = member
        place = guild.channels.get(guild.system_channel or 0)
        if place is None:
            return
        shape = {**member_json(member), "guild_id": str(guild.id)}
        self._emit(Event("GUILD_MEMBER_ADD", place, shape))
        line = Message(
            id=self.state.ids.next(), channel=place, author=user, content="",
            type=MessageType.USER_JOIN,
        )  # fmt: skip
        self.publish(line)

    def leave(self, guild: Guild, user: User) -> None:
        """Remove a member; only apps with the intent GUILD_MEMBERS get an event."""
        del guild.members[user.id]
        place = guild.channels.get(guild.system_channel or 0)
        if place is not None:
            data = {"guild_id": str(guild.id), "user": user_json(user)}
            self._emit(Event("GUILD_MEMBER_REMOVE", place, data))

    def delete(self, message: Message) -> None:
        if message.audience is not None:
            self.state.whispers.pop(message.id, None)
            return
        channel = message.channel
        self._remove(message)
        self._emit(Event("MESSAGE_DELETE", channel, {"id": str(message.id), **_place(channel)}))

    def delete_many(self, channel: Channel, messages: list[Message]) -> None:
        for message in messages:
            self._remove(message)
        ids = [str(message.id) for message in messages]
        self._emit(Event("MESSAGE_DELETE_BULK", channel, {"ids": ids, **_place(channel)}))

    def start_thread_from(
        self, message: Message, author: User, name: str, minutes: int = 1440
    ) -> Channel:
        """Start a thread from a message; it has the message's id (docs: topics/threads)."""
        thread = self._new_thread(message.channel, message.id, author, name, minutes)
        message.thread = thread
        self._update(message)
        starter = Message(
            id=self.state.ids.next(),
            channel=thread,
            author=author,
            content="",
            type=MessageType.THREAD_STARTER,
            reference=reference_to(message),
        )
        self.publish(starter)
        return thread

    def start_thread(
        self,
        parent: Channel,
        author: User,
        name: str,
        *,
        minutes: int = 1440,
        private: bool = False,
        tags: list[str] | None = None,
    ) -> Channel:
        """Start a thread without a root message: private, public, or a forum post."""
        kind = ChannelType.PRIVATE_THREAD if private else None
        thread = self._new_thread(parent, self.state.ids.next(), author, name, minutes, kind)
        if parent.type == ChannelType.FORUM:
            parent.last_message_id = thread.id
            if thread.thread:
                thread.thread.applied_tags = tags or []
        elif not private:
            self._announce(thread, author)
        return thread

    def change_channel(self, channel: Channel) -> Json:
        """Emit that the fields of a channel or thread changed."""
        name = "THREAD_UPDATE" if channel.thread else "CHANNEL_UPDATE"
        shape = channel_json(channel)
        self._emit(Event(name, channel, shape))
        return shape

    def add_channel(self, channel: Channel) -> Json:
        shape = channel_json(self.state.add_channel(channel))
        self._emit(Event("CHANNEL_CREATE", channel, shape))
        return shape

    def delete_channel(self, channel: Channel) -> Json:
        shape = channel_json(channel)
        self.state.drop_channel(channel)
        if channel.thread is None:
            self._emit(Event("CHANNEL_DELETE", channel, shape))
        else:
            data = {key: shape[key] for key in ("id", "guild_id", "parent_id", "type")}
            self._emit(Event("THREAD_DELETE", channel, data))
        return shape

    def join_thread(self, channel: Channel, user: User) -> None:
        if channel.thread and user.id not in channel.thread.members:
            channel.thread.members[user.id] = iso_time(self.state.now())

    def react(self, message: Message, user: User, emoji: Json) -> None:
        key = f"{emoji['name']}:{emoji['id']}"
        reaction = message.reactions.setdefault(key, Reaction(emoji))
        if user.id in reaction.users:
            return
        reaction.users[user.id] = None
        data = self._reaction(message, user, emoji)
        guild = message.channel.guild
        if guild and (member := guild.members.get(user.id)):
            data["member"] = member_json(member)
        data["message_author_id"] = str(message.author.id)
        self._emit(Event("MESSAGE_REACTION_ADD", message.channel, data))
        self._publish_change("marked", message)

    def unreact(self, message: Message, user: User, emoji: Json) -> bool:
        """Remove a user's reaction; returns whether it existed."""
        key = f"{emoji['name']}:{emoji['id']}"
        reaction = message.reactions.get(key)
        if reaction is None or user.id not in reaction.users:
            return False
        del reaction.users[user.id]
        if not reaction.users:
            del message.reactions[key]
        data = self._reaction(message, user, emoji)
        self._emit(Event("MESSAGE_REACTION_REMOVE", message.channel, data))
        self._publish_change("marked", message)
        return True

    def clear_reactions(self, message: Message, emoji: Json | None = None) -> None:
        """Remove all reactions, or those with one emoji."""
        data: Json = {"message_id": str(message.id), **_place(message.channel)}
        if emoji is None:
            message.reactions.clear()
            self._emit(Event("MESSAGE_REACTION_REMOVE_ALL", message.channel, data))
        elif message.reactions.pop(f"{emoji['name']}:{emoji['id']}", None):
            name = "MESSAGE_REACTION_REMOVE_EMOJI"
            self._emit(Event(name, message.channel, {**data, "emoji": emoji}))
        self._publish_change("marked", message)

    def pin(self, message: Message, user: User) -> None:
        """Pin a message; emits both updates and posts the message that says who pinned."""
        message.pinned_at = iso_time(self.state.now())
        self._publish_change("marked", message, self._update(message))
        self._emit_pins(message.channel)
        line = Message(
            id=self.state.ids.next(), channel=message.channel, author=user, content="",
            type=MessageType.PINNED, reference=reference_to(message),
        )  # fmt: skip
        self.publish(line)

    def unpin(self, message: Message) -> None:
        """Unpin a message; Discord does not say who did it."""
        message.pinned_at = None
        self._publish_change("marked", message, self._update(message))
        self._emit_pins(message.channel)

    def _emit_pins(self, channel: Channel) -> None:
        pins = (message.pinned_at for message in channel.messages.values() if message.pinned_at)
        data = {**_place(channel), "last_pin_timestamp": max(pins, default=None)}
        self._emit(Event("CHANNEL_PINS_UPDATE", channel, data))

    def type_in(self, channel: Channel, user: User) -> None:
        self.typed.append((channel.id, user.id))
        data: Json = {
            "user_id": str(user.id), "timestamp": int(self.state.now()), **_place(channel),
        }  # fmt: skip
        if channel.guild and (member := channel.guild.members.get(user.id)):
            data["member"] = member_json(member)
        self._emit(Event("TYPING_START", channel, data))

    def add_webhook(self, webhook: Webhook) -> None:
        self.state.webhooks[webhook.id] = webhook
        self.change_webhooks(webhook.channel)

    def delete_webhook(self, webhook: Webhook) -> None:
        del self.state.webhooks[webhook.id]
        self.change_webhooks(webhook.channel)

    def change_webhooks(self, channel: Channel) -> None:
        self._emit(Event("WEBHOOKS_UPDATE", channel, _place(channel)))

    def to_shown(self, message: Message, shape: Json | None = None) -> LocalMessage:
        """Return a message as a user sees it, for the feed."""
        channel = message.channel
        guild = channel.guild
        member = guild.members.get(message.author.id) if guild else None
        is_webhook = message.webhook_id is not None
        return LocalMessage(
            platform="discord",
            workspace=str(guild.id) if guild else "@me",
            channel=str(channel.root.id),
            thread=str(channel.id) if channel.thread else None,
            id=str(message.id),
            author=member.display_name if member else message.author.display_name,
            author_id=str(message.author.id),
            picture=self._picture(message.author),
            bot=message.author.bot or is_webhook,
            text=read_text(message.content, guild, self.state),
            time=made_at(message.id),
            edited=message.edited is not None,
            reactions={
                _emoji_name(reaction.emoji): tuple(str(user) for user in reaction.users)
                for reaction in message.reactions.values()
            },
            pinned=message.pinned_at is not None,
            raw=message_json(message, self.state) if shape is None else shape,
        )

    def _remove(self, message: Message) -> None:
        channel = message.channel
        channel.remove(message.id)
        if channel.thread is not None and _counts(message):
            channel.thread.message_count -= 1
        self._publish_change("deleted", message, message_json(message, self.state))

    def publish(self, message: Message, nonce: str | int | None = None) -> Json:
        """Add a composed message to its channel and emit it; returns it as REST does."""
        channel = message.channel
        channel.add(message)
        if channel.thread is not None and _counts(message):
            channel.thread.total_sent += 1
            channel.thread.message_count += 1
        shape = message_json(message, self.state)
        if nonce is not None:
            shape["nonce"] = nonce
        gateway_shape = gateway_message_json(message, shape)
        self._emit(Event("MESSAGE_CREATE", channel, gateway_shape, message))
        self._publish_change("posted", message, shape)
        return shape

    def _update(self, message: Message) -> Json:
        shape = message_json(message, self.state)
        gateway_shape = gateway_message_json(message, shape)
        self._emit(Event("MESSAGE_UPDATE", message.channel, gateway_shape, message))
        return shape

    def _publish_change(
        self,
        kind: Literal["posted", "edited", "deleted", "marked"],
        message: Message,
        shape: Json | None = None,
    ) -> None:
        if message.type in SPOKEN:
            self._feed.publish(Change(kind=kind, message=self.to_shown(message, shape)))

    def _open_thread(self, channel: Channel, author: User) -> None:
        """Join the thread and unarchive it, as posting does, unless it is locked."""
        thread = channel.thread
        if thread is None:
            return
        if thread.archived:
            may_unlock = permissions_in(channel, author.id) & Permission.MANAGE_THREADS
            if thread.locked and not may_unlock:
                raise thread_is_archived()
            thread.archived = False
            thread.archive_time = iso_time(self.state.now())
            self.change_channel(channel)
        if author.id in self.state.users:
            self.join_thread(channel, author)

    def _new_thread(
        self,
        parent: Channel,
        thread_id: int,
        author: User,
        name: str,
        minutes: int,
        kind: ChannelType | None = None,
    ) -> Channel:
        now = iso_time(self.state.now())
        of_news = parent.type == ChannelType.ANNOUNCEMENT
        public = ChannelType.ANNOUNCEMENT_THREAD if of_news else ChannelType.PUBLIC_THREAD
        data = ThreadData(author.id, now, minutes)
        if author.id in self.state.users:
            data.members[author.id] = now
        thread = Channel(thread_id, kind or public, name, parent.guild, parent, thread=data)
        self.state.add_channel(thread)
        shape = thread_json(thread) | {"newly_created": True}
        self._emit(Event("THREAD_CREATE", thread, shape))
        return thread

    def _announce(self, thread: Channel, author: User) -> None:
        """Post the message "... started a thread" in the parent channel."""
        if thread.parent is None or thread.guild is None:
            return
        reference = {"type": 0, "channel_id": str(thread.id), "guild_id": str(thread.guild.id)}
        line = Message(
            id=self.state.ids.next(),
            channel=thread.parent,
            author=author,
            content=thread.name or "",
            type=MessageType.THREAD_CREATED,
            reference=reference,
        )
        self.publish(line)

    def _reaction(self, message: Message, user: User, emoji: Json) -> Json:
        return {
            "user_id": str(user.id), "message_id": str(message.id), "emoji": emoji,
            "burst": False, "type": 0, **_place(message.channel),
        }  # fmt: skip

    def _picture(self, user: User) -> str | None:
        if user.avatar is None:
            return None
        picture = self.state.pictures.get(user.avatar)
        if isinstance(picture, str):
            return picture
        return f"{self.base_url}/discord/avatars/{user.id}/{user.avatar}.png"


def _emoji_name(emoji: Json) -> str:
    return f":{emoji['name']}:" if emoji["id"] else emoji["name"]


def author_of(webhook: Webhook, name: str | None, avatar: str | None) -> User:
    """Return the author of a webhook's post: the webhook, with this post's name and picture."""
    return User(webhook.id, name or webhook.name, None, avatar or webhook.avatar, bot=True)


def reference_to(target: Message) -> Json:
    """Return the `message_reference` of a reply to a message."""
    shape: Json = {
        "type": 0, "channel_id": str(target.channel.id), "message_id": str(target.id),
    }  # fmt: skip
    if target.channel.guild:
        shape["guild_id"] = str(target.channel.guild.id)
    return shape


def _counts(message: Message) -> bool:
    """Return whether a thread counts the message: its root is not counted."""
    return message.type in SPOKEN and message.id != message.channel.id


def _place(channel: Channel) -> dict[str, Any]:
    place = {"channel_id": str(channel.id)}
    return place | {"guild_id": str(channel.guild.id)} if channel.guild else place
