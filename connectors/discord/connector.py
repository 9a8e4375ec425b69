"""One Discord bot as a Connector: builds its parts and runs its life cycle."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Sequence
from typing import Any

from bridge.errors import ConfigError
from bridge.model import AccountId, Call, Capabilities, Delivery, Encoded, Event, Raw, Receipt
from bridge.ports.abilities import Abilities
from bridge.ports.connector import ConnectorTools
from bridge.ports.inbox import Inbox
from connectors.discord import decode, encode, links, marks, words
from connectors.discord.capabilities import CAPABILITIES
from connectors.discord.channels import Channels
from connectors.discord.check import AccountHealth
from connectors.discord.files import PlatformFiles
from connectors.discord.groups import Groups
from connectors.discord.history import History
from connectors.discord.identity import BotIdentity
from connectors.discord.interactions import PendingInteractions, register
from connectors.discord.outsiders import Outsiders
from connectors.discord.people import DirectMessages, People
from connectors.discord.places import Places
from connectors.discord.reactions import ReactionSender
from connectors.discord.read_back import ReadBack
from connectors.discord.receive import Receiver, use_gateway
from connectors.discord.rest import Rest
from connectors.discord.send import Sender
from connectors.discord.settings import DiscordSettings
from connectors.discord.unpinned import OwnUnpins
from connectors.discord.webhooks import Webhooks

# discord.py keeps its addresses as class attributes, so all accounts of a process share them.
_addresses: weakref.WeakKeyDictionary[DiscordConnector, tuple[str, str | None]] = (
    weakref.WeakKeyDictionary()
)


class DiscordConnector:
    """Receives through the gateway; posts through webhooks in guilds and as the bot in DMs."""

    capabilities: Capabilities = CAPABILITIES

    def __init__(
        self, account: AccountId, settings: DiscordSettings, tools: ConnectorTools
    ) -> None:
        self.account = account
        self._settings = settings
        self._tools = tools
        self._cdn = settings.cdn_url.rstrip("/")
        _claim_addresses(self, settings)
        self._rest = Rest(settings.api_url, self._token, tools.clock, tools.send_deadline)
        self._bot = BotIdentity(self._rest)
        self._webhooks = Webhooks(self._rest, tools.key_values, self._bot)
        self._places = Places(self._rest, tools.key_values)
        own_unpins = OwnUnpins(tools.clock)
        pending = PendingInteractions(self._rest, self._bot)
        reactions = ReactionSender(self._rest, tools.clock, own_unpins)
        self._sender = Sender(self._rest, self._webhooks, reactions, pending, tools.files)
        self._receiver = Receiver(
            account, self._token, tools.clock, self._bot, self._webhooks, self._places,
            self._respond, own_unpins, pending, tools.cards, tools.tenancy,
        )  # fmt: skip
        self.abilities = self._abilities()

    def _abilities(self) -> Abilities:
        rest, bot, clock, receiver = self._rest, self._bot, self._tools.clock, self._receiver
        history = History(rest, clock, bot, self._places, receiver.raw, receiver.learn)
        read_back = ReadBack(rest, bot, history, receiver.raw, clock)
        groups = Groups(rest)
        return Abilities(
            health=AccountHealth(rest, bot, lambda: receiver.state),
            history=history,
            lookup=read_back,
            read_back=read_back,
            past=read_back,
            reactors=read_back,
            channel_metadata=read_back,
            files=PlatformFiles(self._cdn),
            deliveries=history,
            simpler_forms=words,
            typing=marks.Typing(self.account),
            reactions=marks,
            people=People(rest, bot, self._cdn),
            groups=groups,
            group_names=groups,
            channels=Channels(rest, bot, self._tools.tenancy),
            outsiders=Outsiders(rest, bot),
            direct_messages=DirectMessages(rest),
            links=links,
        )

    async def run(self, inbox: Inbox) -> None:
        use_gateway(self._settings.api_url, self._settings.gateway_url)
        work = register(self.account, self._rest, self._bot, self._tools.clock)
        registering = asyncio.create_task(work)
        try:
            await self._receiver.run(inbox)
        finally:
            registering.cancel()
            await asyncio.gather(registering, return_exceptions=True)

    def decode(self, raw: Raw) -> Sequence[Event]:
        return decode.decode(raw, self._cdn)

    def encode(self, delivery: Delivery) -> Encoded:
        return encode.encode(delivery, self._tools.cards, self._tools.files)

    async def send(self, call: Call) -> Receipt:
        return await self._sender.send(call)

    async def close(self) -> None:
        _addresses.pop(self, None)
        await self._rest.close()

    # --- private --------------------------------------------------------------------------------

    async def _respond(self, interaction: dict[str, Any], answer: dict[str, Any]) -> None:
        """Send the first response; Discord shows a failure to the user after three seconds."""
        path = f"/interactions/{interaction.get('id')}/{interaction.get('token')}/callback"
        await self._rest.request(
            "POST", path, bucket="interaction", doing="Answering an interaction", body=answer,
            authorised=False,
        )  # fmt: skip

    async def _token(self) -> str:
        return (await self._tools.secrets.secret(self._settings.bot_token)).strip()


def _claim_addresses(connector: DiscordConnector, settings: DiscordSettings) -> None:
    own_addresses = (settings.api_url.rstrip("/"), settings.gateway_url)
    for other, claimed in _addresses.items():
        if claimed != own_addresses:
            raise ConfigError(
                f"Discord account {connector.account!r} uses {own_addresses[0]!r} and gateway"
                f" {own_addresses[1]!r}, but account {other.account!r} uses {claimed[0]!r} and"
                f" {claimed[1]!r}; accounts of one process must share both"
            )
    _addresses[connector] = own_addresses
