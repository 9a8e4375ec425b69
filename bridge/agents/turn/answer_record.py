"""The record of how an answer was made: who answered, from which input. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from pydantic import JsonValue

from bridge.agents.codec.json_values import Json
from bridge.agents.codec.prompt import ROLE_DEMOTED
from bridge.agents.codec.speakers import instructions_id
from bridge.agents.codec.tool_catalogue import tool_names
from bridge.model import Loss
from bridge.runtime.version import bridge_version
from bridge.uacs import Conversation, Message, write

_MAX_LOSSES = 20  # losses in one record
_LONGEST = 500  # characters of the reason for a refusal


def answer_record(
    api: str, conversation: Conversation, agent: str, losses: Sequence[Loss], **facts: JsonValue
) -> Json:
    """Return `metadata.record` of an answer. `conversation` is what the agent received: two answers
    with the same digests had the same input. `known` is what one API knows beyond that: the model,
    the agent's version, its ids."""
    own = instructions_id(agent)
    instructions = [message for message in conversation.messages if message.actor.id == own]
    history = [message for message in conversation.messages if message.actor.id != own]
    return {
        "api": api,
        **facts,
        "bridge": bridge_version(),
        **({"instructions_sha256": _digest(instructions)} if instructions else {}),
        "history_sha256": _digest(history),
        "messages": len(history),
        "tools": [*sorted(tool_names(conversation))],
        "losses": [loss.model_dump(mode="json") for loss in _foremost(losses)],
    }


def _foremost(losses: Sequence[Loss]) -> list[Loss]:
    """Return as many losses as a record holds. Demoted roles come last: every notice and every
    other agent causes one."""
    return sorted(losses, key=lambda loss: loss.kind == ROLE_DEMOTED)[:_MAX_LOSSES]


def refusal(words: str, **results: JsonValue) -> Json:
    """Return `metadata.moderation` of a refused answer: the vendor's reason, and the results of its
    filters."""
    reason: Json = {"why": words[:_LONGEST]} if words else {}
    return {"refused": True, **reason, **({"results": results} if results else {})}


def _digest(messages: Iterable[Message]) -> str:
    digest = hashlib.sha256()
    for message in messages:
        written = write(message)
        digest.update(len(written).to_bytes(8, "big"))
        digest.update(written)
    return digest.hexdigest()
