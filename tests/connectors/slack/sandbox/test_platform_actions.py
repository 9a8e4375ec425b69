"""Further user actions on Slack: the events for apps, and the refusals."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest
from slack_bolt.async_app import AsyncApp

from bridge.errors import InvalidData, NotFound, Refused
from bridge.sandbox.user_actions import FileUpload
from tests.connectors.slack.sandbox.conftest import ADA, GENERAL, RANDOM, Running, until
from tests.connectors.slack.sandbox.test_events import listening
from tests.connectors.slack.sandbox.test_plain_programs import over_sockets

Json = dict[str, Any]
BEN = "U0ACME02"
TEAM = "T0ACME"


async def test_a_program_receives_channel_events(running: Running) -> None:
    app = AsyncApp(client=running.client("bridge"), signing_secret="unused")
    events: list[tuple[str, ...]] = []

    @app.event({"type": "message", "subtype": "channel_topic"})
    async def _topic(event: Json) -> None:
        events.append(("topic", event["user"], event["topic"], event["text"]))

    @app.event("channel_rename")
    async def _renamed(event: Json) -> None:
        events.append(("renamed", event["channel"]["id"], event["channel"]["name"]))

    @app.event("member_left_channel")
    async def _left(event: Json) -> None:
        events.append(("left", event["user"], event["channel"], event["channel_type"]))

    @app.event("member_joined_channel")
    async def _joined(event: Json) -> None:
        events.append(("joined", event["user"], event["channel"], event["channel_type"]))

    @app.event("message")
    async def _on_message() -> None: ...

    async with over_sockets(app, running.app("bridge")["app_token"]):
        await running.slack.set_topic_as(TEAM, RANDOM, ADA, "Plans with @ada")
        await running.slack.rename_as(TEAM, RANDOM, ADA, "plans")
        await running.slack.leave_as(TEAM, RANDOM, BEN)
        await running.slack.join_as(TEAM, RANDOM, BEN)
        await until(lambda: len(events) == 4)

    topic = f"Plans with <@{ADA}>"
    assert events == [
        ("topic", ADA, topic, f"<@{ADA}> set the channel topic: {topic}"),
        ("renamed", RANDOM, "plans"),
        ("left", BEN, RANDOM, "C"),
        ("joined", BEN, RANDOM, "C"),
    ]
    info: Any = await running.client("bridge").conversations_info(channel=RANDOM)
    assert (info["channel"]["name"], info["channel"]["topic"]["value"]) == ("plans", topic)


async def test_message_subtypes_arrive_in_slacks_format(running: Running) -> None:
    async with listening(running, "bridge") as app:
        root = await running.says("root")
        await running.slack.me_as(TEAM, GENERAL, ADA, "waves")
        await running.slack.broadcast_as(TEAM, GENERAL, ADA, "to all", root)
        await running.slack.forward_as(TEAM, GENERAL, ADA, root, RANDOM, "look")
        sound = FileUpload(name="clip.ogg", data=b"OggS", content_type="audio/ogg")
        await running.slack.voice_as(TEAM, GENERAL, ADA, sound, 2.5)
        await until(lambda: len(app.events) == 5)

    _, me, broadcast, shared, voice = app.events
    assert (me["subtype"], me["text"]) == ("me_message", "waves")
    assert (broadcast["subtype"], broadcast["thread_ts"]) == ("thread_broadcast", root)
    assert broadcast["root"]["ts"] == root
    (attachment,) = shared["attachments"]
    assert (shared["text"], shared["channel"]) == ("look", RANDOM)
    assert (attachment["is_share"], attachment["text"], attachment["ts"]) == (True, "root", root)
    (file,) = voice["files"]
    assert (file["subtype"], file["duration_ms"]) == ("slack_audio", 2500)


async def test_a_scheduled_post_is_posted_once_at_its_time(running: Running) -> None:
    await running.slack.schedule_as(TEAM, GENERAL, ADA, "later", 0.05)
    await running.says("sooner")
    await until(lambda: len(running.texts()) == 2)

    assert running.texts() == ["sooner", "later"]


async def test_actions_that_slack_refuses_are_refused(running: Running) -> None:
    slack = running.slack
    with pytest.raises(Refused, match="cant_leave_general"):
        await slack.leave_as(TEAM, GENERAL, BEN)
    with pytest.raises(InvalidData, match="250"):
        await slack.set_topic_as(TEAM, RANDOM, ADA, "x" * 251)
    with pytest.raises(InvalidData, match="invalid_name"):
        await slack.rename_as(TEAM, RANDOM, ADA, "Two Words")
    with pytest.raises(Refused, match="name_taken"):
        await slack.rename_as(TEAM, RANDOM, ADA, "general")
    with pytest.raises(NotFound):
        await slack.broadcast_as(TEAM, GENERAL, ADA, "to whom?", "1.000001")
    await slack.leave_as(TEAM, RANDOM, BEN)
    with pytest.raises(Refused, match="not a member"):
        await slack.set_topic_as(TEAM, RANDOM, BEN, "from outside")


async def test_platform_actions_are_done_over_http_too(running: Running) -> None:
    base = f"{running.context.base_url}/_control/slack/actions"
    member = {"workspace": TEAM, "channel": GENERAL, "person": ADA}
    requests: list[tuple[str, Json]] = [
        ("me", {**member, "text": "waves"}),
        ("set_topic", {**member, "topic": "Plans"}),
        ("leave", member),
        ("me", member),
        ("sticker", member),
        ("disconnect", {}),
    ]
    answers: list[int] = []
    async with aiohttp.ClientSession() as http:
        for action, body in requests:
            async with http.post(f"{base}/{action}", json=body) as answer:
                answers.append(answer.status)

    assert answers == [200, 204, 403, 400, 404, 404]
    assert running.texts()[0] == "waves"
