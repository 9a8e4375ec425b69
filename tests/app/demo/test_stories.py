"""Stories: what people and agents say is the paper's, and each agent knows its own lines alone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bridge.app.demo.stories.agent import StoryAgent
from bridge.app.demo.stories.mediator import Mediator
from bridge.app.demo.stories.playing import lines_of_story
from bridge.app.demo.stories.smart_errands import SMART_ERRANDS as STORY
from bridge.app.demo.stories.smart_library import SMART_LIBRARY
from bridge.openfloor.read import read_envelope
from tests.app.running import cli


def asked(*events: Any, talk: str = "c") -> bytes:
    inner = {"conversation": {"id": talk}, "sender": {"speakerUri": "tag:x"}, "events": [*events]}
    return json.dumps({"openFloor": inner}).encode()


def saying(text: str) -> Any:
    feature = {"mimeType": "text/plain", "tokens": [{"value": text}]}
    said = {"speakerUri": "tag:x", "span": {}, "features": {"text": feature}}
    return {"eventType": "utterance", "parameters": {"dialogEvent": said}}


INVITE = {"eventType": "invite"}


def events(agent: StoryAgent, key: str, body: bytes) -> list[tuple[str, str]]:
    envelope = read_envelope(agent.answer(key, body)).envelope
    return [(e.type, e.dialog_event.text if e.dialog_event else "") for e in envelope.events]


def test_the_story_has_the_lines_of_the_paper_with_four_invitations() -> None:
    lines = STORY.dialogue()
    speakers = [who for who, _ in lines]

    assert len(lines) == 41
    assert lines[0] == ("Emmett", "Hi Cassandra.")
    assert lines[-1] == ("cassandra", "Thank you, Emmett! Have a wonderful day!")
    assert [speakers.count(name) for name in ("Emmett", "pat", "charles", "sukanya", "andrew")] == [
        17, 5, 2, 4, 3,
    ]  # fmt: skip
    assert lines[: len(STORY.dialogue(1))] == STORY.dialogue(1)
    assert {line.person for line in lines_of_story(STORY)} == {"Emmett"}


def test_an_agent_greets_answers_and_leaves() -> None:
    charles = StoryAgent(STORY, "charles", {})

    greeting = events(charles, "1", asked(INVITE))
    answer = events(charles, "2", asked(saying(STORY.agents["charles"][1].heard)))
    farewell = events(charles, "3", asked(saying("No that's all Thanks. Goodbye.")))

    assert greeting == [("acceptInvite", ""), ("utterance", STORY.agents["charles"][0].says)]
    assert answer == [("utterance", STORY.agents["charles"][1].says)]
    assert farewell == [("bye", "")]


def test_the_host_invites_another_agent_at_its_address() -> None:
    host = StoryAgent(STORY, "cassandra", {"pat": "http://pat.example/floor"})
    events(host, "1", asked(INVITE, saying("Hi Cassandra.")))

    envelope = read_envelope(host.answer("2", asked(saying(STORY.agents["cassandra"][1].heard))))

    invite = envelope.envelope.events[-1]
    assert invite.type == "invite"
    assert invite.to
    assert invite.to.service_url == "http://pat.example/floor"


def test_a_request_that_is_repeated_gets_the_same_answer() -> None:
    pat = StoryAgent(STORY, "pat", {})

    assert pat.answer("1", asked(INVITE)) == pat.answer("1", asked(INVITE))
    assert events(pat, "2", asked(saying("Do you have any red Proteas?")))[0][0] == "utterance"


def test_an_unexpected_line_is_answered() -> None:
    pat = StoryAgent(STORY, "pat", {})

    assert events(pat, "1", asked(saying("?"))) == [("utterance", "I have no line for this.")]


def test_a_story_that_is_not_there_is_named() -> None:
    result = cli("demo", "--story", "war-and-peace")

    assert result.exit_code == 2
    assert "smart-errands" in result.output


@pytest.mark.long
def test_the_demo_plays_the_story_by_itself() -> None:
    result = cli("demo", "--story", "smart-errands", "--script")

    assert result.exit_code == 0, result.output
    assert "word for word as the story has them" in result.output


def test_an_agent_describes_itself_and_proposes_others() -> None:
    kaja = StoryAgent(SMART_LIBRARY, "kaja", {"kaja": "http://kaja.example/floor"})
    andres = StoryAgent(SMART_LIBRARY, "andres", {"kaja": "http://kaja.example/floor"})

    own = read_envelope(kaja.answer("1", asked({"eventType": "getManifests"}))).envelope
    question = SMART_LIBRARY.agents["andres"][0].heard
    proposed = read_envelope(andres.answer("2", asked(INVITE, saying(question)))).envelope

    (manifest,) = own.events[0].servicing
    assert manifest.identification.synopsis.startswith("AI agent specializing in providing")
    assert manifest.capabilities[0].keyphrases == ("books", "authors", "ISBN", "editors")
    assert [m.identification.service_url for m in proposed.events[-1].servicing] == [
        "http://kaja.example/floor", "https://nationalLibraryArchive1.org",
        "https://estonianlibrary2.org",
    ]  # fmt: skip


def test_the_mediator_makes_its_calls_one_after_another() -> None:
    mediation = SMART_LIBRARY.mediation
    assert mediation is not None
    juri = Mediator(mediation, SMART_LIBRARY.in_room, {"andres": "x", "kaja": "http://k"})
    result = {"content": json.dumps({"answer": "42"})}
    given = [{"type": "tool_result_given", "part": result}]

    first = json.loads(juri.answer("t1", json.dumps({"inputs": []}).encode()))
    second = json.loads(juri.answer("t1/1", json.dumps({"inputs": given}).encode()))
    last = json.loads(juri.answer("t1/3", json.dumps({"inputs": given}).encode()))

    assert [part["type"] for part in first] == ["text", "tool_call"]
    assert first[1]["arguments"]["agent"] == "andres"
    assert second[0]["name"] == "agents__describe_agent"
    assert second[0]["arguments"] == {"agent": "http://k"}
    assert last == [{"type": "text", "text": "Thank you for your patience. 42"}]
