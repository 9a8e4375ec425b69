"""What was said before the bridge came is in the archive after a backfill, once."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from bridge.app.archive.backfill import backfill_channels
from bridge.app.build import Bridge
from bridge.model import ChannelRef, MessageId
from bridge.model.export_records import ArchivedMessage, ArchiveFilter
from bridge.sandbox.user_actions import LocalUser, TakesUserActions
from tests.e2e.local_sandbox import Sandbox, configuration, local_sandbox, running
from tests.waiting import LONGEST_WAIT

PLATFORMS = ("slack", "discord")  # Teams and plain IRC tell nobody what was said earlier


def user_on(local: Sandbox, platform: str, person: int = 0) -> LocalUser:
    workspace, native = local.place(platform, "general")
    platform_ = local.platforms[platform]
    assert isinstance(platform_, TakesUserActions)
    return LocalUser(platform_, workspace, native, local.person(platform, workspace, person))


def settings(local: Sandbox, folder: Path) -> dict[str, Any]:
    found = configuration(local, folder / "bridge.sqlite3", channels=("general",))
    return found | {"files": {"allow_loopback": True}, "catch_up": {"requests_per_minute": 6000}}


async def backfilled(bridge: Bridge, *, since: float = 0.0) -> None:
    """Read all channels of the room, as far as their platforms tell."""
    operations = bridge.router.operations
    operations.begin_backfill(backfill_channels(bridge.rooms.all, "general"), since)
    async with asyncio.timeout(LONGEST_WAIT):
        while any(one.state in ("waiting", "reading") for one in operations.backfills):  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def archived(bridge: Bridge, local: Sandbox, platform: str) -> list[ArchivedMessage]:
    """The messages of the platform's channel, by time."""
    _, native = local.place(platform, "general")
    for conversation in await bridge.store.archived_conversations():
        page = await bridge.store.archived_messages(
            conversation.timelines, ArchiveFilter(deleted=True), after=None, limit=1000
        )
        found = [m for m in page.messages if m.place and m.place.channel.channel == native]
        if found:
            return found
    return []


def text_of(message: ArchivedMessage) -> str:
    return getattr(message.message.content[0], "text", "")


@pytest.mark.parametrize("platform", PLATFORMS)
async def test_messages_threads_edits_reactions_and_files_are_there_once(
    tmp_path: Path, platform: str
) -> None:
    async with local_sandbox() as local:
        user, other = user_on(local, platform), user_on(local, platform, 1)
        root = await user.say("the root")
        await asyncio.sleep(0.01)  # people are not as fast as a test
        await other.say("in the thread", root.id)
        await asyncio.sleep(0.01)
        wrong = await user.say("wrogn")
        await user.edit(wrong.id, "wrong")
        workspace, native = local.place(platform, "general")
        target = local.platforms[platform]
        await target.react_as(
            workspace, native, local.person(platform, workspace, 1), root.id, "👍"
        )  # type: ignore[attr-defined]
        gone = await other.say("deleted at once")
        await other.delete(gone.id)
        await user.post_file("cat.txt", b"meow", text="with a file")

        async with running(local, settings(local, tmp_path)) as (bridge, _):
            assert await archived(bridge, local, platform) == []
            await backfilled(bridge)
            first = await archived(bridge, local, platform)
            await backfilled(bridge)
            again = await archived(bridge, local, platform)

            texts = [text_of(message) for message in first]
            assert texts[:3] == ["the root", "in the thread", "wrong"]
            assert len(texts) == 4
            assert [m.message.message_id for m in again] == [m.message.message_id for m in first]
            by_text = dict(zip(texts, first, strict=True))
            assert by_text["in the thread"].root == by_text["the root"].message.message_id
            assert by_text["wrong"].edited_at is not None
            assert [reaction.emoji for reaction in by_text["the root"].reactions] == ["👍"]
            assert b"blob:sha256-" in first[3].body
            assert first[0].author.name == root.author
            assert (await bridge.store.verify_chain({})).faults == []
            for elsewhere in local.platforms:
                assert not [m for m in local.standing(elsewhere, "general") if m.bot]


async def test_a_backfill_meets_live_messages_without_doubles_and_leaves_copies_out(
    tmp_path: Path,
) -> None:
    async with local_sandbox() as local:
        await local.say("slack", "general", "before")
        async with running(local, settings(local, tmp_path)) as (bridge, _):
            await local.say("slack", "general", "live")
            await local.say("teams", "general", "from elsewhere")
            await local.until(
                lambda: len([m for m in local.standing("slack", "general") if m.bot]) == 1
            )
            await bridge.router.settled()
            await backfilled(bridge)

            found = [text_of(message) for message in await archived(bridge, local, "slack")]
            assert found == ["before", "live"]
            progress = {one.channel.platform: one for one in bridge.router.operations.backfills}
            assert progress["slack"].left_out["posted by the bridge"] == 1
            assert progress["teams"].state == "failed"
            assert "tells nobody what was said earlier" in progress["teams"].error
            assert (await bridge.store.verify_chain({})).faults == []


async def test_people_who_opted_out_and_private_messages_are_left_out(tmp_path: Path) -> None:
    async with local_sandbox() as local:
        hidden = user_on(local, "slack", 1)
        await hidden.say("do not archive me")
        await local.say("slack", "general", "!private between us")
        await local.say("slack", "general", "welcome")
        async with running(local, settings(local, tmp_path)) as (bridge, _):
            workspace, _ = local.place("slack", "general")
            actor = MessageId(f"slack:{workspace}:{local.person('slack', workspace, 1)}")
            await bridge.router.operations.set_blocked(actor, "op", None, blocked=True)  # type: ignore[arg-type]
            await backfilled(bridge)

            found = [text_of(message) for message in await archived(bridge, local, "slack")]
            assert found == ["welcome"]


async def test_only_what_was_said_since_a_time_is_read(tmp_path: Path) -> None:
    async with local_sandbox() as local:
        old = await user_on(local, "slack").say("old")
        await asyncio.sleep(0.05)
        new = await user_on(local, "slack").say("new")
        since = (float(old.id) + float(new.id)) / 2
        async with running(local, settings(local, tmp_path)) as (bridge, _):
            await backfilled(bridge, since=since)

            assert [text_of(m) for m in await archived(bridge, local, "slack")] == ["new"]


def test_a_name_of_no_room_is_told_with_those_there_are() -> None:
    from bridge.errors import ConfigError

    with pytest.raises(ConfigError, match="no channel of a room, 'nowhere'; rooms: none"):
        backfill_channels([], "nowhere")
    assert ChannelRef
