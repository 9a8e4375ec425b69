"""Agents that people invite to a room by command, and send away. The store keeps them; they are
added to the configuration whenever it is read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from urllib.parse import urlsplit

import orjson

from bridge.agents.codec.json_values import arr, obj, text
from bridge.agents.openfloor.settings import OpenFloorSettings
from bridge.agents.settings import address_of
from bridge.app.settings.agent_memberships import MembershipSettings
from bridge.app.settings.sections import AgentSettings, Settings
from bridge.content.text.globs import matches
from bridge.errors import ConfigError
from bridge.model import AccountId
from bridge.ports.store.key_values import KeyValueStore

_ACCOUNT, _KEY = AccountId("(guests)"), "all"
_NAME = re.compile(r"[^A-Za-z0-9_-]+")
_LONGEST = 30  # characters of a guest's name
_MOST = 50  # guests of a bridge


@dataclass(frozen=True)
class Guest:
    """An agent in a room; `url` is empty for an agent of the configuration."""

    room: str
    agent: str
    url: str = ""


async def guests_of(store: KeyValueStore) -> tuple[Guest, ...]:
    """Return the guests of all rooms. Raises StoreError."""
    stored = await store.get_value(_ACCOUNT, _KEY)
    values = map(obj, arr(orjson.loads(stored)) if stored else ())
    return tuple(
        Guest(text(one.get("room")), text(one.get("agent")), text(one.get("url"))) for one in values
    )


async def keep_guests(store: KeyValueStore, guests: Sequence[Guest]) -> None:
    """Keep the guests of all rooms. Raises StoreError, and ConfigError for too many."""
    if len(guests) > _MOST:
        raise ConfigError(f"There are {_MOST} guests already; send one away: uninvite NAME")
    value = orjson.dumps([asdict(guest) for guest in guests]).decode()
    await store.put_value(_ACCOUNT, _KEY, value)


def with_guests(settings: Settings, guests: Sequence[Guest]) -> Settings:
    """Return the settings with the guests in their rooms. A guest whose room or agent is gone is
    left out. Pure."""
    agents, rooms = dict(settings.agents), dict(settings.rooms)
    for guest in guests:
        if guest.url:
            agents.setdefault(guest.agent, _agent(guest, settings))
        room = rooms.get(guest.room)
        if room is None or guest.agent not in agents:
            continue
        if guest.agent not in [membership.agent for membership in room.agents]:
            seat = MembershipSettings(agent=guest.agent)
            rooms[guest.room] = room.model_copy(update={"agents": (*room.agents, seat)})
    return settings.model_copy(update={"agents": agents, "rooms": rooms})


def _agent(guest: Guest, settings: Settings) -> AgentSettings:
    private = settings.openfloor.private_addresses
    options = OpenFloorSettings.model_validate({"url": guest.url, "private_addresses": private})
    return AgentSettings(kind="openfloor", options=options)


def check_address(url: str, settings: Settings) -> None:
    """Raise ConfigError unless an agent at this address may be invited."""
    allowed = settings.openfloor.invite
    try:
        host = urlsplit(address_of(url, query=True)).hostname or ""
    except ValueError as error:
        raise ConfigError(f"{url!r} is no address of an agent: it {error}") from None
    if not any(matches(glob, host) for glob in allowed):
        names = ", ".join(allowed) or "no host"
        raise ConfigError(
            f"Agents of {host or url!r} may not be invited; openfloor.invite allows {names}"
        )


def free_name(wanted: str, url: str, agents: Mapping[str, object]) -> str:
    """Return a name for a guest that no agent has: what it calls itself, or its host. Pure."""
    host = (urlsplit(url).hostname or "guest").partition(".")[0]
    name = _NAME.sub("-", wanted).strip("-")[:_LONGEST].casefold() or host
    number, free = 2, name
    while free in agents:
        free, number = f"{name}-{number}", number + 1
    return free
