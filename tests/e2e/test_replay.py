"""Archived messages are posted in a channel of another platform, once, in order, without a ping."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from bridge.app.archive.replay import replay_of
from bridge.app.build import Bridge
from bridge.errors import ConfigError
from bridge.sandbox.feed import LocalMessage
from tests.e2e.local_sandbox import Sandbox, local_sandbox, running
from tests.e2e.test_backfill import backfilled, settings, user_on


def key_of(bridge: Bridge, platform: str) -> str:
    (room,) = bridge.rooms.all
    return next(m.channel.key for m in room.members if m.channel.platform == platform)


async def begin(bridge: Bridge, platform: str = "discord") -> None:
    source, target = key_of(bridge, "slack"), key_of(bridge, platform)
    asked = await replay_of(bridge.store, bridge.rooms.all, source, target, None, None)
    await bridge.router.operations.begin_replay(asked)


async def ended(local: Sandbox, bridge: Bridge) -> None:
    await local.until(lambda: not any(one.is_open for one in bridge.router.operations.replays))
    await bridge.router.settled()


def copies(local: Sandbox, platform: str) -> list[LocalMessage]:
    return [m for m in local.standing(platform, "general") if m.bot]


async def test_messages_are_posted_with_author_and_time_in_their_thread_and_nowhere_else(
    tmp_path: Path,
) -> None:
    async with local_sandbox() as local:
        user, other = user_on(local, "slack"), user_on(local, "slack", 1)
        root = await user.say(f"the root for <@{local.person('slack', 'T0ACME', 1)}>")
        await asyncio.sleep(0.005)  # people are not as fast as a test
        await other.say("in the thread", root.id)
        await asyncio.sleep(0.005)
        gone = await other.say("deleted")
        await user.say("the last")
        await other.delete(gone.id)
        async with running(local, settings(local, tmp_path)) as (bridge, _):
            await backfilled(bridge)
            await begin(bridge)
            await ended(local, bridge)
            await begin(bridge)  # once more: nothing is posted twice
            await ended(local, bridge)

            (progress,) = bridge.router.operations.replays
            found = copies(local, "discord")
            assert [m.text for m in found][1:] == ["in the thread", "the last"]
            assert found[0].text.startswith("the root for ")
            assert all(re.search(r" · 20\d\d-\d\d-\d\d \d\d:\d\d UTC", m.author) for m in found)
            assert progress.posted == 3
            assert [m for m in found if m.raw.get("mentions")] == []
            for platform in ("slack", "teams", "irc"):
                assert copies(local, platform) == []


async def test_a_replay_continues_after_a_restart_and_posts_nothing_twice(tmp_path: Path) -> None:
    async with local_sandbox() as local:
        user = user_on(local, "slack")
        for number in range(8):
            await user.say(f"message {number}")
            await asyncio.sleep(0.003)
        lives = 0
        while True:
            lives += 1
            assert lives < 20, "it never ends"
            async with running(local, settings(local, tmp_path)) as (bridge, _):
                if lives == 1:
                    await backfilled(bridge)
                    await begin(bridge)
                before = len(copies(local, "discord"))
                await local.until(
                    lambda: len(copies(local, "discord")) >= min(before + 2, 8)  # noqa: B023
                )
                if len(copies(local, "discord")) == 8:
                    await ended(local, bridge)
                    (progress,) = bridge.router.operations.replays
                    break

        assert [m.text for m in copies(local, "discord")] == [f"message {n}" for n in range(8)]
        assert progress.posted == 8
        assert progress.state == "done"


async def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    async with local_sandbox() as local:
        await user_on(local, "slack").say("hello")
        async with running(local, settings(local, tmp_path)) as (bridge, _):
            await backfilled(bridge)
            store, rooms = bridge.store, bridge.rooms.all
            slack = key_of(bridge, "slack")
            with pytest.raises(ConfigError, match="'nowhere' in the archive is not there"):
                await replay_of(store, rooms, "nowhere", slack, None, None)
            with pytest.raises(ConfigError, match="'x:y:z' is no channel of a room"):
                await replay_of(store, rooms, slack, "x:y:z", None, None)
