"""Port: figures of the archive."""

from __future__ import annotations

from typing import Protocol

from bridge.model.statistics_records import Statistics


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
