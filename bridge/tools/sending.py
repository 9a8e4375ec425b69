"""Whether a tool call can have run. A call that provably has not may be made again.

Imports the SDK's HTTP client, so only `mcp_server` imports it, and late.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import httpx2
from anyio import BrokenResourceError, ClosedResourceError

_SESSION = "mcp-session-id"


@dataclass
class Sending:
    """What is known of one call. `handed`: the transport took it; `turned_away`: the transport
    found no server to send it to, or a server that has forgotten the session (404)."""

    handed: bool = False
    turned_away: bool = False

    @property
    def never_ran(self) -> bool:
        return self.turned_away or not self.handed


current: ContextVar[Sending | None] = ContextVar("current", default=None)
"""The call of this task; the SDK carries the context on to its own tasks."""


class NotedWrites:
    """The stream that the SDK writes to; notes which calls the transport took."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    async def send(self, item: Any, /) -> None:
        sending = current.get()
        if sending is None:
            return await self._inner.send(item)
        sending.handed = True  # before: a send that is cancelled may have been delivered
        try:
            await self._inner.send(item)
        except (BrokenResourceError, ClosedResourceError):
            sending.handed = False
            raise

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> bool | None:
        return await self._inner.__aexit__(exc_type, exc_val, exc_tb)


class NotingClient(httpx2.AsyncClient):
    """Notes which calls found no server, or one that has forgotten the session."""

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        sending = current.get()
        try:
            response = await super().send(request, **options)
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout):
            if sending is not None:
                sending.turned_away = True
            raise
        if sending is not None and response.status_code == 404 and _SESSION in request.headers:
            sending.turned_away = True
        return response
