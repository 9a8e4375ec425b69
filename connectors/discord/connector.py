"""One Discord bot as a Connector: all its parts, and the state that they share."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Mapping, Sequence
from typing import Any

from bridge.content.cards.tree import Asset
from bridge.errors import ConfigError
from bridge.model import (
    AccountId,
    ActorId,
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
from bridge.ports.abilities.channels import ChannelInfo
from bridge.ports.abilities.files import FileAddress
from bridge.ports.abilities.health import Health, Use
from bridge.ports.abilities.platform_history import ChannelMetadata, Stretch, Unreadable
from bridge.ports.connector import ConnectorTools
from bridge.ports.findings import Finding
from bridge.ports.inbox import Inbox
from connectors.discord import decode, encode, ids, links
from connectors.discord.asking import Asked, register
from connectors.discord.capabilities import CAPABILITIES
from connectors.discord.channels import channel_name, list_channels
from connectors.discord.check import check
from connectors.discord.commands import ANSWER
from connectors.discord.files import address_of
from connectors.discord.groups import list_roles, roles_of
from connectors.discord.history import History
from connectors.discord.identity import Self
from connectors.discord.marks import typing_call
from connectors.discord.outsiders import outsiders
from connectors.discord.people import direct_channel, look_up_person
from connectors.discord.places import Places
from connectors.discord.putting import Marks
from connectors.discord.read_back import ReadBack, gone_raw, reaction_raw, unpinned_raw
from connectors.discord.receive import Receiver, use_gateway
from connectors.discord.rest import Rest, translated
from connectors.discord.send import Sender
from connectors.discord.settings import DiscordSettings
from connectors.discord.unpinned import OwnUnpins
from connectors.discord.webhooks import Webhooks
from connectors.discord.words import in_words, without_files

# discord.py keeps its addresses as class attributes, so the accounts of a process share them.
_addresses: weakref.WeakKeyDictionary[DiscordConnector, tuple[str, str | None]] = (
    weakref.WeakKeyDictionary()
)


class DiscordConnector:
    """Receives through the gateway, posts through webhooks and, in DMs, as the bot."""

    capabilities: Capabilities = CAPABILITIES
    link_marks = links.MARKS
    translated = staticmethod(translated)

    def __init__(
        self, account: AccountId, settings: DiscordSettings, tools: ConnectorTools
    ) -> None:
        self.account = account
        self._settings = settings
        self._tools = tools
        self._cdn = settings.cdn_url.rstrip("/")
        _claim_addresses(self, settings)
        self._rest = Rest(settings.api_url, self._token, tools.clock, tools.send_deadline)
        self._us = Self(self._rest)
        self._webhooks = Webhooks(self._rest, tools.key_values, self._us)
        self._places = Places(self._rest, tools.key_values)
        own_unpins = OwnUnpins(tools.clock)
        asked = Asked(self._rest, self._us)
        marks = Marks(self._rest, tools.clock, own_unpins)
        self._sender = Sender(self._rest, self._webhooks, marks, asked, tools.files)
        self._receiver = Receiver(
            account, self._token, tools.clock, self._us, self._webhooks, self._places,
            self._respond, own_unpins, asked, tools.cards,
        )  # fmt: skip
        self._history = History(
            self._rest,
            tools.clock,
            self._us,
            self._places,
            self._receiver.raw,
            self._receiver.learn,
        )
        self._read_back = ReadBack(
            self._rest, self._us, self._history, self._receiver.raw, tools.clock
        )

    async def run(self, inbox: Inbox) -> None:
        use_gateway(self._settings.api_url, self._settings.gateway_url)
        work = register(self.account, self._rest, self._us, self._tools.clock)
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

    @property
    def own_name(self) -> str:
        return self._us.known.name if self._us.known else ""

    def is_direct(self, channel: ChannelRef) -> bool:
        return ids.is_direct(channel)

    async def close(self) -> None:
        _addresses.pop(self, None)
        await self._rest.close()

    async def newest(self, channel: ChannelRef) -> str:
        return await self._history.newest(channel)

    def read_after(
        self,
        channel: ChannelRef,
        cursor: str,
        threads: Sequence[str],
        *,
        patience: float | None = None,
    ) -> AsyncIterator[Raw | Unreadable]:
        del patience  # 50 requests a second: nobody waits long for one
        return self._history.read_after(channel, cursor, threads)

    def read_back(
        self, channel: ChannelRef, since: float, upto: str, threads: Sequence[str]
    ) -> AsyncGenerator[Stretch, None]:
        return self._read_back.stretches(channel, since, upto, threads)

    async def fetch(self, channel: ChannelRef, native_id: str, thread: str | None) -> Raw | None:
        return await self._read_back.fetch(channel, native_id, thread)

    async def reactors(
        self, channel: ChannelRef, native_id: str, thread: str | None, native: str
    ) -> Sequence[ActorId]:
        return await self._read_back.reactors(channel, native_id, thread, native)

    def reacted(
        self, channel: ChannelRef, target: str, thread: str | None, emoji: str, actor: ActorId,
        at: float, *, present: bool,
    ) -> Raw | None:  # fmt: skip
        return reaction_raw(
            self._receiver.raw, channel, target, thread, emoji, actor, at, present=present
        )

    async def channel_metadata(self, channel: ChannelRef) -> ChannelMetadata:
        return await self._read_back.channel_metadata(channel)

    def unpinned(
        self, channel: ChannelRef, target: str, thread: str | None, since: float, at: float
    ) -> Raw:
        return unpinned_raw(self._receiver.raw, channel, target, thread, since, at)

    def gone(self, channel: ChannelRef, native_id: str, thread: str | None, at: float) -> Raw:
        return gone_raw(self._receiver.raw, channel, native_id, thread, at)

    def order_key(self, native_id: str) -> str:
        return ids.order_key(native_id) if native_id.isdecimal() else ""

    def takes_reaction(self, emoji: str) -> bool:
        """Every Unicode emoji; whether a custom one is in the server, Discord says."""
        return emoji != "\ufffd"

    def typing_call(self, channel: ChannelRef) -> Call | None:
        return typing_call(self.account, channel)

    def in_words(self, call: Call) -> Call | None:
        return in_words(call)

    def without_files(self, call: Call) -> Call | None:
        return without_files(call)

    async def file_address(self, asset: Asset, raw: Raw) -> FileAddress | None:
        return address_of(asset, self._cdn)

    async def find_sent(
        self, call: Call, after: str | None, *, since: float | None = None, changed: bool = False
    ) -> Receipt | None:
        if call.method == ANSWER:
            return None  # seen by nobody but the asker: it is said again, in the same place
        return await self._history.find_sent(call, after, since, changed=changed)

    async def person(self, actor: ActorId) -> Person | None:
        return await look_up_person(self._rest, actor, self._cdn)

    async def groups_of(self, actor: ActorId, wanted: Sequence[str]) -> frozenset[str]:
        return await roles_of(self._rest, actor, wanted)

    def message_at(self, url: str) -> tuple[ChannelRef, str] | None:
        return links.message_at(url)

    def address_of(self, channel: ChannelRef, copy: Receipt) -> str:
        return links.address_of(channel, copy)

    async def channels(self) -> Sequence[ChannelInfo]:
        return await list_channels(self._rest, (await self._us.identity()).user)

    async def check(
        self, channels: Sequence[ChannelRef], uses: Collection[Use] = ()
    ) -> Sequence[Finding]:
        return await check(self._rest, self._us, channels)

    async def channel_name(self, channel: ChannelRef) -> str | None:
        return await channel_name(self._rest, channel)

    async def groups(self, workspaces: Collection[str]) -> Mapping[str, str]:
        return await list_roles(self._rest, workspaces)

    async def direct_channel(self, actor: ActorId) -> ChannelRef:
        return await direct_channel(self._rest, actor)

    async def outsiders(self, channel: ChannelRef) -> Sequence[str]:
        return await outsiders(self._rest, (await self._us.identity()).user, channel)

    def health(self) -> Health:
        return self._rest.credential.health(self._receiver.state)

    async def _respond(self, interaction: dict[str, Any], answer: dict[str, Any]) -> None:
        """Within three seconds, or the person sees that it failed."""
        path = f"/interactions/{interaction.get('id')}/{interaction.get('token')}/callback"
        await self._rest.request(
            "POST", path, bucket="interaction", doing="Answering an interaction", body=answer,
            authorised=False,
        )  # fmt: skip

    async def _token(self) -> str:
        return (await self._tools.tokens.secret(self._settings.bot_token)).strip()


def _claim_addresses(connector: DiscordConnector, settings: DiscordSettings) -> None:
    wanted = (settings.api_url.rstrip("/"), settings.gateway_url)
    for other, claimed in _addresses.items():
        if claimed != wanted:
            raise ConfigError(
                f"Discord account {connector.account!r} uses {wanted[0]!r} and gateway"
                f" {wanted[1]!r}, but account {other.account!r} uses {claimed[0]!r} and"
                f" {claimed[1]!r}; accounts of one process must share both"
            )
    _addresses[connector] = wanted
