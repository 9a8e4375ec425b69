"""Agents find one another: those of the bridge, and those whose manifests others publish."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

import pytest

from bridge.app.agent_directory.directory import Directory, DirectorySettings
from bridge.app.agent_directory.home import Home
from bridge.app.agent_directory.model_ranking import ModelRanking
from bridge.app.agent_directory.tools import TOOLS, AgentTools
from bridge.app.settings.file import settings_of
from bridge.app.settings.manifest import ManifestSettings
from bridge.errors import ConfigError
from bridge.model.turns import AgentEvent, AgentInput, TextDelta, Turn, TurnDone, TurnFailed
from bridge.ports.tools import AGENT_TOOLS
from bridge.testing.clock import ManualClock
from bridge.tools.toolbox import McpToolbox
from bridge.uacs import ToolCallPart
from tests.agents.model_server import Answer, model_server
from tests.agents.vendors import JSON

PAT = ManifestSettings(synopsis="Sells flowers", keyphrases=("flowers", "bouquet"))
HOME = Home("https://chat.example.org", {"pat": PAT, "echo": ManifestSettings()})


def manifest(name: str, url: str, synopsis: str) -> dict[str, Any]:
    return {
        "identification": {
            "speakerUri": f"tag:{name}.test,2026:1", "serviceUrl": url, "organization": "Town",
            "conversationalName": name, "synopsis": synopsis,
        },
        "capabilities": [{"keyphrases": [], "descriptions": [synopsis]}],
    }  # fmt: skip


def publishing(*servicing: Any, discovery: tuple[Any, ...] = ()) -> Answer:
    parameters = {"servicingManifests": [*servicing], "discoveryManifests": [*discovery]}
    event = {"eventType": "publishManifests", "parameters": parameters}
    inner = {"conversation": {"id": "c"}, "sender": {"speakerUri": "tag:x"}, "events": [event]}
    return Answer([json.dumps({"openFloor": inner}).encode()], 200, JSON)


def directory(
    *urls: str, clock: ManualClock | None = None, home: Home = HOME, private: bool = True
) -> Directory:
    settings = DirectorySettings(urls, private)
    return Directory(lambda: home, lambda: settings, clock or ManualClock())


async def names(found: Directory) -> list[str]:
    return [one.identification.conversational_name for one in await found.known()]


async def called(found: Directory, name: str, **arguments: Any) -> tuple[str, bool]:
    (tool,) = [tool for tool in TOOLS if tool.name == name]
    call = ToolCallPart(id="1", name=name, arguments=arguments)
    result = await AgentTools(found).call(tool, call)
    return str(result.content), result.is_error is True


async def test_the_bridges_own_agents_are_found_by_their_manifests() -> None:
    text, failed = await called(directory(), "find_agent", task="flowers for a birthday")

    (found,) = json.loads(text)
    assert not failed
    assert (found["name"], found["synopsis"]) == ("pat", "Sells flowers")
    assert found["speakerUri"] == "tag:chat.example.org,2026:agent:pat"
    assert 0 < found["score"] < 1


async def test_agents_elsewhere_are_found_by_what_they_publish() -> None:
    kaja = manifest("kaja", "https://library.test/of", "Estonian books")
    async with model_server(publishing(kaja)) as api:
        text, _ = await called(directory(api.url), "find_agent", task="a book by Koidula")
        described, _ = await called(directory(api.url), "describe_agent", agent="@Kaja")

    assert [one["name"] for one in json.loads(text)] == ["kaja"]
    assert json.loads(described)["identification"]["serviceUrl"] == "https://library.test/of"
    (asked,) = json.loads(api.raw[0])["openFloor"]["events"]
    assert asked["eventType"] == "getManifests"
    assert asked["parameters"] == {"recommendScope": "all"}


async def test_a_directory_that_names_directories_is_followed_and_ends() -> None:
    async with model_server() as first, model_server() as second:
        first.answers = [publishing(discovery=(manifest("b", second.url, "finds"),))]
        wrong = [manifest("w", url, "finds") for url in ("http://[", "ftp://x", "nowhere")]
        back = (manifest("a", first.url, "finds"), *wrong)
        second.answers = [publishing(manifest("heli", "", "archive"), discovery=back)]

        found = await names(directory(first.url))

    assert found == ["pat", "echo", "heli"]
    assert (len(first.raw), len(second.raw)) == (1, 1)


async def test_manifests_are_kept_for_an_hour_and_failures_for_a_minute() -> None:
    clock = ManualClock()
    async with model_server(publishing(manifest("kaja", "", "books"))) as api:
        found = directory(api.url, clock=clock)
        await names(found)
        await names(found)
        asked_in_the_hour = len(api.raw)
        clock.now += 3700
        await names(found)
        asked_later = len(api.raw)
        api.answers = [Answer([b"no"], 500, JSON)]
        clock.now += 3700
        failed = await names(found)
        await names(found)

    # It is asked three times before the bridge gives up for a minute.
    assert (asked_in_the_hour, asked_later, len(api.raw)) == (1, 2, 5)
    assert failed == ["pat", "echo", "kaja"]  # what it said before still counts


async def test_a_manifest_is_had_at_the_second_try() -> None:
    clock = ManualClock()
    answers = (Answer([b"no"], 503, JSON), publishing(manifest("kaja", "", "books")))
    async with model_server(*answers) as api:
        assert await names(directory(api.url, clock=clock)) == ["pat", "echo", "kaja"]


@pytest.mark.parametrize(
    "answer",
    [
        Answer([b"<html>"], 200, "text/html"), Answer([b"no"], 404, JSON), publishing(),
        Answer([b'{"openFloor": {"conversation": {"id": "1"}, "events": []}}'], 200, JSON),
        publishing({"identification": 7}, "x"),
    ],
)  # fmt: skip
async def test_an_address_that_publishes_nothing_is_left_out(answer: Answer) -> None:
    async with model_server(answer) as api:
        assert await names(directory(api.url)) == ["pat", "echo"]


async def test_an_address_of_this_machine_is_not_asked_unless_it_is_allowed() -> None:
    async with model_server(publishing(manifest("kaja", "", "books"))) as api:
        assert await names(directory(api.url, private=False)) == ["pat", "echo"]

    assert api.raw == []


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("find_agent", {"task": "a rocket"}, "Nobody was found"),
        ("find_agent", {}, "`task` is a text"),
        ("find_agent", {"task": 7}, "`task` is a text"),
        ("describe_agent", {"agent": "nobody"}, "There is no agent 'nobody'"),
        ("describe_agent", {}, "There is no agent None"),
    ],
)
async def test_calls_that_find_nothing_say_so(
    name: str, arguments: dict[str, Any], words: str
) -> None:
    text, _ = await called(directory(), name, **arguments)

    assert words in text


async def test_an_agent_that_may_look_for_others_has_the_tools_beside_those_of_servers() -> None:
    box = McpToolbox(
        {}, lambda *_: pytest.fail("no server"), {AGENT_TOOLS: AgentTools(directory())}
    )

    tools = await box.tools([AGENT_TOOLS, "unknown"])
    result = await box.call(
        tools[1], ToolCallPart(id="1", name=tools[1].name, arguments={"agent": "pat"})
    )
    await box.close()

    assert [tool.own_name for tool in tools] == ["find_agent", "describe_agent", "ask_agent"]
    assert "Sells flowers" in str(result.content)


def test_the_tools_need_no_server_in_the_configuration() -> None:
    base = {
        "accounts": {"tin": {"platform": "irc", "host": "h", "nick": "n"}},
        "rooms": {"r": {"members": [{"account": "tin", "channel": "#x"}]}},
    }

    settings = settings_of({**base, "agents": {"a": {"kind": "echo", "tools": ["agents"]}}})
    with pytest.raises(ConfigError, match="there is no tool server 'agent'"):
        settings_of({**base, "agents": {"a": {"kind": "echo", "tools": ["agent"]}}})

    assert settings.agents["a"].tools == ("agents",)


class Ranks:
    """An agent that answers with scores, and keeps what it was asked."""

    name = "ranker"

    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.asked: list[str] = []

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent]:
        del inputs
        self.asked.append(str(turn.conversation.messages[-1].content))
        if not self.answer:
            yield TurnFailed(reason="it is away")
        yield TextDelta(text=self.answer)
        yield TurnDone()


async def found_by(answer: str, task: str) -> tuple[list[tuple[str, float | None]], Ranks]:
    ranker = Ranks(answer)
    ranking = ModelRanking({"ranker": ranker}, lambda: "ranker", ManualClock())
    known = Directory(lambda: HOME, DirectorySettings, ManualClock(), ranking)
    found = await known.find(task, 5)
    return [(one.identification.conversational_name, one.score) for one in found], ranker


async def test_a_model_ranks_agents_that_share_no_word_with_the_task() -> None:
    found, ranker = await found_by('Sure: {"1": 90, "2": 0, "7": 50, "x": 1}', "roses for mother")

    assert found == [("pat", 0.9)]
    assert "Sells flowers" in ranker.asked[0]
    assert "roses for mother" in ranker.asked[0]


@pytest.mark.parametrize("answer", ["", "I cannot say", "{broken}", "[1]"])
async def test_words_rank_where_the_model_gives_no_scores(answer: str) -> None:
    found, _ = await found_by(answer, "a bouquet")

    assert [name for name, _ in found] == ["pat"]
