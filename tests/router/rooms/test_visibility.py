"""Who joined later knows what is said from then on, or all of it where the room shares its past."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from bridge.model import Delivery, Encoded, PostMessage
from bridge.model.room_records import RoomForm
from bridge.model.turns import AgentEvent, TextDelta, Turn, TurnDone
from bridge.router import AgentMembership, Room, RoomOptions
from bridge.router.rooms.options import History
from bridge.store import SqliteStore
from tests.router.conftest import RouterRig
from tests.router.fake_clock import FakeClock
from tests.router.fake_connector import FakeConnector
from tests.router.turns.test_queue import Scripted
from tests.router.turns.test_sessions import words


class QuotingFake(FakeConnector):
    """Replies say what they answer, where it does not stand."""

    def encode(self, delivery: Delivery) -> Encoded:
        encoded, quoted = super().encode(delivery), delivery.quoted
        if quoted is None or quoted.native_id or not isinstance(delivery.operation, PostMessage):
            return encoded
        text = f"> {quoted.author}: {quoted.excerpt}| {encoded.calls[0].body['text']}"
        call = encoded.calls[0].model_copy(update={"body": {"author": "", "text": text}})
        return encoded.model_copy(update={"calls": (call,)})


async def _answer(_turn: Turn) -> AsyncGenerator[AgentEvent, None]:
    yield TextDelta(text="aha")
    yield TurnDone()


class Square:
    """A room that grows: sales and billing are in it first, web and the agent join."""

    def __init__(self, clock: FakeClock, history: History) -> None:
        self.sales, self.billing, self.web = (
            QuotingFake(name, clock) for name in ("sales", "billing", "web")
        )
        self.rig = RouterRig(
            clock, SqliteStore.in_memory(clock), (self.sales, self.billing, self.web)
        )
        self.agent = Scripted("helper", _answer)
        self.rig.agents = {"helper": self.agent}
        self.rig.room(
            "square", (self.sales, "s", "both"), (self.billing, "b", "both"),
            (self.web, "w", "both"),
        )  # fmt: skip
        self.whole = replace(
            self.rig.rooms[0],
            agents=(AgentMembership("helper", "mentions"),),
            options=RoomOptions(history=history, greet=False),
        )

    async def stand(self, *, grown: bool) -> None:
        """As `build` makes a room from its configuration."""
        members = self.whole.members if grown else self.whole.members[:2]
        room = replace(self.whole, members=members, agents=self.whole.agents if grown else ())
        names = [m.channel.key for m in members] + [
            f"agent:{membership.agent}" for membership in room.agents
        ]
        form = RoomForm(room.id, repr(grown), tuple(names))
        (standing,) = await self.rig.store.stand_rooms([form])
        grown_room: Room = replace(room, epoch=standing.epoch, joined=standing.joined)
        self.rig.rooms = [grown_room]


@pytest.mark.parametrize("history", ["from_joining", "shared"])
async def test_an_agent_reads_what_was_said_since_it_joined(
    clock: FakeClock, history: History
) -> None:
    square = Square(clock, history)
    for grown, said in ((False, "before"), (True, "since"), (False, "between"), (True, "again")):
        await square.stand(grown=grown)
        async with square.rig.run():
            await square.sales.say("s", said)
            await clock.let_work()
    async with square.rig.run():
        await square.sales.say("s", "@helper what was said?")
        await clock.advance(1)

    (turn,) = square.agent.turns
    known = ["since", "again"] if history == "from_joining" else [
        "before", "since", "between", "again"
    ]  # fmt: skip
    assert [words(message) for message in turn.conversation.messages] == [
        *known,
        "@helper what was said?",
    ]


@pytest.mark.parametrize("history", ["from_joining", "shared"])
async def test_a_reply_quotes_older_words_only_where_they_are_shared(
    clock: FakeClock, history: History
) -> None:
    square = Square(clock, history)
    await square.stand(grown=False)
    async with square.rig.run():
        old = await square.sales.say("s", "the old plan")
        await clock.let_work()
    await square.stand(grown=True)
    async with square.rig.run():
        await square.sales.say("s", "agreed", reply_to=old)
        new = await square.sales.say("s", "the new plan")
        await clock.let_work()
        await square.sales.say("s", "agreed, too", reply_to=new)
        await clock.let_work()

    quoted = "the old plan" if history == "shared" else ""
    assert square.web.texts("w") == [
        f"> Ann of sales: {quoted}| agreed", "the new plan", "agreed, too",
    ]  # fmt: skip
    assert square.billing.texts("b") == ["the old plan", "agreed", "the new plan", "agreed, too"]
