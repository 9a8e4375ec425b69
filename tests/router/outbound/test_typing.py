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
from bridge.ports.abilities import Abilities
from bridge.router import AgentMembership
from bridge.store import SqliteStore
from tests.router.conftest import RouterRig
from tests.router.fake_clock import FakeClock
from tests.router.fake_connector import FakeConnector


class FakeThatTypes(FakeConnector):
    """Notes where it was shown that somebody writes."""

    def __init__(self, account: str, clock: FakeClock, **more: dict[str, tuple[Rate, ...]]) -> None:
        super().__init__(account, clock, **more)  # pyright: ignore[reportArgumentType]  # rate limits
        self.typed: list[str] = []
        self.broken = False

    def own_abilities(self) -> Abilities:
        return replace(super().own_abilities(), typing=self)

    def typing_call(self, channel: ChannelRef) -> Call | None:
        if channel.channel == "mute":
            return None
        return Call(
            kind="other", method="typing", operation=OperationId("typing"), channel=channel,
            rate_limits=(RateLimitKey(rule="typing", of=self.account),), body={},
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
            actor=actor_id_of("fake", self.account, "ann"), own=own,
        )  # fmt: skip
        await self.inbox.accept(
            Raw(
                account=self.account, kind="event", dedupe_key="typing", order_key="typing",
                channel=self.channel(channel), volatile=True,
                payload=event.model_dump_json().encode(),
            )
        )  # fmt: skip


@pytest.fixture
def pair(clock: FakeClock) -> tuple[RouterRig, FakeThatTypes, FakeThatTypes]:
    sales, billing = FakeThatTypes("sales", clock), FakeThatTypes("billing", clock)
    rig = RouterRig(clock, SqliteStore.in_memory(clock), (sales, billing))
    rig.room("all", (sales, "s", "both"), (billing, "b", "both"), (billing, "mute", "both"))
    return rig, sales, billing


Pair = tuple[RouterRig, FakeThatTypes, FakeThatTypes]


async def test_it_is_shown_elsewhere_at_most_every_few_seconds_and_not_kept(pair: Pair) -> None:
    rig, sales, billing = pair
    async with rig.run():
        for _ in range(3):
            await sales.type("s")
            await rig.clock.let_work()
        assert billing.typed == ["b"]
        await rig.clock.advance(10)
        await sales.type("s")
        await sales.type("s", own=True)
        await sales.type("elsewhere")
        await rig.clock.let_work()

    assert billing.typed == ["b", "b"]
    assert sales.typed == []
    assert (await rig.store.status()).inbox == {}


async def test_a_small_rate_limit_or_a_broken_platform_drops_the_typing_sign(
    clock: FakeClock,
) -> None:
    sales = FakeThatTypes("sales", clock)
    billing = FakeThatTypes("billing", clock, rate_limits={"typing": (Rate(count=1, seconds=60),)})
    rig = RouterRig(clock, SqliteStore.in_memory(clock), (sales, billing))
    rig.room("all", (sales, "s", "both"), (billing, "b", "both"), (billing, "c", "both"))
    async with rig.run():
        await sales.type("s")
        await clock.let_work()
        assert len(billing.typed) == 1
        billing.broken = True
        await clock.advance(120)
        await sales.type("s")
        await clock.let_work()

    assert len(billing.typed) == 1
    assert (await rig.store.status()).lanes == []


async def test_an_agent_that_thinks_is_seen_typing_until_its_first_words(pair: Pair) -> None:
    rig, sales, billing = pair
    rig.agents = {"helper": Thinker(rig.clock)}
    membership = AgentMembership("helper", "always")
    rig.rooms = [replace(room, agents=(membership,)) for room in rig.rooms]
    async with rig.run():
        await sales.say("s", "why?")
        await rig.clock.advance(30)

    assert sales.typed == ["s"] * 3
    assert billing.typed == ["b"] * 3
    assert billing.texts("b") == ["why?", "Because."]


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
