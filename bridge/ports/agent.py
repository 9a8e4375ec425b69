"""The port that every agent API implements: a turn in, agent events out."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, Protocol, runtime_checkable

from pydantic import BaseModel

from bridge.model.floor import FloorChange, FloorWish
from bridge.model.turns import AgentEvent, AgentInput, Feedback, Turn
from bridge.ports.clock import Clock
from bridge.ports.files import Files
from bridge.ports.findings import Finding
from bridge.ports.key_values import KeyValues
from bridge.ports.secrets import SecretSource


class Agent(Protocol):
    """One agent; its name is unique."""

    name: str

    def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent, None]:
        """Answer one turn.

        Args:
            turn: the conversation, the trigger and the tools.
            inputs: what arrives while the agent works: messages, approvals, results of tools.

        Returns:
            A stream of events that ends with TurnDone or TurnFailed. Closing it stops the work. The
            caller sets the deadlines; every exception counts as a failed turn.
        """
        ...


@runtime_checkable
class TakesFeedback(Protocol):
    """An agent whose API accepts people's feedback on its answers."""

    @property
    def takes_feedback(self) -> bool:
        """Whether this agent is configured to receive feedback."""
        ...

    async def take_feedback(self, feedback: Feedback) -> None:
        """Send feedback to the API; the same feedback may arrive twice.

        Raises:
            Refused: another attempt would not help.
            BridgeError: another attempt may help.
        """
        ...


@runtime_checkable
class ChecksItself(Protocol):
    """An agent whose API can be tested at no cost."""

    async def check(self) -> Sequence[Finding]:
        """Return the findings of one cheap request; none when a secret for it is missing."""
        ...


@runtime_checkable
class HasAddresses(Protocol):
    """An agent that other agents know by addresses, too."""

    @property
    def addresses(self) -> Sequence[str]:
        """URIs that name it."""
        ...


@runtime_checkable
class IsInvited(Protocol):
    """An agent elsewhere that is invited to a conversation, and stays until it leaves."""

    @property
    def invited_seconds(self) -> float | None:
        """Seconds without a question after which the agent has to leave; None: it may stay."""
        ...

    async def tell(self, conversation: str, change: FloorChange) -> None:
        """Tell the agent that it may not speak any more, or has to leave. A failure is logged: the
        bridge goes on without the agent.

        Args:
            conversation: the id of the conversation.
            change: what happened; `to` is the agent.
        """
        ...


@runtime_checkable
class Convenes(Protocol):
    """An agent that can decide who may speak in a conversation."""

    async def decide(self, conversation: str, wish: FloorWish) -> Sequence[FloorChange]:
        """Return what the agent decides on a wish of another member; it may decide on others, too.

        Args:
            conversation: the id of the conversation.
            wish: who wants to speak, and what it wants to say.

        Raises:
            BridgeError: the agent cannot be asked, or gives no answer that can be read.
        """
        ...


@runtime_checkable
class KeepsFiles(Protocol):
    """An agent that keeps something of files: copies at its vendor, or what it heard in them."""

    async def forget_files(self, is_stored: Callable[[str], Awaitable[bool]]) -> int:
        """Delete what the agent keeps of files that the bridge no longer stores.

        Args:
            is_stored: whether the bridge stores the file with this hash (SHA-256, hexadecimal).

        Returns:
            How many things it deleted.

        Raises:
            BridgeError: the vendor could not be asked; another attempt may help. The rest is
                deleted.
        """
        ...


class AgentTools(Protocol):
    """What the bridge offers to an agent."""

    @property
    def clock(self) -> Clock:
        """The bridge's clock."""
        ...

    @property
    def secrets(self) -> SecretSource:
        """Resolves references to secrets."""
        ...

    @property
    def files(self) -> Files | None:
        """The files of messages (`blob:` ids); None without a file store."""
        ...

    @property
    def public_url(self) -> str:
        """The address under which others reach the bridge; "" without one."""
        ...

    def key_values(self, agent: str) -> KeyValues:
        """Return the small durable values of one agent: caches of what a vendor stores."""
        ...


class AgentType(Protocol):
    """The object that an entry point of the group `uacs_bridge.agents` names: one per agent API.

    `kind` is its name in the configuration, `settings` the model of its settings there.
    """

    kind: str
    settings: type[BaseModel]

    def build(self, name: str, settings: Any, tools: AgentTools) -> Agent:
        """Build an agent from its validated settings. Raises ConfigError."""
        ...
