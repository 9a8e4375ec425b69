"""An actor id -> the person, asked of a conversation that they and the bot are in."""

from __future__ import annotations

from urllib.parse import quote

from bridge.errors import NotFound, Refused
from bridge.model import ActorId, ChannelRef, Person
from bridge.model.refs import join_key
from connectors.teams import ids
from connectors.teams.activity import Json, string
from connectors.teams.references import Reference, References
from connectors.teams.send import Sender

_MOST_TRIES = 5  # conversations asked for somebody who was not heard of yet


async def find_person(
    actor: ActorId, heard_in: str | None, references: References, sender: Sender
) -> Person | None:
    """`heard_in` is the conversation where they spoke last; without it some others are tried."""
    member = await _member(actor, heard_in, references, sender)
    name = string(member, "name").strip()
    bot = ids.is_bot(ids.split_actor(actor)[1])
    return Person(id=actor, name=name, bot=bot) if name else None


async def find_email(
    actor: ActorId, heard_in: str | None, references: References, sender: Sender
) -> str | None:
    """The address that the tenant's directory has for them; none for guests of another tenant."""
    member = await _member(actor, heard_in, references, sender)
    if string(member, "userRole") in ("guest", "anonymous"):
        return None
    return string(member, "email") or None


async def groups_of(
    actor: ActorId, heard_in: str | None, references: References, sender: Sender
) -> frozenset[str]:
    """Whether they are a guest: of the directory's, or of another tenant. Bots are none. Raises
    NotFound where no roster that we may see has them."""
    tenant, account = ids.split_actor(actor)
    if ids.is_bot(account):
        return frozenset()
    member = await _member(actor, heard_in, references, sender)
    if not member:
        raise NotFound(f"No roster that the bot may see has {actor!r}")
    home = string(member, "tenantId")
    outside = string(member, "userRole") in ("guest", "anonymous") or home not in ("", tenant)
    return frozenset([join_key("guest", ids.PLATFORM, tenant)] if outside else ())


async def direct_channel(
    actor: ActorId, app_id: str, references: References, sender: Sender
) -> ChannelRef:
    """The chat of this person and the bot; Teams opens it where the app is installed for them."""
    tenant, account = ids.split_actor(actor)
    near = ids.channel_ref(tenant, account)  # any of the tenant: it says where its service is
    chat = await sender.open_chat(near, ids.bot_account(app_id), account)
    url = await references.service_url(near) or ""
    await references.learn(
        Reference(conversation=chat, tenant=tenant, service_url=url, kind="personal")
    )
    return ids.channel_ref(tenant, chat)


async def _member(
    actor: ActorId, heard_in: str | None, references: References, sender: Sender
) -> Json:
    """As a roster has them; empty when no roster that we may see does."""
    tenant, account = ids.split_actor(actor)
    known = [one for one in await references.all() if one.tenant == tenant]
    first = [one for one in known if one.conversation == heard_in]
    others = [one for one in _one_per_team(known) if one.conversation != heard_in]
    for reference in (*first, *others)[:_MOST_TRIES]:
        if string(member := await _ask(account, reference, sender), "name").strip():
            return member
    return {}


async def _ask(account: str, reference: Reference, sender: Sender) -> Json:
    conversation = quote(reference.conversation, safe="")
    path = f"/v3/conversations/{conversation}/members/{quote(account, safe='')}"
    try:
        return await sender.get(reference.channel, path)
    except (NotFound, Refused):
        return {}


def _one_per_team(references: list[Reference]) -> list[Reference]:
    """All channels of a team have the same members."""
    return list(
        {reference.team or reference.conversation: reference for reference in references}.values()
    )
