"""Payloads are stored once and in order before they are acknowledged, and none is lost."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import io
import json
import time
from collections.abc import AsyncIterator
from typing import Any, cast
from urllib.parse import urlencode

import aiohttp
import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from slack_sdk.web.async_client import AsyncWebClient

from bridge.errors import AuthFailed, PlatformError, StoreError, Unavailable
from bridge.model import AccountId, MessagePosted, Raw, actor_id_of
from bridge.sandbox.faults import Fault
from bridge.testing.abilities import required
from bridge.testing.inbox import ListInbox
from connectors.slack import ids, receive
from connectors.slack.decode import CREDENTIALS, decode
from connectors.slack.payload import parse_payload
from connectors.slack.receive import (
    LARGEST_BODY,
    InboxWriter,
    Socket,
    raw_of,
    retry_until_done,
    watch_for_others,
)
from connectors.slack.sandbox.events import Event
from tests.connectors.slack.conftest import ADA, GENERAL, RANDOM, Sandbox
from tests.connectors.slack.payloads import (
    ACCOUNT,
    CHANNEL,
    OWN_IDENTITY,
    TEAM,
    TS,
    envelope,
    post,
    raw,
)
from tests.connectors.slack.test_encode import post as encoded
from tests.connectors.slack.test_send import FakeClock
from tests.connectors.slack.web import Web, bridge_web
from tests.waiting import LONGEST_WAIT

# --- payload -> row -------------------------------------------------------------------------


def test_a_message_and_its_mention_event_share_a_dedupe_key() -> None:
    message = raw(envelope(post("<@UBOT>"), event_id="Ev1"))
    mention = raw(envelope({**post("<@UBOT>"), "type": "app_mention"}, event_id="Ev2"))

    assert message.dedupe_key == mention.dedupe_key == ids.post_key(CHANNEL, TS)
    assert message.kind == mention.kind == "message"
    assert message.order_key == mention.order_key == ids.order_key(TS)


def test_every_edit_of_a_post_is_a_separate_row() -> None:
    change = {**post(), "subtype": "message_changed", "event_ts": "1700000009.000100"}
    first, second = raw(envelope(change, event_id="Ev1")), raw(envelope(change, event_id="Ev2"))

    assert first.dedupe_key != second.dedupe_key
    assert first.kind == "event_callback"
    assert first.order_key == ids.order_key("1700000009.000100")


def test_credentials_are_removed_from_the_payload() -> None:
    body = {
        "type": "view_submission", "token": "secret-1", "trigger_id": "secret-2",
        "team": {"id": TEAM}, "view": {"id": "V1"},
        "response_urls": [{"block_id": "b", "response_url": "https://secret-3.test"}],
    }  # fmt: skip

    row = raw(body)

    assert b"secret" not in row.payload
    assert row.credentials == {
        "/token": "secret-1",
        "/trigger_id": "secret-2",
        "/response_urls/0/response_url": "https://secret-3.test",
    }
    assert orjson.loads(row.payload)["response_urls"] == [{"block_id": "b"}]


def test_a_payload_without_a_slack_timestamp_moves_no_cursor() -> None:
    row = raw({"command": "/bridge", "channel_id": CHANNEL, "team_id": TEAM, "user_id": "U1"})

    assert row.channel is None
    assert row.kind == "slash_commands"


@pytest.mark.parametrize("kind", [kind for kind in CREDENTIALS if kind != "history"])
def test_the_verification_token_is_a_credential_of_every_kind(kind: str) -> None:
    assert "/token" in CREDENTIALS[kind]


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
_KEYS = st.sampled_from(
    ["token", "event", "type", "ts", "channel", "event_ts", "subtype", "team_id", "authorizations"]
)


@given(st.dictionaries(_KEYS, _JSON, max_size=6), st.dictionaries(_KEYS, _JSON, max_size=6))
@example({}, {"token": [-(2**63) - 1, float("inf")], "type": "\ud83d"})
def test_any_object_becomes_a_row(body: dict[str, Any], event: dict[str, Any]) -> None:
    row = raw_of(ACCOUNT, {**body, "event": event}, OWN_IDENTITY, now=1_700_000_000.0)

    assert set(parse_payload(row.payload)) <= {*body, "event"}
    assert json.loads(row.payload, parse_constant=pytest.fail)
    assert isinstance(Raw.model_validate_json(row.model_dump_json()), Raw)


# --- into the inbox -------------------------------------------------------------------------


class SlowInbox(ListInbox):
    """An inbox that is slower for the first of each pair, like a busy disk."""

    async def accept(self, raw: Raw) -> bool:
        await asyncio.sleep(0.002 if int(raw.order_key[-6:]) % 2 == 0 else 0)
        return await super().accept(raw)


async def _identity() -> ids.Identity:
    return OWN_IDENTITY


def inbox_writer(inbox: ListInbox) -> InboxWriter:
    return InboxWriter(ACCOUNT, inbox, _identity, FakeClock(), lambda _body: None)


async def test_a_channel_keeps_its_order_and_delays_no_other() -> None:
    inbox = SlowInbox()
    writer = inbox_writer(inbox)
    frames = [
        envelope(post(channel=channel, ts=f"1700000000.{number:06d}"))
        for number in range(20)
        for channel in ("C1", "C2")
    ]

    await asyncio.gather(*(writer.write(frame) for frame in frames))

    for channel in ("C1", "C2"):
        keys = [r.order_key for r in inbox.raws if r.channel and r.channel.channel == channel]
        assert keys == sorted(keys)
        assert len(keys) == 20


async def test_a_blocked_channel_delays_no_other() -> None:
    class Stuck(ListInbox):
        async def accept(self, raw: Raw) -> bool:
            if raw.channel and raw.channel.channel == "C1":
                await asyncio.Event().wait()
            return await super().accept(raw)

    inbox = Stuck()
    writer = inbox_writer(inbox)

    stuck = asyncio.create_task(writer.write(envelope(post(channel="C1"))))
    await asyncio.wait_for(writer.write(envelope(post(channel="C2"))), LONGEST_WAIT)
    stuck.cancel()

    assert [r.channel and r.channel.channel for r in inbox.raws] == ["C2"]


# --- Socket Mode ----------------------------------------------------------------------------


def texts(inbox: ListInbox) -> list[str]:
    events = [event for row in inbox.raws for event in decode(row, None)]
    return [e.message.content[0].text for e in events if isinstance(e, MessagePosted)]  # type: ignore[union-attr]


async def test_slack_resends_an_event_that_the_inbox_could_not_store(sandbox: Sandbox) -> None:
    refused = asyncio.Event()

    class Full(ListInbox):
        async def accept(self, raw: Raw) -> bool:
            if self.fail_with is not None:
                refused.set()
            return await super().accept(raw)

    inbox = Full()
    sandbox.slack.pace.ack_seconds = 0.1
    sandbox.slack.pace.retry_delays = (0.1,) * 600
    await sandbox.start(sandbox.connector(), inbox)
    inbox.fail_with = StoreError("the disk is full")
    await sandbox.say("keep me")
    await refused.wait()

    inbox.fail_with = None
    await inbox.until(lambda: bool(inbox.raws))

    assert texts(inbox) == ["keep me"]


async def test_a_mention_of_the_bot_is_stored_as_one_row(
    sandbox: Sandbox, inbox: ListInbox
) -> None:
    await sandbox.start(sandbox.connector(), inbox)

    await sandbox.say("@Bridge hello")
    await inbox.until(lambda: inbox.repeats == 1)

    (row,) = inbox.raws
    (event,) = decode(row, None)
    assert isinstance(event, MessagePosted)
    assert event.addresses_us


async def test_a_burst_of_messages_is_stored_in_order(sandbox: Sandbox) -> None:
    inbox = SlowInbox()
    await sandbox.start(sandbox.connector(), inbox)

    for number in range(60):
        await sandbox.say(f"{number}", channel=GENERAL if number % 3 else RANDOM)
    await inbox.until(lambda: len(inbox.raws) == 60)

    for channel in (GENERAL, RANDOM):
        keys = [row.order_key for row in inbox.raws if row.channel == channel]
        assert keys == sorted(keys)


@pytest.mark.parametrize("reason", ["", "refresh_requested", "warning"])
async def test_a_lost_socket_is_opened_again_and_reported(
    sandbox: Sandbox, inbox: ListInbox, reason: str
) -> None:
    connector = sandbox.connector()
    await sandbox.start(connector, inbox)

    await sandbox.slack.disconnect(reason)
    await inbox.until(lambda: len(inbox.sessions) == 2)
    await sandbox.say("still here")
    await inbox.until(lambda: bool(inbox.raws))

    assert inbox.sessions == ["acme", "acme"]
    assert texts(inbox) == ["still here"]
    assert required(connector.abilities.health).current().state == "connected"


async def test_a_broken_socket_is_opened_again(sandbox: Sandbox, inbox: ListInbox) -> None:
    await sandbox.start(sandbox.connector(), inbox)

    sandbox.cut()
    await inbox.until(lambda: len(inbox.sessions) == 2)


async def test_a_wrong_app_token_stops_the_connector_with_advice(
    sandbox: Sandbox, inbox: ListInbox
) -> None:
    connector = sandbox.connector(app_token={"env": "WRONG"})
    sandbox.tokens.values["WRONG"] = "xapp-wrong"

    with pytest.raises(AuthFailed, match="install the app again"):
        await connector.run(inbox)

    assert required(connector.abilities.health).current().state == "failed"
    assert "invalid_auth" in required(connector.abilities.health).current().note


async def test_a_revoked_bot_token_shows_in_the_health_despite_an_open_socket(
    sandbox: Sandbox, inbox: ListInbox
) -> None:
    connector = sandbox.connector()
    await sandbox.start(connector, inbox)
    good = dict(sandbox.tokens.values)
    sandbox.tokens.values = dict.fromkeys(good, "xoxb-revoked")

    with pytest.raises(AuthFailed, match="invalid_auth"):
        await required(connector.abilities.people).person(
            actor_id_of("slack", "T0ACME", "U0ACME01")
        )
    revoked = required(connector.abilities.health).current()
    sandbox.tokens.values = good
    await required(connector.abilities.people).person(actor_id_of("slack", "T0ACME", "U0ACME02"))

    assert (revoked.state, "invalid_auth" in revoked.note) == ("failed", True)
    assert (
        required(connector.abilities.health).current().state,
        required(connector.abilities.health).current().note,
    ) == ("connected", "")


@pytest.mark.parametrize("kind", ["tokens_revoked", "app_uninstalled"])
async def test_a_token_revocation_event_shows_in_the_health_at_once(
    sandbox: Sandbox, inbox: ListInbox, kind: str
) -> None:
    """The revoked token may be a person's, so the connector checks the bot token."""
    connector = sandbox.connector()
    await sandbox.start(connector, inbox)
    (app,) = [
        bot_token
        for bot_token in sandbox.slack.slack.bot_tokens.values()
        if bot_token.id == sandbox.app()["app_id"]
    ]

    async def health_after(number: int) -> str:
        body = {"type": kind, "tokens": {"oauth": [ADA]}, "event_ts": f"170000000{number}.000000"}
        sandbox.slack.delivery.tell(app, Event(kind, "C0ACME001", body))
        await inbox.until(lambda: len(inbox.raws) == number)
        proving: set[asyncio.Task[None]] = vars(vars(connector)["_connection"])["_proving"]
        await asyncio.gather(*proving)
        return required(connector.abilities.health).current().state

    persons = await health_after(1)
    sandbox.tokens.values = dict.fromkeys(sandbox.tokens.values, "xoxb-revoked")
    bots = await health_after(2)

    assert (persons, bots) == ("connected", "failed")
    assert "invalid_auth" in required(connector.abilities.health).current().note


async def test_the_connector_waits_while_slack_is_down(
    sandbox: Sandbox, inbox: ListInbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(receive, "_RETRY_SECONDS", (0.01,))
    for where in ("slack:auth.test:*", "slack:apps.connections.open:*"):
        sandbox.context.faults.add(Fault(kind="status", where=where, times=2, status=503))

    await sandbox.start(sandbox.connector(), inbox)

    assert inbox.sessions == ["acme"]


async def test_health_has_the_times_of_the_connection_and_of_the_last_event(
    sandbox: Sandbox, inbox: ListInbox
) -> None:
    connector = sandbox.connector()
    assert required(connector.abilities.health).current().state == "stopped"

    task = await sandbox.start(connector, inbox)
    await sandbox.say("hello")
    await inbox.until(lambda: bool(inbox.raws))
    await asyncio.sleep(0)

    health = required(connector.abilities.health).current()
    assert health.state == "connected"
    assert health.connected_since is not None
    assert health.last_event_at is not None
    assert health.last_event_at >= health.connected_since
    task.cancel()
    await asyncio.wait([task])
    assert required(connector.abilities.health).current().state == "stopped"


async def test_two_accounts_in_one_workspace_recognise_each_others_posts(sandbox: Sandbox) -> None:
    first, second = ListInbox(), ListInbox()
    sender = sandbox.connector("one", "bridge")
    other = sandbox.connector("two", "plain")
    await sandbox.start(sender, first)
    await sandbox.start(other, second)

    (call,) = encoded("from the first account").calls
    body = {**call.body, "channel": GENERAL.channel}
    await sender.send(call.model_copy(update={"channel": GENERAL, "body": body}))
    await first.until(lambda: bool(first.raws))
    await second.until(lambda: bool(second.raws))

    (mine,), (theirs,) = sender.decode(first.raws[0]), other.decode(second.raws[0])
    assert isinstance(mine, MessagePosted)
    assert isinstance(theirs, MessagePosted)
    assert (mine.own, mine.operation) == (True, "op-1")
    assert (theirs.own, theirs.operation) == (True, None)


class Wire:
    """A socket's session that keeps what is sent."""

    closed = False

    def __init__(self) -> None:
        self.sent = list[Any]()
        self.broken = False

    async def send_str(self, text: str) -> None:
        if self.broken:
            raise ConnectionResetError("closing transport")
        self.sent.append(json.loads(text))

    async def close(self) -> None:
        self.closed = True


@pytest.fixture
async def wired() -> AsyncIterator[tuple[Socket, Wire, list[Any], asyncio.Event]]:
    """A socket, its wire, what it has stored, and the event that lets the inbox store."""
    stored, go = list[Any](), asyncio.Event()

    async def write(body: dict[str, Any]) -> None:
        await go.wait()
        if body == {"command": "/full"}:
            raise StoreError("the disk is full")
        stored.append(body)

    socket, wire = Socket(ACCOUNT, "wss://slack.test", write, "https://slack.test/api/"), Wire()
    socket.current_session = cast("Any", wire)
    yield socket, wire, stored, go
    await socket.close()


Wired = tuple[Socket, Wire, list[Any], asyncio.Event]


def frame(envelope_id: str, kind: str, payload: object) -> str:
    return json.dumps({"envelope_id": envelope_id, "type": kind, "payload": payload})


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        ("events_api", envelope(post())),
        ("slash_commands", {"command": "/bridge", "text": "help"}),
        ("interactive", {"type": "block_actions", "actions": []}),
        ("interactive", {"type": "view_submission", "view": {"id": "V1"}}),
        ("interactive", {"type": "block_suggestion", "value": "a"}),
        ("events_api", {"type": "event_callback", "ssl_check": "1", "event": {"type": "new"}}),
    ],
)
async def test_every_kind_of_frame_is_stored_and_then_acknowledged(
    wired: Wired, kind: str, payload: dict[str, Any]
) -> None:
    socket, wire, stored, go = wired

    await socket.enqueue_message(frame("e1", kind, payload))
    await settled()
    unacknowledged = list(wire.sent)
    go.set()
    await settled()

    assert (unacknowledged, stored, wire.sent) == ([], [payload], [{"envelope_id": "e1"}])


async def test_a_frame_that_could_not_be_stored_is_not_acknowledged(wired: Wired) -> None:
    socket, wire, stored, go = wired
    go.set()

    await socket.enqueue_message(frame("e1", "slash_commands", {"command": "/full"}))
    await socket.enqueue_message(frame("e2", "slash_commands", {"command": "/bridge"}))
    await settled()

    assert (stored, wire.sent) == ([{"command": "/bridge"}], [{"envelope_id": "e2"}])


async def test_an_acknowledgement_on_a_broken_socket_is_left_to_slacks_repetition(
    wired: Wired,
) -> None:
    socket, wire, stored, go = wired
    wire.broken = True
    go.set()

    await socket.enqueue_message(frame("e1", "slash_commands", {"command": "/bridge"}))
    await settled()

    assert (stored, wire.sent) == ([{"command": "/bridge"}], [])


async def test_frames_without_a_payload_are_neither_stored_nor_acknowledged(wired: Wired) -> None:
    socket, wire, stored, go = wired
    go.set()

    for text in ("", "{", "ping", "[" * 9, '{"a":' * 100_000, "{}", frame("e1", "interactive", 1)):
        await socket.enqueue_message(text)
    await settled()

    assert (stored, wire.sent, socket.greeted, socket.lost.is_set()) == ([], [], False, False)


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


# --- other programs with our app token --------------------------------------------------------


@pytest.mark.parametrize(
    ("greeted_with", "counts", "expected", "slept"),
    [
        (0, [], [False], []),  # an old Slack without the number
        (1, [], [False], []),
        (2, [0], [False], [60.0]),  # a connection that we have just lost
        (2, [1], [True], [60.0, 300.0]),
        (3, [1, 2, 0], [True, True, False], [60.0, 300.0, 300.0]),
    ],
)
async def test_another_connection_is_reported_after_it_lasted_a_minute(
    greeted_with: int, counts: list[int], expected: list[bool], slept: list[float]
) -> None:
    clock, reports = FakeClock(), list[bool]()
    enough = asyncio.Event()

    async def count() -> int:
        if not counts:
            enough.set()
            await asyncio.Event().wait()
        return counts.pop(0)

    watching = asyncio.create_task(watch_for_others(greeted_with, count, clock, reports.append))
    waiting = asyncio.create_task(enough.wait())
    await asyncio.wait({watching, waiting}, return_when=asyncio.FIRST_COMPLETED)
    for task in (watching, waiting):
        task.cancel()

    assert (reports, clock.slept) == (expected, slept)


async def test_a_failed_connection_count_is_repeated_and_not_reported() -> None:
    clock, reports = FakeClock(), list[bool]()
    answers: list[int | PlatformError] = [Unavailable("down"), AuthFailed("no"), 0]

    async def count() -> int:
        answer = answers.pop(0)
        if isinstance(answer, PlatformError):
            raise answer
        return answer

    await watch_for_others(2, count, clock, reports.append)

    assert (reports, clock.slept) == ([False], [60.0, 300.0, 300.0])


async def test_a_second_program_with_our_app_token_is_reported_and_no_event_is_lost(
    sandbox: Sandbox, inbox: ListInbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(receive, "_OTHERS_AFTER", 0.05)
    monkeypatch.setattr(receive, "_OTHERS_AGAIN", 0.05)
    other_inbox = ListInbox()
    first, second = sandbox.connector("one"), sandbox.connector("two")
    await sandbox.start(first, inbox)
    await sandbox.start(second, other_inbox)

    async with asyncio.timeout(10):
        while not required(second.abilities.health).current().note:  # noqa: ASYNC110 - a connector's health is asked for
            await asyncio.sleep(0.01)
    shared = required(second.abilities.health).current()
    for number in range(20):
        await sandbox.say(str(number))
    await inbox.until(lambda: len(inbox.raws) + len(other_inbox.raws) == 20)

    assert shared.state == "connected"
    assert "another program is connected with this app token" in shared.note


async def test_our_own_closing_connection_is_not_reported_as_another_program(
    sandbox: Sandbox, inbox: ListInbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Slack still counts the old connection when it greets the new one."""
    closed, counted = asyncio.Event(), asyncio.Event()
    watch = receive.watch_for_others

    class Minute(FakeClock):
        async def sleep(self, seconds: float) -> None:
            await closed.wait()

    async def watched(connections: int, count: Any, _clock: object, shared: Any) -> None:
        greeted.append(connections)
        await watch(connections, count, Minute(), shared)
        counted.set()

    greeted: list[int] = []
    monkeypatch.setattr(receive, "watch_for_others", watched)
    connector = sandbox.connector()
    app = sandbox.app()
    opened = await AsyncWebClient(base_url=f"{sandbox.context.base_url}/slack/api/").api_call(
        "apps.connections.open", headers={"Authorization": f"Bearer {app['app_token']}"}
    )
    async with aiohttp.ClientSession() as session:
        async with session.ws_connect(str(opened["url"])) as old:
            await old.receive()
            await sandbox.start(connector, inbox)
        async with asyncio.timeout(10):
            while sandbox.slack.connections > 1:  # noqa: ASYNC110 - the sandbox is asked
                await asyncio.sleep(0.01)
            closed.set()
            await counted.wait()

    assert (greeted, required(connector.abilities.health).current().note) == ([2], "")


# --- waits ------------------------------------------------------------------------------------


async def test_retries_back_off_and_end_when_the_credentials_are_refused() -> None:
    clock = FakeClock()
    errors: list[PlatformError] = [Unavailable("down"), Unavailable("down"), AuthFailed("no")]

    async def work() -> None:
        raise errors.pop(0)

    with pytest.raises(AuthFailed):
        await retry_until_done(AccountId("acme"), work, clock)

    assert clock.slept == [1.0, 2.0]


# --- HTTP -----------------------------------------------------------------------------------


def signed(body: bytes, secret: str, at: float) -> dict[str, str]:
    base = f"v0:{int(at)}:".encode() + body
    digest = hmac.new(secret.encode(), base, hashlib.sha256).hexdigest()
    return {
        "x-slack-request-timestamp": str(int(at)),
        "x-slack-signature": f"v0={digest}",
        "content-type": "application/json",
    }


@pytest.fixture
async def web() -> Any:
    async with bridge_web() as running:
        yield running


async def _ask(url: str, body: bytes, headers: dict[str, str]) -> tuple[int, str]:
    async with (
        aiohttp.ClientSession() as session,
        session.post(url, data=io.BytesIO(body), headers=headers) as answer,
    ):
        return answer.status, await answer.text()


async def test_only_requests_with_a_valid_signature_are_accepted(
    sandbox: Sandbox, inbox: ListInbox, web: Web
) -> None:
    connector = sandbox.connector(receive="http")
    url = web.mount(connector, inbox)
    secret = sandbox.app()["signing_secret"]
    now = time.time()
    good = orjson.dumps(envelope(post(), team_id="T0ACME", authorizations=[]))
    other = good.replace(b"hello", b"hullo")
    challenge = orjson.dumps({"type": "url_verification", "challenge": "abc", "token": "t"})
    expected: list[tuple[int, bytes, dict[str, str]]] = [
        (200, challenge, signed(challenge, secret, now)),
        (401, challenge, signed(challenge, "other", now)),
        (401, other, signed(good, secret, now)),
        (401, good, signed(good, secret, now - 301)),
        (401, good, signed(good, secret, now + 900)),  # the clock goes on meanwhile
        (401, good, {"content-type": "application/json"}),
        (401, good, {**signed(good, secret, now), "x-slack-request-timestamp": "²"}),
        (401, good, {**signed(good, secret, now), "x-slack-signature": "v0=é"}),
        (401, b"x" * (LARGEST_BODY + 1), {}),
        (400, b"[" * 100_000, signed(b"[" * 100_000, secret, now)),
        (400, b"\xff{", signed(b"\xff{", secret, now)),
        (400, b"[1]", signed(b"[1]", secret, now)),
        (400, b"nonsense", signed(b"nonsense", secret, now)),
        (200, good, signed(good, secret, now)),
    ]

    answers = [await _ask(url, body, headers) for _, body, headers in expected]

    assert [status for status, _ in answers] == [status for status, _, _ in expected]
    assert json.loads(answers[0][1]) == {"challenge": "abc"}
    assert len(inbox.raws) == 1


async def test_a_request_that_cannot_be_stored_is_not_acknowledged(
    sandbox: Sandbox, inbox: ListInbox, web: Web
) -> None:
    connector = sandbox.connector(receive="http")
    url = web.mount(connector, inbox)
    body = orjson.dumps(envelope(post()))
    now = time.time()
    headers = signed(body, sandbox.app()["signing_secret"], now)
    inbox.fail_with = StoreError("the disk is full")

    assert await _ask(url, body, headers) == (503, "")

    inbox.fail_with = None
    assert (await _ask(url, body, headers))[0] == 200


@pytest.mark.parametrize(
    "form",
    [
        {"payload": '{"type": "block_actions", "team": {"id": "T0ACME"}, "token": "t"}'},
        {"command": "/bridge", "text": "status", "user_id": "U1", "token": "t"},
    ],
)
async def test_form_encoded_requests_are_stored(
    sandbox: Sandbox, inbox: ListInbox, web: Web, form: dict[str, str]
) -> None:
    connector = sandbox.connector(receive="http")
    url = web.mount(connector, inbox)
    body = urlencode(form).encode()
    now = time.time()
    headers = signed(body, sandbox.app()["signing_secret"], now)
    headers["content-type"] = "application/x-www-form-urlencoded"

    assert (await _ask(url, body, headers))[0] == 200

    assert inbox.raws[0].credentials == {"/token": "t"}


def test_only_an_account_without_socket_mode_has_routes(sandbox: Sandbox) -> None:
    over_http = sandbox.connector(receive="http", signing_secret={"env": "SECRET"})

    assert sandbox.connector().abilities.http is None
    assert over_http.abilities.http is not None
