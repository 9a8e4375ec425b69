"""Channels as people name them -> ChannelRefs; names once found are remembered."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence

import structlog

from bridge.app.account_values import KeyValueAccess
from bridge.app.settings.rooms import MemberSettings
from bridge.content.text.globs import matches
from bridge.errors import BridgeError, ConfigError
from bridge.model import AccountId, ChannelRef, channel_of_key
from bridge.ports.abilities.channels import ChannelInfo
from bridge.ports.connector import Connector

log = structlog.get_logger()

_DEADLINE = 20.0  # seconds that a platform may take to list its channels at the start
_SHELF = "channel named "
_PATTERN_SHELF = "channels that match "
_NAME_SHELF = "name of "


class _Listed:
    """The channels that an account sees, indexed once: rooms look theirs up by id or name."""

    def __init__(self, channels: Sequence[ChannelInfo]) -> None:
        self.all = channels
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
        """The first names of the member's workspace, for errors: sorted once."""
        workspace = member.workspace or ""
        if workspace not in self._named:
            names = sorted({f"#{channel.name}" for channel in channels})[:20]
            self._named[workspace] = ", ".join(names) or "none"
        return self._named[workspace]


class Places:
    """Finds the channels of the configuration; asks each account at most once."""

    def __init__(self, connectors: Mapping[AccountId, Connector], store: KeyValueAccess) -> None:
        self._connectors = connectors
        self._store = store
        self._listed: dict[AccountId, asyncio.Task[_Listed]] = {}

    async def find(self, member: MemberSettings) -> ChannelRef:
        """Raises ConfigError that says what the account can see, or why it cannot look."""
        account = AccountId(member.account)
        channels = self._connectors[account].abilities.channels
        if channels and (channel := channels.with_id(member.channel, member.workspace)):
            return channel
        key = f"{_SHELF}{member.workspace or ''}/{member.channel}"
        try:
            known = await self._channels(account)
        except BridgeError as error:
            remembered = await self._remembered(member, key, error)
            return channel_of_key(remembered)
        try:
            found = _choose(member, known)
        except ConfigError:
            remembered = await self._store.get_value(account, key)
            renamed = known.by_key.get(remembered or "")
            if renamed is None:
                raise
            log.warning("channel_renamed", channel=member.channel, name=renamed.name)
            return renamed.ref
        await self._remember(account, key, found.key)
        return found

    async def find_all(self, member: MemberSettings) -> list[tuple[ChannelRef, str]]:
        """All channels of the account that the pattern means and the bot may use, with their
        names. Raises ConfigError where the account cannot look."""
        account = AccountId(member.account)
        key = f"{_PATTERN_SHELF}{member.workspace or ''}/{member.category or ''}/{member.channel}"
        try:
            known = await self._channels(account)
        except BridgeError as error:
            remembered = json.loads(await self._remembered(member, key, error))
            return [(channel_of_key(one), name) for one, name in remembered]
        found = _matching(member, known)
        kept = json.dumps([(channel.key, name) for channel, name in found])
        await self._remember(account, key, kept)
        return found

    async def _remember(self, account: AccountId, key: str, value: str) -> None:
        """What is known already is not written again: one write less for each room and start."""
        if await self._store.get_value(account, key) != value:
            await self._store.put_value(account, key, value)

    async def _remembered(self, member: MemberSettings, key: str, error: BridgeError) -> str:
        """What was found when the account could look. Raises ConfigError where it never could."""
        found = await self._store.get_value(AccountId(member.account), key)
        if found is None:
            raise ConfigError(
                f"Cannot look for {member.channel!r} of account {member.account!r}: {error}"
            ) from error
        log.warning("channel_cache_used", account=member.account, channel=member.channel)
        return found

    async def name_of(self, account: AccountId, channel: ChannelRef) -> str:
        """What people call it, or did when the account last could tell; else empty."""
        key = f"{_NAME_SHELF}{channel.key}"
        try:
            known = await self._channels(account)
        except BridgeError:
            return await self._store.get_value(account, key) or ""
        found = known.by_ref.get(channel)
        if found is None or not found.name:
            return ""
        await self._remember(account, key, found.name)
        return found.name

    async def close(self) -> None:
        for task in self._listed.values():
            task.cancel()

    async def _channels(self, account: AccountId) -> _Listed:
        if account not in self._listed:
            self._listed[account] = asyncio.create_task(_list(self._connectors[account]))
        return await self._listed[account]


async def remembered_channel(member: MemberSettings, store: KeyValueAccess) -> str:
    """The key of the channel that a name or id stood for when it was last looked up; else empty."""
    key = f"{_SHELF}{member.workspace or ''}/{member.channel}"
    return await store.get_value(AccountId(member.account), key) or ""


async def remembered_name(key: str, accounts: Iterable[str], store: KeyValueAccess) -> str:
    """What people call the channel with this key, as one of the accounts last saw it."""
    for account in accounts:
        if name := await store.get_value(AccountId(account), f"{_NAME_SHELF}{key}"):
            return name
    return ""


def _matching(member: MemberSettings, known: _Listed) -> list[tuple[ChannelRef, str]]:
    """Those that the pattern means, and that are ours."""
    name = member.channel.removeprefix("#").casefold()
    found = [
        channel_info
        for channel_info in _within(member, known)
        if matches(name, channel_info.name.casefold())
    ]
    group = member.category
    if group is not None:
        found = [one for one in found if matches(group.casefold(), one.group.casefold())]
    return [(one.ref, one.name) for one in found if one.ours]


async def _list(connector: Connector) -> _Listed:
    channels = connector.abilities.channels
    if channels is None:
        return _Listed(())
    try:
        async with asyncio.timeout(_DEADLINE):
            return _Listed(await channels.visible())
    except TimeoutError:
        raise BridgeError(f"no list of channels within {_DEADLINE:g} s") from None


def _within(member: MemberSettings, known: _Listed) -> Sequence[ChannelInfo]:
    """Those of the workspace that is wanted, if one is. Raises ConfigError for one without any."""
    if not member.workspace:
        return known.all
    found = known.by_workspace.get(member.workspace.casefold(), ())
    if known.all and not found:
        seen = sorted({f"{c.workspace_name!r} ({c.ref.workspace})" for c in known.all})
        raise ConfigError(
            f"Account {member.account!r} sees nothing of a workspace {member.workspace!r}; it sees "
            f"{', '.join(seen[:20])}. Correct `workspace:`, or invite the bot there"
        )
    return found


def _choose(member: MemberSettings, known: _Listed) -> ChannelRef:
    name = member.channel.removeprefix("#")
    within = _within(member, known)
    found = _of_workspace(member, known.by_id.get(member.channel, ()))
    found = found or _of_workspace(member, known.by_name.get(name.casefold(), ()))
    if len(found) == 1:
        return found[0].ref
    if not found:
        seen = known.named(member, within)
        raise ConfigError(
            f"There is no channel {member.channel!r} that account {member.account!r} can see; it "
            f"sees: {seen}. Invite the bot there, or correct the name"
        )
    where = ", ".join(sorted(c.workspace_name or c.ref.workspace for c in found))
    raise ConfigError(
        f"The channel {member.channel!r} of account {member.account!r} is in several places: "
        f"{where}. Say which with `workspace:`, or give the channel's id"
    )


def _of_workspace(member: MemberSettings, channels: Sequence[ChannelInfo]) -> Sequence[ChannelInfo]:
    wanted = (member.workspace or "").casefold()
    return [
        channel for channel in channels
        if not wanted
        or wanted in (channel.ref.workspace.casefold(), channel.workspace_name.casefold())
    ]  # fmt: skip
