"""Tests every two seconds whether the store accepts writes; logs a failure once a minute."""

from __future__ import annotations

import asyncio

import structlog

from bridge.errors import BridgeError, StoreError
from bridge.ports.clock import Clock
from bridge.ports.store.whole import Store

log = structlog.get_logger()

EVERY = 2.0  # seconds between two proofs
PATIENCE = 2.5  # ... that one may take: with the pause before it, less than 5 s until it is told
SAY_AGAIN = 60.0


class StoreWatch:
    """`trouble` says why the store accepts no writes now, for the log; empty while it does.
    `public` is the same without names of files. `since` is the monotonic time of the first failure.
    """

    def __init__(self, store: Store, clock: Clock) -> None:
        self.trouble = ""
        self.public = ""
        self.since: float | None = None
        self._store = store
        self._clock = clock
        self._said = 0.0
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
        await asyncio.wait({proof}, timeout=PATIENCE)
        if not proof.done():
            self._proof = proof
            self._troubled(StoreError(f"The store took no write within {PATIENCE:g} s"))
            return
        self._proof = None
        error = proof.exception()
        if error is None:
            self._well()
        elif isinstance(error, BridgeError):
            self._troubled(error)
        else:
            self._troubled(StoreError(f"The store broke: {type(error).__name__}: {error}"))

    def _troubled(self, error: BridgeError) -> None:
        now = self._clock.monotonic()
        first = self.since is None
        if self.since is None:
            self.since = now
        self.trouble, self.public = str(error), error.public
        if first or now - self._said >= SAY_AGAIN:
            self._said = now
            log.error("store_write_failed", error=self.trouble, seconds=round(now - self.since))

    def _well(self) -> None:
        if self.since is not None:
            log.warning("store_write_recovered", after=round(self._clock.monotonic() - self.since))
        self.since, self.trouble, self.public = None, "", ""
