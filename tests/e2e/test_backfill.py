"""What was said before the bridge came is in the archive after a backfill, once."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from bridge.app.archive.backfill import backfill_channels
from bridge.app.build import Bridge
from bridge.model import ChannelRef, MessageId
from bridge.model.export_records import ArchivedMessage, ArchiveFilter
from bridge.ports.abilities.past import PastPage
from bridge.sandbox.user_actions import LocalUser, TakesUserActions
from connectors.discord import read_back as discord_read_back
from connectors.slack import read_back as slack_read_back
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
    await operations.begin_backfill(backfill_channels(bridge.rooms.all, "general"), since)
    async with asyncio.timeout(LONGEST_WAIT):
        while any(one.is_open for one in operations.backfills):  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def said_live(local: Sandbox, bridge: Bridge, platform: str, text: str) -> None:
    """Say something and wait until the bridge has relayed it: a backfill reads what is older than
    the newest event that the bridge has received."""
    other = "discord" if platform == "slack" else "slack"
    await local.say(platform, "general", text)
    await local.until(lambda: any(text in m.text for m in local.standing(other, "general")))
    await bridge.router.settled()


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


@pytest.mark.parametrize("platform", PLATFORMS)
async def test_a_mentioned_person_who_said_nothing_has_a_name(
    tmp_path: Path, platform: str
) -> None:
    async with local_sandbox() as local:
        workspace, _ = local.place(platform, "general")
        silent = local.person(platform, workspace, 1)
        await user_on(local, platform).say(f"ask <@{silent}> please")
        async with running(local, settings(local, tmp_path)) as (bridge, _):
            await backfilled(bridge)
            (message,) = await archived(bridge, local, platform)
            name = (await user_on(local, platform, 1).say("I am here")).author

    assert text_of(message).startswith(f"ask [@{name}](uacs:actor/{platform}:")


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
            await said_live(local, bridge, "slack", "afterwards")
            await backfilled(bridge)

            found = [text_of(message) for message in await archived(bridge, local, "slack")]
            assert found == ["before", "live", "afterwards"]
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


@pytest.mark.parametrize(
    ("platform", "module"), [("slack", slack_read_back), ("discord", discord_read_back)]
)
async def test_a_backfill_continues_at_its_page_after_a_restart(
    tmp_path: Path, platform: str, module: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_PAGE", "2" if platform == "slack" else 2)
    answered: list[PastPage] = []
    page_of = module.ReadBack.page

    async def two_pages_in_a_life(reader: object, *arguments: object) -> PastPage:
        if lives.pages == 2:
            lives.is_third = True
            await asyncio.Event().wait()  # the bridge ends during the third
        lives.pages += 1
        answered.append(await page_of(reader, *arguments))
        return answered[-1]

    monkeypatch.setattr(module.ReadBack, "page", two_pages_in_a_life)
    async with local_sandbox() as local:
        user = user_on(local, platform)
        root = await user.say("message 0")
        for number in range(3):
            await asyncio.sleep(0.002)  # people are not as fast as a test
            await user.say(f"reply {number}", root.id)
        for number in range(1, 6):
            await asyncio.sleep(0.002)
            await user.say(f"message {number}")
        expected = [f"message {n}" for n in range(6)] + [f"reply {n}" for n in range(3)]
        found: list[ArchivedMessage] = []
        lives = SimpleNamespace(pages=0, count=0, is_third=False)
        while not answered or answered[-1].next is not None:
            lives.pages, lives.count, lives.is_third = 0, lives.count + 1, False
            assert lives.count < 10, "it never ends"
            async with running(local, settings(local, tmp_path)) as (bridge, _):
                operations = bridge.router.operations
                if not answered:
                    channels = backfill_channels(bridge.rooms.all, "general")
                    chosen = [one for one in channels if one[1].platform == platform]
                    await operations.begin_backfill(chosen, 0.0)
                await local.until(
                    lambda: lives.is_third or not operations.backfills[0].is_open  # noqa: B023
                )
                found = await archived(bridge, local, platform)

        assert lives.count > 2
        assert sorted(text_of(message) for message in found) == expected
        posts = sum(len(page.posts) for page in answered)
        assert posts <= len(expected) + 2 * (lives.count - 1), "a page was read again for each life"


async def test_a_post_that_the_bridge_missed_is_left_to_catch_up_and_mirrored(
    tmp_path: Path,
) -> None:
    async with local_sandbox() as local:
        await local.say("slack", "general", "before the bridge")
        async with running(local, settings(local, tmp_path)) as (bridge, _):
            await said_live(local, bridge, "slack", "live")
        await local.say("slack", "general", "missed")
        configured = settings(local, tmp_path)
        for room in configured["rooms"].values():
            room["backfill"] = "all"
        async with running(local, configured) as (bridge, _):
            await local.until(
                lambda: any("missed" in m.text for m in local.standing("discord", "general"))
            )
            await local.until(
                lambda: [one.state for one in bridge.router.operations.backfills] == ["done"] * 2
            )
            found = bridge.router.operations.backfills
            texts = [text_of(message) for message in await archived(bridge, local, "slack")]

            assert texts == ["before the bridge", "live", "missed"]
            assert {one.channel.platform for one in found} == {"slack", "discord"}
            copies = [m for m in local.standing("discord", "general") if "before" in m.text]
            assert copies == []


def test_a_name_of_no_room_is_told_with_those_there_are() -> None:
    from bridge.errors import ConfigError

    with pytest.raises(ConfigError, match="no channel of a room, 'nowhere'; rooms: none"):
        backfill_channels([], "nowhere")
    assert ChannelRef
