"""Names of the people, groups and channels that a message mentions by their ids: looked up before
it is kept, so that channels and agents are shown names.

Mentions in texts get their names in the text. Payloads stay as they came: the names for the ids in
them are noted in the message's `metadata.uacs_bridge.names`, and readers of cards apply them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence

import structlog

from bridge.content.cards.reader import Cards
from bridge.content.markdown.mentions import Named, key_of, mentions_named, rename_mentions
from bridge.content.messages.metadata import read_bridge_metadata, with_bridge_metadata
from bridge.content.safety.mentions import references_in
from bridge.content.text.names import is_bare_id
from bridge.content.text.tree import ChannelLink, GroupMention, Mention
from bridge.errors import PlatformError
from bridge.model import AccountId, ActorId, ChannelRef, join_key, split_key
from bridge.ports.clock import Clock
from bridge.ports.connector import Connector
from bridge.router.rooms.people import People, nameless
from bridge.router.rooms.rooms import Rooms
from bridge.uacs import Message, StructuredDataPart, TextPart

log = structlog.get_logger()

_DEADLINE = 5.0  # seconds that a message waits for the names in it
_MOST_NAMES = 100  # of one message
_FRESH = 3600.0  # seconds for which a name is not looked up again
_FAILED = 60.0  # ... and one that could not be looked up
_REMEMBERED = 10_000


class ReferenceNames:
    """A cache in front of the platforms."""

    def __init__(
        self,
        people: People,
        connectors: Mapping[AccountId, Connector],
        rooms: Rooms,
        cards: Cards,
        clock: Clock,
    ) -> None:
        self._people = people
        self._connectors = connectors
        self._rooms = rooms
        self._cards = cards
        self._clock = clock
        self._channels: dict[str, tuple[float, str]] = {}
        self._given_up: dict[str, float] = {}
        self._groups: dict[AccountId, tuple[float, Mapping[str, str]]] = {}

    async def named(self, account: AccountId | None, message: Message) -> Message:
        """The message with the names of the people and channels that it mentions. `account`
        received it; None: an agent wrote it."""
        in_texts = [
            node
            for part in message.content
            if isinstance(part, TextPart) and part.is_markdown
            for node in mentions_named(part.text)
        ]
        in_payloads = [*self._bare_in_payloads(message)]
        if not in_texts and not in_payloads:
            return message
        names = await self.names(account, [*in_texts, *in_payloads])
        content = tuple(
            part.model_copy(update={"text": rename_mentions(part.text, names)})
            if isinstance(part, TextPart) and part.is_markdown
            else part
            for part in message.content
        )
        message = message.model_copy(update={"content": content})
        noted = {key: names[key] for key in map(key_of, in_payloads) if key in names}
        if not noted:
            return message
        additions, _ = read_bridge_metadata(message)
        all_names = {**additions.names, **noted}
        return with_bridge_metadata(message, additions.model_copy(update={"names": all_names}))

    async def named_in(self, account: AccountId, markdown: str) -> str:
        """Return the text with the names of the people and channels that it mentions. `account`
        received it."""
        mentioned = mentions_named(markdown)
        if not mentioned:
            return markdown
        return rename_mentions(markdown, await self.names(account, mentioned))

    async def names(
        self, account: AccountId | None, mentioned: Sequence[Named]
    ) -> Mapping[str, str]:
        """Names by actor id or key, as far as they are found in time: a message full of mentions
        must not hold its channel."""
        now = self._clock.monotonic()
        named = {key_of(node): node for node in mentioned}
        unnamed = {key: node for key, node in named.items() if self._given_up.get(key, 0.0) <= now}
        known_names: dict[str, str] = {}
        tried_keys: list[str] = []
        try:
            async with asyncio.timeout(_DEADLINE):
                for key, node in [*unnamed.items()][:_MOST_NAMES]:
                    tried_keys.append(key)
                    if name := await self._name(account, node):
                        known_names[key] = name
        except TimeoutError:
            log.warning(
                "name_lookup_failed", account=account, found=len(known_names), wanted=len(unnamed)
            )
            self._give_up(tried_keys[-1])
        return known_names

    async def name_of(self, actor: ActorId) -> str:
        """The name of somebody who need not have spoken; the id where nobody knows it."""
        account = self._account_for(None, *_home(actor))
        if account is None:
            return await self._people.stored_name(actor)
        return await self._people.name_of(account, nameless(actor))

    def _give_up(self, key: str) -> None:
        """A directory that does not answer holds one message for a moment, not each."""
        if len(self._given_up) >= _REMEMBERED:
            self._given_up.clear()
        self._given_up[key] = self._until(is_found=False)

    def _bare_in_payloads(self, message: Message) -> Iterator[Named]:
        """What its payloads mention by an id alone."""
        if not any(isinstance(part, StructuredDataPart) for part in message.content):
            return
        card, _ = self._cards.read(message)
        for node in references_in(card):
            match node:
                case Mention(name=name) | GroupMention(name=name) | ChannelLink(name=name):
                    if is_bare_id(key_of(node), name):
                        yield node
                case _:
                    pass

    async def _name(self, receiving_account: AccountId | None, node: Named) -> str | None:
        platform, workspace = _home(key_of(node))
        account = self._account_for(receiving_account, platform, workspace)
        if account is None:
            return None
        native = split_key(key_of(node))[-1]
        if not workspace:  # a payload of an agent or a program does not say which
            workspace = next(iter(self._rooms.accounts_in(platform)), "")
        match node:
            case Mention():
                actor = ActorId(join_key(platform, workspace, native))
                name = await self._people.name_of(account, nameless(actor))
            case GroupMention():
                name = (await self._groups_of(account, workspace)).get(native)
            case ChannelLink():
                channel = ChannelRef(platform=platform, workspace=workspace, channel=native)
                name = await self._channel_name(account, channel)
        return None if name == native else name

    def _account_for(
        self, receiving_account: AccountId | None, platform: str, workspace: str
    ) -> AccountId | None:
        """The account that looks up a name of this workspace: the one that received it, else one
        with a channel of a room there."""
        found = self._connectors.get(receiving_account) if receiving_account else None
        if found is not None and found.capabilities.platform == platform:
            return receiving_account
        if workspace:
            return self._rooms.account_seeing(platform, workspace)
        accounts = self._rooms.accounts_in(platform)
        return next(iter(accounts.values())) if len(accounts) == 1 else None

    async def _channel_name(self, account: AccountId, channel: ChannelRef) -> str | None:
        if name := self._rooms.known_name(channel):
            return name
        until, name = self._channels.get(channel.key, (0.0, ""))
        if until > self._clock.monotonic():
            return name or None
        connector = self._connectors.get(account)
        channels = connector.abilities.channels if connector else None
        if channels is None:
            return None
        try:
            name = _one_line(await channels.name(channel) or "")
        except PlatformError as error:
            log.warning("channel_not_found", account=account, channel=channel.key, error=str(error))
            name = ""
        if len(self._channels) >= _REMEMBERED:
            self._channels.pop(next(iter(self._channels)))
        self._channels[channel.key] = (self._until(is_found=bool(name)), name)
        return name or None

    async def _groups_of(self, account: AccountId, workspace: str) -> Mapping[str, str]:
        until, names = self._groups.get(account, (0.0, {}))
        if until > self._clock.monotonic():
            return names
        connector = self._connectors.get(account)
        group_names = connector.abilities.group_names if connector else None
        if group_names is None:
            return {}
        try:
            names = await group_names.by_id([workspace])
        except PlatformError as error:
            log.warning("group_lookup_failed", account=account, error=str(error))
            names = {}
        self._groups[account] = (self._until(is_found=bool(names)), names)
        return names

    def _until(self, *, is_found: bool) -> float:
        return self._clock.monotonic() + (_FRESH if is_found else _FAILED)


def _home(key: str) -> tuple[str, str]:
    """Platform and workspace of an actor, a group or a channel."""
    platform, workspace, *_ = [*split_key(key), ""]
    return platform, workspace


def _one_line(name: str) -> str:
    return " ".join(name.split()).removeprefix("#")
