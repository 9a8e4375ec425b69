"""The readers of a channel who are outside the workspace: Slack Connect, and guests."""

from __future__ import annotations

from collections.abc import Sequence

from bridge.model import ChannelRef
from connectors.slack.json_values import object_at, objects_at
from connectors.slack.send import WebApi

_MAX_PAGES = 10  # of up to a thousand people; later pages are not read


class Outsiders:
    """The readers of the workspace's channels who are not members of the workspace."""

    def __init__(self, api: WebApi) -> None:
        self._api = api

    async def of_channel(self, channel: ChannelRef) -> Sequence[str]:
        """A description of each group of outside readers. Raises PlatformError."""
        answer = await self._api.read("conversations.info", channel=channel.channel)
        info = object_at(answer, "channel")
        outsiders: list[str] = []
        if info.get("is_ext_shared") is True:
            outsiders.append("people of other organisations (Slack Connect)")
        elif info.get("is_pending_ext_shared") is True:
            outsiders.append("people of another organisation who are invited (Slack Connect)")
        if info.get("is_org_shared") is True:
            outsiders.append("people of other workspaces of the organisation")
        if guests := await _guests(self._api, channel):
            outsiders.append("1 guest" if guests == 1 else f"{guests} guests")
        return outsiders


async def _guests(api: WebApi, channel: ChannelRef) -> int:
    """Members who are in single channels of the workspace only."""
    restricted: set[str] = set()
    pages = 0
    async for page in api.pages("users.list", limit="1000"):
        users = objects_at(page, "members")
        guests = [user for user in users if user.get("is_restricted") is True]
        restricted |= {str(guest.get("id")) for guest in guests if guest.get("deleted") is not True}
        pages += 1
        if pages == _MAX_PAGES:
            break
    count = 0
    if restricted:
        async for page in api.pages("conversations.members", channel=channel.channel, limit="999"):
            count += sum(1 for member in page.get("members") or () if member in restricted)
    return count
