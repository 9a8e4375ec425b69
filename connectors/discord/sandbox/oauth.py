"""An app of the local Discord that guilds install: the page on which people allow it, and codes.

Source: discord.com/developers/docs "OAuth2" (advanced bot authorization), gateway events "Guild
Create", "Guild Delete" (2026-06).
"""

from __future__ import annotations

import base64
import binascii
import secrets
from dataclasses import dataclass, field
from html import escape
from typing import Any
from urllib.parse import parse_qs, urlencode

import orjson
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from connectors.discord.sandbox.events import PRIVILEGED
from connectors.discord.sandbox.gateway import Gateway
from connectors.discord.sandbox.shapes import guild_json
from connectors.discord.sandbox.snowflakes import iso_time
from connectors.discord.sandbox.state import App, Guild, Member, Role, State, User

Json = dict[str, Any]
_CODE_SECONDS = 600.0
_TOKEN = "local-discord-everywhere.not-a-secret"  # noqa: S105 - obviously none


@dataclass(frozen=True, slots=True)
class _Code:
    guild: Guild
    redirect_uri: str
    scope: str
    expires: float


@dataclass(slots=True)
class OAuth:
    """The app "everywhere", which is in no guild at first."""

    state: State
    gateway: Gateway
    prefix: str
    redirects: list[str] = field(default_factory=list[str])
    client_secret: str = "client-secret-sandbox"  # noqa: S105 - obviously none
    _codes: dict[str, _Code] = field(default_factory=dict[str, _Code])

    @property
    def app(self) -> App:
        """The app, made at its first use so that the ids of the seeded world stay as they are."""
        if _TOKEN not in self.state.apps:
            user = User(self.state.ids.next(), "everywhere", None, None, bot=True)
            self.state.users[user.id] = user
            owner = next(iter(self.state.users.values()))
            self.state.apps[_TOKEN] = App(user.id, user.username, user, _TOKEN, PRIVILEGED, owner)
        return self.state.apps[_TOKEN]

    def routes(self) -> list[BaseRoute]:
        return [
            Route("/discord/oauth2/authorize", self._page),
            Route("/discord/oauth2/allow", self._answer, methods=["POST"]),
            Route(f"{self.prefix}/oauth2/token", self._token, methods=["POST"]),
        ]

    def add(self, guild: Guild, permissions: int) -> None:
        """The bot comes into a guild; its sessions get the guild."""
        app = self.app
        if app.user.id in guild.members:
            return
        role = Role(self.state.ids.next(), app.name, permissions, position=1, bot_id=app.user.id)
        guild.roles[role.id] = role
        joined = iso_time(self.state.now())
        guild.members[app.user.id] = Member(app.user, joined, roles=[role.id])
        self.gateway.show_guild(app, guild)

    def remove(self, guild: Guild) -> None:
        """A person removes the bot from a guild."""
        self.remove_app(self.app, guild)

    def remove_app(self, app: App, guild: Guild) -> None:
        """The bot of an app leaves a guild, or is removed: its sessions get `GUILD_DELETE`."""
        if guild.members.pop(app.user.id, None) is not None:
            self.gateway.deliver_to_app(app, "GUILD_DELETE", orjson.dumps({"id": str(guild.id)}))

    async def _page(self, request: Request) -> Response:
        if problem := self._problem(dict(request.query_params)):
            return HTMLResponse(escape(problem), 400)
        hidden = "".join(
            f'<input type="hidden" name="{escape(key)}" value="{escape(value)}">'
            for key, value in request.query_params.items()
        )
        guilds = "".join(
            f'<option value="{guild.id}">{escape(guild.name)}</option>'
            for guild in self.state.guilds.values()
        )
        return HTMLResponse(
            f'<!DOCTYPE html><html lang="en"><title>Authorize {self.app.name}</title>'
            f"<h1>{self.app.name} wants to access your account</h1>"
            f'<form method="post" action="/discord/oauth2/allow">{hidden}<label>Add to server '
            f'<select name="guild">{guilds}</select></label>'
            '<button name="choice" value="cancel">Cancel</button>'
            '<button name="choice" value="allow">Authorize</button></form>'
        )

    async def _answer(self, request: Request) -> Response:
        fields = parse_qs((await request.body()).decode())
        form = {key: values[-1] for key, values in fields.items()}
        if problem := self._problem(form):
            return HTMLResponse(escape(problem), 400)
        redirect_uri, state = form["redirect_uri"], form.get("state", "")
        if form.get("choice", "allow") != "allow":
            refusal = {"error": "access_denied", "state": state}
            return RedirectResponse(f"{redirect_uri}?{urlencode(refusal)}", 302)
        guild = self.state.guilds[int(form["guild"])]
        permissions = int(form.get("permissions", "0"))
        self.add(guild, permissions)
        code = secrets.token_urlsafe(22)
        expires = self.state.now() + _CODE_SECONDS
        self._codes[code] = _Code(guild, redirect_uri, form.get("scope", ""), expires)
        answer = {
            "code": code, "state": state, "guild_id": str(guild.id),
            "permissions": str(permissions),
        }  # fmt: skip
        return RedirectResponse(f"{redirect_uri}?{urlencode(answer)}", 302)

    async def _token(self, request: Request) -> Response:
        fields = parse_qs((await request.body()).decode())
        form = {key: values[-1] for key, values in fields.items()}
        own = f"{self.app.id}:{self.client_secret}"
        if _basic(request.headers.get("authorization", "")) != own:
            return JSONResponse({"error": "invalid_client"}, 401)
        if form.get("grant_type") != "authorization_code":
            return JSONResponse({"error": "unsupported_grant_type"}, 400)
        code = self._codes.pop(form.get("code", ""), None)
        if code is None or code.expires <= self.state.now():
            return _invalid_grant('Invalid "code" in request.')
        if form.get("redirect_uri") != code.redirect_uri:
            return _invalid_grant('Invalid "redirect_uri" in request.')
        return JSONResponse(
            {
                "token_type": "Bearer", "access_token": secrets.token_urlsafe(22),
                "expires_in": 604_800, "refresh_token": secrets.token_urlsafe(22),
                "scope": code.scope, "guild": guild_json(code.guild),
            }
        )  # fmt: skip

    def _problem(self, values: Json) -> str:
        if values.get("client_id") != str(self.app.id):
            return "Unknown Application"
        if values.get("response_type") != "code":
            return "Unsupported response_type"
        if values.get("redirect_uri") not in self.redirects:
            return "Invalid OAuth2 redirect_uri"
        return ""


def _invalid_grant(description: str) -> Response:
    return JSONResponse({"error": "invalid_grant", "error_description": description}, 400)


def _basic(header: str) -> str:
    scheme, _, value = header.partition(" ")
    try:
        return base64.b64decode(value).decode() if scheme == "Basic" else ""
    except (binascii.Error, UnicodeDecodeError):
        return ""
