"""Changes in a conversation: they are published in the feed and delivered to its bots."""

from __future__ import annotations

import time
from collections import deque
from typing import Literal, TypeAlias

from bridge.sandbox.feed import Change, LocalMessage
from bridge.sandbox.platform import SandboxContext
from connectors.teams.sandbox import shapes
from connectors.teams.sandbox.drive import Drive
from connectors.teams.sandbox.events import Outbox
from connectors.teams.sandbox.state import Bot, Conversation, Json, Message, Person, Tenant
from connectors.teams.sandbox.text import Typed, typed

Happening: TypeAlias = Literal["posted", "edited", "deleted", "marked"]


class Room:
    """The tenant, and the receivers of its changes: the feed and the bots."""

    def __init__(
        self, context: SandboxContext, tenant: Tenant, outbox: Outbox, drive: Drive
    ) -> None:  # fmt: skip
        self.tenant = tenant
        self.outbox = outbox
        self.drive = drive
        self.typed: deque[tuple[str, str]] = deque(maxlen=1000)  # conversation, who
        self._context = context

    def service_url(self, bot: Bot) -> str:
        path = "svc/" if bot.auth else f"noauth/{bot.app_id}/"
        return f"{self._context.base_url}/teams/{path}"

    def bots_in(self, conversation: Conversation) -> list[Bot]:
        bots = self.tenant.bots
        return [bot for app_id, bot in bots.items() if app_id in conversation.installed]

    def publish(self, kind: Happening, message: Message) -> LocalMessage:
        message_view = self.to_shown(message)
        self._context.feed.publish(Change(kind=kind, message=message_view))
        return message_view

    def to_shown(self, message: Message, viewer: str = "") -> LocalMessage:
        """Return a message as everybody sees it, or as `viewer` sees it."""
        return shapes.to_shown(self.tenant, message, self.drive, viewer)

    def say(self, message: Message, also: Bot | None = None) -> LocalMessage:
        """Post a person's message, and deliver it to the bots that receive it and to `also`."""
        self.tenant.add_message(message)
        message_view = self.publish("posted", message)
        typed_text = self._typed(message)
        for bot in self._receiving_bots(message, typed_text, also):
            self.outbox.push(bot, message.conversation.id, self._activity(message, typed_text, bot))
        return message_view

    def edit(self, message: Message, text: str) -> LocalMessage:
        """Edit a message, and deliver the edit to the bots that would receive it as a post."""
        message.text = text
        message.edited = True
        message_view = self.publish("edited", message)
        typed_text, now = self._typed(message), self._now()
        for bot in self._receiving_bots(message, typed_text):
            activity = shapes.message_edited(self._activity(message, typed_text, bot), now)
            self.outbox.push(bot, message.conversation.id, activity)
        return message_view

    def delete(self, message: Message) -> None:
        """Delete a message, and notify the bots that would have received its last text."""
        message.deleted = True
        self.publish("deleted", message)
        now = self._now()
        for bot in self._receiving_bots(message, self._typed(message)):
            url = self.service_url(bot)
            activity = shapes.message_deleted(self.tenant, message, bot, url, now)
            self.outbox.push(bot, message.conversation.id, activity)

    def come_or_go(self, where: Conversation, person: Person, *, joined: bool) -> None:
        """Add or remove a person, and notify the bots of the team or group chat."""
        if joined:
            where.people.append(person)
        else:
            where.people.remove(person)
        conversation = where.team.id if where.team else where.id
        for bot in self.bots_in(where):
            url, now = self.service_url(bot), self._now()
            activity = shapes.people_changed(
                self.tenant, where, person, bot, url, now, joined=joined
            )
            self.outbox.push(bot, conversation, activity)

    def rename(self, where: Conversation, by: Person, name: str) -> None:
        where.name = name
        conversation = where.team.id if where.team else where.id
        for bot in self.bots_in(where):
            url, now = self.service_url(bot), self._now()
            self.outbox.push(
                bot,
                conversation,
                shapes.conversation_renamed(self.tenant, where, by, bot, url, now),
            )

    def react(self, message: Message, by: Person | Bot, kind: str, *, added: bool) -> None:
        """Add or remove a reaction.

        A bot receives only reactions of people to its own messages (msteams-docs, "Bot messages and
        reactions", 2026).
        """
        reactors = message.reactions.setdefault(kind, [])
        if added != (by in reactors):
            reactors.append(by) if added else reactors.remove(by)
            if isinstance(by, Person) and isinstance(message.author, Bot):
                self._tell_reaction(message, message.author, by, kind, added=added)
        if not reactors:
            del message.reactions[kind]
        self.publish("marked", message)

    def pin(self, message: Message, *, pinned: bool) -> None:
        """Pin or unpin a message; the Bot Framework has no event for it."""
        message.pinned = pinned
        self.publish("marked", message)

    def _tell_reaction(
        self, message: Message, bot: Bot, by: Person, kind: str, *, added: bool
    ) -> None:
        if bot.endpoint and bot in self.bots_in(message.conversation):
            activity = shapes.message_reaction(
                self.tenant, message, by, bot, self.service_url(bot), self._now(), kind, added=added
            )
            self.outbox.push(bot, message.conversation.id, activity)

    def type_in(self, conversation: Conversation, by: Person | Bot) -> None:
        """Show a typing indicator; bots receive it in personal chats."""
        self.typed.append((conversation.id, by.id))
        if isinstance(by, Person) and conversation.kind == "personal":
            for bot in self.bots_in(conversation):
                if bot.endpoint:
                    activity = shapes.typing(
                        self.tenant, conversation, by, bot, self.service_url(bot), self._now()
                    )
                    self.outbox.push(bot, conversation.id, activity)

    def _receiving_bots(
        self, message: Message, typed_text: Typed, also: Bot | None = None
    ) -> list[Bot]:
        """Return the bots that receive a person's message."""
        mentioned = {mention["mentioned"]["id"] for mention in typed_text.mentions}
        personal = message.conversation.kind == "personal"
        return [
            bot
            for bot in self.bots_in(message.conversation)
            if bot.endpoint and (bot.hears_all or bot.id in mentioned or personal or bot is also)
        ]

    def _typed(self, message: Message) -> Typed:
        conversation = message.conversation
        return typed(message.text, [*conversation.people, *self.bots_in(conversation)])

    def _activity(self, message: Message, typed_text: Typed, bot: Bot) -> Json:
        url = self.service_url(bot)
        return shapes.message_activity(self.tenant, message, typed_text, bot, url, self.drive)

    def _now(self) -> float:
        """Return a time after all messages, in seconds with milliseconds."""
        return int(self.tenant.next_id(time.time())) / 1000
