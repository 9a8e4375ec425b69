"""What catch-up found of one channel: the newest posts, and what is left out of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from bridge.errors import BridgeError
from bridge.model import Raw
from bridge.ports.abilities.platform_history import Unreadable
from bridge.ports.connector import Connector


class Missed:
    """Keeps the `most` newest posts, and counts the others."""

    def __init__(self, most: int) -> None:
        self.posts: deque[Raw] = deque()
        self._most = most
        self._left_out: list[Raw] = []  # the first and the last of them
        self._count = 0
        self._unreadable: list[Unreadable] = []

    def add(self, item: Raw | Unreadable) -> None:
        if isinstance(item, Unreadable):
            self._unreadable.append(item)
            return
        self.posts.append(item)
        if len(self.posts) > self._most:
            self._left_out = [*self._left_out[:1], self.posts.popleft()]
            self._count += 1

    def gaps(self, connector: Connector) -> Iterator[Unreadable]:
        yield from self._unreadable
        if self._left_out:
            first, last = self._left_out[0], self._left_out[-1]
            yield Unreadable(_posted_at(connector, first), _posted_at(connector, last), self._count)


def _posted_at(connector: Connector, raw: Raw) -> float:
    try:
        return connector.decode(raw)[0].time.timestamp()
    except (BridgeError, IndexError):
        return 0.0
