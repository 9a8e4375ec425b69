"""The SDK's own ACP server, in an environment of its own: `UACS_ACP_PYTHON` is its interpreter."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tests.agents.peers import peer_server

PROGRAM = r"""
import asyncio, sys
from collections.abc import AsyncGenerator
from acp_sdk.models import CitationMetadata, Error, ErrorCode, Message, MessageAwaitRequest
from acp_sdk.models import MessagePart, TrajectoryMetadata
from acp_sdk.server import Context, Server

server = Server()

def words(messages):
    return "\n".join(f"{m.role}: {m}" for m in messages)

@server.agent()
async def echo(input: list[Message], context: Context) -> AsyncGenerator:
    "Says what it was told, word by word."
    for word in str(input[-1]).split(" "):
        yield MessagePart(content=word + " ")

@server.agent()
async def all_of_it(input: list[Message], context: Context) -> AsyncGenerator:
    "Says the whole session."
    history = [m async for m in context.session.load_history()]
    yield "history:\n" + words(history) + "\ninput:\n" + words(input)

@server.agent()
async def asks(input: list[Message], context: Context) -> AsyncGenerator:
    "Asks before it goes on."
    yield "I can delete it."
    given = yield MessageAwaitRequest(message=Message(parts=[MessagePart(content="Really?")]))
    yield Message(parts=[MessagePart(content="You said: " + str(given.message))])

@server.agent()
async def draws(input: list[Message], context: Context) -> AsyncGenerator:
    "Answers with everything."
    yield MessagePart(content=None, metadata=TrajectoryMetadata(message="Let me see."))
    yield MessagePart(content=None, metadata=TrajectoryMetadata(
        tool_name="look", tool_input={"at": "sky"}, tool_output={"colour": "blue"}))
    yield MessagePart(content="It is blue.", metadata=CitationMetadata(
        url="https://x.example/sky", title="Sky"))
    yield MessagePart(name="/pictures/sky.png", content_type="image/png", content="iVBORw0KGgo=",
                      content_encoding="base64")
    yield MessagePart(content_type="application/json", content='{"n": 1}')
    yield {"thought": "not for people"}

@server.agent()
async def fails(input: list[Message], context: Context) -> AsyncGenerator:
    "Breaks down."
    yield "Well"
    raise RuntimeError("the key is sk-secret1234567890")

@server.agent()
async def hangs(input: list[Message], context: Context) -> AsyncGenerator:
    "Never comes to an end."
    yield "Well"
    try:
        await asyncio.sleep(3600)
    finally:
        print("cancelled", flush=True)

server.run(port=int(sys.argv[1]), self_registration=False, log_level="warning",
           access_log=False, configure_logger=False, configure_telemetry=False)
"""


@contextmanager
def acp_server(folder: Path) -> Generator[str]:
    """Its address. Skips without the environment."""
    with peer_server("UACS_ACP_PYTHON", "acp-sdk", PROGRAM, folder) as url:
        yield url
