"""The channels of a workspace that the app can see, and the names of those that are mentioned."""

from __future__ import annotations

from collections.abc import Sequence

from bridge.errors import AuthFailed, NotFound
from bridge.model import ChannelRef
from bridge.ports.abilities.channels import ChannelInfo
from connectors.slack import ids
from connectors.slack.ids import Identity
from connectors.slack.json_values import Json, object_at, objects_at, text_at
from connectors.slack.send import WebApi

PRIVATE = "private-channel"
_PUBLIC = "public_channel"
_PRIVATE = "private_channel"


async def list_channels(api: WebApi, us: Identity) -> Sequence[ChannelInfo]:
    """Public channels, and private ones that the bot is in; archived ones are left out."""
    try:
        found = await _listed(api, f"{_PUBLIC},{_PRIVATE}")
    except AuthFailed as error:
        if error.code != "missing_scope":
            raise
        found = await _listed(api, _PUBLIC)  # without groups:read there are no private ones
    return [_info(channel, us) for channel in found]


async def channel_name(api: WebApi, channel: ChannelRef) -> str | None:
    """The name as everybody in the workspace may know it. A private channel, and one that the bot
    cannot see, is called what Slack shows to those who are not in it."""
    try:
        answer = await api.read("conversations.info", channel=channel.channel)
    except NotFound:
        return PRIVATE
    found = object_at(answer, "channel")
    if found.get("is_private") is True or found.get("is_im") is True:
        return PRIVATE
    return text_at(found, "name") or None


async def _listed(api: WebApi, types: str) -> list[Json]:
    found: list[Json] = []
    async for page in api.pages("conversations.list", types=types, exclude_archived="true"):
        found += objects_at(page, "channels")
    return found


def _info(channel: Json, us: Identity) -> ChannelInfo:
    return ChannelInfo(
        ref=ids.channel_ref(us.team, text_at(channel, "id")),
        name=text_at(channel, "name"),
        ours=channel.get("is_member") is True,
        kind="private channel" if channel.get("is_private") is True else "channel",
        workspace_name=us.team_name,
    )
