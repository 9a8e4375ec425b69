"""Channels can be listed, named, and asked who reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from bridge.model import ChannelRef


@dataclass(frozen=True)
class ChannelInfo:
    """A channel that the account can see; `ours` says that it may read and write there; `group` is
    the name of what the platform shows it under (a category, a team)."""

    ref: ChannelRef
    name: str
    ours: bool = True
    kind: str = "channel"
    workspace_name: str = ""
    group: str = ""


class Channels(Protocol):
    """The channels of the account, so that the configuration may name them."""

    async def visible(self) -> Sequence[ChannelInfo]:
        """Every channel that the account can see, as far as the platform lists them. Raises
        PlatformError."""
        ...

    async def name(self, channel: ChannelRef) -> str | None:
        """The name of a channel, also of one that is in no room, without the #; None where the
        platform does not tell it. Raises PlatformError."""
        ...

    def with_id(self, channel: str, workspace: str | None) -> ChannelRef | None:
        """The channel whose id the text is, also where the list of channels lacks it; None where
        the list is complete, or the text is no id. No network."""
        ...


class Outsiders(Protocol):
    """Whether others than the people of the workspace read a channel can be asked."""

    async def of_channel(self, channel: ChannelRef) -> Sequence[str]:
        """Who they are, in words for people ("2 guests"); empty where the platform names none.
        Raises PlatformError."""
        ...
