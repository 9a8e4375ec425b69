"""The SDK's own A2A server on loopback, with an agent that does what it is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator, Iterable
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from a2a.helpers.proto_helpers import new_task_from_user_message
from a2a.server.agent_execution.agent_executor import AgentExecutor
from a2a.server.agent_execution.context import RequestContext
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes.agent_card_routes import create_agent_card_routes
from a2a.server.routes.jsonrpc_routes import create_jsonrpc_routes
from a2a.server.routes.rest_routes import create_rest_routes
from a2a.server.tasks.inmemory_task_store import InMemoryTaskStore
from a2a.server.tasks.task_updater import TaskUpdater
from a2a.types.a2a_pb2 import AgentCard, Message, Part, Role
from google.protobuf.json_format import MessageToDict, ParseDict
from starlette.applications import Starlette


def text(words: str) -> Part:
    return Part(text=words)


def part(**fields: Any) -> Part:
    return ParseDict(fields, Part())


@dataclass
class EchoingExecutor(AgentExecutor):
    """What the agent does stands at the end of what it is told: `echo`, `draw` ..."""

    received_messages: list[Any] = field(default_factory=list[Any])
    cancelled: list[str] = field(default_factory=list[str])

    async def execute(self, context: RequestContext, event_queue: Any) -> None:
        self.received_messages.append(MessageToDict(context.message))  # pyright: ignore[reportArgumentType]
        words = context.get_user_input()
        if words.endswith("short"):
            message = Message(message_id="m1", role=Role.ROLE_AGENT, parts=[text("Short.")])
            await event_queue.enqueue_event(message)
            return
        assert context.message is not None
        goes_on = context.current_task is not None
        task = context.current_task or new_task_from_user_message(context.message)
        if not goes_on:
            await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        await self._do(words, updater, goes_on=goes_on)

    async def _do(self, words: str, updater: TaskUpdater, *, goes_on: bool) -> None:
        def say(words: str) -> Message:
            return updater.new_agent_message([text(words)])

        await updater.start_work()
        match "done" if goes_on else words.rpartition("\n")[2].rpartition(" ")[2]:
            case "echo":
                for number, word in enumerate(words.split(" ")):
                    one = [text(word if number == 0 else f" {word}")]
                    await updater.add_artifact(one, artifact_id="a", append=number > 0)
                await updater.complete()
            case "draw":
                await updater.start_work(say("I look."))
                picture = part(raw="iVBORw0KGgo=", mediaType="image/png", filename="sky.png")
                await updater.add_artifact([text("The sky:"), picture], name="Sky")
                data = part(data={"n": 1, "f": 1.5})
                card = part(data={"nodes": []}, mediaType="application/vnd.uacs.card+json")
                await updater.add_artifact([data, card])
                await updater.complete(say("Done."))
            case "ask":
                await updater.requires_input(say("From where?"))
            case "signin":
                await updater.requires_auth(say("Open https://x.example/login"))
            case "fail":
                await updater.failed(say("the key is sk-secret1234567890"))
            case "reject":
                await updater.reject(say("I do not do that."))
            case "raise":
                raise RuntimeError("sk-secret1234567890")
            case "hang":
                await updater.start_work(say("Well"))
                await asyncio.sleep(3600)
            case _:
                await updater.complete(say(f"You said: {words}"))

    async def cancel(self, context: RequestContext, event_queue: Any) -> None:
        task = context.current_task
        assert task is not None
        self.cancelled.append(task.id)
        await TaskUpdater(event_queue, task.id, task.context_id).cancel()


@asynccontextmanager
async def a2a_server(
    *, binding: str = "JSONRPC", version: str = "1.0", streaming: bool = True, url: str = "",
) -> AsyncGenerator[tuple[str, EchoingExecutor]]:  # fmt: skip
    """Its address, and what it was told. `url`: what its card names instead."""
    doer = EchoingExecutor()
    config = uvicorn.Config(Starlette(), port=0, log_config=None, log_level="warning",
                            lifespan="off", timeout_graceful_shutdown=1)  # fmt: skip
    server = uvicorn.Server(config)
    config.load()
    listening = config.bind_socket()
    port = listening.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    card = AgentCard(
        name="Doer", version="1", description="x", default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
    )  # fmt: skip
    card.capabilities.streaming = streaming
    card.skills.add(id="s", name="s", description="s", tags=["s"])
    one = card.supported_interfaces.add()
    one.url = url or (f"{address}/rpc" if binding == "JSONRPC" else address)
    one.protocol_binding, one.protocol_version = binding, version
    handler = DefaultRequestHandler(doer, InMemoryTaskStore(), card)
    old = version.startswith("0.3")
    routes = create_rest_routes(handler, enable_v0_3_compat=old)
    if binding == "JSONRPC":
        routes = create_jsonrpc_routes(handler, "/rpc", enable_v0_3_compat=old)
    config.loaded_app = Starlette(routes=[*create_agent_card_routes(card), *routes])
    with _kept_tasks() as tasks:
        serving = asyncio.create_task(server.serve([listening]))
        try:
            yield address, doer
        finally:
            server.should_exit = True
            server.force_exit = True
            await serving
            listening.close()
            await _end(tasks)


@contextmanager
def _kept_tasks() -> Generator[set[asyncio.Task[Any]]]:
    """Keep the tasks that begin within the block: the SDK drops workers that still wait, and what
    collects them complains."""
    loop, kept = asyncio.get_running_loop(), set[asyncio.Task[Any]]()
    former = loop.get_task_factory()

    def begin(loop: asyncio.AbstractEventLoop, work: Any, **more: Any) -> asyncio.Task[Any]:
        task = asyncio.Task(work, loop=loop, **more)
        kept.add(task)
        return task

    loop.set_task_factory(begin)
    try:
        yield kept
    finally:
        loop.set_task_factory(former)


async def _end(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """End the workers that the SDK left."""
    left = [task for task in tasks if not task.done() and _is_of_the_sdk(task)]
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)


def _is_of_the_sdk(task: asyncio.Task[Any]) -> bool:
    name = getattr(task.get_coro(), "__qualname__", "")
    return name.startswith(("ActiveTask.", "EventQueue"))
