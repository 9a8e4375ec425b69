"""Programs run rooms, and agents in them, over ACP: with the published SDK's client, which runs in
an environment of its own."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest
import pytest_asyncio

from tests.app.api.served import ROOM, client
from tests.app.serving_agents import NAMES, Served, serving
from tests.waiting import LONGEST_WAIT

pytestmark = pytest.mark.asyncio(loop_scope="module")

PROGRAM = r"""
import asyncio, json, sys, uuid
import httpx
from acp_sdk.client import Client
from acp_sdk.models import ACPError, Message, MessageAwaitResume, MessagePart, Session

url, token, act = sys.argv[1:4]
headers = {"Authorization": f"Bearer {token}"}

def said(words):
    return Message(parts=[MessagePart(content=words)])

async def agents(client):
    await client.ping()
    return [[agent.name, agent.description] async for agent in client.agents()]

async def sync(client):
    return (await client.run_sync([said("Polly?")], agent="parrot")).model_dump(mode="json")

async def room(client):
    return (await client.run_sync([said("Hear ye")], agent="general")).model_dump(mode="json")

async def stream(client):
    events = [event async for event in client.run_stream([said("One two three")], agent="parrot")]
    return [event.model_dump(mode="json") for event in events]

async def later(client):
    run = await client.run_async([said("Later 456")], agent="held")
    at_once = await client.run_status(run_id=run.run_id)
    print(json.dumps("begun"), flush=True)
    sys.stdin.readline()
    while not (run := await client.run_status(run_id=run.run_id)).status.is_terminal:
        await asyncio.sleep(0.05)
    events = [event.type async for event in client.run_events(run_id=run.run_id)]
    return [at_once.status, run.model_dump(mode="json"), events]

async def cancel(client):
    run = await client.run_async([said("Stop 456")], agent="held")
    await client.run_cancel(run_id=run.run_id)
    run = await client.run_status(run_id=run.run_id)
    try:
        await client.run_cancel(run_id=run.run_id)
    except ACPError as error:
        return [run.status, str(error)]

async def asks(client):
    run = await client.run_sync([said("Remove Monday")], agent="asking")
    resume = MessageAwaitResume(message=said("allow"))
    over = await client.run_resume_sync(resume, run_id=run.run_id)
    return [run.model_dump(mode="json"), over.model_dump(mode="json")]

async def session(client):
    own = Session(id=uuid.UUID(int=77))
    async with client.session(own) as within:
        first = await within.run_sync([said("Root of it")], agent="parrot")
        second = await within.run_sync([said("Further on")], agent="parrot")
        return [str(first.session_id), str(second.session_id), str(own.id)]

async def picture(client):
    part = MessagePart(content_type="image/png", content_encoding="base64", name="/sky.png",
                       content="iVBORw0KGgoAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
    run = await client.run_sync([Message(parts=[part])], agent="painting")
    return run.model_dump(mode="json")

async def fails(client):
    return (await client.run_sync([said("Can you?")], agent="failing")).model_dump(mode="json")

async def nobody(client):
    try:
        await client.run_sync([said("Hello?")], agent="nobody")
    except ACPError as error:
        return [error.error.code, str(error)]

async def main():
    async with Client(base_url=url, headers=headers, timeout=60) as client:
        print(json.dumps(await globals()[act](client)), flush=True)

asyncio.run(main())
"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def served(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    async with serving(tmp_path_factory.mktemp("acp")) as served:
        yield served


@pytest.fixture(scope="module")
def python() -> str:
    found = os.environ.get("UACS_ACP_PYTHON", "")
    if not found:
        pytest.skip("UACS_ACP_PYTHON names no Python with acp-sdk; .ci/run makes one")
    return found


async def done(served: Served, python: str, act: str, token: str, *, go: bool = False) -> Any:
    """What the SDK's client gets; `go`: it stops on its way, and the agent is let go on."""
    url = f"{served.url}/acp/{ROOM}"
    process = await asyncio.create_subprocess_exec(
        python, "-c", PROGRAM, url, token, act,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin
    assert process.stdout
    async with asyncio.timeout(LONGEST_WAIT):
        if go:
            assert await process.stdout.readline() == b'"begun"\n'
            served.held.free.set()
        out, errors = await process.communicate(b"\n")
    assert process.returncode == 0, errors.decode()
    return orjson.loads(out)


def texts(run: Any) -> list[str]:
    return ["".join(part["content"] or "" for part in one["parts"]) for one in run["output"]]


async def test_the_room_and_its_agents_are_agents(served: Served, python: str) -> None:
    found = await done(served, python, "agents", await served.token("reader"))

    assert [name for name, _ in found] == [*NAMES, ROOM]
    assert found[0] == ["parrot", "Repeats what one says"]


async def test_a_run_has_the_answer_of_the_agent_that_was_named(
    served: Served, python: str
) -> None:
    run = await done(served, python, "sync", await served.token("sync"))
    room = await done(served, python, "room", await served.token("room"))

    assert (run["status"], run["agent_name"]) == ("completed", "parrot")
    assert "Polly?" in texts(run)[0]
    assert run["output"][0]["role"] == "agent/parrot"
    assert (room["status"], room["output"]) == ("completed", [])


async def test_a_stream_has_every_part_once_and_ends(served: Served, python: str) -> None:
    events = await done(served, python, "stream", await served.token("stream"))
    kinds = [event["type"] for event in events]
    parts = "".join(event["part"]["content"] for event in events if event["type"] == "message.part")

    assert kinds[:2] == ["run.created", "run.in-progress"]
    assert kinds[-2:] == ["message.completed", "run.completed"]
    assert parts == "".join(part["content"] for part in events[-2]["message"]["parts"])
    assert "One two three" in parts


async def test_a_run_goes_on_without_its_caller(served: Served, python: str) -> None:
    served.held.free.clear()
    at_once, run, events = await done(served, python, "later", await served.token("later"), go=True)

    assert (at_once, run["status"]) == ("in-progress", "completed")
    assert texts(run) == ["I begin and end 456"]
    assert events[-1] == "run.completed"


async def test_a_run_is_cancelled_once(served: Served, python: str) -> None:
    served.held.free.clear()
    status, again = await done(served, python, "cancel", await served.token("cancel"))

    assert status == "cancelled"
    assert "is cancelled" in again


async def test_a_run_awaits_leave_and_is_resumed(served: Served, python: str) -> None:
    asked, over = await done(served, python, "asks", await served.token("asks"))

    assert asked["status"] == "awaiting"
    assert "leave to call remove" in asked["await_request"]["message"]["parts"][0]["content"]
    assert (over["status"], texts(over)) == ("completed", ["Removed."])


async def test_runs_of_one_session_stand_in_one_thread(served: Served, python: str) -> None:
    ids = await done(served, python, "session", await served.token("session"))

    assert len(set(ids)) == 1


async def test_a_picture_comes_back(served: Served, python: str) -> None:
    run = await done(served, python, "picture", await served.token("picture"))
    (part,) = run["output"][0]["parts"]

    assert (part["content_type"], part["content"][:11]) == ("image/png", "iVBORw0KGgo")


async def test_failures_and_unknown_agents_are_errors_that_say_what_to_do(
    served: Served, python: str
) -> None:
    run = await done(served, python, "fails", await served.token("fails"))
    code, message = await done(served, python, "nobody", await served.token("nobody"))

    assert run["status"] == "failed"
    assert run["error"]["message"] == "failing could not answer"
    assert code == "not_found"
    assert "there are: parrot, held" in message


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/runs", b"{", 400),
        ("/runs", b"[]", 400),
        ("/runs", b'{"agent_name":"parrot","input":[]}', 422),
        ("/runs", b'{"agent_name":"parrot","input":[{"parts":7}]}', 422),
        ("/runs", b'{"agent_name":"parrot","mode":"never","input":[{"parts":[]}]}', 422),
        ("/runs", b'{"agent_name":"parrot","session_id":"x","input":[]}', 422),
        ("/runs/no-uuid", b'{"await_resume":{}}', 422),
        ("/runs/018f0000-0000-7000-8000-000000000000", b"{}", 404),
        ("/runs/018f0000-0000-7000-8000-000000000000/cancel", b"", 404),
    ],
)
async def test_what_is_no_request_gets_an_error(
    served: Served, path: str, body: bytes, status: int
) -> None:
    async with client(served.url, await served.token("babbler")) as http:
        answer = await http.post(f"/acp/{ROOM}{path}", content=body)

    assert answer.status_code == status
    assert answer.json()["message"]


async def test_a_run_is_its_callers_alone(served: Served) -> None:
    body = {"agent_name": "parrot", "input": [{"role": "user", "parts": [{"content": "Mine"}]}]}
    async with client(served.url, await served.token("owner")) as http:
        run = (await http.post(f"/acp/{ROOM}/runs", json=body)).json()
    async with client(served.url, await served.token("thief")) as http:
        stolen = await http.get(f"/acp/{ROOM}/runs/{run['run_id']}")
    elsewhere = await served.token("elsewhere", rooms=("random",))
    async with client(served.url, elsewhere) as http:
        hidden = await http.get(f"/acp/{ROOM}/agents")

    assert run["status"] == "completed"
    assert (stolen.status_code, hidden.status_code) == (404, 404)
