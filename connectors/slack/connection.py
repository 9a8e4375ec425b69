"""How one Slack account receives: Socket Mode or signed HTTP requests, and the health of either."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial

import structlog
from starlette.routing import Router

from bridge.errors import AuthFailed, BridgeError, ConfigError, Unavailable
from bridge.model import AccountId
from bridge.model.secret_refs import SecretRef
from bridge.ports.abilities.health import Health
from bridge.ports.abilities.http import AsgiApp
from bridge.ports.clock import Clock
from bridge.ports.inbox import Inbox
from connectors.slack.identity import OwnIdentity
from connectors.slack.json_values import Json, text_at
from connectors.slack.receive import (
    InboxWriter,
    bolt_app,
    events_route,
    is_token_revocation,
    listen_on_socket,
    retry_until_done,
)
from connectors.slack.send import WebApi
from connectors.slack.settings import SlackSettings

log = structlog.get_logger(__name__)
_SHARED = (
    "another program is connected with this app token, and Slack hands each event to one of the "
    "two; stop it, or give it an app of its own"
)


class Connection:
    """The receiving side of one account; `state` is its current health."""

    def __init__(
        self,
        account: AccountId,
        settings: SlackSettings,
        api: WebApi,
        app_api: WebApi | None,
        own_identity: OwnIdentity,
        clock: Clock,
        secret: Callable[[SecretRef], Callable[[], Awaitable[str]]],
    ) -> None:
        self._account = account
        self._settings = settings
        self._api = api
        self._app_api = app_api
        self._own_identity = own_identity
        self._clock = clock
        self._secret = secret
        self._proving: set[asyncio.Task[None]] = set()
        self.state = Health("stopped")

    async def run(self, inbox: Inbox) -> None:
        """Receive until cancelled.

        Raises AuthFailed when only a person can solve the problem; retries every other failure.
        """
        self.state = Health("connecting")
        state = "failed"
        try:
            await retry_until_done(self._account, self._own_identity.get, self._clock)
            if self._settings.receive == "socket":
                await self._run_socket(inbox)
            else:
                await self._run_http(inbox)
        except asyncio.CancelledError:
            state = "stopped"
            raise
        except BridgeError as error:
            self.state = replace(self.state, note=str(error))
            raise
        finally:
            self.state = replace(self.state, state=state)

    def app(self, inbox: Inbox) -> AsgiApp:
        """The HTTP app with the signed route for Slack's requests.

        Raises ConfigError when `signing_secret` is missing.
        """
        signing_secret = self._settings.signing_secret
        if signing_secret is None:
            raise ConfigError(f"Account {self._account!r}: receive: http needs signing_secret")
        secret = self._secret(signing_secret)
        app = bolt_app(self._writer(inbox), self._settings.api_url)
        route = events_route(self._account, app, secret, self._clock)
        return Router(routes=[route])

    async def close(self) -> None:
        """Cancel the pending checks of the token."""
        for task in self._proving:
            task.cancel()
        await asyncio.gather(*self._proving, return_exceptions=True)

    # --- within ---------------------------------------------------------------------------------

    async def _run_socket(self, inbox: Inbox) -> None:
        def connected(connections: int | None) -> None:
            if connections is not None:
                self.state = replace(
                    self.state, state="connected", connected_since=self._clock.time()
                )
                inbox.session_began(self._account, alone=connections <= 1)
            else:
                self.state = replace(self.state, state="connecting", connected_since=None)

        await listen_on_socket(
            self._account, self._writer(inbox).write, self._socket_address, self._settings.api_url,
            self._clock, connected, self._is_shared,
        )  # fmt: skip

    def _is_shared(self, shared: bool) -> None:
        note = _SHARED if shared else ""
        if note != self.state.note:
            self.state = replace(self.state, note=note)
            if shared:
                log.warning("slack_app_token_shared", account=self._account, why=note)
            else:
                log.info("slack_app_token_share_ended", account=self._account)

    async def _run_http(self, inbox: Inbox) -> None:
        self.state = replace(self.state, state="listening", connected_since=self._clock.time())
        inbox.session_began(self._account)
        await asyncio.Event().wait()

    async def _socket_address(self) -> str:
        """Request a new WebSocket address; each address is valid for one connection and a short
        time."""
        if self._app_api is None:
            raise ConfigError(f"Account {self._account!r}: receive: socket needs app_token")
        url = text_at(await self._app_api.read("apps.connections.open"), "url")
        if not url:
            raise Unavailable("apps.connections.open gave no address")
        return url

    def _writer(self, inbox: Inbox) -> InboxWriter:
        return InboxWriter(
            self._account, inbox, self._own_identity.get, self._clock, self._observe_event
        )

    def _observe_event(self, body: Json) -> None:
        self.state = replace(self.state, last_event_at=self._clock.time())
        if is_token_revocation(body):
            task = asyncio.create_task(self._prove_token())
            self._proving.add(task)
            task.add_done_callback(self._proving.discard)

    async def _prove_token(self) -> None:
        """Call Slack with the bot token, so that the account's health shows a revoked token."""
        ask = partial(self._api.read, "auth.test")
        with contextlib.suppress(AuthFailed):
            await retry_until_done(self._account, ask, self._clock)
