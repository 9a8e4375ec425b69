"""The configuration says how long messages of rooms and channels are kept."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest
from structlog.testing import capture_logs

from bridge.app.settings.file import settings_of
from bridge.app.watch.retention import prune, prune_daily, retention_of
from bridge.errors import StoreError
from bridge.model import AccountId, ChannelRef, RoomId
from bridge.model.erasure_records import Pruned, Retention
from bridge.model.export_records import ExportedMessage, ImportBatch
from bridge.router.rooms.rooms import Member, Room
from bridge.store import SqliteStore, open_sqlite
from bridge.testing.memory_blobs import MemoryBlobs
from bridge.uacs import FilePart, MediaSource
from tests.archive.conversation import exported
from tests.router.fake_clock import FakeClock

DAY = 86_400.0
ONE = ChannelRef(platform="tin", workspace="W", channel="one")
TWO = ChannelRef(platform="tin", workspace="W", channel="two")


def room(name: str, *channels: ChannelRef) -> Room:
    members = tuple(Member(AccountId("tin"), channel) for channel in channels)
    return Room(RoomId(name), UUID(int=len(name)), members)


def policy(text: dict[str, object], *rooms: Room) -> Retention:
    member = {"account": "tin", "channel": "x"}
    rooms_of = {str(one.id): {"members": [member]} for one in rooms}
    own = text.pop("rooms", {})
    for name, more in own.items():  # pyright: ignore
        rooms_of[name] |= more  # pyright: ignore
    accounts = {"tin": {"platform": "irc", "host": "h", "nick": "n"}}
    return retention_of(settings_of({"accounts": accounts, "rooms": rooms_of, **text}), rooms)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


def test_everything_is_kept_by_default_but_payloads_of_channels_in_no_room() -> None:
    assert policy({}, room("a", ONE)) == Retention(
        messages={ONE.key: None, str(UUID(int=1)): None},
        payloads={ONE.key: None, str(UUID(int=1)): None},
        files={ONE.key: None, str(UUID(int=1)): None},
        payloads_outside=DAY,
        channels=frozenset((ONE.key,)),
    )


def test_a_room_may_keep_longer_or_shorter_than_others() -> None:
    found = policy(
        {
            "archive": {"keep": {"messages_days": 10, "payloads_days": 2, "files_days": 7},
                        "payloads_outside_hours": None},
            "rooms": {"b": {"keep": {"messages_days": 5}}},
        },
        room("a", ONE), room("b", TWO),
    )  # fmt: skip

    assert (found.messages[ONE.key], found.messages[TWO.key]) == (10 * DAY, 5 * DAY)
    assert (found.payloads[ONE.key], found.payloads[TWO.key]) == (2 * DAY, 5 * DAY)
    assert (found.messages_else, found.payloads_else) == (10 * DAY, 2 * DAY)
    assert (found.files[ONE.key], found.files[TWO.key]) == (7 * DAY, 5 * DAY)
    assert found.files_else == 7 * DAY
    assert found.payloads_outside is None


def test_a_channel_of_several_rooms_has_the_longest_time() -> None:
    found = policy(
        {"rooms": {"a": {"keep": {"messages_days": 5}}, "b": {"keep": {"messages_days": 9}},
                   "c": {"keep": {"messages_days": 1}}}},
        room("a", ONE), room("b", ONE), room("c", TWO), room("d", TWO),
    )  # fmt: skip

    assert found.messages[ONE.key] == 9 * DAY
    assert found.messages[TWO.key] is None


async def pieces(content: bytes) -> AsyncIterator[bytes]:
    yield content


def with_file(number: int, file_id: str) -> ExportedMessage:
    message = exported(number)
    part = FilePart(source=MediaSource(file_id=file_id), media_type="text/plain")
    whole = message.posted.message.model_copy(update={"content": (part,)})
    return replace(message, posted=message.posted.model_copy(update={"message": whole}))


EVERYTHING = Retention(messages_else=1.0, payloads_else=1.0, files_else=1.0)


async def test_everything_over_is_removed_at_once_on_request(
    clock: FakeClock, tmp_path: Path
) -> None:
    store = await open_sqlite(tmp_path / "store.sqlite3", clock=clock, key=None)
    blobs = MemoryBlobs(clock)
    file_id = (await blobs.put(pieces(b"a file"), limit=100)).file_id
    messages = (*(exported(number) for number in range(4)), with_file(4, file_id))
    await store.add_imported(ImportBatch("tin", "tin", messages=messages))
    clock.now = messages[-1].posted.time.timestamp() + DAY

    files = await prune(store, blobs, clock, Retention(files_else=1.0))
    counted = await prune(store, blobs, clock, EVERYTHING, dry_run=True)
    pruned = await prune(store, blobs, clock, EVERYTHING)
    again = await prune(store, blobs, clock, EVERYTHING, dry_run=True)
    await store.close()

    assert (files.messages, files.files) == (0, 1)
    assert await blobs.stat(file_id) is None
    assert counted == Pruned(messages=5, payloads=5)
    assert pruned.messages == 5
    assert again == Pruned()


async def test_a_store_that_fails_is_tried_again_the_next_day(
    clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SqliteStore.in_memory(clock)

    async def fail(*_: object, **__: object) -> None:
        raise StoreError("busy")

    with capture_logs() as logs, monkeypatch.context() as failing:
        failing.setattr(store, "prune_messages", fail)
        task = asyncio.create_task(prune_daily(store, MemoryBlobs(clock), clock, Retention))
        await clock.advance(400)
        failing.undo()
        await clock.advance(DAY)
        task.cancel()

    assert [one["event"] for one in logs] == ["retention_failed", "retention_finished"]
