"""The channels of a workspace that the app can see."""

from __future__ import annotations

from collections.abc import Sequence

from bridge.errors import AuthFailed
from bridge.ports.connector import ChannelInfo
from connectors.slack import ids
from connectors.slack.ids import Identity
from connectors.slack.json_values import Json, objects_at, text_at
from connectors.slack.send import WebApi

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
