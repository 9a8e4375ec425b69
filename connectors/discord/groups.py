"""The roles of a Discord user, looked up by their id."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from bridge.errors import NotFound
from bridge.model import ActorId, split_key
from bridge.model.refs import join_key
from connectors.discord import ids
from connectors.discord.rest import Rest

_MAX_GUILDS = 10  # guilds queried for the roles of a direct message's author


class Groups:
    """The roles of the servers that the bot is in."""

    def __init__(self, rest: Rest) -> None:
        self._rest = rest

    async def of_actor(self, actor: ActorId, globs: Sequence[str]) -> frozenset[str]:
        """Return the actor's roles as group keys of their guild. Raises PlatformError.

        For a direct message, the guilds named in `globs` are queried. Discord has no guests.
        """
        guild_and_user = ids.split_actor(actor)
        if guild_and_user is None:
            return frozenset()
        guild, user = guild_and_user
        guilds = [guild] if guild != ids.DIRECT else _guilds_of(globs)
        return frozenset([key for guild in guilds for key in await _roles(self._rest, guild, user)])

    async def by_id(self, workspaces: Collection[str]) -> Mapping[str, str]:
        """Return the names of the guilds' roles by role id. Raises PlatformError."""
        names: dict[str, str] = {}
        for guild in workspaces:
            path = f"/guilds/{guild}/roles"
            listed = await self._rest.read(path, bucket=f"roles {guild}", doing=f"Reading {path}")
            roles = [role for role in listed if isinstance(role, dict)] if listed else []
            names |= {str(role.get("id")): str(role.get("name")) for role in roles}
        return names


def _guilds_of(patterns: Sequence[str]) -> list[str]:
    fields = [
        split_key(pattern) for pattern in patterns if pattern.startswith(f"group:{ids.PLATFORM}:")
    ]
    guilds = dict.fromkeys(field[2] for field in fields if len(field) > 2 and field[2].isdecimal())
    return list(guilds)[:_MAX_GUILDS]


async def _roles(rest: Rest, guild: str, user: str) -> list[str]:
    path = f"/guilds/{guild}/members/{user}"
    try:
        member = await rest.request(
            "GET", path, bucket=f"member.get {guild}", doing=f"Looking up {path}"
        )
    except NotFound:
        return []  # the user is not a member of this guild
    roles = member.get("roles") if isinstance(member, dict) else None
    listed = roles if isinstance(roles, list) else []
    return [join_key("group", ids.PLATFORM, guild, str(role)) for role in listed]
