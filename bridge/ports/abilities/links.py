"""Translates between messages and their permanent links."""

from __future__ import annotations

from typing import Protocol

from bridge.model import ChannelRef, Receipt


class Links(Protocol):
    """Translates between messages and their permanent links, without a request. Each link contains
    one of `Capabilities.link_substrings`."""

    def message_at(self, url: str) -> tuple[ChannelRef, str] | None:
        """Return the channel (or thread) and the native id of the message that the link leads to;
        None if it is not of this account."""
        ...

    def address_of(self, channel: ChannelRef, copy: Receipt) -> str:
        """Return the link to a message of this channel; empty if it is not known."""
        ...
