"""One Teams bot: what it knows and holds open. Everything else is in the functions beside it."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Collection, Sequence

import structlog
from starlette.routing import Router

from bridge.content.cards.tree import Asset
from bridge.errors import AuthFailed, FileError, PlatformError
from bridge.model import (
    AccountId,
    ActorId,
    Call,
    ChannelRef,
    Delivery,
    Encoded,
    Event,
    Person,
    Raw,
    Receipt,
)
from bridge.model.turns import PlanStep
from bridge.ports.abilities.channels import ChannelInfo
from bridge.ports.abilities.files import FileAddress
from bridge.ports.abilities.health import Health, Use
from bridge.ports.abilities.http import AsgiApp
from bridge.ports.connector import ConnectorTools
from bridge.ports.fetch import Bearer
from bridge.ports.findings import Finding
from bridge.ports.inbox import Inbox
from connectors.teams import ids, links
from connectors.teams.activity import Json, Us, object_of, string, tenant_of
from connectors.teams.capabilities import CAPABILITIES
from connectors.teams.channels import list_channels
from connectors.teams.check import check_account
from connectors.teams.consent import Consent, answer_of, outcome
from connectors.teams.decode import decode
from connectors.teams.encode import encode, typing_call
from connectors.teams.files import bring, shared_address
from connectors.teams.marks import takes_reaction
from connectors.teams.outsiders import outsiders
from connectors.teams.people import direct_channel, find_email, find_person, groups_of
from connectors.teams.receive import Receiver
from connectors.teams.references import References
from connectors.teams.send import BotToken, HttpClient, Sender
from connectors.teams.settings import TeamsSettings
from connectors.teams.streams import Streaming
from connectors.teams.validate import SigningKeys, TokenValidator
from connectors.teams.words import in_words

_PEOPLE_REMEMBERED = 10_000
_PROVE_AGAIN = 300.0  # seconds, at least, after which the credentials are proved again

log = structlog.get_logger(__name__)


class TeamsConnector:
    """The `Connector` for one bot registration; also ServesHttp, KnowsPeople, KnowsChannels,
    ChecksItself and TellsHealth. Teams tells bots no history and never echoes their posts."""

    capabilities = CAPABILITIES
    link_marks = links.MARKS
    append_pace = CAPABILITIES.stream_pace
    shows_steps = True

    def __init__(self, account: AccountId, settings: TeamsSettings, tools: ConnectorTools) -> None:
        self.account = account
        self._settings = settings
        self._tools = tools
        self._us = Us(account, settings.app_id, settings.tenant_id)
        self._http = HttpClient()
        self._references = References(tools.key_values)
        self._token = BotToken(settings, tools.tokens, self._http, tools.clock, tools.send_deadline)
        self._sender = Sender(
            settings, self._references, self._token, self._http, tools.send_deadline
        )
        self._streaming = Streaming(tools.clock, self.encode)
        keys = SigningKeys(settings.openid_url, self._http.fetch, tools.clock)
        self._validator = TokenValidator(settings, keys, tools.clock)
        self._health = Health(state="stopped")
        self._heard: float | None = None
        self.own_name = ""
        self._heard_in: OrderedDict[ActorId, str] = OrderedDict()
        self._bringing: set[asyncio.Task[None]] = set()

    async def run(self, inbox: Inbox) -> None:
        """Teams calls us (see `routes`), so this only proves the credentials, again each time the
        token runs out: an account in which nothing is said would not notice that they expired."""
        inbox.session_began(self.account)
        self._health = Health(state="connecting")
        try:
            await self._prove_credentials()
            self._health = Health(state="listening", connected_since=self._tools.clock.time())
            while True:
                await self._tools.clock.sleep(max(self._token.lasts, _PROVE_AGAIN))
                try:
                    await self._prove_credentials()
                except AuthFailed as error:  # `health` shows it, until the secret is taken again
                    log.warning("token_refused", account=self.account, reason=str(error))
        except AuthFailed as error:
            self._health = Health(state="failed", note=str(error))
            raise
        except asyncio.CancelledError:
            self._health = Health(state="stopped")
            raise

    def http_app(self, inbox: Inbox) -> AsgiApp:
        receiver = Receiver(
            self._settings, self._us, inbox, self._references, self._validator, self._note_heard,
            self._consented, self._tools.cards,
        )  # fmt: skip
        return Router(routes=receiver.routes())

    def decode(self, raw: Raw) -> Sequence[Event]:
        return decode(raw, self._us)

    def encode(self, delivery: Delivery) -> Encoded:
        return encode(delivery, self._settings.app_id, self._tools.cards, self._tools.files)

    def takes_reaction(self, emoji: str) -> bool:
        return takes_reaction(emoji)

    def typing_call(self, channel: ChannelRef) -> Call | None:
        return typing_call(channel, self._settings.app_id)

    def in_words(self, call: Call) -> Call | None:
        return in_words(call)

    async def file_address(self, asset: Asset, raw: Raw) -> FileAddress | None:
        """Pictures in messages lie behind the service's own address, and need the bot's token."""
        if asset.file_id:
            return shared_address(asset, raw)
        if not asset.url or not self._settings.may_be_called(asset.url):
            return None
        token = await self._token.get()
        return FileAddress(asset.url, Bearer(token, self._settings.service_hosts))

    async def send(self, call: Call) -> Receipt:
        return await self._streaming.send(self._sender.send, call)

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

    async def person(self, actor: ActorId) -> Person | None:
        return await find_person(actor, self._heard_in.get(actor), self._references, self._sender)

    async def groups_of(self, actor: ActorId, wanted: Sequence[str]) -> frozenset[str]:
        del wanted
        heard_in = self._heard_in.get(actor)
        return await groups_of(actor, heard_in, self._references, self._sender)

    async def email(self, actor: ActorId) -> str | None:
        return await find_email(actor, self._heard_in.get(actor), self._references, self._sender)

    def message_at(self, url: str) -> tuple[ChannelRef, str] | None:
        return links.message_at(url)

    def address_of(self, channel: ChannelRef, copy: Receipt) -> str:
        return links.address_of(channel, copy)

    async def channels(self) -> Sequence[ChannelInfo]:
        return await list_channels(self._references, self._sender)

    def channel_with_id(self, channel: str, workspace: str | None) -> ChannelRef | None:
        tenant = workspace or self._settings.tenant_id
        return ids.channel_ref(tenant, channel) if tenant and ids.is_conversation(channel) else None

    async def check(
        self, channels: Sequence[ChannelRef], uses: Collection[Use] = ()
    ) -> Sequence[Finding]:
        return await check_account(
            self._settings, self._tools.public_url, self._token, self._references, channels
        )

    async def direct_channel(self, actor: ActorId) -> ChannelRef:
        return await direct_channel(actor, self._settings.app_id, self._references, self._sender)

    async def outsiders(self, channel: ChannelRef) -> Sequence[str]:
        return await outsiders(channel, self._references, self._sender)

    def health(self) -> Health:
        health = self._health
        health = Health(health.state, health.connected_since, self._heard, health.note)
        return self._sender.credential.health(health)

    def is_direct(self, channel: ChannelRef) -> bool:
        return ids.is_personal(channel)

    async def close(self) -> None:
        for task in self._bringing:
            task.cancel()
        await asyncio.gather(*self._bringing, return_exceptions=True)
        await self._http.close()

    def _consented(self, activity: Json) -> bool:
        """Whether somebody answered our question about a file; what follows takes its time."""
        consent = answer_of(activity, self._tools.cards.key)
        if consent is None or self._tools.files is None:
            return False
        task = asyncio.create_task(self._bring(consent, tenant_of(activity)))
        self._bringing.add(task)
        task.add_done_callback(self._bringing.discard)
        return True

    async def _bring(self, consent: Consent, tenant: str) -> None:
        """The file, and in place of the question that it is there. When it fails the question
        stands, and may be answered again."""
        channel = ids.channel_ref(tenant, consent.conversation)
        try:
            if consent.agreed and self._tools.files is not None:
                await bring(consent, self._tools.files.blobs, self._http, self._settings)
            await self._sender.replace(channel, consent.message, outcome(consent))
        except (PlatformError, FileError) as error:
            log.warning("file_not_brought", account=self.account, reason=str(error))

    async def _prove_credentials(self) -> None:
        try:
            with self._sender.credential.watched():
                await self._token.get()
        except AuthFailed:
            raise
        except PlatformError as error:
            log.warning("token_not_fetched", account=self.account, reason=str(error))

    def _note_heard(self, activity: Json) -> None:
        self._heard = self._tools.clock.time()
        recipient = object_of(activity, "recipient")
        if ids.is_us(string(recipient, "id"), self._settings.app_id):
            self.own_name = string(recipient, "name") or self.own_name
        tenant = tenant_of(activity) or self._settings.tenant_id
        author = string(object_of(activity, "from"), "id")
        conversation = string(object_of(activity, "conversation"), "id")
        if tenant and author and conversation:
            actor = ids.actor_id(tenant, author)
            self._heard_in[actor] = ids.split_conversation(conversation)[0]
            self._heard_in.move_to_end(actor)
            if len(self._heard_in) > _PEOPLE_REMEMBERED:
                self._heard_in.popitem(last=False)
