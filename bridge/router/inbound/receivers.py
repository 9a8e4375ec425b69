"""One receiver for each account: it is started, started again when it breaks, and stopped,
alone."""

from __future__ import annotations

import asyncio
from collections.abc import Collection

import structlog

from bridge.errors import AuthFailed, ConfigError
from bridge.model import AccountId
from bridge.ports.clock import Clock
from bridge.ports.connector import Connector
from bridge.ports.inbox import Inbox
from bridge.router.runtime import metrics
from bridge.router.runtime.timeouts import Timeouts

log = structlog.get_logger()


class Receivers:
    """Runs the connectors of all accounts; an error of one account does not touch the others.

    `failed`: why an account does not receive now, in words for people.
    """

    def __init__(self, clock: Clock, timeouts: Timeouts) -> None:
        self.failed: dict[AccountId, str] = {}
        self._clock = clock
        self._timeouts = timeouts
        self._tasks: dict[AccountId, asyncio.Task[None]] = {}
        self._running: dict[AccountId, asyncio.Task[None]] = {}
        self._pauses: dict[AccountId, float] = {}

    @property
    def accounts(self) -> Collection[AccountId]:
        return self._tasks.keys()

    def start(self, account: AccountId, connector: Connector, inbox: Inbox) -> None:
        """Receive through it into `inbox`, until the account is stopped."""
        self._tasks[account] = asyncio.create_task(
            self._keep_running(account, connector, inbox), name=f"receive {account}"
        )

    async def stop(self, account: AccountId) -> None:
        """Stop receiving from the account."""
        if (task := self._tasks.pop(account, None)) is not None:
            task.cancel()
            await asyncio.wait({task})
        self.failed.pop(account, None)
        metrics.ALIVE.labels(account).set(0)

    def reconnect(self, account: AccountId, pause: float = 0.0) -> None:
        """End the connection, and connect again after `pause` seconds."""
        self._pauses[account] = pause
        if running := self._running.get(account):
            running.cancel()

    async def close(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def _keep_running(self, account: AccountId, connector: Connector, inbox: Inbox) -> None:
        attempts = 0
        while True:
            try:
                metrics.ALIVE.labels(account).set(1)
                if not await self._run(account, connector, inbox):
                    await self._clock.sleep(self._pauses.pop(account, 0.0))
                    continue
            except (AuthFailed, ConfigError) as error:  # only a person can mend that
                pause = self._timeouts.auth_pause
                log.error("account_refused", account=account, error=str(error), retry_in=pause)  # noqa: TRY400
                self.failed[account] = str(error)
            except Exception as error:
                attempts += 1
                pause = self._timeouts.backoff(attempts)
                log.exception("receiver_crashed", account=account, error=str(error), retry_in=pause)
                self.failed[account] = str(error)
            else:
                return
            metrics.ALIVE.labels(account).set(0)
            await self._clock.sleep(pause)
            self.failed.pop(account, None)

    async def _run(self, account: AccountId, connector: Connector, inbox: Inbox) -> bool:
        """Run the connector until it ends; False when `reconnect` ended it."""
        running = self._running[account] = asyncio.create_task(connector.run(inbox))
        try:
            await asyncio.wait({running})
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
        if running.cancelled():
            return False
        running.result()
        return True
