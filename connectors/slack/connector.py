"""One Slack account as a Connector: it builds its parts once and has their life cycle."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from bridge.model import AccountId, Call, Capabilities, Delivery, Encoded, Event, Raw, Receipt
from bridge.model.secret_refs import SecretRef
from bridge.ports.abilities import Abilities
from bridge.ports.connector import ConnectorTools
from bridge.ports.inbox import Inbox
from connectors.slack import marks, status, words
from connectors.slack.capabilities import CAPABILITIES
from connectors.slack.channels import Channels
from connectors.slack.check import AccountHealth
from connectors.slack.connection import Connection
from connectors.slack.decode import decode
from connectors.slack.encode import encode
from connectors.slack.files import PlatformFiles
from connectors.slack.groups import Groups
from connectors.slack.history import History
from connectors.slack.identity import OwnIdentity
from connectors.slack.links import Links
from connectors.slack.outsiders import Outsiders
from connectors.slack.people import DirectMessages, People
from connectors.slack.read_back import ReadBack
from connectors.slack.send import WebApi
from connectors.slack.settings import SlackSettings
from connectors.slack.shares import Shares
from connectors.slack.streams import Streaming


class SlackConnector:
    """The Connector of one account: receives by Socket Mode or HTTP, and posts by the Web API under
    the authors' names."""

    capabilities: Capabilities = CAPABILITIES

    def __init__(self, account: AccountId, settings: SlackSettings, tools: ConnectorTools) -> None:
        self.account = account
        self._tools = tools
        self._api = self._web_api(settings, settings.bot_token)
        self._app_api = (
            self._web_api(settings, settings.app_token) if settings.app_token is not None else None
        )
        self._own_identity = OwnIdentity(self._api)
        self._connection = Connection(
            account,
            settings,
            self._api,
            self._app_api,
            self._own_identity,
            tools.clock,
            self._secret,
        )
        self._streaming = Streaming(tools.clock, self.encode)
        self._shares = Shares(self._api, tools.files, tools.key_values, tools.clock)
        self.abilities = self._abilities(settings)

    def _abilities(self, settings: SlackSettings) -> Abilities:
        api, own_identity, clock = self._api, self._own_identity, self._tools.clock
        history = History(api, clock, self.account, own_identity, self._shares)
        read_back = ReadBack(api, clock, self.account, own_identity)
        people, groups = People(api, own_identity), Groups(api)
        return Abilities(
            health=AccountHealth(
                api, self._app_api, settings, self._tools.public_url,
                lambda: self._connection.state,
            ),
            http=self._connection if settings.receive == "http" else None,
            history=history,
            lookup=read_back,
            read_back=read_back,
            past=read_back,
            reactors=read_back,
            channel_metadata=read_back,
            files=PlatformFiles(api),
            deliveries=history,
            simpler_forms=words,
            streams=self._streaming,
            progress=status,
            reactions=marks,
            people=people,
            emails=people,
            groups=groups,
            group_names=groups,
            channels=Channels(api, own_identity),
            outsiders=Outsiders(api),
            direct_messages=DirectMessages(api),
            links=Links(own_identity),
        )  # fmt: skip

    async def run(self, inbox: Inbox) -> None:
        await self._connection.run(inbox)

    def decode(self, raw: Raw) -> Sequence[Event]:
        return decode(raw, self._own_identity.cached)

    def encode(self, delivery: Delivery) -> Encoded:
        return encode(delivery, self._tools.cards, self._tools.files)

    async def send(self, call: Call) -> Receipt:
        if call.files:
            return await self._shares.share(call)
        return await self._streaming.send(self._api, _echo_mark(call, self._tools.instance))

    async def close(self) -> None:
        await self._connection.close()
        await self._api.close()
        if self._app_api is not None:
            await self._app_api.close()

    # --- within ---------------------------------------------------------------------------------

    def _web_api(self, settings: SlackSettings, token: SecretRef) -> WebApi:
        secret, deadline = self._secret(token), self._tools.send_deadline
        return WebApi(settings.api_url, secret, self._tools.clock, deadline)

    def _secret(self, ref: SecretRef) -> Callable[[], Awaitable[str]]:
        return lambda: self._tools.secrets.secret(ref)


def _echo_mark(call: Call, instance: str) -> Call:
    """The call with the id of our store in the metadata of its post: another bridge that uses the
    same tokens recognises the post as foreign by it."""
    metadata = call.body.get("metadata")
    payload = metadata.get("event_payload") if isinstance(metadata, dict) else None
    if not instance or not isinstance(metadata, dict) or not isinstance(payload, dict):
        return call
    named = {**metadata, "event_payload": {**payload, "bridge": instance}}
    return call.model_copy(update={"body": {**call.body, "metadata": named}})
