"""Agents elsewhere ask rooms, and agents in them, over A2A: with the published SDK's client, over
both bindings."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import orjson
import pytest
import pytest_asyncio
from a2a.client import ClientConfig, ClientFactory
from a2a.client.card_resolver import A2ACardResolver
from a2a.client.client import Client
from a2a.types.a2a_pb2 import (
    CancelTaskRequest,
    GetTaskRequest,
    ListTasksRequest,
    Message,
    Part,
    Role,
    SendMessageConfiguration,
    SendMessageRequest,
    StreamResponse,
    SubscribeToTaskRequest,
    TaskPushNotificationConfig,
    TaskState,
)
from a2a.utils.errors import A2AError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bridge.app.a2a.pushes import PushTarget
from bridge.app.web.server import WebServer
from bridge.model import MessageId
from tests.app.api.served import ROOM, client
from tests.app.serving_agents import NAMES, Served, serving
from tests.waiting import LONGEST_WAIT

pytestmark = pytest.mark.asyncio(loop_scope="module")
BINDINGS = ("JSONRPC", "HTTP+JSON")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def served(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    async with serving(tmp_path_factory.mktemp("a2a")) as served:
        yield served


@asynccontextmanager
async def peer_of(
    served: Served,
    token: str,
    agent: str = "parrot",
    binding: str = "JSONRPC",
    *,
    streaming: bool = True,
) -> AsyncGenerator[Client]:
    """The SDK's client, which reads the card first."""
    below = f"/agents/{agent}" if agent else ""
    async with client(served.url, token) as http:
        card = await A2ACardResolver(http, f"{served.url}/a2a/{ROOM}{below}").get_agent_card()
        config = ClientConfig(
            streaming=streaming, httpx_client=http, supported_protocol_bindings=[binding],
            use_client_preference=True,
        )  # fmt: skip
        yield ClientFactory(config).create(card)


def saying(words: str, *, own_id: str = "", **more: Any) -> SendMessageRequest:
    message = Message(
        message_id=own_id or words, role=Role.ROLE_USER, parts=[Part(text=words)], **more
    )
    return SendMessageRequest(message=message)


async def events(client: Client, request: SendMessageRequest) -> list[StreamResponse]:
    async with asyncio.timeout(LONGEST_WAIT):
        return [event async for event in client.send_message(request)]


def texts(artifacts: Any) -> list[str]:
    return ["".join(part.text for part in artifact.parts) for artifact in artifacts]


async def test_the_card_says_what_the_agent_does_and_where_it_is(served: Served) -> None:
    async with client(served.url, await served.token("reader")) as http:
        url = f"{served.url}/a2a/{ROOM}"
        card = await A2ACardResolver(http, f"{url}/agents/parrot").get_agent_card()
        room = await A2ACardResolver(http, url).get_agent_card()

    assert (card.name, card.description) == ("parrot", "Repeats what one says")
    assert card.capabilities.streaming
    assert card.capabilities.push_notifications
    assert {one.protocol_binding for one in card.supported_interfaces} == set(BINDINGS)
    assert [skill.name for skill in room.skills] == list(NAMES)


@pytest.mark.parametrize("binding", BINDINGS)
async def test_an_agent_answers_and_people_see_question_and_answer(
    served: Served, binding: str
) -> None:
    words = f"Polly {binding}?"
    async with peer_of(
        served, await served.token(f"asker-{binding[0].lower()}"), binding=binding, streaming=False
    ) as peer:
        (event,) = await events(peer, saying(words))

    assert event.task.status.state == TaskState.TASK_STATE_COMPLETED
    (answer,) = event.task.artifacts
    assert answer.name == "parrot"
    assert words in texts([answer])[0]
    for platform in ("slack", "discord"):
        await served.local.until(
            lambda platform=platform: (
                len([m for m in served.local.standing(platform, ROOM) if words in m.text]) == 2
            )
        )


@pytest.mark.parametrize("binding", BINDINGS)
async def test_an_answer_is_streamed_as_it_grows(served: Served, binding: str) -> None:
    served.held.free.clear()
    async with peer_of(
        served, await served.token(f"follower-{binding[0].lower()}"), "held", binding
    ) as peer:
        grown, last = "", None
        async with asyncio.timeout(LONGEST_WAIT):
            async for event in peer.send_message(saying(f"Go {binding} 123")):
                if event.HasField("task"):
                    grown += "".join(texts(event.task.artifacts))
                if event.HasField("artifact_update"):
                    update = event.artifact_update
                    assert update.append == bool(grown)
                    grown += texts([update.artifact])[0]
                if "begin" in grown:
                    served.held.free.set()
                last = event

    assert grown == "I begin and end 123"
    assert last is not None
    assert last.status_update.status.state == TaskState.TASK_STATE_COMPLETED


async def test_a_task_goes_on_without_its_caller_and_can_be_read_and_followed(
    served: Served,
) -> None:
    served.held.free.clear()
    token = await served.token("leaver")
    begun = await begin(served, token, "Later 456")
    async with peer_of(served, token, "held") as peer:
        at_once = await peer.get_task(GetTaskRequest(id=begun.task.id))
        seen: list[StreamResponse] = []
        async with asyncio.timeout(LONGEST_WAIT):
            async for event in peer.subscribe(SubscribeToTaskRequest(id=begun.task.id)):
                seen.append(event)
                served.held.free.set()
        over = await peer.get_task(GetTaskRequest(id=begun.task.id))
        listed = await peer.list_tasks(ListTasksRequest(context_id=begun.task.context_id))

    assert at_once.status.state == TaskState.TASK_STATE_WORKING
    assert seen[-1].status_update.status.state == TaskState.TASK_STATE_COMPLETED
    assert texts(over.artifacts) == ["I begin and end 456"]
    assert [message.role for message in over.history] == [Role.ROLE_USER, Role.ROLE_AGENT]
    assert [task.id for task in listed.tasks] == [begun.task.id]


async def begin(
    served: Served, token: str, words: str, config: TaskPushNotificationConfig | None = None
) -> StreamResponse:
    """Ask the agent that has to be let go on, and leave."""
    request = saying(words)
    request.configuration.CopyFrom(
        SendMessageConfiguration(return_immediately=True, task_push_notification_config=config)
    )
    async with peer_of(served, token, "held", streaming=False) as peer:
        (begun,) = await events(peer, request)
    return begun


async def test_the_same_message_again_is_asked_once(served: Served) -> None:
    async with peer_of(served, await served.token("again"), streaming=False) as peer:
        (first,) = await events(peer, saying("Once only", own_id="m-1"))
        (second,) = await events(peer, saying("Once only", own_id="m-1"))

    assert first.task.id == second.task.id
    question = MessageId(first.task.history[0].message_id)
    assert len(await served.bridge.store.turns_about(question)) == 1


async def test_tasks_of_one_context_stand_in_one_thread(served: Served) -> None:
    async with peer_of(served, await served.token("threads"), streaming=False) as peer:
        (first,) = await events(peer, saying("Root of it", context_id="trip-1"))
        (second,) = await events(peer, saying("Further on", context_id="trip-1"))

    root = first.task.history[0].message_id
    stored = await served.bridge.store.message(MessageId(second.task.history[0].message_id))
    assert first.task.context_id == second.task.context_id == "trip-1"
    assert stored is not None
    assert stored.root == root


async def test_a_cancelled_task_stops_its_agent(served: Served) -> None:
    served.held.free.clear()
    token = await served.token("stopper")
    begun = await begin(served, token, "Stop me")
    async with peer_of(served, token, "held") as peer:
        cancelled = await peer.cancel_task(CancelTaskRequest(id=begun.task.id))
        with pytest.raises(A2AError, match="cancelled"):
            await peer.cancel_task(CancelTaskRequest(id=begun.task.id))
    question = MessageId(cancelled.history[0].message_id)
    async with asyncio.timeout(LONGEST_WAIT):
        while any(turn.trigger == question for turn in await served.bridge.store.open_turns()):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    (turn,) = await served.bridge.store.turns_about(question)
    answer = await served.bridge.store.message(turn.answer_id)

    assert cancelled.status.state == TaskState.TASK_STATE_CANCELED
    assert answer is not None
    assert "and end" not in str(answer.message.content)


@pytest.mark.parametrize(("words", "outcome"), [("allow", "Removed."), ("no", "Left alone.")])
async def test_a_call_that_needs_leave_waits_for_the_program(
    served: Served, words: str, outcome: str
) -> None:
    async with peer_of(served, await served.token("boss"), "asking", streaming=False) as peer:
        (asked,) = await events(peer, saying(f"Remove Monday ({words})"))
        decided = saying(words, own_id=f"d-{words}", task_id=asked.task.id)
        (over,) = await events(peer, decided)

    assert asked.task.status.state == TaskState.TASK_STATE_INPUT_REQUIRED
    assert "leave to call remove" in asked.task.status.message.parts[0].text
    assert over.task.status.state == TaskState.TASK_STATE_COMPLETED
    assert texts(over.task.artifacts) == [outcome]


async def test_a_token_without_the_right_to_interact_decides_nothing(served: Served) -> None:
    token = await served.token("clerk", scopes=("read", "post"))
    async with peer_of(served, token, "asking", streaming=False) as peer:
        (asked,) = await events(peer, saying("Remove Tuesday"))
        with pytest.raises(A2AError, match="interact"):
            await events(peer, saying("allow", own_id="d-3", task_id=asked.task.id))
        await peer.cancel_task(CancelTaskRequest(id=asked.task.id))


async def test_an_agent_that_fails_ends_the_task_without_its_secrets(served: Served) -> None:
    async with peer_of(served, await served.token("unlucky"), "failing", streaming=False) as peer:
        (event,) = await events(peer, saying("Can you?"))

    assert event.task.status.state == TaskState.TASK_STATE_FAILED
    assert "failing could not answer" in event.task.status.message.parts[0].text
    assert "sk-secret" not in str(event)


async def test_a_program_that_the_agent_does_not_answer_is_told_what_to_do(served: Served) -> None:
    token = await served.token("robot", role="assistant")
    async with peer_of(served, token, streaming=False) as peer:
        (event,) = await events(peer, saying("Hello, colleague"))

    assert event.task.status.state == TaskState.TASK_STATE_FAILED
    assert "role `human`" in event.task.status.message.parts[0].text


async def test_a_room_as_a_whole_hears_the_message_and_nobody_has_to_answer(
    served: Served,
) -> None:
    async with peer_of(served, await served.token("crier"), agent="", streaming=False) as peer:
        (event,) = await events(peer, saying("Hear ye"))

    assert event.task.status.state == TaskState.TASK_STATE_COMPLETED
    assert not event.task.artifacts
    posts = await served.bridge.store.posts_of(MessageId(event.task.history[0].message_id))
    assert {post.channel.platform for post in posts} == {"slack", "discord"}


async def test_a_file_is_shown_and_comes_back(served: Served) -> None:
    request = saying("Look", own_id="f-1")
    picture = b"\x89PNG\r\n\x1a\n" + b"\0" * 64
    request.message.parts.append(Part(raw=picture, media_type="image/png", filename="sky.png"))
    async with peer_of(served, await served.token("painter"), "painting", streaming=False) as peer:
        (event,) = await events(peer, request)

    assert picture in [part.raw for part in event.task.artifacts[0].parts]


async def test_the_version_before_is_served_too(served: Served) -> None:
    token = await served.token("old")
    body = {
        "jsonrpc": "2.0", "id": 1, "method": "message/send",
        "params": {"message": {
            "kind": "message", "messageId": "old-1", "role": "user",
            "parts": [{"kind": "text", "text": "In the old way"}],
        }},
    }  # fmt: skip
    async with client(served.url, token) as http:
        answer = (await http.post(f"/a2a/{ROOM}/agents/parrot", json=body)).json()["result"]

    assert answer["kind"] == "task"
    assert answer["status"]["state"] == "completed"
    assert "In the old way" in answer["artifacts"][0]["parts"][0]["text"]


async def test_nobody_without_a_token_learns_of_rooms_agents_or_tasks(served: Served) -> None:
    async with peer_of(served, await served.token("owner"), streaming=False) as peer:
        (event,) = await events(peer, saying("Mine"))
    async with peer_of(served, await served.token("thief"), streaming=False) as peer:
        with pytest.raises(A2AError, match="no such task"):
            await peer.get_task(GetTaskRequest(id=event.task.id))
        with pytest.raises(A2AError, match="no such task"):
            await events(peer, saying("Go on", task_id=event.task.id))
    elsewhere = await served.token("elsewhere", rooms=("random",))
    async with client(served.url, elsewhere) as http:
        hidden = await http.get(f"/a2a/{ROOM}/.well-known/agent-card.json")
        nobody = await http.get(f"/a2a/{ROOM}/agents/nobody/.well-known/agent-card.json")
    async with httpx.AsyncClient(base_url=served.url) as http:
        bare = await http.get(f"/a2a/{ROOM}/.well-known/agent-card.json")

    assert (hidden.status_code, nobody.status_code, bare.status_code) == (404, 404, 401)


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b'{"jsonrpc":"2.0","id":1,"method":"Nothing"}', b"null", b"\xff" * 9]
)
async def test_what_is_no_request_gets_an_error_of_the_protocol(
    served: Served, body: bytes
) -> None:
    async with client(served.url, await served.token("babbler")) as http:
        answer = await http.post(f"/a2a/{ROOM}/agents/parrot", content=body)

    assert "error" in answer.json()


async def test_a_message_without_content_is_refused_with_the_reason(served: Served) -> None:
    async with peer_of(served, await served.token("silent"), streaming=False) as peer:
        with pytest.raises(A2AError, match="no content"):
            await events(
                peer, SendMessageRequest(message=Message(message_id="e", parts=[Part(text=" ")]))
            )


# --- notices ------------------------------------------------------------------------------------


@asynccontextmanager
async def listening() -> AsyncGenerator[tuple[str, list[tuple[dict[str, str], Any]]]]:
    """A program's address for notices, and what came there; the first one is refused."""
    came: list[tuple[dict[str, str], Any]] = []

    async def take(request: Request) -> Response:
        came.append((dict(request.headers), orjson.loads(await request.body())))
        return Response(status_code=503 if len(came) == 1 else 200)

    server = WebServer(Starlette(routes=[Route("/told", take, methods=["POST"])]), "127.0.0.1", 0)
    await server.start()
    try:
        yield f"{server.url}/told", came
    finally:
        await server.stop()


async def test_an_address_is_told_when_the_task_is_over_with_its_credentials(
    served: Served,
) -> None:
    served.held.free.clear()
    async with listening() as (url, came):
        config = TaskPushNotificationConfig(id="p1", url=url, token="t0ken")
        begun = await begin(served, await served.token("told"), "Tell me 789", config)
        targets = await served.bridge.store.value_keys("(a2a pushes)", "told:")  # type: ignore[arg-type]
        served.held.free.set()
        async with asyncio.timeout(LONGEST_WAIT):
            while len(came) < 2:  # noqa: ASYNC110 - a server's list
                await asyncio.sleep(0.02)
    headers, told = came[-1]

    assert headers["x-a2a-notification-token"] == "t0ken"
    assert told["task"]["id"] == begun.task.id
    assert told["task"]["status"]["state"] == "TASK_STATE_COMPLETED"
    assert targets == [f"told:{ROOM}:{begun.task.id}:p1"]


async def test_a_target_shows_no_credentials_in_its_key() -> None:
    target = PushTarget("p", "r", "a", "t", "i", "https://x.test", "tok", "Bearer", "secret")

    assert "secret" not in target.key
    assert target.headers == {
        "x-a2a-notification-token": "tok", "authorization": "Bearer secret",
    }  # fmt: skip
