"""Port: figures of the archive."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bridge.model import ChannelRef
from bridge.model.statistics_records import RefusedEvent, Statistics


class StatisticsStore(Protocol):
    """Counts what the archive has."""

    async def statistics(
        self, *, since: float | None = None, until: float | None = None, most: int = 15
    ) -> Statistics:
        """Return the figures of a time. Reads the whole archive once.

        Args:
            since: seconds since 1970, from then on.
            until: before then.
            most: maximum number of authors and of channels that are named.
        """
        ...

    async def refused_events(
        self, channels: Sequence[ChannelRef], *, since: float, limit: int
    ) -> Sequence[RefusedEvent]:
        """Return the newest events of these channels that no room admitted, oldest first. Reads the
        whole inbox once.

        Args:
            channels: the channels.
            since: seconds since 1970; only events that came from then on.
            limit: maximum number.
        """
        ...
