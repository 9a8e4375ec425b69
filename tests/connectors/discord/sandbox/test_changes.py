"""People edit and delete messages on Discord: the events for bots, and the permissions."""

from __future__ import annotations

import aiohttp
import pytest

from bridge.errors import InvalidData, NotFound, Refused
from bridge.sandbox.user_actions import LocalUser
from tests.connectors.discord.sandbox.running import Running, until
from tests.connectors.discord.sandbox.test_gateway import GUILD_MESSAGES, MESSAGE_CONTENT, Socket
from tests.connectors.discord.sandbox.test_plain_programs import Recorder, text_channel


def owner(local: Running) -> LocalUser:
    """The owner of the guild."""
    return LocalUser(local.discord, local.guild, local.channel, local.discord.world().people[0].id)


async def test_a_program_receives_edits_and_deletions(local: Running) -> None:
    async with local.program(bot := Recorder()):
        posted_message = await local.say("one")
        await local.user.edit(posted_message.id, "two")
        await local.user.delete(posted_message.id)
        await until(lambda: len(bot.events) == 2)

    assert bot.events == [("edit", "one", "two"), ("delete", "two")]


async def test_an_edit_event_has_the_whole_message_and_its_edit_time(local: Running) -> None:
    socket = await Socket.open(local)
    await socket.identify(local.app()["token"], GUILD_MESSAGES | MESSAGE_CONTENT)
    posted_message = await local.say("one")
    posted = (await socket.next(name="MESSAGE_CREATE"))["d"]

    edited_message = await local.user.edit(posted_message.id, "two")
    edited = (await socket.next(name="MESSAGE_UPDATE"))["d"]
    await local.user.delete(posted_message.id)
    deleted = (await socket.next(name="MESSAGE_DELETE"))["d"]
    await socket.ws.close()

    moment = edited["edited_timestamp"]
    assert posted["edited_timestamp"] is None
    assert moment > posted["timestamp"]
    assert edited == posted | {"content": "two", "edited_timestamp": moment}
    assert deleted == {
        "id": posted_message.id,
        "channel_id": local.channel,
        "guild_id": local.guild,
    }
    assert (edited_message.text, edited_message.edited) == ("two", True)


async def test_a_message_in_a_thread_is_addressed_by_channel_or_thread(
    local: Running,
) -> None:
    root = await local.say("Lunch?")
    first = await local.say("yes", thread=root.id)
    second = await local.say("no", thread=root.id)

    await local.user.edit(first.id, "yes!")
    thread = LocalUser(local.discord, local.guild, root.id, local.person)
    await thread.delete(second.id)

    assert local.texts() == ["Lunch?", "yes!"]


async def test_a_dm_is_edited_by_its_author(local: Running) -> None:
    bot = local.app()["bot_id"]
    dm = LocalUser(local.discord, "@me", bot, local.person)
    posted_message = await dm.say("psst")

    await dm.edit(posted_message.id, "pssst")

    assert [m.text for m in local.discord.messages("@me", posted_message.channel)] == ["pssst"]


async def test_files_stay_when_the_text_is_deleted(local: Running) -> None:
    shared = await local.user.post_file("notes.txt", b"notes", text="look")

    edited_message = await local.user.edit(shared.id, "")

    assert edited_message.text == ""
    assert [file["filename"] for file in edited_message.raw["attachments"]] == ["notes.txt"]


async def test_a_moderator_deletes_messages_of_others_and_edits_none(
    local: Running,
) -> None:
    async with local.program(bot := Recorder()):
        hers = await local.say("by a member")
        bots = await text_channel(bot, local.channel).send("by a bot")
        for message in (hers.id, str(bots.id)):
            with pytest.raises(Refused, match="did not write"):
                await owner(local).edit(message, "changed")
            await owner(local).delete(message)
        await until(lambda: len(bot.events) == 2)

    assert bot.events == [("delete", "by a member"), ("delete", "by a bot")]
    assert local.texts() == []


async def test_people_edit_only_their_own_messages(local: Running) -> None:
    mine, owners = await local.say("mine"), await owner(local).say("the owner's")

    with pytest.raises(Refused, match="did not write"):
        await local.user.edit(owners.id, "changed")
    with pytest.raises(Refused, match="may not delete"):
        await local.user.delete(owners.id)
    for message in ("1", "nonsense"):
        with pytest.raises(NotFound):
            await local.user.edit(message, "changed")
        with pytest.raises(NotFound):
            await local.user.delete(message)
    for text in (" ", "x" * 2001):
        with pytest.raises(InvalidData):
            await local.user.edit(mine.id, text)
    with pytest.raises(NotFound):
        await LocalUser(local.discord, "1", local.channel, local.person).delete(mine.id)

    assert local.texts() == ["mine", "the owner's"]


async def test_the_starter_message_of_a_thread_cannot_be_deleted(
    local: Running,
) -> None:
    root = await local.say("Lunch?")
    await local.say("yes", thread=root.id)
    thread = local.discord.state.channels[int(root.id)]
    line = str(thread.order[0])

    with pytest.raises(Refused, match="nobody deletes"):
        await LocalUser(local.discord, local.guild, root.id, local.person).delete(line)


async def test_people_edit_and_delete_over_http_too(local: Running) -> None:
    base = f"{local.context.base_url}/_control/discord"
    where = {"workspace": local.guild, "channel": local.channel, "person": local.person}
    first, second = await local.say("one"), await local.say("two")

    async with aiohttp.ClientSession() as http:
        edit = where | {"message": first.id, "text": "one, mended"}
        edited = await http.post(f"{base}/edits", json=edit)
        deleted = await http.post(f"{base}/deletions", json=where | {"message": second.id})

    assert (edited.status, deleted.status) == (200, 204)
    assert local.texts() == ["one, mended"]
