"""A press of a button reaches the agent whose card it is, once, and nobody else."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator

import orjson
import pytest
from pydantic import JsonValue

from bridge.content.cards.interactions import SCHEMA_ID, action_token
from bridge.content.cards.reader import Cards
from bridge.model import ActionPressed, Event, Raw
from bridge.model.turns import AgentEvent, AgentInput, PartGiven, TextDelta, Turn, TurnDone
from bridge.router import AgentMembership
from bridge.store import SqliteStore
from bridge.uacs import StructuredDataPart, TextPart
from tests.router.conftest import RouterRig
from tests.router.fake_clock import FakeClock
from tests.router.fake_connector import FakeConnector

KEY = bytes(range(32))
CARD: dict[str, JsonValue] = {
    "type": "card",
    "nodes": ["Deploy?", {"type": "button", "label": "Yes", "id": "deploy", "value": 7}],
}
PART: dict[str, JsonValue] = {
    "type": "structured_data", "schema_id": "application/vnd.uacs.card+json", "data": CARD,
}  # fmt: skip


class Deployer:
    """Shows a card when it is asked, and says which button was pressed."""

    name = "deployer"

    def __init__(self) -> None:
        self.pressed: list[JsonValue] = []

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent, None]:
        first = turn.conversation.messages[-1].content[0]
        if isinstance(first, StructuredDataPart) and first.schema_id == SCHEMA_ID:
            self.pressed.append(orjson.loads(first.model_dump_json())["data"])
            yield TextDelta(text="deployed")
        else:
            yield PartGiven(part=PART)
        yield TurnDone()


class PressedFake(FakeConnector):
    """A fake connector with buttons; `answers` is what an answer for the presser alone names."""

    answers: str | None = None

    def decode(self, raw: Raw) -> list[Event]:
        if raw.kind != "press":
            return list(super().decode(raw))
        (post,) = super().decode(raw)
        data = orjson.loads(raw.payload)
        return [
            ActionPressed(
                account=post.account, place=post.place, time=post.time, target=data["target"],
                actor=post.author.id, token=data["token"], native=None,  # type: ignore[union-attr]
                values=data["values"], answers=self.answers,
            )
        ]  # fmt: skip

    async def press(
        self, channel: str, target: str, token: str, author: str = "ann", **values: JsonValue
    ) -> None:
        raw = self.raw(channel, "", target=target, token=token, author=author)
        self.channels[channel].pop()  # a press is no post
        payload = {**orjson.loads(raw.payload), "values": values}
        assert self.inbox
        await self.inbox.accept(
            raw.model_copy(update={"kind": "press", "payload": orjson.dumps(payload)})
        )


@pytest.fixture
def rig(clock: FakeClock) -> RouterRig:
    sales, billing = PressedFake("sales", clock), PressedFake("billing", clock)
    rig = RouterRig(clock, SqliteStore.in_memory(clock), (sales, billing))
    rig.cards = Cards({}, KEY)
    rig.agents = {"deployer": Deployer()}
    rig.memberships = (AgentMembership("deployer", "always"),)
    rig.room("plaza", (sales, "s", "both"), (billing, "b", "both"))
    return rig


def fakes(rig: RouterRig) -> tuple[PressedFake, PressedFake]:
    sales, billing = rig.connectors.values()
    assert isinstance(sales, PressedFake)
    assert isinstance(billing, PressedFake)
    return sales, billing


async def card_of(rig: RouterRig) -> tuple[str, str]:
    """The card's copy on the billing, and its canonical message."""
    sales, billing = fakes(rig)
    await sales.say("s", "please deploy")
    await rig.clock.advance(5)
    copy = billing.channels["b"][-1].id
    message = await rig.store.resolve(billing.channel("b"), copy)
    assert message
    return copy, message


async def test_a_press_reaches_the_agent_with_its_own_id_and_value(rig: RouterRig) -> None:
    async with rig.run():
        copy, message = await card_of(rig)
        token = action_token(KEY, message, "/content/0/data/nodes/1")
        await fakes(rig)[1].press("b", copy, token)
        await rig.clock.advance(5)

    agent = rig.agents["deployer"]
    assert isinstance(agent, Deployer)
    assert agent.pressed == [
        {
            "kind": "pressed", "id": "deploy", "value": 7, "label": "Yes", "inputs": {},
            "message": message, "path": "/content/0/data/nodes/1", "native": None,
        }
    ]  # fmt: skip
    assert fakes(rig)[0].texts("s")[-1] == fakes(rig)[1].texts("b")[-1] == "deployed"


async def test_what_a_card_says_stands_beside_it_for_readers_of_text(rig: RouterRig) -> None:
    async with rig.run():
        await card_of(rig)

    conversation = await rig.store.conversation(rig.rooms[0].conversation)
    card, *fallback = conversation.messages[1].content
    assert isinstance(card, StructuredDataPart)
    assert [part.text for part in fallback if isinstance(part, TextPart)] == [
        "Deploy?\n\n\\[Yes\\]"
    ]
    assert fakes(rig)[1].texts("b")[-1].startswith("Deploy?")


async def test_a_press_is_remembered_and_shown_in_no_channel(rig: RouterRig) -> None:
    async with rig.run():
        copy, message = await card_of(rig)
        token = action_token(KEY, message, "/content/0/data/nodes/1")
        await fakes(rig)[1].press("b", copy, token)
        await rig.clock.advance(5)

    conversation = await rig.store.conversation(rig.rooms[0].conversation)
    press = conversation.messages[2]
    assert isinstance(press.content[1], TextPart)
    assert press.content[1].text == "pressed “Yes”"
    everything = fakes(rig)[0].texts("s") + fakes(rig)[1].texts("b")
    assert not [text for text in everything if "pressed" in text]


@pytest.mark.parametrize("token", ["", "x" * 22, "ünfug"])
async def test_a_forged_token_presses_nothing(rig: RouterRig, token: str) -> None:
    async with rig.run():
        copy, _ = await card_of(rig)
        await fakes(rig)[1].press("b", copy, token)
        await rig.clock.advance(5)

    agent = rig.agents["deployer"]
    assert isinstance(agent, Deployer)
    assert agent.pressed == []


async def test_a_press_on_a_persons_or_an_unknown_message_goes_nowhere(rig: RouterRig) -> None:
    async with rig.run():
        copy, message = await card_of(rig)
        said = fakes(rig)[0].channels["s"][0].id
        token = action_token(KEY, message, "/content/0/data/nodes/1")
        await fakes(rig)[0].press("s", said, token)
        await fakes(rig)[0].press("s", "no such message", token)
        await rig.clock.advance(5)

    agent = rig.agents["deployer"]
    assert isinstance(agent, Deployer)
    assert agent.pressed == []
    assert copy
