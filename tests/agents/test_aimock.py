"""Models' APIs and A2A against a second independent server, of Node: `@copilotkit/aimock`.

`UACS_AIMOCK` is its folder (`node_modules/@copilotkit/aimock`).
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from bridge.agents.a2a.agent import agent_type as a2a
from bridge.model.turns import AgentEvent, AgentInput, ToolCalled, ToolResultGiven, TurnDone
from bridge.uacs import Conversation, ToolResultPart
from tests.agents.talking import build, message_from, nothing, room, text_of, tools, turn
from tests.agents.vendors import VENDORS

AIMOCK = os.environ.get("UACS_AIMOCK", "")
pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(
        not AIMOCK or shutil.which("node") is None,
        reason="UACS_AIMOCK names no @copilotkit/aimock, or Node is not here; .ci/run fetches it",
    ),
]
PATHS = {"openai-chat": "/v1", "openai-responses": "/v1", "anthropic": "", "gemini": ""}
WEATHER = {"name": "get_weather", "description": "Weather.", "parameters": {
    "type": "object", "properties": {"city": {"type": "string"}}}}  # fmt: skip
PROGRAM = """
const { LLMock } = await import(process.argv[2] + "/dist/index.js");
const { A2AMock } = await import(process.argv[2] + "/dist/a2a-mock.js");
const mock = new LLMock({ port: 0 });
mock.on({ userMessage: "weather", hasToolResult: false },
        { toolCalls: [{ name: "get_weather", arguments: '{"city": "Oslo"}' }] });
mock.on({ userMessage: "weather", hasToolResult: true }, { content: "It rains in Oslo." });
mock.on({ userMessage: "think" },
        { reasoning: "Hm, let me see.", content: "Forty-two, with *some* thought." });
mock.onMessage("capital", { content: "Paris is the capital of France." });
const llm = await mock.start();
const agents = new A2AMock({ port: 0 });
agents.registerAgent({ name: "bot", description: "x", capabilities: { streaming: true } });
agents.onTask("bot", /report/, [
  { parts: [{ text: "# Report\\n" }, { text: "All is well." }], name: "Report" },
]);
agents.onMessage("bot", /hello/, [{ text: "Hello from elsewhere." }]);
const a2a = await agents.start();
console.log(JSON.stringify([typeof llm === "string" ? llm : mock.url, a2a]));
"""


@pytest.fixture(scope="module")
def aimock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    program = tmp_path_factory.mktemp("aimock") / "mock.mjs"
    program.write_text(PROGRAM)
    command = [shutil.which("node") or "node", str(program), str(Path(AIMOCK).absolute())]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            line = process.stdout.readline().decode()
            assert line, process.stderr.read().decode()
            llm, agents = line.strip()[1:-1].replace('"', "").split(",")
            yield llm, agents
        finally:
            process.kill()


def question(text: str) -> Conversation:
    return room(message_from("slack:T1:U1", text, "Alice Smith"), tools=[WEATHER])


async def answered(agent: Any, talk: Conversation) -> list[AgentEvent]:
    """With what the bridge's tool says."""
    queue: asyncio.Queue[AgentInput] = asyncio.Queue()

    async def inputs() -> AsyncIterator[AgentInput]:
        while True:
            yield await queue.get()

    events: list[AgentEvent] = []
    async for event in agent.run(turn(talk), inputs()):
        events.append(event)
        if isinstance(event, ToolCalled):
            result = ToolResultPart(tool_call_id=event.part.id, content={"sky": "rain"})
            queue.put_nowait(ToolResultGiven(part=result))
    return events


@pytest.mark.parametrize("kind", PATHS)
async def test_a_question_gets_an_answer(kind: str, aimock: tuple[str, str]) -> None:
    agent = build(VENDORS[kind], aimock[0] + PATHS[kind], tools())

    events = await answered(agent, question("What is the capital of France?"))

    assert text_of(events) == "Paris is the capital of France."
    assert isinstance(events[-1], TurnDone)


@pytest.mark.parametrize("kind", PATHS)
async def test_a_tool_is_called_and_its_result_read(kind: str, aimock: tuple[str, str]) -> None:
    agent = build(VENDORS[kind], aimock[0] + PATHS[kind], tools())

    events = await answered(agent, question("What is the weather?"))

    calls = [event.part for event in events if isinstance(event, ToolCalled)]
    assert [(call.name, call.arguments) for call in calls] == [("get_weather", {"city": "Oslo"})]
    assert text_of(events) == "It rains in Oslo."


@pytest.mark.parametrize("kind", PATHS)
async def test_reasoning_is_separate_from_the_answer(kind: str, aimock: tuple[str, str]) -> None:
    agent = build(VENDORS[kind], aimock[0] + PATHS[kind], tools())

    events = await answered(agent, question("Please think"))

    assert text_of(events) == "Forty-two, with *some* thought."
    assert isinstance(events[-1], TurnDone)


@pytest.mark.parametrize(("text", "words"), [
    ("Please give me a report", "# Report\nAll is well."), ("hello", "Hello from elsewhere."),
])  # fmt: skip
async def test_an_a2a_agent_answers(text: str, words: str, aimock: tuple[str, str]) -> None:
    pytest.importorskip("a2a")
    # Its streams (1.43.0) put artifacts beside the task, where A2A 1.0 has none.
    options = {"base_url": aimock[1], "streaming": False}
    settings = a2a.settings.model_validate(options)
    agent: Any = a2a.build("bot", settings, tools())
    talk = room(message_from("slack:T1:U1", text, "Alice Smith"))

    events = [one async for one in agent.run(turn(talk), nothing())]

    assert text_of(events) == words
    assert isinstance(events[-1], TurnDone)
