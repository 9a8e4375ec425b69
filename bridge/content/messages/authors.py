"""Who said a message, and where: an agent, a program, a person of a platform. Pure."""

from __future__ import annotations

from bridge.model import ActorId, split_key
from bridge.model.refs import BRIDGE, PROGRAMS
from bridge.uacs import Message

_AGENT = "agent:"


def workspace_in(message: Message, platform: str) -> str:
    """The workspace of this platform in which the message was said; empty if it was said on
    another platform or by a program or an agent."""
    home, workspace, *_ = [*split_key(message.message_id), ""]
    return workspace if home == platform else ""


def receives_presses(message: Message) -> bool:
    """Whether its author is behind this bridge: an agent, a program, or the bridge itself."""
    actor = message.actor.id
    return actor == BRIDGE or is_program(ActorId(actor)) or agent_of(message) is not None


def is_program(actor: ActorId) -> bool:
    """Whether it speaks through the bridge's own API."""
    return tuple(split_key(actor)[:2]) == PROGRAMS


def agent_of(message: Message) -> str | None:
    """The name of the agent that said it."""
    actor = message.actor.id
    return actor.removeprefix(_AGENT) if actor.startswith(_AGENT) else None
