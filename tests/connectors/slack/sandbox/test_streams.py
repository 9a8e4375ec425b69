"""Growing messages: arguments, answers, refusals and lifetime of chat.startStream and the related
methods."""

from __future__ import annotations

from typing import Any

import pytest
from slack_bolt.async_app import AsyncApp

from tests.connectors.slack.sandbox.conftest import ADA, GENERAL, Running, until
from tests.connectors.slack.sandbox.desk import Desk
from tests.connectors.slack.sandbox.test_plain_programs import over_sockets

WHO = {"recipient_team_id": "T0ACME", "recipient_user_id": ADA}
Json = dict[str, Any]


async def start(desk: Desk, text: str = "**one** ", **more: Any) -> str:
    root = await desk.says("a question")
    answer = await desk.call(
        "chat.startStream", channel=GENERAL, thread_ts=root, markdown_text=text, **WHO, **more
    )
    assert answer["ok"], answer
    return answer["ts"]


def message_of(desk: Desk, ts: str) -> Json:
    message = desk.slack.slack.workspaces["T0ACME"].channels[GENERAL].find(ts)
    assert message is not None
    return {"text": message.text, **(message.facts or {})}


async def test_a_streamed_message_grows_and_is_completed(desk: Desk) -> None:
    ts = await start(desk)

    await desk.call("chat.appendStream", channel=GENERAL, ts=ts, markdown_text="two")
    growing = message_of(desk, ts)
    answer = await desk.call("chat.stopStream", channel=GENERAL, ts=ts, markdown_text=" three")

    assert growing == {"text": "**one** two", "streaming_state": "in_progress"}
    assert answer["message"]["text"] == "**one** two three"
    assert answer["message"]["streaming_state"] == "completed"
    assert "edited" not in answer["message"]


async def test_tasks_of_a_plan_are_replaced_by_their_id(desk: Desk) -> None:
    ts = await start(desk)
    for status in ("in_progress", "complete"):
        chunk = {"type": "task_update", "id": "1", "title": "Look", "status": status}
        await desk.call("chat.appendStream", channel=GENERAL, ts=ts, chunks=[chunk])

    answer = await desk.call("chat.stopStream", channel=GENERAL, ts=ts)

    tasks = [block for block in answer["message"]["blocks"] if block["type"] == "task_card"]
    assert [(task["title"], task["status"]) for task in tasks] == [("Look", "complete")]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"thread_ts": None}, "invalid_arguments"),
        ({"thread_ts": "1.000001"}, "thread_not_found"),
        ({"recipient_team_id": None}, "missing_recipient_team_id"),
        ({"recipient_user_id": None}, "missing_recipient_user_id"),
        ({"recipient_user_id": "U404"}, "user_not_found"),
        ({"markdown_text": "x" * 12_001}, "msg_too_long"),
        ({"chunks": [{"type": "task_update", "id": "1"}]}, "invalid_chunks"),
        ({"chunks": [{"type": "song"}]}, "invalid_chunks"),
        ({"task_display_mode": "song"}, "invalid_arguments"),
        (
            {"chunks": [{"type": "task_update", "id": "1", "title": "x" * 257}]},
            "invalid_chunks",
        ),
        (
            {"markdown_text": "a", "chunks": [{"type": "markdown_text", "text": "b"}]},
            "cannot_provide_both_markdown_text_and_chunks",
        ),
    ],
)
async def test_invalid_arguments_of_a_stream_are_refused(
    desk: Desk, arguments: Json, error: str
) -> None:
    root = await desk.says("a question")

    args = {"channel": GENERAL, "thread_ts": root, **WHO, **arguments}

    assert await desk.error("chat.startStream", **args) == error


async def test_a_stream_holds_12000_characters_in_all(desk: Desk) -> None:
    ts = await start(desk, "x" * 11_000)

    more = {"channel": GENERAL, "ts": ts, "markdown_text": "y" * 1_001}

    assert await desk.error("chat.appendStream", **more) == "msg_too_long"


async def test_a_stream_lives_for_five_minutes(desk: Desk) -> None:
    ts = await start(desk)
    more = {"channel": GENERAL, "ts": ts, "markdown_text": "more"}

    desk.clock.now += 299
    alive = await desk.error("chat.appendStream", **more)
    desk.clock.now += 2

    assert alive == ""
    assert await desk.error("chat.appendStream", **more) == "message_not_in_streaming_state"
    assert await desk.error("chat.stopStream", channel=GENERAL, ts=ts) == (
        "message_not_in_streaming_state"
    )
    assert await desk.error("chat.update", channel=GENERAL, ts=ts, text="whole") == ""


async def test_a_message_cannot_be_edited_or_deleted_while_it_streams(desk: Desk) -> None:
    ts = await start(desk)

    assert await desk.error("chat.update", channel=GENERAL, ts=ts, text="no") == (
        "streaming_state_conflict"
    )
    assert await desk.error("chat.delete", channel=GENERAL, ts=ts) == "cant_delete_message"
    await desk.call("chat.stopStream", channel=GENERAL, ts=ts)
    assert await desk.error("chat.update", channel=GENERAL, ts=ts, text="yes") == ""


async def test_only_streaming_messages_accept_appends(desk: Desk) -> None:
    ts = await desk.post()

    more = {"channel": GENERAL, "ts": ts, "markdown_text": "more"}

    assert await desk.error("chat.appendStream", **more) == "message_not_in_streaming_state"


async def test_a_person_can_stop_a_stream(desk: Desk) -> None:
    ts = await start(desk)

    await desk.slack.stop_as("T0ACME", GENERAL, ADA, ts)

    more = {"channel": GENERAL, "ts": ts, "markdown_text": "more"}
    assert await desk.error("chat.appendStream", **more) == "stopped_by_user"
    assert message_of(desk, ts)["text"] == "**one** "


async def test_a_plain_program_streams_its_answers(running: Running) -> None:
    """With the SDK's own helper."""
    app = AsyncApp(client=running.client(), signing_secret="unused")

    @app.event("app_mention")
    async def _mention(event: dict[str, Any], client: Any) -> None:
        stream = await client.chat_stream(
            channel=event["channel"], thread_ts=event["ts"], recipient_team_id="T0ACME",
            recipient_user_id=event["user"], buffer_size=4,
        )  # fmt: skip
        for word in ("one ", "two ", "three"):
            await stream.append(markdown_text=word)
        await stream.stop()

    async with over_sockets(app, running.app()["app_token"]):
        root = await running.says("@Plain count")
        channel = running.slack.slack.workspaces["T0ACME"].channels[GENERAL]
        await until(lambda: any(message.live for message in channel.messages.values()))
        (answer,) = [message for message in channel.messages.values() if message.live]
        await until(lambda: answer.facts == {"streaming_state": "completed"})

    assert answer.text == "one two three"
    assert answer.parent == channel.find(root).at  # type: ignore[union-attr]


async def test_a_thread_shows_an_apps_status_until_it_answers(desk: Desk) -> None:
    root = await desk.says("a question")
    face = {"username": "Helper", "icon_emoji": ":red_circle:"}
    status = {"channel_id": GENERAL, "thread_ts": root, "status": "is thinking…", **face}

    answer = await desk.call("assistant.threads.setStatus", **status)
    before = desk.slack.status("T0ACME", GENERAL, root)
    await desk.call("chat.postMessage", channel=GENERAL, thread_ts=root, text="42")

    assert answer["ok"]
    assert (before, desk.slack.status("T0ACME", GENERAL, root)) == ("is thinking…", "")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"thread_ts": "1.000001"}, "invalid_thread_ts"),
        ({"thread_ts": "no time"}, "invalid_thread_ts"),
        ({"channel_id": "C404"}, "channel_not_found"),
        ({"status": None}, "invalid_arguments"),
        ({"loading_messages": ["x"] * 11}, "invalid_arguments"),
        ({"icon_url": "data:image/png;base64,AA"}, "invalid_arguments"),
    ],
)
async def test_a_status_that_slack_refuses_is_refused(
    desk: Desk, arguments: Json, error: str
) -> None:
    root = await desk.says("a question")
    status = {"channel_id": GENERAL, "thread_ts": root, "status": "x", **arguments}
    present = {name: value for name, value in status.items() if value is not None}

    answer = await desk.call("assistant.threads.setStatus", **present)

    assert answer["error"] == error
