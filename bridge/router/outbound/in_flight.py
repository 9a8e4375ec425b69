"""Which calls are under way: a connector is closed when its last one has its answer."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Mapping
from contextlib import contextmanager

from bridge.errors import Unavailable
from bridge.model import AccountId
from bridge.ports.connector import Connector


class InFlightCalls:
    """`connectors` are those that send now; they change when the configuration does."""

    def __init__(self, connectors: Mapping[AccountId, Connector]) -> None:
        self._connectors = connectors
        self._calls: dict[Connector, set[asyncio.Future[None]]] = {}

    @contextmanager
    def call(self, connector: Connector) -> Generator[None]:
        """One call, from here to its answer. Raises Unavailable for a connector that was replaced:
        what it had still to say is for its successor."""
        if self._connectors.get(connector.account) is not connector:
            raise Unavailable(f"account {connector.account!r} has just changed")
        over = asyncio.get_running_loop().create_future()
        calls = self._calls.setdefault(connector, set())
        calls.add(over)
        try:
            yield
        finally:
            over.set_result(None)
            calls.discard(over)
            if not calls:
                self._calls.pop(connector, None)

    async def until_answered(self, connector: Connector, seconds: float) -> None:
        """Wait for the calls that it makes now, for so long at most."""
        if calls := self._calls.get(connector):
            await asyncio.wait(calls, timeout=seconds)
