"""The configuration says how long messages of rooms and channels are kept."""

from __future__ import annotations

import asyncio
from uuid import UUID

import pytest
from structlog.testing import capture_logs

from bridge.app.settings.file import settings_of
from bridge.app.watch.retention import prune, prune_daily, retention_of
from bridge.errors import StoreError
from bridge.model import AccountId, ChannelRef, RoomId
from bridge.model.erasure_records import Retention
from bridge.model.export_records import ImportBatch
from bridge.router.rooms.rooms import Member, Room
from bridge.store import SqliteStore
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
        payloads_outside=DAY,
        channels=frozenset((ONE.key,)),
    )


def test_a_room_may_keep_longer_or_shorter_than_others() -> None:
    found = policy(
        {
            "archive": {"keep": {"messages_days": 10, "payloads_days": 2},
                        "payloads_outside_hours": None},
            "rooms": {"b": {"keep": {"messages_days": 5}}},
        },
        room("a", ONE), room("b", TWO),
    )  # fmt: skip

    assert (found.messages[ONE.key], found.messages[TWO.key]) == (10 * DAY, 5 * DAY)
    assert (found.payloads[ONE.key], found.payloads[TWO.key]) == (2 * DAY, 5 * DAY)
    assert (found.messages_else, found.payloads_else) == (10 * DAY, 2 * DAY)
    assert found.payloads_outside is None


def test_a_channel_of_several_rooms_has_the_longest_time() -> None:
    found = policy(
        {"rooms": {"a": {"keep": {"messages_days": 5}}, "b": {"keep": {"messages_days": 9}},
                   "c": {"keep": {"messages_days": 1}}}},
        room("a", ONE), room("b", ONE), room("c", TWO), room("d", TWO),
    )  # fmt: skip

    assert found.messages[ONE.key] == 9 * DAY
    assert found.messages[TWO.key] is None


async def test_everything_over_is_removed_at_once_on_request(clock: FakeClock) -> None:
    store = SqliteStore.in_memory(clock)
    messages = tuple(exported(number) for number in range(5))
    await store.add_imported(ImportBatch("tin", "tin", messages=messages))

    clock.now = messages[-1].posted.time.timestamp() + DAY
    pruned = await prune(store, Retention(messages_else=1.0, payloads_else=1.0))

    assert pruned.messages == 5


async def test_a_store_that_fails_is_tried_again_the_next_day(
    clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SqliteStore.in_memory(clock)

    async def fail(*_: object) -> None:
        raise StoreError("busy")

    with capture_logs() as logs, monkeypatch.context() as failing:
        failing.setattr(store, "prune_messages", fail)
        task = asyncio.create_task(prune_daily(store, clock, Retention))
        await clock.advance(400)
        failing.undo()
        await clock.advance(DAY)
        task.cancel()

    assert [one["event"] for one in logs] == ["retention_failed", "retention_finished"]
