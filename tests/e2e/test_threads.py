"""Forum posts with their titles, and threads that somebody closed, through the real SDKs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bridge.app.build import Bridge
from bridge.model import MessageId
from bridge.model.outbox_records import OperationRecord
from bridge.model.store_status import Explanation
from connectors.discord.sandbox import LocalDiscord
from connectors.discord.sandbox.permissions import Permission
from connectors.slack.sandbox import LocalSlack
from tests.e2e.local_sandbox import Sandbox, configuration, local_sandbox, running

OTHERS = ("slack", "teams")


def discord_of(local: Sandbox) -> LocalDiscord:
    discord = local.platforms["discord"]
    assert isinstance(discord, LocalDiscord)
    return discord


def with_forum(local: Sandbox, settings: dict[str, Any]) -> tuple[str, str]:
    """The room's Discord channel is the forum of its server."""
    guild, _ = local.place("discord", "general")
    forum = local.platforms["discord"].world().apps[0]["forums"][guild]
    for member in settings["rooms"]["general"]["members"]:
        if member["account"] == "discord":
            member["channel"] = forum
    return guild, forum


def standing(local: Sandbox) -> list[int]:
    return [len(local.standing(platform, "general")) for platform in OTHERS]


async def test_a_forum_post_keeps_its_title_and_its_replies(tmp_path: Path) -> None:
    async with local_sandbox() as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        guild, forum = with_forum(local, settings)
        discord = discord_of(local)
        ana, bob = (local.person("discord", guild, number) for number in (0, 1))
        async with running(local, settings) as (bridge, _):
            post = await discord.start_thread_as(
                guild, forum, ana, "Where shall we eat?", text="The old place closes."
            )
            await discord.post_as(guild, forum, bob, "By the river", post)
            await local.until(
                lambda: all(len(local.standing(platform, "general")) == 2 for platform in OTHERS)
            )
            await discord.edit_as(guild, forum, ana, post, "The old place has closed.")
            await local.until(
                lambda: all(
                    "has closed" in local.standing(platform, "general")[0].text
                    for platform in OTHERS
                )
            )
            await discord.rename_as(guild, post, ana, "Where did we eat?")
            await local.until(
                lambda: all(len(local.standing(platform, "general")) == 3 for platform in OTHERS)
            )

            for platform in OTHERS:
                first, answer, renamed = local.standing(platform, "general")
                title, words = (first.text.index(w) for w in ("Where shall we eat?", "The old"))
                assert title < words
                assert "By the river" in answer.text
                assert "The thread is now called" in renamed.text
                assert (answer.thread, renamed.thread) == (first.id, first.id)
            assert await bridge.store.dead_letters() == []


async def test_a_message_of_another_platform_becomes_a_forum_post_with_a_title(
    tmp_path: Path,
) -> None:
    async with local_sandbox() as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        guild, forum = with_forum(local, settings)
        discord = discord_of(local)
        async with running(local, settings):
            root = await local.say("slack", "general", "Lunch at noon?")
            await local.say("slack", "general", "Yes!", thread=root)
            await local.until(lambda: len(discord.messages(guild, forum)) == 2)

            first, answer = discord.messages(guild, forum)
            (thread,) = discord.state.guilds[int(guild)].threads.values()
            assert (thread.name, first.id, answer.thread) == (
                "Lunch at noon?",
                first.thread,
                first.id,
            )
            assert "started a thread" not in str(
                [s.text for s in local.standing("teams", "general")]
            )


async def test_a_reply_opens_an_archived_or_locked_thread(tmp_path: Path) -> None:
    async with local_sandbox() as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        guild, channel = local.place("discord", "general")
        discord, owner = discord_of(local), local.person("discord", guild)
        async with running(local, settings) as (bridge, _):
            root = await local.say("slack", "general", "root")
            await local.say("slack", "general", "one", thread=root)
            await local.until(lambda: len(local.standing("discord", "general")) == 2)
            thread = local.standing("discord", "general")[1].thread
            assert thread is not None
            for number, lock in (("two", False), ("three", True)):
                await discord.close_thread_as(guild, channel, owner, thread, lock=lock)
                await local.say("slack", "general", number, thread=root)
                await local.until(lambda number=number: _last(local).endswith(number))

            assert {message.thread for message in local.standing("discord", "general")[1:]} == {
                thread
            }
            assert await bridge.store.dead_letters() == []


async def test_a_reply_to_a_thread_that_cannot_be_opened_goes_to_the_channel_with_a_notice(
    tmp_path: Path,
) -> None:
    async with local_sandbox() as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        guild, channel = local.place("discord", "general")
        discord, owner = discord_of(local), local.person("discord", guild)
        for role in discord.state.guilds[int(guild)].roles.values():
            role.permissions &= ~Permission.MANAGE_THREADS
        async with running(local, settings) as (bridge, _):
            root = await local.say("slack", "general", "root")
            await local.say("slack", "general", "one", thread=root)
            await local.until(lambda: len(local.standing("discord", "general")) == 2)
            thread = local.standing("discord", "general")[1].thread
            assert thread is not None
            await discord.close_thread_as(guild, channel, owner, thread, lock=True)
            await local.say("slack", "general", "two", thread=root)
            await local.until(lambda: _last(local).endswith("two"))
            await bridge.router.settled()

            assert local.standing("discord", "general")[-1].thread is None
            assert await _losses_of_the_last(bridge, "discord") == ["thread_closed"]


async def test_a_reply_to_a_locked_slack_thread_goes_to_the_channel(
    tmp_path: Path,
) -> None:
    async with local_sandbox() as local:
        settings = configuration(local, tmp_path / "bridge.sqlite3", channels=("general",))
        team, channel = local.place("slack", "general")
        slack = local.platforms["slack"]
        assert isinstance(slack, LocalSlack)
        async with running(local, settings) as (bridge, _):
            root = await local.say("discord", "general", "root")
            await local.until(lambda: len(local.standing("slack", "general")) == 1)
            copy = local.standing("slack", "general")[0].id
            await slack.lock_thread_as(team, channel, local.person("slack", team), copy)
            await local.say("discord", "general", "answer", thread=root)
            await local.until(lambda: len(local.standing("slack", "general")) == 2)
            await bridge.router.settled()

            assert local.standing("slack", "general")[-1].thread is None
            assert await _losses_of_the_last(bridge, "slack") == ["thread_closed"]
            assert await bridge.store.dead_letters() == []


async def _losses_of_the_last(bridge: Bridge, account: str) -> list[str]:
    """What the copy of the room's last message lost in the account's channel."""
    (room,) = [
        timeline for timeline, _ in await bridge.store.conversations() if timeline.kind == "room"
    ]
    (message,) = (await bridge.store.conversation(room.id)).messages[-1:]
    records = _operations(await bridge.store.explain(MessageId(message.message_id)))
    return [
        loss.kind
        for record in records
        if record.operation.account == account
        for loss in record.losses
    ]


def _last(local: Sandbox) -> str:
    return local.standing("discord", "general")[-1].text


def _operations(explanation: Explanation | None) -> Sequence[OperationRecord]:
    assert explanation is not None
    return explanation.operations
