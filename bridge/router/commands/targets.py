"""Finds the account that the words of a command name, by a mention, an id or a name."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bridge.errors import InvalidData
from bridge.model import ActorId, split_key
from bridge.model.refs import PROGRAMS
from bridge.ports.store.people import PeopleStore
from bridge.router.rooms.accounts import all_accounts
from bridge.router.rooms.rooms import Room

_ON_PLATFORM = re.compile(r"(.+?)\s*\((\w+)\)")
_LONGEST = 5  # words of a name


async def person_meant(words: Sequence[str], room: Room, store: PeopleStore) -> ActorId:
    """Mentions are ids by now. Names are those of people who spoke in the room, or in one of its
    workspaces, also as the room shows them. Raises InvalidData, which says what to do."""
    name = " ".join(words).removeprefix("@")
    if name.count(":") > 1 and " " not in name:
        return _known_platform(ActorId(name), room)
    shown_names = await store.names_like(room.id, name)
    actors = {display_name.actor for display_name in shown_names} or await _named(name, room, store)
    if not actors:
        raise InvalidData(
            f"Nobody called {name!r} is known here. Mention them, or give their id "
            "(uacs-bridge people list)"
        )
    first = min(actors)
    if actors - await all_accounts(store, first):
        ids = ", ".join(sorted(actors))
        raise InvalidData(f"That could be any of: {ids}. Give the id in place of the name")
    return first


def reads_as_person(words: Sequence[str]) -> bool:
    """Whether these words name a person, and are not the rest of a sentence."""
    joined = "".join(words)
    return len(words) == 1 or (
        len(words) <= _LONGEST and (joined.startswith("@") or joined.endswith(")"))
    )


async def _named(display_name: str, room: Room, store: PeopleStore) -> set[ActorId]:
    on_platform = _ON_PLATFORM.fullmatch(display_name)
    name, platform = on_platform.groups() if on_platform else (display_name, "")
    homes = {(m.channel.platform, m.channel.workspace) for m in room.members}
    people = [person.id for person in await store.people_named(name)]
    return {
        actor
        for actor in people
        if tuple(split_key(actor)[:2]) in homes
        and platform.casefold() in ("", split_key(actor)[0].casefold())
    }


def _known_platform(actor: ActorId, room: Room) -> ActorId:
    platforms = sorted({member.channel.platform for member in room.members})
    if split_key(actor)[0] in (*platforms, PROGRAMS[0]):
        return actor
    raise InvalidData(
        f"{actor!r} is nobody here; an id is PLATFORM:WORKSPACE:ID, of {' or '.join(platforms)}"
    )
