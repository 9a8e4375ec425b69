"""What people say and do in a conversation: it is seen there, and told to the bots in it."""

from __future__ import annotations

from typing import Literal, TypeAlias

from bridge.sandbox.feed import Change, Shown
from bridge.sandbox.platform import Surroundings
from bridge.sandbox.teams import shapes
from bridge.sandbox.teams.drive import Drive
from bridge.sandbox.teams.events import Outbox
from bridge.sandbox.teams.state import Bot, Conversation, Message, Tenant
from bridge.sandbox.teams.text import typed

Happening: TypeAlias = Literal["posted", "edited", "deleted"]


class Room:
    """The tenant with all that hears of what happens in it."""

    def __init__(
        self, around: Surroundings, tenant: Tenant, outbox: Outbox, drive: Drive
    ) -> None:  # fmt: skip
        self.tenant = tenant
        self.outbox = outbox
        self.drive = drive
        self._around = around

    def service_url(self, bot: Bot) -> str:
        path = "svc/" if bot.auth else f"noauth/{bot.app_id}/"
        return f"{self._around.base_url}/teams/{path}"

    def bots_in(self, conversation: Conversation) -> list[Bot]:
        bots = self.tenant.bots
        return [bot for app_id, bot in bots.items() if app_id in conversation.installed]

    def publish(self, kind: Happening, message: Message) -> Shown:
        shown = self.shown(message)
        self._around.feed.publish(Change(kind=kind, message=shown))
        return shown

    def shown(self, message: Message, viewer: str = "") -> Shown:
        """A message as everybody sees it, or as one person does."""
        return shapes.shown(self.tenant, message, self.drive, viewer)

    def say(self, message: Message, also: Bot | None = None) -> Shown:
        """A person's message stands, and is told to those who hear it; to `also` in any case."""
        self.tenant.add_message(message)
        shown = self.publish("posted", message)
        conversation = message.conversation
        bots = self.bots_in(conversation)
        said = typed(message.text, [*conversation.people, *bots])
        mentioned = {mention["mentioned"]["id"] for mention in said.mentions}
        for bot in bots:
            hears = bot.hears_all or bot.id in mentioned or conversation.kind == "personal"
            if bot.endpoint and (hears or bot is also):
                url = self.service_url(bot)
                activity = shapes.message_activity(self.tenant, message, said, bot, url, self.drive)
                self.outbox.push(bot, conversation.id, activity)
        return shown
