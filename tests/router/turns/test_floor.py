"""An agent that convenes a room hears all that is said, and decides who else may speak."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from bridge.content.messages.agent_parts import floor_part
from bridge.content.messages.parts import message_text
from bridge.errors import Unavailable
from bridge.model import ActorId, RoomId
from bridge.model.floor import FloorChange, FloorWish
from bridge.model.turns import (
    AgentEvent,
    AgentInput,
    PartGiven,
    TextDelta,
    Turn,
    TurnDone,
    TurnFailed,
)
from bridge.router import AgentMembership
from bridge.router.commands.channels import Invited
from bridge.router.rooms.rooms import Talk
from tests.router.fake_clock import FakeClock
from tests.router.turns.test_selection import Club, Says

CHAIR = AgentMembership("chair", convener=True)
PAT = AgentMembership("pat", "always")
Decide = Callable[[str], Sequence[FloorChange]]


@dataclass
class Chair:
    """Hears all, and decides by words."""

    name: str = "chair"
    on: dict[str, FloorChange] = field(default_factory=dict[str, FloorChange])
    answers: Decide = lambda _: ()
    heard: list[str] = field(default_factory=list[str])
    overheard: list[bool] = field(default_factory=list[bool])
    wishes: list[FloorWish] = field(default_factory=list[FloorWish])

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent]:
        del inputs
        text, _ = message_text(turn.conversation.messages[-1])
        self.heard.append(text)
        self.overheard.append(turn.overheard)
        for word, change in self.on.items():
            if word in text:
                yield PartGiven(part=floor_part(change))
        yield TurnDone()

    async def decide(self, conversation: str, wish: FloorWish) -> Sequence[FloorChange]:
        del conversation
        self.wishes.append(wish)
        return self.answers(wish.actor)


@dataclass
class Guest(Says):
    """An agent elsewhere, which is told what happens to it."""

    name: str = "pat"
    invited_seconds: float | None = 600.0
    words: list[str] = field(default_factory=lambda: ["pat speaking"])
    part: JsonValue = None
    questions: list[str] = field(default_factory=list[str])
    told: list[FloorChange] = field(default_factory=list[FloorChange])

    async def tell(self, conversation: str, change: FloorChange) -> None:
        del conversation
        self.told.append(change)


class Endless:
    """An agent that never stops by itself."""

    name = "pat"

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent]:
        del turn, inputs
        while True:
            yield TextDelta(text="word ")
            await self.clock.sleep(1)


def floor_of(clock: FakeClock, *more: AgentMembership, talk: Talk | None = None) -> Club:
    club = Club(clock, CHAIR, PAT, *more, talk=talk)
    club.chair = Chair()  # type: ignore[attr-defined]
    club.rig.agents["chair"] = club.chair  # type: ignore[attr-defined]
    return club


def chair_of(club: Club) -> Chair:
    return club.chair  # type: ignore[attr-defined,no-any-return]


def revoke(to: str = "agent:pat", reason: str = "it is too loud") -> FloorChange:
    return FloorChange("revoke", to, reason, "@override")


async def test_a_convener_hears_people_and_agents_and_need_not_answer(clock: FakeClock) -> None:
    club = floor_of(clock)
    async with club.rig.run():
        await club.say("hello")
        await club.sales.say("s", "between us", audience="ann")
        await clock.advance(8)

    assert chair_of(club).heard == ["hello", "pat speaking"]
    assert chair_of(club).overheard == [True, True]
    assert club.billing.texts("b") == ["hello", "pat speaking"]


async def test_a_convener_that_is_called_by_its_name_is_asked_once(clock: FakeClock) -> None:
    club = floor_of(clock)
    async with club.rig.run():
        await club.say("@chair, who is here?")

    assert chair_of(club).heard == ["@chair, who is here?"]
    assert chair_of(club).overheard == [False]


async def test_what_a_convener_hears_does_not_count_as_agents_that_call_one_another(
    clock: FakeClock,
) -> None:
    club = floor_of(clock, AgentMembership("kaja"), talk=Talk("mention", 2))
    club.agents["pat"].words = ["@kaja?"]
    async with club.rig.run():
        await club.say("hello")
        await club.say("and again")

    assert len(chair_of(club).heard) == 6
    assert club.agents["kaja"].questions == ["@kaja?", "@kaja?"]


async def test_a_revoked_agent_stops_and_speaks_again_when_the_convener_grants_it(
    clock: FakeClock,
) -> None:
    club = floor_of(clock)
    chair = chair_of(club)
    chair.on["silence"] = revoke()
    club.rig.agents["pat"] = Endless(clock)
    async with club.rig.run():
        await club.say("tell us")
        await club.billing.say("b", "silence, please", author="bob")
        await clock.advance(10)
        (said,) = [text for text in club.billing.texts("b") if text.startswith("word")]
        await clock.advance(20)
        assert [t for t in club.billing.texts("b") if t.startswith("word")] == [said]
        assert any(
            "@chair takes the floor from @pat: it is too loud." in text
            for text in club.billing.texts("b")
        )

        club.rig.agents["pat"] = club.agents["pat"]
        await club.say("pat?")
        assert club.agents["pat"].questions == []
        assert any("chair has not given it the floor" in t for t in club.sales.texts("s"))

        chair.answers = lambda actor: [FloorChange("grant", actor)]
        await club.say("and now?")

    # "silence, please" was a question for it, too.
    assert [wish.actor for wish in chair.wishes] == ["agent:pat"] * 3
    assert club.agents["pat"].questions == ["and now?"]
    assert any("@chair gives @pat the floor." in text for text in club.billing.texts("b"))


async def test_who_has_no_floor_has_none_after_a_restart(clock: FakeClock) -> None:
    club = floor_of(clock)
    chair_of(club).on["silence"] = revoke()
    async with club.rig.run():
        await club.say("silence")
    before = len(club.agents["pat"].questions)
    async with club.rig.run():
        await club.say("hello?")

    assert len(club.agents["pat"].questions) == before


async def test_a_convener_that_cannot_be_asked_forbids_nothing(clock: FakeClock) -> None:
    def fails(_: str) -> Sequence[FloorChange]:
        raise Unavailable("it is away")

    club = floor_of(clock)
    chair_of(club).on["silence"], chair_of(club).answers = revoke(), fails
    async with club.rig.run():
        await club.say("silence")
        await club.say("hello?")

    assert club.agents["pat"].questions[-1] == "hello?"


async def test_a_convener_that_fails_says_nothing_in_the_room(clock: FakeClock) -> None:
    class Failing(Chair):
        async def run(
            self, turn: Turn, inputs: AsyncIterator[AgentInput]
        ) -> AsyncGenerator[AgentEvent]:
            del turn, inputs
            yield TurnFailed(reason="it is away")

    club = floor_of(clock)
    club.rig.agents["chair"] = Failing()
    async with club.rig.run():
        await club.say("hello")
        await club.say("@chair hello")

    assert [text for text in club.billing.texts("b") if "chair could not" in text] != []
    assert len([text for text in club.billing.texts("b") if "could not" in text]) == 1


async def test_people_the_convener_itself_and_strangers_keep_the_floor(clock: FakeClock) -> None:
    club = floor_of(clock)
    chair_of(club).on |= {
        "one": revoke("fake:sales:ann"), "two": revoke("agent:chair"), "three": revoke("tag:x"),
    }  # fmt: skip
    async with club.rig.run():
        await club.say("one two three")

    assert not any("takes the floor" in text for text in club.billing.texts("b"))


async def test_only_the_convener_decides(clock: FakeClock) -> None:
    club = floor_of(clock, AgentMembership("kaja"))
    club.agents["kaja"].part = floor_part(revoke())
    async with club.rig.run():
        await club.say("@kaja hello")
        await club.say("hello?")

    assert club.agents["pat"].questions == ["hello?"]


async def test_an_agent_that_is_sent_away_is_told_and_may_not_speak_until_it_is_invited(
    clock: FakeClock,
) -> None:
    club = floor_of(clock)
    chair, pat = chair_of(club), Guest()
    club.rig.agents["pat"] = club.agents["pat"] = pat
    chair.on["rude"] = FloorChange("uninvite", "agent:pat", "it broke a rule", "@brokenPolicy")
    uninvited: list[tuple[str, str]] = []

    class Linker:
        async def uninvite(self, room: RoomId, agent: str) -> str:
            uninvited.append((room, agent))
            return ""

        async def invite(self, room: RoomId, who: str) -> Invited:
            return Invited(who, new=False)

    async with club.rig.run() as router:
        router.parts.commands.linker.use(Linker())  # type: ignore[arg-type]
        await club.say("hand-over pat", addresses_us=True)
        await club.say("rude words")
        questions = list(pat.questions)
        assert await club.rig.store.holdings() == []
        await club.say("pat, are you there?")
        assert pat.questions == questions
        assert any("chair has sent it away" in text for text in club.sales.texts("s"))
        await club.say("invite pat", addresses_us=True)
        await club.say("welcome back")

    assert [(change.act, change.token) for change in pat.told] == [("uninvite", "@brokenPolicy")]
    assert uninvited == [("club", "pat")]
    assert any("sends @pat away: it broke a rule." in text for text in club.billing.texts("b"))
    assert pat.questions[-1] == "welcome back"


async def test_an_agent_that_gives_the_floor_back_loses_the_conversation(clock: FakeClock) -> None:
    club = Club(clock, AgentMembership("front", "always"), AgentMembership("pat"))
    yielding = floor_part(FloorChange("yield", "", "it is done", "@complete"))
    club.agents["pat"].part = yielding
    async with club.rig.run():
        await club.say("hand-over pat", addresses_us=True)
        await club.say("hello pat")
        await club.say("hello front")

    assert club.agents["pat"].questions == ["hello pat"]
    assert club.agents["front"].questions == ["hello front"]
    assert any("@pat is done: it is done." in text for text in club.billing.texts("b"))


async def test_an_agent_that_nobody_asks_for_long_is_sent_away(clock: FakeClock) -> None:
    club = Club(clock, AgentMembership("front", "always"), AgentMembership("pat"))
    pat = Guest()
    club.rig.agents["pat"] = club.agents["pat"] = pat
    async with club.rig.run():
        await club.say("hand-over pat", addresses_us=True)
        await club.say("hello")
        await clock.advance(500)
        await club.say("still there?")
        await clock.advance(500)
        assert pat.told == []
        await clock.advance(200)
        await club.say("hello front")

    assert pat.questions == ["hello", "still there?"]
    assert [(change.act, change.token) for change in pat.told] == [("uninvite", "@timedOut")]
    assert club.agents["front"].questions == ["hello front"]
    assert any("nobody asked it for long" in text for text in club.billing.texts("b"))


async def test_the_floor_that_agents_see_names_the_convener_and_who_may_speak(
    clock: FakeClock,
) -> None:
    club = floor_of(clock)
    chair_of(club).on["silence"] = revoke()
    async with club.rig.run() as router:
        await club.say("silence")
        view = router.parts.turns.floor.view(club.rig.rooms[0])

    assert view is not None
    assert view.convener == ActorId("agent:chair")
    assert [(agent.name, agent.speaks) for agent in view.agents] == [
        ("chair", True), ("pat", False),
    ]  # fmt: skip
