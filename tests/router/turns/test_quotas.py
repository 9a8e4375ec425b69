"""Quotas: what agents may cost in an hour and a day, and the notice when a quota is used up."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator

import pytest

from bridge.model import RoomId
from bridge.model.turns import AgentEvent, AgentInput, TextDelta, Turn, TurnDone, UsageReported
from bridge.router import AgentMembership
from bridge.router.turns.quotas import Limit, Prices, Quota, QuotaSettings, cost_of
from tests.router.fake_clock import FakeClock
from tests.router.turns.test_selection import Club, Says


class Costly(Says):
    """Every answer reads 1000 tokens and writes 500."""

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent, None]:
        self.questions.append(turn.trigger)
        yield TextDelta(text="done")
        yield UsageReported(usage={"input_tokens": 1000, "output_tokens": 500})
        yield TurnDone()


def club_with(clock: FakeClock, allowances: QuotaSettings) -> tuple[Club, Costly]:
    club = Club(clock, AgentMembership("front", "always"))
    agent = Costly("front")
    club.rig.agents = {"front": agent}
    club.rig.quotas = allowances
    return club, agent


PRICES = {"front": Prices(input=2.0, output=10.0)}  # an answer costs 0.007


@pytest.mark.parametrize(
    "allowances",
    [
        QuotaSettings(rooms={RoomId("club"): Quota(hour=Limit(messages=2))}),
        QuotaSettings(agents={"front": Quota(hour=Limit(tokens=2000))}),
        QuotaSettings(person=Quota(hour=Limit(money=0.014)), prices=PRICES),
    ],
    ids=("messages of a room", "tokens of an agent", "money of a person"),
)
async def test_a_refusal_names_the_used_up_quota_and_when_it_opens_again(
    clock: FakeClock, allowances: QuotaSettings
) -> None:
    club, agent = club_with(clock, allowances)
    async with club.rig.run():
        for _ in range(4):
            await club.say("hello")
    async with club.rig.run():  # a restart opens nothing
        await club.say("hello")
        assert len(agent.questions) == 2
        told = [text for text in club.sales.texts("s") if "does not answer" in text]
        assert len(told) == 3
        assert "open again at" in told[0]
        await clock.advance(3600 + 300)
        await club.say("hello")

    assert len(agent.questions) == 3


async def test_a_day_is_longer_than_an_hour(clock: FakeClock) -> None:
    day = QuotaSettings(agents={"front": Quota(day=Limit(messages=1))})
    club, agent = club_with(clock, day)
    async with club.rig.run():
        await club.say("hello")
        await clock.advance(4000)
        await club.say("hello")
        assert len(agent.questions) == 1
        await clock.advance(86_400)
        await club.say("hello")

    assert len(agent.questions) == 2


async def test_each_person_has_a_quota_of_their_own(clock: FakeClock) -> None:
    club, agent = club_with(clock, QuotaSettings(person=Quota(hour=Limit(messages=1))))
    async with club.rig.run() as router:
        await router.parts.rooms.linking.link("fake:sales:ann", "fake:billing:annie")  # type: ignore[arg-type]
        await club.say("hello")
        await club.billing.say("b", "hello", author="annie")
        await clock.advance(5)
        await club.say("hello", author="bob")

    assert len(agent.questions) == 2


async def test_an_admin_resets_a_used_up_quota(clock: FakeClock) -> None:
    room = QuotaSettings(rooms={RoomId("club"): Quota(hour=Limit(messages=1))})
    club, agent = club_with(clock, room)
    async with club.rig.run() as router:
        await club.say("hello")
        await router.parts.turns.quotas.forget("room:club")
        await club.say("hello")

    assert len(agent.questions) == 2


def test_what_was_read_before_is_cheaper() -> None:
    prices = Prices(input=3.0, output=15.0, cached=0.3)

    assert cost_of(prices, 1_000_000, 0) == 3_000_000
    assert cost_of(prices, 1_000_000, 0, 1_000_000) == 300_000
    assert cost_of(prices, 0, 1_000_000) == 15_000_000
    assert cost_of(Prices(input=3.0), 10, 0, 10) == 30
