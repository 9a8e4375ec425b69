"""A channel or chat -> its readers from outside of the tenant: shared channels and guests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from urllib.parse import quote, urlencode

from bridge.errors import NotFound, Refused
from bridge.model import ChannelRef
from connectors.teams.activity import Json, object_of, objects, string
from connectors.teams.references import Reference, References
from connectors.teams.send import Sender

_MAX_PAGES = 20
_PAGE = 500


class Outsiders:
    """Finds readers of channels and chats from outside of the tenant."""

    def __init__(self, references: References, sender: Sender) -> None:
        self._references = references
        self._sender = sender

    async def of_channel(self, channel: ChannelRef) -> Sequence[str]:
        """Return descriptions of the outside readers; none if the channel has no reference.

        Raises PlatformError if Teams cannot be reached.
        """
        reference = await self._references.get(channel.channel)
        if reference is None:
            return ()
        outsiders: list[str] = []
        if await _is_shared(reference, self._sender):
            outsiders.append("people of other teams, or other organisations (a shared channel)")
        members = _members(reference, self._sender)
        if guests := [member async for member in members if _is_guest(member, reference)]:
            outsiders.append("1 guest" if len(guests) == 1 else f"{len(guests)} guests")
        return outsiders


async def _is_shared(reference: Reference, sender: Sender) -> bool:
    if not reference.team:
        return False
    path = f"/v3/teams/{quote(reference.team, safe='')}/conversations"
    try:
        listed = await sender.get(reference.channel, path)
    except (NotFound, Refused):
        return False
    channels = objects(object_of({"listed": listed}, "listed"), "conversations")
    kinds = {string(channel, "id"): string(channel, "type") for channel in channels}
    return kinds.get(reference.conversation) == "shared"


async def _members(reference: Reference, sender: Sender) -> AsyncIterator[Json]:
    path = f"/v3/conversations/{quote(reference.conversation, safe='')}/pagedmembers"
    further = ""
    for _ in range(_MAX_PAGES):
        query = {"pageSize": str(_PAGE)} | ({"continuationToken": further} if further else {})
        try:
            page = await sender.get(reference.channel, f"{path}?{urlencode(query)}")
        except (NotFound, Refused):
            return  # the bot may not read this roster
        for member in objects(page, "members"):
            yield member
        further = string(page, "continuationToken")
        if not further:
            return


def _is_guest(member: Json, reference: Reference) -> bool:
    """Return whether a member is a guest of the directory or belongs to another tenant."""
    tenant = string(member, "tenantId")
    return string(member, "userRole") in ("guest", "anonymous") or (
        bool(tenant) and tenant != reference.tenant
    )
