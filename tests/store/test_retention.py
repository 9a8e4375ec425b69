"""Messages and payloads whose time is over are removed, in steps, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from bridge.model import MessageId
from bridge.model.admission import Admission, NewMessage
from bridge.model.archive_records import channel_timeline
from bridge.model.blob_ids import file_id_of
from bridge.model.erasure_records import LegalHold, Retention
from bridge.model.export_records import ImportBatch
from bridge.store.sql_store import SqlStore
from bridge.testing.clock import START, ManualClock
from bridge.testing.store_contract import HOME, ROOM_TIMELINE, admit, new_message, raw
from bridge.uacs import FilePart, MediaSource
from tests.archive.conversation import exported
from tests.store.conftest import Remains

DAY = 86_400.0


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START + 100 * DAY)


@pytest.fixture
def store(each_store: SqlStore) -> SqlStore:
    return each_store


async def state(store: SqlStore, name: str) -> str:
    stored = await store.message(MessageId(f"tin:W1:home:{name}"))
    assert stored
    return stored.state


async def fill(store: SqlStore, *days: float) -> None:
    for number, age in enumerate(days):
        new = new_message(f"m{number}", f"words{number} of some length", time=START + age * DAY)
        await admit(store, new, timelines=(channel_timeline(HOME), ROOM_TIMELINE))


ROOM_ID = str(ROOM_TIMELINE.id)
POLICIES: list[tuple[Mapping[str, Any], list[str]]] = [
    ({}, ["complete", "complete", "complete"]),
    ({"messages_else": 30 * DAY}, ["deleted", "deleted", "complete"]),
    ({"messages_else": 95 * DAY}, ["deleted", "complete", "complete"]),
    ({"messages": {HOME.key: 30 * DAY}}, ["deleted", "deleted", "complete"]),
    ({"messages": {HOME.key: None}, "messages_else": DAY}, ["complete", "complete", "complete"]),
    ({"messages": {HOME.key: DAY, ROOM_ID: 95 * DAY}}, ["deleted", "complete", "complete"]),
    ({"messages": {"tin:W1:away": DAY}}, ["complete", "complete", "complete"]),
]


@pytest.mark.parametrize(("policy", "states"), POLICIES, ids=lambda value: str(value)[:60])
async def test_messages_are_erased_when_their_time_is_over(
    store: SqlStore, policy: Mapping[str, Any], states: list[str]
) -> None:
    await fill(store, 0, 50, 90)

    await store.prune_messages(Retention(**policy), None)

    assert [await state(store, f"m{number}") for number in range(3)] == states
    assert (await store.verify_chain({})).faults == []


async def test_an_erased_message_is_in_no_file_and_is_not_erased_again(
    store: SqlStore, remains: Remains
) -> None:
    await fill(store, 0, 90)

    first = await store.prune_messages(Retention(messages_else=30 * DAY), None)
    again = await store.prune_messages(Retention(messages_else=30 * DAY), None)
    assert await store.overwrite_freed(alone=True)

    assert (first.messages, again.messages) == (1, 0)
    assert remains("words0", "words1") == {"words1"}
    (record,) = await store.erasures()
    assert (record.by, record.subject) == ("retention", "messages")


async def test_many_messages_are_erased_in_steps(store: SqlStore, clock: ManualClock) -> None:
    clock.now += 1000 * DAY
    messages = tuple(exported(number) for number in range(450))
    await store.add_imported(ImportBatch("tin", "tin", messages=messages))
    policy, last, steps = Retention(messages_else=DAY), None, list[int]()

    while True:
        step = await store.prune_messages(policy, last)
        steps.append(step.messages)
        if (last := step.last) is None:
            break

    assert steps == [200, 200, 50]


async def test_a_legal_hold_protects_messages_and_payloads(
    store: SqlStore, clock: ManualClock
) -> None:
    clock.now = START
    await store.accept(raw(1), advance=False)
    await store.admit(Admission("routed", 1, new_message("m0", time=START)))
    await fill_other(store)
    clock.now += 1000 * DAY
    await store.add_hold(LegalHold("h", "op", "r", START, channel=HOME, until=START + DAY))

    policy = Retention(messages_else=DAY, payloads_else=0.0, payloads_outside=0.0)
    imported = await store.prune_payloads(policy, None, imported=True)
    live = await store.prune_payloads(policy, None, imported=False)
    await store.prune_messages(policy, None)

    assert [await state(store, name) for name in ("m0", "m1")] == ["complete", "deleted"]
    assert (imported.payloads, live.payloads) == (1, 0)


async def fill_other(store: SqlStore) -> None:
    await admit(store, new_message("m1", time=START + 2 * DAY), timelines=(channel_timeline(HOME),))
    await store.add_imported(ImportBatch("tin", "tin", messages=(exported(7),)))


@pytest.mark.parametrize(
    ("policy", "removed"),
    [
        ({}, 0),
        ({"payloads_outside": DAY}, 1),
        ({"payloads_outside": DAY, "channels": frozenset((HOME.key,))}, 0),
        ({"payloads_else": DAY, "channels": frozenset((HOME.key,))}, 1),
        ({"payloads": {HOME.key: 3 * DAY}, "channels": frozenset((HOME.key,))}, 0),
        ({"payloads": {HOME.key: 2 * DAY}, "channels": frozenset((HOME.key,))}, 1),
    ],
)
async def test_payloads_of_processed_events_are_removed_when_their_time_is_over(
    store: SqlStore, clock: ManualClock, policy: Mapping[str, Any], removed: int
) -> None:
    await store.accept(raw(1), advance=False)
    await store.admit(Admission("routed", 1, new_message("m1")))
    await store.accept(raw(2), advance=False)  # it waits
    clock.now += 2 * DAY

    pruned = await store.prune_payloads(Retention(**policy), None, imported=False)

    assert pruned.payloads == removed
    assert len(await store.waiting_rows()) == 1
    explanation = await store.explain(new_message("m1").id)
    assert explanation
    assert (explanation.raw is None) == bool(removed)


async def test_payloads_of_imports_go_by_the_time_of_their_message(
    store: SqlStore, clock: ManualClock
) -> None:
    clock.now += 1000 * DAY
    old, young = exported(1), exported(2)
    time = young.posted.time.replace(year=2200)
    young = replace(young, posted=young.posted.model_copy(update={"time": time}))
    await store.add_imported(ImportBatch("tin", "tin", messages=(old, young)))

    pruned = await store.prune_payloads(
        Retention(payloads_else=DAY, payloads_outside=0.0), None, imported=True
    )

    assert pruned.payloads == 1


def with_file(name: str, file_id: str, age: float) -> NewMessage:
    new = new_message(name, "see this", time=START + age * DAY)
    part = FilePart(source=MediaSource(file_id=file_id), media_type="text/plain")
    message = new.message.model_copy(update={"content": (*new.message.content, part)})
    return replace(new, message=message)


OLD, YOUNG, BOTH = (file_id_of(letter * 64) for letter in "abc")


@pytest.mark.parametrize(
    ("policy", "over"),
    [
        ({}, []),
        ({"files_else": 30 * DAY}, [OLD]),
        ({"files_else": DAY}, [OLD, YOUNG, BOTH]),
        ({"files": {HOME.key: 30 * DAY}}, [OLD]),
        ({"files": {HOME.key: None}, "files_else": DAY}, []),
        ({"files": {HOME.key: DAY, ROOM_ID: 30 * DAY}}, [OLD]),
        ({"messages_else": DAY}, []),
    ],
    ids=lambda value: str(value)[:60],
)
async def test_a_file_is_over_when_its_time_is_over_in_all_messages(
    store: SqlStore, policy: Mapping[str, Any], over: list[str]
) -> None:
    files = [("m0", OLD, 0), ("m1", BOTH, 0), ("m2", YOUNG, 90), ("m3", BOTH, 90)]
    for name, file_id, age in files:
        timelines = (channel_timeline(HOME), ROOM_TIMELINE)
        await admit(store, with_file(name, file_id, age), timelines=timelines)

    assert await store.files_over(Retention(**policy)) == frozenset(over)


async def test_a_legal_hold_protects_files(store: SqlStore) -> None:
    await admit(store, with_file("m0", OLD, 0), timelines=(channel_timeline(HOME),))
    await admit(store, with_file("m1", YOUNG, 90), timelines=(channel_timeline(HOME),))
    await store.add_hold(LegalHold("h", "op", "r", START, channel=HOME, until=START + DAY))

    assert await store.files_over(Retention(files_else=DAY)) == {YOUNG}


async def test_a_picture_of_a_person_is_no_file_of_a_message(store: SqlStore) -> None:
    new = with_file("m0", OLD, 0)
    await admit(store, replace(new, author=new.author.model_copy(update={"picture": OLD})))

    assert await store.files_over(Retention(files_else=DAY)) == frozenset()


async def test_a_dry_run_counts_and_removes_nothing(store: SqlStore) -> None:
    await fill(store, 0, 50)
    await store.add_hold(LegalHold("h", "op", "r", START, until=START + DAY))
    policy = Retention(messages_else=DAY, payloads_else=0.0)

    counted = await store.prune_messages(policy, None, dry_run=True)

    assert counted.messages == 1
    assert [await state(store, f"m{number}") for number in range(2)] == ["complete"] * 2
    assert await store.erasures() == []
    assert await store.prune_messages(policy, None) == counted
