"""That somebody writes is shown elsewhere at once, seldom, and never kept."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bridge.errors import Unavailable
from bridge.model import Call, ChannelRef, OperationId, Rate, RateLimitKey, Raw, Receipt
from bridge.model import Place as PlaceOf
from bridge.model.events import TypingStarted
from bridge.model.refs import actor_id_of
from bridge.model.turns import AgentEvent, AgentInput, TextDelta, Turn, TurnDone
from bridge.router import AgentMembership
from bridge.store import SqliteStore
from tests.router.conftest import House
from tests.router.fake_clock import FakeClock
from tests.router.paper import PaperConnector


class PaperThatTypes(PaperConnector):
    """Notes where it was shown that somebody writes."""

    def __init__(self, account: str, clock: FakeClock, **more: dict[str, tuple[Rate, ...]]) -> None:
        super().__init__(account, clock, **more)  # pyright: ignore[reportArgumentType]  # budgets
        self.typed: list[str] = []
        self.broken = False

    def typing_call(self, channel: ChannelRef) -> Call | None:
        if channel.channel == "mute":
            return None
        return Call(
            kind="other", method="typing", operation=OperationId("typing"), channel=channel,
            budgets=(RateLimitKey(rule="typing", of=self.account),), body={},
        )  # fmt: skip

    async def send(self, call: Call) -> Receipt:
        if call.method != "typing":
            return await super().send(call)
        if self.broken:
            raise Unavailable("gone")
        self.typed.append(call.channel.channel)
        return Receipt(native_id="")

    async def type(self, channel: str, *, own: bool = False) -> None:
        assert self.inbox
        event = TypingStarted(
            account=self.account, place=PlaceOf(channel=self.channel(channel)),
            time=datetime.fromtimestamp(self._clock.time(), UTC),
            actor=actor_id_of("paper", self.account, "ann"), own=own,
        )  # fmt: skip
        await self.inbox.accept(
            Raw(
                account=self.account, kind="event", dedupe_key="typing", order_key="typing",
                channel=self.channel(channel), volatile=True,
                payload=event.model_dump_json().encode(),
            )
        )  # fmt: skip


@pytest.fixture
def pair(clock: FakeClock) -> tuple[House, PaperThatTypes, PaperThatTypes]:
    slate, board = PaperThatTypes("slate", clock), PaperThatTypes("board", clock)
    house = House(clock, SqliteStore.in_memory(clock), (slate, board))
    house.room("all", (slate, "s", "both"), (board, "b", "both"), (board, "mute", "both"))
    return house, slate, board


Pair = tuple[House, PaperThatTypes, PaperThatTypes]


async def test_it_is_shown_elsewhere_at_most_every_few_seconds_and_not_kept(pair: Pair) -> None:
    house, slate, board = pair
    async with house.run():
        for _ in range(3):
            await slate.type("s")
            await house.clock.let_work()
        assert board.typed == ["b"]
        await house.clock.advance(10)
        await slate.type("s")
        await slate.type("s", own=True)
        await slate.type("elsewhere")
        await house.clock.let_work()

    assert board.typed == ["b", "b"]
    assert slate.typed == []
    assert (await house.store.status()).inbox == {}


async def test_a_short_budget_and_a_broken_platform_drop_it(clock: FakeClock) -> None:
    slate = PaperThatTypes("slate", clock)
    board = PaperThatTypes("board", clock, budgets={"typing": (Rate(count=1, seconds=60),)})
    house = House(clock, SqliteStore.in_memory(clock), (slate, board))
    house.room("all", (slate, "s", "both"), (board, "b", "both"), (board, "c", "both"))
    async with house.run():
        await slate.type("s")
        await clock.let_work()
        assert len(board.typed) == 1
        board.broken = True
        await clock.advance(120)
        await slate.type("s")
        await clock.let_work()

    assert len(board.typed) == 1
    assert (await house.store.status()).lanes == []


async def test_an_agent_that_thinks_is_seen_typing_until_its_first_words(pair: Pair) -> None:
    house, slate, board = pair
    house.agents = {"helper": Thinker(house.clock)}
    membership = AgentMembership("helper", "always")
    house.rooms = [replace(room, agents=(membership,)) for room in house.rooms]
    async with house.run():
        await slate.say("s", "why?")
        await house.clock.advance(30)

    assert slate.typed == ["s"] * 3
    assert board.typed == ["b"] * 3
    assert board.texts("b") == ["why?", "Because."]


class Thinker:
    """Says nothing for fifteen seconds."""

    name = "helper"

    def __init__(self, clock: FakeClock) -> None:
        self._clock = clock

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent, None]:
        await self._clock.sleep(15)
        yield TextDelta(text="Because.")
        await self._clock.sleep(5)
        yield TurnDone()
