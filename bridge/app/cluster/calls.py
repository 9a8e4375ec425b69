"""Calls between processes over NATS: they say that there is something to look for in the store, so
a lost one costs half a second and nothing else."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from typing import Any

import orjson
import structlog

from bridge.errors import ConfigError
from bridge.router.runtime.background import Background
from bridge.runtime.extras import how_to_install

log = structlog.get_logger()

_CONNECT_SECONDS = 2.0
_AGAIN = 1.0  # seconds between two attempts to connect


class Calls:
    """Publishes and hears calls; while the server is away, calls are dropped."""

    def __init__(self, server: str, token: str | None, store: str) -> None:
        """`store`: the address of the store; processes of other stores do not hear one another.

        Raises:
            ConfigError: the client is not installed.
        """
        try:
            import nats  # pyright: ignore[reportMissingTypeStubs]
        except ModuleNotFoundError:
            raise ConfigError(
                f"cluster.nats needs the package nats-py: {how_to_install('cluster')}"
            ) from None
        self._nats: Any = nats
        self._server = server
        self._token = token
        self._subject = f"uacs-bridge.{hashlib.sha256(store.encode()).hexdigest()[:16]}"
        self._client: Any = None
        self._sending = Background()
        self._task: asyncio.Task[None] | None = None
        self.is_connected = False
        self._closing = False

    def open(self, heard: Callable[[str, str, str], None]) -> None:
        """Connect in the background, and again whenever the connection breaks. `heard` is called
        with the sender, the assignment and the detail of each call."""
        self._task = asyncio.create_task(self._connect(heard), name="calls")

    def publish(self, sender: str, assignment: str, detail: str) -> None:
        """Send a call, without waiting."""
        if self.is_connected:
            payload = orjson.dumps([sender, assignment, detail])
            self._sending.spawn(self._publish(payload), "call")

    async def close(self) -> None:
        self._closing = True
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self._sending.cancel()
        await self._sending.wait()
        if self._client is not None:
            try:
                async with asyncio.timeout(_CONNECT_SECONDS):
                    await self._client.close()
            except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001  # it ends anyway
                log.debug("calls_not_closed", error=str(error))

    async def _publish(self, payload: bytes) -> None:
        try:
            await self._client.publish(self._subject, payload)
        except Exception as error:  # noqa: BLE001  # calls may be lost
            log.debug("call_lost", error=str(error))

    async def _connect(self, heard: Callable[[str, str, str], None]) -> None:
        async def on_call(message: Any) -> None:
            try:
                sender, assignment, detail = orjson.loads(message.data)
            except (ValueError, TypeError):
                return  # not of this program
            heard(str(sender), str(assignment), str(detail))

        async def on_lost(*_: object) -> None:
            if self.is_connected and not self._closing:
                self.is_connected = False
                log.warning("calls_lost", server=self._server)

        async def on_found() -> None:
            if not self.is_connected:
                self.is_connected = True
                log.info("calls_connected", server=self._server)

        async def on_error(error: Exception) -> None:
            log.debug("calls_error", error=str(error))

        was_told = False
        while True:
            try:
                self._client = await self._nats.connect(
                    self._server, token=self._token, connect_timeout=_CONNECT_SECONDS,
                    max_reconnect_attempts=-1, reconnect_time_wait=_AGAIN,
                    disconnected_cb=on_lost, reconnected_cb=on_found, error_cb=on_error,
                    ping_interval=10, max_outstanding_pings=2,
                )  # fmt: skip
                await self._client.subscribe(self._subject, cb=on_call)
            except Exception as error:  # noqa: BLE001  # of any kind: the store is enough
                if not was_told:
                    log.warning("calls_unavailable", server=self._server, error=str(error))
                was_told = True
                await asyncio.sleep(_AGAIN)
            else:
                await on_found()
                return
