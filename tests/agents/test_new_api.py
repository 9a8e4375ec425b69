"""docs/extending/agent-api.md is true: its files, in a package of their own, make an agent API."""

from __future__ import annotations

import re
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from bridge.ports.agent import Agent
from bridge.runtime.discovery import agent_type, installed
from bridge.testing.agent_contract import AgentContract, AgentRig, Behaviour
from tests.agents.model_server import Answer, model_server, sse
from tests.agents.talking import HELLO, nothing, text_of, tools, turn
from tests.agents.test_contract import ServedRig
from tests.agents.vendors import KEY

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "extending" / "agent-api.md").read_text("utf-8")
MODEL_APIS = ("ailoy", "anthropic", "gemini", "openai_chat", "openai_responses")
ANSWER = [{"text": "Here is "}, {"text": "a long answer."}, {"end": True}]


@pytest.fixture(autouse=True)
def parrot_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A distribution with the entry point that the page shows."""
    match = re.search(r'^\[project\.(entry-points\."(.+)")\]\nmy-api = "(.+)"$', PAGE, re.MULTILINE)
    assert match is not None
    target = match[3].replace("my_package", "tests.agents.parrot")
    info = tmp_path / "parrot-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: parrot\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{match[2]}]\nparrot = {target}\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    installed.cache_clear()
    yield
    installed.cache_clear()


def _page_files() -> list[str]:
    table = PAGE.partition("## The files")[2].partition("\n## ")[0]
    return re.findall(r"`(\w+\.py)`", "".join(re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)))


@pytest.mark.parametrize(
    "folder", ["tests/agents/parrot", *(f"bridge/agents/{api}" for api in MODEL_APIS)]
)
def test_every_model_api_has_the_files_of_the_page(folder: str) -> None:
    files = {path.name for path in (ROOT / folder).glob("*.py")}

    assert _page_files() == ["settings.py", "write.py", "read.py", "stream.py", "agent.py"]
    assert files >= {*_page_files()}


def test_the_paths_of_the_page_exist() -> None:
    paths = re.findall(r"`((?:bridge|tests|docs)/[\w/.]+)`", PAGE)

    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []


def _build(url: str) -> Agent:
    kind = agent_type("parrot")
    options = {"model": "m", "base_url": url, "api_key": {"env": "KEY"}}
    return kind.build("bot", kind.settings.model_validate(options), tools())


async def test_the_new_kind_answers_a_turn() -> None:
    async with model_server(Answer(sse(*ANSWER))) as server:
        events = [event async for event in _build(server.url).run(turn(HELLO), nothing())]

    assert text_of(events) == "Here is a long answer."
    assert server.requests[0]["model"] == "m"
    assert server.requests[0]["lines"][-1]["text"] == '[from "Alice Smith"]\nHello?'


class ParrotRig(ServedRig):
    """The agent before a server that speaks its API."""

    async def agent(self, behaviour: Behaviour) -> Agent | None:
        answer = {
            "says": Answer(sse(*ANSWER)),
            "hangs": Answer(sse(*ANSWER[:1]), then="hang"),
            "fails": Answer([b'{"error": "' + KEY.encode() + b'"}'], 401, "application/json"),
            "breaks": Answer([b"data: {broken " + KEY.encode() + b"\n\n"]),
        }[behaviour]
        return _build((await self._server(answer)).url)


class TestParrot(AgentContract):
    @pytest.fixture
    async def rig(self) -> AsyncIterator[AgentRig]:
        async with AsyncExitStack() as stack:
            yield ParrotRig(stack)
