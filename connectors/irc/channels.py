"""The channels of an account: those of the configuration, and what the server says of them."""

from __future__ import annotations

from collections.abc import Sequence

from bridge.model import ChannelRef
from bridge.ports.abilities.channels import ChannelInfo
from connectors.irc import ids
from connectors.irc.session import Session


def list_channels(session: Session) -> Sequence[ChannelInfo]:
    """Those that the bot is to be in: IRC has no list of what one may join that ends."""
    joined = session.speaker.link.state if session.speaker else None
    return [
        ChannelInfo(
            ref=ids.channel_ref(session.network, name),
            name=name.lstrip("#&"),
            ours=joined is None or joined.is_joined(name),
            workspace_name=session.network,
        )
        for name in session.wanted
    ]


def channel_with_id(session: Session, channel: str, workspace: str | None) -> ChannelRef | None:
    """`#name` at its word; from now on the bot is to be in it. No network."""
    if workspace not in (None, "", session.network) or channel[:1] not in "#&+!" or not channel:
        return None
    if any(one in channel for one in " ,\x07\0\r\n"):
        return None
    session.want([channel])
    return ids.channel_ref(session.network, channel)


def channel_name(channel: ChannelRef) -> str:
    return channel.channel.lstrip("#&")
