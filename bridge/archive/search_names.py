"""Names in a query -> the ids of people and conversations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from bridge.archive.search_query import Names
from bridge.model import ActorId
from bridge.ports.store.people import PeopleStore
from bridge.ports.store.search import SearchStore


class NamesStore(PeopleStore, SearchStore, Protocol):
    """What names are looked up in."""


def names_in(store: NamesStore) -> Names:
    """Return how names become ids: a name those of all accounts of its people, or those of all
    rooms and channels."""

    async def authors(name: str) -> Sequence[str]:
        """An id (platform:workspace:user), a name, or a name on one platform (slack:Ann)."""
        segments = name.split(":")
        if len(segments) == 3 and all(segments):
            named = [ActorId(name)]
        else:
            platform = segments[0] if len(segments) == 2 else ""
            people = await store.people_named(segments[-1])
            named = [
                person.id
                for person in people
                if not platform or person.id.startswith(f"{platform}:")
            ]
            named += [ActorId(name)] if name.startswith("agent:") else []
        linked = [account.actor for actor in named for account in await store.accounts_of(actor)]
        return list(dict.fromkeys([*named, *linked]))

    return Names(authors, store.conversations_named)
