"""Removes what the configuration does not keep any longer, once a day."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import structlog

from bridge.errors import StoreError
from bridge.model.erasure_records import Pruned, Retention
from bridge.ports.clock import Clock
from bridge.ports.store.erasures import ErasureStore
from bridge.router.rooms.rooms import Room

if TYPE_CHECKING:
    from bridge.app.settings.file import Settings
    from bridge.app.settings.keep import KeepSettings

log = structlog.get_logger()

_DAY = 86_400.0
_FIRST = 300.0  # seconds after the start, which has other work


def retention_of(settings: Settings, rooms: Iterable[Room]) -> Retention:
    """Return how long things are kept; a channel that is in several rooms has the longest time."""
    usual, outside = settings.archive.keep, settings.archive.payloads_outside_hours
    messages: dict[str, float | None] = {}
    payloads: dict[str, float | None] = {}
    channels: set[str] = set()
    for room in rooms:
        own = settings.rooms.get(str(room.id))
        keep = own.keep if own is not None and own.keep is not None else usual
        keys = [member.channel.key for member in room.members]
        channels.update(keys)
        for key in (*keys, str(room.conversation)):
            _take(messages, key, keep.messages_days)
            _take(payloads, key, _payload_days(keep))
    return Retention(
        messages=messages,
        payloads=payloads,
        messages_else=_seconds(usual.messages_days),
        payloads_else=_seconds(_payload_days(usual)),
        payloads_outside=None if outside is None else outside * 3600,
        channels=frozenset(channels),
    )


def _payload_days(keep: KeepSettings) -> float | None:
    """No payload outlives its message."""
    days = [days for days in (keep.messages_days, keep.payloads_days) if days is not None]
    return min(days) if days else None


def _seconds(days: float | None) -> float | None:
    return None if days is None else days * _DAY


def _take(times: dict[str, float | None], key: str, days: float | None) -> None:
    seconds, known = _seconds(days), times.get(key, 0.0)
    times[key] = None if seconds is None or known is None else max(seconds, known)


async def prune(store: ErasureStore, policy: Retention) -> Pruned:
    """Remove everything whose time is over. Returns how much that was.

    Raises:
        StoreError: the store cannot be written.
    """
    messages = payloads = 0
    last: int | None = None
    while True:
        step = await store.prune_messages(policy, last)
        messages += step.messages
        if (last := step.last) is None:
            break
    for imported in (False, True):
        while True:
            step = await store.prune_payloads(policy, last, imported=imported)
            payloads += step.payloads
            if (last := step.last) is None:
                break
    return Pruned(messages, payloads)


async def prune_daily(
    store: ErasureStore,
    clock: Clock,
    policy: Callable[[], Retention],
    others: Callable[[], None] = lambda: None,
) -> None:
    """Prune daily until cancelled; `policy` is asked each time, since a reload may change it.
    `others` removes what is not in the store."""
    await clock.sleep(_FIRST)
    while True:
        others()
        try:
            pruned = await prune(store, policy())
        except StoreError as error:
            log.warning("retention_failed", error=str(error))
        else:
            log.info("retention_finished", messages=pruned.messages, payloads=pruned.payloads)
        await clock.sleep(_DAY)
