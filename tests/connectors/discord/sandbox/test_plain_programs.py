"""Plain discord.py programs run unchanged against the local Discord."""

from __future__ import annotations

import asyncio
from typing import Any

import discord
import pytest

from connectors.discord.sandbox.pictures import avatar_png
from tests.connectors.discord.sandbox.running import READY_AFTER_S, Running, a_client, until


class Echo(discord.Client):
    """Answers every person in the channel of their message."""

    def __init__(self) -> None:
        intents = discord.Intents.default()
        intents.message_content = True
        super().__init__(intents=intents, guild_ready_timeout=READY_AFTER_S)
        self.messages: list[tuple[str, str]] = []

    async def on_message(self, message: discord.Message) -> None:
        self.messages.append((message.author.display_name, message.content))
        if not message.author.bot:
            await message.channel.send(f"You said: {message.content}")


class Recorder(discord.Client):
    """Records the events that it receives."""

    def __init__(self, intents: discord.Intents | None = None) -> None:
        super().__init__(
            intents=intents or discord.Intents.all(), guild_ready_timeout=READY_AFTER_S
        )
        self.events: list[Any] = []
        self.messages: list[discord.Message] = []

    async def on_message(self, message: discord.Message) -> None:
        self.messages.append(message)

    async def on_message_edit(self, before: discord.Message, after: discord.Message) -> None:
        self.events.append(("edit", before.content, after.content))

    async def on_message_delete(self, message: discord.Message) -> None:
        self.events.append(("delete", message.content))

    async def on_raw_bulk_message_delete(self, payload: discord.RawBulkMessageDeleteEvent) -> None:
        self.events.append(("deleted at once", payload.message_ids))

    async def on_thread_create(self, thread: discord.Thread) -> None:
        self.events.append(("thread", thread.name))

    async def on_raw_thread_update(self, payload: discord.RawThreadUpdateEvent) -> None:
        self.events.append(("thread update", payload.data["thread_metadata"]["archived"]))

    async def on_webhooks_update(self, channel: Any) -> None:
        self.events.append(("webhooks", channel.name))

    async def on_raw_reaction_add(self, payload: discord.RawReactionActionEvent) -> None:
        self.events.append(("reaction", str(payload.emoji)))

    async def on_raw_reaction_clear(self, payload: discord.RawReactionClearEvent) -> None:
        self.events.append(("cleared", payload.message_id))

    async def on_guild_channel_delete(self, channel: Any) -> None:
        self.events.append(("channel gone", channel.name))

    async def on_typing(self, channel: Any, user: Any, _when: Any) -> None:
        self.events.append(("typing", channel.name, user.name))


def text_channel(client: discord.Client, channel: str) -> discord.TextChannel:
    channel_object = client.get_channel(int(channel))
    assert isinstance(channel_object, discord.TextChannel)
    return channel_object


async def test_an_echo_bot_answers_people(local: Running) -> None:
    async with local.program(bot := Echo()):
        await local.say("hello")
        await until(lambda: len(bot.messages) == 2)

    assert bot.messages == [("Bob Lindqvist", "hello"), ("bridge", "You said: hello")]
    assert local.texts() == ["hello", "You said: hello"]


async def test_a_bot_has_its_guilds_channels_and_members(local: Running) -> None:
    async with local.program(bot := a_client()):
        channels_by_guild = {g.name: [c.name for c in g.channels] for g in bot.guilds}
        member = bot.guilds[0].get_member(int(local.person))

        assert channels_by_guild == {
            name: ["general", "random", "help", "ideas", "board-only"]
            for name in ("Acme", "Globex")
        }
        assert member is not None
        assert member.display_name == "Bob Lindqvist"
        avatar = await member.display_avatar.read()
        assert avatar.startswith(b"\x89PNG")


async def test_two_programs_receive_each_others_messages(local: Running) -> None:
    async with local.program(recorder := Recorder()), local.program(other := Recorder(), "plain"):
        await text_channel(recorder, local.channel).send("from the bridge")
        await until(lambda: other.messages and recorder.messages)

        assert [(m.author.name, m.content) for m in other.messages] == [
            ("bridge", "from the bridge")
        ]


async def test_a_webhook_posts_under_any_name(local: Running) -> None:
    async with local.program(bot := Recorder()):
        channel = text_channel(bot, local.channel)
        webhook = await channel.create_webhook(name="relay")

        sent = await webhook.send(
            "hi",
            username="Zoë from Slack",
            avatar_url="http://127.0.0.1/zoe.png",
            wait=True,
            allowed_mentions=discord.AllowedMentions.none(),
        )
        await until(lambda: bot.messages)

        received = bot.messages[0]
        assert (received.id, received.webhook_id, received.author.name) == (
            sent.id, webhook.id, "Zoë from Slack",
        )  # fmt: skip
        assert received.application_id == bot.application_id
        assert ("webhooks", "general") in bot.events
        posted_message = local.discord.messages(local.guild, local.channel)[0]
        assert (posted_message.author, posted_message.picture, posted_message.bot) == (
            "Zoë from Slack", "http://127.0.0.1/zoe.png", True,
        )  # fmt: skip


async def test_a_webhook_edits_and_deletes_its_posts(local: Running) -> None:
    async with local.program(bot := Recorder()):
        webhook = await text_channel(bot, local.channel).create_webhook(name="relay")
        sent = await webhook.send("frist", wait=True)
        await until(lambda: bot.messages)

        await webhook.edit_message(sent.id, content="first")
        assert (await webhook.fetch_message(sent.id)).content == "first"
        assert local.texts() == ["first"]
        await webhook.delete_message(sent.id)
        await until(lambda: ("delete", "first") in bot.events)

        assert ("edit", "frist", "first") in bot.events
        assert local.texts() == []


async def test_a_webhook_with_only_id_and_token_posts_into_a_thread(local: Running) -> None:
    async with local.program(bot := Recorder()):
        channel = text_channel(bot, local.channel)
        created_webhook = await channel.create_webhook(name="relay")
        thread = await channel.create_thread(name="plans", type=discord.ChannelType.public_thread)
        assert created_webhook.token
        webhook = discord.Webhook.partial(
            created_webhook.id, created_webhook.token, session=local.http
        )

        sent = await webhook.send("in here", thread=discord.Object(thread.id), wait=True)
        await webhook.edit_message(sent.id, content="in there", thread=discord.Object(thread.id))

        with pytest.raises(discord.NotFound, match="Unknown Message"):
            await webhook.edit_message(sent.id, content="nowhere")
    last_message = local.discord.messages(local.guild, local.channel)[-1]
    assert (last_message.text, last_message.thread) == ("in there", str(thread.id))


async def test_a_deleted_webhook_is_unknown(local: Running) -> None:
    async with local.program(bot := Recorder()):
        webhook = await text_channel(bot, local.channel).create_webhook(name="relay")
        await webhook.delete()

        with pytest.raises(discord.NotFound) as refused:
            await webhook.send("anybody?")

    assert refused.value.code == 10015


async def test_a_thread_from_a_message_has_its_id(local: Running) -> None:
    async with local.program(bot := Recorder()):
        root = await local.say("Lunch?")
        await until(lambda: bot.messages)

        thread = await bot.messages[0].create_thread(name="Lunch")
        await thread.send("pizza")
        await local.say("pasta", thread=root.id)
        await until(lambda: len(bot.messages) == 4)

        assert str(thread.id) == root.id
        assert [(m.type.name, m.content, m.channel.id == thread.id) for m in bot.messages] == [
            ("default", "Lunch?", False),
            ("thread_starter_message", "", True),
            ("default", "pizza", True),
            ("default", "pasta", True),
        ]
        again = await bot.fetch_channel(thread.id)
        assert isinstance(again, discord.Thread)
        assert again.message_count == 2


async def test_a_post_unarchives_a_thread(local: Running) -> None:
    async with local.program(bot := Recorder()):
        channel = text_channel(bot, local.channel)
        thread = await channel.create_thread(name="old", type=discord.ChannelType.public_thread)
        await thread.edit(archived=True)
        assert [t.name async for t in channel.archived_threads()] == ["old"]

        await local.say("still here?", thread=str(thread.id))
        await until(lambda: ("thread update", False) in bot.events)

        assert ("thread update", True) in bot.events
        assert [t.id for t in await bot.guilds[0].active_threads()] == [thread.id]


async def test_a_forum_post_is_a_thread_with_its_first_message(local: Running) -> None:
    async with local.program(bot := Recorder()):
        forum = bot.get_channel(int(local.app()["forums"][local.guild]))
        assert isinstance(forum, discord.ForumChannel)

        post = await forum.create_thread(
            name="An idea", content="Let us", applied_tags=[forum.available_tags[0]]
        )
        webhook = await forum.create_webhook(name="relay")
        other = await webhook.send("Another", thread_name="More", wait=True)

        assert post.message.id == post.thread.id
        assert post.thread.applied_tags == [forum.available_tags[0]]
        assert other.id == other.channel.id
        await until(lambda: len(bot.messages) == 2)
        assert [e for e in bot.events if e[0] == "thread"] == [
            ("thread", "An idea"), ("thread", "More"),
        ]  # fmt: skip


async def test_history_is_read_in_pages(local: Running) -> None:
    for number in range(250):
        await local.say(f"message {number}")
    async with local.program(bot := a_client()):
        channel = text_channel(bot, local.channel)

        newest_first = [m.content async for m in channel.history(limit=None)]
        middle = [m async for m in channel.history(limit=3, oldest_first=True)][2]
        after = [m.content async for m in channel.history(limit=None, after=middle)]
        page_around = [m.content async for m in channel.history(limit=3, around=middle)]

    assert newest_first == [f"message {n}" for n in reversed(range(250))]
    assert after == [f"message {n}" for n in range(3, 250)]
    assert page_around == ["message 3", "message 2", "message 1"]


async def test_a_reply_mentions_the_author_of_its_target(local: Running) -> None:
    async with local.program(bot := Recorder()):
        await local.say("question")
        await until(lambda: bot.messages)

        loud = await bot.messages[0].reply("answer")
        quiet = await bot.messages[0].reply("answer", mention_author=False)

        assert [user.name for user in loud.mentions] == ["bob"]
        assert quiet.mentions == []
        assert loud.reference is not None
        assert isinstance(loud.reference.resolved, discord.Message)
        assert loud.reference.resolved.content == "question"


async def test_reactions_typing_and_channel_changes_send_events(local: Running) -> None:
    async with local.program(bot := Recorder()):
        channel = text_channel(bot, local.channel)
        message = await channel.send("vote")
        await message.add_reaction("👍")
        async with channel.typing():
            pass
        reactions = (await channel.fetch_message(message.id)).reactions
        assert [(r.emoji, r.count, r.me) for r in reactions] == [("👍", 1, True)]
        await message.remove_reaction("👍", bot.guilds[0].me)
        await text_channel(bot, local.other_channel).delete()
        await until(lambda: ("channel gone", "random") in bot.events)

        assert [e for e in bot.events if e[0] != "channel gone"] == [
            ("reaction", "👍"), ("typing", "general", "bridge"),
        ]  # fmt: skip


async def test_reactions_of_people_send_events_and_are_shown(local: Running) -> None:
    async with local.program(bot := Recorder()):
        posted_message = await local.say("vote")
        where = (local.guild, local.channel, local.person)
        await local.discord.react_as(*where, posted_message.id, "👍")
        await local.discord.unreact_as(*where, posted_message.id, "👍")
        await local.discord.react_as(*where, posted_message.id, "🎉")
        await local.discord.typing_as(*where)
        await until(lambda: any(event[0] == "typing" for event in bot.events))
        message = await text_channel(bot, local.channel).fetch_message(int(posted_message.id))
        await message.pin()
        pins = [pin async for pin in text_channel(bot, local.channel).pins()]
        final_message = local.discord.messages(local.guild, local.channel)[0]
        await message.unpin()
        await message.clear_reactions()
        await until(lambda: ("cleared", message.id) in bot.events)

    assert [event[:2] for event in bot.events if event[0] in ("reaction", "typing")] == [
        ("reaction", "👍"), ("reaction", "🎉"), ("typing", "general"),
    ]  # fmt: skip
    assert [pin.id for pin in pins] == [message.id]
    assert (final_message.reactions, final_message.pinned) == ({"🎉": (local.person,)}, True)
    assert not local.discord.messages(local.guild, local.channel)[0].pinned


async def test_a_person_and_the_bot_exchange_direct_messages(local: Running) -> None:
    async with local.program(bot := Echo()):
        posted_message = await local.discord.post_as("@me", local.person, local.person, "psst")
        await until(lambda: len(bot.messages) == 2)
        user = await bot.fetch_user(int(local.person))
        await user.send("I remember you")

    dm_messages = local.discord.messages("@me", posted_message.channel)
    assert [(m.author, m.text) for m in dm_messages] == [
        ("Bob Lindqvist", "psst"), ("bridge", "You said: psst"), ("bridge", "I remember you"),
    ]  # fmt: skip


async def test_several_messages_are_deleted_at_once(local: Running) -> None:
    async with local.program(bot := Recorder()):
        channel = text_channel(bot, local.channel)
        sent = [await channel.send(str(n)) for n in range(4)]
        await until(lambda: len(bot.messages) == 4)
        await channel.delete_messages(sent[1:])
        await until(lambda: bot.events)

    assert bot.events == [("deleted at once", {m.id for m in sent[1:]})]
    assert local.texts() == ["0"]


async def test_the_avatar_of_a_webhook_is_served(local: Running) -> None:
    picture = avatar_png("a relay")
    async with local.program(bot := a_client()):
        webhook = await text_channel(bot, local.channel).create_webhook(
            name="relay", avatar=picture
        )
        sent = await webhook.send("hi", wait=True)

        assert await sent.author.display_avatar.with_static_format("png").read() == picture


async def test_the_same_nonce_posts_once(local: Running) -> None:
    async with local.program(bot := a_client()):
        channel = text_channel(bot, local.channel)

        first = await channel.send("once", nonce="abc")
        same = await channel.send("once", nonce="abc")

        assert first.id == same.id
        assert local.texts() == ["once"]
        await first.delete()
        with pytest.raises(discord.NotFound):
            await channel.send("once", nonce="abc")


async def test_concurrent_posts_all_arrive_in_one_order(local: Running) -> None:
    async with local.program(bot := Recorder()):
        channel = text_channel(bot, local.channel)
        await asyncio.gather(*(channel.send(str(n)) for n in range(40)))
        await until(lambda: len(bot.messages) == 40)

        assert [m.content for m in bot.messages] == local.texts()
        assert sorted(local.texts()) == sorted(str(n) for n in range(40))
