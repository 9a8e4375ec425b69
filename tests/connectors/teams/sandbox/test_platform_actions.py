"""Further user actions in Teams: the events for bots."""

from __future__ import annotations

from typing import Any

import pytest
from botbuilder.core import TurnContext
from botbuilder.core.teams import TeamsActivityHandler
from botbuilder.schema.teams import ChannelInfo, TeamInfo, TeamsChannelAccount

from bridge.errors import InvalidData, Refused
from tests.connectors.teams.sandbox.bots import (
    PlainAdapter,
    listening,
    message_route,
    no_authentication,
)
from tests.connectors.teams.sandbox.inbox import inbox
from tests.connectors.teams.sandbox.running import RunningTeams


class Diary(TeamsActivityHandler):
    """Records events with botbuilder's own handlers."""

    def __init__(self) -> None:
        self.written: list[tuple[str, str | None]] = []
        self.failed: list[Exception] = []

    async def on_teams_channel_renamed(
        self, channel_info: ChannelInfo, team_info: TeamInfo, turn_context: TurnContext
    ) -> None:
        self.written.append(("renamed", channel_info.name))

    async def on_teams_members_added(
        self, teams_members_added: list[TeamsChannelAccount], team_info: Any, turn_context: Any
    ) -> None:
        self.written += [("joined", account.id) for account in teams_members_added]

    async def on_teams_members_removed(
        self, teams_members_removed: list[TeamsChannelAccount], team_info: Any, turn_context: Any
    ) -> None:
        self.written += [("left", account.id) for account in teams_members_removed]


async def test_a_program_receives_joins_departures_and_renames(teams: RunningTeams) -> None:
    bot = Diary()
    person_id = list(teams.teams.tenant.people)[1]
    async with listening(message_route(PlainAdapter(no_authentication()), bot)) as url:
        await teams.listen("plain-noauth", url)
        await teams.do(teams.teams.leave_as(teams.tenant, teams.channel, person_id))
        await teams.do(teams.teams.join_as(teams.tenant, teams.channel, person_id))
        await teams.do(teams.teams.rename_as(teams.tenant, teams.channel, person_id, "Plans"))
        await teams.settled()

    assert bot.failed == []
    assert bot.written == [("left", person_id), ("joined", person_id), ("renamed", "Plans")]


async def test_rename_events_of_channels_are_in_general_and_of_chats_in_the_chat(
    teams: RunningTeams,
) -> None:
    person_id = next(iter(teams.teams.tenant.people))
    chat = teams.teams.world().apps[0]["group_chat"]
    general = teams.teams.world().places[0].channel
    async with inbox(teams) as bot:
        await teams.do(teams.teams.rename_as(teams.tenant, teams.channel, person_id, "Plans"))
        await teams.do(teams.teams.rename_as(teams.tenant, chat, person_id, "Launch party"))
        await teams.settled()

    channel, group = sorted(bot.activities, key=lambda activity: "topicName" in activity)
    assert (channel["type"], channel["conversation"]["id"]) == ("conversationUpdate", general)
    assert channel["channelData"]["channel"] == {"id": teams.channel, "name": "Plans"}
    assert channel["channelData"]["eventType"] == "channelRenamed"
    assert (group["topicName"], group["conversation"]["id"]) == ("Launch party", chat)


async def test_invalid_platform_actions_are_refused(teams: RunningTeams) -> None:
    person_id = next(iter(teams.teams.tenant.people))
    general = teams.teams.world().places[0].channel
    with pytest.raises(Refused, match="General"):
        await teams.do(teams.teams.rename_as(teams.tenant, general, person_id, "Plans"))
    with pytest.raises(InvalidData, match="50"):
        await teams.do(teams.teams.rename_as(teams.tenant, teams.channel, person_id, "x" * 51))
    await teams.do(teams.teams.leave_as(teams.tenant, teams.channel, person_id))
    with pytest.raises(Refused, match="not a member"):
        await teams.say("from outside")
