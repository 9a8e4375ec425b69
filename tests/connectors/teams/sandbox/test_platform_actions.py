"""What else people do in Teams: which bots hear of it, and how."""

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
    """Writes down what happens, by botbuilder's own handlers for it."""

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


async def test_a_program_hears_who_comes_and_goes_and_new_names(teams: RunningTeams) -> None:
    bot = Diary()
    who = list(teams.teams.tenant.people)[1]
    async with listening(message_route(PlainAdapter(no_authentication()), bot)) as url:
        await teams.listen("plain-noauth", url)
        await teams.do(teams.teams.leave_as(teams.tenant, teams.channel, who))
        await teams.do(teams.teams.join_as(teams.tenant, teams.channel, who))
        await teams.do(teams.teams.rename_as(teams.tenant, teams.channel, who, "Plans"))
        await teams.settled()

    assert bot.failed == []
    assert bot.written == [("left", who), ("joined", who), ("renamed", "Plans")]


async def test_a_channel_is_renamed_in_its_teams_general_and_a_chat_in_itself(
    teams: RunningTeams,
) -> None:
    who = next(iter(teams.teams.tenant.people))
    chat = teams.teams.world().apps[0]["group_chat"]
    general = teams.teams.world().places[0].channel
    async with inbox(teams) as bot:
        await teams.do(teams.teams.rename_as(teams.tenant, teams.channel, who, "Plans"))
        await teams.do(teams.teams.rename_as(teams.tenant, chat, who, "Launch party"))
        await teams.settled()

    channel, group = sorted(bot.activities, key=lambda activity: "topicName" in activity)
    assert (channel["type"], channel["conversation"]["id"]) == ("conversationUpdate", general)
    assert channel["channelData"]["channel"] == {"id": teams.channel, "name": "Plans"}
    assert channel["channelData"]["eventType"] == "channelRenamed"
    assert (group["topicName"], group["conversation"]["id"]) == ("Launch party", chat)


async def test_what_teams_refuses_is_refused(teams: RunningTeams) -> None:
    who = next(iter(teams.teams.tenant.people))
    general = teams.teams.world().places[0].channel
    with pytest.raises(Refused, match="General"):
        await teams.do(teams.teams.rename_as(teams.tenant, general, who, "Plans"))
    with pytest.raises(InvalidData, match="50"):
        await teams.do(teams.teams.rename_as(teams.tenant, teams.channel, who, "x" * 51))
    await teams.do(teams.teams.leave_as(teams.tenant, teams.channel, who))
    with pytest.raises(Refused, match="not a member"):
        await teams.say("from outside")
