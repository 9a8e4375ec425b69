"""The seeded tenant, and the local Teams as a part of the sandbox."""

from __future__ import annotations

import asyncio
import contextlib

import aiohttp

from bridge.sandbox.platform import LocalPlatform, SandboxContext
from bridge.sandbox.server import serve_sandbox
from connectors.teams.sandbox import LOCAL
from tests.waiting import LONGEST_WAIT


def test_the_world_has_two_teams_with_channels_and_bot_ids() -> None:
    teams: LocalPlatform = LOCAL.build(SandboxContext(base_url="http://sandbox", channels=4))

    world = teams.world()

    tenant = world.places[0].workspace
    names = [(place.workspace_name, place.channel_name) for place in world.places]
    channels = ["General", "Random", "Help", "ch-4"]
    assert names == [(team, channel) for team in ("Atlas", "Borealis") for channel in channels]
    assert {place.workspace for place in world.places} == {tenant}
    assert all(p.channel.endswith("@thread.tacv2") for p in world.places)
    assert [person.name for person in world.people][:2] == ["Ada Lindqvist", "Bo Tanaka"]
    bridge = world.apps[0]
    assert [app["key"] for app in world.apps] == ["bridge", "plain", "plain-noauth"]
    assert bridge == {
        "key": "bridge",
        "app_id": "b0700000-0000-4000-8000-000000000001",
        "app_password": "fake-secret-of-bridge",
        "name": "Bridge",
        "bot_id": "28:b0700000-0000-4000-8000-000000000001",
        "tenant": tenant,
        "auth": True,
        "hears_all": True,
        "service_url": "http://sandbox/teams/svc/",
        "token_url": f"http://sandbox/teams/login/{tenant}/oauth2/v2.0/token",
        "openid_url": "http://sandbox/teams/keys/openidconfiguration",
        "teams": [
            {"id": world.places[0].channel, "name": "Atlas"},
            {"id": world.places[4].channel, "name": "Borealis"},
        ],
        "group_chat": bridge["group_chat"],
        "not_installed": bridge["not_installed"],
    }
    assert world.apps[2]["service_url"] == f"http://sandbox/teams/noauth/{world.apps[2]['app_id']}/"
    assert bridge["not_installed"] not in {place.channel for place in world.places}


def test_the_seeded_ids_are_stable_and_there_is_at_least_one_channel() -> None:
    with_channel, without_channel = (
        LOCAL.build(SandboxContext("http://sandbox", channels=n)) for n in (1, 0)
    )

    assert with_channel.world() == without_channel.world()
    assert [place.channel_name for place in with_channel.world().places] == ["General", "General"]


async def test_the_sandbox_server_serves_teams_to_people_and_bots() -> None:
    served: asyncio.Queue[str] = asyncio.Queue()
    serving = asyncio.create_task(
        serve_sandbox(names=("teams",), on_ready=lambda a, _: served.put_nowait(a.base_url))
    )
    base_url = await asyncio.wait_for(served.get(), LONGEST_WAIT)

    async with aiohttp.ClientSession() as session:
        async with session.get(f"{base_url}/_control/world") as response:
            world = (await response.json())["teams"]
        place, app = world["places"][0], world["apps"][0]
        where = {key: place[key] for key in ("workspace", "channel")}
        post = where | {"person": world["people"][0]["id"], "text": "hello"}
        async with session.post(f"{base_url}/_control/teams/posts", json=post) as response:
            posted = await response.json()
        async with session.get(f"{base_url}/_control/teams/messages", params=where) as response:
            standing = await response.json()
        async with session.post(f"{app['service_url']}v3/conversations", json={}) as response:
            denied = response.status
    serving.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await serving

    assert standing == [posted]
    assert denied == 401
