"""Removes what the configuration does not keep any longer, once a day."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import structlog

from bridge.errors import FileError, StoreError
from bridge.model.erasure_records import Pruned, Retention
from bridge.ports.blobs import Blobs
from bridge.ports.clock import Clock
from bridge.ports.store.erasures import ErasureStore
from bridge.router.rooms.rooms import Room

if TYPE_CHECKING:
    from bridge.app.settings.sections import Settings

log = structlog.get_logger()

_DAY = 86_400.0
_FIRST = 300.0  # seconds after the start, which has other work
_NEW = 3600.0  # seconds: a file that was stored since may be that of a message that is just coming


def retention_of(settings: Settings, rooms: Iterable[Room]) -> Retention:
    """Return how long things are kept; a channel that is in several rooms has the longest time."""
    usual, outside = settings.archive.keep, settings.archive.payloads_outside_hours
    messages: dict[str, float | None] = {}
    payloads: dict[str, float | None] = {}
    files: dict[str, float | None] = {}
    channels: set[str] = set()
    for room in rooms:
        own = settings.rooms.get(str(room.id))
        keep = own.keep if own is not None and own.keep is not None else usual
        keys = [member.channel.key for member in room.members]
        channels.update(keys)
        for key in (*keys, str(room.conversation)):
            _take(messages, key, keep.messages_days)
            _take(payloads, key, _shorter(keep.messages_days, keep.payloads_days))
            _take(files, key, _shorter(keep.messages_days, keep.files_days))
    return Retention(
        messages=messages,
        payloads=payloads,
        files=files,
        messages_else=_seconds(usual.messages_days),
        payloads_else=_seconds(_shorter(usual.messages_days, usual.payloads_days)),
        files_else=_seconds(_shorter(usual.messages_days, usual.files_days)),
        payloads_outside=None if outside is None else outside * 3600,
        channels=frozenset(channels),
    )


def _shorter(message_days: float | None, own_days: float | None) -> float | None:
    """No payload and no file outlives its message."""
    days = [days for days in (message_days, own_days) if days is not None]
    return min(days) if days else None


def _seconds(days: float | None) -> float | None:
    return None if days is None else days * _DAY


def _take(times: dict[str, float | None], key: str, days: float | None) -> None:
    seconds, known = _seconds(days), times.get(key, 0.0)
    times[key] = None if seconds is None or known is None else max(seconds, known)


async def prune(
    store: ErasureStore, blobs: Blobs, clock: Clock, policy: Retention, *, dry_run: bool = False
) -> Pruned:
    """Remove everything whose time is over, or with `dry_run` only count it. Returns how much that
    is; a dry run counts also the payloads and files that would go with their messages.

    Raises:
        StoreError: the store cannot be written.
        FileError: a file cannot be removed.
    """
    messages = payloads = files = 0
    last: int | None = None
    while True:
        step = await store.prune_messages(policy, last, dry_run=dry_run)
        messages += step.messages
        if (last := step.last) is None:
            break
    for imported in (False, True):
        while True:
            step = await store.prune_payloads(policy, last, imported=imported, dry_run=dry_run)
            payloads += step.payloads
            if (last := step.last) is None:
                break
    for file_id in await store.files_over(policy):
        if dry_run:
            files += await blobs.stat(file_id) is not None
        else:
            files += await blobs.remove(file_id, before=clock.time() - _NEW)
    return Pruned(messages, payloads, files)


async def prune_daily(
    store: ErasureStore,
    blobs: Blobs,
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
            pruned = await prune(store, blobs, clock, policy())
        except (StoreError, FileError) as error:
            log.warning("retention_failed", error=str(error))
        else:
            log.info(
                "retention_finished",
                messages=pruned.messages,
                payloads=pruned.payloads,
                files=pruned.files,
            )
        await clock.sleep(_DAY)
