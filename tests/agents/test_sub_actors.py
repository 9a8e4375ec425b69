"""Actors below an agent speak under their own names, if the agent's settings allow it."""

from __future__ import annotations

from typing import Any

import pytest

from bridge.agents.a2a.stream import Stream as A2aStream
from bridge.agents.turn.sub_actors import as_allowed, said_by
from bridge.agents.webhook.read import read_answer
from bridge.errors import AgentError
from bridge.model.turns import MessageSaid, PartGiven, TextDelta
from bridge.uacs import TextPart

HELLO: Any = {"type": "text", "text": "Hello"}
PLANNER = {"id": "agent:boss/planner", "name": "The Planner", "role": "assistant"}


def said(**changes: Any) -> MessageSaid:
    fields: Any = {"actor": "planner", "name": "The Planner", "parts": (HELLO,), **changes}
    return MessageSaid(**fields)


@pytest.mark.parametrize(
    ("actor", "who"),
    [
        (PLANNER, ("planner", "The Planner", "assistant")),
        ({"id": "planner"}, ("planner", "", "assistant")),
        ({"name": "Planner"}, ("Planner", "Planner", "assistant")),
        ({"id": "search", "role": "tool"}, ("search", "", "tool")),
        ({"id": "x" * 300, "name": "a\n b"}, ("x" * 100, "a b", "assistant")),
    ],
)
def test_an_actor_below_the_agent_is_known_by_id_and_name(
    actor: Any, who: tuple[str, str, str]
) -> None:
    event = said_by(actor, [TextPart(text="Hello")], "boss")

    assert event is not None
    assert (event.actor, event.name, event.role) == who


@pytest.mark.parametrize(
    "actor", [None, {}, "planner", {"id": "agent:boss"}, {"id": "boss"}, {"name": "boss"}, 7]
)
def test_the_agent_itself_is_nobody_below_it(actor: Any) -> None:
    assert said_by(actor, [TextPart(text="Hello")], "boss") is None


def test_whoever_may_not_speak_is_quoted_by_the_agent() -> None:
    event = said()

    assert as_allowed(event, ["plan*"]) == [event]
    assert as_allowed(event, []) == as_allowed(event, ["other"]) == [
        PartGiven(part={"type": "text", "text": "The Planner:", "format": "plain"}),
        PartGiven(part=HELLO),
    ]  # fmt: skip
    assert as_allowed(TextDelta(text="x"), []) == [TextDelta(text="x")]


def test_a_webhook_answers_with_messages_of_several_actors() -> None:
    planner = {"message_id": "m1", "actor": PLANNER, "content": [HELLO]}
    own = {"actor": {"id": "agent:boss"}, "content": [{"type": "text", "text": "All done."}]}

    for body in ([planner, own], {"messages": [planner, own]}):
        first, second = read_answer(body, "boss")  # type: ignore[arg-type]

        assert first == said(id="m1")
        assert isinstance(second, PartGiven)


def test_parts_of_an_actor_are_checked() -> None:
    event = {"type": "message_said", "actor": "planner", "parts": [{"type": "text"}]}

    with pytest.raises(AgentError, match="not valid UACS"):
        read_answer(event, "boss")  # type: ignore[arg-type]


def test_artifacts_of_an_a2a_agent_may_be_those_of_others() -> None:
    stream = A2aStream()
    status = {"taskId": "t", "status": {"state": "TASK_STATE_WORKING"}}
    events = [*stream.take({"statusUpdate": status})]  # type: ignore[dict-item]
    for number, words in enumerate(("Hel", "lo")):
        artifact = {
            "artifactId": "a1", "parts": [{"text": words}],
            "metadata": {"actor": {"id": "planner", "name": "The Planner"}},
        }  # fmt: skip
        update = {"taskId": "t", "artifact": artifact, "append": number > 0}
        events += stream.take({"artifactUpdate": update})  # type: ignore[dict-item]
    own: Any = {"taskId": "t", "artifact": {"artifactId": "a2", "parts": [{"text": "Done."}]}}
    events += stream.take({"artifactUpdate": own})
    done: Any = {"taskId": "t", "status": {"state": "TASK_STATE_COMPLETED"}}
    events += stream.take({"statusUpdate": done})

    parts: Any = ({"type": "text", "text": "Hel"}, {"type": "text", "text": "lo"})
    assert events == [TextDelta(text="Done."), said(parts=parts, id="a1")]
