"""A store that takes nothing for a while: what was told meanwhile stands in its order, once."""

from __future__ import annotations

import asyncio

import pytest

from bridge.errors import StoreError
from bridge.model import CommandGiven, Raw
from bridge.model.admission import Admission, AdmittedRow
from bridge.model.inbox_records import InboxRow
from bridge.router import inbox
from bridge.store import SqliteStore
from tests.router.conftest import RouterRig
from tests.router.fake_clock import FakeClock
from tests.router.fake_connector import FakeConnector, FakeWithHistory


class Failing(SqliteStore):
    """Keeps nothing while `broken`."""

    broken = False

    async def accept(self, raw: Raw, *, advance: bool) -> InboxRow | None:
        if self.broken:
            raise StoreError("the disk is full")
        return await super().accept(raw, advance=advance)

    async def receive(self, raw: Raw, admission: Admission, *, advance: bool) -> AdmittedRow | None:
        if self.broken:
            raise StoreError("the disk is full")
        return await super().receive(raw, admission, advance=advance)


def pair(
    clock: FakeClock, kind: type[FakeConnector] = FakeConnector
) -> tuple[RouterRig, Failing, FakeConnector, FakeConnector]:
    sales, billing = kind("sales", clock), kind("billing", clock)
    store = Failing.in_memory(clock)
    rig = RouterRig(clock, store, (sales, billing))
    rig.room("all", (sales, "s", "both"), (sales, "t", "both"), (billing, "b", "both"))
    return rig, store, sales, billing


async def hand_over(sales: FakeConnector, raw: Raw) -> bool:
    """False where the platform would send it again."""
    assert sales.inbox is not None
    try:
        await sales.inbox.accept(raw)
    except StoreError:
        return False
    return True


@pytest.mark.parametrize("kind", [FakeConnector, FakeWithHistory])
async def test_payloads_that_came_while_the_store_failed_keep_their_place(
    clock: FakeClock, kind: type[FakeConnector]
) -> None:
    rig, store, sales, billing = pair(clock, kind)
    raws = [sales.raw("s", f"{number}") for number in range(101, 106)]

    async with rig.run():
        store.broken = True
        early = [asyncio.create_task(hand_over(sales, raw)) for raw in raws[:3]]
        await clock.advance(6)
        assert [task.result() for task in early] == [False] * 3
        store.broken = False
        for raw in raws[3:]:
            await hand_over(sales, raw)
        await clock.advance(3)

        assert [await hand_over(sales, raw) for raw in raws] == [True] * 5
        await clock.advance(1)

    assert billing.texts("b") == ["101", "102", "103", "104", "105"]


async def test_what_is_kept_within_a_moment_is_acknowledged(clock: FakeClock) -> None:
    rig, store, sales, billing = pair(clock)

    async with rig.run():
        store.broken = True
        results = asyncio.create_task(hand_over(sales, sales.raw("s", "hello")))
        await clock.advance(0.5)
        assert not results.done()
        store.broken = False
        await clock.advance(1)
        assert results.result()

    assert billing.texts("b") == ["hello"]


async def test_payloads_wait_for_a_failing_store_side_by_side(
    clock: FakeClock,
) -> None:
    rig, store, sales, _ = pair(clock)

    async with rig.run():
        store.broken = True
        for number in range(50):
            sending = asyncio.create_task(hand_over(sales, sales.raw("s", f"{number}")))
            await clock.advance(2 if number == 0 else 0)
            assert sending.result() is False


async def test_more_than_can_be_held_is_read_back(
    clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox, "_MOST", 3)
    rig, store, sales, billing = pair(clock, FakeWithHistory)

    async with rig.run():
        await sales.say("s", "before")
        await clock.advance(5)
        store.broken = True
        for number in range(101, 108):
            sending = asyncio.create_task(hand_over(sales, sales.raw("s", f"{number}")))
            await clock.advance(2)
            assert sending.result() is False
        store.broken = False
        await clock.advance(5)
        sending = asyncio.create_task(hand_over(sales, sales.raw("s", "108")))
        await clock.advance(10)

    assert billing.texts("b") == ["before", *(f"{number}" for number in range(101, 109))]


async def test_a_command_that_failed_is_not_carried_out_later(clock: FakeClock) -> None:
    rig, store, sales, _ = pair(clock)

    async with rig.run():
        store.broken = True
        with pytest.raises(StoreError):
            await sales.happen(CommandGiven, "s", command="bridge", text="status")
        store.broken = False
        await clock.advance(10)
        assert await store.inbox_row(1) is None


async def test_what_is_held_when_the_bridge_stops_was_not_acknowledged(clock: FakeClock) -> None:
    rig, store, sales, billing = pair(clock)
    raw = sales.raw("s", "hello")

    async with rig.run():
        store.broken = True
        sending = asyncio.create_task(hand_over(sales, raw))
        await clock.advance(3)
        assert sending.result() is False
    store.broken = False
    async with rig.run():
        assert await hand_over(sales, raw)
        await clock.advance(1)

    assert billing.texts("b") == ["hello"]


async def test_a_sender_that_offers_a_payload_again_itself_learns_that_it_is_kept(
    clock: FakeClock,
) -> None:
    rig, store, sales, _ = pair(clock)
    raw = sales.raw("s", "hello")

    async with rig.run():
        assert sales.inbox is not None
        store.broken = True
        sending = asyncio.create_task(hand_over(sales, raw))
        await clock.advance(3)
        assert sending.result() is False
        store.broken = False
        await clock.advance(3)

        assert await sales.inbox.accept(raw) is True
        assert await sales.inbox.accept(raw) is False


@pytest.mark.parametrize("within_a_moment", [True, False])
async def test_a_payload_that_no_store_can_keep_does_not_stop_those_behind_it(
    clock: FakeClock, *, within_a_moment: bool
) -> None:
    rig, store, sales, billing = pair(clock)
    keep = store.accept

    async def accept(raw: Raw, *, advance: bool) -> InboxRow | None:
        row = await keep(raw, advance=advance) if store.broken else None
        if raw.dedupe_key == poison.dedupe_key:
            raise ValueError("surrogates not allowed")
        return row or await keep(raw, advance=advance)

    async def receive(raw: Raw, _admission: Admission, *, advance: bool) -> AdmittedRow | None:
        raise ValueError(f"surrogates not allowed: {raw.dedupe_key}, {advance}")

    async with rig.run():
        store.broken, store.accept = True, accept  # pyright: ignore[reportAttributeAccessIssue]
        store.receive = receive  # pyright: ignore[reportAttributeAccessIssue]
        raws = [sales.raw("s", f"{number}") for number in range(101, 104)]
        poison = raws[1]
        assert sales.inbox is not None
        sending = [asyncio.create_task(sales.inbox.accept(raw)) for raw in raws]
        await clock.advance(0.5 if within_a_moment else 6)
        store.broken = False
        await clock.advance(3)
        results = await asyncio.gather(*sending, return_exceptions=True)
        await hand_over(sales, sales.raw("s", "104"))
        await clock.advance(1)

    refused = ValueError if within_a_moment else StoreError
    assert isinstance(results[1], refused)
    assert billing.texts("b") == ["101", "103", "104"]
