"""Another bridge with the same tokens and its own store is noticed; then nothing is sent there."""

from __future__ import annotations

import pytest

from bridge.errors import Unsettled
from bridge.model import Call, Echo, OperationId, Raw, Receipt
from bridge.ports.store.key_values import ROUTER_VALUES
from bridge.router import Router
from bridge.router.recovery.other_bridges import instance_of, resume_sending
from bridge.store import SqliteStore
from tests.router.conftest import RouterRig
from tests.router.fake_clock import FakeClock
from tests.router.fake_connector import FakeConnector, FakeWithHistory


class Pair:
    """What is said in `sales` is shown in `billing`, whose posts come back."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.sales = FakeConnector("sales", clock)
        self.billing = FakeWithHistory("billing", clock, echo=True)
        self.rig = RouterRig(clock, SqliteStore.in_memory(clock), (self.sales, self.billing))
        self.rig.room("all", (self.sales, "s", "both"), (self.billing, "b", "both"))

    def foreign(self, *, other: str, named: bool = True, at: float | None = None) -> Raw:
        """What another bridge posts as the billing's account; `named`: it tells its operation."""
        number = len(self.billing.channels["b"])
        operation = OperationId(f"theirs {number}") if named else None
        raw = self.billing.raw(
            "b", "twice", own=True, operation=operation, at=at or self.clock.now, bot=True
        )
        receipt = Receipt(native_id=raw.order_key)
        return raw.model_copy(
            update={"echo": Echo(operation=operation, receipt=receipt, bridge=other)}
        )

    async def receive_echoes(self, router: Router, times: int, **more: object) -> None:
        for _ in range(times):
            await router.inbox.accept(self.foreign(**more))  # type: ignore[arg-type]
            await self.clock.advance(1)

    def texts(self) -> list[str]:
        """What we sent to the billing, without notices."""
        return [
            post.text
            for post in self.billing.channels["b"]
            if post.operation is not None and post.author != "Bridge"
        ]


@pytest.fixture
def pair(clock: FakeClock) -> Pair:
    return Pair(clock)


async def test_a_new_post_of_another_store_stops_what_we_send_until_somebody_resumes(
    pair: Pair,
) -> None:
    async with pair.rig.run() as router:
        await pair.sales.say("s", "one")
        await pair.clock.advance(1)
        assert pair.texts() == ["one"]

        await pair.receive_echoes(router, 1, other="their store")
        await pair.sales.say("s", "two")
        await pair.clock.advance(60)
        assert pair.texts() == ["one"]
        assert "their store" in router.parts.recovery.other_bridges.note(pair.billing.account)
        assert "account resume billing" in router.parts.recovery.other_bridges.note(
            pair.billing.account
        )

        assert await router.parts.recovery.other_bridges.resume(pair.billing.account)
        await pair.clock.advance(1)
        assert pair.texts() == ["one", "two"]
        assert not await router.parts.recovery.other_bridges.resume(pair.billing.account)


async def test_the_room_gets_one_notice_of_the_other_bridge_with_the_remedy(pair: Pair) -> None:
    async with pair.rig.run() as router:
        await pair.receive_echoes(router, 1, other="their store")
        await pair.sales.say("s", "waits before the notice")
        await pair.clock.advance(30)

    told = [text for texts in (pair.sales.texts("s"), pair.billing.texts("b")) for text in texts]
    words = "Another bridge posts to Fake with the same tokens"
    assert len([text for text in told if words in text]) == 2  # one in each channel


async def test_the_notice_to_the_other_bridge_is_repeated_a_few_times(pair: Pair) -> None:
    async with pair.rig.run() as router:
        await pair.receive_echoes(router, 2, other="their store")
        await pair.receive_echoes(router, 200, other="their store")

    still = [text for text in pair.billing.texts("b") if "still posts" in text]
    assert len(still) == 5


async def test_accounts_that_are_not_stopped_go_on_sending(pair: Pair) -> None:
    async with pair.rig.run() as router:
        await pair.receive_echoes(router, 2, other="their store")
        await pair.billing.say("b", "hello")
        await pair.clock.advance(1)

    assert "hello" in pair.sales.texts("s")


async def test_three_unknown_posts_of_our_account_reveal_another_bridge(pair: Pair) -> None:
    own = await instance_of(pair.rig.store, lambda: "ours")
    async with pair.rig.run() as router:
        await pair.receive_echoes(router, 2, other=own)
        assert not router.parts.recovery.other_bridges.is_stopped(pair.billing.account)
        await pair.receive_echoes(router, 1, other=own)
        assert router.parts.recovery.other_bridges.is_stopped(pair.billing.account)


async def test_posts_without_an_operation_id_count_when_the_store_does_not_know_them(
    pair: Pair,
) -> None:
    async with pair.rig.run() as router:
        await pair.receive_echoes(router, 3, other="", named=False)
        assert not router.parts.recovery.other_bridges.is_stopped(pair.billing.account)
        await pair.clock.advance(20)
        assert router.parts.recovery.other_bridges.is_stopped(pair.billing.account)


async def test_our_own_posts_are_no_evidence_whatever_becomes_of_their_answers(pair: Pair) -> None:
    lost = 0

    def lose(call: Call) -> None:
        nonlocal lost
        if call.kind == "post" and call.channel.channel == "b":
            lost += 1
            post = pair.billing.channels["b"][-1]
            raws.append((post.id, call))
            if lost % 2:
                raise Unsettled("the answer was lost")

    raws: list[tuple[str, Call]] = []
    pair.billing.after_send = lose
    async with pair.rig.run() as router:
        for number in range(6):
            await pair.sales.say("s", f"text {number}")
            await pair.clock.advance(0.5)
            for native_id, call in raws:
                raw = pair.billing.raw("elsewhere", "echo", own=True, at=pair.clock.now)
                for operation in (OperationId(call.operation), None):
                    echo = Echo(operation=operation, receipt=Receipt(native_id=native_id))
                    here = {"echo": echo, "channel": pair.billing.channel("b")}
                    await router.inbox.accept(raw.model_copy(update=here))
            raws.clear()
        await pair.clock.advance(120)
        assert not router.parts.recovery.other_bridges.is_stopped(pair.billing.account)

    assert pair.texts() == [f"text {number}" for number in range(6)]


async def test_posts_from_before_our_start_are_no_evidence(pair: Pair) -> None:
    before = pair.clock.now - 10
    async with pair.rig.run() as router:
        await pair.receive_echoes(router, 10, other="an older store", at=before)
        await pair.clock.advance(60)
        assert not router.parts.recovery.other_bridges.is_stopped(pair.billing.account)


async def test_posts_of_another_program_of_our_app_are_no_evidence(pair: Pair) -> None:
    async with pair.rig.run() as router:
        for number in range(10):
            await pair.billing.say("b", f"a report, {number}", own=True)
        await pair.clock.advance(60)
        assert not router.parts.recovery.other_bridges.is_stopped(pair.billing.account)


async def test_a_restart_forgets_neither_the_stop_nor_what_waits(pair: Pair) -> None:
    async with pair.rig.run() as router:
        await pair.receive_echoes(router, 2, other="their store")
        await pair.sales.say("s", "waits")
        await pair.clock.advance(5)
    async with pair.rig.run() as router:
        await pair.clock.advance(60)
        assert router.parts.recovery.other_bridges.is_stopped(pair.billing.account)
        assert pair.texts() == []

    assert await resume_sending(pair.rig.store, pair.billing.account)
    assert not await resume_sending(pair.rig.store, pair.billing.account)
    async with pair.rig.run():
        await pair.clock.advance(5)
    assert pair.texts() == ["waits"]


async def test_a_restart_with_its_own_store_is_not_another_bridge(pair: Pair) -> None:
    for number in range(5):
        async with pair.rig.run() as router:
            await pair.sales.say("s", f"text {number}")
            await pair.clock.advance(1)
            assert not router.parts.recovery.other_bridges.is_stopped(pair.billing.account)
    assert len(pair.texts()) == 5


async def test_the_id_of_a_store_is_made_once(clock: FakeClock) -> None:
    store = SqliteStore.in_memory(clock)
    assert await instance_of(store, lambda: "one") == "one"
    assert await instance_of(store, lambda: "two") == "one"
    assert await store.get_value(ROUTER_VALUES, "instance") == "one"


async def test_the_echo_of_our_own_post_asks_the_store_nothing(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []

    async def ask(_store: SqliteStore, *about: object) -> None:
        asked.append(about)

    async with pair.rig.run() as router:
        await pair.sales.say("s", "one")
        await pair.clock.advance(1)
        post = pair.billing.channels["b"][-1]
        for question in ("knows_operation", "resolve"):
            monkeypatch.setattr(SqliteStore, question, ask)
        for operation in (post.operation, None):  # on Discord, echoes do not name it
            raw = pair.billing.raw("b", "one", own=True, operation=operation)
            echo = Echo(
                operation=None if operation is None else OperationId(operation),
                receipt=Receipt(native_id=post.id),
                bridge="",
            )
            await router.inbox.accept(raw.model_copy(update={"echo": echo}))
        await pair.clock.advance(60)

        assert router.parts.recovery.other_bridges.examined == 2
        assert asked == []
        assert not router.parts.recovery.other_bridges.is_stopped(pair.billing.account)
