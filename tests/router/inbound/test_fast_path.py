"""A posted message whose channel is idle is kept and admitted in one transaction; whatever else
comes is kept first, and all keep their order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import pytest

from bridge.errors import StoreFull, UndecodableEvent
from bridge.model import Event, LaneId, MessageId, OperationId, Raw
from bridge.model.admission import Admission, AdmittedRow
from bridge.model.inbox_records import InboxRow
from bridge.model.outbox_records import OutboxItem
from bridge.router.inbound import fast_path
from bridge.router.inbound.context import Received
from bridge.router.inbound.pipeline import Pipeline
from bridge.store import SqliteStore
from tests.router.conftest import RouterRig
from tests.router.fake_clock import FakeClock
from tests.router.fake_connector import FakeConnector, FakeWithHistory


class Watched(SqliteStore):
    """Notes which transactions kept payloads; `accept` takes a second."""

    clock: FakeClock
    kept: list[tuple[str, str]]
    accepting: asyncio.Event

    async def accept(self, raw: Raw, *, advance: bool) -> InboxRow | None:
        self.kept.append(("accept", raw.dedupe_key))
        self.accepting.set()
        await self.clock.sleep(1)
        return await super().accept(raw, advance=advance)

    async def receive(self, raw: Raw, admission: Admission, *, advance: bool) -> AdmittedRow | None:
        self.kept.append(("receive", raw.dedupe_key))
        return await super().receive(raw, admission, advance=advance)


def pair(
    clock: FakeClock, kind: type[FakeConnector] = FakeConnector
) -> tuple[RouterRig, Watched, FakeConnector, FakeConnector]:
    sales, billing = kind("sales", clock), FakeConnector("billing", clock)
    store = Watched.in_memory(clock)
    store.clock, store.kept, store.accepting = clock, [], asyncio.Event()
    rig = RouterRig(clock, store, (sales, billing))
    rig.room("all", (sales, "s", "both"), (billing, "b", "both"))
    return rig, store, sales, billing


async def test_a_message_is_kept_and_admitted_in_one_transaction(clock: FakeClock) -> None:
    rig, store, sales, billing = pair(clock)
    async with rig.run():
        first = await sales.say("s", "one")
        await clock.let_work()

    assert store.kept == [("receive", first)]
    assert billing.texts("b") == ["one"]
    assert await store.waiting_rows() == []


async def test_a_message_comes_behind_an_edit_that_is_on_its_way_into_the_inbox(
    clock: FakeClock,
) -> None:
    rig, _, sales, billing = pair(clock)
    async with rig.run():
        first = await sales.say("s", "one")
        await clock.let_work()
        edit = asyncio.create_task(sales.edit("s", first, "one, edited"))
        await clock.let_work()
        post = asyncio.create_task(sales.say("s", "two"))
        await clock.advance(5)
        await asyncio.gather(edit, post)

    assert [call for _, channel, call in billing.sent if channel == "b"] == [
        "one", "one, edited", "two",
    ]  # fmt: skip


class SlowPlans:
    """Plans wait until `go` is set."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.go = asyncio.Event()
        plan: Callable[..., object] = Pipeline.plan

        async def slow(pipeline: Pipeline, received: Received) -> object:
            await self.go.wait()
            return await plan(pipeline, received)  # type: ignore[misc]

        monkeypatch.setattr(Pipeline, "plan", slow)


async def test_messages_that_come_while_one_is_planned_keep_their_order(
    clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fast_path, "_LONGEST", 100)  # seconds of real time
    rig, store, sales, billing = pair(clock)
    plans = SlowPlans(monkeypatch)
    texts = [f"{number}" for number in range(6)]
    async with rig.run():
        saying: list[asyncio.Task[str]] = []
        for text in texts[:4]:
            saying.append(asyncio.create_task(sales.say("s", text)))
            await clock.let_work()
        assert store.kept == []
        plans.go.set()
        saying += [asyncio.create_task(sales.say("s", text)) for text in texts[4:]]
        await clock.advance(10)
        keys = await asyncio.gather(*saying)

    assert store.kept == [("receive", keys[0]), *(("accept", key) for key in keys[1:])]
    assert billing.texts("b") == texts


async def test_a_message_whose_plan_takes_long_is_kept_first(
    clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fast_path, "_LONGEST", 0.01)
    rig, store, sales, billing = pair(clock)
    plans = SlowPlans(monkeypatch)
    async with rig.run():
        saying = asyncio.create_task(sales.say("s", "one"))
        await store.accepting.wait()
        await clock.advance(2)
        key = await saying
        assert [row.raw.dedupe_key for row in await store.waiting_rows()] == [key]
        plans.go.set()
        await clock.advance(1)

    assert store.kept == [("accept", key)]
    assert billing.texts("b") == ["one"]


async def test_a_repeat_is_not_planned_again(
    clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig, store, sales, billing = pair(clock)
    async with rig.run() as router:
        raw = sales.raw("s", "one")
        assert await router.inbox.accept(raw)
        await clock.let_work()
        monkeypatch.delattr(Pipeline, "plan")
        again = asyncio.create_task(router.inbox.accept(raw))
        await clock.advance(2)
        assert await again is False

    assert billing.texts("b") == ["one"]
    assert await store.failed_rows() == []


async def test_a_repeat_that_this_process_does_not_remember_changes_nothing(
    clock: FakeClock,
) -> None:
    rig, store, sales, billing = pair(clock)
    raw = sales.raw("s", "one")
    for is_new in (True, False):
        async with rig.run() as router:
            assert await router.inbox.accept(raw) is is_new
            await clock.let_work()

    assert store.kept == [("receive", raw.dedupe_key)] * 2
    assert billing.texts("b") == ["one"]


class Asked(SqliteStore):
    """Notes what is asked about operations and native messages."""

    asked: list[str]

    async def head(self, lane: LaneId, *, besides: Sequence[MessageId] = ()) -> OutboxItem | None:
        self.asked.append(f"head of {lane}")
        return await super().head(lane, besides=besides)

    async def knows_operation(self, operation: OperationId) -> bool:
        self.asked.append(f"operation {operation}")
        return await super().knows_operation(operation)


async def test_a_message_and_the_echo_of_its_copy_ask_the_store_nothing(clock: FakeClock) -> None:
    sales, billing = FakeConnector("sales", clock), FakeWithHistory("billing", clock, echo=True)
    store = Asked.in_memory(clock)
    store.asked = []
    rig = RouterRig(clock, store, (sales, billing))
    rig.room("all", (sales, "s", "both"), (billing, "b", "both"))
    async with rig.run():
        await sales.say("s", "one")
        await clock.advance(1)
        store.asked.clear()
        await sales.say("s", "two")
        await clock.advance(1)

        assert billing.texts("b") == ["one", "two"]
        assert store.asked == []
        assert await store.open_lanes() == []


class Undecodable(FakeConnector):
    def decode(self, raw: Raw) -> list[Event]:
        raise UndecodableEvent("the payload is cut")


async def test_a_payload_that_cannot_be_decoded_is_kept_with_its_reason(clock: FakeClock) -> None:
    rig, store, sales, _ = pair(clock, Undecodable)
    async with rig.run():
        saying = asyncio.create_task(sales.say("s", "one"))
        await clock.advance(2)
        key = await saying
        ((row, reason),) = await store.failed_rows()

    assert (row.raw.dedupe_key, reason) == (key, "the payload is cut")
    assert store.kept == [("accept", key)]


async def test_a_message_whose_plan_the_store_refuses_is_kept(
    clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig, store, sales, billing = pair(clock)

    async def refuse(_raw: Raw, _admission: Admission, *, advance: bool) -> AdmittedRow | None:
        raise StoreFull(f"no room for the plan ({advance})")

    monkeypatch.setattr(store, "receive", refuse)
    async with rig.run():
        saying = asyncio.create_task(sales.say("s", "one"))
        await clock.advance(2)
        key = await saying

    assert store.kept == [("accept", key)]
    assert billing.texts("b") == ["one"]
