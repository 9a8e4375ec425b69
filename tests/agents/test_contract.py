"""Every agent of ours keeps the contract."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from typing import Any

import pytest

from bridge.agents.a2a.agent import agent_type as a2a
from bridge.agents.acp.agent import AcpAgent
from bridge.agents.acp.settings import AcpSettings
from bridge.agents.echo import EchoAgent, EchoSettings
from bridge.agents.openfloor.agent import OpenFloorAgent
from bridge.agents.openfloor.settings import OpenFloorSettings
from bridge.agents.webhook.agent import WebhookAgent
from bridge.agents.webhook.settings import WebhookSettings
from bridge.ports.agent import Agent
from bridge.runtime.clock import SystemClock
from bridge.testing.agent_contract import AgentContract, AgentRig, Behaviour
from tests.agents.model_server import Answer, ModelServer, model_server, sse
from tests.agents.talking import build, tools
from tests.agents.vendors import KEY, VENDORS, Vendor


class _EchoRig:
    name = "bot"
    secret = ""

    async def agent(self, behaviour: Behaviour) -> Agent | None:
        return (
            EchoAgent("bot", EchoSettings(pace=0), SystemClock()) if behaviour == "says" else None
        )

    def received(self) -> str:
        return ""


class TestEcho(AgentContract):
    @pytest.fixture
    def rig(self) -> AgentRig:
        return _EchoRig()


class ServedRig:
    """An agent before servers of ours, which note what they are told."""

    name = "bot"
    secret = KEY

    def __init__(self, stack: AsyncExitStack) -> None:
        self._stack = stack
        self._servers: list[ModelServer] = []

    async def _server(self, *answers: Answer) -> ModelServer:
        server = await self._stack.enter_async_context(model_server(*answers))
        self._servers.append(server)
        return server

    def received(self) -> Sequence[str]:
        return [str(request) for server in self._servers for request in server.received_requests]


class VendorRig(ServedRig):
    """A vendor's agent before our own local API."""

    def __init__(self, vendor: Vendor, stack: AsyncExitStack) -> None:
        super().__init__(stack)
        self._vendor = vendor

    async def agent(self, behaviour: Behaviour) -> Agent | None:
        server = await self._server(self._answer(behaviour))
        return build(self._vendor, server.url, tools(), **self._vendor.options)

    def _answer(self, behaviour: Behaviour) -> Answer:
        whole = sse(*self._vendor.says("Here is a long answer."))
        match behaviour:
            case "says":
                return Answer(whole)
            case "hangs":
                return Answer(whole[:5], then="hang")
            case "fails":
                return self._vendor.refusal(401, "authentication_error")
            case "breaks":
                return Answer([b"data: {broken " + KEY.encode() + b"\n\n"])


class WebhookRig(ServedRig):
    """A webhook that signs, before a program of ours that signs, too."""

    secret = ""  # it goes nowhere: it signs

    async def agent(self, behaviour: Behaviour) -> Agent | None:
        words = sse(
            *({"text": one} for one in ("Here is ", "a long answer.")), {"type": "turn_done"}
        )
        answer = {
            "says": Answer(words),
            "hangs": Answer(words[:1], then="hang"),
            "fails": Answer([b'{"error": "who are you?"}'], 401, "application/json"),
            "breaks": Answer([b"data: {broken\n\n"]),
        }[behaviour]
        server = await self._server(answer)
        options = {"url": server.url, "private_addresses": True}
        settings = WebhookSettings.model_validate(options)
        return WebhookAgent("bot", settings, tools())


class TestWebhook(AgentContract):
    @pytest.fixture
    def rig(self, stack: AsyncExitStack) -> AgentRig:
        return WebhookRig(stack)


class OpenFloorRig(ServedRig):
    """An agent that speaks Open Floor, on a server of ours."""

    async def agent(self, behaviour: Behaviour) -> Agent | None:
        said = {
            "speakerUri": "tag:x",
            "features": {"text": {"mimeType": "text/plain", "tokens": [{"value": "An answer."}]}},
        }
        inner = {
            "conversation": {"id": "0b0f5c9e-8f5e-5c6e-9d0e-2f6f3f1f7a11"},
            "sender": {"speakerUri": "tag:x"},
            "events": [{"eventType": "utterance", "parameters": {"dialogEvent": said}}],
        }
        whole = json.dumps({"openFloor": inner}).encode()
        answer = {
            "says": Answer([whole], 200, "application/json"),
            "hangs": Answer([whole[:20]], 200, "application/json", then="hang"),
            "fails": Answer([b'{"detail": "wrong key ' + KEY.encode() + b'"}'], 401),
            "breaks": Answer([b"{broken " + KEY.encode()], 200, "application/json"),
        }[behaviour]
        server = await self._server(answer)
        options = {"url": server.url, "private_addresses": True, "api_key": {"env": "KEY"}}
        return OpenFloorAgent("bot", OpenFloorSettings.model_validate(options), tools())


class TestOpenFloor(AgentContract):
    @pytest.fixture
    def rig(self, stack: AsyncExitStack) -> AgentRig:
        return OpenFloorRig(stack)


class AcpRig(ServedRig):
    """An agent on a server of ours that speaks ACP."""

    async def agent(self, behaviour: Behaviour) -> Agent | None:
        run: Any = {"run_id": "r1", "session_id": "s1", "output": []}
        words = sse(
            {"type": "run.created", "run": {**run, "status": "in-progress"}},
            {"type": "message.part", "part": {"content": "Here is "}},
            {"type": "run.completed", "run": {**run, "status": "completed"}},
        )
        failed = {**run, "status": "failed", "error": {"code": "server_error", "message": KEY}}
        answer = {
            "says": Answer(words),
            "hangs": Answer(words[:2], then="hang"),
            "fails": Answer(sse({"type": "run.failed", "run": failed})),
            "breaks": Answer([b"data: {broken " + KEY.encode() + b"\n\n"]),
        }[behaviour]
        cancelled = [Answer([b"{}"], 200, "application/json")] if behaviour == "hangs" else []
        server = await self._server(answer, *cancelled)
        options = {"base_url": server.url, "agent_name": "echo", "api_key": {"env": "KEY"}}
        return AcpAgent("bot", AcpSettings.model_validate(options), tools())


class TestAcp(AgentContract):
    @pytest.fixture
    def rig(self, stack: AsyncExitStack) -> AgentRig:
        return AcpRig(stack)


class A2aRig(ServedRig):
    """An agent that speaks A2A, on a server of ours."""

    async def agent(self, behaviour: Behaviour) -> Agent | None:
        server = await self._server(Answer(()))
        way = {"url": server.url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
        streams = {"streaming": True}
        card = {"name": "x", "capabilities": streams, "supportedInterfaces": [way]}
        card_answer = Answer([json.dumps(card).encode()], 200, "application/json")
        server.answers = [card_answer, self._answer(behaviour)] * 2
        options = {"base_url": server.url, "api_key": {"env": "KEY"}}
        return a2a.build("bot", a2a.settings.model_validate(options), tools())

    def _answer(self, behaviour: Behaviour) -> Answer:
        words = {"role": "ROLE_AGENT", "messageId": "m", "parts": [{"text": "Here is"}]}
        status = {"state": "TASK_STATE_WORKING", "message": words}
        task = {"task": {"id": "t", "contextId": "c", "status": status}}
        done = {"statusUpdate": {"taskId": "t", "status": {"state": "TASK_STATE_COMPLETED"}}}
        responses = [{"jsonrpc": "2.0", "id": "1", "result": one} for one in (task, done)]
        match behaviour:
            case "says":
                return Answer(sse(*responses))
            case "hangs":
                return Answer(sse(responses[0]), then="hang")
            case "fails":
                error = {"code": -32603, "message": KEY}
                return Answer(sse({"jsonrpc": "2.0", "id": "1", "error": error}))
            case "breaks":
                return Answer([b"data: {broken " + KEY.encode() + b"\n\n"])


class TestA2a(AgentContract):
    @pytest.fixture
    def rig(self, stack: AsyncExitStack) -> AgentRig:
        pytest.importorskip("a2a")
        return A2aRig(stack)


@pytest.fixture
async def stack() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as exit_stack:
        yield exit_stack


class TestVendors(AgentContract):
    @pytest.fixture(params=VENDORS)
    def rig(self, request: pytest.FixtureRequest, stack: AsyncExitStack) -> AgentRig:
        vendor: Any = VENDORS[request.param]
        return VendorRig(vendor, stack)
