"""The channels of a workspace that the app can see, and the names of mentioned channels."""

from __future__ import annotations

from collections.abc import Sequence

from bridge.errors import AuthFailed, NotFound
from bridge.model import ChannelRef
from bridge.ports.abilities.channels import ChannelInfo
from connectors.slack import ids
from connectors.slack.identity import OwnIdentity
from connectors.slack.ids import Identity
from connectors.slack.json_values import Json, object_at, objects_at, text_at
from connectors.slack.send import WebApi

PRIVATE = "private-channel"
_PUBLIC = "public_channel"
_PRIVATE = "private_channel"


class Channels:
    """The channels of one workspace."""

    def __init__(self, api: WebApi, own_identity: OwnIdentity) -> None:
        self._api = api
        self._own_identity = own_identity

    async def visible(self) -> Sequence[ChannelInfo]:
        """List the public channels and the private ones with the bot in them, without archived
        ones.

        Raises PlatformError.
        """
        identity = await self._own_identity.get()
        try:
            channels = await _listed(self._api, f"{_PUBLIC},{_PRIVATE}")
        except AuthFailed as error:
            if error.code != "missing_scope":
                raise
            channels = await _listed(
                self._api, _PUBLIC
            )  # without groups:read Slack lists public channels only
        return [_info(channel, identity) for channel in channels]

    async def name(self, channel: ChannelRef) -> str | None:
        """The name of a channel as everybody in the workspace may know it.

        A private channel, or one that the bot cannot see, has the placeholder that Slack shows to
        people outside it. Raises PlatformError.
        """
        try:
            answer = await self._api.read("conversations.info", channel=channel.channel)
        except NotFound:
            return PRIVATE
        channel_object = object_at(answer, "channel")
        if channel_object.get("is_private") is True or channel_object.get("is_im") is True:
            return PRIVATE
        return text_at(channel_object, "name") or None

    def with_id(self, channel: str, workspace: str | None) -> ChannelRef | None:
        """None always: `visible` lists every channel that the app can see."""
        return None


async def _listed(api: WebApi, types: str) -> list[Json]:
    channels: list[Json] = []
    async for page in api.pages("conversations.list", types=types, exclude_archived="true"):
        channels += objects_at(page, "channels")
    return channels


def _info(channel: Json, identity: Identity) -> ChannelInfo:
    return ChannelInfo(
        ref=ids.channel_ref(identity.team, text_at(channel, "id")),
        name=text_at(channel, "name"),
        ours=channel.get("is_member") is True,
        kind="private channel" if channel.get("is_private") is True else "channel",
        workspace_name=identity.team_name,
    )
