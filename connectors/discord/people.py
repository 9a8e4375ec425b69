"""Names and pictures of Discord users, as members of their guild see them."""

from __future__ import annotations

from typing import Any

from pydantic import JsonValue, ValidationError

from bridge.errors import NotFound, Unsettled
from bridge.model import ActorId, ChannelRef, Person
from connectors.discord import ids
from connectors.discord.decode import person_of
from connectors.discord.identity import BotIdentity
from connectors.discord.rest import Rest
from connectors.discord.shapes import MemberData, UserData


class People:
    """Looks up Discord users as their guild shows them, and our bot's name."""

    def __init__(self, rest: Rest, bot: BotIdentity, cdn: str) -> None:
        self._rest = rest
        self._bot = bot
        self._cdn = cdn

    @property
    def own_name(self) -> str:
        return self._bot.cached.name if self._bot.cached else ""

    async def person(self, actor: ActorId) -> Person | None:
        """Return the actor's name and picture in its guild; None if Discord does not know it.

        Also None for authors of webhook posts: each post carries their name. Raises PlatformError.
        """
        guild_and_user = ids.split_actor(actor)
        if guild_and_user is None:
            return None
        guild, user = guild_and_user
        try:
            if guild != ids.DIRECT and (
                person := await _member(self._rest, guild, user, self._cdn)
            ):
                return person
            return _read(guild, await _get(self._rest, f"/users/{user}", "user.get"), {}, self._cdn)
        except NotFound:
            return None


class DirectMessages:
    """Direct-message channels between the bot and one user each."""

    def __init__(self, rest: Rest) -> None:
        self._rest = rest

    def is_direct(self, channel: ChannelRef) -> bool:
        return ids.is_direct(channel)

    async def open(self, actor: ActorId) -> ChannelRef:
        """Return the channel of direct messages with this user; Discord opens it if needed.

        Raises NotFound if the actor is not a Discord user, else PlatformError.
        """
        guild_and_user = ids.split_actor(actor)
        if guild_and_user is None:
            raise NotFound(f"{actor!r} is not a Discord user")
        doing = f"Opening direct messages of {actor}"
        body: dict[str, JsonValue] = {"recipient_id": guild_and_user[1]}
        path = "/users/@me/channels"
        opened = await self._rest.request("POST", path, bucket="dm.open", doing=doing, body=body)
        return ids.channel_ref(None, str(opened["id"]))


async def _member(rest: Rest, guild: str, user: str, cdn: str) -> Person | None:
    try:
        member = await _get(rest, f"/guilds/{guild}/members/{user}", f"member.get {guild}")
    except NotFound:
        return None  # left the guild; Discord still knows the user
    return _read(guild, member.get("user"), member, cdn)


def _read(guild: str, user: object, member: object, cdn: str) -> Person:
    try:
        channel = ids.channel_ref(guild, "0")
        return person_of(
            channel, UserData.model_validate(user), MemberData.model_validate(member), cdn
        )
    except ValidationError:
        text = "Discord's answer about a user has an unknown shape"
        raise Unsettled(text, code="broken") from None


async def _get(rest: Rest, path: str, bucket: str) -> dict[str, Any]:
    answer = await rest.request("GET", path, bucket=bucket, doing=f"Looking up {path}")
    return answer if isinstance(answer, dict) else {}
