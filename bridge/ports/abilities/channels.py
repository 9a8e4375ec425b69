"""Channels can be listed, named, and asked about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from bridge.model import ChannelRef


@runtime_checkable
class KnowsChannelNames(Protocol):
    """The name of a channel can be looked up, also of one that is in no room."""

    async def channel_name(self, channel: ChannelRef) -> str | None:
        """Without the #; None when the platform does not tell it. Raises PlatformError."""
        ...


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


@runtime_checkable
class KnowsChannels(Protocol):
    """Channels can be listed, so that the configuration may name them."""

    async def channels(self) -> Sequence[ChannelInfo]: ...


@runtime_checkable
class TakesChannelIds(Protocol):
    """The list of channels may be incomplete: an id is taken at its word."""

    def channel_with_id(self, channel: str, workspace: str | None) -> ChannelRef | None:
        """The channel, if the text is an id of this platform; no network."""
        ...


@runtime_checkable
class KnowsOutsiders(Protocol):
    """Whether others than those of the workspace read a channel can be asked."""

    async def outsiders(self, channel: ChannelRef) -> Sequence[str]:
        """Who they are, in words for people ("2 guests"); empty where the platform tells of none.
        Raises PlatformError."""
        ...
