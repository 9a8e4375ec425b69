"""The private state of each agent, in the seed's place for it: `metadata.agents.<name>` of messages
and of conversations. Pure.

Each agent sees only its own state. The bridge keeps its notes there under `uacs_bridge`.
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from bridge.content.messages.metadata import KEY
from bridge.uacs import Message

AGENTS = "agents"

State = dict[str, JsonValue]


def state_of(metadata: Mapping[str, JsonValue] | None, agent: str) -> State:
    """Returns the agent's state together with the bridge's notes; empty if there is none."""
    agents = (metadata or {}).get(AGENTS)
    state = agents.get(agent) if isinstance(agents, dict) else None
    return dict(state) if isinstance(state, dict) else {}


def agent_state(metadata: Mapping[str, JsonValue] | None, agent: str) -> State:
    """Returns the agent's state without the bridge's notes."""
    return {key: value for key, value in state_of(metadata, agent).items() if key != KEY}


def own_metadata(metadata: Mapping[str, JsonValue] | None, agent: str) -> State:
    """Returns the metadata without the state of other agents."""
    rest = {key: value for key, value in (metadata or {}).items() if key != AGENTS}
    own = state_of(metadata, agent)
    return {**rest, AGENTS: {agent: own}} if own else rest


def view_of_agent(message: Message, agent: str) -> Message:
    """Returns the message without the state of other agents in its metadata."""
    agents = (message.metadata or {}).get(AGENTS)
    if agents is None or (isinstance(agents, dict) and agents.keys() == {agent}):
        return message
    return message.model_copy(update={"metadata": own_metadata(message.metadata, agent)})
