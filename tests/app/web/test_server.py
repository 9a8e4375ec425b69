"""The bridge's web server has limits, hides secrets, and serves `/admin` to commands only."""

from __future__ import annotations

import asyncio
import json
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from bridge.app.build import Bridge, build
from bridge.app.control import ControlAccess, RunningBridge, running_bridge
from bridge.app.redaction import hide_paths
from bridge.app.reload import LAST_VALID_STAYS
from bridge.app.settings.file import settings_of
from bridge.app.watch.gauges import gauges_of
from bridge.app.web.request_bodies import BoundedBodies
from bridge.app.web.server import WebServer, listen, web_app
from bridge.errors import BridgeError, ConfigError
from bridge.model import AccountId, LaneId
from bridge.model.outbox_records import LaneStatus
from bridge.model.store_status import StoreStatus
from bridge.ports.abilities import Abilities
from bridge.ports.abilities.health import Health
from bridge.ports.connector import Connector
from bridge.ports.findings import Finding
from tests.waiting import LONGEST_WAIT


def _client(app: Starlette) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://bridge")


@pytest.fixture
def bounded() -> Starlette:
    return _bounded(most_seconds=LONGEST_WAIT)


def _bounded(most_seconds: float) -> Starlette:
    async def echo(request: Request) -> Response:
        return PlainTextResponse(f"{len(await request.body())}")

    route = Route("/", echo, methods=["GET", "POST"])
    return Starlette(
        routes=[route],
        middleware=[Middleware(BoundedBodies, most_bytes=100, most_seconds=most_seconds)],
    )


async def test_a_body_within_bounds_arrives_whole(bounded: Starlette) -> None:
    async with _client(bounded) as http:
        sizes = [(await http.post("/", content=b"x" * n)).text for n in (0, 1, 100)]
        sizes.append((await http.get("/")).text)

    assert sizes == ["0", "1", "100", "0"]


async def test_a_body_that_is_too_large_is_refused_announced_or_not(bounded: Starlette) -> None:
    async def chunks():
        for _ in range(11):
            yield b"x" * 10

    async with _client(bounded) as http:
        assert (await http.post("/", content=b"x" * 101)).status_code == 413
        assert (await http.post("/", content=chunks())).status_code == 413
        assert (
            await http.post("/", content=b"", headers={"content-length": "9" * 30})
        ).status_code == 413


async def test_a_body_that_never_ends_is_refused_after_its_deadline() -> None:
    async def drip():
        yield b"x"
        await asyncio.Event().wait()

    async with _client(_bounded(most_seconds=0.2)) as http:
        assert (await http.post("/", content=drip())).status_code == 408


async def test_the_servers_own_refusals_are_json(bounded: Starlette, idle: Bridge) -> None:
    async def drip():
        yield b"x"
        await asyncio.Event().wait()

    async with _client(bounded) as http:
        large = await http.post("/", content=b"x" * 101)
    async with _client(_bounded(most_seconds=0.2)) as http:
        slow = await http.post("/", content=drip())
    async with _client(web_app(idle)) as http:
        nothing = await http.get("/nowhere/at/all")
        method = await http.post("/healthz")

    answers = [large, slow, nothing, method]
    assert [answer.status_code for answer in answers] == [413, 408, 404, 405]
    assert {answer.headers["content-type"] for answer in answers} == {"application/problem+json"}
    assert all(answer.json()["status"] == answer.status_code for answer in answers)
    assert (large.json()["detail"], large.json()["todo"]) == (
        "The body is larger than 100 bytes", "send less at once; send files by URL"
    )  # fmt: skip
    assert slow.json()["todo"] == "send it anew"
    assert set(method.headers["allow"].split(", ")) == {"GET", "HEAD"}


async def test_invalid_http_is_refused_in_json(idle: Bridge) -> None:
    server = WebServer(web_app(idle), "127.0.0.1", 0)
    await server.start()
    try:
        port = int(server.url.rpartition(":")[2])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"HELO there\r\n\r\n")
        answer = await asyncio.wait_for(reader.read(), LONGEST_WAIT)
        writer.close()
    finally:
        await server.stop()

    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert b"application/problem+json" in head
    assert json.loads(body)["status"] == 400


@pytest.fixture
async def idle(tmp_path: Path):
    """A bridge without accounts; its router does not run."""
    bridge = await build(settings_of({"store": {"path": str(tmp_path / "b.sqlite3")}}))
    yield bridge
    await bridge.close()


class ReportsHealth:
    """A connector that only has a health."""

    def __init__(self, health: Health) -> None:
        self._health = health
        self.abilities = Abilities(health=self)

    def current(self) -> Health:
        return self._health

    async def check(self, *_: object, **__: object) -> Sequence[Finding]:
        return ()


async def test_health_and_metrics_have_counts(idle: Bridge) -> None:
    async with _client(web_app(idle)) as http:
        health = (await http.get("/healthz")).json()
        metrics = (await http.get("/metrics")).text

    assert (health["ok"], health["accounts"], health["messages"]) == (True, {}, 0)
    names = {family.name for family in text_string_to_metric_families(metrics)}
    assert {"bridge_inbox_rows", "bridge_outbox_rows", "bridge_lane_oldest_seconds",
            "bridge_account_up", "bridge_events_kept"} <= names  # fmt: skip


async def test_health_has_the_time_of_an_accounts_last_event_under_both_names(
    idle: Bridge,
) -> None:
    name = AccountId("slack")
    idle.connectors[name] = cast(
        "Connector", ReportsHealth(Health("connected", last_event_at=1.7e9))
    )
    async with _client(web_app(idle)) as http:
        facts = (await http.get("/healthz")).json()["accounts"][name]
    idle.connectors.clear()

    assert (facts["last_event_at"], facts["heard"]) == (1.7e9, 1.7e9)


def _names_files(bridge: Bridge) -> dict[str, str]:
    """Fill every source of problems with texts that name files."""
    agent = "agents.echo.picture: 'sb/nope.png' cannot be read; correct the path"
    tool = "tools.notes: there is no program '/srv/tools/notes' that may be run; correct `command`"
    bridge.problems[:] = [
        agent,
        f"{LAST_VALID_STAYS}: /srv/bridge/bridge.yaml: accounts.x: Extra inputs",
        "room 'general': The store '/srv/data/b.sqlite3' failed",
    ]
    bridge.unready.update({
        "tools.notes": tool,
        "agents.claude": "agents.claude: Cannot read the secret in '/run/secrets/key': no",
        "accounts.slack": "accounts.slack: the bot is not in channel 'C1'; say /invite @bridge",
    })  # fmt: skip
    return {"agents.echo.picture": agent, "tools.notes": tool}


async def test_only_commands_see_the_file_names_in_problems(idle: Bridge) -> None:
    control, file_answers = ControlAccess.new(), _names_files(idle)

    async with _client(web_app(idle, control)) as http:
        strangers = (await http.get("/healthz")).json()["problems"]
        wrong = {"Authorization": "Bearer wrong"}
        guessing = (await http.get("/healthz", headers=wrong)).json()["problems"]
        ours = {"Authorization": f"Bearer {control.token}"}
        commands = (await http.get("/healthz", headers=ours)).json()["problems"]

    assert strangers == guessing == [
        f"{part}: `uacs-bridge status` says what is wrong"
        for part in (
            "agents.echo.picture", LAST_VALID_STAYS, "room 'general'", "tools.notes",
            "agents.claude", "accounts.slack",
        )
    ]  # fmt: skip
    assert "/" not in "".join(strangers)
    assert set(file_answers.values()) <= set(commands)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Cannot read the secret in '/run/secrets/slack key': [Errno 13] Permission denied",
         "Cannot read the secret in (a file): [Errno 13] Permission denied"),
        ("The file ./secrets/slack is empty or not set", "The file (a file) is empty or not set"),
        ("'sb/nope.png' and \"/a/o'b\" are gone", "(a file) and (a file) are gone"),
        ("token from https://login.test/t/oauth2/v2.0/token: 401 'https://a.test/b'",
         "token from https://login.test/t/oauth2/v2.0/token: 401 'https://a.test/b'"),
        ("it isn't in #general; say /invite @bridge, it doesn't hear",
         "it isn't in #general; say /invite @bridge, it doesn't hear"),
    ],
)  # fmt: skip
def test_file_names_are_hidden_in_the_notes_of_an_account(text: str, expected: str) -> None:
    assert hide_paths(text) == expected


async def test_strangers_see_no_file_names_in_the_error_of_an_account(idle: Bridge) -> None:
    failing = Health("connecting", note="'/srv/tls/ca.pem' cannot be read")
    name, control = AccountId("slack"), ControlAccess.new()
    idle.connectors[name] = cast("Connector", ReportsHealth(failing))
    app, found = web_app(idle, control), list[str]()
    for failed in ("", "Cannot read the secret in '/run/secrets/slack'"):
        if failed:
            idle.router.parts.inbound.receivers.failed[name] = failed
        for headers in ({}, {"Authorization": f"Bearer {control.token}"}):
            async with _client(app) as http:
                found.append(str((await http.get("/healthz", headers=headers)).json()["accounts"]))
    idle.connectors.clear()

    assert ["/" in text for text in found] == [False, True, False, True]


async def test_health_is_503_when_the_store_does_not_answer(idle: Bridge) -> None:
    await idle.store.close()

    async with _client(web_app(idle)) as http:
        health = await http.get("/healthz")
        metrics = await http.get("/metrics")

    assert (health.status_code, health.json()["ok"], metrics.status_code) == (503, False, 200)


@pytest.mark.parametrize("header", ["", "Bearer ", "Bearer wrong", "Basic eDp5", "Bearer é"])
async def test_admin_requests_without_the_token_are_not_found(idle: Bridge, header: str) -> None:
    headers = [(b"authorization", header.encode())] if header else []
    async with _client(web_app(idle, ControlAccess.new())) as http:
        for path in ("/admin/", "/admin/replay", "/admin/retry", "/admin/skip", "/admin/secrets"):
            answer = await http.request(
                "GET" if path == "/admin/" else "POST", path, headers=headers
            )
            assert (answer.status_code, answer.content) == (404, b"")


async def test_commands_find_a_running_bridge_through_the_file_beside_its_store(
    idle: Bridge, tmp_path: Path
) -> None:
    store = tmp_path / "b.sqlite3"
    control = ControlAccess.new()
    server = WebServer(web_app(idle, control), "127.0.0.1", 0)
    await server.start()
    try:
        Path(f"{store}.door").write_text("left by the version before")  # noqa: ASYNC240
        control.open(store, server.url)
        assert not Path(f"{store}.door").exists()  # noqa: ASYNC240
        mode = stat.S_IMODE(Path(f"{store}.control").stat().st_mode)  # noqa: ASYNC240
        found = await asyncio.to_thread(running_bridge, store)
        assert found is not None
        await asyncio.to_thread(found.ask, "/admin/secrets", {"name": "a", "value": "b"})
        with pytest.raises(BridgeError, match="no dead letter 'x'"):
            await asyncio.to_thread(found.ask, "/admin/replay", {"operations": ["x"]})
        for path in ("/admin/retry", "/admin/skip"):
            with pytest.raises(BridgeError, match="'x' does not wait"):
                await asyncio.to_thread(found.ask, path, {"operations": ["x"]})
        with pytest.raises(BridgeError, match="bad request"):
            await asyncio.to_thread(found.ask, "/admin/replay", {})
    finally:
        control.close()
        await server.stop()

    assert (mode, found.token, await idle.store.credential("a")) == (0o600, control.token, "b")
    assert running_bridge(store) is None


async def test_commands_reach_a_running_bridge_of_the_version_before(
    idle: Bridge, tmp_path: Path
) -> None:
    store = tmp_path / "b.sqlite3"
    control = ControlAccess.new()
    server = WebServer(web_app(idle, control), "127.0.0.1", 0)
    await server.start()
    try:
        facts = {"pid": 1, "url": server.url, "token": control.token}
        Path(f"{store}.door").write_text(json.dumps(facts))  # noqa: ASYNC240
        found = await asyncio.to_thread(running_bridge, store)
    finally:
        await server.stop()

    assert found is not None
    assert found.token == control.token


@pytest.mark.parametrize("suffix", ["control", "door"])
@pytest.mark.parametrize(
    "left",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"pid": 1, "url": 3, "token": ""}',
        '{"pid": 1, "url": "http://127.0.0.1:9", "token": "t"}',
        '{"pid": 1, "url": "file:///etc/passwd", "token": ""}',
    ],
)
def test_a_control_file_left_by_a_crash_is_ignored(left: str, suffix: str, tmp_path: Path) -> None:
    (tmp_path / f"b.sqlite3.{suffix}").write_text(left)

    assert running_bridge(tmp_path / "b.sqlite3") is None


def test_a_command_reports_that_the_bridge_is_gone() -> None:
    with pytest.raises(BridgeError, match="does not answer"):
        RunningBridge(1, "http://127.0.0.1:9", "t").ask("/healthz")


def test_an_address_that_cannot_be_bound_is_an_error() -> None:
    for host, port in (("203.0.113.1", 80), ("no such host", 80)):
        with pytest.raises(ConfigError, match="Cannot listen on"):
            listen(host, port)


def test_gauges_say_how_long_the_oldest_waits_for_each_account() -> None:
    slack, discord = AccountId("slack"), AccountId("discord")
    lanes = [
        LaneStatus(LaneId(f"l{n}"), slack, 1, old, "waiting") for n, old in ((1, 90.0), (2, 40.0))
    ]
    status = StoreStatus({"failed": 2}, {"dead": 1}, {}, 7, lanes)
    healths = {slack: Health("connected", 10.0, 95.0), discord: Health("connecting")}

    registry = gauges_of(status, healths, now=100.0)

    def value(name: str, **labels: str) -> float | None:
        return registry.get_sample_value(f"bridge_{name}", labels)

    assert (value("lane_oldest_seconds", account="slack"), value("lanes_waiting", account="slack"),
            value("lane_oldest_seconds", account="discord")) == (60.0, 2.0, 0.0)  # fmt: skip
    assert (value("account_up", account="slack"), value("account_up", account="discord")) == (1, 0)
    assert value("account_heard_timestamp_seconds", account="slack") == 95.0
    assert value("account_heard_timestamp_seconds", account="discord") is None
    assert (value("inbox_rows", state="failed"), value("inbox_rows", state="waiting")) == (2, 0)
    assert (value("outbox_rows", state="dead"), value("messages")) == (1, 7)
