"""Answers that take long are posted to the address of a peer, if its host is allowed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from bridge.app.openfloor.pushes import Late, Pushes, PushTarget
from bridge.errors import Unavailable
from bridge.store import SqliteStore
from bridge.testing.clock import ManualClock
from tests.agents.model_server import Answer, ModelServer, model_server
from tests.agents.vendors import JSON
from tests.app.api.served import ROOM
from tests.app.openfloor.test_asides import Slow, WithAgents, aside, to
from tests.app.openfloor.test_serving import envelope, post, saying, texts
from tests.e2e.local_sandbox import configuration, local_sandbox, running
from tests.waiting import LONGEST_WAIT

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def served(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[WithAgents]:
    path: Path = tmp_path_factory.mktemp("pushes") / "b.sqlite3"
    async with local_sandbox(names=("slack",)) as local:
        settings = configuration(local, path)
        settings["web"] = {**settings.get("web", {}), "public_url": "https://chat.example.org"}
        settings["openfloor"] = {
            "answer_seconds": 0.05, "push": ["127.0.0.1"], "private_addresses": True,
        }  # fmt: skip
        settings["agents"]["slow"] = {"kind": "echo"}
        settings["rooms"][ROOM]["agents"] = [{"agent": "slow"}]
        async with running(local, settings) as (bridge, url):
            agents: Any = bridge.agents
            agents["slow"] = Slow()
            yield WithAgents(local, bridge, url, agents)


def from_address(body: Any, url: str) -> Any:
    """The envelope of a peer at this address."""
    body["openFloor"]["sender"]["serviceUrl"] = f"{url}/of"
    return body


async def until_posted(api: ModelServer, count: int) -> list[Any]:
    async with asyncio.timeout(LONGEST_WAIT):
        while len(api.requests) < count:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    return [request["openFloor"] for request in api.requests]


@pytest.mark.parametrize("private", [False, True])
async def test_a_late_answer_is_posted_once(served: WithAgents, private: bool) -> None:
    token = await served.token(f"elsewhere-{int(private)}", role="human")
    slow = served.bridge.agents["slow"] = Slow()  # type: ignore[assignment]
    question = aside("well?", "slow", "p1") if private else saying("well?", "p1", to=to("slow"))
    async with model_server(Answer([b"{}"], 200, JSON)) as api:
        body = from_address(envelope(question, talk=f"push-{private}"), api.url)
        first = await post(served, token, body)
        slow.free.set()
        (pushed,) = await until_posted(api, 1)
        await asyncio.sleep(0.1)  # for what is posted too often
        later = await post(served, token, envelope(talk=f"push-{private}"))
        times = len(api.requests)

    assert first["events"] == []
    assert [text for text in texts(pushed) if "well?" not in text] == ["at last"]
    assert pushed["conversation"] == {"id": f"push-{private}"}
    assert [event.get("to", {}).get("private", False) for event in pushed["events"]] == [private]
    assert texts(later) == []
    assert times == 1


async def test_an_address_that_is_not_allowed_gets_nothing(served: WithAgents) -> None:
    token = await served.token("stranger", role="human")
    slow = served.bridge.agents["slow"] = Slow()  # type: ignore[assignment]
    served.change(push=("*.example.org",))
    try:
        async with model_server(Answer([b"{}"], 200, JSON)) as api:
            asked = envelope(saying("well?", "p1", to=to("slow")), talk="stranger")
            first = await post(served, token, from_address(asked, api.url))
            slow.free.set()
            await served.bridge.router.settled()
            second = await post(served, token, envelope(talk="stranger"))
            posted = len(api.requests)
    finally:
        served.change(push=("127.0.0.1",))

    assert texts(first) == ["One moment please."]
    assert "at last" in texts(second)
    assert posted == 0


TARGET = PushTarget("peer", "general", "c1", "m1", "", "openFloor", "1.1.0", "tag:peer")


async def test_what_waits_is_sent_after_a_restart_and_tried_again() -> None:
    clock = ManualClock()
    store = SqliteStore.in_memory(clock)
    delivered: list[str] = []

    async def never(_: PushTarget) -> Late | None:
        await asyncio.Event().wait()
        return None

    async def now(target: PushTarget) -> Late | None:
        async def deliver() -> None:
            delivered.append(target.talk)

        return Late({"openFloor": {}}, deliver)

    async with model_server(Answer([b"no"], 503, JSON), Answer([b"{}"], 200, JSON)) as api:
        before = Pushes(store, clock, never, lambda: True)
        await before.put(PushTarget(**{**TARGET.__dict__, "url": f"{api.url}/of"}))
        await before.close()
        after = Pushes(store, clock, now, lambda: True)
        await after.start()
        async with asyncio.timeout(LONGEST_WAIT):
            while not delivered:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        await after.close()
        again = Pushes(store, clock, now, lambda: True)
        await again.start()
        await again.close()

    assert delivered == ["c1"]
    assert len(api.requests) == 2


async def test_what_cannot_be_sent_is_left_for_the_next_envelope() -> None:
    clock = ManualClock()
    store = SqliteStore.in_memory(clock)

    tried: list[str] = []
    ended = asyncio.Event()

    async def fails(target: PushTarget) -> Late | None:
        tried.append(target.talk)
        ended.set()
        raise Unavailable("the room is away")

    for _ in range(2):
        pushes = Pushes(store, clock, fails, lambda: True)
        await pushes.start()
        if not tried:
            await pushes.put(TARGET)
        await ended.wait()
        await asyncio.sleep(0.05)  # for what is still noted
        await pushes.close()

    assert tried == ["c1"]
