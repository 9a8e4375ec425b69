"""Erases messages and people from a store and its files."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import structlog

from bridge.errors import ConfigError, FileError, StoreError
from bridge.model import ActorId, MessageId, RoomId
from bridge.model.erasure_records import Erasure, ErasureRecord, LegalHold
from bridge.model.refs import channel_of_key
from bridge.ports.blobs import Blobs
from bridge.ports.clock import Clock
from bridge.ports.store.erasures import ErasureStore
from bridge.runtime.clock import SystemClock

log = structlog.get_logger()

_AGAIN = 300.0  # seconds until a running bridge looks again


async def erase(
    store: ErasureStore, blobs: Blobs, erasure: Erasure, *, alone: bool
) -> tuple[ErasureRecord, bool]:
    """Erase, and clean up, also after an earlier erasure that was interrupted. Returns the record,
    and whether everything is cleaned up.

    Raises:
        ErasureForbidden: a legal hold protects it.
        StoreError: there is nothing to erase, or the store cannot be written.
    """
    await clean_up(store, blobs, alone=alone)
    record = await store.erase(erasure)
    log.info(
        "archive_erased", erasure=record.id, subject=record.subject, by=record.by, **record.counts
    )
    return record, await clean_up(store, blobs, alone=alone)


async def clean_up(store: ErasureStore, blobs: Blobs, *, alone: bool) -> bool:
    """Remove the files of erased messages that nothing else uses, and overwrite freed space.

    Returns:
        False if that has to be done again: the log says why.
    """
    if all(record.cleaned for record in await store.erasures()):
        return True
    try:
        used = await store.files_in_use()
        for file_id in await store.files_to_remove():
            if file_id not in used:
                await blobs.remove(file_id)
        if not await store.overwrite_freed(alone=alone):
            return False
    except (StoreError, FileError) as error:
        log.warning("erasure_cleanup_failed", error=str(error))
        return False
    await store.set_cleaned()
    return True


async def clean_up_regularly(store: ErasureStore, blobs: Blobs, clock: Clock) -> None:
    """Clean up what could not be cleaned up at once, while a bridge runs, until cancelled."""
    while True:
        with suppress(StoreError):
            await clean_up(store, blobs, alone=False)
        await clock.sleep(_AGAIN)


# --- what commands order -----------------------------------------------------------------------


def erasure_of(order: Mapping[str, Any]) -> Erasure:
    """Return the erasure that a command ordered. Raises KeyError and TypeError for a bad order."""
    named = order.get("message")
    return Erasure(
        id=str(order["id"]),
        by=str(order["by"]),
        reason=str(order["reason"]),
        message=None if named is None else MessageId(str(named)),
        actors=tuple(ActorId(str(actor)) for actor in order.get("actors", ())),
        copies=bool(order["copies"]),
    )


def hold_of(order: Mapping[str, Any]) -> LegalHold:
    """Return the hold that a command ordered.

    Raises:
        ConfigError: the key is that of no channel.
    """
    room, channel, actor = order["room"], order["channel"], order["actor"]
    try:
        place = None if channel is None else channel_of_key(channel)
    except ValueError:
        raise ConfigError(
            f"{channel!r} is no key of a channel; write platform:workspace:channel"
        ) from None
    return LegalHold(
        name=str(order["name"]),
        by=str(order["by"]),
        reason=str(order["reason"]),
        at=SystemClock().time(),
        room=None if room is None else RoomId(room),
        channel=place,
        actor=None if actor is None else ActorId(actor),
        since=order["since"],
        until=order["until"],
    )


async def change_hold(store: ErasureStore, order: Mapping[str, Any]) -> None:
    """Add or remove a hold as a command ordered it.

    Raises:
        StoreError: the name is taken, or that of no hold.
    """
    if "add" in order:
        await store.add_hold(hold_of(order["add"]))
    elif not await store.remove_hold(str(order["remove"])):
        raise StoreError(f"There is no legal hold {order['remove']!r}; see `archive hold list`")
