"""Slack's users and bots -> persons, looked up by id."""

from __future__ import annotations

from bridge.errors import NotFound
from bridge.model import ActorId, ChannelRef, Person
from connectors.slack import ids
from connectors.slack.identity import OwnIdentity
from connectors.slack.json_values import Json, object_at, text_at
from connectors.slack.payload import person_of, picture_of
from connectors.slack.send import WebApi


class People:
    """The people and bots of one workspace, and our own bot."""

    def __init__(self, api: WebApi, own_identity: OwnIdentity) -> None:
        self._api = api
        self._own_identity = own_identity

    @property
    def own_name(self) -> str:
        """The handle of our bot, "" until it is known."""
        return self._own_identity.cached.handle if self._own_identity.cached else ""

    async def person(self, actor: ActorId) -> Person | None:
        """The name and picture as the workspace shows them; None when Slack does not know the
        actor.

        Raises PlatformError.
        """
        parts = ids.split_actor(actor)
        if parts is None:
            return None
        _team, native, borrowed = parts
        try:
            if native.startswith("B"):
                answer = await self._api.read("bots.info", bot=native)
                return _bot(actor, object_at(answer, "bot"), borrowed)
            answer = await self._api.read("users.info", user=native)
            return person_of(actor, object_at(answer, "user"), borrowed)
        except NotFound:
            return None

    async def email(self, actor: ActorId) -> str | None:
        """The confirmed address of a member; Slack gives it to apps with the scope
        users:read.email.

        Returns None when there is none. Raises PlatformError.
        """
        parts = ids.split_actor(actor)
        if parts is None or parts[1].startswith("B"):
            return None
        try:
            user = object_at(await self._api.read("users.info", user=parts[1]), "user")
        except NotFound:
            return None
        unsure = user.get("is_bot") is True or user.get("is_email_confirmed") is False
        return None if unsure else text_at(user, "profile", "email") or None


class DirectMessages:
    """The direct conversations of people with the bot."""

    def __init__(self, api: WebApi) -> None:
        self._api = api

    def is_direct(self, channel: ChannelRef) -> bool:
        """Whether the channel is a direct conversation."""
        return ids.is_direct(channel.channel)

    async def open(self, actor: ActorId) -> ChannelRef:
        """The conversation of this person and the bot, opened if there is none.

        Raises NotFound when the actor is not on Slack, and PlatformError.
        """
        parts = ids.split_actor(actor)
        if parts is None:
            raise NotFound(f"{actor!r} is not a Slack actor")
        team, native, _ = parts
        opened = await self._api.read("conversations.open", users=native)
        return ids.channel_ref(team, text_at(opened, "channel", "id"))


def _bot(actor: ActorId, bot: Json, borrowed: str | None) -> Person | None:
    name = borrowed or text_at(bot, "name")
    if not name:
        return None
    return Person(id=actor, name=name, picture=picture_of(object_at(bot, "icons")), bot=True)
