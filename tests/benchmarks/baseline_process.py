"""What one would write without the bridge: hear with the platforms' SDKs, post with aiohttp.

`python -m tests.benchmarks.baseline_process CONFIG`: slack-bolt in Socket Mode, discord.py and
botbuilder-core hear; each post goes to the two other channels of its room with the author's name.
No store, no order, no retries, no threads; a crash or a 429 loses what is under way.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import aiohttp
import discord
import orjson
import uvicorn
import yaml
import yarl
from botbuilder.core import ActivityHandler, CloudAdapterBase, TurnContext
from botbuilder.schema import Activity
from discord.gateway import DiscordWebSocket
from discord.http import Route as DiscordRoute
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tests.connectors.teams.sandbox.bots import (
    OwnCredentials,
    OwnCredentialsFactory,
    authentication,
)

_JSON = {"Content-Type": "application/json; charset=utf-8"}


@dataclass(frozen=True)
class Member:
    account: str
    platform: str
    channel: str


class Relay:
    """Rooms as in the bridge's own configuration; hears and posts."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.accounts: dict[str, Any] = config["accounts"]
        self.port: int = config["web"]["port"]
        self._others: dict[str, list[Member]] = {}
        for room in config["rooms"].values():
            members = [
                Member(m["account"], self.accounts[m["account"]]["platform"], m["channel"])
                for m in room["members"]
            ]
            for member in members:
                self._others[member.channel] = [m for m in members if m is not member]
        self._webhooks: dict[str, str] = {}
        self._names: dict[str, tuple[str, str]] = {}
        self._ways = {"slack": self._to_slack, "discord": self._to_discord, "teams": self._to_teams}

    async def run(self) -> None:
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as self.http:
            await self._learn_teams_token()
            async with asyncio.TaskGroup() as tasks:
                for account in self.accounts.values():
                    if account["platform"] == "slack":
                        tasks.create_task(self._receive_from_slack(account))
                tasks.create_task(self._receive_from_discord(self._of("discord")))
                tasks.create_task(self._receive_from_teams(self._of("teams")))

    async def relay(self, channel: str, text: str, name: str, picture: str | None) -> None:
        await asyncio.gather(
            *(self._ways[m.platform](m, text, name, picture) for m in self._others.get(channel, ()))
        )

    # --- hearing ----------------------------------------------------------------------------

    async def _receive_from_slack(self, account: dict[str, Any]) -> None:
        client = AsyncWebClient(token=secret(account["bot_token"]), base_url=account["api_url"])
        app = AsyncApp(client=client, signing_secret="unused")

        @app.event("message")
        async def _message(event: dict[str, Any]) -> None:
            if event.get("bot_id") or event.get("subtype"):
                return
            name, picture = await self._slack_name(client, event["user"])
            await self.relay(event["channel"], event["text"], name, picture)

        await AsyncSocketModeHandler(app, secret(account["app_token"])).start_async()

    async def _slack_name(self, client: AsyncWebClient, user: str) -> tuple[str, str]:
        if user not in self._names:
            response: Any = await client.users_info(user=user)
            profile = response["user"]["profile"]
            self._names[user] = profile["real_name"], profile["image_72"]
        return self._names[user]

    async def _receive_from_discord(self, account: dict[str, Any]) -> None:
        DiscordRoute.BASE = account["api_url"]
        DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(account["gateway_url"])
        intents = discord.Intents.default()
        intents.message_content = True
        client = discord.Client(intents=intents)

        @client.event
        async def on_message(message: discord.Message) -> None:
            author = message.author
            if not author.bot:
                picture = str(author.display_avatar.url)
                channel = str(message.channel.id)
                await self.relay(channel, message.content, author.display_name, picture)

        await client.start(secret(account["bot_token"]))

    async def _receive_from_teams(self, account: dict[str, Any]) -> None:
        relay = self

        class Bot(ActivityHandler):
            async def on_message_activity(self, turn_context: TurnContext) -> None:
                activity = turn_context.activity
                assert activity.conversation
                assert activity.from_property
                channel = activity.conversation.id.partition(";")[0]
                await relay.relay(channel, activity.text, activity.from_property.name, None)

        token_url = f"{account['login_url']}/{account['tenant_id']}/oauth2/v2.0/token"
        credentials = OwnCredentials(account["app_id"], secret(account["app_password"]), token_url)
        factory = OwnCredentialsFactory(credentials)
        adapter = CloudAdapterBase(
            authentication(factory, account["login_url"], account["openid_url"])
        )
        bot = Bot()

        async def messages(request: Request) -> Response:
            activity = Activity().deserialize(await request.json())
            header = request.headers["authorization"]
            allowed = await adapter.bot_framework_authentication.authenticate_request(
                activity, header
            )
            await adapter.process_activity(allowed, activity, bot.on_turn)
            return Response(status_code=201)

        app = Starlette(routes=[Route("/teams/messages", messages, methods=["POST"])])
        config = uvicorn.Config(app, port=self.port, log_level="warning", access_log=False)
        await uvicorn.Server(config).serve()

    # --- posting ----------------------------------------------------------------------------

    async def _to_slack(self, to: Member, text: str, name: str, picture: str | None) -> None:
        account = self.accounts[to.account]
        body = {"channel": to.channel, "text": text, "username": name}
        if picture:
            body["icon_url"] = picture
        headers = _JSON | {"Authorization": f"Bearer {secret(account['bot_token'])}"}
        await self._post(f"{account['api_url']}chat.postMessage", body, headers)

    async def _to_discord(self, to: Member, text: str, name: str, picture: str | None) -> None:
        body = {"content": text, "username": name, "allowed_mentions": {"parse": []}}
        if picture:
            body["avatar_url"] = picture
        url = await self._webhook(to.channel)
        await self._post(f"{url}?wait=true", body, _JSON)

    async def _webhook(self, channel: str) -> str:
        if channel not in self._webhooks:
            account = self._of("discord")
            headers = _JSON | {"Authorization": f"Bot {secret(account['bot_token'])}"}
            address = f"{account['api_url']}/channels/{channel}/webhooks"
            made = await self._post(address, {"name": "Baseline"}, headers)
            path = f"/webhooks/{made['id']}/{made['token']}"
            self._webhooks[channel] = account["api_url"] + path
        return self._webhooks[channel]

    async def _to_teams(self, to: Member, text: str, name: str, picture: str | None) -> None:
        del picture
        account = self._of("teams")
        conversation = quote(to.channel, safe="")
        body = {"type": "message", "text": f"**{name}**\n\n{text}", "textFormat": "markdown"}
        service = account["default_service_url"].rstrip("/")
        url = f"{service}/v3/conversations/{conversation}/activities"
        await self._post(url, body, _JSON | {"Authorization": f"Bearer {self._teams_token}"})

    async def _learn_teams_token(self) -> None:
        account = self._of("teams")
        form = {
            "grant_type": "client_credentials",
            "client_id": account["app_id"],
            "client_secret": secret(account["app_password"]),
            "scope": "https://api.botframework.com/.default",
        }
        url = f"{account['login_url']}/{account['tenant_id']}/oauth2/v2.0/token"
        async with self.http.post(url, data=form) as answer:
            self._teams_token: str = (await answer.json())["access_token"]

    async def _post(self, url: str, body: dict[str, Any], headers: dict[str, str]) -> Any:
        encoded = yarl.URL(url, encoded=True)
        async with self.http.post(encoded, data=orjson.dumps(body), headers=headers) as answer:
            content = await answer.read()
            if answer.status >= 300:
                raise RuntimeError(f"{url.partition('?')[0]}: {answer.status} {content[:200]!r}")
            return orjson.loads(content)

    def _of(self, platform: str) -> dict[str, Any]:
        return next(a for a in self.accounts.values() if a["platform"] == platform)


def secret(reference: dict[str, str]) -> str:
    return os.environ[reference["env"]]


def main() -> None:
    def end_with_parent() -> None:
        while os.read(0, 4096):
            pass
        os._exit(3)

    threading.Thread(target=end_with_parent, daemon=True).start()
    asyncio.run(Relay(yaml.safe_load(Path(sys.argv[1]).read_text())).run())


if __name__ == "__main__":
    main()
