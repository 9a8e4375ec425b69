"""Further user actions on Discord: the events for programs, and the permissions."""

from __future__ import annotations

import discord
import pytest

from bridge.errors import InvalidData, NotFound, Refused
from bridge.sandbox.user_actions import FileUpload
from tests.connectors.discord.sandbox.running import READY_AFTER_S, Running, until


class Diary(discord.Client):
    """Records events with discord.py's own handlers."""

    def __init__(self) -> None:
        super().__init__(intents=discord.Intents.all(), guild_ready_timeout=READY_AFTER_S)
        self.written: list[tuple[object, ...]] = []
        self.messages: list[discord.Message] = []

    async def on_member_join(self, member: discord.Member) -> None:
        self.written.append(("joined", str(member.id)))

    async def on_member_remove(self, member: discord.Member) -> None:
        self.written.append(("left", str(member.id)))

    async def on_guild_channel_update(self, before: object, after: object) -> None:
        assert isinstance(before, discord.TextChannel)
        assert isinstance(after, discord.TextChannel)
        self.written.append(("channel", (before.name, before.topic), (after.name, after.topic)))

    async def on_thread_create(self, thread: discord.Thread) -> None:
        self.written.append(("thread", thread.name))

    async def on_thread_update(self, before: discord.Thread, after: discord.Thread) -> None:
        self.written.append(("thread now", after.name, after.archived, after.locked))

    async def on_raw_poll_vote_add(self, payload: discord.RawPollVoteActionEvent) -> None:
        self.written.append(("vote", payload.answer_id))

    async def on_message(self, message: discord.Message) -> None:
        self.messages.append(message)


def owner(local: Running) -> tuple[str, str, str]:
    return local.guild, local.channel, local.discord.world().people[0].id


def somebody(local: Running) -> tuple[str, str, str]:
    return local.guild, local.channel, local.person


async def test_a_program_receives_joins_and_departures(local: Running) -> None:
    async with local.program(bot := Diary()):
        await local.discord.leave_as(*somebody(local))
        await local.discord.join_as(*somebody(local))
        await until(lambda: len(bot.written) == 2 and bot.messages)

    assert bot.written == [("left", local.person), ("joined", local.person)]
    (line,) = bot.messages
    assert line.type is discord.MessageType.new_member
    with pytest.raises(Refused):
        await local.discord.leave_as(*owner(local))


async def test_a_program_receives_topic_and_name_changes(local: Running) -> None:
    async with local.program(bot := Diary()):
        await local.discord.set_topic_as(*owner(local), "Plans")
        await until(lambda: bot.written)
        await local.discord.rename_as(*owner(local), "plans")
        await until(lambda: len(bot.written) == 2)

    assert bot.written == [
        ("channel", ("general", None), ("general", "Plans")),
        ("channel", ("general", "Plans"), ("plans", "Plans")),
    ]
    with pytest.raises(Refused):
        await local.discord.rename_as(*somebody(local), "mine")
    with pytest.raises(InvalidData):
        await local.discord.set_topic_as(*owner(local), "x" * 1025)


async def test_threads_start_from_a_message_or_as_forum_posts(
    local: Running,
) -> None:
    forum = local.app()["forums"][local.guild]
    async with local.program(bot := Diary()):
        root = await local.say("root")
        first_thread = await local.discord.start_thread_as(*somebody(local), "One", root.id)
        two = await local.discord.start_thread_as(*somebody(local), "Two", text="first words")
        three = await local.discord.start_thread_as(
            local.guild, forum, local.person, "Three", text="an idea"
        )
        await until(lambda: len(bot.written) == 3)
        await local.discord.rename_as(local.guild, first_thread, local.person, "Uno")
        await until(lambda: len(bot.written) == 4)
        await local.discord.close_thread_as(*owner(local), first_thread, lock=True)
        await until(lambda: len(bot.written) == 5)

    assert first_thread == root.id
    assert bot.written[:3] == [("thread", "One"), ("thread", "Two"), ("thread", "Three")]
    assert bot.written[3] == ("thread now", "Uno", False, False)
    assert bot.written[4] == ("thread now", "Uno", True, True)
    (first,) = local.discord.messages(local.guild, forum)
    assert (first.id, first.thread, first.text) == (three, three, "an idea")
    assert two not in (first_thread, three)
    with pytest.raises(InvalidData, match="takes no messages"):
        await local.say("too late", thread=first_thread)
    with pytest.raises(InvalidData, match="begins with a message"):
        await local.discord.start_thread_as(local.guild, forum, local.person, "Empty")
    with pytest.raises(Refused):
        await local.discord.close_thread_as(*somebody(local), two, lock=True)


async def test_a_poll_is_posted_voted_on_and_closed_with_its_result(local: Running) -> None:
    async with local.program(bot := Diary()):
        poll_message = await local.discord.poll_as(*somebody(local), "Lunch?", ["Soup", "Pizza"])
        await local.discord.vote_as(*somebody(local), poll_message.id, [2])
        await local.discord.vote_as(*owner(local), poll_message.id, [2])
        await local.discord.end_poll_as(*somebody(local), poll_message.id)
        await local.discord.end_poll_as(*somebody(local), poll_message.id)
        await until(lambda: len(bot.messages) == 2 and len(bot.written) == 2)
        poll = (await bot.get_channel(int(local.channel)).fetch_message(int(poll_message.id))).poll  # pyright: ignore[reportOptionalMemberAccess, reportAttributeAccessIssue]

    assert bot.written == [("vote", 2), ("vote", 2)]
    assert poll is not None
    assert poll.is_finalised()
    assert [(answer.text, answer.vote_count) for answer in poll.answers] == [
        ("Soup", 0), ("Pizza", 2),
    ]  # fmt: skip
    question, result = bot.messages
    assert result.type is discord.MessageType.poll_result
    assert result.reference is not None
    assert result.reference.message_id == question.id
    with pytest.raises(Refused, match="ended"):
        await local.discord.vote_as(*owner(local), poll_message.id, [1])
    with pytest.raises(InvalidData):
        await local.discord.poll_as(*somebody(local), "Lunch?", ["x" * 56])


async def test_a_reply_references_its_target_and_pings_the_author(local: Running) -> None:
    async with local.program(bot := Diary()):
        question = await local.say("who is coming?")
        reply = await local.discord.reply_as(*owner(local), question.id, "me")
        await until(lambda: len(bot.messages) == 2)

    answer = bot.messages[1]
    assert (answer.id, answer.content, answer.type) == (
        int(reply.id), "me", discord.MessageType.reply,
    )  # fmt: skip
    assert answer.reference is not None
    assert answer.reference.message_id == int(question.id)
    assert [mention.id for mention in answer.mentions] == [int(local.person)]
    with pytest.raises(NotFound):
        await local.discord.reply_as(*owner(local), "1", "to nothing")


async def test_stickers_forwards_and_voice_messages_are_parsed_by_discord_py(
    local: Running,
) -> None:
    sound = FileUpload(name="voice-message.ogg", data=b"OggS", content_type="audio/ogg")
    async with local.program(bot := Diary()):
        original = await local.say("the words")
        await local.discord.sticker_as(*somebody(local), "Hello")
        await local.discord.forward_as(*somebody(local), original.id, local.other_channel, "see")
        await local.discord.voice_as(*somebody(local), sound, 1.5)
        await until(lambda: len(bot.messages) == 5)

    _, sticker, forward, comment, voice = bot.messages
    assert [item.name for item in sticker.stickers] == ["Hello"]
    assert forward.reference is not None
    assert forward.reference.type is discord.MessageReferenceType.forward
    assert [message_snapshot.content for message_snapshot in forward.message_snapshots] == [
        "the words"
    ]
    assert (forward.content, comment.content) == ("", "see")
    assert str(forward.channel.id) == local.other_channel
    assert voice.flags.voice
    assert (voice.attachments[0].duration, voice.attachments[0].is_voice_message()) == (1.5, True)
    with pytest.raises(NotFound):
        await local.discord.forward_as(*somebody(local), "1", local.other_channel)
