"""The channels and chats of a bot, from stored references and from requests to its teams."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from bridge.errors import Refused
from bridge.model import ChannelRef
from bridge.ports.abilities.channels import ChannelInfo
from bridge.ports.installs import Tenancy
from connectors.teams import ids
from connectors.teams.activity import object_of, objects, string
from connectors.teams.references import Reference, References
from connectors.teams.send import Sender

_GENERAL = "General"  # Teams leaves its name out, so that clients can translate the word


class Channels:
    """The channels and chats of one bot; `tenant` is `tenant_id` of its settings, `tenancy` that of
    a bot which many tenants install."""

    def __init__(
        self,
        references: References,
        sender: Sender,
        tenant: str | None,
        tenancy: Tenancy | None = None,
    ) -> None:
        self._tenancy = tenancy
        self._references = references
        self._sender = sender
        self._tenant = tenant

    async def visible(self) -> Sequence[ChannelInfo]:
        """Return the bot's chats, and all channels of the teams that sent an activity.

        Raises PlatformError if Teams cannot be reached.
        """
        references = [one for one in await self._references.all() if await self._is_served(one)]
        channels = {reference.conversation: _channel_info(reference) for reference in references}
        teams = {reference.team: reference for reference in references if reference.team}
        for team in teams.values():
            for info in await _of_team(team, self._sender):
                channels[info.ref.channel] = info
        return list(channels.values())

    async def _is_served(self, reference: Reference) -> bool:
        tenancy = self._tenancy
        return tenancy is None or await tenancy.admits(reference.tenant.lower())

    async def name(self, channel: ChannelRef) -> str | None:
        """Return None: bots cannot look up the name of a single channel."""
        return None

    def with_id(self, channel: str, workspace: str | None) -> ChannelRef | None:
        """Return the reference of a conversation, also without any activity from it."""
        tenant = workspace or self._tenant
        return ids.channel_ref(tenant, channel) if tenant and ids.is_conversation(channel) else None


async def _of_team(reference: Reference, sender: Sender) -> list[ChannelInfo]:
    path = f"/v3/teams/{quote(reference.team, safe='')}"
    try:
        details = await sender.get(reference.channel, path)
        listed = await sender.get(reference.channel, f"{path}/conversations")
    except Refused:
        return []  # the bot was removed from the team
    return [
        ChannelInfo(
            ref=ids.channel_ref(reference.tenant, string(channel, "id")),
            name=string(channel, "name") or _GENERAL,
            workspace_name=string(details, "name") or reference.team_name,
        )
        for channel in objects(object_of({"listed": listed}, "listed"), "conversations")
        if string(channel, "id")
    ]


def _channel_info(reference: Reference) -> ChannelInfo:
    return ChannelInfo(
        ref=reference.channel,
        name=reference.name or reference.conversation,
        kind={"personal": "personal", "groupChat": "chat"}.get(reference.kind, "channel"),
        workspace_name=reference.team_name,
    )
