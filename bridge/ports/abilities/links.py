"""Messages have addresses."""

from __future__ import annotations

from typing import Protocol

from bridge.model import ChannelRef, Receipt


class Links(Protocol):
    """Messages have addresses, which people paste; each contains one of
    `Capabilities.link_substrings`. No network."""

    def message_at(self, url: str) -> tuple[ChannelRef, str] | None:
        """Where the address leads: a channel of ours, or a thread in one, and the message's native
        id. None: it is none of this account's."""
        ...

    def address_of(self, channel: ChannelRef, copy: Receipt) -> str:
        """The address of a message in this channel; empty when nobody knows it."""
        ...
