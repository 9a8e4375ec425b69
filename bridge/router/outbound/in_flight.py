"""Makes calls, each with a deadline, and knows which are under way: a connector is closed when its
last call has its answer."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Mapping
from contextlib import contextmanager

from bridge.errors import Unavailable, Unsettled
from bridge.model import AccountId, Call, Receipt
from bridge.ports.connector import Connector
from bridge.router.runtime.timeouts import Timeouts


class InFlightCalls:
    """`connectors` are those that send now; they change when the configuration does."""

    def __init__(self, connectors: Mapping[AccountId, Connector]) -> None:
        self._connectors = connectors
        self._calls: dict[Connector, set[asyncio.Future[None]]] = {}

    async def make(self, connector: Connector, call: Call, timeouts: Timeouts) -> Receipt:
        """Make one call; files lengthen its deadline. Raises Unsettled when the deadline passes,
        Unavailable for a replaced connector, and what the connector raises."""
        size = sum(file.size for file in call.files)
        deadline = timeouts.send_deadline + size / timeouts.upload_pace
        try:
            with self.call(connector):
                async with asyncio.timeout(deadline):
                    return await connector.send(call)
        except TimeoutError:
            raise Unsettled(
                f"{call.method} to {call.channel} had no answer within {deadline:g} s", late=True
            ) from None

    @contextmanager
    def call(self, connector: Connector) -> Generator[None]:
        """One call is under way inside this context. Raises Unavailable for a connector that was
        replaced: its successor sends what is left."""
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
        """Wait until the connector's calls have their answers, `seconds` at most."""
        if calls := self._calls.get(connector):
            await asyncio.wait(calls, timeout=seconds)
