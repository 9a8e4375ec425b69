"""An id, a name, or a name on one platform -> an actor id."""

from __future__ import annotations

from bridge.errors import StoreError
from bridge.model import ActorId
from bridge.ports.store.whole import Store


async def find_person(store: Store, name_or_id: str) -> ActorId:
    """The account that the text names. An id, also that of an agent (`agent:NAME`), is accepted
    even if nobody wrote under it. Raises StoreError if the name fits nobody or several people."""
    segments = name_or_id.split(":")
    is_agent = len(segments) == 2 and segments[0] == "agent"
    if all(segments) and (len(segments) == 3 or is_agent):
        return ActorId(name_or_id)
    platform, name = (segments[0], segments[1]) if len(segments) == 2 else ("", name_or_id)
    people = await store.people_named(name)
    actors = [
        person.id for person in people if not platform or person.id.startswith(f"{platform}:")
    ]
    if len(actors) == 1:
        return actors[0]
    if actors:
        raise StoreError(f"{name_or_id!r} could be any of: {', '.join(actors)}; give the id")
    raise StoreError(
        f"Nobody called {name_or_id!r} is known; people are known when they have spoken in a "
        "room. Give the id: platform:workspace:user"
    )
