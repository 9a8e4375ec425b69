"""The channels that the bot can see and its permissions in each."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any

from bridge.errors import Refused
from bridge.model import ChannelRef
from bridge.ports.abilities.channels import ChannelInfo
from bridge.ports.installs import Tenancy
from connectors.discord import ids
from connectors.discord.capabilities import (
    ADMINISTRATOR,
    CHANNEL_KINDS,
    PERMISSIONS,
    REQUIRED_PERMISSIONS,
)
from connectors.discord.identity import BotIdentity
from connectors.discord.rest import Rest

_EVERYTHING = (1 << 63) - 1
_GUILDS_PAGE = 200
_VIEW = PERMISSIONS["View Channels"]
NO_ACCESS = "no-access"
_NEEDED = sum(PERMISSIONS[name] for name in REQUIRED_PERMISSIONS)

Json = dict[str, Any]


class Channels:
    """The channels of the servers that the bot is in."""

    def __init__(self, rest: Rest, bot: BotIdentity, tenancy: Tenancy | None = None) -> None:
        """`tenancy`: only the guilds that installed the app."""
        self._rest = rest
        self._bot = bot
        self._tenancy = tenancy

    async def visible(self) -> Sequence[ChannelInfo]:
        """Return the text channels of all guilds that the bot is in.

        `ours` is True where the bot has every required permission. Raises PlatformError.
        """
        user = (await self._bot.identity()).user
        channel_infos: list[ChannelInfo] = []
        async for guild in _guilds(self._rest):
            guild_id = str(guild["id"])
            if self._tenancy is not None and not await self._tenancy.admits(guild_id):
                continue
            guild_data, member, channels = await guild_facts(self._rest, guild_id, user)
            names = {str(channel.get("id")): str(channel.get("name") or "") for channel in channels}
            for channel in channels:
                kind = CHANNEL_KINDS.get(channel.get("type", -1))
                if kind is None:
                    continue
                granted = permissions_in(guild_data, member, channel, user)
                channel_infos.append(
                    ChannelInfo(
                        ref=ids.channel_ref(guild_id, str(channel["id"])),
                        name=str(channel.get("name") or channel["id"]),
                        ours=granted & _NEEDED == _NEEDED,
                        kind=kind,
                        workspace_name=str(guild.get("name") or guild_id),
                        group=names.get(str(channel.get("parent_id")), ""),
                    )
                )
        return channel_infos

    async def name(self, channel: ChannelRef) -> str | None:
        """Return the channel's name, or None if it has none. Raises PlatformError.

        A channel that @everyone may not view is named `no-access`, as Discord shows it to users
        without the permission.
        """
        try:
            path = f"/channels/{channel.channel}"
            channel_data = _object(await _get(self._rest, path, f"channel.get {channel.channel}"))
        except Refused:  # not found, or not for the bot to see
            return NO_ACCESS
        guild = str(channel_data.get("guild_id") or channel.workspace)
        for overwrite in _objects(channel_data.get("permission_overwrites")):
            if str(overwrite.get("id")) == guild and _bits(overwrite.get("deny")) & _VIEW:
                return NO_ACCESS
        return str(channel_data.get("name") or "") or None

    def with_id(self, channel: str, workspace: str | None) -> ChannelRef | None:
        """Return None: `visible` already lists every channel."""
        return None


async def guild_facts(rest: Rest, guild: str, user: str) -> tuple[Json, Json, Sequence[Json]]:
    """Return the guild with its roles, the user's member object, and the guild's channels.

    Raises PlatformError.
    """
    guild_data = await _get(rest, f"/guilds/{guild}", "guild.get")
    member = await _get(rest, f"/guilds/{guild}/members/{user}", "guild.member")
    channels = await _get(rest, f"/guilds/{guild}/channels", "guild.channels")
    return _object(guild_data), _object(member), [*_objects(channels)]


def permissions_in(guild: Json, member: Json, channel: Json, user: str) -> int:
    """Return the member's permission bits in a channel.

    Source: docs, topics/permissions, "permission overwrites".
    """
    if guild.get("owner_id") == user:
        return _EVERYTHING
    guild_id = str(guild.get("id"))
    roles = {guild_id, *(str(role) for role in member.get("roles") or ())}
    granted = 0
    for role in _objects(guild.get("roles")):
        if str(role.get("id")) in roles:
            granted |= _bits(role.get("permissions"))
    if granted & ADMINISTRATOR:
        return _EVERYTHING
    overwrites = {
        str(overwrite.get("id")): overwrite
        for overwrite in _objects(channel.get("permission_overwrites"))
    }
    for overwrite_ids in ([guild_id], sorted(roles - {guild_id}), [user]):
        group_overwrites = [
            overwrites[overwrite] for overwrite in overwrite_ids if overwrite in overwrites
        ]
        for overwrite in group_overwrites:
            granted &= ~_bits(overwrite.get("deny"))
        for overwrite in group_overwrites:
            granted |= _bits(overwrite.get("allow"))
    return granted if granted & PERMISSIONS["View Channels"] else 0


async def _guilds(rest: Rest) -> AsyncIterator[Json]:
    after = "0"
    while True:
        query: dict[str, str | int] = {"limit": _GUILDS_PAGE, "after": after}
        page = [*_objects(await _get(rest, "/users/@me/guilds", "user.guilds", query))]
        for guild in page:
            yield guild
        if len(page) < _GUILDS_PAGE:
            return
        after = str(page[-1]["id"])


async def _get(
    rest: Rest, path: str, bucket: str, query: dict[str, str | int] | None = None
) -> Any:
    return await rest.read(path, bucket=bucket, doing=f"Reading {path}", query=query)


def _bits(value: object) -> int:
    return int(value) if isinstance(value, str) and value.isdecimal() else 0


def _object(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def _objects(value: object) -> Iterable[Json]:
    return (item for item in value if isinstance(item, dict)) if isinstance(value, list) else ()
