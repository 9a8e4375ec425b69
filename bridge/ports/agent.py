"""What every agent API must fill: a turn in, agent events out."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import Any, Protocol, runtime_checkable

from pydantic import BaseModel

from bridge.model.turns import AgentEvent, AgentInput, Feedback, Turn
from bridge.ports.clock import Clock
from bridge.ports.files import Files
from bridge.ports.findings import Finding
from bridge.ports.key_values import KeyValues
from bridge.ports.secrets import SecretSource


class Agent(Protocol):
    """One agent with a name of its own."""

    name: str

    def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent, None]:
        """Answer one turn. The stream ends with TurnDone or TurnFailed; closing it stops the work.

        The caller sets the deadlines; whatever else is raised counts as failed.
        """
        ...


@runtime_checkable
class TakesFeedback(Protocol):
    """An agent whose API takes what people think of its answers."""

    @property
    def takes_feedback(self) -> bool:
        """Whether it wants it."""
        ...

    async def take_feedback(self, feedback: Feedback) -> None:
        """Hand it over. Raises BridgeError: Refused where trying again would not help. The same
        may come twice."""
        ...


@runtime_checkable
class ChecksItself(Protocol):
    """An agent whose API can be asked whether it is there, at no cost."""

    async def check(self) -> Sequence[Finding]:
        """What one cheap request tells; nothing where a secret for it is missing."""
        ...


class AgentTools(Protocol):
    """What the bridge gives to an agent."""

    @property
    def clock(self) -> Clock: ...

    @property
    def tokens(self) -> SecretSource: ...

    @property
    def files(self) -> Files | None:
        """Where the files of messages are kept (`blob:` ids)."""
        ...

    def key_values(self, agent: str) -> KeyValues:
        """Small durable values of one agent: caches of what a vendor keeps."""
        ...


class AgentType(Protocol):
    """What an entry point of the group `uacs_bridge.agents` names: one per agent API."""

    kind: str
    settings: type[BaseModel]

    def build(self, name: str, settings: Any, tools: AgentTools) -> Agent: ...
