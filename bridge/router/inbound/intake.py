"""Payloads on their way into the inbox; those of each channel are kept in the order of their
arrival."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import structlog

from bridge.errors import StoreError
from bridge.model import AccountId, Raw
from bridge.ports.clock import Clock
from bridge.router.runtime.timeouts import Timeouts

log = structlog.get_logger()

_MOST = 10_000  # payloads that are held at a time
_MOST_BYTES = 64 * 1024 * 1024
_REMEMBERED = 10_000
_LONGEST_PAUSE = 2.0  # seconds between two attempts

_Key = tuple[AccountId, str]


@dataclass
class _Waiting:
    """The payloads of a channel that the store did not take, in order. `lost`: more of them came
    than can be held. `since` is when the `first` was refused."""

    first: Raw
    since: float
    raws: OrderedDict[str, tuple[Raw, asyncio.Future[bool]]] = field(
        default_factory=OrderedDict[str, tuple[Raw, asyncio.Future[bool]]]
    )
    task: asyncio.Task[None] | None = None
    lost: bool = False


class Intake:
    """Keeps payloads; those that the store does not take are held in memory and kept later, in
    order.

    After `Timeouts.keep_patience` the sender learns that its payload is not stored and does not
    acknowledge it; the platform sends it again, and by then it is a repeat. So a payload that
    arrived while the store failed keeps its place before later ones, and none is lost if the
    process ends.
    """

    def __init__(
        self,
        keep: Callable[[Raw], Awaitable[bool]],
        read_back: Callable[[Raw], None],
        waits_for_answer: Callable[[Raw], bool],
        clock: Clock,
        policy: Timeouts,
    ) -> None:
        """`read_back` is called for a channel some of whose payloads could not be held;
        `waits_for_answer` tells the payloads that are not held: their sender gives up."""
        self._keep = keep
        self._read_back = read_back
        self._waits_for_answer = waits_for_answer
        self._clock = clock
        self._policy = policy
        self._waiting: dict[_Key, _Waiting] = {}
        self._refused: OrderedDict[_Key, bool] = OrderedDict()  # kept after it was refused, or not
        self._count = 0
        self._bytes = 0

    async def take(self, raw: Raw) -> bool:
        """Keep a payload, as `Inbox.accept`. Raises StoreError."""
        own = (raw.account, raw.dedupe_key)
        if self._refused.pop(own, False):
            return True  # it was kept since its sender was refused
        waiting = self._waiting.get(_key(raw))
        if waiting is None:
            try:
                return await self._keep(raw)
            except StoreError:
                if self._waits_for_answer(raw):
                    raise
        elif self._waits_for_answer(raw):
            return await self._keep(raw)
        return await self._wait(raw, self._hold(raw))

    async def close(self) -> None:
        """Stop; platforms send again what was not acknowledged."""
        tasks = [held.task for held in self._waiting.values() if held.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _hold(self, raw: Raw) -> _Waiting:
        key = _key(raw)
        waiting = self._waiting.get(key)
        if waiting is None:
            waiting = self._waiting[key] = _Waiting(raw, self._clock.monotonic())
            waiting.task = asyncio.create_task(self._keep_all(key, waiting), name=f"arrivals {key}")
        if raw.dedupe_key in waiting.raws:
            return waiting
        if waiting.lost or self._count >= _MOST or self._bytes >= _MOST_BYTES:
            waiting.lost = True
            raise StoreError("The store takes nothing, and too much waits for it already")
        self._count += 1
        self._bytes += len(raw.payload)
        waiting.raws[raw.dedupe_key] = (raw, asyncio.get_running_loop().create_future())
        return waiting

    async def _wait(self, raw: Raw, waiting: _Waiting) -> bool:
        """Wait for a moment until the payload is kept: its sender must know then. Raises
        StoreError."""
        _, kept = waiting.raws[raw.dedupe_key]
        left = waiting.since + self._policy.keep_patience - self._clock.monotonic()
        if left > 0:
            sleeping = asyncio.ensure_future(self._clock.sleep(left))
            try:
                await asyncio.wait({sleeping, kept}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                sleeping.cancel()
        if kept.done():
            return kept.result()
        self._refused[raw.account, raw.dedupe_key] = False
        if len(self._refused) > _REMEMBERED:
            self._refused.popitem(last=False)
        raise StoreError("The store takes nothing just now; the payload is kept when it does")

    async def _keep_all(self, key: _Key, waiting: _Waiting) -> None:
        pause = 0.1
        while waiting.raws:
            raw, kept = next(iter(waiting.raws.values()))
            own = (raw.account, raw.dedupe_key)
            try:
                fresh = await self._keep(raw)
            except StoreError as error:
                log.warning("payload_write_delayed", waiting=len(waiting.raws), error=str(error))
                await self._clock.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
                continue
            except Exception as error:  # of this payload alone: those behind it go on
                log.exception("payload_write_crashed", account=raw.account, key=raw.dedupe_key)
                kept.set_exception(error)
                kept.exception()  # its sender may have been refused before
            else:
                kept.set_result(fresh)
                if own in self._refused:
                    self._refused[own] = fresh
            del waiting.raws[raw.dedupe_key]
            self._count -= 1
            self._bytes -= len(raw.payload)
        del self._waiting[key]
        if waiting.lost:
            self._read_back(waiting.first)


def _key(raw: Raw) -> _Key:
    return (raw.account, raw.channel.key if raw.channel else "")
