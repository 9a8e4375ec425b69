"""People edit and delete messages: the events for apps, and the history afterwards."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bridge.errors import InvalidData, NotFound, Refused
from bridge.sandbox.user_actions import LocalUser
from tests.connectors.slack.sandbox.conftest import ADA, GENERAL, Running, until
from tests.connectors.slack.sandbox.desk import Desk
from tests.connectors.slack.sandbox.test_events import listening
from tests.connectors.slack.sandbox.test_plain_programs import over_http, over_sockets

Json = dict[str, Any]
BOB = "U0ACME02"


def ada_in(running: Running) -> LocalUser:
    return LocalUser(running.slack, "T0ACME", GENERAL, ADA)


def recording_app(
    client: AsyncWebClient, secret: str = "unused"
) -> tuple[AsyncApp, list[tuple[str, str]]]:
    """A program that records changes with slack-bolt's listeners."""
    app = AsyncApp(client=client, signing_secret=secret)
    written: list[tuple[str, str]] = []

    @app.event({"type": "message", "subtype": "message_changed"})
    async def _changed(event: Json) -> None:
        written.append((event["previous_message"]["text"], event["message"]["text"]))

    @app.event({"type": "message", "subtype": "message_deleted"})
    async def _deleted(event: Json) -> None:
        written.append((event["previous_message"]["text"], ""))

    @app.event("message")
    async def _on_message() -> None: ...

    return app, written


async def test_an_edit_event_has_the_message_before_and_after(running: Running) -> None:
    async with listening(running) as app:
        ts = await running.says("tpyo")
        after = await ada_in(running).edit(ts, "typo for @Ada")
        await until(lambda: len(app.events) == 2)

    post, edit = app.events
    before = {key: post[key] for key in ("type", "ts", "text", "user", "team", "client_msg_id")}
    before["blocks"] = post["blocks"]
    now, moment = edit.pop("message"), edit.pop("ts")
    (block,) = now.pop("blocks")
    edited = now.pop("edited")
    assert block["type"] == "rich_text" != block["block_id"]
    assert block["block_id"] != post["blocks"][0]["block_id"]
    assert edited["user"] == ADA
    assert edited["ts"].endswith(".000000")
    assert {**now, "blocks": post["blocks"]} == before | {"text": after.raw["text"]}
    assert edit == {
        "type": "message", "subtype": "message_changed", "hidden": True, "channel": GENERAL,
        "channel_type": "channel", "event_ts": moment, "previous_message": before,
    }  # fmt: skip
    assert moment > ts
    assert (after.id, after.edited) == (ts, True)


async def test_an_app_that_an_edit_mentions_receives_a_mention(running: Running) -> None:
    async with listening(running) as plain, listening(running, "bridge") as bridge:
        ts = await running.says("hello @Plain")
        await ada_in(running).edit(ts, "hello to you, @Plain")
        await ada_in(running).edit(ts, "hello to all")
        await until(lambda: len(plain.events) == 5 and len(bridge.events) == 3)

    kinds = [event.get("subtype", event["type"]) for event in plain.events]
    assert kinds == ["message", "app_mention", "message_changed", "app_mention", "message_changed"]
    change, mention = plain.events[2:4]
    assert mention == change["message"] | {
        "type": "app_mention", "channel": GENERAL, "event_ts": change["event_ts"],
    }  # fmt: skip
    assert mention["edited"]["user"] == ADA
    assert mention["ts"] == ts


async def test_a_deletion_event_has_the_deleted_message(running: Running) -> None:
    async with listening(running) as app:
        ts = await running.says("never mind")
        await ada_in(running).delete(ts)
        await until(lambda: len(app.events) == 2)

    post, deletion = app.events
    moment = deletion.pop("ts")
    before = {k: v for k, v in post.items() if k not in ("channel", "channel_type", "event_ts")}
    assert deletion == {
        "type": "message", "subtype": "message_deleted", "hidden": True, "channel": GENERAL,
        "channel_type": "channel", "event_ts": moment, "deleted_ts": ts,
        "previous_message": before,
    }  # fmt: skip
    assert moment > ts
    assert running.texts() == []


async def test_a_socket_mode_program_receives_edits_and_deletions(running: Running) -> None:
    app, written = recording_app(running.client())
    async with over_sockets(app, running.app()["app_token"]):
        ts = await running.says("one")
        await ada_in(running).edit(ts, "two")
        await ada_in(running).delete(ts)
        await until(lambda: len(written) == 2)

    assert written == [("one", "two"), ("two", "")]


async def test_a_request_url_program_receives_edits_and_deletions(
    running: Running,
) -> None:
    facts = running.app()
    app, written = recording_app(running.client(), facts["signing_secret"])
    async with over_http(app) as url:
        await running.slack.set_request_url(facts["app_id"], url)
        ts = await running.says("one")
        await ada_in(running).edit(ts, "two")
        await ada_in(running).delete(ts)
        await until(lambda: len(written) == 2)

    assert written == [("one", "two"), ("two", "")]


async def test_a_deleted_parent_stays_as_a_tombstone(running: Running) -> None:
    async with listening(running) as app:
        root = await running.says("root")
        await running.says("reply", thread=root)
        await ada_in(running).delete(root)
        await until(lambda: len(app.events) == 3)
        with pytest.raises(NotFound):
            await ada_in(running).delete(root)

    event = app.events[2]
    assert (event["subtype"], event["message"]["ts"]) == ("message_changed", root)
    assert event["message"]["subtype"] == "tombstone"
    assert event["previous_message"]["text"] == "root"
    assert running.texts() == ["This message was deleted.", "reply"]


async def test_the_history_shows_the_current_messages(desk: Desk) -> None:
    root, other = await desk.says("root"), await desk.says("gone")
    reply = await desk.says("reply", thread=root)

    await desk.ada.edit(root, "better root")
    await desk.ada.edit(reply, "better reply")
    await desk.ada.delete(other)

    history = (await desk.call("conversations.history", channel=GENERAL))["messages"]
    thread = (await desk.call("conversations.replies", channel=GENERAL, ts=root))["messages"]
    edited = {"user": ADA, "ts": "1700000000.000000"}
    assert [(m["text"], m["edited"]) for m in history] == [("better root", edited)]
    assert [(m["text"], m["edited"]) for m in thread] == [
        ("better root", edited), ("better reply", edited),
    ]  # fmt: skip
    assert [change.kind for change in desk.changes[3:]] == ["edited", "edited", "deleted"]


async def test_the_history_shows_a_deleted_parent_with_replies_as_a_tombstone(desk: Desk) -> None:
    root = await desk.says("root")
    reply = await desk.says("reply", thread=root)

    await desk.ada.delete(root)
    thread = (await desk.call("conversations.replies", channel=GENERAL, ts=root))["messages"]
    await desk.ada.delete(reply)

    assert [m.get("subtype", m["text"]) for m in thread] == ["tombstone", "reply"]
    assert (await desk.call("conversations.history", channel=GENERAL))["messages"] == []


async def test_files_stay_when_the_text_of_their_message_is_deleted(desk: Desk) -> None:
    shared = await desk.ada.post_file("notes.txt", b"notes", text="look")

    edited = await desk.ada.edit(shared.id, "")

    assert edited.text == ""
    assert [file["name"] for file in edited.raw["files"]] == ["notes.txt"]
    assert "blocks" not in edited.raw


async def test_direct_messages_are_edited_by_the_other_persons_id(running: Running) -> None:
    to_bot = LocalUser(running.slack, "T0ACME", "U0ACMEBOT2", ADA)
    async with listening(running) as app:
        posted = await to_bot.say("psst")
        await to_bot.edit(posted.id, "pssst")
        await until(lambda: len(app.events) == 2)

    assert app.events[1]["channel_type"] == "im"
    assert app.events[1]["message"]["text"] == "pssst"


async def test_people_change_only_their_own_messages(desk: Desk) -> None:
    hers, bots = await desk.says("mine"), await desk.post("a bot's")
    bob = LocalUser(desk.slack, "T0ACME", GENERAL, BOB)

    for person, ts in ((bob, hers), (desk.ada, bots)):
        with pytest.raises(Refused, match="did not write"):
            await person.edit(ts, "changed")
        with pytest.raises(Refused, match="did not write"):
            await person.delete(ts)
    for ts in ("1700000000.999999", "nonsense"):
        with pytest.raises(NotFound):
            await desk.ada.edit(ts, "changed")
    with pytest.raises(InvalidData):
        await desk.ada.edit(hers, "  ")

    assert [m.text for m in desk.slack.messages("T0ACME", GENERAL)] == ["mine", "a bot's"]


async def test_people_edit_and_delete_over_http_too(running: Running) -> None:
    base = f"{running.context.base_url}/_control/slack"
    where = {"workspace": "T0ACME", "channel": GENERAL, "person": ADA}
    first, second = await running.says("one"), await running.says("two")
    answers: list[int] = []

    async with aiohttp.ClientSession() as http:

        async def do(path: str, body: Json) -> Any:
            async with http.post(f"{base}/{path}", json=where | body) as answer:
                answers.append(answer.status)
                return await answer.json() if answer.status != 204 else None

        edited = await do("edits", {"message": first, "text": "one, mended"})
        await do("deletions", {"message": second})
        await do("deletions", {"message": second})
        await do("edits", {"message": first})
        await do("edits", {"message": first, "text": ""})
        await do("deletions", {"message": first, "person": BOB})

    assert answers == [200, 204, 404, 400, 400, 403]
    assert (edited["text"], edited["edited"]) == ("one, mended", True)
    assert running.texts() == ["one, mended"]
