"""A channel -> who reads it beside those whom somebody let in: everybody who joins the server."""

from __future__ import annotations

from collections.abc import Sequence

from bridge.model import ChannelRef
from connectors.discord import ids
from connectors.discord.capabilities import PERMISSIONS
from connectors.discord.channels import guild_facts, permissions_in
from connectors.discord.rest import Rest

_PUBLIC = "DISCOVERABLE"  # a feature of servers that Discord itself lists (docs: resources/guild)


async def outsiders(rest: Rest, user: str, channel: ChannelRef) -> Sequence[str]:
    """In words; `user` is our bot. Raises PlatformError."""
    if ids.is_direct(channel):
        return ()
    guild, _, channels = await guild_facts(rest, channel.workspace, user)
    here = next((one for one in channels if str(one.get("id")) == channel.channel), None)
    if here is None or not permissions_in(guild, {}, here, "") & PERMISSIONS["View Channels"]:
        return ()
    listed = _PUBLIC in (guild.get("features") or ())
    where = "the server, which Discord lists for all to find" if listed else "the server"
    return (f"everybody who joins {where}",)
