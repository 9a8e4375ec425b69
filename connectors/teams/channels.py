"""Which channels and chats the bot is in, by what it has heard and by asking its teams."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from bridge.errors import Refused
from bridge.ports.abilities.channels import ChannelInfo
from connectors.teams import ids
from connectors.teams.activity import object_of, objects, string
from connectors.teams.references import Reference, References
from connectors.teams.send import Sender

_GENERAL = "General"  # Teams leaves its name out, so that clients can translate the word


async def list_channels(references: References, sender: Sender) -> Sequence[ChannelInfo]:
    """Every channel of the teams that the bot was heard in, and its chats. Raises PlatformError
    when Teams cannot be reached."""
    known = await references.all()
    found = {reference.conversation: _heard(reference) for reference in known}
    for team in {one.team: one for one in known if one.team}.values():
        for info in await _of_team(team, sender):
            found[info.ref.channel] = info
    return list(found.values())


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


def _heard(reference: Reference) -> ChannelInfo:
    return ChannelInfo(
        ref=reference.channel,
        name=reference.name or reference.conversation,
        kind={"personal": "personal", "groupChat": "chat"}.get(reference.kind, "channel"),
        workspace_name=reference.team_name,
    )
