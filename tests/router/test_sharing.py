"""A router among others works for what is its own, and goes on where another one stopped."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from functools import partial

import pytest

from bridge.errors import StoreError, Unavailable
from bridge.model import AccountId, Raw
from bridge.model.admission import Admission, Admitted
from bridge.model.assignments import UPKEEP, Assignment, account_assignment, agent_assignment
from bridge.model.inbox_records import InboxRow
from bridge.model.turns import AgentEvent, AgentInput, TextDelta, Turn, TurnDone
from bridge.router import AgentMembership
from bridge.store import SqliteStore
from tests.router.conftest import RouterRig
from tests.router.fake_clock import FakeClock
from tests.router.fake_connector import FakeConnector, FakeWithHistory

SALES, BILLING, WEB = (account_assignment(AccountId(name)) for name in ("sales", "billing", "web"))
HELPER = agent_assignment("helper")


class Others:
    """A cluster whose other processes are the test."""

    is_shared = True

    def __init__(self, *own: Assignment) -> None:
        self.own = set(own)
        self.is_alive = True
        self.calls: list[tuple[Assignment, str]] = []
        self.told: list[tuple[str, dict[str, str]]] = []
        self.rows: dict[int, InboxRow] = {}  # that nobody has worked on
        self.read: list[int] = []

    def owns(self, assignment: Assignment) -> bool:
        return assignment in self.own

    def call(self, assignment: Assignment, detail: str = "") -> None:
        self.calls.append((assignment, detail))

    async def tell(self, kind: str, **facts: str) -> None:
        self.told.append((kind, facts))

    async def hand_on(self, raw: Raw) -> InboxRow | None:
        raise StoreError(f"not in this test: {raw}")

    async def waiting_row(self, row: int) -> InboxRow | None:
        self.read.append(row)
        return self.rows.get(row)

    async def hear(self) -> None:
        """Nothing was told, or the test tells it."""

    async def outcome_of(self, row: InboxRow) -> str:
        raise StoreError(f"not in this test: {row}")


class Helper:
    """Answers once for each question, and counts them; waits where a test wants that."""

    name = "helper"

    def __init__(self) -> None:
        self.asked = 0
        self.go_on = asyncio.Event()
        self.go_on.set()

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent, None]:
        del turn, inputs
        self.asked += 1
        await self.go_on.wait()
        yield TextDelta(text="helped")
        yield TurnDone()


@pytest.fixture
def rig(rig: RouterRig) -> RouterRig:
    rig.rooms.clear()
    rig.memberships = (AgentMembership("helper", "always"),)
    sales, billing, web = rig.connectors.values()
    rig.room("all", (sales, "s", "both"), (billing, "b", "both"), (web, "w", "both"))
    return rig


async def test_only_its_own_lanes_are_sent_and_the_others_are_called(rig: RouterRig) -> None:
    sales, billing, web = rig.connectors.values()
    rig.cluster = others = Others()
    async with rig.run() as router:
        others.own = {SALES, BILLING}
        await router.sharing.take({SALES, BILLING})
        await rig.clock.let_work()
        await sales.say("s", "hello")
        await rig.clock.let_work()

        assert billing.texts("b") == ["hello"]
        assert web.texts("w") == []
        assert (WEB, web.channel("w").lane) in others.calls

        others.own.add(WEB)  # another process had left it
        await router.sharing.take({WEB})
        await rig.clock.let_work()
        assert web.texts("w") == ["hello"]


async def test_what_is_given_up_is_left_to_others_and_comes_back_whole(rig: RouterRig) -> None:
    sales, billing, _ = rig.connectors.values()
    rig.cluster = others = Others()
    everything = {SALES, BILLING, WEB, HELPER, UPKEEP}
    rig.agents = {"helper": Helper()}
    async with rig.run() as router:
        others.own = set(everything)
        await router.sharing.take(everything)
        await rig.clock.let_work()
        others.own = {SALES}
        await router.sharing.give_up(everything - {SALES})
        await sales.say("s", "meanwhile")
        await rig.clock.let_work()
        assert billing.texts("b") == []
        assert (HELPER, "") in others.calls

        others.own = set(everything)
        await router.sharing.take(everything - {SALES})
        await rig.clock.let_work()
        assert billing.texts("b") == ["meanwhile", "helped"]


async def test_a_row_that_is_told_while_its_account_is_taken_waits_behind_those_that_were_left(
    rig: RouterRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    sales, billing, _ = rig.connectors.values()
    everything = {SALES, BILLING, WEB}
    rig.cluster = others = Others()
    async with rig.run() as router:
        await rig.store.accept(sales.raw("s", "left"), advance=False)
        live = await rig.store.accept(sales.raw("s", "live"), advance=False)
        assert live is not None
        taking: list[asyncio.Task[None]] = []

        async def read_while_it_is_taken(row: int) -> InboxRow | None:
            others.own = set(everything)
            taking.append(asyncio.create_task(router.sharing.take(everything)))
            await rig.clock.let_work()
            return live if row == live.id else None

        monkeypatch.setattr(others, "waiting_row", read_while_it_is_taken)
        await router.sharing.told("row", {"row": str(live.id)})
        await asyncio.gather(*taking)
        await rig.clock.advance(5)

        assert billing.texts("b") == ["left", "live"]


async def test_a_row_that_another_process_kept_goes_before_what_the_history_shows_after_it(
    clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    sales, billing = FakeWithHistory("sales", clock), FakeConnector("billing", clock)
    rig = RouterRig(clock, SqliteStore.in_memory(clock), (sales, billing))
    rig.room("all", (sales, "s", "both"), (billing, "b", "both"))
    everything = {SALES, BILLING}
    rig.cluster = others = Others(*everything)
    async with rig.run() as router:
        await router.sharing.take(everything)
        await clock.advance(20)
        await sales.say("s", "before")
        await clock.advance(20)

        kept = await rig.store.accept(sales.raw("s", "kept elsewhere"), advance=False)
        assert kept is not None
        sales.raw("s", "missed")
        others.rows[kept.id] = kept
        monkeypatch.setattr(
            others, "hear", partial(router.sharing.told, "row", {"row": str(kept.id)})
        )
        router.inbox.session_began(sales.account)
        await clock.advance(20)

        assert billing.texts("b") == ["before", "kept elsewhere", "missed"]


async def test_what_waits_for_a_reading_is_left_to_the_next_owner(clock: FakeClock) -> None:
    sales, billing = FakeWithHistory("sales", clock), FakeConnector("billing", clock)
    sales.takes = {"s": 3}
    rig = RouterRig(clock, SqliteStore.in_memory(clock), (sales, billing))
    rig.room("all", (sales, "s", "both"), (billing, "b", "both"))
    everything = {SALES, BILLING}
    rig.cluster = others = Others(*everything)
    async with rig.run() as router:
        await router.sharing.take(everything)
        await clock.advance(20)
        sales.raw("s", "missed")
        router.inbox.session_began(sales.account)
        await sales.say("s", "live")
        others.own = {BILLING}
        await router.sharing.give_up({SALES})
        await clock.advance(1)
        assert billing.texts("b") == []

        others.own = everything
        await router.sharing.take({SALES})
        router.inbox.session_began(sales.account)
        await clock.advance(20)
        assert billing.texts("b") == ["missed", "live"]


@pytest.mark.parametrize(
    "facts", [{"account": "sales"}, {}], ids=["named account", "told by an older version"]
)
async def test_only_the_owner_of_an_account_works_on_a_row_that_is_told(
    rig: RouterRig, facts: dict[str, str]
) -> None:
    sales, billing, _ = rig.connectors.values()
    rig.cluster = others = Others(BILLING, WEB)
    async with rig.run() as router:
        await router.sharing.take({BILLING, WEB})
        kept = await rig.store.accept(sales.raw("s", "kept"), advance=False)
        assert kept is not None
        others.rows[kept.id] = kept

        await router.sharing.told("row", {"row": str(kept.id), **facts})
        await rig.clock.let_work()
        assert others.read == ([] if facts else [kept.id])
        assert not billing.texts("b")

        others.own.add(SALES)
        await router.sharing.take({SALES})
        await rig.clock.let_work()
        assert billing.texts("b") == ["kept"]


async def test_a_process_that_was_stopped_receives_again_what_is_still_its_own(
    rig: RouterRig,
) -> None:
    rig.cluster = others = Others(SALES, BILLING, WEB)
    async with rig.run() as router:
        receivers = router.parts.inbound.receivers
        await router.sharing.take({SALES, BILLING, WEB})
        assert set(receivers.accounts) == {"sales", "billing", "web"}

        await router.sharing.stop_receiving()
        assert not receivers.accounts
        others.own.discard(WEB)
        router.sharing.receive_again()

        assert set(receivers.accounts) == {"sales", "billing"}


async def test_a_turn_that_a_look_found_first_runs_once(
    rig: RouterRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    sales, *_ = rig.connectors.values()
    everything = {SALES, BILLING, WEB, HELPER, UPKEEP}
    rig.cluster = Others(*everything)
    rig.agents = {"helper": (helper := Helper())}
    async with rig.run() as router:
        await router.sharing.take(everything)
        await rig.clock.let_work()
        admit = rig.store.admit

        async def admit_and_look(admission: Admission) -> Admitted:
            admitted = await admit(admission)
            await router.sharing.look()  # before the turn is taken
            return admitted

        monkeypatch.setattr(rig.store, "admit", admit_and_look)
        await sales.say("s", "a question")
        await rig.clock.let_work()
        await router.sharing.look()
        await rig.clock.let_work()

        assert helper.asked == 1


async def test_a_process_that_may_be_held_for_dead_sends_nothing(rig: RouterRig) -> None:
    sales, billing, _ = rig.connectors.values()
    rig.cluster = others = Others(SALES, BILLING, WEB)
    async with rig.run() as router:
        await router.sharing.take({SALES, BILLING, WEB})
        await rig.clock.let_work()
        others.is_alive = False
        with (
            pytest.raises(Unavailable, match="was stopped for too long"),
            router.parts.outbound.in_flight.call(billing),
        ):
            pass
        await sales.say("s", "hello")
        await rig.clock.let_work()

        assert billing.texts("b") == []
