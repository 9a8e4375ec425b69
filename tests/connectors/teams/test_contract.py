"""The shipped contract suites, run with the Teams connector against the local Teams."""

from __future__ import annotations

from collections.abc import AsyncIterator

import aiohttp
import pytest

from bridge.model import Call, ChannelRef
from bridge.testing.connector_contract import ConnectorContract, ConnectorRig, post_of
from bridge.testing.streams_contract import StreamRig, StreamsContract, stream_post
from connectors.teams import ids
from connectors.teams.connector import TeamsConnector
from connectors.teams.send import translated
from tests.connectors.teams.local import ACCOUNT, Bench, bench
from tests.connectors.teams.sdk_errors import sdk_errors


class TestTeamsContract(ConnectorContract):
    @pytest.fixture
    async def rig(self) -> AsyncIterator[ConnectorRig]:
        async with bench() as local:
            yield _rig(local)

    def pings(self, call: Call) -> bool:
        text = str(call.body.get("text", ""))
        return bool(call.body.get("entities")) or "<at" in text or "<" in text.replace("<br>", "")


class TestTeamsStreams(StreamsContract):
    @pytest.fixture
    async def rig(self) -> AsyncIterator[ConnectorRig]:
        async with bench() as local:
            chat = local.teams.personal_chat("bridge", local.person)
            rig = _rig(local, ids.channel_ref(local.channel.workspace, chat))
            tools = local.connector._tools  # pyright: ignore[reportPrivateUsage]  # a new process has
            rig.fields = {"restarted": TeamsConnector(ACCOUNT, local.settings, tools)}
            yield rig
            await rig.fields["restarted"].close()

    @pytest.fixture
    async def growing(self, rig: ConnectorRig) -> StreamRig:
        await rig.say("a question", None)
        await rig.inbox.until(lambda: bool(rig.inbox.raws))
        post = stream_post(rig, post_of(rig, "x"), "teams:t:somebody", None)
        return StreamRig(post, rig.standing, rig.fields["restarted"])


def _rig(local: Bench, channel: ChannelRef | None = None) -> ConnectorRig:
    channel = channel or local.channel

    async def say(text: str, thread: str | None) -> str:
        posted = await local.teams.post_as(
            channel.workspace, channel.channel, local.person, text, thread
        )
        return posted.id

    async def forge() -> int:
        activity = {"type": "message", "id": "1", "serviceUrl": local.teams.service_url("bridge")}
        async with (
            aiohttp.ClientSession() as session,
            session.post(
                local.url, json=activity, headers={"Authorization": "Bearer a.b.c"}
            ) as got,
        ):
            return got.status

    return ConnectorRig(
        connector=local.connector,
        channel=channel,
        inbox=local.inbox,
        say=say,
        standing=lambda: local.teams.messages(channel.workspace, channel.channel),
        fault=local.context.faults.add,
        post_route=f"teams:activity.post:{channel.channel}",
        event_route=f"teams:event:{channel.channel}",
        stop=local.stop,
        translate=translated,
        sdk_errors=sdk_errors(),
        kinds=["activity"],
        forge=forge,
        fields={"tasks": ("TeamsConnector", "Receiver", "BotToken", "Sender", "HttpClient")},
    )
