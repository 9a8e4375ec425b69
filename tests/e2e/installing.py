"""A browser that installs the apps, and bridges with installable apps."""

from __future__ import annotations

import json
import os
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urljoin, urlsplit

import httpx

from bridge.app.build import Bridge
from bridge.model import AccountId
from bridge.sandbox.feed import LocalMessage
from connectors.discord.sandbox import LocalDiscord
from connectors.slack.sandbox import LocalSlack
from connectors.slack.sandbox.delivery import signed_headers
from connectors.slack.sandbox.state import App
from connectors.teams.sandbox import LocalTeams
from tests.e2e.local_sandbox import Sandbox, running
from tests.free_ports import free_port

SLACK = {"ACME": "T0ACME", "GLOBEX": "T0GLOBEX"}


class Browser:
    """A person's browser: keeps cookies, and follows redirects by hand."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.http = httpx.AsyncClient(follow_redirects=False, timeout=20.0, trust_env=False)

    async def get(self, address: str) -> httpx.Response:
        return await self.http.get(address if "://" in address else self.url + address)

    async def begin(self, platform: str) -> str:
        """Press the button; returns the address of the platform's page."""
        page = await self.get(f"/oauth/{platform}/install")
        assert page.status_code == 200, page.text
        form = re.search(r'<form method="post" action="([^"]+)"', page.text)
        assert form
        answer = await self.http.post(urljoin(f"{self.url}/oauth/{platform}/install", form[1]))
        assert answer.status_code == 303, answer.text
        return answer.headers["location"]

    async def allow(self, consent: str, place: str) -> str:
        """Allow the installation on the local platform's page, in a workspace or guild; returns the
        address of the callback."""
        assert (await self.get(consent)).status_code == 200
        query = {key: values[0] for key, values in parse_qs(urlsplit(consent).query).items()}
        address = consent.partition("?")[0].replace("/authorize", "/allow")
        form = {**query, "team": place, "guild": place, "choice": "allow"}
        answer = await self.http.post(address, data=form)
        assert answer.status_code == 302, answer.text
        return answer.headers["location"]

    async def install_slack(self, team: str) -> str:
        return await self.install("slack", team)

    async def install(self, platform: str, place: str) -> str:
        """Install the app in a workspace or guild; returns the text of the last page."""
        done = await self.get(await self.allow(await self.begin(platform), place))
        assert done.status_code == 303, done.text
        page = await self.get(urljoin(str(done.url), done.headers["location"]))
        assert page.status_code == 200
        return page.text


def slack_of(local: Sandbox) -> LocalSlack:
    platform = local.platforms["slack"]
    assert isinstance(platform, LocalSlack)
    return platform


def slack_app(local: Sandbox, public_url: str, **changes: Any) -> dict[str, Any]:
    """The settings of the distributed app of the local Slack, which is told where we are."""
    app = slack_of(local).oauth.app
    app.redirect_urls = [f"{public_url}/oauth/slack/callback"]
    app.request_url = f"{public_url}/oauth/slack/events"
    os.environ["EVERYWHERE_CLIENT_SECRET"] = app.client_secret
    os.environ["EVERYWHERE_SIGNING_SECRET"] = app.signing_secret
    base = local.context.base_url
    return {
        "client_id": app.client_id,
        "client_secret": {"env": "EVERYWHERE_CLIENT_SECRET"},
        "signing_secret": {"env": "EVERYWHERE_SIGNING_SECRET"},
        "api_url": f"{base}/slack/api/",
        "authorize_url": f"{base}/slack/oauth/v2/authorize",
        **changes,
    }


def discord_of(local: Sandbox) -> LocalDiscord:
    platform = local.platforms["discord"]
    assert isinstance(platform, LocalDiscord)
    return platform


def discord_app(local: Sandbox, public_url: str) -> dict[str, Any]:
    """The settings of the installable app of the local Discord, which is told where we are."""
    oauth = discord_of(local).oauth
    oauth.redirects = [f"{public_url}/oauth/discord/callback"]
    os.environ["EVERYWHERE_DISCORD_SECRET"] = oauth.client_secret
    os.environ["EVERYWHERE_DISCORD_TOKEN"] = oauth.app.token
    base = local.context.base_url
    return {
        "client_id": str(oauth.app.id),
        "client_secret": {"env": "EVERYWHERE_DISCORD_SECRET"},
        "bot_token": {"env": "EVERYWHERE_DISCORD_TOKEN"},
        "api_url": f"{base}/discord/api/v10",
        "authorize_url": f"{base}/discord/oauth2/authorize",
        "cdn_url": f"{base}/discord",
        "gateway_url": f"{base.replace('http', 'ws', 1)}/discord/gateway",
    }


def teams_of(local: Sandbox) -> LocalTeams:
    platform = local.platforms["teams"]
    assert isinstance(platform, LocalTeams)
    return platform


def teams_app(local: Sandbox, public_url: str) -> dict[str, Any]:
    """The settings of the first bot of the local Teams for all tenants; it is told where we are."""
    own = local.account("teams")
    teams_of(local).set_account_url(f"{public_url}/teams")
    return {k: v for k, v in own.items() if k not in ("platform", "tenant_id")}


@dataclass
class Installing:
    """A bridge with installable apps, and a browser."""

    local: Sandbox
    bridge: Bridge
    browser: Browser
    settings: Mapping[str, Any]
    pages: list[str] = field(default_factory=list[str])

    async def until_account(self, name: str, *, runs: bool = True) -> None:
        """Wait until the account of a tenant runs, or until it does not any more."""

        def holds() -> bool:
            connector = self.bridge.connectors.get(AccountId(name))
            health = connector.abilities.health if connector else None
            state = health.current().state if health else "absent"
            return (state in ("connected", "listening")) if runs else connector is None

        await self.local.until(holds)

    async def invite_slack(self, team: str, channel: str = "general") -> App:
        """Invite the bot of the installed app to a channel."""
        slack = slack_of(self.local)
        app = slack.oauth.installation(team)
        assert app
        place = slack.slack.workspaces[team].by_name[channel]
        await slack.join_as(team, place.id, app.bot_user)
        return app

    async def send_signed(self, body: Mapping[str, Any], secret: str = "") -> int:
        """Send an event as Slack does, or signed with another secret; returns the status."""
        app = slack_of(self.local).oauth.app
        whole = json.dumps(body).encode()
        headers = signed_headers(secret or app.signing_secret, whole)
        address = f"{self.browser.url}/oauth/slack/events"
        return (await self.browser.http.post(address, content=whole, headers=headers)).status_code

    async def say(self, team: str, text: str, channel: str = "general") -> str:
        slack = slack_of(self.local)
        workspace = slack.slack.workspaces[team]
        person = next(iter(workspace.people))
        posted = await slack.post_as(team, workspace.by_name[channel].id, person, text)
        return posted.id

    def standing(self, team: str, channel: str = "general") -> list[LocalMessage]:
        slack = slack_of(self.local)
        return slack.messages(team, slack.slack.workspaces[team].by_name[channel].id)

    def texts(self, team: str, channel: str = "general") -> list[str]:
        return [message.text for message in self.standing(team, channel)]


@asynccontextmanager
async def installing(
    local: Sandbox,
    folder: Path,
    *,
    slack: Mapping[str, Any] | None = None,
    discord: bool = False,
    teams: bool = False,
    **changes: Any,
) -> AsyncGenerator[Installing]:
    """A bridge whose apps are those of the local platforms; `changes` are keys of `installs`."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    installs: dict[str, Any] = {"allow": "anyone", **changes}
    installs.setdefault("apps", {})
    if slack is not None:
        installs["apps"]["slack"] = slack_app(local, url, **slack)
    if discord:
        installs["apps"]["discord"] = discord_app(local, url)
    if teams:
        installs["apps"]["teams"] = teams_app(local, url)
    settings: dict[str, Any] = {
        "accounts": {},
        "agents": {"echo": {"kind": "echo", "pace": 0}},
        "installs": installs,
        "store": {"path": str(folder / "bridge.sqlite3")},
        "web": {"port": port, "public_url": url},
    }
    async with running(local, settings) as (bridge, _):
        browser = Browser(url)
        try:
            yield Installing(local, bridge, browser, settings)
        finally:
            await browser.http.aclose()


@asynccontextmanager
async def relaying(
    local: Sandbox,
    folder: Path,
    *,
    slack: Mapping[str, Any],
    rotates: bool = False,
    agents: Sequence[Mapping[str, Any]] = (),
    **changes: Any,
) -> AsyncGenerator[Installing]:
    """Two Slack workspaces installed the app; their channels #general are one room. `rotates`:
    their tokens end within the time in which they are renewed."""
    app = slack_of(local).oauth.app
    app.rotates, app.token_seconds = rotates, 3600
    rooms = {"lounge": {"channel": "general", "scope": "all", "agents": list(agents)}}
    async with installing(local, folder, slack=slack, rooms=rooms, **changes) as here:
        for team in ("T0ACME", "T0GLOBEX"):
            here.pages.append(await here.browser.install_slack(team))
            await here.until_account(f"slack-{team.lower()}")
            await here.invite_slack(team)
        await local.until(lambda: any(len(room.members) == 2 for room in here.bridge.rooms.all))
        yield here
