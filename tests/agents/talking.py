"""An agent on its own: a room's conversation in, what it says out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from bridge.model import MessageId, RoomId, TurnId
from bridge.model.secret_refs import SecretRef
from bridge.model.turns import AgentEvent, AgentInput, TextDelta, Turn
from bridge.ports.files import Files
from bridge.runtime.clock import SystemClock
from bridge.uacs import Actor, ContentPart, Conversation, Message, TextPart
from tests.agents.vendors import KEY, Vendor

WHEN = "2026-11-21T12:00:00Z"


class QuickClock(SystemClock):
    """Real time, but for what it is advanced; and pauses that are noted and not made."""

    def __init__(self) -> None:
        self.pauses: list[float] = []
        self.ahead = 0.0

    def advance(self, seconds: float) -> None:
        self.ahead += seconds

    def time(self) -> float:
        return super().time() + self.ahead

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)


class OneSecret:
    async def secret(self, ref: SecretRef) -> str:
        del ref
        return KEY


class MemoryKeyValues:
    """Durable as long as the test."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}

    async def get(self, key: str) -> str | None:
        return self.values.get(key)

    async def put(self, key: str, value: str, *, sealed: bool = False) -> None:
        self.values[key] = value

    async def keys(self, prefix: str) -> list[str]:
        return sorted(key for key in self.values if key.startswith(prefix))

    async def remove(self, key: str) -> None:
        self.values.pop(key, None)


@dataclass
class Tools:
    clock: QuickClock
    secrets: OneSecret
    files: Files | None = None
    stored: MemoryKeyValues = field(default_factory=MemoryKeyValues)
    public_url: str = "https://chat.example.org"

    def key_values(self, agent: str) -> MemoryKeyValues:
        return self.stored


def tools(files: Files | None = None) -> Tools:
    return Tools(QuickClock(), OneSecret(), files)


def message_from(
    actor_id: str,
    text: str | Sequence[ContentPart],
    name: str = "",
    role: Any = "human",
    **more: Any,
) -> Message:
    content = (TextPart(text=text),) if isinstance(text, str) else tuple(text)
    actor = Actor(id=actor_id, role=role, name=name or None)
    return Message(
        message_id=f"m{abs(hash((actor_id, str(content))))}",
        timestamp=WHEN,
        actor=actor,
        content=content,
        **more,
    )


def room(*messages: Message, **metadata: Any) -> Conversation:
    return Conversation(
        conversation_id="0b0f5c9e-8f5e-5c6e-9d0e-2f6f3f1f7a11",
        created_at=WHEN,
        updated_at=WHEN,
        messages=messages,
        metadata=metadata or None,
    )


def turn(conversation: Conversation, agent: str = "bot") -> Turn:
    return Turn(
        id=TurnId("t1"),
        agent=agent,
        room=RoomId("r"),
        trigger=MessageId(conversation.messages[-1].message_id),
        asked_at=datetime(2026, 11, 21, tzinfo=UTC),
        conversation=conversation,
    )


HELLO = room(message_from("slack:T1:U1", "Hello?", "Alice Smith"))


async def nothing() -> AsyncIterator[AgentInput]:
    async for agent_input in _never():
        yield agent_input


async def _never() -> AsyncIterator[AgentInput]:
    await asyncio.Event().wait()
    for one in ():
        yield one


async def answer(
    vendor: Vendor,
    url: str,
    conversation: Conversation = HELLO,
    agent_tools: Tools | None = None,
    **settings: Any,
) -> list[AgentEvent]:
    """All that the agent says in one turn."""
    agent = build(vendor, url, agent_tools or tools(), **settings)
    return [event async for event in agent.run(turn(conversation), nothing())]


def build(vendor: Vendor, url: str, agent_tools: Tools, **settings: Any) -> Any:
    options = {"model": "m", "api_key": {"env": "KEY"}, "base_url": url, **settings}
    return vendor.type.build("bot", vendor.type.settings.model_validate(options), agent_tools)


def text_of(events: Sequence[AgentEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))
