"""Names and pictures of Discord users, as the members of their guild see them."""

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
    """The users of Discord, as the servers show them, and our own bot."""

    def __init__(self, rest: Rest, bot: BotIdentity, cdn: str) -> None:
        self._rest = rest
        self._bot = bot
        self._cdn = cdn

    @property
    def own_name(self) -> str:
        return self._bot.cached.name if self._bot.cached else ""

    async def person(self, actor: ActorId) -> Person | None:
        """None for strangers, and for who speaks through a webhook: each post names them anew."""
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
    """The direct messages of one user and the bot."""

    def __init__(self, rest: Rest) -> None:
        self._rest = rest

    def is_direct(self, channel: ChannelRef) -> bool:
        return ids.is_direct(channel)

    async def open(self, actor: ActorId) -> ChannelRef:
        """The direct messages of this user and the bot, opened if there are none."""
        guild_and_user = ids.split_actor(actor)
        if guild_and_user is None:
            raise NotFound(f"{actor!r} is no user of Discord")
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
        text = "Discord's answer about a person is not understood"
        raise Unsettled(text, code="broken") from None


async def _get(rest: Rest, path: str, bucket: str) -> dict[str, Any]:
    answer = await rest.request("GET", path, bucket=bucket, doing=f"Looking up {path}")
    return answer if isinstance(answer, dict) else {}
