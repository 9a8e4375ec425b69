"""Records whether a tool call can have run. A call that provably did not run may be made again.

Imports the SDK's HTTP client, so only `mcp_server` imports this module, and late."""

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
# a call that is sent at that moment is lost, and it is unknown whether it ran.
_LIMITS = httpx2.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=4.0)


@dataclass
class CallDelivery:
    """What is known about one call. `accepted`: the transport accepted it. `not_delivered`: the
    transport found no server, or the server had forgotten the session (404). `status`: the HTTP
    status of the answer; 0 without an answer or HTTP."""

    accepted: bool = False
    not_delivered: bool = False
    status: int = 0

    @property
    def never_ran(self) -> bool:
        """Whether the call provably did not run."""
        return self.not_delivered or not self.accepted

    @property
    def may_have_run(self) -> bool:
        """Whether the server, or a gateway before it, failed without reporting the outcome."""
        return self.status >= 500


current: ContextVar[CallDelivery | None] = ContextVar("current", default=None)
"""The call of this task; the SDK carries the context into its own tasks."""


class TrackedWrites:
    """The stream that the SDK writes to; records which calls the transport accepts."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    async def send(self, item: Any, /) -> None:
        delivery = current.get()
        if delivery is None:
            return await self._inner.send(item)
        delivery.accepted = True  # set before: a cancelled send may have been delivered
        try:
            await self._inner.send(item)
        except (BrokenResourceError, ClosedResourceError):
            delivery.accepted = False
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
    """Records which calls found no server or a forgotten session, and the status of the others."""

    def __init__(self, headers: Mapping[str, str], timeout: httpx2.Timeout) -> None:
        super().__init__(headers=headers, timeout=timeout, limits=_LIMITS, follow_redirects=False)

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        delivery = current.get()
        try:
            response = await super().send(request, **options)
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout):
            if delivery is not None:
                delivery.not_delivered = True
            raise
        if delivery is not None:
            delivery.status = response.status_code
            if response.status_code == 404 and _SESSION in request.headers:
                delivery.not_delivered = True
        return response
