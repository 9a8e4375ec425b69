"""Events: which app receives which, over Socket Mode and HTTP, with retries and faults."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.signature import SignatureVerifier
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bridge.sandbox.faults import Fault
from tests.connectors.serving import served
from tests.connectors.slack.sandbox.conftest import ADA, GENERAL, RANDOM, Running, until
from tests.waiting import LONGEST_WAIT, pass_time

Json = dict[str, Any]
HOUR = 3600.0  # seconds


@dataclass
class Listener:
    """A bare WebSocket client that records every frame and acknowledges on request."""

    socket: aiohttp.ClientWebSocketResponse
    acks: bool = True
    frames: list[Json] = field(default_factory=list[Json])

    async def run(self) -> None:
        async for message in self.socket:
            frame = message.json()
            self.frames.append(frame)
            if self.acks and "envelope_id" in frame:
                await self.socket.send_json({"envelope_id": frame["envelope_id"]})

    @property
    def envelopes(self) -> list[Json]:
        return [frame for frame in self.frames if "envelope_id" in frame]

    @property
    def events(self) -> list[Json]:
        return [envelope["payload"]["event"] for envelope in self.envelopes]

    @property
    def texts(self) -> list[str]:
        return [event["text"] for event in self.events]


@contextlib.asynccontextmanager
async def listening(
    running: Running, name: str = "plain", acks: bool = True
) -> AsyncGenerator[Listener]:
    answer = await running.client(name).apps_connections_open(
        app_token=running.app(name)["app_token"]
    )
    async with aiohttp.ClientSession() as session, session.ws_connect(str(answer["url"])) as ws:
        listener = Listener(ws, acks)
        reading = asyncio.create_task(listener.run())
        await until(lambda: bool(listener.frames))
        yield listener
        reading.cancel()


@dataclass
class Hook:
    """A bare request URL: it verifies every signature and gives the configured answers."""

    url: str
    verifier: SignatureVerifier
    status: int = 200
    hold: asyncio.Event | None = None  # answers wait until it is set
    headers: dict[str, str] = field(default_factory=dict[str, str])
    received: list[tuple[str, str | None, str | None]] = field(
        default_factory=list[tuple[str, str | None, str | None]]
    )

    async def take(self, request: Request) -> Response:
        body = await request.body()
        assert self.verifier.is_valid_request(body, dict(request.headers))
        payload = await request.json()
        if payload["type"] == "url_verification":
            return JSONResponse({"challenge": payload["challenge"]})
        number = request.headers.get("x-slack-retry-num")
        reason = request.headers.get("x-slack-retry-reason")
        self.received.append((payload["event"]["text"], number, reason))
        if self.hold is not None:
            await self.hold.wait()
        return Response(status_code=self.status, headers=self.headers)


@contextlib.asynccontextmanager
async def hooked(running: Running) -> AsyncGenerator[Hook]:
    facts = running.app()
    app = Starlette()
    async with served(app) as server:
        url = f"{server.base_url}/events"
        hook = Hook(url, SignatureVerifier(facts["signing_secret"]))
        app.router.routes.append(Route("/events", hook.take, methods=["POST"]))
        await running.slack.set_request_url(facts["app_id"], url)
        yield hook


def shorten_deadline(running: Running, ack_seconds: float = 0.1) -> None:
    running.slack.pace.ack_seconds = ack_seconds
    running.slack.pace.retry_delays = (0.0, 0.05, 0.1)


async def test_a_message_reaches_the_app_in_slacks_format(running: Running) -> None:
    async with listening(running) as app:
        ts = await running.says("hi")
        await until(lambda: bool(app.envelopes))

    envelope = app.envelopes[0]
    payload = envelope.pop("payload")
    assert set(envelope) == {
        "envelope_id", "type", "accepts_response_payload", "retry_attempt", "retry_reason",
    }  # fmt: skip
    event = payload.pop("event")
    assert event.pop("blocks")[0]["elements"][0]["elements"] == [{"type": "text", "text": "hi"}]
    assert len(event.pop("client_msg_id")) == 36
    assert event == {
        "type": "message", "text": "hi", "user": ADA, "ts": ts, "team": "T0ACME",
        "channel": GENERAL, "event_ts": ts, "channel_type": "channel",
    }  # fmt: skip
    assert payload.pop("event_id").startswith("Ev")
    assert payload.pop("event_context").startswith("4-")
    assert payload == {
        "token": "verification-sandbox-acme-plain",
        "team_id": "T0ACME",
        "context_team_id": "T0ACME",
        "context_enterprise_id": None,
        "api_app_id": "A0ACME02",
        "type": "event_callback",
        "event_time": int(ts.partition(".")[0]),
        "authorizations": [
            {
                "enterprise_id": None, "team_id": "T0ACME", "user_id": "U0ACMEBOT2",
                "is_bot": True, "is_enterprise_install": False,
            }
        ],
        "is_ext_shared_channel": False,
    }  # fmt: skip


async def test_an_app_receives_its_own_posts_edits_and_deletions(running: Running) -> None:
    client = running.client()
    metadata = {"event_type": "op", "event_payload": {"id": "7"}}
    async with listening(running) as app:
        posted = await client.chat_postMessage(channel=GENERAL, text="a", metadata=metadata)
        await client.chat_update(channel=GENERAL, ts=str(posted["ts"]), text="b")
        await client.chat_delete(channel=GENERAL, ts=str(posted["ts"]))
        await until(lambda: len(app.events) == 3)

    post, edit, deletion = app.events
    assert (post["bot_id"], post["metadata"], "subtype" in post) == ("B0ACME02", metadata, False)
    assert (edit["subtype"], edit["hidden"]) == ("message_changed", True)
    assert (edit["message"]["text"], edit["previous_message"]["text"]) == ("b", "a")
    assert edit["message"]["ts"] == posted["ts"] < edit["ts"] == edit["event_ts"]
    assert (deletion["subtype"], deletion["deleted_ts"]) == ("message_deleted", posted["ts"])
    assert deletion["previous_message"]["text"] == "b"


async def test_a_deleted_parent_arrives_as_a_tombstone(running: Running) -> None:
    client = running.client()
    async with listening(running) as app:
        root = str((await client.chat_postMessage(channel=GENERAL, text="root"))["ts"])
        await running.says("reply", thread=root)
        await client.chat_delete(channel=GENERAL, ts=root)
        await until(lambda: len(app.events) == 3)

    assert app.events[1]["parent_user_id"] == "U0ACMEBOT2"
    assert app.events[2]["subtype"] == "message_changed"
    assert app.events[2]["message"]["subtype"] == "tombstone"


async def test_the_mentioned_app_receives_a_message_and_a_mention(running: Running) -> None:
    async with listening(running) as plain, listening(running, "bridge") as bridge:
        await running.says("hello @Plain")
        await until(lambda: len(plain.events) == 2 and len(bridge.events) == 1)

    message, mention = plain.events
    assert (message["type"], mention["type"]) == ("message", "app_mention")
    assert mention["ts"] == message["ts"]
    assert "channel_type" not in mention


async def test_an_app_receives_no_events_of_channels_it_is_not_in(running: Running) -> None:
    async with listening(running) as app:
        await running.says("among us", channel="C0ACMEQUIET")
        await running.client().conversations_join(channel="C0ACMEQUIET")
        await running.says("welcome", channel="C0ACMEQUIET")
        await until(lambda: len(app.events) == 3)

    kinds = [(event["type"], event.get("subtype")) for event in app.events]
    assert kinds == [
        ("message", "channel_join"), ("member_joined_channel", None), ("message", None),
    ]  # fmt: skip


async def test_direct_messages_have_the_channel_type_im(running: Running) -> None:
    async with listening(running) as app:
        await running.says("psst", channel="U0ACMEBOT2")
        await until(lambda: bool(app.events))

    assert (app.events[0]["channel_type"], app.events[0]["channel"][0]) == ("im", "D")


async def test_a_reaction_sends_an_event(running: Running) -> None:
    ts = await running.says("nice")
    async with listening(running) as app:
        await running.client().reactions_add(channel=GENERAL, timestamp=ts, name="tada")
        await until(lambda: bool(app.events))

    event = app.events[0]
    assert event.pop("event_ts") > ts
    assert event == {
        "type": "reaction_added", "user": "U0ACMEBOT2", "reaction": "tada", "item_user": ADA,
        "item": {"type": "message", "channel": GENERAL, "ts": ts},
    }  # fmt: skip


async def test_reactions_and_pins_send_events_and_are_visible(running: Running) -> None:
    ts = await running.says("nice")
    slack, where = running.slack, ("T0ACME", GENERAL, ADA)
    async with listening(running) as app:
        await slack.react_as(*where, ts, "🎉")
        await slack.react_as(*where, ts, "🎉")
        await slack.pin_as(*where, ts)
        await slack.typing_as(*where)
        await until(lambda: len(app.events) == 2)
        (message,) = [m for m in slack.messages("T0ACME", GENERAL) if m.id == ts]
        pins = (await running.client().pins_list(channel=GENERAL)).get("items") or []
        await slack.unreact_as(*where, ts, "🎉")
        await slack.pin_as(*where, ts, pinned=False)
        await until(lambda: len(app.events) == 4)

    assert (message.reactions, message.pinned) == ({"🎉": (ADA,)}, True)
    assert [(pin["message"]["ts"], pin["created_by"]) for pin in pins] == [(ts, ADA)]
    kinds = ["reaction_added", "pin_added", "reaction_removed", "pin_removed"]
    assert [event["type"] for event in app.events] == kinds
    pinned = app.events[1]
    assert (pinned["user"], pinned["channel_id"], pinned["pin_count"]) == (ADA, GENERAL, 1)
    assert pinned["item"]["message"]["ts"] == ts


async def test_an_app_pins_once_and_unpins_once(running: Running) -> None:
    ts, client = await running.says("nice"), running.client()

    await client.pins_add(channel=GENERAL, timestamp=ts)
    with pytest.raises(SlackApiError, match="already_pinned"):
        await client.pins_add(channel=GENERAL, timestamp=ts)
    await client.pins_remove(channel=GENERAL, timestamp=ts)
    with pytest.raises(SlackApiError, match="no_pin"):
        await client.pins_remove(channel=GENERAL, timestamp=ts)


async def test_each_event_goes_to_one_of_several_sockets(running: Running) -> None:
    async with listening(running) as first, listening(running) as second:
        for number in range(20):
            await running.says(str(number))
        await until(lambda: len(first.events) + len(second.events) == 20)

    assert first.texts
    assert second.texts
    assert sorted(first.texts + second.texts, key=int) == [str(number) for number in range(20)]
    assert (first.frames[0]["num_connections"], second.frames[0]["num_connections"]) == (1, 2)


async def test_an_eleventh_socket_is_refused(running: Running) -> None:
    running.context.limits.on = False
    async with contextlib.AsyncExitStack() as stack:
        sockets = [await stack.enter_async_context(listening(running)) for _ in range(11)]

        assert sockets[9].frames[0]["type"] == "hello"
        assert sockets[10].frames[0]["reason"] == "too_many_websockets"


async def test_a_ticket_opens_one_socket(running: Running) -> None:
    opened = await running.client().apps_connections_open(app_token=running.app()["app_token"])
    refusals = 0
    async with aiohttp.ClientSession() as session, session.ws_connect(str(opened["url"])):
        try:
            await session.ws_connect(str(opened["url"]))
        except aiohttp.WSServerHandshakeError as error:
            refusals += error.status == 403

    assert refusals == 1


async def test_an_unacknowledged_envelope_is_sent_again_with_its_attempt(running: Running) -> None:
    shorten_deadline(running)
    async with listening(running, acks=False) as app:
        await running.says("anybody?")
        await until(lambda: len(app.envelopes) == 4 and running.slack.delivery.lost == 1)

    attempts = [(e["retry_attempt"], e["retry_reason"]) for e in app.envelopes]
    assert attempts == [(0, ""), (1, "timeout"), (2, "timeout"), (3, "timeout")]
    assert len({e["envelope_id"] for e in app.envelopes}) == 4
    assert len({e["payload"]["event_id"] for e in app.envelopes}) == 1


async def test_invalid_frames_acknowledge_nothing(running: Running) -> None:
    shorten_deadline(running)
    async with listening(running, acks=False) as app:
        for nonsense in ("", "{", "[]", '{"envelope_id": 5}', '{"envelope_id": "unknown"}'):
            await app.socket.send_str(nonsense)
        await app.socket.send_bytes(b"\x00\xff")
        await running.says("still there?")
        await until(lambda: len(app.envelopes) == 2)


async def test_a_reconnected_app_receives_the_retries(running: Running) -> None:
    running.slack.pace.ack_seconds = 0.1
    running.slack.pace.retry_delays = (0.0, *[0.2] * 300)
    async with listening(running) as app:
        await app.socket.close()
    await running.says("while you were out")

    async with listening(running) as app:
        await until(lambda: bool(app.envelopes))

    assert app.texts == ["while you were out"]
    assert app.envelopes[0]["retry_attempt"] > 0


async def test_events_of_an_app_that_never_connected_are_dropped(running: Running) -> None:
    await running.says("early")

    async with listening(running) as app:
        await running.says("late")
        await until(lambda: bool(app.events))

    assert app.texts == ["late"]


async def test_a_warning_comes_before_the_socket_is_closed(running: Running) -> None:
    async with listening(running) as app:
        await running.slack.disconnect("warning")
        await until(lambda: len(app.frames) == 2)
        assert not app.socket.closed
        await running.slack.disconnect()
        await until(lambda: app.socket.closed)

    assert [frame.get("reason") for frame in app.frames] == [None, "warning", "refresh_requested"]


async def test_http_deliveries_are_retried_with_number_and_reason(running: Running) -> None:
    shorten_deadline(running, ack_seconds=LONGEST_WAIT)
    async with hooked(running) as hook:
        hook.status = 500
        await running.says("hello")
        await until(lambda: len(hook.received) == 4)

    assert hook.received == [
        ("hello", None, None),
        ("hello", "1", "http_error"),
        ("hello", "2", "http_error"),
        ("hello", "3", "http_error"),
    ]


async def test_a_slow_request_url_receives_the_event_again(running: Running) -> None:
    shorten_deadline(running, ack_seconds=HOUR)
    async with hooked(running) as hook:
        hook.hold = asyncio.Event()
        await running.says("hello")
        await until(lambda: len(hook.received) == 1)
        pass_time(2 * HOUR)
        await until(lambda: len(hook.received) == 2)
        hook.hold.set()

    assert hook.received[1] == ("hello", "1", "http_timeout")


async def test_an_app_may_decline_retries(running: Running) -> None:
    shorten_deadline(running, ack_seconds=LONGEST_WAIT)
    async with hooked(running) as hook:
        hook.status, hook.headers = 503, {"X-Slack-No-Retry": "1"}
        await running.says("hello")
        await until(lambda: len(hook.received) == 1)
        hook.status = 200
        for text in ("next", "last"):  # a retry would come before the last one
            await running.says(text)
            await until(lambda text=text: hook.received[-1][0] == text)

    assert [text for text, _, _ in hook.received] == ["hello", "next", "last"]


async def test_events_wait_for_a_request_url_that_is_unreachable(running: Running) -> None:
    shorten_deadline(running, ack_seconds=LONGEST_WAIT)
    async with hooked(running):
        pass

    await running.says("nobody home")
    await until(lambda: running.slack.delivery.lost == 1)


async def test_http_deliveries_keep_the_order_of_a_channel(running: Running) -> None:
    async with hooked(running) as hook:
        for number in range(20):
            await running.says(str(number))
        await until(lambda: len(hook.received) == 20)

    assert [text for text, _, _ in hook.received] == [str(number) for number in range(20)]


async def test_the_request_url_and_the_pace_are_set_over_http_too(running: Running) -> None:
    control = f"{running.context.base_url}/slack/_control"
    app = running.app()["app_id"]
    async with hooked(running) as hook, aiohttp.ClientSession() as session:
        good = await session.post(f"{control}/request_url", json={"app": app, "url": hook.url})
        dead = {"app": app, "url": "http://127.0.0.1:1/"}
        bad = await session.post(f"{control}/request_url", json=dead)
        unknown = await session.post(f"{control}/request_url", json={"app": "A404"})
        pace = await session.put(f"{control}/pace", json={"retry_delays": [0.5]})
        wrong = await session.put(f"{control}/pace", json={"speed": 1})

        assert [r.status for r in (good, bad, unknown, pace, wrong)] == [204, 400, 400, 204, 400]
        assert "did not answer" in (await bad.json())["error"]
    assert running.slack.pace.retry_delays == (0.5,)


async def test_a_dropped_event_never_comes(running: Running) -> None:
    running.context.faults.add(Fault(kind="drop", where=f"slack:event:{GENERAL}"))
    async with listening(running) as app:
        for text in ("lost", "kept"):
            await running.says(text)
        await until(lambda: bool(app.events))

    assert app.texts == ["kept"]


async def test_a_duplicated_event_comes_twice_with_one_event_id(running: Running) -> None:
    running.context.faults.add(Fault(kind="duplicate", where="slack:event:*"))
    async with listening(running) as app:
        await running.says("echo")
        await until(lambda: len(app.envelopes) == 2)

    assert len({envelope["payload"]["event_id"] for envelope in app.envelopes}) == 1


async def test_a_delayed_event_comes_later(running: Running) -> None:
    running.slack.pace.ack_seconds = 2 * HOUR
    running.context.faults.add(Fault(kind="delay", where="slack:event:*", seconds=HOUR))
    async with listening(running) as app:
        for text in ("slow", "fast"):
            await running.says(text)
        pass_time(HOUR)
        await until(lambda: len(app.events) == 2)

    assert app.texts == ["fast", "slow"]


async def test_a_reordered_event_follows_the_next_event_of_its_channel(running: Running) -> None:
    fault = Fault(kind="reorder", where=f"slack:event:{GENERAL}", seconds=HOUR)
    running.context.faults.add(fault)
    async with listening(running) as app:
        await running.says("first")
        await running.says("elsewhere", channel=RANDOM)
        await running.says("second")
        await until(lambda: len(app.events) == 3)

    assert app.texts == ["elsewhere", "second", "first"]


async def test_a_reordered_event_without_a_successor_arrives_later(running: Running) -> None:
    running.context.faults.add(Fault(kind="reorder", where="slack:event:*", seconds=0.1))
    async with listening(running) as app:
        await running.says("alone")
        await until(lambda: app.texts == ["alone"])


async def test_a_disconnect_on_request_closes_the_socket_before_an_event(running: Running) -> None:
    running.context.faults.add(Fault(kind="disconnect", where=f"slack:event:{GENERAL}"))
    async with listening(running) as app:
        await running.says("too late")
        await until(lambda: app.socket.closed)

    assert app.events == []
    assert app.frames[-1]["type"] == "disconnect"
