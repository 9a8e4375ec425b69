"""A distributed app of the local Slack: the page on which people allow it, codes, tokens that end
and are renewed, and its removal.

Source: docs.slack.dev "Installing with OAuth", "Using token rotation", methods `oauth.v2.access`,
`oauth.v2.exchange`, `apps.uninstall` (2026-06).
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from typing import Any
from urllib.parse import parse_qs, urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from connectors.slack.sandbox.arguments import ApiError, Arguments
from connectors.slack.sandbox.events import Event
from connectors.slack.sandbox.seed import EVENTS
from connectors.slack.sandbox.state import App, Person, Slack, Workspace

Json = dict[str, Any]
_CODE_SECONDS = 600.0
TOKEN_SECONDS = 43_200


@dataclass(slots=True)
class DistributedApp:
    """An app that any workspace can install. `rotates`: its tokens end after `token_seconds`."""

    id: str = "A0EVERY01"
    name: str = "Everywhere"
    client_id: str = "1000000001.2000000002"
    client_secret: str = "client-secret-sandbox"  # noqa: S105 - obviously none
    signing_secret: str = "signing-secret-sandbox-everywhere"  # noqa: S105
    verification_token: str = "verification-sandbox-everywhere"  # noqa: S105
    redirect_urls: list[str] = field(default_factory=list[str])
    request_url: str | None = None
    rotates: bool = False
    token_seconds: int = TOKEN_SECONDS


@dataclass(frozen=True, slots=True)
class _Code:
    team: str
    user: str
    redirect_uri: str
    scopes: frozenset[str]
    expires: float


class OAuth:
    """The app, its installations, and the tokens that end."""

    def __init__(
        self, slack: Slack, base_url: str, tell: Callable[[App, Event], None],
        now: Callable[[], float],
    ) -> None:  # fmt: skip
        self.app = DistributedApp()
        self._slack = slack
        self._base_url = base_url
        self._tell = tell
        self._now = now
        self._codes: dict[str, _Code] = {}
        self._ends: dict[str, float] = {}  # of access tokens
        self._refresh: dict[str, App] = {}
        self._number = 0
        self.methods: dict[str, Callable[[Arguments], Json]] = {
            "oauth.v2.access": self._access,
            "oauth.v2.exchange": self._exchange,
            "apps.uninstall": self._uninstall,
        }

    def routes(self) -> list[BaseRoute]:
        return [
            Route("/slack/oauth/v2/authorize", self._page),
            Route("/slack/oauth/v2/allow", self._answer, methods=["POST"]),
        ]

    def has_ended(self, token: str) -> bool:
        """Whether this access token ended by its time."""
        return self._ends.get(token, float("inf")) <= self._now()

    def installation(self, team: str) -> App | None:
        """The installation in a workspace; None if there is none."""
        apps = self._slack.workspaces[team].apps
        return next((app for app in apps if app.id == self.app.id), None)

    def remove(self, team: str) -> None:
        """A person removes the app from a workspace: its tokens are dead, and it hears of it."""
        app = self.installation(team)
        if app is None:
            return
        self._forget_tokens(app)
        app.active = False
        workspace = self._slack.workspaces[team]
        workspace.apps.remove(app)
        for channel in workspace.channels.values():
            channel.members.pop(app.bot_user, None)
        at = f"{self._now():.6f}"
        revoked: Json = {"tokens": {"oauth": [], "bot": [app.bot_user]}}
        for kind, facts in (("tokens_revoked", revoked), ("app_uninstalled", dict[str, Any]())):
            body: Json = {"type": kind, "event_ts": at, **facts}
            self._tell(app, Event(kind, "", body))

    # --- the page of a person ---------------------------------------------------------------------

    async def _page(self, request: Request) -> Response:
        query = request.query_params
        if problem := self._problem(query.get("client_id", ""), query.get("redirect_uri", "")):
            return HTMLResponse(f"<h1>Something went wrong</h1><p>{problem}</p>", 400)
        hidden = "".join(
            f'<input type="hidden" name="{escape(key)}" value="{escape(value)}">'
            for key, value in query.items()
        )
        teams = "".join(
            f'<option value="{team.id}">{escape(team.name)}</option>'
            for team in self._slack.workspaces.values()
        )
        return HTMLResponse(
            f'<!DOCTYPE html><html lang="en"><title>Install {self.app.name}</title><h1>'
            f"{self.app.name} is requesting permission to access a workspace</h1>"
            f'<form method="post" action="/slack/oauth/v2/allow">{hidden}<label>Workspace '
            f'<select name="team">{teams}</select></label>'
            '<button name="choice" value="cancel">Cancel</button>'
            '<button name="choice" value="allow">Allow</button></form>'
        )

    async def _answer(self, request: Request) -> Response:
        fields = parse_qs((await request.body()).decode())
        form = {key: values[-1] for key, values in fields.items()}
        redirect_uri = form.get("redirect_uri", "")
        if problem := self._problem(form.get("client_id", ""), redirect_uri):
            return HTMLResponse(problem, 400)
        if form.get("choice", "allow") != "allow":
            answer = {"error": "access_denied", "state": form.get("state", "")}
            return RedirectResponse(f"{redirect_uri}?{urlencode(answer)}", 302)
        workspace = self._slack.workspaces[form["team"]]
        person = form.get("user") or next(iter(workspace.people))
        code = f"1000000001.{secrets.randbelow(10**12)}.{secrets.token_hex(16)}"
        scopes = frozenset(form.get("scope", "").split(",")) - {""}
        expires = self._now() + _CODE_SECONDS
        self._codes[code] = _Code(workspace.id, person, redirect_uri, scopes, expires)
        answer = {"code": code, "state": form.get("state", "")}
        return RedirectResponse(f"{redirect_uri}?{urlencode(answer)}", 302)

    def _problem(self, client_id: str, redirect_uri: str) -> str:
        if client_id != self.app.client_id:
            return "Invalid client_id parameter"
        if not any(redirect_uri.startswith(url) for url in self.app.redirect_urls):
            return "redirect_uri did not match any configured URIs."
        return ""

    # --- methods ----------------------------------------------------------------------------------

    def _access(self, args: Arguments) -> Json:
        self._check_client(args)
        kind = args.text("grant_type", "authorization_code")
        if kind == "refresh_token":
            return self._renewed(args.text("refresh_token"))
        if kind != "authorization_code":
            raise ApiError("invalid_grant_type")
        code = self._codes.pop(args.text("code"), None)
        if code is None or code.expires <= self._now():
            raise ApiError("invalid_code")
        if args.text("redirect_uri") != code.redirect_uri:
            raise ApiError("bad_redirect_uri")
        workspace = self._slack.workspaces[code.team]
        app = self.installation(code.team) or self._install(workspace)
        app.scopes = code.scopes
        if self.app.rotates:
            self._forget_tokens(app)
        return self._answer_for(app, workspace) | {"authed_user": {"id": code.user}}

    def _renewed(self, refresh_token: str) -> Json:
        app = self._refresh.pop(refresh_token, None)  # it is revoked by its use
        if app is None or not app.active:
            raise ApiError("invalid_refresh_token")
        return self._answer_for(app, self._slack.workspaces[app.team])

    def _exchange(self, args: Arguments) -> Json:
        self._check_client(args)
        if not self.app.rotates:
            raise ApiError("token_rotation_not_enabled")
        token = args.text("token")
        app = self._slack.bot_tokens.get(token)
        if app is None or app.id != self.app.id or not app.active:
            raise ApiError("invalid_token")
        if token in self._ends:
            raise ApiError("token_already_exchanged")
        self._ends[token] = self._now() + self.app.token_seconds
        return self._answer_for(app, self._slack.workspaces[app.team])

    def _uninstall(self, args: Arguments) -> Json:
        self._check_client(args)
        app = self._slack.bot_tokens.get(args.text("token"))
        if app is None or app.id != self.app.id:
            raise ApiError("invalid_auth")
        self.remove(app.team)
        return {}

    def _check_client(self, args: Arguments) -> None:
        if args.text("client_id") != self.app.client_id:
            raise ApiError("invalid_client_id")
        if args.text("client_secret") != self.app.client_secret:
            raise ApiError("bad_client_secret")

    def _install(self, workspace: Workspace) -> App:
        key = workspace.id.removeprefix("T0")
        self._number += 1
        bot_user = f"U0{key}EVERY"
        own = self.app
        app = App(
            id=own.id, name=own.name, team=workspace.id, bot_id=f"B0{key}EV{self._number}",
            bot_user=bot_user, bot_token=f"xoxb-{key.lower()}-{secrets.token_hex(8)}",
            app_token="", signing_secret=own.signing_secret,
            verification_token=own.verification_token,
            picture=f"{self._base_url}/slack/avatars/{bot_user}.svg", scopes=frozenset(),
            events=EVENTS, request_url=own.request_url, listening=True,
            commands=frozenset({"/bridge"}),
        )  # fmt: skip
        workspace.apps.append(app)
        workspace.people[bot_user] = Person(
            bot_user, own.name.lower(), own.name, app.picture, app=app, updated=int(self._now())
        )
        self._slack.bots[app.bot_id] = app
        return app

    def _answer_for(self, app: App, workspace: Workspace) -> Json:
        answer: Json = {
            "token_type": "bot", "scope": ",".join(sorted(app.scopes)),
            "bot_user_id": app.bot_user, "app_id": app.id, "enterprise": None,
            "team": {"id": workspace.id, "name": workspace.name}, "is_enterprise_install": False,
        }  # fmt: skip
        if not self.app.rotates:
            self._slack.bot_tokens[app.bot_token] = app
            return answer | {"access_token": app.bot_token}
        token = f"xoxe.xoxb-1-{secrets.token_hex(16)}"
        refresh_token = f"xoxe-1-{secrets.token_hex(16)}"
        # The former token works until it ends.
        self._slack.bot_tokens[token] = self._refresh[refresh_token] = app
        self._ends[token] = self._now() + self.app.token_seconds
        rotated = {"access_token": token, "refresh_token": refresh_token}
        return answer | rotated | {"expires_in": self.app.token_seconds}

    def _forget_tokens(self, app: App) -> None:
        """The tokens stay known, as those of an app that is not active any more."""
        for token, owner in list(self._refresh.items()):
            if owner is app:
                del self._refresh[token]
