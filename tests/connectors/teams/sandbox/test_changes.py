"""People edit and delete messages in Teams: the events for bots."""

from __future__ import annotations

import aiohttp
import pytest
from botbuilder.core import TurnContext
from botbuilder.core.teams import TeamsActivityHandler

from bridge.errors import InvalidData, NotFound, Refused
from tests.connectors.teams.sandbox.bots import (
    PlainAdapter,
    listening,
    message_route,
    no_authentication,
)
from tests.connectors.teams.sandbox.inbox import inbox
from tests.connectors.teams.sandbox.rest import as_bot
from tests.connectors.teams.sandbox.running import RunningTeams


class Diary(TeamsActivityHandler):
    """Records changes with botbuilder's own handlers."""

    def __init__(self) -> None:
        self.written: list[tuple[str, str | None, str | None]] = []
        self.failed: list[Exception] = []

    async def on_teams_message_edit(self, turn_context: TurnContext) -> None:
        self._write("edited", turn_context)

    async def on_teams_message_soft_delete(self, turn_context: TurnContext) -> None:
        self._write("deleted", turn_context)

    def _write(self, change: str, turn_context: TurnContext) -> None:
        self.written.append((change, turn_context.activity.id, turn_context.activity.text))


async def test_a_program_receives_edits_and_deletions(teams: RunningTeams) -> None:
    bot = Diary()

    async with listening(message_route(PlainAdapter(no_authentication()), bot)) as url:
        await teams.listen("plain-noauth", url)
        posted = await teams.say("@Noauth Bot one")
        await teams.do(teams.user().edit(posted.id, "@Noauth Bot two"))
        await teams.do(teams.user().delete(posted.id))
        await teams.settled()

    assert bot.failed == []
    assert bot.written == [
        ("edited", posted.id, "<at>Noauth Bot</at> two"), ("deleted", posted.id, None),
    ]  # fmt: skip


async def test_an_edit_event_has_the_whole_new_message(teams: RunningTeams) -> None:
    async with inbox(teams) as bot:
        original = await teams.say("@Bridge one")
        changed = await teams.do(teams.user().edit(original.id, "two"))
        await teams.settled()

    posted, edited = bot.activities
    moment = edited["timestamp"]
    assert moment > posted["timestamp"]
    assert edited == posted | {
        "type": "messageUpdate",
        "timestamp": moment,
        "localTimestamp": moment.replace("Z", "+00:00"),
        "text": "two",
        "attachments": [
            {"contentType": "text/html", "content": "<div><div>two</div>\n</div>"},
        ],
        "entities": posted["entities"][1:],
        "channelData": posted["channelData"] | {"eventType": "editMessage"},
    }
    assert (changed.id, changed.text, changed.edited) == (original.id, "two", True)
    assert await teams.texts() == ["two"]


async def test_a_deletion_event_has_the_message_id_and_no_text(teams: RunningTeams) -> None:
    async with inbox(teams) as bot:
        root = await teams.say("root")
        await teams.settled()
        reply = await teams.say("reply", thread=root.id)
        await teams.do(teams.user().delete(reply.id))
        await teams.settled()

    posted, deleted = bot.activities[1:]
    moment = deleted["timestamp"]
    unsaid = ("text", "textFormat", "attachments")
    assert moment > posted["timestamp"]
    assert deleted == {key: value for key, value in posted.items() if key not in unsaid} | {
        "type": "messageDelete",
        "timestamp": moment,
        "localTimestamp": moment.replace("Z", "+00:00"),
        "channelData": posted["channelData"] | {"eventType": "softDeleteMessage"},
    }
    assert (deleted["id"], deleted["replyToId"]) == (reply.id, root.id)
    assert await teams.texts() == ["root"]


async def test_change_events_of_chats_have_no_team(teams: RunningTeams) -> None:
    person = next(iter(teams.teams.tenant.people))
    personal = teams.teams.personal_chat("bridge", person)

    async with inbox(teams) as bot:
        posted = await teams.say("one", channel=personal)
        await teams.do(teams.user(channel=personal).edit(posted.id, "two"))
        await teams.do(teams.user(channel=personal).delete(posted.id))
        await teams.settled()

    assert [activity["channelData"] for activity in bot.activities[1:]] == [
        {"tenant": {"id": teams.tenant}, "eventType": "editMessage"},
        {"tenant": {"id": teams.tenant}, "eventType": "softDeleteMessage"},
    ]
    assert {activity["conversation"]["id"] for activity in bot.activities} == {personal}


async def test_a_bot_without_consent_receives_changes_of_messages_that_mention_it(
    teams: RunningTeams,
) -> None:
    async with inbox(teams, "plain") as plain, inbox(teams) as bridge:
        for text, better in (("to all", "to all of you"), ("@Plain Bot hi", "@Plain Bot hello")):
            posted = await teams.say(text)
            await teams.do(teams.user().edit(posted.id, better))
            await teams.do(teams.user().delete(posted.id))
        await teams.settled()

    kinds = ["message", "messageUpdate", "messageDelete"]
    assert [activity["type"] for activity in bridge.activities] == kinds * 2
    assert [activity["type"] for activity in plain.activities] == kinds
    assert plain.activities[1]["text"] == "<at>Plain Bot</at> hello"


async def test_changes_are_dated_after_all_posted_messages(teams: RunningTeams) -> None:
    async with inbox(teams) as bot:
        messages = [await teams.say(str(number)) for number in range(20)]
        await teams.do(teams.user().edit(messages[0].id, "zero"))
        await teams.do(teams.user().edit(messages[0].id, "nought"))
        await teams.settled()

    moments = [activity["timestamp"] for activity in bot.activities]
    assert moments == sorted(set(moments))


async def test_files_stay_when_the_text_is_deleted(teams: RunningTeams) -> None:
    async with inbox(teams) as bot:
        shared = await teams.do(teams.user().post_file("notes.txt", b"notes", text="look"))
        await teams.do(teams.user().edit(shared.id, ""))
        await teams.settled()

    assert "text" not in bot.activities[1]
    assert "<attachment id=" in bot.activities[1]["attachments"][0]["content"]


async def test_people_change_only_their_own_messages(teams: RunningTeams) -> None:
    hers = await teams.say("mine")
    async with as_bot(teams) as rest:
        bots: str = (await rest.post(teams.channel, "a bot's")).body["id"]

    for person, message in ((1, hers.id), (0, bots)):
        with pytest.raises(Refused, match="did not write"):
            await teams.do(teams.user(person).edit(message, "changed"))
        with pytest.raises(Refused, match="did not write"):
            await teams.do(teams.user(person).delete(message))
    with pytest.raises(NotFound):
        await teams.do(teams.user().edit("1", "changed"))
    with pytest.raises(InvalidData):
        await teams.do(teams.user().edit(hers.id, " "))
    await teams.do(teams.user().delete(hers.id))
    with pytest.raises(NotFound):
        await teams.do(teams.user().delete(hers.id))

    assert await teams.texts() == ["a bot's"]


async def test_people_edit_and_delete_over_http_too(teams: RunningTeams) -> None:
    base = f"{teams.base_url}/_control/teams"
    person = next(iter(teams.teams.tenant.people))
    where = {"workspace": teams.tenant, "channel": teams.channel, "person": person}
    first, second = await teams.say("one"), await teams.say("two")

    async with aiohttp.ClientSession() as http:
        edit = where | {"message": first.id, "text": "one, mended"}
        edited = await http.post(f"{base}/edits", json=edit)
        deleted = await http.post(f"{base}/deletions", json=where | {"message": second.id})

    assert (edited.status, deleted.status) == (200, 204)
    assert await teams.texts() == ["one, mended"]
