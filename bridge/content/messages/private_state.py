"""What each agent keeps for itself, in the seed's own place for it: `metadata.agents.<name>` of
messages and of conversations. Pure.

Each is shown its own alone. What the bridge notes there for itself stands under `uacs_bridge`.
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from bridge.content.messages.metadata import KEY
from bridge.uacs import Message

AGENTS = "agents"

State = dict[str, JsonValue]


def state_of(metadata: Mapping[str, JsonValue] | None, agent: str) -> State:
    """What the agent keeps there, with what the bridge noted; empty where it keeps nothing."""
    agents = (metadata or {}).get(AGENTS)
    state = agents.get(agent) if isinstance(agents, dict) else None
    return dict(state) if isinstance(state, dict) else {}


def agent_state(metadata: Mapping[str, JsonValue] | None, agent: str) -> State:
    """The same without what the bridge noted."""
    return {key: value for key, value in state_of(metadata, agent).items() if key != KEY}


def own_metadata(metadata: Mapping[str, JsonValue] | None, agent: str) -> State:
    """Metadata without what other agents keep there."""
    rest = {key: value for key, value in (metadata or {}).items() if key != AGENTS}
    own = state_of(metadata, agent)
    return {**rest, AGENTS: {agent: own}} if own else rest


def view_of_agent(message: Message, agent: str) -> Message:
    """The message without what other agents keep for themselves in its metadata."""
    agents = (message.metadata or {}).get(AGENTS)
    if agents is None or (isinstance(agents, dict) and agents.keys() == {agent}):
        return message
    return message.model_copy(update={"metadata": own_metadata(message.metadata, agent)})
