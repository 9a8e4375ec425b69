"""A channel -> who reads it beside the workspace's own people: Slack Connect, and guests."""

from __future__ import annotations

from collections.abc import Sequence

from bridge.model import ChannelRef
from connectors.slack.json_values import object_at, objects_at
from connectors.slack.send import WebApi

_MOST_PAGES = 10  # of a thousand people: who comes later is not looked at


class Outsiders:
    """The readers of the workspace's channels who are not of the workspace."""

    def __init__(self, api: WebApi) -> None:
        self._api = api

    async def of_channel(self, channel: ChannelRef) -> Sequence[str]:
        """Who they are, in words. Raises PlatformError."""
        answer = await self._api.read("conversations.info", channel=channel.channel)
        info = object_at(answer, "channel")
        found: list[str] = []
        if info.get("is_ext_shared") is True:
            found.append("people of other organisations (Slack Connect)")
        elif info.get("is_pending_ext_shared") is True:
            found.append("people of another organisation who are invited (Slack Connect)")
        if info.get("is_org_shared") is True:
            found.append("people of other workspaces of the organisation")
        if guests := await _guests(self._api, channel):
            found.append("1 guest" if guests == 1 else f"{guests} guests")
        return found


async def _guests(api: WebApi, channel: ChannelRef) -> int:
    """Members who are in some channels of the workspace alone."""
    restricted: set[str] = set()
    pages = 0
    async for page in api.pages("users.list", limit="1000"):
        users = objects_at(page, "members")
        guests = [one for one in users if one.get("is_restricted") is True]
        restricted |= {str(one.get("id")) for one in guests if one.get("deleted") is not True}
        pages += 1
        if pages == _MOST_PAGES:
            break
    here = 0
    if restricted:
        async for page in api.pages("conversations.members", channel=channel.channel, limit="999"):
            here += sum(1 for one in page.get("members") or () if one in restricted)
    return here
