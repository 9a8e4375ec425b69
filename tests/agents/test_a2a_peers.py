"""A2A servers written on google-adk and on pydantic-ai's fasta2a, with models that are made up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("a2a", reason="the extra a2a is not installed")

from bridge.model.turns import AgentEvent, AnswerRecorded, PlanStep, TurnDone
from tests.agents.peers import peer_server
from tests.agents.talking import message_from, text_of
from tests.agents.test_a2a import answer, build, request_to
from tests.agents.test_acp import answered

pytestmark = pytest.mark.process

ADK = r"""
import sys, warnings
warnings.simplefilter("ignore")
import uvicorn
from google.adk.a2a.utils.agent_to_a2a import to_a2a
from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.genai import types

def say(text, partial=None):
    return LlmResponse(content=types.Content(role="model", parts=[types.Part(text=text)]),
                       partial=partial)

class Weather(BaseLlm):
    async def generate_content_async(self, llm_request, stream=False):
        asked = "".join(part.text or "" for part in llm_request.contents[-1].parts)
        ending = f"today: {len(llm_request.contents)}."
        if "pieces" in asked:
            for one in ("Snow ", "falls ", ending):
                yield say(one, True)
        yield say(f"Snow falls {ending}")

port = int(sys.argv[1])
agent = LlmAgent(name="weather", model=Weather(model="made-up"), description="Tells the weather.")
app = to_a2a(agent, host="127.0.0.1", port=port)
uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")
"""

FASTA2A = r"""
import sys
import uvicorn
from fasta2a.pydantic_ai import agent_to_a2a
from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart
from pydantic_ai.models.function import FunctionModel

async def in_pieces(messages, info):
    for one in ("Snow ", "falls ", f"today: {len(messages)}."):
        yield one

def whole(messages, info):
    return ModelResponse(parts=[TextPart(f"Snow falls today: {len(messages)}.")])

port = int(sys.argv[1])
agent = Agent(FunctionModel(whole, stream_function=in_pieces), name="weather")
app = agent_to_a2a(agent, url=f"http://127.0.0.1:{port}")
uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")
"""


@pytest.fixture(scope="module")
def adk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("adk")
    with peer_server("UACS_ADK_PYTHON", "google-adk", ADK, folder) as url:
        yield url


@pytest.fixture(scope="module")
def fasta2a(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("fasta2a")
    with peer_server("UACS_FASTA2A_PYTHON", "fasta2a", FASTA2A, folder) as url:
        yield url


@pytest.mark.parametrize("streaming", [True, False])
@pytest.mark.parametrize("action", ["at once", "in pieces"])
async def test_an_answer_of_google_adk_is_emitted_once(
    adk: str, action: str, streaming: bool
) -> None:
    events = await answer(build(adk, streaming=streaming), request_to(f"tell me {action}"))

    assert text_of(events) == "Snow falls today: 1."
    assert isinstance(events[-1], TurnDone)
    assert progress(events)[-1:] == (["Snow falls today: 1."] if streaming else [])


@pytest.mark.parametrize("streaming", [True, False])
async def test_fasta2a_is_read_although_its_times_have_no_zone(
    fasta2a: str, streaming: bool
) -> None:
    events = await answer(build(fasta2a, streaming=streaming), request_to("tell me"))

    assert text_of(events) == "Snow falls today: 1."
    assert isinstance(events[-1], TurnDone)


@pytest.mark.parametrize("which", ["adk", "fasta2a"])
async def test_the_next_turn_continues_the_context(
    which: str, request: pytest.FixtureRequest
) -> None:
    agent = build(request.getfixturevalue(which))
    first = await answer(agent, request_to("tell me"))
    talk = answered(request_to("tell me"), first, message_from("slack:T1:U2", "And now?", "Bob"))
    second = await answer(agent, talk)

    assert text_of(second) == "Snow falls today: 3."
    (first_record, *_, again) = [*records(first)[-1:], *records(second)]
    assert again["context_id"] == first_record["context_id"]


def progress(events: list[AgentEvent]) -> list[str]:
    return [event.title for event in events if isinstance(event, PlanStep)]


def records(events: list[AgentEvent]) -> list[dict[str, Any]]:
    return [event.record for event in events if isinstance(event, AnswerRecorded)]
