"""A form with a mistake is sent back to whoever sent it, in private, and not told to its author."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

import pytest
from pydantic import JsonValue

from bridge.content.cards.interactions import action_token
from bridge.content.cards.reader import Cards
from bridge.model import Level
from bridge.model.turns import AgentEvent, AgentInput, PartGiven, Turn
from bridge.router import AgentMembership
from bridge.store import SqliteStore
from connectors.discord import cards as discord
from connectors.slack import cards as slack
from connectors.teams import cards as teams
from tests.router.commands.test_commands import posts_of
from tests.router.conftest import RouterRig
from tests.router.fake_clock import FakeClock
from tests.router.inbound.test_presses import KEY, Deployer, PressedFake

CARD: dict[str, Any] = {
    "type": "card",
    "nodes": [
        {"type": "text_input", "id": "why", "label": "Why?", "required": True, "min": 3,
         "pattern": "^[a-z ]+$", "error": "Say *why* in words"},
        {"type": "number_input", "id": "many", "label": "How many?", "max": 5},
        {"type": "button", "label": "Send", "id": "send", "does": "submit"},
    ],
}  # fmt: skip
ADAPTIVE: dict[str, Any] = {
    "type": "AdaptiveCard", "version": "1.5",
    "body": [{"type": "Input.Text", "id": "why", "label": "Why?", "isRequired": True,
              "errorMessage": "Say *why* in words"}],
    "actions": [{"type": "Action.Submit", "id": "send", "title": "Send"}],
}  # fmt: skip
OWN, TEAMS = "application/vnd.uacs.card+json", "application/vnd.microsoft.card.adaptive+json"
SUBMIT = {OWN: "/content/0/data/nodes/2", TEAMS: "/content/0/data/actions/0"}
WHY = {OWN: "/content/0/data/nodes/0", TEAMS: "/content/0/data/body/0"}


WORDS = r"**Why?**: Say \*why\* in words"


class Asker(Deployer):
    """Shows a form where the other shows a button."""

    def __init__(self, schema_id: str, data: JsonValue) -> None:
        super().__init__()
        self.part: JsonValue = {"type": "structured_data", "schema_id": schema_id, "data": data}

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent, None]:
        async for event in super().run(turn, inputs):
            yield PartGiven(part=self.part) if isinstance(event, PartGiven) else event


class Form:
    """A card of an agent in a fake channel, and the outcome of a press on it."""

    def __init__(self, clock: FakeClock, codec: Any, schema_id: str, data: JsonValue) -> None:
        self.sales, self.billing = PressedFake("sales", clock), PressedFake("billing", clock)
        self.rig = RouterRig(clock, SqliteStore.in_memory(clock), (self.sales, self.billing))
        self.rig.cards = Cards.over([codec], KEY)
        self.agent = Asker(schema_id, data)
        self.rig.agents = {"deployer": self.agent}
        self.rig.memberships = (AgentMembership("deployer", "always"),)
        self.rig.room("plaza", (self.sales, "s", "both"), (self.billing, "b", "both"))
        self.schema_id = schema_id
        self.shown = True

    async def send(self, why: JsonValue, many: JsonValue = None) -> str:
        """What the presser's channel shows after it."""
        async with self.rig.run():
            await self.sales.say("s", "please deploy")
            await self.rig.clock.advance(5)
            copy = self.billing.channels["b"][-1].id
            message = await self.rig.store.resolve(self.billing.channel("b"), copy)
            assert message
            name = action_token(KEY, message, WHY[self.schema_id])
            values = {name: why} if self.shown else {}
            if many is not None:
                values[action_token(KEY, message, "/content/0/data/nodes/1")] = many
            token = action_token(KEY, message, SUBMIT[self.schema_id])
            before = len(self.billing.texts("b"))
            await self.billing.press("b", copy, token, "ann", **values)
            await self.rig.clock.advance(5)
        return " ".join("".join(self.billing.texts("b")[before:]).split())


CODECS = pytest.mark.parametrize(
    ("codec", "schema_id", "data"),
    [
        pytest.param(slack, OWN, CARD, id="slack"),
        pytest.param(discord, OWN, CARD, id="discord"),
        pytest.param(teams, TEAMS, ADAPTIVE, id="teams"),
    ],
)


@CODECS
@pytest.mark.parametrize("why", [None, "", "  "])
async def test_an_incomplete_form_is_returned_with_the_inputs_own_error_texts(
    codec: Any, schema_id: str, data: Any, why: JsonValue, clock: FakeClock
) -> None:
    form = Form(clock, codec, schema_id, data)

    notices = await form.send(why)

    assert form.agent.pressed == []
    assert "was not sent" in notices
    assert WORDS in notices
    assert len(form.sales.texts("s")) == 2  # the question and the card


@CODECS
async def test_a_form_that_is_filled_in_reaches_its_author(
    codec: Any, schema_id: str, data: Any, clock: FakeClock
) -> None:
    form = Form(clock, codec, schema_id, data)

    assert await form.send("it is time") == "deployed"

    (pressed,) = form.agent.pressed
    assert isinstance(pressed, dict)
    assert pressed["inputs"] == {"why": "it is time"}


@pytest.mark.parametrize(
    ("why", "many", "words"),
    [
        ("no", None, WORDS),
        ("42 times", None, WORDS),
        ("it is time", "six", "**How many?**: must be a number"),
        ("it is time", "6", "**How many?**: must be 5 or less"),
    ],
)
async def test_each_rule_of_an_input_is_checked(
    why: str, many: str | None, words: str, clock: FakeClock
) -> None:
    form = Form(clock, slack, OWN, CARD)

    notices = await form.send(why, many)

    assert form.agent.pressed == []
    assert words in notices


async def test_a_required_input_that_was_not_shown_does_not_block_its_form(
    clock: FakeClock,
) -> None:
    form = Form(clock, slack, OWN, CARD)
    form.shown = False

    assert await form.send(None) == "deployed"


@pytest.mark.parametrize(
    ("whispers", "answers", "alone"),
    [(Level.PARTIAL, None, True), (Level.DROPPED, "i1", True), (Level.DROPPED, None, False)],
)
async def test_input_errors_are_whispered_to_the_presser_where_possible(
    whispers: Level, answers: str | None, alone: bool, clock: FakeClock
) -> None:
    form = Form(clock, slack, OWN, CARD)
    features = {**form.billing.capabilities.features, "whispers": whispers}
    form.billing.capabilities = form.billing.capabilities.model_copy(update={"features": features})
    form.billing.answers = answers
    before = posts_of(form.billing)

    notices = await form.send("")

    assert (before[-1].to, before[-1].answers) == ("fake:billing:ann" if alone else None, answers)
    assert notices.startswith("This was not sent" if alone else "**ann**: This was not sent")
    conversation = await form.rig.store.conversation(form.rig.rooms[0].conversation)
    assert len(conversation.messages) == 2
