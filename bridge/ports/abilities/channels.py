"""Lists channels, finds their names, and finds readers from outside the workspace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from bridge.model import ChannelRef


@dataclass(frozen=True)
class ChannelInfo:
    """A channel that the account can see.

    - `ours`: whether the account may read and write there.
    - `kind`: the platform's word for this kind of channel.
    - `group`: the category or team under which the platform shows it.
    """

    ref: ChannelRef
    name: str
    ours: bool = True
    kind: str = "channel"
    workspace_name: str = ""
    group: str = ""


class Channels(Protocol):
    """Lists the channels of the account, so that the configuration can refer to them by name."""

    async def visible(self) -> Sequence[ChannelInfo]:
        """Return every channel that the account can see and that the platform lists.

        Raises:
            PlatformError: the platform did not answer, or refused.
        """
        ...

    async def name(self, channel: ChannelRef) -> str | None:
        """Return the name of a channel, without the #; None if the platform does not tell it. The
        channel need not be in a room.

        Raises:
            PlatformError: the platform did not answer, or refused.
        """
        ...

    def with_id(self, channel: str, workspace: str | None) -> ChannelRef | None:
        """Return the channel with this id, for platforms whose list of channels is incomplete.
        Makes no request.

        Returns:
            None if the text is not an id, or if `visible` lists every channel.
        """
        ...


class Outsiders(Protocol):
    """Finds out whether people from outside the workspace read a channel."""

    async def of_channel(self, channel: ChannelRef) -> Sequence[str]:
        """Return who they are, as text for people ("2 guests"); empty if the platform names none.

        Raises:
            PlatformError: the platform did not answer, or refused.
        """
        ...
