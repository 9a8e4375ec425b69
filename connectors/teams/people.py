"""An actor id -> the person, asked of a conversation that they and the bot are in."""

from __future__ import annotations

from urllib.parse import quote

from bridge.errors import NotFound, Refused
from bridge.model import ActorId, Person
from connectors.teams import ids
from connectors.teams.activity import string
from connectors.teams.references import Reference, References
from connectors.teams.send import Sender

_MOST_TRIES = 5  # conversations asked for somebody who was not heard of yet


async def find_person(
    actor: ActorId, heard_in: str | None, references: References, sender: Sender
) -> Person | None:
    """`heard_in` is the conversation where they spoke last; without it some others are tried."""
    tenant, account = ids.split_actor(actor)
    known = [one for one in await references.all() if one.tenant == tenant]
    first = [one for one in known if one.conversation == heard_in]
    others = [one for one in _one_per_team(known) if one.conversation != heard_in]
    for reference in (*first, *others)[:_MOST_TRIES]:
        if person := await _ask(actor, account, reference, sender):
            return person
    return None


async def _ask(actor: ActorId, account: str, reference: Reference, sender: Sender) -> Person | None:
    conversation = quote(reference.conversation, safe="")
    path = f"/v3/conversations/{conversation}/members/{quote(account, safe='')}"
    try:
        member = await sender.get(reference.channel, path)
    except (NotFound, Refused):
        return None
    name = string(member, "name").strip()
    return Person(id=actor, name=name, bot=ids.is_bot(account)) if name else None


def _one_per_team(references: list[Reference]) -> list[Reference]:
    """All channels of a team have the same members."""
    return list(
        {reference.team or reference.conversation: reference for reference in references}.values()
    )
