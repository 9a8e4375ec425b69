"""Guilds install the Discord app by themselves; one bot serves them all."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bridge.model.tenants import TenantId
from tests.e2e.installing import Installing, discord_of, installing
from tests.e2e.local_sandbox import local_sandbox


@asynccontextmanager
async def with_guilds(
    tmp_path: Path, count: int = 2
) -> AsyncGenerator[tuple[Installing, list[str]]]:
    """A bridge whose app is in so many guilds; their channels #general are one room."""
    agents = [{"agent": "echo", "listen": "always"}] if count == 1 else []
    rooms = {"lounge": {"channel": "general", "scope": "all", "agents": agents}}
    async with (
        local_sandbox(names=("discord",)) as local,
        installing(local, tmp_path, discord=True, rooms=rooms) as here,
    ):
        guilds = [str(guild) for guild in discord_of(local).state.guilds]
        for guild in guilds[:count]:
            here.pages.append(await here.browser.install("discord", guild))
        await local.until(lambda: members(here) == count)
        yield here, guilds


def members(here: Installing) -> int:
    return sum(len(room.members) for room in here.bridge.rooms.all)


def texts(here: Installing, guild: str) -> list[str]:
    _, channel = next(
        (place.workspace, place.channel)
        for place in discord_of(here.local).world().places
        if place.workspace == guild and place.channel_name == "general"
    )
    return [message.text for message in discord_of(here.local).messages(guild, channel)]


async def say(here: Installing, guild: str, text: str) -> None:
    index = list(map(str, discord_of(here.local).state.guilds)).index(guild)
    workspace, channel = here.local.place("discord", "general", index)
    person = here.local.person("discord", workspace)
    await discord_of(here.local).post_as(workspace, channel, person, text)


async def test_two_guilds_install_the_app_and_are_relayed(tmp_path: Path) -> None:
    async with with_guilds(tmp_path) as (here, (acme, globex)):
        await say(here, acme, "hello from Acme")
        await here.local.until(lambda: "hello from Acme" in texts(here, globex))
        await say(here, globex, "hello from Globex")
        await here.local.until(lambda: "hello from Globex" in texts(here, acme))

        assert "Added to Acme on Discord" in here.pages[0]
        assert list(here.bridge.connectors) == ["discord"]


async def test_a_guild_that_removes_the_bot_ends_and_may_install_it_again(tmp_path: Path) -> None:
    async with with_guilds(tmp_path) as (here, (acme, globex)):
        oauth, guilds = discord_of(here.local).oauth, discord_of(here.local).state.guilds
        oauth.remove(guilds[int(globex)])
        await here.local.until(lambda: members(here) == 1)
        ended = await here.bridge.store.tenant(TenantId(f"discord:{globex}"))
        await here.browser.install("discord", globex)
        await here.local.until(lambda: members(here) == 2)
        await say(here, acme, "welcome back")
        await here.local.until(lambda: "welcome back" in texts(here, globex))

        assert ended is not None
        assert ended.state == "ended"


@pytest.mark.long  # discord.py waits some seconds before a new session
async def test_a_guild_that_removed_the_bot_during_an_outage_ends_at_the_next_session(
    tmp_path: Path,
) -> None:
    async with with_guilds(tmp_path) as (here, (_, globex)):
        discord = discord_of(here.local)
        bot = discord.oauth.app.user.id
        del discord.state.guilds[int(globex)].members[bot]
        await discord.disconnect("invalidate")
        await here.local.until(lambda: members(here) == 1)

        ended = await here.bridge.store.tenant(TenantId(f"discord:{globex}"))
        assert ended is not None
        assert ended.state == "ended"


async def test_a_guild_that_did_not_install_the_app_is_not_heard(tmp_path: Path) -> None:
    async with with_guilds(tmp_path, 1) as (here, (acme, globex)):
        discord = discord_of(here.local)
        discord.oauth.add(discord.state.guilds[int(globex)], 2**40)  # by a link, past our page
        await say(here, globex, "unheard")
        await say(here, acme, "heard")
        await here.local.until(lambda: len(texts(here, acme)) == 2)

        assert "> heard" in texts(here, acme)[1]
        assert texts(here, globex) == ["unheard"]
        assert members(here) == 1


async def test_a_code_for_another_guild_and_a_replayed_code_are_refused(tmp_path: Path) -> None:
    async with with_guilds(tmp_path, 1) as (here, (acme, globex)):
        callback = await here.browser.allow(await here.browser.begin("discord"), acme)
        forged = await here.browser.get(callback.replace(acme, globex))
        consent = await here.browser.begin("discord")
        state = consent.rpartition("state=")[2]
        replayed = await here.browser.get(
            f"/oauth/discord/callback?code=used-before&guild_id={globex}&state={state}"
        )

        assert [forged.status_code, replayed.status_code] == [400, 400]
        assert "other_guild" in forged.text
        assert "invalid_grant" in replayed.text
        assert await here.bridge.store.tenant(TenantId(f"discord:{globex}")) is None
