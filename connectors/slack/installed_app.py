"""One distributed Slack app: installations by OAuth, and one address for the events of all teams.

Source: docs.slack.dev "Installing with OAuth", "Events API" (authorizations), "app_uninstalled",
"tokens_revoked" (2026-06).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from urllib.parse import parse_qs, urlencode

import structlog
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, Router

from bridge.errors import BridgeError, ConfigError, PlatformError, TokenRefused, Unauthorized
from bridge.model import AccountId
from bridge.model.secret_refs import SecretRef
from bridge.model.tenants import Installation, Tenant, tenant_id, tenant_secret
from bridge.ports.abilities.http import AsgiApp, AsgiMessage, Receive, Scope, Send
from bridge.ports.installs import InstallTools, Tenancy
from connectors.slack.app_settings import SlackAppSettings
from connectors.slack.capabilities import SCOPES
from connectors.slack.ids import PLATFORM
from connectors.slack.json_values import Json, object_at, objects_at, text_at
from connectors.slack.oauth import OAuth
from connectors.slack.receive import signed_body
from connectors.slack.send import WebApi
from connectors.slack.settings import SlackSettings

log = structlog.get_logger(__name__)

RENEW_BEFORE = 2 * 3600.0  # seconds before a token of 12 hours ends
_STEPS = (
    "Open a channel in Slack and say `/invite @` with the name of the app.",
    "Say `/bridge help` there: it lists what the bridge can do.",
)


class SlackApp:
    """Implements `InstallableApp`: each workspace is an account with a token of its own."""

    label = "Slack"
    has_own_address = True
    by_link = False
    steps: Sequence[str] = _STEPS

    def __init__(self, settings: SlackAppSettings, tools: InstallTools) -> None:
        self._settings = settings
        self._tools = tools
        self._oauth = OAuth(
            settings.api_url, settings.client_id,
            lambda: tools.secrets.secret(settings.client_secret), tools.clock,
        )  # fmt: skip

    def accounts(self, tenants: Sequence[Tenant]) -> Mapping[AccountId, BaseModel]:
        return {
            self.account_of(tenant.native_id): SlackSettings(
                bot_token=SecretRef(sealed=tenant_secret(tenant.id, "bot_token")),
                receive="http",
                signing_secret=self._settings.signing_secret,
                api_url=self._settings.api_url,
            )
            for tenant in tenants
        }

    def account_of(self, native_id: str) -> AccountId:
        return AccountId(f"{PLATFORM}-{native_id.lower()}")

    def consent_url(self, state: str) -> str:
        query = {
            "client_id": self._settings.client_id,
            "scope": ",".join(SCOPES),
            "redirect_uri": self._tools.callback_url,
            "state": state,
        }
        return f"{self._settings.authorize_url}?{urlencode(query)}"

    async def finish(self, answer: Mapping[str, str]) -> Installation:
        return await self._oauth.exchange_code(answer.get("code", ""), self._tools.callback_url)

    def renewal_due(self, tenant: Tenant, now: float) -> bool:
        if tenant.expires_at is None:
            return self._settings.rotate_tokens
        return now >= tenant.expires_at - RENEW_BEFORE

    async def renew(self, secrets: Mapping[str, str]) -> Installation:
        return await self._oauth.renew(secrets)

    async def withdraw(self, native_id: str, secrets: Mapping[str, str]) -> None:
        if token := secrets.get("bot_token"):
            await self._oauth.uninstall(token)

    def app(self, tenancy: Tenancy) -> AsgiApp | None:
        events = _Events(self._settings, self._tools, tenancy)
        return Router(routes=[Route("/events", events.answer, methods=["POST"])])

    async def close(self) -> None:
        """Do nothing: each request has a connection of its own."""


class _Events:
    """Requests of Slack for all workspaces -> the accounts of their tenants."""

    def __init__(self, settings: SlackAppSettings, tools: InstallTools, tenancy: Tenancy) -> None:
        self._settings = settings
        self._tools = tools
        self._tenancy = tenancy

    async def answer(self, request: Request) -> Response:
        """Answer a request; what Slack did not sign learns nothing about tenants.

        A workspace that is no active tenant is answered 200 and nothing is kept: refusals would
        make Slack switch off the events of all workspaces ("Events API", failure conditions).
        """
        try:
            secret = await self._tools.secrets.secret(self._settings.signing_secret)
            whole = await signed_body(request, secret, self._tools.clock)
            body = _payload_of(whole)
            if text_at(body, "type") == "url_verification":
                return PlainTextResponse(text_at(body, "challenge"))
            return await self._route(body, whole, request)
        except (Unauthorized, ConfigError) as error:
            log.warning("slack_request_refused", account="installs", reason=str(error))
            return JSONResponse({"error": str(error)}, status_code=401)
        except ValueError:
            return JSONResponse({"error": "the body is neither JSON nor a form"}, status_code=400)
        except BridgeError as error:
            log.warning("slack_request_delayed", account="installs", reason=str(error))
            return JSONResponse({"error": "not now"}, status_code=503)

    async def _route(self, body: Json, whole: bytes, request: Request) -> Response:
        team = team_of_installation(body)
        tenant = await self._tenancy.tenant(team)
        if tenant is None or tenant.state != "active":
            log.info("slack_event_of_no_tenant", team=team)
            return Response(status_code=200)
        if _ends_installation(body) and await self._has_ended(tenant):
            kind = text_at(object_at(body, "event"), "type")
            await self._tenancy.ended(team, kind)
            return Response(status_code=200)
        account = self._tenancy.account_app(team)
        if account is None:  # it starts just now; Slack sends the event again
            return JSONResponse({"error": "not now"}, status_code=503)
        return _Forwarded(account, whole, request.scope)

    async def _has_ended(self, tenant: Tenant) -> bool:
        """Whether the tenant's token is dead: Slack may repeat an old event after a second
        installation. Raises PlatformError when Slack does not say."""
        token = (await self._tenancy.secrets(tenant.native_id)).get("bot_token", "")

        async def own_token() -> str:
            return token

        api = WebApi(self._settings.api_url, own_token, self._tools.clock)
        try:
            await api.read("auth.test")
        except TokenRefused:
            return True
        except PlatformError as error:
            raise BridgeError(f"{tenant_id(PLATFORM, tenant.native_id)}: {error}") from error
        finally:
            await api.close()
        return False


class _Forwarded(Response):
    """Lets the account of the tenant answer the same request."""

    def __init__(self, account: AsgiApp, body: bytes, scope: Scope) -> None:
        super().__init__()
        self._account = account
        self._whole = body
        self._scope = {**scope, "path": "/events", "raw_path": b"/events", "root_path": ""}

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        sent = False

        async def replay() -> AsgiMessage:
            nonlocal sent
            if sent:
                return await receive()
            sent = True
            return {"type": "http.request", "body": self._whole, "more_body": False}

        await self._account(self._scope, replay, send)


def team_of_installation(body: Json) -> str:
    """Return the workspace whose installation a payload is for. An event of a shared channel may
    have happened in another one, so `authorizations` comes first. Pure."""
    authorizations = objects_at(body, "authorizations")
    team = text_at(authorizations[0], "team_id") if authorizations else ""
    return team or text_at(body, "team_id") or text_at(body, "team", "id")


def _ends_installation(body: Json) -> bool:
    """Whether the event reports that the app was removed, or that a bot token was revoked."""
    event = object_at(body, "event")
    kind = text_at(event, "type")
    return kind == "app_uninstalled" or (
        kind == "tokens_revoked" and bool(object_at(event, "tokens").get("bot"))
    )


def _payload_of(whole: bytes) -> Json:
    """The payload of a request: JSON, or a form that may hold JSON. Raises ValueError."""
    text = whole.decode()
    if not text.lstrip().startswith("{"):
        form = {key: values[-1] for key, values in parse_qs(text).items()}
        if "payload" not in form:
            return dict(form)
        text = form["payload"]
    try:
        body = json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(body, dict):
        raise ValueError("not an object")  # noqa: TRY004 - a bad request, as other bad JSON
    return body
