"""One Teams bot as a Connector: its parts and its life cycle."""

from __future__ import annotations

from collections.abc import Sequence

from bridge.model import AccountId, Call, Capabilities, Delivery, Encoded, Event, Raw, Receipt
from bridge.ports.abilities import Abilities
from bridge.ports.connector import ConnectorTools
from bridge.ports.inbox import Inbox
from connectors.teams import links, marks, words
from connectors.teams.activity import BotIdentity
from connectors.teams.capabilities import CAPABILITIES
from connectors.teams.channels import Channels
from connectors.teams.check import AccountHealth
from connectors.teams.connection import Connection
from connectors.teams.decode import decode
from connectors.teams.encode import Typing, encode
from connectors.teams.files import PlatformFiles
from connectors.teams.outsiders import Outsiders
from connectors.teams.people import DirectMessages, Groups, People
from connectors.teams.references import References
from connectors.teams.send import BotToken, HttpClient, Sender
from connectors.teams.settings import TeamsSettings
from connectors.teams.streams import Streaming


class TeamsConnector:
    """One bot registration. Teams offers bots no history and no echo of their posts."""

    capabilities: Capabilities = CAPABILITIES

    def __init__(self, account: AccountId, settings: TeamsSettings, tools: ConnectorTools) -> None:
        self.account = account
        self._settings = settings
        self._tools = tools
        self._identity = BotIdentity(account, settings.app_id, settings.tenant_id)
        self._http = HttpClient()
        self._references = References(tools.key_values)
        self._token = BotToken(
            settings, tools.secrets, self._http, tools.clock, tools.send_deadline
        )
        self._sender = Sender(
            settings, self._references, self._token, self._http, tools.send_deadline
        )
        self._people = People(settings, self._references, self._sender)
        self._connection = Connection(
            self._identity, settings, tools, self._http, self._token, self._sender,
            self._references, self._people,
        )  # fmt: skip
        self._streaming = Streaming(tools.clock, self.encode)
        self.abilities = self._abilities()

    def _abilities(self) -> Abilities:
        settings, references, sender = self._settings, self._references, self._sender
        return Abilities(
            health=AccountHealth(
                settings, self._tools.public_url, self._token, references, sender,
                lambda: self._connection.state,
            ),
            http=self._connection,
            files=PlatformFiles(settings, self._token),
            simpler_forms=words,
            streams=self._streaming,
            typing=Typing(settings.app_id),
            reactions=marks,
            people=self._people,
            emails=self._people,
            groups=Groups(self._people),
            channels=Channels(references, sender, settings.tenant_id, self._tools.tenancy),
            outsiders=Outsiders(references, sender),
            direct_messages=DirectMessages(settings.app_id, references, sender),
            links=links,
        )  # fmt: skip

    async def run(self, inbox: Inbox) -> None:
        await self._connection.run(inbox)

    def decode(self, raw: Raw) -> Sequence[Event]:
        return decode(raw, self._identity)

    def encode(self, delivery: Delivery) -> Encoded:
        return encode(delivery, self._settings.app_id, self._tools.cards, self._tools.files)

    async def send(self, call: Call) -> Receipt:
        return await self._streaming.send(self._sender.send, call)

    async def close(self) -> None:
        await self._connection.close()
        await self._http.close()
