"""People edit and delete on Discord: what bots hear on the gateway, and who may."""

from __future__ import annotations

import aiohttp
import pytest

from bridge.errors import InvalidData, NotFound, Refused
from bridge.sandbox.user_actions import LocalUser
from tests.connectors.discord.sandbox.running import Running, until
from tests.connectors.discord.sandbox.test_gateway import GUILD_MESSAGES, MESSAGE_CONTENT, Socket
from tests.connectors.discord.sandbox.test_plain_programs import Recorder, text_channel


def owner(local: Running) -> LocalUser:
    """The one whom the guild belongs to."""
    return LocalUser(local.discord, local.guild, local.channel, local.discord.world().people[0].id)


async def test_a_program_hears_people_edit_and_delete(local: Running) -> None:
    async with local.program(bot := Recorder()):
        said = await local.say("one")
        await local.hand.edit(said.id, "two")
        await local.hand.delete(said.id)
        await until(lambda: len(bot.events) == 2)

    assert bot.events == [("edit", "one", "two"), ("delete", "two")]


async def test_an_edit_is_the_whole_message_with_its_moment(local: Running) -> None:
    socket = await Socket.open(local)
    await socket.identify(local.app()["token"], GUILD_MESSAGES | MESSAGE_CONTENT)
    said = await local.say("one")
    posted = (await socket.next(name="MESSAGE_CREATE"))["d"]

    shown = await local.hand.edit(said.id, "two")
    edited = (await socket.next(name="MESSAGE_UPDATE"))["d"]
    await local.hand.delete(said.id)
    deleted = (await socket.next(name="MESSAGE_DELETE"))["d"]
    await socket.ws.close()

    moment = edited["edited_timestamp"]
    assert posted["edited_timestamp"] is None
    assert moment > posted["timestamp"]
    assert edited == posted | {"content": "two", "edited_timestamp": moment}
    assert deleted == {"id": said.id, "channel_id": local.channel, "guild_id": local.guild}
    assert (shown.text, shown.edited) == ("two", True)


async def test_what_stands_in_a_thread_is_named_by_its_channel_or_the_thread(
    local: Running,
) -> None:
    root = await local.say("Lunch?")
    first = await local.say("yes", thread=root.id)
    second = await local.say("no", thread=root.id)

    await local.hand.edit(first.id, "yes!")
    thread = LocalUser(local.discord, local.guild, root.id, local.person)
    await thread.delete(second.id)

    assert local.said() == ["Lunch?", "yes!"]


async def test_a_dm_is_edited_by_who_wrote_it(local: Running) -> None:
    bot = local.app()["bot_id"]
    dm = LocalUser(local.discord, "@me", bot, local.person)
    said = await dm.say("psst")

    await dm.edit(said.id, "pssst")

    assert [m.text for m in local.discord.messages("@me", said.channel)] == ["pssst"]


async def test_files_stay_when_the_words_beside_them_go(local: Running) -> None:
    shared = await local.hand.post_file("notes.txt", b"notes", text="look")

    shown = await local.hand.edit(shared.id, "")

    assert shown.text == ""
    assert [file["filename"] for file in shown.raw["attachments"]] == ["notes.txt"]


async def test_one_who_manages_messages_deletes_those_of_others_and_edits_none(
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
    assert local.said() == []


async def test_people_change_only_what_they_said_themselves(local: Running) -> None:
    mine, owners = await local.say("mine"), await owner(local).say("the owner's")

    with pytest.raises(Refused, match="did not write"):
        await local.hand.edit(owners.id, "changed")
    with pytest.raises(Refused, match="may not delete"):
        await local.hand.delete(owners.id)
    for message in ("1", "nonsense"):
        with pytest.raises(NotFound):
            await local.hand.edit(message, "changed")
        with pytest.raises(NotFound):
            await local.hand.delete(message)
    for text in (" ", "x" * 2001):
        with pytest.raises(InvalidData):
            await local.hand.edit(mine.id, text)
    with pytest.raises(NotFound):
        await LocalUser(local.discord, "1", local.channel, local.person).delete(mine.id)

    assert local.said() == ["mine", "the owner's"]


async def test_nobody_deletes_the_line_that_a_thread_begins_with(
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
    one, two = await local.say("one"), await local.say("two")

    async with aiohttp.ClientSession() as http:
        edit = where | {"message": one.id, "text": "one, mended"}
        edited = await http.post(f"{base}/edits", json=edit)
        deleted = await http.post(f"{base}/deletions", json=where | {"message": two.id})

    assert (edited.status, deleted.status) == (200, 204)
    assert local.said() == ["one, mended"]
