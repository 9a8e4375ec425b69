"""What one process at a time works for, where many share a store; and what they tell one
another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NewType

from bridge.model.refs import AccountId

Assignment = NewType("Assignment", str)
ProcessId = NewType("ProcessId", str)

UPKEEP = Assignment("upkeep")  # what is done once for the whole store, and events of programs
_ACCOUNT, _AGENT = "account ", "agent "


def account_assignment(account: AccountId) -> Assignment:
    """Return the assignment of an account: its connection, its events and its lanes."""
    return Assignment(f"{_ACCOUNT}{account}")


def agent_assignment(agent: str) -> Assignment:
    """Return the assignment of an agent: its turns."""
    return Assignment(f"{_AGENT}{agent}")


def account_of(assignment: Assignment) -> AccountId | None:
    """Return the account of an assignment; None for another one."""
    name = assignment.removeprefix(_ACCOUNT)
    return AccountId(name) if name != assignment else None


def agent_of(assignment: Assignment) -> str | None:
    """Return the agent of an assignment; None for another one."""
    name = assignment.removeprefix(_AGENT)
    return name if name != assignment else None


@dataclass(frozen=True)
class Process:
    """A process that shares the store. `started`: seconds since 1970; `stopping`: it takes nothing
    any more, and gives up what it has; `starting`: it takes nothing yet."""

    id: ProcessId
    name: str
    version: str
    started: float
    stopping: bool
    starting: bool = False


@dataclass(frozen=True)
class Assigned:
    """Who works for an assignment, None while nobody does, since when (seconds since 1970).
    `epoch` rises at each change of hands; `load`: events and operations a second."""

    process: ProcessId | None
    epoch: int
    since: float
    load: float


@dataclass(frozen=True)
class SentSignal:
    """Something that a process tells the others. `body` is JSON of its kind."""

    seq: int
    sender: ProcessId
    kind: str
    body: str


@dataclass(frozen=True)
class ClusterState:
    """What a process sees of the others: those alive, the assignments, the number of changes of
    each topic, and the signals since its last look. `now`: of the server, seconds since 1970;
    `any_expired`: a process did not renew its row in time."""

    processes: Sequence[Process]
    assigned: Mapping[Assignment, Assigned]
    revisions: Mapping[str, int] = field(default_factory=dict[str, int])
    signals: Sequence[SentSignal] = ()
    now: float = 0.0
    any_expired: bool = False
