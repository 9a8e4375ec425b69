"""One Slack account: the state of its connection, and its abilities wired together."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Mapping,
    Sequence,
)
from dataclasses import replace
from functools import partial

import structlog
from slack_bolt.async_app import AsyncApp
from starlette.routing import Router

from bridge.content.cards.tree import Asset
from bridge.errors import AuthFailed, BridgeError, ConfigError, Unavailable
from bridge.model import (
    AccountId,
    ActorId,
    Byline,
    Call,
    Capabilities,
    ChannelRef,
    Delivery,
    Encoded,
    Event,
    Person,
    Raw,
    Receipt,
)
from bridge.model.secret_refs import SecretRef
from bridge.model.turns import PlanStep
from bridge.ports.abilities.channels import ChannelInfo
from bridge.ports.abilities.files import FileAddress
from bridge.ports.abilities.health import Health, Use
from bridge.ports.abilities.http import AsgiApp
from bridge.ports.abilities.platform_history import ChannelMetadata, Stretch
from bridge.ports.connector import ConnectorTools
from bridge.ports.findings import Finding
from bridge.ports.inbox import Inbox
from connectors.slack import ids, links
from connectors.slack.capabilities import CAPABILITIES, STREAM_PACE
from connectors.slack.channels import channel_name, list_channels
from connectors.slack.check import findings
from connectors.slack.decode import decode
from connectors.slack.encode import encode
from connectors.slack.files import address_of
from connectors.slack.groups import groups_of, list_groups
from connectors.slack.history import find_post, newest_post, posts_after
from connectors.slack.ids import Identity
from connectors.slack.json_values import Json, text_at
from connectors.slack.marks import takes_reaction
from connectors.slack.outsiders import outsiders
from connectors.slack.people import direct_channel, look_up, look_up_email
from connectors.slack.read_back import ReadBack, gone_raw, reaction_raw, unpinned_raw
from connectors.slack.receive import (
    Keeper,
    bolt_app,
    events_route,
    listen_on_socket,
    patiently,
    tells_of_a_revoked_token,
)
from connectors.slack.send import WebApi
from connectors.slack.settings import SlackSettings
from connectors.slack.shares import Shares
from connectors.slack.status import working_call
from connectors.slack.streams import Streaming
from connectors.slack.words import in_words, without_files

log = structlog.get_logger(__name__)
_SHARED = (
    "another program is connected with this app token, and Slack hands each event to one of the "
    "two; stop it, or give it an app of its own"
)


class SlackConnector:
    """Fills every Protocol of `bridge.ports.connector`: see there for what each method promises."""

    link_marks = links.MARKS
    append_pace = STREAM_PACE
    shows_steps = True

    def __init__(self, account: AccountId, settings: SlackSettings, tools: ConnectorTools) -> None:
        self.account = account
        self.capabilities: Capabilities = CAPABILITIES
        self._settings = settings
        self._tools = tools
        bot, deadline = self._secret(settings.bot_token), tools.send_deadline
        self._api = WebApi(settings.api_url, bot, tools.clock, deadline)
        self._app_api: WebApi | None = None
        if settings.app_token is not None:
            token = self._secret(settings.app_token)
            self._app_api = WebApi(settings.api_url, token, tools.clock, deadline)
        self._streaming = Streaming(tools.clock, self.encode)
        self._shares = Shares(self._api, tools.files, tools.key_values, tools.clock)
        self._us: Identity | None = None
        self._asking = asyncio.Lock()
        self._health = Health("stopped")
        self._proving: set[asyncio.Task[None]] = set()

    # --- Connector ------------------------------------------------------------------------------

    async def run(self, inbox: Inbox) -> None:
        self._health = Health("connecting")
        state = "failed"
        try:
            await patiently(self.account, self._identity, self._tools.clock)
            if self._settings.receive == "socket":
                await self._run_socket(inbox)
            else:
                await self._run_http(inbox)
        except asyncio.CancelledError:
            state = "stopped"
            raise
        except BridgeError as error:
            self._health = replace(self._health, note=str(error))
            raise
        finally:
            self._health = replace(self._health, state=state)

    def decode(self, raw: Raw) -> Sequence[Event]:
        return decode(raw, self._us)

    def encode(self, delivery: Delivery) -> Encoded:
        return encode(delivery, self._tools.cards, self._tools.files)

    async def send(self, call: Call) -> Receipt:
        if call.files:
            return await self._shares.share(call)
        return await self._streaming.send(self._api, _naming_us(call, self._tools.instance))

    @property
    def own_name(self) -> str:
        return self._us.handle if self._us else ""

    def is_direct(self, channel: ChannelRef) -> bool:
        return ids.is_direct(channel.channel)

    async def close(self) -> None:
        for task in self._proving:
            task.cancel()
        await asyncio.gather(*self._proving, return_exceptions=True)
        await self._api.close()
        if self._app_api is not None:
            await self._app_api.close()

    # --- further abilities ----------------------------------------------------------------------

    def opening(self, delivery: Delivery, call: Call) -> Call | None:
        return self._streaming.opening(delivery, call)

    def growing(
        self, delivery: Delivery, call: Call, steps: Sequence[PlanStep]
    ) -> Sequence[Call] | None:
        return self._streaming.growing(delivery, call, steps)

    def ending(self, delivery: Delivery, call: Call) -> Sequence[Call]:
        return self._streaming.ending(delivery, call)

    def unstreamed(self, delivery: Delivery, call: Call) -> Call | None:
        return self._streaming.unstreamed(delivery, call)

    def working_call(
        self, account: AccountId, channel: ChannelRef, thread: str, byline: Byline, words: str
    ) -> Call | None:
        return working_call(account, channel, thread, byline, words)

    def http_app(self, inbox: Inbox) -> AsgiApp | None:
        if self._settings.receive != "http":
            return None
        signing_secret = self._settings.signing_secret
        if signing_secret is None:
            raise ConfigError(f"Account {self.account!r}: receive: http needs signing_secret")
        secret = self._secret(signing_secret)
        route = events_route(self.account, self._bolt(inbox), secret, self._tools.clock)
        return Router(routes=[route])

    async def newest(self, channel: ChannelRef) -> str:
        return await newest_post(self._api, channel)

    async def read_after(
        self,
        channel: ChannelRef,
        cursor: str,
        threads: Sequence[str],
        *,
        patience: float | None = None,
    ) -> AsyncIterator[Raw]:
        us = await self._identity()
        now = self._tools.clock.time()
        async for raw in posts_after(
            self._api, self.account, us, channel, cursor, threads, now, patience
        ):
            yield raw

    async def read_back(
        self, channel: ChannelRef, since: float, upto: str, threads: Sequence[str]
    ) -> AsyncGenerator[Stretch, None]:
        async for stretch in (await self._reader(channel)).stretches(since, upto, threads):
            yield stretch

    async def fetch(self, channel: ChannelRef, native_id: str, thread: str | None) -> Raw | None:
        return await (await self._reader(channel)).fetch(native_id, thread)

    async def reactors(
        self, channel: ChannelRef, native_id: str, thread: str | None, native: str
    ) -> Sequence[ActorId]:
        return await (await self._reader(channel)).reactors(native_id, native)

    def reacted(
        self, channel: ChannelRef, target: str, thread: str | None, emoji: str, actor: ActorId,
        at: float, *, present: bool,
    ) -> Raw | None:  # fmt: skip
        return reaction_raw(self.account, channel, target, emoji, actor, at, present=present)

    async def channel_metadata(self, channel: ChannelRef) -> ChannelMetadata:
        return await (await self._reader(channel)).channel_metadata()

    def unpinned(
        self, channel: ChannelRef, target: str, thread: str | None, since: float, at: float
    ) -> Raw:
        return unpinned_raw(self.account, channel, target, since, at)

    def gone(self, channel: ChannelRef, native_id: str, thread: str | None, at: float) -> Raw:
        return gone_raw(self.account, channel, native_id, thread, at)

    def order_key(self, native_id: str) -> str:
        return ids.order_key(native_id) if ids.is_ts(native_id) else ""

    async def find_sent(
        self, call: Call, after: str | None, *, since: float | None = None, changed: bool = False
    ) -> Receipt | None:
        del changed  # the post tells whose it is
        if call.files and (receipt := await self._shares.find(call, after)):
            return receipt
        return await find_post(self._api, self._tools.clock, call, after, since)

    def takes_reaction(self, emoji: str) -> bool:
        return takes_reaction(emoji)

    def in_words(self, call: Call) -> Call | None:
        return in_words(call)

    def without_files(self, call: Call) -> Call | None:
        return without_files(call)

    async def file_address(self, asset: Asset, raw: Raw) -> FileAddress | None:
        return await address_of(self._api, asset)

    async def person(self, actor: ActorId) -> Person | None:
        return await look_up(self._api, actor)

    async def groups_of(self, actor: ActorId, wanted: Sequence[str]) -> frozenset[str]:
        return await groups_of(self._api, actor, wanted)

    async def email(self, actor: ActorId) -> str | None:
        return await look_up_email(self._api, actor)

    def message_at(self, url: str) -> tuple[ChannelRef, str] | None:
        return links.message_at(url, self._us) if self._us and self._us.url else None

    def address_of(self, channel: ChannelRef, copy: Receipt) -> str:
        return links.address_of(channel, copy, self._us) if self._us and self._us.url else ""

    async def channels(self) -> Sequence[ChannelInfo]:
        return await list_channels(self._api, await self._identity())

    async def check(
        self, channels: Sequence[ChannelRef], uses: Collection[Use] = ()
    ) -> Sequence[Finding]:
        # An open socket proves the app token; Slack counts how often one asks for another.
        app_api = None if self._health.state == "connected" else self._app_api
        public_url = self._tools.public_url
        return await findings(self._api, app_api, self._settings, public_url, channels, uses)

    async def channel_name(self, channel: ChannelRef) -> str | None:
        return await channel_name(self._api, channel)

    async def groups(self, workspaces: Collection[str]) -> Mapping[str, str]:
        return await list_groups(self._api) if workspaces else {}

    async def direct_channel(self, actor: ActorId) -> ChannelRef:
        return await direct_channel(self._api, actor)

    async def outsiders(self, channel: ChannelRef) -> Sequence[str]:
        return await outsiders(self._api, channel)

    def health(self) -> Health:
        return self._api.credential.health(self._health)

    # --- within ---------------------------------------------------------------------------------

    async def _run_socket(self, inbox: Inbox) -> None:
        def connected(open_now: bool) -> None:
            if open_now:
                self._health = replace(
                    self._health, state="connected", connected_since=self._tools.clock.time()
                )
                inbox.session_began(self.account)
            else:
                self._health = replace(self._health, state="connecting", connected_since=None)

        app = self._bolt(inbox)
        clock = self._tools.clock
        await listen_on_socket(
            self.account, app, self._socket_address, self._settings.api_url, clock, connected,
            self._is_shared,
        )  # fmt: skip

    def _is_shared(self, shared: bool) -> None:
        note = _SHARED if shared else ""
        if note != self._health.note:
            self._health = replace(self._health, note=note)
            if shared:
                log.warning("slack_app_token_shared", account=self.account, why=note)
            else:
                log.info("slack_app_token_not_shared", account=self.account)

    async def _run_http(self, inbox: Inbox) -> None:
        now = self._tools.clock.time()
        self._health = replace(self._health, state="listening", connected_since=now)
        inbox.session_began(self.account)
        await asyncio.Event().wait()

    async def _reader(self, channel: ChannelRef) -> ReadBack:
        us = await self._identity()
        return ReadBack(self._api, self._tools.clock, self.account, us, channel)

    async def _socket_address(self) -> str:
        """A new address for each connection: they are good for one, and only for a while."""
        if self._app_api is None:
            raise ConfigError(f"Account {self.account!r}: receive: socket needs app_token")
        url = text_at(await self._app_api.read("apps.connections.open"), "url")
        if not url:
            raise Unavailable("apps.connections.open gave no address")
        return url

    async def _identity(self) -> Identity:
        """Who we are, asked once."""
        async with self._asking:
            if self._us is None:
                answer = await self._api.read("auth.test")
                self._us = Identity(
                    team=text_at(answer, "team_id"),
                    team_name=text_at(answer, "team"),
                    user=text_at(answer, "user_id"),
                    handle=text_at(answer, "user"),
                    bot=text_at(answer, "bot_id"),
                    url=text_at(answer, "url"),
                )
        return self._us

    def _bolt(self, inbox: Inbox) -> AsyncApp:
        clock = self._tools.clock
        keeper = Keeper(self.account, inbox, self._identity, clock, self._was_heard)
        return bolt_app(keeper, self._settings.api_url)

    def _was_heard(self, body: Json) -> None:
        self._health = replace(self._health, heard=self._tools.clock.time())
        if tells_of_a_revoked_token(body):
            task = asyncio.create_task(self._prove_token())
            self._proving.add(task)
            task.add_done_callback(self._proving.discard)

    async def _prove_token(self) -> None:
        """Ask with the bot's token: `health` shows whether Slack still takes it."""
        ask = partial(self._api.read, "auth.test")
        with contextlib.suppress(AuthFailed):
            await patiently(self.account, ask, self._tools.clock)

    def _secret(self, ref: SecretRef) -> Callable[[], Awaitable[str]]:
        return lambda: self._tools.tokens.secret(ref)


def _naming_us(call: Call, instance: str) -> Call:
    """With the id of our store in the metadata of a post: another bridge with the same tokens knows
    by it that we are not it."""
    metadata = call.body.get("metadata")
    told = metadata.get("event_payload") if isinstance(metadata, dict) else None
    if not instance or not isinstance(metadata, dict) or not isinstance(told, dict):
        return call
    named = {**metadata, "event_payload": {**told, "bridge": instance}}
    return call.model_copy(update={"body": {**call.body, "metadata": named}})
