"""Who speaks when a program does: the program, or somebody below it under a name of their own.
Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from bridge.app.api.api_keys import Caller
from bridge.app.api.problems import Problem
from bridge.content.text.globs import matches
from bridge.model import ActorId, Person
from bridge.uacs import Actor, Role

_LONGEST = 100  # characters of an id or a name
_ROLES: dict[object, Role] = {"assistant": "assistant", "tool": "tool"}


def actor_of(caller: Caller, asked: Mapping[str, Any] | None) -> Actor:
    """Return the actor that a post names: `{"id": "TOKEN_ACTOR/planner", "name": "Planner", "role":
    "assistant"}`; the program itself where it names none. Tools have the role `tool`.

    Raises:
        Problem: the token may not speak for this actor.
    """
    own_id = (asked or {}).get("id", caller.actor)
    if asked is None or own_id == caller.actor:
        return Actor(id=caller.actor, role=caller.token.role, name=caller.name)
    below = own_id.removeprefix(f"{caller.actor}/") if isinstance(own_id, str) else ""
    if below == own_id or not below or len(below) > _LONGEST:
        raise Problem(
            422,
            "actor.id is not the token's own, nor below it",
            value=own_id,
            todo=f"leave `actor` out to speak as {caller.actor}; ids below it begin with "
            f"{caller.actor}/",
        )
    if not any(matches(glob, below) for glob in caller.token.actors):
        allowed = ", ".join(caller.token.actors) or "nobody"
        raise Problem(
            403,
            f"The token {caller.name!r} may not speak for this actor",
            value=below,
            todo=f"it may speak for {allowed}; uacs-bridge tokens add --actors",
        )
    name = asked.get("name")
    shown = " ".join(name.split())[:_LONGEST] if isinstance(name, str) else ""
    role = _ROLES.get(asked.get("role"), caller.token.role)
    own = ActorId(f"{caller.actor}/{quote(below, safe='')}")
    return Actor(id=own, role=role, name=shown or below)


def person_of(caller: Caller, actor: Actor) -> Person:
    """Return the author of a message of this actor."""
    return Person(id=ActorId(actor.id), name=actor.name or caller.name, bot=actor.role != "human")


def is_of(caller: Caller, actor: str) -> bool:
    """Whether an actor is the program, or somebody below it."""
    return actor == caller.actor or actor.startswith(f"{caller.actor}/")
