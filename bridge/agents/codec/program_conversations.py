"""A program's conversation as an API's request: each message keeps its role. Pure.

In a room, everybody but the agent speaks as a user. A program's own conversation has instructions,
users and assistants, and all of them keep their roles. A speaker's name that an API cannot express
is a Loss."""

from __future__ import annotations

from pydantic import JsonValue

from bridge.agents.codec.json_values import obj
from bridge.agents.codec.speakers import ANONYMOUS_USER, agent_id, display_name, instructions_id
from bridge.model import Loss
from bridge.uacs import Actor, Conversation, Message

ASSISTANT = "assistant"  # the assistant's name if a conversation has none


def assistant_of(conversation: Conversation, api: str) -> str:
    """Return the name of the agent whose state of this API the conversation has, else of its only
    assistant, else `ASSISTANT`."""
    agents = obj(obj(dict(conversation.metadata or {})).get("agents"))
    with_state = [name for name, stored in agents.items() if obj(stored).get("api") == api]
    if len(with_state) == 1:
        return with_state[0]
    assistant_ids = {
        message.actor.id for message in conversation.messages if message.actor.role == "assistant"
    }
    only_id = next(iter(assistant_ids)) if len(assistant_ids) == 1 else ""
    return only_id.removeprefix(agent_id("")) if only_id.startswith(agent_id("")) else ASSISTANT


def with_program_roles(
    conversation: Conversation, agent: str, api: str
) -> tuple[Conversation, list[Loss]]:
    """Return the conversation with the actors that the codecs know, and the names that this loses.
    A person alone needs no name; several people keep theirs. A conversation that was read from a
    request of this `api` keeps all names."""
    stored = obj(obj(obj(dict(conversation.metadata or {})).get("agents")).get(agent))
    is_of_this_api = stored.get("api") == api
    losses: list[Loss] = []
    people = {each.actor.id for each in conversation.messages if each.actor.role == "human"}
    messages: list[Message] = []
    reported: set[tuple[str, str | None]] = set()
    for number, message in enumerate(conversation.messages):
        actor = _role_actor(message.actor, agent, alone=len(people) == 1)
        author = message.actor
        renamed = author.name is not None and author.name != actor.name and not is_of_this_api
        author_key = (author.id, author.name if author.id == actor.id else None)
        if (actor.id != author.id or renamed) and author_key not in reported:
            reported.add(author_key)
            losses.append(_lost_name(author, f"/messages/{number}/actor"))
        messages.append(message.model_copy(update={"actor": actor}))
    return conversation.model_copy(update={"messages": tuple(messages)}), losses


def settings_losses(conversation: Conversation, api: str) -> list[Loss]:
    """Return a Loss for each other API's request settings (model, limits): no API reads those of
    another."""
    agents: JsonValue = dict(conversation.metadata or {}).get("agents")
    losses: list[Loss] = []
    for name, stored in obj(agents).items():
        request = obj(obj(stored).get("request"))
        if request and obj(stored).get("api") != api:
            pointer = f"/metadata/agents/{name.replace('~', '~0').replace('/', '~1')}/request"
            lost_settings = f"{obj(stored).get('api')}: {', '.join(request)}"
            losses.append(Loss(path=pointer, kind="settings_of_another", what=lost_settings))
    return losses


def _role_actor(actor: Actor, agent: str, *, alone: bool) -> Actor:
    match actor.role:
        case "system":
            return Actor(id=instructions_id(agent), role="system")
        case "assistant":
            return Actor(id=agent_id(agent), role="assistant", name=agent)
        case "human" if alone and actor.id != ANONYMOUS_USER:
            return Actor(id=ANONYMOUS_USER, role="human")
        case _:
            return actor


def _lost_name(actor: Actor, path: str) -> Loss:
    return Loss(path=path, kind="speaker_as_role", what=display_name(actor), shown_as=actor.role)
