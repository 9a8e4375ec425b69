"""User actions on the local Discord, and what the feed and the message lists show of them."""

from __future__ import annotations

import asyncio

import pytest

from bridge.errors import InvalidData, NotFound, Refused
from bridge.sandbox.feed import Change
from bridge.sandbox.platform import SandboxContext
from connectors.discord.sandbox import LOCAL
from tests.connectors.discord.sandbox.running import Running, running_discord


async def test_the_seeded_world_has_the_facts_that_a_client_needs() -> None:
    async with running_discord(channels=5) as local:
        world = local.discord.world()

    assert [p.channel_name for p in world.places if p.workspace_name == "Acme"] == [
        "general", "random", "help", "ch-4", "ch-5",
    ]  # fmt: skip
    assert len(world.places) == 10
    assert [app["name"] for app in world.apps] == ["bridge", "plain", "narrow"]
    assert {p.name for p in world.people} == {
        "Ana Ramos", "Bob Lindqvist", "Chen Wei", "Dana Okafor",
    }  # fmt: skip


async def test_the_seeded_ids_are_the_same_at_every_start() -> None:
    first = LOCAL.build(SandboxContext(base_url="http://127.0.0.1:1")).world()
    second = LOCAL.build(SandboxContext(base_url="http://127.0.0.1:2")).world()

    assert first == second


async def test_a_post_is_shown_with_readable_names(local: Running) -> None:
    guild = local.discord.state.guilds[int(local.guild)]
    guild.members[int(local.person)].nick = "Bobby"
    text = f"<@{local.person}> see <#{local.other_channel}> <:party:123> `<@{local.person}>`"

    message = await local.say(text)

    assert message.text == f"@Bobby see #random :party: `<@{local.person}>`"
    assert (message.author, message.author_id, message.bot, message.edited) == (
        "Bobby", local.person, False, False,
    )  # fmt: skip
    assert (message.workspace, message.channel, message.thread) == (
        local.guild,
        local.channel,
        None,
    )
    assert message.raw["content"] == text


async def test_a_reply_to_a_message_without_a_thread_starts_one(local: Running) -> None:
    root = await local.say("Lunch?\nAt noon")

    first = await local.say("yes", thread=root.id)
    second = await local.say("no", thread=root.id)

    assert (first.thread, second.thread, first.channel) == (root.id, root.id, local.channel)
    thread = local.discord.state.channels[int(root.id)]
    assert thread.name == "Lunch?"
    messages = local.discord.messages(local.guild, local.channel)
    assert [(m.text, m.thread) for m in messages] == [
        ("Lunch?\nAt noon", None), ("yes", root.id), ("no", root.id),
    ]  # fmt: skip


async def test_the_feed_has_posts_edits_and_deletions(local: Running) -> None:
    changes: list[Change] = []

    async def watch() -> None:
        async for change in local.context.feed.watch():
            changes.append(change)  # noqa: PERF401  # each as it comes; the stream has no end

    watching = asyncio.create_task(watch())
    await asyncio.sleep(0)
    posted = await local.say("one")
    await local.user.edit(posted.id, "two")
    await local.user.delete(posted.id)
    await asyncio.sleep(0)
    watching.cancel()

    assert [(c.kind, c.message.text, c.message.edited) for c in changes] == [
        ("posted", "one", False), ("edited", "two", True), ("deleted", "two", True),
    ]  # fmt: skip
    assert local.texts() == []


async def test_ids_increase_across_all_channels(local: Running) -> None:
    posted_messages = [
        await local.say("x", channel=c) for c in (local.channel, local.other_channel) * 20
    ]
    ids = [int(message.id) for message in posted_messages]

    assert ids == sorted(set(ids))


async def test_a_user_action_without_permission_is_refused(local: Running) -> None:
    forum, hidden = (local.app()[kind][local.guild] for kind in ("forums", "no_access"))
    where, member_id = local.channel, local.person
    cases: list[tuple[str, str, str, str | None, type[Exception]]] = [
        ("1", member_id, "x", None, NotFound),
        ("general", member_id, "x", None, NotFound),
        (where, "1", "x", None, NotFound),
        (where, local.app()["bot_id"], "x", None, NotFound),
        (where, member_id, "x", "1", NotFound),
        (where, member_id, "", None, InvalidData),
        (where, member_id, "x" * 2001, None, InvalidData),
        (forum, member_id, "x", None, InvalidData),
        (hidden, member_id, "x", None, Refused),
    ]

    for channel, person, text, thread, error in cases:
        with pytest.raises(error):
            await local.discord.post_as(local.guild, channel, person, text, thread)
    assert local.texts() == []
