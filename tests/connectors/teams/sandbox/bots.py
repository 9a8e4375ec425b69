"""Plain botbuilder-core bots, without knowledge of the local Teams."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any, Protocol

import requests
from aiohttp import web
from botbuilder.core import ActivityHandler, CloudAdapterBase, TurnContext
from botbuilder.core.teams import TeamsInfo
from botbuilder.schema import Activity, ConversationReference
from botframework.connector.auth import (
    AppCredentials,
    BotFrameworkAuthentication,
    BotFrameworkAuthenticationFactory,
    PasswordServiceClientCredentialFactory,
    ServiceClientCredentialsFactory,
)

ISSUER = "https://api.botframework.com"

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class EchoBot(ActivityHandler):
    """Echoes messages, and runs the command at the start of a message."""

    def __init__(self) -> None:
        self.received: list[Activity] = []
        self.references: list[ConversationReference] = []
        self.failed: list[Exception] = []

    async def on_message_activity(self, turn_context: TurnContext) -> None:
        activity = turn_context.activity
        self.received.append(activity)
        self.references.append(TurnContext.get_conversation_reference(activity))
        text = str(TurnContext.remove_recipient_mention(activity) or activity.text).strip()
        if text == "edit":
            await self._edit(turn_context)
        elif text == "delete":
            sent = await turn_context.send_activity("gone soon")
            assert sent
            await turn_context.delete_activity(sent.id)
        elif text == "who":
            await self._list_people(turn_context)
        else:
            await turn_context.send_activity(f"Echo: {text}")

    async def _edit(self, turn_context: TurnContext) -> None:
        sent = await turn_context.send_activity("first")
        assert sent
        changed = Activity(id=sent.id, type="message", text="second")
        await turn_context.update_activity(changed)

    async def _list_people(self, turn_context: TurnContext) -> None:
        names: list[str] = []
        token: str | None = None
        while True:
            page: Any = await TeamsInfo.get_paged_members(turn_context, token or "", 50)
            names += [member.name for member in page.members]
            if not (token := page.continuation_token):
                break
        team: Any = await TeamsInfo.get_team_details(turn_context)
        channels: Any = await TeamsInfo.get_team_channels(turn_context)
        text = f"{team.name}, {len(channels)} channels: {', '.join(names)}"
        await turn_context.send_activity(text)


class PlainAdapter(CloudAdapterBase):
    """The CloudAdapter of botbuilder-integration-aiohttp, without its web server."""


def no_authentication() -> BotFrameworkAuthentication:
    return BotFrameworkAuthenticationFactory.create(
        credential_factory=PasswordServiceClientCredentialFactory("", "")
    )


def authentication(
    factory: ServiceClientCredentialsFactory, login_url: str, openid_url: str
) -> BotFrameworkAuthentication:
    """The `ConfigurationBotFrameworkAuthentication` result for a private cloud."""
    return BotFrameworkAuthenticationFactory.create(
        validate_authority=True,
        to_channel_from_bot_login_url=login_url,
        to_channel_from_bot_oauth_scope=ISSUER,
        to_bot_from_channel_token_issuer=ISSUER,
        oauth_url=ISSUER,
        to_bot_from_channel_open_id_metadata_url=openid_url,
        to_bot_from_emulator_open_id_metadata_url=openid_url,
        caller_id="urn:botframework:azure",
        credential_factory=factory,
    )


class OwnCredentials(AppCredentials):
    """Client credentials over plain HTTP: msal, which botbuilder uses, requires https."""

    def __init__(self, app_id: str, password: str, token_url: str) -> None:
        super().__init__(app_id)
        self._form = {
            "grant_type": "client_credentials",
            "client_id": app_id,
            "client_secret": password,
            "scope": f"{ISSUER}/.default",
        }
        self._token_url = token_url

    def get_access_token(self, force_refresh: bool = False) -> str:
        answer = requests.post(self._token_url, data=self._form, timeout=10)
        return answer.json()["access_token"]


class OwnCredentialsFactory(ServiceClientCredentialsFactory):
    """botbuilder's extension point for other sources of tokens."""

    def __init__(self, credentials: OwnCredentials) -> None:
        self._credentials = credentials

    async def is_valid_app_id(self, app_id: str) -> bool:
        return app_id == self._credentials.microsoft_app_id

    async def is_authentication_disabled(self) -> bool:
        return False

    async def create_credentials(
        self, app_id: str, oauth_scope: str, login_endpoint: str, validate_authority: bool
    ) -> AppCredentials:
        return self._credentials


class Turning(Protocol):
    """A bot that records its errors."""

    failed: list[Exception]

    async def on_turn(self, turn_context: TurnContext) -> None: ...


def message_route(adapter: CloudAdapterBase, bot: Turning) -> Handler:
    async def messages(request: web.Request) -> web.Response:
        activity = Activity().deserialize(await request.json())
        header = request.headers.get("Authorization")
        try:
            allowed = await adapter.bot_framework_authentication.authenticate_request(
                activity,
                header,  # pyright: ignore[reportArgumentType]  # None: no header, it says so inside
            )
        except PermissionError:
            return web.Response(status=401)
        try:
            answer: Any = await adapter.process_activity(allowed, activity, bot.on_turn)
        except Exception as error:  # noqa: BLE001 - a test looks at it
            bot.failed.append(error)
            return web.Response(status=500)
        if answer is None:
            return web.Response(status=201)
        # CloudAdapter.process encodes JSON twice; this encodes it once.
        text = None if answer.body is None else json.dumps(answer.body)
        return web.Response(status=answer.status, text=text, content_type="application/json")

    return messages


@contextlib.asynccontextmanager
async def listening(handler: Handler) -> AsyncGenerator[str]:
    """Serve a handler at /api/messages, and yield its URL."""
    app = web.Application()
    app.router.add_post("/api/messages", handler)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/api/messages"
    finally:
        await runner.cleanup()
        await asyncio.sleep(0)
