"""Whether a tool call can have run. A call that provably has not may be made again.

Imports the SDK's HTTP client, so only `mcp_server` imports it, and late.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import httpx2
from anyio import BrokenResourceError, ClosedResourceError

_SESSION = "mcp-session-id"
# Servers close an idle connection after 5 s (uvicorn, Node.js) or later, and httpx2 keeps it for 5:
# a call that crosses with that is lost without a sign of whether it ran.
_LIMITS = httpx2.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=4.0)


@dataclass
class CallDelivery:
    """What is known of one call. `handed`: the transport took it; `turned_away`: the transport
    found no server to send it to, or a server that has forgotten the session (404). `status`: with
    which HTTP status it was answered, 0 where it was not, or not over HTTP."""

    handed: bool = False
    turned_away: bool = False
    status: int = 0

    @property
    def never_ran(self) -> bool:
        return self.turned_away or not self.handed

    @property
    def may_have_run(self) -> bool:
        """Whether the server, or a gateway before it, broke off without saying what came of it."""
        return self.status >= 500


current: ContextVar[CallDelivery | None] = ContextVar("current", default=None)
"""The call of this task; the SDK carries the context on to its own tasks."""


class TrackedWrites:
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


class TrackingClient(httpx2.AsyncClient):
    """Notes which calls found no server, or one that has forgotten the session, and how the others
    were answered."""

    def __init__(self, headers: Mapping[str, str], timeout: httpx2.Timeout) -> None:
        super().__init__(headers=headers, timeout=timeout, limits=_LIMITS, follow_redirects=False)

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        sending = current.get()
        try:
            response = await super().send(request, **options)
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout):
            if sending is not None:
                sending.turned_away = True
            raise
        if sending is not None:
            sending.status = response.status_code
            if response.status_code == 404 and _SESSION in request.headers:
                sending.turned_away = True
        return response
