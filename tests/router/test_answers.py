"""What stands in the archive beside what an agent said: how long it took, what judged it, and what
it keeps for itself."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import Any

from bridge.model.turns import (
    AgentEvent,
    AgentInput,
    AnswerRecorded,
    ModerationReported,
    TextDelta,
    Turn,
    TurnDone,
    UsageReported,
)
from bridge.ports.store import Store
from bridge.router import AgentSeat
from bridge.store.memory import MemoryStore
from bridge.uacs import Message
from tests.router.conftest import House
from tests.router.fake_clock import FakeClock
from tests.router.paper import PaperConnector


class Scripted:
    """Says what the script has for the turn; a number is seconds that it takes."""

    def __init__(
        self, name: str, clock: FakeClock, script: Callable[[int], list[AgentEvent | float]]
    ) -> None:
        self.name = name
        self.clock = clock
        self.script = script
        self.turns: list[Turn] = []

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent, None]:
        del inputs
        self.turns.append(turn)
        for one in self.script(len(self.turns)):
            if isinstance(one, float | int):
                await self.clock.sleep(one)
            else:
                yield one
        yield TurnDone()


def plaza(clock: FakeClock, *agents: Scripted, **seat: Any) -> tuple[House, PaperConnector]:
    slate = PaperConnector("slate", clock)
    house = House(clock, MemoryStore(clock), (slate,))
    house.agents = {one.name: one for one in agents}
    house.seats = tuple(AgentSeat(one.name, **seat) for one in agents)
    house.room("plaza", (slate, "s", "both"))
    return house, slate


async def answers(store: Store, house: House, agent: str) -> list[Message]:
    conversation = await store.conversation(house.rooms[0].conversation)
    return [one for one in conversation.messages if one.actor.id == f"agent:{agent}"]


async def test_an_answer_tells_how_long_it_took_and_what_judged_it(clock: FakeClock) -> None:
    script: list[AgentEvent | float] = [
        AnswerRecorded(record={"api": "x"}), 2.0, TextDelta(text="Yes."), 3.0,
        UsageReported(usage={"input_tokens": 7}), ModerationReported(moderation={"refused": False}),
    ]  # fmt: skip
    house, slate = plaza(clock, Scripted("bot", clock, lambda _: script))
    async with house.run():
        await slate.say("s", "@bot?", addresses_us=True)
        await clock.advance(10)

    (answer,) = await answers(house.store, house, "bot")
    metadata: Any = answer.metadata
    assert metadata["latency"] == {"first_ms": 2000, "total_ms": 5000}
    assert metadata["usage"] == {"input_tokens": 7}
    assert metadata["moderation"] == {"refused": False}
    assert metadata["record"] == {"api": "x"}
