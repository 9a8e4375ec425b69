"""What an answer was made of, to be looked up later: who answered, and what it was told. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from pydantic import JsonValue

from bridge.agents.codec.json_values import Json
from bridge.agents.codec.prompt import ROLE_DEMOTED
from bridge.agents.codec.speakers import instructions_id
from bridge.agents.codec.tool_catalogue import tool_names
from bridge.model import Loss
from bridge.uacs import Conversation, Message, write

_MOST = 20  # losses in one record
_LONGEST = 500  # characters of the word for a refusal


def answer_record(
    api: str, told: Conversation, agent: str, losses: Sequence[Loss], **known: JsonValue
) -> Json:
    """For `metadata.record` of the answer. `told` is the conversation as the agent was given it:
    two answers whose digests are the same were given the same words. `known` is what one API
    knows beside that: the model, the agent's version, its ids."""
    own = instructions_id(agent)
    instructions = [message for message in told.messages if message.actor.id == own]
    history = [message for message in told.messages if message.actor.id != own]
    return {
        "api": api,
        **known,
        "bridge": _version(),
        **({"instructions_sha256": _digest(instructions)} if instructions else {}),
        "history_sha256": _digest(history),
        "messages": len(history),
        "tools": [*sorted(tool_names(told))],
        "losses": [loss.model_dump(mode="json") for loss in _foremost(losses)],
    }


def _foremost(losses: Sequence[Loss]) -> list[Loss]:
    """As many as a record holds; roles, which every notice and every other agent loses, come
    last."""
    return sorted(losses, key=lambda loss: loss.kind == ROLE_DEMOTED)[:_MOST]


def refusal(words: str, **results: JsonValue) -> Json:
    """For `metadata.moderation` of an answer that was refused: the vendor's own word for why, and
    what its filters found."""
    why: Json = {"why": words[:_LONGEST]} if words else {}
    return {"refused": True, **why, **({"results": results} if results else {})}


def _digest(messages: Iterable[Message]) -> str:
    digest = hashlib.sha256()
    for message in messages:
        written = write(message)
        digest.update(len(written).to_bytes(8, "big"))
        digest.update(written)
    return digest.hexdigest()


@cache
def _version() -> str:
    try:
        return version("uacs-bridge")
    except PackageNotFoundError:
        return ""
