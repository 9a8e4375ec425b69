"""Channels as the configuration names them -> ChannelRefs; found channels are remembered."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Iterable, Mapping, Sequence

import structlog

from bridge.app.account_values import KeyValueAccess
from bridge.app.settings.rooms import MemberSettings
from bridge.content.text.globs import matches
from bridge.errors import BridgeError, ConfigError
from bridge.model import AccountId, ChannelRef, channel_of_key
from bridge.ports.abilities.channels import ChannelInfo
from bridge.ports.connector import Connector

log = structlog.get_logger()

_DEADLINE = 20.0  # seconds for a platform to list its channels at the start
_LISTED_AT_ONCE = 20  # accounts: tenants may be thousands
_SHELF = "channel named "
_PATTERN_SHELF = "channels that match "
_NAME_SHELF = "name of "


class Listed:
    """The channels that an account sees, indexed by id and name for the look-ups of all rooms."""

    def __init__(self, channels: Sequence[ChannelInfo]) -> None:
        self.all = tuple(channels)
        self.by_ref = {channel.ref: channel for channel in channels}
        self.by_key = {channel.ref.key: channel for channel in channels}
        self.by_id: dict[str, list[ChannelInfo]] = {}
        self.by_name: dict[str, list[ChannelInfo]] = {}
        self.by_workspace: dict[str, list[ChannelInfo]] = {}
        for channel in channels:
            self.by_id.setdefault(channel.ref.channel, []).append(channel)
            self.by_name.setdefault(channel.name.casefold(), []).append(channel)
            for workspace in {channel.ref.workspace.casefold(), channel.workspace_name.casefold()}:
                self.by_workspace.setdefault(workspace, []).append(channel)
        self._named: dict[str, str] = {}

    def named(self, member: MemberSettings, channels: Sequence[ChannelInfo]) -> str:
        """The first channel names in the member's workspace, for errors; sorted once."""
        workspace = member.workspace or ""
        if workspace not in self._named:
            names = sorted({f"#{channel.name}" for channel in channels})[:20]
            self._named[workspace] = ", ".join(names) or "none"
        return self._named[workspace]


class Places:
    """Finds channels of the configuration; lists the channels of each account at most once.

    `known`: lists of a search before; one that is still right is not indexed again.
    """

    def __init__(
        self,
        connectors: Mapping[AccountId, Connector],
        store: KeyValueAccess,
        known: Mapping[AccountId, Listed] | None = None,
    ) -> None:
        self._connectors = connectors
        self._store = store
        self._known = known or {}
        self._turns = asyncio.Semaphore(_LISTED_AT_ONCE)
        self._listing: dict[AccountId, asyncio.Task[Listed]] = {}
        self._stored: dict[AccountId, Mapping[str, str]] = {}
        self._found: dict[AccountId, dict[str, str]] = {}  # to be remembered

    @property
    def listed(self) -> Mapping[AccountId, Listed]:
        """The channels of the accounts that were listed; without those that could not be."""
        return {
            account: task.result()
            for account, task in self._listing.items()
            if task.done() and not task.cancelled() and task.exception() is None
        }

    async def list_all(self, accounts: Collection[AccountId]) -> None:
        """List the channels of these accounts at the same time. What cannot be listed is told for
        each channel that is looked for."""
        own = [self._channels(account) for account in accounts if account in self._connectors]
        await asyncio.gather(*own, return_exceptions=True)

    async def find(self, member: MemberSettings) -> ChannelRef:
        """The channel that the member names.

        Raises:
            ConfigError: The account does not see it, or cannot list channels; the text says which.
        """
        account = AccountId(member.account)
        channels = self._connectors[account].abilities.channels
        if channels and (channel := channels.with_id(member.channel, member.workspace)):
            return channel
        key = f"{_SHELF}{member.workspace or ''}/{member.channel}"
        try:
            listed = await self._channels(account)
        except BridgeError as error:
            remembered = await self._remembered(member, key, error)
            return channel_of_key(remembered)
        try:
            channel_ref = _choose(member, listed)
        except ConfigError:
            remembered = (await self._values(account)).get(key)
            renamed = listed.by_key.get(remembered or "")
            if renamed is None:
                raise
            log.warning("channel_renamed", channel=member.channel, name=renamed.name)
            return renamed.ref
        await self._remember(account, key, channel_ref.key)
        return channel_ref

    async def find_all(self, member: MemberSettings) -> list[tuple[ChannelRef, str]]:
        """All channels that the pattern matches and the bot may use, with their names.

        Raises:
            ConfigError: The account cannot list channels.
        """
        account = AccountId(member.account)
        key = f"{_PATTERN_SHELF}{member.workspace or ''}/{member.category or ''}/{member.channel}"
        try:
            listed = await self._channels(account)
        except BridgeError as error:
            remembered = json.loads(await self._remembered(member, key, error))
            return [(channel_of_key(channel_key), name) for channel_key, name in remembered]
        matching = _matching(member, listed)
        stored_list = json.dumps([(channel.key, name) for channel, name in matching])
        await self._remember(account, key, stored_list)
        return matching

    async def _remember(self, account: AccountId, key: str, value: str) -> None:
        """Let `close` store a value, unless it is stored already."""
        if (await self._values(account)).get(key) != value:
            self._found.setdefault(account, {})[key] = value

    async def _values(self, account: AccountId) -> Mapping[str, str]:
        """What is remembered of the account's channels: all of it is read at once, because a read
        for each room takes seconds for ten thousand."""
        if account not in self._stored:
            values: dict[str, str] = {}
            for shelf in (_SHELF, _PATTERN_SHELF, _NAME_SHELF):
                values |= await self._store.values(account, shelf)
            self._stored[account] = values
        return self._stored[account]

    async def _remembered(self, member: MemberSettings, key: str, error: BridgeError) -> str:
        """The result of an earlier look-up. Raises ConfigError with `error` if there is none."""
        value = (await self._values(AccountId(member.account))).get(key)
        if value is None:
            raise ConfigError(
                f"Cannot look for {member.channel!r} of account {member.account!r}: {error}"
            ) from error
        log.warning("channel_cache_used", account=member.account, channel=member.channel)
        return value

    async def name_of(self, account: AccountId, channel: ChannelRef) -> str:
        """The channel's name, as the account last saw it; empty if it never did."""
        key = f"{_NAME_SHELF}{channel.key}"
        try:
            listed = await self._channels(account)
        except BridgeError:
            return (await self._values(account)).get(key, "")
        channel_info = listed.by_ref.get(channel)
        if channel_info is None or not channel_info.name:
            return ""
        await self._remember(account, key, channel_info.name)
        return channel_info.name

    async def close(self) -> None:
        """Remember what was found. Raises StoreError."""
        for task in self._listing.values():
            task.cancel()
        for account, values in self._found.items():
            await self._store.put_values(account, values)

    async def _channels(self, account: AccountId) -> Listed:
        if account not in self._listing:
            self._listing[account] = asyncio.create_task(self._list(account))
        return await self._listing[account]

    async def _list(self, account: AccountId) -> Listed:
        async with self._turns:
            return await _list(self._connectors[account], self._known.get(account))


async def remembered_channel(member: MemberSettings, store: KeyValueAccess) -> str:
    """The key of the channel that the member named when it was last looked up; else empty."""
    key = f"{_SHELF}{member.workspace or ''}/{member.channel}"
    return await store.get_value(AccountId(member.account), key) or ""


async def remembered_name(key: str, accounts: Iterable[str], store: KeyValueAccess) -> str:
    """The name of the channel with this key, as one of the accounts last saw it; else empty."""
    for account in accounts:
        if name := await store.get_value(AccountId(account), f"{_NAME_SHELF}{key}"):
            return name
    return ""


def _matching(member: MemberSettings, listed: Listed) -> list[tuple[ChannelRef, str]]:
    """The channels that match the pattern and that the bot may use."""
    name = member.channel.removeprefix("#").casefold()
    matching = [
        channel_info
        for channel_info in _within(member, listed)
        if matches(name, channel_info.name.casefold())
    ]
    group = member.category
    if group is not None:
        matching = [
            channel_info
            for channel_info in matching
            if matches(group.casefold(), channel_info.group.casefold())
        ]
    return [(channel_info.ref, channel_info.name) for channel_info in matching if channel_info.ours]


async def _list(connector: Connector, known: Listed | None) -> Listed:
    """`known` if the connector still sees the same channels."""
    channels = connector.abilities.channels
    try:
        async with asyncio.timeout(_DEADLINE):
            visible = () if channels is None else await channels.visible()
    except TimeoutError:
        raise BridgeError(f"no list of channels within {_DEADLINE:g} s") from None
    return await asyncio.to_thread(_indexed, visible, known)


def _indexed(visible: Sequence[ChannelInfo], known: Listed | None) -> Listed:
    return known if known is not None and known.all == tuple(visible) else Listed(visible)


def _within(member: MemberSettings, listed: Listed) -> Sequence[ChannelInfo]:
    """The channels in the member's workspace, if it names one. Raises ConfigError if there are
    none."""
    if not member.workspace:
        return listed.all
    channels = listed.by_workspace.get(member.workspace.casefold(), ())
    if listed.all and not channels:
        workspaces = sorted({f"{c.workspace_name!r} ({c.ref.workspace})" for c in listed.all})
        raise ConfigError(
            f"Account {member.account!r} sees no workspace {member.workspace!r}; it sees "
            f"{', '.join(workspaces[:20])}. Correct `workspace:`, or invite the bot there"
        )
    return channels


def _choose(member: MemberSettings, listed: Listed) -> ChannelRef:
    name = member.channel.removeprefix("#")
    within = _within(member, listed)
    candidates = _of_workspace(member, listed.by_id.get(member.channel, ()))
    candidates = candidates or _of_workspace(member, listed.by_name.get(name.casefold(), ()))
    if len(candidates) == 1:
        return candidates[0].ref
    if not candidates:
        names = listed.named(member, within)
        raise ConfigError(
            f"There is no channel {member.channel!r} that account {member.account!r} can see; it "
            f"sees: {names}. Invite the bot there, or correct the name"
        )
    where = ", ".join(sorted(c.workspace_name or c.ref.workspace for c in candidates))
    raise ConfigError(
        f"The channel {member.channel!r} of account {member.account!r} is in several places: "
        f"{where}. Select one with `workspace:`, or give the channel's id"
    )


def _of_workspace(member: MemberSettings, channels: Sequence[ChannelInfo]) -> Sequence[ChannelInfo]:
    if not member.workspace:
        return channels
    workspace = member.workspace.casefold()
    return [
        channel for channel in channels
        if workspace in (channel.ref.workspace.casefold(), channel.workspace_name.casefold())
    ]  # fmt: skip
