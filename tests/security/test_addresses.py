"""Where tokens may go: to the platforms, encrypted, and nowhere that somebody else names."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from multidict import CIMultiDict, CIMultiDictProxy
from pydantic import BaseModel, ValidationError
from yarl import URL

from bridge.errors import PlatformError
from bridge.model.secret_refs import SecretRef
from bridge.runtime.clock import SystemClock
from connectors.discord import rest
from connectors.discord.rest import Rest
from connectors.discord.settings import DiscordSettings
from connectors.slack import send as slack_send
from connectors.slack.send import WebApi
from connectors.slack.settings import SlackSettings
from connectors.teams.send import HttpClient
from connectors.teams.settings import TeamsSettings
from tests.connectors.teams.payloads import APP_ID

REF = {"env": "X"}
NEEDED: dict[type[BaseModel], dict[str, Any]] = {
    SlackSettings: {"bot_token": REF, "app_token": REF},
    DiscordSettings: {"bot_token": REF},
    TeamsSettings: {"app_id": APP_ID, "app_password": REF},
}


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        (SlackSettings, "api_url"),
        (DiscordSettings, "api_url"),
        (DiscordSettings, "gateway_url"),
        (TeamsSettings, "login_url"),
        (TeamsSettings, "openid_url"),
    ],
)
@pytest.mark.parametrize(
    "address",
    ["http://platform.example", "ws://platform.example", "ftp://127.0.0.1", "platform.example", ""],
)
def test_addresses_that_are_given_secrets_are_encrypted(
    settings: type[BaseModel], key: str, address: str
) -> None:
    with pytest.raises(ValidationError, match="this machine"):
        settings.model_validate({**NEEDED[settings], key: address})


@pytest.mark.parametrize(
    "address",
    [
        "https://evil.example/",
        "https://smba.trafficmanager.net.evil.example/",
        "https://evil.trafficmanager.net/",
        "https://smba.trafficmanager.net@evil.example/",
        "https://smba.trafficmanager.net\\@evil.example/",
        "https://evil.example\\.botframework.com/",
        "https://evil.example#.botframework.com/",
        "https://evil.example?.botframework.com/",
        "https://evil.example\uff0f.botframework.com/",
        "https://evil.example/.botframework.com/",
        "https://evil.example%2f.botframework.com/",
        "https://evil.example\t.botframework.com/",
        "https://a b.botframework.com/",
        "http://smba.trafficmanager.net/",
        "https://botframework.com.evil.example",
        "https://[::1].botframework.com",
        "//smba.trafficmanager.net/",
        "file:///etc/passwd",
        "http://127.0.0.1/",
        "https://169.254.169.254/",
        "https://smba.trafficmanager.net:8443/emea/",
        "https://smba.trafficmanager.net:80/",
        "https://smba.trafficmanager.net:0/",
        "https://europe.botframework.com:4443/",
        "https://smba.trafficmanager.net:99999/",
        "https://smba.trafficmanager.net:x/",
        "",
    ],
)
def test_a_service_address_that_is_not_microsofts_never_gets_the_token(address: str) -> None:
    settings = TeamsSettings(app_id=APP_ID, app_password=SecretRef(env="X"))

    assert settings.may_be_called(address) is False


@pytest.mark.parametrize(
    "address",
    [
        "https://smba.trafficmanager.net/emea/",
        "https://smba.trafficmanager.net:443/teams",
        "https://europe.botframework.com/",
        "https://SMBA.trafficmanager.net/de/",
    ],
)
def test_microsofts_service_addresses_may_be_called(address: str) -> None:
    settings = TeamsSettings(app_id=APP_ID, app_password=SecretRef(env="X"))

    assert settings.may_be_called(address) is True


def test_another_port_of_a_host_is_allowed_by_its_name_alone() -> None:
    settings = TeamsSettings(
        app_id=APP_ID, app_password=SecretRef(env="X"), drive_hosts=("*.drive.example",),
        service_hosts=("bot.example:8443", "*.bots.example:444", "127.0.0.1"),
    )  # fmt: skip

    allowed = ("https://bot.example:8443/", "https://a.bots.example:444/", "http://127.0.0.1:9/")
    refused = (
        "https://bot.example/", "https://bot.example:8444/", "https://a.bots.example/",
        "http://bot.example:8443/", "https://127.0.0.2:8443/",
    )  # fmt: skip
    assert [settings.may_be_called(url) for url in allowed] == [True] * 3
    assert [settings.may_be_called(url) for url in refused] == [False] * 5
    assert settings.may_take_files("https://my.drive.example/up?sig=1")
    assert not settings.may_take_files("https://my.drive.example:8443/up?sig=1")


# --- redirects ----------------------------------------------------------------------------------


async def secret() -> str:
    return "the-token"


async def ask_slack(url: str) -> None:
    api = WebApi(f"{url}/", secret, SystemClock())
    try:
        await api.post_json("chat.postMessage", {}, once=True)
    finally:
        await api.close()


async def ask_discord(url: str) -> None:
    api = Rest(url, secret, SystemClock())
    try:
        await api.request("POST", "/channels/1/messages", bucket="b", doing="Posting", body={})
    finally:
        await api.close()


async def ask_teams(url: str) -> None:
    http = HttpClient()
    try:
        headers = {"Authorization": f"Bearer {await secret()}"}
        answer = await http.request("POST", f"{url}/v3", data=b"{}", headers=headers)
        assert answer.status == 307
    finally:
        await http.close()


@pytest.mark.parametrize("ask", [ask_slack, ask_discord, ask_teams])
async def test_a_redirect_is_never_followed(ask: Any) -> None:
    requests: list[Mapping[str, str]] = []

    async def elsewhere(request: web.Request) -> web.Response:
        requests.append(request.headers)
        return web.json_response({"ok": True})

    async def redirect(request: web.Request) -> web.Response:
        raise web.HTTPTemporaryRedirect(f"http://localhost:{request.url.port}/elsewhere")

    app = web.Application()
    app.router.add_route("*", "/elsewhere", elsewhere)
    app.router.add_route("*", "/{path:.*}", redirect)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        host, port = runner.addresses[0][:2]
        with contextlib.suppress(PlatformError):
            await ask(f"http://{host}:{port}")
    finally:
        await runner.cleanup()

    assert requests == []


# --- errors that show addresses -----------------------------------------------------------------

WEBHOOK = URL("https://discord.com/api/v10/webhooks/123/WEBHOOK-TOKEN")
SOCKET = URL("wss://wss-primary.slack.com/link/?ticket=SOCKET-TICKET&app_id=x")


def request_of(url: URL) -> aiohttp.RequestInfo:
    return aiohttp.RequestInfo(url, "POST", CIMultiDictProxy(CIMultiDict()), url)


@pytest.mark.parametrize(
    "error",
    [
        aiohttp.ConnectionTimeoutError(f"Connection timeout to host {WEBHOOK}"),
        aiohttp.ClientResponseError(request_of(WEBHOOK), ()),
        aiohttp.TooManyRedirects(request_of(WEBHOOK), ()),
        aiohttp.ContentTypeError(request_of(WEBHOOK), ()),
        aiohttp.WSServerHandshakeError(request_of(WEBHOOK), ()),
        aiohttp.InvalidURL(WEBHOOK),
        aiohttp.InvalidUrlRedirectClientError(WEBHOOK),
        aiohttp.ClientConnectorError(
            SimpleNamespace(host="discord.com", port=443, ssl=True, is_ssl=True),  # pyright: ignore[reportArgumentType]  # as it shows
            OSError(111, "refused"),
        ),
    ],
    ids=lambda error: type(error).__name__,
)
def test_the_token_in_a_webhooks_address_is_in_no_error(error: Exception) -> None:
    with pytest.raises(PlatformError) as raised, rest.translated("Posting to channel '1'"):
        raise error

    assert "WEBHOOK-TOKEN" not in str(raised.value)


def test_the_ticket_in_a_sockets_address_is_in_no_error() -> None:
    with pytest.raises(PlatformError) as raised, slack_send.translated("Connecting"):
        raise aiohttp.WSServerHandshakeError(request_of(SOCKET), ())

    assert "SOCKET-TICKET" not in str(raised.value)
