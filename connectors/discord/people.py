"""Names and pictures of Discord users, as the members of their guild see them."""

from __future__ import annotations

from typing import Any

from pydantic import JsonValue, ValidationError

from bridge.errors import NotFound, Unsettled
from bridge.model import ActorId, ChannelRef, Person
from connectors.discord import ids
from connectors.discord.decode import person_of
from connectors.discord.rest import Rest
from connectors.discord.shapes import MemberData, UserData


async def look_up_person(rest: Rest, actor: ActorId, cdn: str) -> Person | None:
    """None for strangers, and for who speaks through a webhook: each post names them anew."""
    found = ids.split_actor(actor)
    if found is None:
        return None
    guild, user = found
    try:
        if guild != ids.DIRECT and (person := await _member(rest, guild, user, cdn)):
            return person
        return _read(guild, await _get(rest, f"/users/{user}", "user.get"), {}, cdn)
    except NotFound:
        return None


async def direct_channel(rest: Rest, actor: ActorId) -> ChannelRef:
    """The direct messages of this user and the bot, opened if there are none."""
    found = ids.split_actor(actor)
    if found is None:
        raise NotFound(f"{actor!r} is no user of Discord")
    doing = f"Opening direct messages of {actor}"
    body: dict[str, JsonValue] = {"recipient_id": found[1]}
    path = "/users/@me/channels"
    opened = await rest.request("POST", path, bucket="dm.open", doing=doing, body=body)
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
