"""A program's conversation as an API is given it: each message keeps its role. Pure.

A room is told from one agent's side: what others say is said to it. A conversation that a program
has of its own has instructions, people and assistants, and all of them stay what they are. What an
API cannot tell of a speaker is a Loss.
"""

from __future__ import annotations

from pydantic import JsonValue

from bridge.agents.codec.json_values import obj
from bridge.agents.codec.speakers import ANONYMOUS_USER, agent_id, display_name, instructions_id
from bridge.model import Loss
from bridge.uacs import Actor, Conversation, Message

ASSISTANT = "assistant"  # the name of the assistant where a conversation names none


def assistant_of(conversation: Conversation, api: str) -> str:
    """The agent whose own API's state the conversation has, else its only assistant."""
    agents = obj(obj(dict(conversation.metadata or {})).get("agents"))
    known = [name for name, kept in agents.items() if obj(kept).get("api") == api]
    if len(known) == 1:
        return known[0]
    ids = {
        message.actor.id for message in conversation.messages if message.actor.role == "assistant"
    }
    only = next(iter(ids)) if len(ids) == 1 else ""
    return only.removeprefix(agent_id("")) if only.startswith(agent_id("")) else ASSISTANT


def with_program_roles(
    conversation: Conversation, agent: str, api: str
) -> tuple[Conversation, list[Loss]]:
    """With the actors that the codecs know, and the names that are lost so. One person alone needs
    no name; several keep theirs. What was read of a request of this `api` keeps all names."""
    kept = obj(obj(obj(dict(conversation.metadata or {})).get("agents")).get(agent))
    home = kept.get("api") == api
    losses: list[Loss] = []
    people = {one.actor.id for one in conversation.messages if one.actor.role == "human"}
    messages: list[Message] = []
    lost: set[tuple[str, str | None]] = set()
    for number, message in enumerate(conversation.messages):
        actor = _as_known(message.actor, agent, alone=len(people) == 1)
        said = message.actor
        renamed = said.name is not None and said.name != actor.name and not home
        known = (said.id, said.name if said.id == actor.id else None)
        if (actor.id != said.id or renamed) and known not in lost:
            lost.add(known)
            losses.append(_lost(said, f"/messages/{number}/actor"))
        messages.append(message.model_copy(update={"actor": actor}))
    return conversation.model_copy(update={"messages": tuple(messages)}), losses


def settings_losses(conversation: Conversation, api: str) -> list[Loss]:
    """What other APIs' requests had beside their messages (model, limits): no API reads it of
    another."""
    agents: JsonValue = dict(conversation.metadata or {}).get("agents")
    losses: list[Loss] = []
    for name, kept in obj(agents).items():
        request = obj(obj(kept).get("request"))
        if request and obj(kept).get("api") != api:
            at = f"/metadata/agents/{name.replace('~', '~0').replace('/', '~1')}/request"
            what = f"{obj(kept).get('api')}: {', '.join(request)}"
            losses.append(Loss(path=at, kind="settings_of_another", what=what))
    return losses


def _as_known(actor: Actor, agent: str, *, alone: bool) -> Actor:
    match actor.role:
        case "system":
            return Actor(id=instructions_id(agent), role="system")
        case "assistant":
            return Actor(id=agent_id(agent), role="assistant", name=agent)
        case "human" if alone and actor.id != ANONYMOUS_USER:
            return Actor(id=ANONYMOUS_USER, role="human")
        case _:
            return actor


def _lost(actor: Actor, path: str) -> Loss:
    return Loss(path=path, kind="speaker_as_role", what=display_name(actor), shown_as=actor.role)
