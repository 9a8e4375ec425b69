"""What was decided about rooms while the bridge runs: who is barred, and what is paused.

Read from the store at the start; whatever changes is written there first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Protocol

from bridge.model import ActorId, Deletion, Event, MessagePosted, RoomId
from bridge.model.room_records import Ban, BanReason, Paused
from bridge.ports.clock import Clock
from bridge.ports.store.people import PeopleStore
from bridge.ports.store.rooms import RoomStore
from bridge.router.signals import Signal

_SAID = {"banned": "its author is banned", "opted_out": "its author opted out"}


class _DecidedStore(PeopleStore, RoomStore, Protocol):
    """What `BansAndPauses` needs of the store."""


class BansAndPauses:
    """A cache in front of the store: to ask costs next to nothing."""

    def __init__(
        self, store: _DecidedStore, clock: Clock, people_linked: Signal[tuple[ActorId, ...]]
    ) -> None:
        self._store = store
        self._clock = clock
        self._all: list[Ban] = []
        self._barred: Mapping[ActorId, list[Ban]] = {}
        self._paused: dict[RoomId, Paused] = {}
        people_linked.subscribe(self._linked)

    async def _linked(self, _actors: tuple[ActorId, ...]) -> None:
        await self.load()

    async def load(self) -> None:
        """Whoever is barred is so under all accounts, those that were linked later included."""
        self._all = list(await self._store.bans())
        barred: defaultdict[ActorId, list[Ban]] = defaultdict(list)
        for one in self._all:
            for account in await self._accounts(one.actor):
                barred[account].append(one)
        self._barred = barred
        self._paused = {one.room: one for one in await self._store.paused_rooms()}

    def refuses(self, event: Event, room: RoomId) -> str:
        """Why the room does not let it in; empty where nothing speaks against it. What is deleted
        is always deleted everywhere."""
        if not self._barred and not self._paused:
            return ""
        if isinstance(event, Deletion):
            return ""
        if self.paused(room):
            return "the room is paused"
        actor = event.author.id if isinstance(event, MessagePosted) else _actor(event)
        return self._bars(actor, room) if actor else ""

    def refuses_actor(self, actor: ActorId, room: RoomId) -> str:
        """Why the room lets nothing of theirs in; empty where nothing speaks against it."""
        return "the room is paused" if self.paused(room) else self._bars(actor, room)

    def _bars(self, actor: ActorId, room: RoomId) -> str:
        known = self._barred.get(actor, ())
        why = next((one.why for one in known if one.room in (None, room)), None)
        return _SAID[why] if why else ""

    def bars(self, actor: ActorId, room: RoomId) -> bool:
        """Whether nothing of theirs comes into the room."""
        return any(one.room in (None, room) for one in self._barred.get(actor, ()))

    def paused(self, room: RoomId) -> Paused | None:
        """How it is paused; a pause whose time is over is none."""
        found = self._paused.get(room)
        if found is not None and found.until is not None and found.until <= self._clock.time():
            del self._paused[room]
            return None
        return found

    def barred(self) -> list[Ban]:
        return self._all

    async def bar(self, actor: ActorId, why: BanReason, by: str, room: RoomId | None) -> None:
        """In one room, or (None) in all. Accounts of the same person are barred with it."""
        for one in await self._accounts(actor):
            await self._store.put_ban(Ban(one, why, by, self._clock.time(), room))
        await self.load()

    async def unbar(self, actor: ActorId, why: BanReason, room: RoomId | None) -> bool:
        """Whether they were barred so."""
        accounts = await self._accounts(actor)
        found = [await self._store.remove_ban(room, one, why) for one in accounts]
        await self.load()
        return any(found)

    async def set_blocked(
        self, actor: ActorId, by: str, room: RoomId | None, *, blocked: bool
    ) -> bool:
        """Block somebody, or take that back. Whether they are, or were, blocked there."""
        if not blocked:
            return await self.unbar(actor, "banned", room)
        await self.bar(actor, "banned", by, room)
        return True

    async def pause(self, room: RoomId, why: str, by: str, seconds: float | None = None) -> None:
        now = self._clock.time()
        until = None if seconds is None else now + seconds
        await self._store.pause_room(Paused(room, why, by, now, until))
        await self.load()

    async def resume(self, room: RoomId) -> bool:
        """Whether it was paused."""
        was = self.paused(room) is not None
        await self._store.resume_room(room)
        await self.load()
        return was

    async def _accounts(self, actor: ActorId) -> set[ActorId]:
        return {actor, *(one.actor for one in await self._store.accounts_of(actor))}


def _actor(event: Event) -> ActorId | None:
    return getattr(event, "actor", None)
