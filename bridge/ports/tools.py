"""Tools that the bridge runs for agents: what there is, who must allow a call, and one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from pydantic import JsonValue

from bridge.uacs import ToolCallPart, ToolResultPart

ASKER, ADMINS = "asker", "admins"  # approvers that are no ids


@dataclass(frozen=True)
class ApprovalRule:
    """Who may allow a call, and how.

    - `approvers`: `asker` (whose question it is for), `admins`, ids of actors or people, or globs
      of ids; a person's linked accounts count as that person.
    - `quorum`: how many people must allow it; one who refuses is enough to refuse.
    - `seconds` after which it is refused, if nobody has decided.
    """

    approvers: tuple[str, ...] = (ASKER, ADMINS)
    quorum: int = 1
    seconds: float = 600.0


@dataclass(frozen=True)
class Tool:
    """`name` is legal everywhere and unique; `own_name` is what its server calls it; `parameters`
    are a JSON Schema. `approval` is None where nobody need allow a call."""

    name: str
    server: str
    own_name: str
    description: str = ""
    parameters: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    approval: ApprovalRule | None = None


class Toolbox(Protocol):
    """All servers of tools."""

    async def tools(self, servers: Sequence[str]) -> Sequence[Tool]:
        """What these servers have now, in their order. One that cannot be reached has none; that
        is logged."""
        ...

    async def call(self, tool: Tool, call: ToolCallPart) -> ToolResultPart:
        """Call it once. What goes wrong is a result, too: for the model, in plain words, with
        `is_error`. A call whose end nobody knows says so; it is not made again."""
        ...

    async def close(self) -> None: ...


@runtime_checkable
class TellsChanges(Protocol):
    """A toolbox that says when a server's list of tools is another."""

    def tell_changes(self, listener: Callable[[str], None]) -> None:
        """From now on `listener` is called with the name of each such server."""
        ...
