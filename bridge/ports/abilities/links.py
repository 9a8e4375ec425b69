"""Messages have addresses."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from bridge.model import ChannelRef, Receipt


@runtime_checkable
class LinksMessages(Protocol):
    """Messages have addresses, which people paste. No network."""

    link_marks: tuple[str, ...]
    """Words of which each such address holds one: `chat.example/archives/`."""

    def message_at(self, url: str) -> tuple[ChannelRef, str] | None:
        """Where the address leads: a channel of ours, or a thread in one, and the message's native
        id. None: it is none of this account's."""
        ...

    def address_of(self, channel: ChannelRef, copy: Receipt) -> str:
        """The address of a message that stands there; empty when nobody knows it."""
        ...
