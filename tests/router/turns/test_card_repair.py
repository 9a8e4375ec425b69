"""A card of an agent with a mistake: the agent may mend it once, and people see no raw JSON."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

import pytest

from bridge.content.cards.json import SCHEMA_ID
from bridge.content.cards.reader import NO_CARDS, Cards
from bridge.content.messages.parts import message_text
from bridge.model.turns import (
    AgentEvent,
    AgentInput,
    MessageGiven,
    PartGiven,
    TextDelta,
    Turn,
    TurnDone,
)
from bridge.router import AgentMembership
from bridge.store import SqliteStore
from bridge.uacs import Message, StructuredDataPart
from connectors.discord import cards as discord
from connectors.slack import cards as slack
from connectors.teams import cards as teams
from tests.router.conftest import RouterRig
from tests.router.fake_clock import FakeClock
from tests.router.fake_connector import FakeConnector


def card(*nodes: Any) -> PartGiven:
    data: Any = {"type": "card", "nodes": list(nodes)}
    return PartGiven(part={"type": "structured_data", "schema_id": SCHEMA_ID, "data": data})


GOOD = card({"type": "prose", "text": "Shall we sail?"})
WRONG = card({"type": "prose", "text": "Shall we"}, {"type": "hologram"})


class Mends:
    """Gives its cards one after another: the next one each time it is told something."""

    def __init__(self, *cards: AgentEvent) -> None:
        self.name = "bot"
        self.cards = cards
        self.inputs_read: list[Message] = []

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent, None]:
        del turn
        yield TextDelta(text="Here:")
        first, *rest = self.cards
        yield first
        for one in rest:
            value = await anext(inputs)
            assert isinstance(value, MessageGiven)
            self.inputs_read.append(value.message)
            yield one
        yield TurnDone()


async def _answer(clock: FakeClock, agent: Mends, cards: Cards = NO_CARDS) -> Message:
    sales = FakeConnector("sales", clock)
    rig = RouterRig(clock, SqliteStore.in_memory(clock), (sales,))
    rig.cards = cards
    rig.agents = {"bot": agent}
    rig.memberships = (AgentMembership("bot"),)
    rig.room("plaza", (sales, "s", "both"))
    async with rig.run():
        await sales.say("s", "@bot?", addresses_us=True)
        await clock.advance(10)
        conversation = await rig.store.conversation(rig.rooms[0].conversation)
    (answer,) = [message for message in conversation.messages if message.actor.id == "agent:bot"]
    return answer


def _cards(answer: Message) -> list[Any]:
    return [one.data for one in answer.content if isinstance(one, StructuredDataPart)]


async def test_an_agent_repairs_an_invalid_card_that_it_gets_back(clock: FakeClock) -> None:
    agent = Mends(WRONG, GOOD)
    answer = await _answer(clock, agent)

    (repair_request,) = agent.inputs_read
    words = message_text(repair_request)[0]
    assert "/nodes/1" in words
    assert "hologram" in words
    assert repair_request.actor.role == "system"
    (shown,) = _cards(answer)
    assert shown == GOOD.model_dump()["part"]["data"]
    assert "cannot be shown" not in message_text(answer)[0]


def native(schema_id: str, data: Any) -> PartGiven:
    return PartGiven(part={"type": "structured_data", "schema_id": schema_id, "data": data})


SLACK = "application/vnd.slack.blocks+json"
DISCORD = "application/vnd.discord.components+json"
TEAMS = "application/vnd.microsoft.card.adaptive+json"


@pytest.mark.parametrize(
    ("codec", "wrong", "right", "place"),
    [
        pytest.param(
            slack, native(SLACK, [{"type": "section"}]),
            native(SLACK, [{"type": "divider"}]), "At /0:", id="slack",
        ),
        pytest.param(
            discord, native(DISCORD, [{"type": 99}]), native(DISCORD, [{"type": 14}]),
            "At /0/type:", id="discord",
        ),
        pytest.param(
            teams, native(TEAMS, {"type": "AdaptivCard", "version": "1.5", "body": []}),
            native(TEAMS, {"type": "AdaptiveCard", "version": "1.5", "body": []}),
            "At /type:", id="teams",
        ),
    ],
)  # fmt: skip
async def test_an_agent_repairs_an_invalid_native_card_that_it_gets_back(
    codec: Any, wrong: PartGiven, right: PartGiven, place: str, clock: FakeClock
) -> None:
    agent = Mends(wrong, right)
    answer = await _answer(clock, agent, Cards.over([codec], bytes(32)))

    (repair_request,) = agent.inputs_read
    assert place in message_text(repair_request)[0]
    (shown,) = _cards(answer)
    assert shown == right.model_dump()["part"]["data"]
    assert "cannot be shown" not in message_text(answer)[0]


async def test_a_second_invalid_card_becomes_a_notice_in_words(clock: FakeClock) -> None:
    agent = Mends(WRONG, WRONG)
    answer = await _answer(clock, agent)

    assert len(agent.inputs_read) == 1
    assert _cards(answer) == []
    text = message_text(answer)[0]
    assert "A card cannot be shown here (At /nodes/1" in text
    assert '"type"' not in text


async def test_an_unrepaired_card_is_reported_when_the_turn_ends(clock: FakeClock) -> None:
    answer = await _answer(clock, Mends(WRONG))

    assert _cards(answer) == []
    assert message_text(answer)[0].count("A card cannot be shown here") == 1


async def test_a_valid_card_and_an_unknown_schema_pass(clock: FakeClock) -> None:
    part: Any = {"type": "structured_data", "schema_id": "x", "data": {"a": [1]}}
    agent = Mends(PartGiven(part=part))
    answer = await _answer(clock, agent)

    assert _cards(answer) == [{"a": [1]}]
    assert agent.inputs_read == []
