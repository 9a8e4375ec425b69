"""The state machines of Open Floor as tables: a state and what happens -> the next state. Pure.

Sources: figures 1 to 6 of "Conversational AI multi-agent interoperability" (Gosmar, Dahl, Coin,
2024), and the bookkeeping of the floor in section 2.2 of conversation envelope 1.1.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

State = TypeVar("State", bound=str)
Happening = TypeVar("Happening", bound=str)


@dataclass(frozen=True)
class Machine(Generic[State, Happening]):
    """A table of transitions.

    - `name`: what it describes.
    - `first`: the state in which it begins.
    - `table`: the next state; what has no entry changes nothing.
    """

    name: str
    first: State
    table: Mapping[tuple[State, Happening], State]

    def after(self, state: State, happening: Happening) -> State:
        """Return the next state; the same one where the table has no entry."""
        return self.table.get((state, happening), state)

    def has(self, state: str) -> bool:
        """Whether the machine has this state."""
        return state == self.first or state in self.table.values()

    def diagram(self) -> str:
        """Return the table as a state diagram in Mermaid."""
        edges: dict[tuple[str, str], list[str]] = {}
        for (state, happening), following in self.table.items():
            edges.setdefault((state, following), []).append(happening.replace("_", " "))
        lines = [f"    {a} --> {b}: {', '.join(names)}" for (a, b), names in edges.items()]
        return "\n".join(["stateDiagram-v2", f"    [*] --> {self.first}", *lines])


ServingState = Literal["idle", "ready", "searching", "sending"]
ServingHappening = Literal[
    "invite", "utterance", "found", "not_found", "sent", "bye", "uninvite", "silence"
]

SERVING = Machine[ServingState, ServingHappening](
    "a peer's conversation with a room",
    "idle",
    {
        ("idle", "invite"): "ready",
        ("idle", "utterance"): "searching",  # an invitation, unless one is required
        ("ready", "utterance"): "searching",
        ("searching", "found"): "sending",
        ("searching", "not_found"): "ready",
        ("searching", "bye"): "idle",
        ("searching", "uninvite"): "idle",
        ("sending", "sent"): "ready",
        ("ready", "bye"): "idle",
        ("ready", "uninvite"): "idle",
        ("ready", "silence"): "idle",
    },
)
"""Figures 1 to 3: an agent, here a room with its agents, that others invite."""


DemandingState = Literal["idle", "inviting", "ready", "waiting", "consuming"]
DemandingHappening = Literal[
    "invite", "accept", "decline", "error", "utterance", "response", "consumed", "bye", "silence"
]

DEMANDING = Machine[DemandingState, DemandingHappening](
    "an agent that the bridge invites",
    "idle",
    {
        ("idle", "invite"): "inviting",
        ("inviting", "accept"): "consuming",  # also the first utterance, which implies it
        ("inviting", "decline"): "idle",
        ("inviting", "error"): "idle",
        ("ready", "utterance"): "waiting",
        ("waiting", "response"): "consuming",
        ("waiting", "error"): "ready",
        ("consuming", "consumed"): "ready",
        ("consuming", "bye"): "idle",
        ("ready", "silence"): "idle",
    },
)
"""Figure 4: who invites an agent and asks it."""


ManifestState = Literal["search", "waiting", "ready", "failed"]
ManifestHappening = Literal["send", "publish", "silence", "give_up"]

MANIFEST = Machine[ManifestState, ManifestHappening](
    "the manifest of an agent",
    "search",
    {
        ("search", "send"): "waiting",
        ("waiting", "publish"): "ready",
        ("waiting", "silence"): "search",
        ("search", "give_up"): "failed",
    },
)
"""Figure 5: an agent is asked for its manifest."""


FindState = Literal["search", "waiting", "ready", "nobody"]
FindHappening = Literal["send", "servicing", "discovery", "nobody_left"]

FIND = Machine[FindState, FindHappening](
    "agents for a task",
    "search",
    {
        ("search", "send"): "waiting",
        ("waiting", "servicing"): "ready",
        ("waiting", "discovery"): "search",
        ("search", "nobody_left"): "nobody",
    },
)
"""Figure 6: directories are asked for agents, and those that they name are asked in turn."""


FloorState = Literal["granted", "silent", "absent"]
FloorHappening = Literal["invite", "grant", "revoke", "yield", "uninvite", "bye", "decline"]

FLOOR = Machine[FloorState, FloorHappening](
    "a member's right to speak",
    "granted",
    {
        ("granted", "yield"): "silent",
        ("granted", "revoke"): "silent",
        ("silent", "grant"): "granted",
        ("silent", "invite"): "granted",
        ("granted", "uninvite"): "absent",
        ("silent", "uninvite"): "absent",
        ("granted", "bye"): "absent",
        ("silent", "bye"): "absent",
        ("granted", "decline"): "absent",
        ("silent", "decline"): "absent",
        ("absent", "invite"): "granted",
    },
)
"""Envelope 1.1.0, section 2.2: `conversants` and `floorGranted` of a floor."""

MACHINES = (SERVING, DEMANDING, MANIFEST, FIND, FLOOR)
