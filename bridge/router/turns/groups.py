"""In which groups somebody is, and whether they are a guest: asked of their platform when a seat's
lists name such, and remembered for a minute."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import structlog

from bridge.errors import PlatformError
from bridge.model import AccountId, ActorId, ChannelRef, split_key
from bridge.ports.clock import Clock
from bridge.ports.connector import Connector
from bridge.router.rooms.rooms import Rooms

log = structlog.get_logger()

_SECONDS = 60.0
_MOST = 10_000
_DEADLINE = 5.0

_Key = tuple[ActorId, tuple[str, ...]]


class Memberships:
    """Of everybody who asks an agent."""

    def __init__(
        self, connectors: Mapping[AccountId, Connector], rooms: Rooms, clock: Clock
    ) -> None:
        self._connectors = connectors
        self._rooms = rooms
        self._clock = clock
        self._known: dict[_Key, tuple[float, frozenset[str]]] = {}

    async def of(
        self, actor: ActorId, wanted: Sequence[str], channel: ChannelRef | None
    ) -> frozenset[str] | None:
        """`wanted` are globs; None where the platform does not tell."""
        key = (actor, tuple(wanted))
        until, found = self._known.get(key, (0.0, frozenset[str]()))
        if until > self._clock.monotonic():
            return found
        connector = self._connectors.get(self._account_of(actor, channel) or AccountId(""))
        groups = connector.abilities.groups if connector else None
        if groups is None:
            return frozenset()
        try:
            async with asyncio.timeout(_DEADLINE):
                found = await groups.of_actor(actor, wanted)
        except (PlatformError, TimeoutError) as error:
            log.warning("group_lookup_failed", actor=actor, error=str(error))
            return None
        if len(self._known) >= _MOST:
            self._known.pop(next(iter(self._known)))
        self._known[key] = (self._clock.monotonic() + _SECONDS, found)
        return found

    def _account_of(self, actor: ActorId, channel: ChannelRef | None) -> AccountId | None:
        """Who can see them: an account in their workspace, the one that heard them first of all;
        somebody of another organisation is seen by the one that heard them."""
        platform, *rest = split_key(actor)
        here = channel if channel is not None and channel.platform == platform else None
        if here is not None and [here.workspace] == rest[:1]:
            return self._rooms.account_of(here)
        seen = self._rooms.seen_by(platform, rest[0]) if rest else None
        return seen or (self._rooms.account_of(here) if here is not None else None)
