"""The author of a message: an agent, a program, or a person on a platform. Pure."""

from __future__ import annotations

from bridge.model import ActorId, split_key
from bridge.model.refs import BRIDGE, PROGRAMS
from bridge.uacs import Message

_AGENT = "agent:"


def workspace_in(message: Message, platform: str) -> str:
    """Returns the workspace of this platform in which the message was posted; empty if it was not
    posted there."""
    home, workspace, *_ = [*split_key(message.message_id), ""]
    return workspace if home == platform else ""


def receives_presses(message: Message) -> bool:
    """Whether the author is behind this bridge and receives presses: an agent, a program, or the
    bridge itself."""
    actor = message.actor.id
    return actor == BRIDGE or is_program(ActorId(actor)) or agent_of(message) is not None


def is_program(actor: ActorId) -> bool:
    """Whether the actor uses the bridge's own API."""
    return tuple(split_key(actor)[:2]) == PROGRAMS


def agent_of(message: Message) -> str | None:
    """Returns the name of the agent that wrote the message; None for other authors."""
    actor = message.actor.id
    return actor.removeprefix(_AGENT) if actor.startswith(_AGENT) else None
