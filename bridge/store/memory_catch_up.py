"""The in-memory twin's part for catch-up: orphans, noted in the order in which they came."""

from __future__ import annotations

from collections.abc import Sequence

from bridge.ports.catch_up_store import Orphan


class MemoryOrphans:
    """Each once, with the time at which it was noted."""

    def __init__(self) -> None:
        self._noted: dict[tuple[str, str, int], tuple[float, Orphan]] = {}

    def note(self, orphan: Orphan, now: float) -> None:
        key = (orphan.channel.key, orphan.native_id, orphan.row)
        self._noted.setdefault(key, (now, orphan))

    def since(self, since: float, limit: int) -> Sequence[Orphan]:
        newest_first = sorted(self._noted.values(), key=lambda one: one[0], reverse=True)
        return [orphan for at, orphan in newest_first if at >= since][:limit]

    def forget(self, before: float) -> None:
        self._noted = {key: one for key, one in self._noted.items() if one[0] >= before}
