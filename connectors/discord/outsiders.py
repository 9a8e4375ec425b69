"""A channel -> the readers that nobody invited: everybody who joins the server."""

from __future__ import annotations

from collections.abc import Sequence

from bridge.model import ChannelRef
from connectors.discord import ids
from connectors.discord.capabilities import PERMISSIONS
from connectors.discord.channels import guild_facts, permissions_in
from connectors.discord.identity import BotIdentity
from connectors.discord.rest import Rest

_PUBLIC = (
    "DISCOVERABLE"  # the feature of servers in Discord's public directory (docs: resources/guild)
)


class Outsiders:
    """The readers of a channel that nobody invited."""

    def __init__(self, rest: Rest, bot: BotIdentity) -> None:
        self._rest = rest
        self._bot = bot

    async def of_channel(self, channel: ChannelRef) -> Sequence[str]:
        """Return a description of each group of uninvited readers. Raises PlatformError."""
        user = (await self._bot.identity()).user
        if ids.is_direct(channel):
            return ()
        guild, _, channels = await guild_facts(self._rest, channel.workspace, user)
        channel_data = next(
            (candidate for candidate in channels if str(candidate.get("id")) == channel.channel),
            None,
        )
        if (
            channel_data is None
            or not permissions_in(guild, {}, channel_data, "") & PERMISSIONS["View Channels"]
        ):
            return ()
        listed = _PUBLIC in (guild.get("features") or ())
        where = "the server, which Discord lists for all to find" if listed else "the server"
        return (f"everybody who joins {where}",)
