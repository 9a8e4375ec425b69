"""What a peer says to one agent alone, and what it gets where an agent cannot answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from bridge.model import ActorId, RoomId
from bridge.model.archive_records import View
from bridge.model.turns import AgentEvent, AgentInput, TextDelta, Turn, TurnDone, TurnFailed
from tests.app.api.served import ROOM, client
from tests.app.openfloor.test_serving import Served, envelope, post, saying, texts
from tests.e2e.local_sandbox import configuration, local_sandbox, running

pytestmark = pytest.mark.asyncio(loop_scope="module")

NAMES = ("kaja", "other", "failing", "slow")


@dataclass
class Hears:
    """Repeats what it heard last, and remembers all that it was shown."""

    name: str
    heard: list[str] = field(default_factory=list[str])
    turns: list[Turn] = field(default_factory=list[Turn])

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent]:
        del inputs
        self.turns.append(turn)
        self.heard += [str(message.content) for message in turn.conversation.messages]
        last = turn.conversation.messages[-1].content[0]
        yield TextDelta(text=f"{self.name} heard: {getattr(last, 'text', '')}")
        yield TurnDone()


class Fails:
    name = "failing"

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent]:
        del turn, inputs
        yield TurnFailed(reason="the shop is closed", retry=False)


class Slow:
    """Answers when it is let."""

    name = "slow"

    def __init__(self) -> None:
        self.free = asyncio.Event()

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent]:
        del turn, inputs
        await self.free.wait()
        yield TextDelta(text="at last")
        yield TurnDone()


@dataclass
class WithAgents(Served):
    agents: dict[str, Any] = field(default_factory=dict[str, Any])

    def change(self, **floor: Any) -> None:
        own = self.bridge.settings.openfloor.model_copy(update=floor)
        self.bridge.settings = self.bridge.settings.model_copy(update={"openfloor": own})


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def served(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[WithAgents]:
    path: Path = tmp_path_factory.mktemp("asides") / "b.sqlite3"
    async with local_sandbox(names=("slack", "discord")) as local:
        settings = configuration(local, path)
        settings["web"] = {**settings.get("web", {}), "public_url": "https://chat.example.org"}
        settings["agents"] |= {name: {"kind": "echo", "pace": 0} for name in NAMES}
        settings["agents"]["kaja"]["manifest"] = {
            "synopsis": "Knows books", "keyphrases": ["books", "library"],
        }  # fmt: skip
        settings["rooms"][ROOM]["agents"] = [{"agent": name} for name in NAMES]
        async with running(local, settings) as (bridge, url):
            agents: Any = bridge.agents
            own = {"kaja": Hears("kaja"), "other": Hears("other"), "failing": Fails()}
            agents |= {**own, "slow": Slow()}
            yield WithAgents(local, bridge, url, agents)


def to(agent: str, *, private: bool = False) -> dict[str, Any]:
    found: dict[str, Any] = {"speakerUri": f"tag:chat.example.org,2026:agent:{agent}"}
    return {**found, "private": True} if private else found


def aside(text: str, agent: str, own_id: str = "") -> dict[str, Any]:
    return saying(text, own_id, to=to(agent, private=True))


def privately(answer: Any) -> list[tuple[str, Any]]:
    """What an answer says privately, and to whom."""
    said = [e for e in answer["events"] if e.get("to", {}).get("private")]
    return [(text, e["to"]) for e, text in zip(said, texts({"events": said}), strict=True)]


async def test_an_aside_is_answered_to_its_speaker_alone(served: WithAgents) -> None:
    token = await served.token("whisperer", role="human")
    body = envelope(aside("quicksilver one", "kaja", "p1"), talk="p1")

    answer = await post(served, token, body)
    again = await post(served, token, body)
    more = await post(served, token, envelope(aside("quicksilver two", "kaja", "p2"), talk="p1"))
    elsewhere = await post(served, token, envelope(saying("hello"), talk="p-other"))
    await served.local.until(lambda: served.stands("discord", "hello"))
    await served.local.say("slack", ROOM, "@other what do you know?")
    await served.local.until(lambda: served.stands("discord", "other heard"))

    asked = {"speakerUri": "tag:peer.test,2026:ada", "private": True}
    assert privately(answer) == [("kaja heard: quicksilver one", asked)]
    assert texts(again) == texts(answer)
    assert privately(more) == [("kaja heard: quicksilver two", asked)]
    assert [turn.private for turn in served.agents["kaja"].turns] == [True, True]
    known = " ".join(served.agents["kaja"].heard)
    assert known.count("quicksilver one") == 3  # once, then as question and answer before the next
    room = served.bridge.rooms.by_id[RoomId(ROOM)].conversation
    everybody = await served.bridge.store.conversation(room)
    kaja = View(readers=(ActorId("agent:kaja"),))
    async with client(served.url, token) as http:
        api = (await http.get(f"/v1/rooms/{ROOM}?limit=200")).text
    leaks = {
        "another agent": str(served.agents["other"].heard), "the archive": str(everybody),
        "/v1": api, "another conversation of the peer": str(elsewhere),
        "slack": str(served.local.standing("slack", ROOM)),
        "discord": str(served.local.standing("discord", ROOM)),
    }  # fmt: skip
    assert [where for where, text in leaks.items() if "quicksilver" in text] == []
    assert "quicksilver two" in str(await served.bridge.store.conversation(room, view=kaja))


async def test_an_aside_beside_a_question_is_read_with_it_and_shown_to_nobody(
    served: WithAgents,
) -> None:
    token = await served.token("both", role="human")
    question = saying("which flowers are in season?", "q1", to=to("kaja"))
    hint = aside("my budget is fifty mercury coins", "kaja", "q2")
    more = aside("and a word of mercury besides", "kaja", "q3")
    served.agents["kaja"].turns.clear()

    answer = await post(served, token, envelope(question, hint, more, talk="q1"))
    await served.local.until(lambda: served.stands("discord", "in season"))

    (turn,) = [turn for turn in served.agents["kaja"].turns if not turn.private]
    shown = [str(message.content) for message in turn.conversation.messages]
    assert "mercury" in shown[-2]
    assert "in season" in shown[-1]
    assert [text for text, _ in privately(answer)] == ["kaja heard: and a word of mercury besides"]
    assert [text for text in texts(answer) if "in season" in text] != []
    assert not any(served.stands(platform, "mercury") for platform in ("slack", "discord"))


async def test_an_old_whisper_is_for_the_agent_that_holds_the_conversation(
    served: WithAgents,
) -> None:
    token = await served.token("older", role="human")
    whisper: Any = {**saying("psst, amalgam", "w1"), "eventType": "whisper"}
    said = whisper["parameters"]["dialogEvent"]
    said["speakerId"] = said.pop("speakerUri")
    body = {"ovon": {
        "schema": {"version": "0.9.2"}, "conversation": {"id": "w1"},
        "sender": {"from": "https://old.test"}, "events": [whisper],
    }}  # fmt: skip
    async with client(served.url, token) as http:
        ignored = (await http.post(f"/openfloor/{ROOM}", json=body)).json()["ovon"]
        router = served.bridge.router.parts.turns
        room = served.bridge.rooms.by_id[RoomId(ROOM)]
        await router.hand_overs.assign(room, "room", "kaja", "agent:other")
        answer = (await http.post(f"/openfloor/{ROOM}", json=body)).json()["ovon"]
        await router.hand_overs.give_back(room, "room")

    assert ignored["events"] == []
    (answered,) = [event for event in answer["events"] if event["eventType"] == "whisper"]
    assert "amalgam" in str(answered)


async def test_an_agent_that_may_not_answer_an_aside_gives_the_floor_back(
    served: WithAgents,
) -> None:
    token = await served.token("a-bot")  # agents answer bots only where they are let

    answer = await post(served, token, envelope(aside("hello", "kaja", "b1"), talk="bot1"))

    (event,) = answer["events"]
    assert event["eventType"] == "yieldFloor"
    assert event["reason"] == "@refused kaja does not answer bots"


async def test_an_aside_that_takes_long_is_answered_with_a_later_envelope(
    served: WithAgents,
) -> None:
    token = await served.token("patient", role="human")
    served.change(answer_seconds=0.05)
    try:
        first = await post(served, token, envelope(aside("well?", "slow", "s1"), talk="slow1"))
        served.agents["slow"].free.set()
        served.change(answer_seconds=25.0)
        second = await post(served, token, envelope(talk="slow1"))
        third = await post(served, token, envelope(saying("thanks", "s2"), talk="slow1"))
    finally:
        served.change(answer_seconds=25.0)

    assert texts(first) == ["One moment please."]
    assert [text for text, _ in privately(second)] == ["at last"]
    assert privately(third) == []


@pytest.mark.parametrize(
    ("on_failure", "kinds", "reason"),
    [
        ("stay", [], ""),
        ("yield", ["yieldFloor"], "@error failing: the shop is closed"),
        ("bye", ["bye"], "@error failing: the shop is closed"),
        ("propose", ["publishManifests"], "@error failing: the shop is closed"),
    ],
)
async def test_a_peer_learns_what_becomes_of_a_question_that_cannot_be_answered(
    served: WithAgents, on_failure: str, kinds: list[str], reason: str
) -> None:
    token = await served.token(f"unlucky-{on_failure}", role="human")
    served.change(on_failure=on_failure)
    question = saying("books from the library?", "f1", to=to("failing"))
    try:
        answer = await post(served, token, envelope(question, talk=f"fail-{on_failure}"))
        later = await post(served, token, envelope(talk=f"fail-{on_failure}"))
    finally:
        served.change(on_failure="yield")

    others = [event for event in answer["events"] if event["eventType"] != "utterance"]
    assert any("the shop is closed" in text for text in texts(answer))
    assert [event["eventType"] for event in others] == kinds
    assert all(event["reason"] == reason for event in others)
    if on_failure == "propose":
        manifests = others[0]["parameters"]["servicingManifests"]
        assert [m["identification"]["conversationalName"] for m in manifests] == ["kaja"]
    assert later["events"] == []


async def test_a_peer_that_did_not_invite_the_room_is_not_heard_where_it_has_to(
    served: WithAgents,
) -> None:
    token = await served.token("uninvited", role="human")
    served.change(require_invite=True)
    try:
        ignored = await post(served, token, envelope(saying("nobody hears this", "n1"), talk="n1"))
        invite = {"eventType": "invite"}
        heard = await post(served, token, envelope(invite, saying("all hear this"), talk="n1"))
    finally:
        served.change(require_invite=False)
    await served.local.until(lambda: served.stands("discord", "all hear this"))

    assert ignored["events"] == []
    assert [event["eventType"] for event in heard["events"]] == ["acceptInvite"]
    assert not served.stands("discord", "nobody hears this")


async def test_a_peer_that_was_silent_for_long_has_left_and_hears_nothing_of_the_time_between(
    served: WithAgents,
) -> None:
    token = await served.token("sleeper", role="human")
    await post(served, token, envelope({"eventType": "invite"}, talk="i1"))
    served.change(idle_minutes=1e-9)
    try:
        await served.local.say("slack", ROOM, "while it slept")
        await served.local.until(lambda: served.stands("discord", "while it slept"))
        asleep = await post(served, token, envelope(talk="i1"))
        back = await post(served, token, envelope({"eventType": "invite"}, talk="i1"))
    finally:
        served.change(idle_minutes=None)

    assert asleep["events"] == []
    assert [event["eventType"] for event in back["events"]] == ["acceptInvite"]
