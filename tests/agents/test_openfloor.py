"""Agents that speak Open Floor are invited to a room, asked, and leave it again."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from bridge.agents.openfloor.agent import OpenFloorAgent
from bridge.agents.openfloor.settings import OpenFloorSettings
from bridge.agents.transport.signing import check
from bridge.content.markdown import markdown_to_text, text_to_plain
from bridge.content.messages.agent_parts import (
    BACK,
    HAND_OVER,
    ProposedAgent,
    floor_change_of,
    proposal,
)
from bridge.model import ActorId, TurnId
from bridge.model.floor import FloorChange, FloorMember, FloorView, FloorWish
from bridge.model.turns import (
    AgentEvent,
    PartGiven,
    StateKept,
    TurnDone,
    TurnFailed,
    Whispered,
)
from bridge.uacs import Conversation, StructuredDataPart, TextPart
from tests.agents.model_server import Answer, ModelServer, model_server
from tests.agents.talking import Tools, message_from, nothing, room, text_of, tools, turn
from tests.agents.vendors import JSON, KEY

FLOOR = "0b0f5c9e-8f5e-5c6e-9d0e-2f6f3f1f7a11"
HELLO = room(message_from("slack:T1:U1", "Hello?", "Alice Smith"))


def event(kind: str, text: str | None = None, **more: Any) -> dict[str, Any]:
    """An event of a peer; with `text` what it says."""
    if text is None:
        return {"eventType": kind, **more}
    said = {
        "id": f"de:{text[:4]}", "speakerUri": "tag:pat.test,2026:1",
        "span": {"startTime": "2026-01-05T10:00:00Z"},
        "features": {"text": {"mimeType": "text/plain", "tokens": [{"value": text}]}},
    }  # fmt: skip
    return {"eventType": kind, "parameters": {"dialogEvent": said}, **more}


def answer(*events: Any, floor: str = FLOOR, root: str = "openFloor") -> Answer:
    inner = {
        "schema": {"version": "1.1.0"}, "conversation": {"id": floor},
        "sender": {"speakerUri": "tag:pat.test,2026:1"}, "events": list(events),
    }  # fmt: skip
    return Answer([json.dumps({root: inner}).encode()], 200, JSON)


def agent_at(url: str, given: Tools | None = None, **options: Any) -> OpenFloorAgent:
    values = {"url": f"{url}/of", "private_addresses": True, "retries": 0, **options}
    return OpenFloorAgent("bot", OpenFloorSettings.model_validate(values), given or tools())


async def asked(
    api: ModelServer,
    talk: Conversation = HELLO,
    given: Tools | None = None,
    *,
    new_turn: bool = True,
    **options: Any,
) -> list[AgentEvent]:
    own = TurnId(f"t{len(api.raw)}") if given is not None and new_turn else TurnId("t1")
    asking = turn(talk).model_copy(update={"id": own})
    return [one async for one in agent_at(api.url, given, **options).run(asking, nothing())]


def kinds(api: ModelServer, number: int = -1) -> list[str]:
    """The kinds of the events in an envelope that the peer got."""
    return [one["eventType"] for one in sent(api, number)["events"]]


def sent(api: ModelServer, number: int = -1) -> Any:
    return json.loads(api.raw[number])["openFloor"]


def invited(talk: Conversation) -> Conversation:
    """The room, after an answer of the agent."""
    metadata = {**(talk.metadata or {}), "agents": {"bot": {"openfloor": {"invited": True}}}}
    return talk.model_copy(update={"metadata": metadata})


async def test_the_first_question_comes_with_an_invitation() -> None:
    before = message_from("discord:G1:9", "I was here before", "Bob")
    talk = room(before, *HELLO.messages)
    async with model_server(
        answer(event("acceptInvite"), event("utterance", "Hi, I am Pat"))
    ) as api:
        events = await asked(api, talk)

    assert text_of(events) == "Hi, I am Pat"
    assert isinstance(events[-1], TurnDone)
    envelope = sent(api)
    assert envelope["conversation"]["id"] == FLOOR
    assert envelope["sender"] == {
        "speakerUri": "tag:chat.example.org,2026:bridge", "serviceUrl": "https://chat.example.org",
    }  # fmt: skip
    invite, utterance = envelope["events"]
    assert invite["eventType"] == "invite"
    assert invite["to"] == {"serviceUrl": f"{api.url}/of"}
    (past,) = invite["parameters"]["dialogHistory"]
    assert past["speakerUri"] == "tag:chat.example.org,2026:discord:G1:9"
    assert utterance["to"] == invite["to"]
    said = utterance["parameters"]["dialogEvent"]
    assert said["speakerUri"] == "tag:chat.example.org,2026:slack:T1:U1"
    assert said["features"]["text"]["tokens"] == [{"value": "Hello?"}]
    names = [
        one["identification"]["conversationalName"]
        for one in envelope["conversation"]["conversants"]
    ]
    assert names == ["Bob", "Alice Smith", "bot"]


async def test_an_invited_agent_is_only_asked() -> None:
    async with model_server(answer(event("utterance", "Yes"))) as api:
        events = await asked(api, invited(HELLO))

    assert text_of(events) == "Yes"
    assert [one["eventType"] for one in sent(api)["events"]] == ["utterance"]


async def test_an_agent_that_is_handed_over_to_begins_by_itself() -> None:
    hand_over = StructuredDataPart(schema_id=HAND_OVER, data={"to": "bot"})
    handing = message_from(
        "agent:cassandra", [TextPart(text="I connect you."), hand_over], "cassandra", "assistant"
    )
    async with model_server(answer(event("acceptInvite"), event("utterance", "Hi!"))) as api:
        events = await asked(api, room(*HELLO.messages, handing))

    (invite,) = sent(api)["events"]
    assert invite["eventType"] == "invite"
    history = invite["parameters"]["dialogHistory"]
    texts = ["".join(t["value"] for t in e["features"]["text"]["tokens"]) for e in history]
    assert texts == ["Hello?", "I connect you."]
    assert "hand-over" not in json.dumps(invite)
    assert text_of(events) == "Hi!"


async def test_an_agent_that_invites_another_hands_the_conversation_over() -> None:
    inviting = answer(
        event("utterance", "I connect you."),
        event("invite", to={"serviceUrl": "https://florist.test/of"}, reason="flowers"),
        event("invite", to={"speakerUri": "tag:second.test,2026:1"}),
    )
    async with model_server(inviting) as api:
        events = await asked(api, invited(HELLO))

    data: Any = {"to": "https://florist.test/of", "why": "flowers"}
    part: Any = {"type": "structured_data", "schema_id": HAND_OVER, "data": data}
    assert text_of(events) == "I connect you."
    assert [e for e in events if isinstance(e, PartGiven)] == [PartGiven(part=part)]


@pytest.mark.parametrize("words", [[TextPart(text="Have a blooming day!")], []])
async def test_an_agent_is_told_that_another_gave_the_conversation_back(words: Any) -> None:
    back = StructuredDataPart(schema_id=HAND_OVER, data={"to": BACK})
    leaving = message_from("agent:pat", [*words, back], "pat", "assistant")
    async with model_server(answer(event("utterance", "And now?"))) as api:
        events = await asked(api, invited(room(*HELLO.messages, leaving)))

    kinds = [one["eventType"] for one in sent(api)["events"]]
    assert kinds == [*["utterance"] * len(words), "bye"]
    assert sent(api)["events"][-1]["reason"] == "pat left"
    assert text_of(events) == "And now?"


async def test_a_good_bye_gives_the_conversation_back_after_the_last_words() -> None:
    leaving = answer(event("bye", reason="@complete"), event("utterance", "Have a blooming day!"))
    async with model_server(leaving, leaving) as api:
        given = tools()
        events = await asked(api, invited(HELLO), given)
        await asked(api, invited(HELLO), given)

    assert text_of(events) == "Have a blooming day!"
    data: Any = {"to": BACK, "why": "it is done"}
    part: Any = {"type": "structured_data", "schema_id": HAND_OVER, "data": data}
    assert [e for e in events if isinstance(e, PartGiven)] == [PartGiven(part=part)]
    assert (kinds(api, 0), kinds(api, 1)) == (["utterance"], ["invite", "utterance"])


async def test_an_agent_that_has_nothing_to_say_stays_invited() -> None:
    async with model_server(answer(event("acceptInvite")), answer()) as api:
        given = tools()
        events = await asked(api, HELLO, given)
        await asked(api, HELLO, given)

    assert text_of(events) == ""
    assert (kinds(api, 0), kinds(api, 1)) == (["invite", "utterance"], ["utterance"])


async def test_an_agent_that_nobody_asked_for_long_is_invited_again() -> None:
    said = answer(event("utterance", "Hi"))
    async with model_server(said, said, said) as api:
        given = tools()
        for minutes in (0, 4, 6):
            given.clock.advance(minutes * 60)
            await asked(api, HELLO, given, invited_minutes=5)

    assert [kinds(api, number) for number in range(3)] == [
        ["invite", "utterance"], ["utterance"], ["invite", "utterance"],
    ]  # fmt: skip


@pytest.mark.parametrize("leaves", [False, True])
async def test_a_turn_that_runs_again_sends_the_same_envelope(leaves: bool) -> None:
    said = answer(event("utterance", "Hi"), *([event("bye")] if leaves else []))
    talk = invited(HELLO) if leaves else HELLO
    async with model_server(said, said, said) as api:
        given = tools()
        await asked(api, talk, given, new_turn=False)
        await asked(api, talk, given, new_turn=False)  # its answer was not kept
        later = turn(talk).model_copy(update={"id": TurnId("t2")})
        [one async for one in agent_at(api.url, given).run(later, nothing())]

    assert api.raw[0] == api.raw[1]
    assert kinds(api) == (["invite", "utterance"] if leaves else ["utterance"])


async def test_an_agent_that_answers_twice_is_heard_once() -> None:
    hello, more = event("utterance", "Hello"), event("utterance", "More")
    async with model_server(answer(hello, hello), answer(hello, more)) as api:
        first = await asked(api, HELLO)
        (kept,) = [e.state for e in first if isinstance(e, StateKept)]
        metadata: Any = {"agents": {"bot": kept}}
        second = await asked(api, HELLO.model_copy(update={"metadata": metadata}))

    assert (text_of(first), text_of(second)) == ("Hello", "More")


@pytest.mark.parametrize(
    ("answered", "reason"),
    [
        ([event("declineInvite", reason="@outOfDomain")],
         "it declined the invitation: this is outside of what it does"),
        ([event("declineInvite", reason="@unavailable closed on Sundays")],
         "it declined the invitation: it is not available: closed on Sundays"),
        ([event("declineInvite")], "it declined the invitation"),
        ([event("yieldFloor", reason="@timedOut")], "it took too long"),
        ([event("yieldFloor")], "it gave the floor back without an answer"),
    ],
    ids=str,
)  # fmt: skip
async def test_an_agent_that_does_not_answer_says_why(answered: Any, reason: str) -> None:
    async with model_server(answer(*answered)) as api:
        events = await asked(api)

    assert events[-1] == TurnFailed(reason=reason, retry=False)


@pytest.mark.parametrize(
    ("answered", "reason"),
    [
        (answer(event("utterance", "x"), floor="another"),
         "it answered in another conversation than it was asked in"),
        (Answer([b"<html>Not here</html>"], 200, "text/html"), "it answered with no envelope"),
        (Answer([b'{"openFloor": {}}'], 200, JSON), "conversation/id is missing"),
        (Answer([b"[" * (5 * 1024 * 1024)], 200, JSON), ""),
        (Answer([b"no"], 500, JSON), ""),
        (Answer([b"no"], 401, JSON), ""),
        (Answer([b'{"open'], 200, JSON, then="cut"), ""),
    ],
    ids=lambda value: str(value)[:50],
)  # fmt: skip
async def test_a_broken_answer_ends_the_turn_with_a_reason(answered: Answer, reason: str) -> None:
    async with model_server(answered) as api:
        events = await asked(api)

    failed = events[-1]
    assert isinstance(failed, TurnFailed)
    assert reason in failed.reason
    assert KEY not in failed.reason


async def test_an_agent_with_nothing_to_say_says_nothing() -> None:
    async with model_server(answer()) as api:
        events = await asked(api)

    assert text_of(events) == ""
    assert isinstance(events[-1], TurnDone)


async def test_a_private_answer_is_shown_to_nobody() -> None:
    secret = event("utterance", "for you alone", to={"speakerUri": "tag:x", "private": True})
    whisper = event("whisper", "for you alone")
    async with model_server(answer(secret, whisper, event("utterance", "for all"))) as api:
        events = await asked(api)

    assert text_of(events) == "for all"
    assert "alone" not in str(events)


async def test_words_are_shown_as_they_are_and_files_as_parts() -> None:
    said = event("utterance", "2 * 3 * 4 <b> [x](javascript:y) @everyone")
    said["parameters"]["dialogEvent"]["features"]["image"] = {
        "mimeType": "image/png", "tokens": [{"valueUrl": "https://pat.test/flower.png"}],
    }  # fmt: skip
    async with model_server(answer(said)) as api:
        events = await asked(api)

    assert plain(text_of(events)) == "2 * 3 * 4 <b> [x](javascript:y) @everyone"
    (part,) = [one.part for one in events if isinstance(one, PartGiven)]
    assert part == {
        "type": "image", "media_type": "image/png", "source": {"url": "https://pat.test/flower.png"},
    }  # fmt: skip


def plain(markdown: str) -> str:
    return text_to_plain(markdown_to_text(markdown))


async def test_several_utterances_are_paragraphs_of_one_answer() -> None:
    two = answer(event("utterance", "one"), event("unheard", "?"), event("utterance", "two"))
    async with model_server(two) as api:
        events = await asked(api)

    assert text_of(events) == "one\n\ntwo"


async def test_an_old_agent_is_asked_in_its_version() -> None:
    old = answer(event("utterance", "Tere"), event("bye"), root="ovon")
    async with model_server(old) as api:
        events = await asked(api, version="0.9.2")

    envelope = json.loads(api.raw[0])["ovon"]
    invite, utterance = envelope["events"]
    assert envelope["schema"] == {"version": "0.9.2"}
    assert envelope["sender"]["from"] == "https://chat.example.org"
    assert invite["parameters"]["to"] == {"url": f"{api.url}/of"}
    assert utterance["parameters"]["dialogEvent"]["speakerId"].endswith("slack:T1:U1")
    assert "conversants" not in envelope["conversation"]
    assert text_of(events) == "Tere"


async def test_requests_carry_the_token_and_a_signature() -> None:
    secret: Any = {"api_key": {"env": "KEY"}, "secret": {"env": "KEY"}}
    async with model_server(answer(event("utterance", "x"))) as api:
        await asked(api, **secret)

    head = dict(
        line.split(": ", 1) for line in api.heads[0].lower().splitlines()[1:] if ": " in line
    )
    as_sent: Mapping[str, str] = dict(
        line.split(": ", 1) for line in api.heads[0].splitlines()[1:] if ": " in line
    )
    assert as_sent["authorization"] == f"Bearer {KEY}"
    timestamp = head["webhook-timestamp"]
    check(KEY.encode(), "t1", timestamp, api.raw[0], as_sent["webhook-signature"], float(timestamp))


async def test_an_address_of_this_machine_is_refused_unless_it_is_allowed() -> None:
    async with model_server(answer(event("utterance", "x"))) as api:
        events = await asked(api, private_addresses=False)

    assert isinstance(events[-1], TurnFailed)
    assert api.raw == []


# --- an agent of the published library --------------------------------------------------------


@asynccontextmanager
async def library_agent() -> AsyncGenerator[str]:
    """The address of an agent process of the library."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.agents.openfloor_peer",
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stderr
        async with asyncio.timeout(30):
            port = int(await process.stderr.readline())
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        await process.wait()


async def test_an_agent_of_the_published_library_is_invited_asked_and_leaves() -> None:
    pytest.importorskip("openfloor", reason="the package openfloor is not installed")
    async with library_agent() as url:
        agent = agent_at(url)
        first = [one async for one in agent.run(turn(HELLO), nothing())]
        farewell = invited(room(message_from("slack:T1:U1", "good-bye", "Alice")))
        second = turn(farewell).model_copy(update={"id": TurnId("t2")})
        last = [one async for one in agent.run(second, nothing())]

    assert text_of(first) == "Hello! How can I help you today?\n\nYou said: Hello?"
    assert text_of(last) == "You said: good-bye"
    data: Any = {"to": BACK, "why": "it is done"}
    part: Any = {"type": "structured_data", "schema_id": HAND_OVER, "data": data}
    assert PartGiven(part=part) in last


async def test_agents_that_it_publishes_unasked_are_proposed() -> None:
    manifest = {
        "identification": {
            "speakerUri": "tag:pat.test,2026:1", "serviceUrl": "https://pat.test/of",
            "organization": "Pat", "conversationalName": "Pat", "synopsis": "Sells flowers",
        },
        "capabilities": [],
    }  # fmt: skip
    published = event("publishManifests", parameters={"servicingManifests": [manifest]})
    async with model_server(answer(published)) as api:
        events = await asked(api)

    parts = [one.part for one in events if isinstance(one, PartGiven)]
    assert parts == [
        proposal(
            [ProposedAgent("https://pat.test/of", "Pat", "https://pat.test/of", "Sells flowers")]
        )
    ]
    assert isinstance(events[-1], TurnDone)


async def test_a_private_utterance_for_a_person_is_for_that_person_alone() -> None:
    alice = {"speakerUri": "tag:chat.example.org,2026:slack:T1:U1", "private": True}
    agent = {"speakerUri": "tag:chat.example.org,2026:agent:other", "private": True}
    said = answer(
        event("utterance", "Your PIN is 1234", to=alice), event("utterance", "psst", to=agent),
        event("utterance", "You have a message.", to={"speakerUri": alice["speakerUri"]}),
    )  # fmt: skip
    async with model_server(said) as api:
        events = await asked(api)

    (whisper,) = [e for e in events if isinstance(e, Whispered)]
    assert whisper.to == "slack:T1:U1"
    assert "1234" in str(whisper.parts)
    assert text_of(events) == "You have a message."
    assert "psst" not in str(events)


async def test_a_private_turn_takes_private_utterances_for_its_answer() -> None:
    to = {"speakerUri": "tag:chat.example.org,2026:agent:host", "private": True}
    async with model_server(answer(event("utterance", "Between us", to=to))) as api:
        private = turn(HELLO).model_copy(update={"private": True})
        events = [one async for one in agent_at(api.url).run(private, nothing())]

    assert text_of(events) == "Between us"


FLOOR_VIEW = FloorView(
    ActorId("agent:chair"),
    (
        FloorMember(ActorId("agent:chair"), "chair"),
        FloorMember(ActorId("agent:bot"), "bot"),
        FloorMember(ActorId("agent:loud"), "loud", speaks=False),
    ),
)


async def test_an_agent_on_a_floor_with_a_convener_learns_who_may_speak() -> None:
    async with model_server(answer()) as api:
        asking = turn(HELLO).model_copy(update={"floor": FLOOR_VIEW, "overheard": True})
        [one async for one in agent_at(api.url).run(asking, nothing())]

    talk, events = sent(api)["conversation"], sent(api)["events"]
    uri = "tag:chat.example.org,2026:agent:"
    assert talk["assignedFloorRoles"] == {"convener": [f"{uri}chair"]}
    assert talk["floorGranted"] == [
        "tag:chat.example.org,2026:slack:T1:U1", f"{uri}chair", f"{api.url}/of",
    ]  # fmt: skip
    names = [one["identification"]["conversationalName"] for one in talk["conversants"]]
    assert names == ["Alice Smith", "chair", "loud", "bot"]
    assert "to" not in events[-1]  # it overhears what is said to nobody in particular


async def test_a_convener_decides_in_its_answer() -> None:
    loud = {"speakerUri": "tag:chat.example.org,2026:agent:loud"}
    decided = answer(
        event("revokeFloor", to=loud, reason="@override too loud"),
        event("uninvite", to={"serviceUrl": "https://rude.test/of"}, reason="@brokenPolicy"),
        event("yieldFloor", reason="@complete"),
    )
    async with model_server(decided) as api:
        events = await asked(api)

    parts = [StructuredDataPart.model_validate(e.part) for e in events if isinstance(e, PartGiven)]
    assert [floor_change_of(part) for part in parts] == [
        FloorChange(
            "revoke", "agent:loud", "somebody else needs the floor: too loud", "@override"
        ),
        FloorChange(
            "uninvite", "https://rude.test/of", "it broke a rule of this conversation",
            "@brokenPolicy",
        ),
        FloorChange("yield", "", "it is done", "@complete"),
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["", "May I?"])
async def test_a_convener_is_asked_about_a_wish_in_an_envelope_of_its_member(text: str) -> None:
    grant = event("grantFloor", to={"speakerUri": "tag:chat.example.org,2026:agent:loud"})
    async with model_server(answer(grant)) as api:
        wish = FloorWish(ActorId("agent:loud"), "loud", text)
        decided = await agent_at(api.url).decide(FLOOR, wish)

    assert decided == (FloorChange("grant", "agent:loud"),)
    assert sent(api)["sender"]["speakerUri"] == "tag:chat.example.org,2026:agent:loud"
    (asked_event,) = sent(api)["events"]
    assert asked_event["eventType"] == ("utterance" if text else "requestFloor")


@pytest.mark.parametrize(("version", "kind"), [("1.1.0", "uninvite"), ("0.9.2", "bye")])
async def test_an_agent_that_is_sent_away_is_told_and_invited_again_later(
    version: str, kind: str
) -> None:
    root = "ovon" if version < "0.9.4" else "openFloor"
    said = answer(event("utterance", "Hi"), root=root)
    async with model_server(said, answer(root=root), said) as api:
        given = tools()
        await asked(api, HELLO, given, version=version)
        agent = agent_at(api.url, given, version=version)
        change = FloorChange("uninvite", "agent:bot", "too loud", "@override")
        await agent.tell(FLOOR, change)
        await agent.tell(FLOOR, change)  # it is away
        await asked(api, HELLO, given, version=version)

    told = [json.loads(raw)[root]["events"] for raw in api.raw]
    assert [[one["eventType"] for one in events] for events in told] == [
        ["invite", "utterance"], [kind], ["invite", "utterance"],
    ]  # fmt: skip
    if root == "openFloor":
        assert told[1][0]["reason"] == "@override too loud"
