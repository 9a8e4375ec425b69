"""Port: tools that the bridge runs for agents, and the approval of calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from pydantic import JsonValue

from bridge.model import RoomId, TurnId
from bridge.uacs import ToolCallPart, ToolResultPart

ASKER, ADMINS = "asker", "admins"  # approvers that are no ids
AGENT_TOOLS = "agents"  # the bridge's own server, of tools with which agents find one another


@dataclass(frozen=True)
class ApprovalRule:
    """Who must approve a call.

    - `approvers`: `asker` (the person whose question the turn answers), `admins`, ids of actors or
      people, or globs of ids; a person's linked accounts count as that person.
    - `quorum`: how many people must approve it; one person who refuses is enough to refuse.
    - `seconds`: without a decision the call is refused after this time.
    """

    approvers: tuple[str, ...] = (ASKER, ADMINS)
    quorum: int = 1
    seconds: float = 600.0


@dataclass(frozen=True)
class Tool:
    """One tool of a server.

    `name` is unique and legal in every agent API, `own_name` is the server's name for the tool,
    `parameters` is a JSON Schema. `approval` is None when a call needs no approval. Calls of a
    `private` tool are the agent's alone: its answer does not keep them.
    """

    name: str
    server: str
    own_name: str
    description: str = ""
    parameters: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    approval: ApprovalRule | None = None
    private: bool = False


@dataclass(frozen=True)
class ToolUse:
    """Where a tool is called: the room, the agent and its turn."""

    room: RoomId
    agent: str
    turn: TurnId


class ToolProvider(Protocol):
    """Tools of the bridge itself."""

    async def tools(self) -> Sequence[Tool]:
        """Return the tools."""
        ...

    async def call(
        self, tool: Tool, call: ToolCallPart, use: ToolUse | None = None
    ) -> ToolResultPart:
        """Call one of them; a failure is a result, too."""
        ...


class Toolbox(Protocol):
    """All tool servers."""

    async def tools(self, servers: Sequence[str]) -> Sequence[Tool]:
        """Return the current tools of these servers, in their order.

        A server that cannot be reached has none; the toolbox logs that.
        """
        ...

    async def call(
        self, tool: Tool, call: ToolCallPart, use: ToolUse | None = None
    ) -> ToolResultPart:
        """Call a tool once; a call is never repeated. Tools of the bridge itself know where they
        are called (`use`).

        Returns:
            The result. A failure is a result too, with `is_error` and a text for the model. When
            the outcome of the call is unknown, the text says so.
        """
        ...

    async def close(self) -> None:
        """Disconnect from all servers."""
        ...


@runtime_checkable
class TellsChanges(Protocol):
    """A toolbox that reports when a server's list of tools changes."""

    def tell_changes(self, listener: Callable[[str], None]) -> None:
        """Call `listener` with the name of each server whose list of tools changes from now on."""
        ...
