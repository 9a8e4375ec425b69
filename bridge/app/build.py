"""Settings -> a bridge that is ready to run: the only file that knows every part."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

import structlog

from bridge.app.origin import check_one_place
from bridge.app.places import Places
from bridge.app.settings import MemberSettings, Settings
from bridge.app.shelves import AccountShelf, Overlay, Shelves
from bridge.app.tokens import Tokens
from bridge.errors import ConfigError
from bridge.model import AccountId, ChannelRef, RoomId
from bridge.ports.agent import Agent
from bridge.ports.clock import Clock, SystemClock
from bridge.ports.connector import Connector, ConnectorTools
from bridge.ports.discovery import agent_type, connector_type
from bridge.ports.store import Store
from bridge.ports.tokens import TokenSource
from bridge.router import AgentSeat, Member, Policy, Room, Rooms, Router
from bridge.store.seal import load_or_make_key, text_to_key
from bridge.store.sqlite import open_sqlite

log = structlog.get_logger()

KEY_VARIABLE = "UACS_BRIDGE_KEY"


@dataclass
class Bridge:
    """All parts, put together. `problems` are what the configuration wanted and could not be had;
    the rest runs."""

    settings: Settings
    store: Store
    connectors: dict[AccountId, Connector]
    agents: dict[str, Agent]
    rooms: Rooms
    router: Router
    clock: Clock
    problems: list[str]

    async def close(self) -> None:
        for connector in self.connectors.values():
            await connector.close()
        await self.store.close()


@dataclass(frozen=True)
class _AgentTools:
    clock: Clock
    tokens: TokenSource


async def build(settings: Settings) -> Bridge:
    """Open the store, build accounts and agents, find the channels. Raises ConfigError."""
    check_one_place()
    clock = SystemClock()
    store = await open_store(settings, clock)
    connectors: dict[AccountId, Connector] = {}
    try:
        connectors = build_connectors(settings, store, clock)
        tools = _AgentTools(clock, Tokens(store))
        agents = {
            name: agent_type(entry.kind).build(name, entry.options, tools)
            for name, entry in settings.agents.items()
        }
        problems: list[str] = []
        rooms = await find_rooms(settings, connectors, store, problems)
    except BaseException:
        for connector in connectors.values():
            await connector.close()
        await store.close()
        raise
    router = Router(
        store=store, connectors=connectors, rooms=rooms, agents=agents, clock=clock,
        policy=policy_of(settings),
    )  # fmt: skip
    return Bridge(settings, store, connectors, agents, rooms, router, clock, problems)


async def open_store(settings: Settings, clock: Clock) -> Store:
    """The store of these settings, with its key."""
    path = settings.store.path
    return await open_sqlite(
        path, clock=clock, key=key_for(path), synchronous=settings.store.synchronous
    )


def key_for(store: Path) -> bytes:
    """The key that seals secrets: from the environment, else a file beside the store."""
    if text := os.environ.get(KEY_VARIABLE):
        return text_to_key(text)
    return load_or_make_key(store.with_suffix(".key"))


def known_key(store: Path) -> bytes | None:
    """The key that there is; None where none was made yet. For those who only look."""
    if os.environ.get(KEY_VARIABLE) or store.with_suffix(".key").exists():
        return key_for(store)
    return None


def build_connectors(
    settings: Settings,
    store: Store | None,
    clock: Clock,
    only: Collection[str] | None = None,
    shelves: Shelves | None = None,
) -> dict[AccountId, Connector]:
    """One connector for each account (or for `only` these); only their platforms are imported."""
    tokens = Tokens(store)
    shelves = shelves or store or Overlay(None)
    built: dict[AccountId, Connector] = {}
    for name, entry in settings.accounts.items():
        if only is not None and name not in only:
            continue
        account = AccountId(name)
        tools = ConnectorTools(
            clock=clock,
            tokens=tokens,
            shelf=AccountShelf(shelves, account),
            public_url=settings.web.public_url,
        )
        built[account] = connector_type(entry.platform).build(account, entry.options, tools)
    return built


async def find_rooms(
    settings: Settings,
    connectors: Mapping[AccountId, Connector],
    store: Store,
    problems: list[str],
) -> Rooms:
    """The rooms with their channels; a channel that is not found is left out and reported."""
    ids = await store.room_ids([RoomId(name) for name in settings.rooms])
    places = Places(connectors, store)
    rooms: list[Room] = []
    accounts: dict[ChannelRef, str] = {}
    for name, entry in settings.rooms.items():
        members: list[Member] = []
        for wanted in entry.members:
            try:
                channel = await places.find(wanted)
                check_once(wanted, channel, accounts, [m.channel for m in members])
            except ConfigError as error:
                problems.append(f"room {name!r}: {error}")
                log.error("channel_not_found", room=name, error=str(error))  # noqa: TRY400
            else:
                members.append(Member(AccountId(wanted.account), channel, wanted.flow))
        seats = tuple(AgentSeat(seat.agent, seat.listen) for seat in entry.agents)
        rooms.append(Room(RoomId(name), ids[RoomId(name)], tuple(members), seats))
    await places.close()
    return Rooms(rooms)


def check_once(
    wanted: MemberSettings,
    channel: ChannelRef,
    accounts: dict[ChannelRef, str],
    here: Collection[ChannelRef],
) -> None:
    """Raises ConfigError for a channel that is in this room already, or belongs to another
    account: each of the two would take the other's posts for a stranger's and carry them on."""
    if channel in here:
        raise ConfigError(f"channel {wanted.channel!r} is in this room already; remove one line")
    account = accounts.setdefault(channel, wanted.account)
    if account != wanted.account:
        raise ConfigError(
            f"channel {wanted.channel!r} of account {wanted.account!r} is the one that account "
            f"{account!r} speaks in already; give it one account in all rooms"
        )


def policy_of(settings: Settings) -> Policy:
    delivery = settings.delivery
    return Policy(
        settle_grace=delivery.settle_grace,
        send_deadline=delivery.send_deadline,
        longest_backoff=delivery.longest_backoff,
        turn_idle=delivery.agent_idle,
        drain=delivery.drain,
    )
