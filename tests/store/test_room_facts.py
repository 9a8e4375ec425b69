"""The Conversation of a room says who was a member when, and what the configuration says of it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from pydantic import JsonValue

from bridge.model import ActorId, RoomId
from bridge.model.archive_records import Timeline
from bridge.model.room_records import RoomForm
from bridge.store import SqliteStore
from bridge.testing.clock import ManualClock
from bridge.testing.store_contract import AWAY, HOME, admit, new_message

LOBBY = RoomId("lobby")


@pytest.fixture
async def store(clock: ManualClock) -> AsyncIterator[SqliteStore]:
    opened = SqliteStore.in_memory(clock)
    yield opened
    await opened.close()


async def test_memberships_and_metadata_are_in_every_view(
    store: SqliteStore, clock: ManualClock
) -> None:
    metadata: dict[str, JsonValue] = {"purpose": "support", "owner": {"team": 7}}
    own_id = (await store.room_ids([LOBBY]))[LOBBY]
    await store.stand_rooms([RoomForm(LOBBY, "1", (HOME.key, AWAY.key), {"purpose": "old"})])
    await admit(store, new_message("m1"), timelines=(Timeline(own_id, "room", LOBBY, epoch=1),))
    clock.now += 60
    await store.stand_rooms([RoomForm(LOBBY, "2", (HOME.key, "agent:helper"), metadata)])

    whole = await store.conversation(own_id)
    page = await store.page(own_id, limit=10, viewer=ActorId("tin:W1:U9"))
    (exported,) = [
        one for one in await store.archived_conversations() if one.channel.kind == "room"
    ]

    joined = whole.metadata["uacs_bridge"]["memberships"][2]["joined"]  # type: ignore[index]
    memberships = [
        {"member": HOME.key},
        {"member": AWAY.key, "left": joined},
        {"member": "agent:helper", "joined": joined},
    ]
    for found in (whole.metadata, page.conversation.metadata):
        assert found
        assert found["uacs_bridge"]["memberships"] == memberships  # type: ignore[index,call-overload]
        assert {key: found[key] for key in metadata} == metadata
    assert exported.channel.facts
    assert exported.channel.facts.metadata == metadata
    assert [m.member for m in exported.channel.facts.memberships] == [
        m["member"] for m in memberships
    ]
