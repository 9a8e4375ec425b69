"""The channels of an account: those of the configuration, and those that the server lists."""

from __future__ import annotations

from collections.abc import Sequence

from bridge.model import ChannelRef
from bridge.ports.abilities.channels import ChannelInfo
from connectors.irc import ids
from connectors.irc.session import Session


class Channels:
    """The channels of one account."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def visible(self) -> Sequence[ChannelInfo]:
        """Those that the bot is to be in: IRC has no list of what one may join that ends."""
        session = self._session
        joined = session.speaker.link.state if session.speaker else None
        return [
            ChannelInfo(
                ref=ids.channel_ref(session.network, name),
                name=name.lstrip("#&"),
                ours=joined is None or joined.is_joined(name),
                workspace_name=session.network,
            )
            for name in session.channels
        ]

    async def name(self, channel: ChannelRef) -> str | None:
        return channel.channel.lstrip("#&")

    def with_id(self, channel: str, workspace: str | None) -> ChannelRef | None:
        """`#name` at its word; from now on the bot is to be in it. No network."""
        network = self._session.network
        if workspace not in (None, "", network) or channel[:1] not in "#&+!" or not channel:
            return None
        if any(character in channel for character in " ,\x07\0\r\n"):
            return None
        self._session.add_channels([channel])
        return ids.channel_ref(network, channel)
