"""Tests every two seconds whether the store accepts writes, and logs a failure once a minute."""

from __future__ import annotations

import asyncio

import structlog

from bridge.errors import BridgeError, StoreError
from bridge.ports.clock import Clock
from bridge.ports.store.whole import Store

log = structlog.get_logger()

EVERY = 2.0  # seconds between two tests
TEST_TIMEOUT = 2.5  # seconds for one test, so that a failure is noticed within 5 s
SAY_AGAIN = 60.0


class StoreWatch:
    """Watches the store. `trouble` is the reason why it accepts no writes now, or empty; `public`
    is the same without file names. `since` is the monotonic time of the first failure, in seconds.
    """

    def __init__(self, store: Store, clock: Clock) -> None:
        self.trouble = ""
        self.public = ""
        self.since: float | None = None
        self._store = store
        self._clock = clock
        self._logged_at = 0.0
        self._proof: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Test until cancelled."""
        try:
            while True:
                await self.look()
                await self._clock.sleep(EVERY)
        finally:
            if self._proof is not None:
                self._proof.cancel()
                await asyncio.gather(self._proof, return_exceptions=True)

    async def look(self) -> None:
        """One test. While a test hangs, because another program holds the file's lock, no second
        one starts."""
        proof = self._proof or asyncio.create_task(self._store.prove_writable())
        await asyncio.wait({proof}, timeout=TEST_TIMEOUT)
        if not proof.done():
            self._proof = proof
            self._note_failure(StoreError(f"The store accepted no write within {TEST_TIMEOUT:g} s"))
            return
        self._proof = None
        error = proof.exception()
        if error is None:
            self._note_success()
        elif isinstance(error, BridgeError):
            self._note_failure(error)
        else:
            self._note_failure(StoreError(f"The store failed: {type(error).__name__}: {error}"))

    def _note_failure(self, error: BridgeError) -> None:
        now = self._clock.monotonic()
        first = self.since is None
        if self.since is None:
            self.since = now
        self.trouble, self.public = str(error), error.public
        if first or now - self._logged_at >= SAY_AGAIN:
            self._logged_at = now
            log.error("store_write_failed", error=self.trouble, seconds=round(now - self.since))

    def _note_success(self) -> None:
        if self.since is not None:
            log.warning("store_write_recovered", after=round(self._clock.monotonic() - self.since))
        self.since, self.trouble, self.public = None, "", ""
