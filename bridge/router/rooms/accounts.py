"""All accounts of one person."""

from __future__ import annotations

from bridge.model import ActorId
from bridge.ports.store.people import PeopleStore


async def all_accounts(store: PeopleStore, actor: ActorId) -> set[ActorId]:
    """Return the account and all that are linked to it. Raises StoreError."""
    return {actor, *(account.actor for account in await store.accounts_of(actor))}
