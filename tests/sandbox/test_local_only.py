"""The sandbox and the demo's page answer programs of this machine, and no page of another site."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from typing import cast

import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from bridge.app.demo.page import page_app
from bridge.app.demo.running import Demo, Sandbox
from bridge.sandbox.platform import SandboxContext
from bridge.sandbox.server import local_platforms, sandbox_app

BASE, SOCKETS = "http://127.0.0.1:8090", "ws://127.0.0.1:8090"
FOREIGN_HOSTS = (
    "evil.example", "evil.example:8090", "127.0.0.1.evil.example", "localhost.evil.example",
    "127.0.0.1@evil.example", "10.0.0.1", "0.0.0.0", "", "[::1", "localhost:x",
)  # fmt: skip
FOREIGN_ORIGINS = (
    "http://evil.example", "null", "http://127.0.0.1:3000", "http://localhost:8090", "file://",
    "http://127.0.0.1:8090.evil.example", "", "https://127.0.0.1:8090",
)  # fmt: skip


@pytest.fixture
def sandbox() -> Generator[TestClient]:
    context = SandboxContext(base_url=BASE)
    with TestClient(sandbox_app(context, local_platforms(context)), base_url=BASE) as client:
        yield client


class _NoDemo:
    """As much of a demo as is needed before anybody is let in."""

    sandbox_url = BASE
    bridge_url = BASE
    sandbox = Sandbox(SandboxContext(base_url=BASE), local_platforms(SandboxContext(base_url=BASE)))


@pytest.fixture
def page() -> Generator[tuple[TestClient, list[str]]]:
    played: list[str] = []

    async def play() -> None:
        played.append("scene")

    app = page_app(cast("Demo", _NoDemo()), {"scene": play}, asyncio.Event())
    with TestClient(app, base_url=BASE) as client:
        yield client, played


@pytest.mark.parametrize("host", FOREIGN_HOSTS)
def test_a_foreign_host_reads_no_tokens(sandbox: TestClient, host: str) -> None:
    answer = sandbox.get("/_control/world", headers={"Host": host})

    assert answer.status_code == 421
    assert "xoxb" not in answer.text
    assert sandbox.get("/slack/api/auth.test", headers={"Host": host}).status_code == 421


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:1", "localhost:8090", "[::1]:8090"])
def test_requests_under_every_name_of_this_machine_are_answered(
    sandbox: TestClient, host: str
) -> None:
    assert sandbox.get("/_control/world", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("origin", FOREIGN_ORIGINS)
def test_pages_of_a_foreign_origin_are_refused(sandbox: TestClient, origin: str) -> None:
    headers = {"Origin": origin}

    assert sandbox.get("/_control/world", headers=headers).status_code == 403
    assert sandbox.delete("/_control/faults", headers=headers).status_code == 403
    assert sandbox.options("/_control/faults", headers=headers).status_code == 403
    assert "access-control-allow-origin" not in sandbox.get("/", headers=headers).headers


def test_requests_that_a_browser_makes_for_another_site_are_refused(sandbox: TestClient) -> None:
    picture = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}

    assert sandbox.get("/_control/world", headers=picture).status_code == 403
    assert sandbox.get("/_control/world", headers=link).status_code == 200
    assert sandbox.post("/_control/slack/disconnect", headers=link).status_code == 403


def test_a_page_of_the_sandbox_may_use_it(sandbox: TestClient) -> None:
    headers = {"Origin": BASE, "Sec-Fetch-Site": "same-origin"}

    assert sandbox.delete("/_control/faults", headers=headers).status_code == 204


@pytest.mark.parametrize("path", ["/slack/socket/link/", "/discord/gateway", "/discord/gateway/"])
@pytest.mark.parametrize("headers", [{"Origin": "http://evil.example"}, {"Host": "evil.example"}])
def test_web_sockets_are_refused_to_foreign_pages_before_they_open(
    sandbox: TestClient, path: str, headers: dict[str, str]
) -> None:
    with pytest.raises(WebSocketDisconnect) as refused, sandbox.websocket_connect(
        f"{SOCKETS}{path}", headers=headers
    ):  # fmt: skip
        pass
    assert refused.value.code == 1008
    assert "machine" in refused.value.reason or "origin" in refused.value.reason


def test_a_program_can_open_a_web_socket(sandbox: TestClient) -> None:
    with sandbox.websocket_connect(f"{SOCKETS}/discord/gateway?v=10&encoding=json") as gateway:
        assert gateway.receive_json()["op"] == 10


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
             "application/jsonp", ""],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/_control/faults", "/slack/_control/pace"])
def test_control_requests_with_the_content_types_of_forms_are_refused(
    sandbox: TestClient, path: str, kind: str
) -> None:
    send = sandbox.put if path.endswith("pace") else sandbox.post

    answer = send(path, content=b"{}", headers={"Content-Type": kind})

    assert answer.status_code == 415
    assert "application/json" in answer.json()["error"]


def test_uploads_may_be_multipart_forms(sandbox: TestClient) -> None:
    answer = sandbox.post("/_control/slack/files", files={"a": ("a.txt", b"a")})

    assert answer.status_code == 400  # it was read: the person is missing
    assert sandbox.post("/slack/api/api.test", data={"a": "b"}).status_code == 200  # as in Slack


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Content-Type": "text/plain"}, 415),
    ],
)
def test_another_site_cannot_start_a_scene_of_the_demo(
    page: tuple[TestClient, list[str]], headers: dict[str, str], status: int
) -> None:
    client, played = page

    assert client.post("/plays/scene", headers=headers).status_code == status
    assert played == []
    assert client.post("/plays/scene", headers={"Origin": BASE}).status_code == 202
    assert client.get("/", headers={"Host": "evil.example"}).status_code == 421


def test_a_body_without_its_type_is_refused(page: tuple[TestClient, list[str]]) -> None:
    client, _ = page

    assert client.post("/people/slack/posts", content=b"{}").status_code == 415
    assert client.post("/people/slack/posts", content=iter([b"{}"])).status_code == 415
    assert client.post("/people/slack/posts", json={}).status_code == 400


def test_a_server_at_another_address_is_reached_under_that_name() -> None:
    context = SandboxContext(base_url="http://sandbox.test:8090")
    app = sandbox_app(context, local_platforms(context))

    with TestClient(app, base_url="http://sandbox.test:8090") as client:
        assert client.get("/_control/refusals").status_code == 200


def test_a_request_with_two_host_headers_is_refused(sandbox: TestClient) -> None:
    answer = sandbox.get("/_control/world", headers=[("Host", "127.0.0.1"), ("Host", "evil")])

    assert answer.status_code == 421
