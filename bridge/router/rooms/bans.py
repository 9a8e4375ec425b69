"""What was decided about rooms while the bridge runs: who is barred, and what is paused.

Read from the store at the start; whatever changes is written there first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Protocol

from bridge.model import ActorId, Deletion, Event, MessagePosted, RoomId
from bridge.model.room_records import Ban, BanReason, RoomPause
from bridge.ports.clock import Clock
from bridge.ports.store.people import PeopleStore
from bridge.ports.store.rooms import RoomStore
from bridge.router.rooms.accounts import all_accounts
from bridge.router.signals import Signal

_BAN_TEXTS = {"banned": "its author is banned", "opted_out": "its author opted out"}


class _DecidedStore(PeopleStore, RoomStore, Protocol):
    """What `BansAndPauses` needs of the store."""


class BansAndPauses:
    """Knows who may not write in which room, and which rooms are paused. It caches the store, so a
    question costs one look into a dict."""

    def __init__(
        self, store: _DecidedStore, clock: Clock, people_linked: Signal[tuple[ActorId, ...]]
    ) -> None:
        self._store = store
        self._clock = clock
        self._all_bans: list[Ban] = []
        self._bans: Mapping[ActorId, list[Ban]] = {}
        self._paused: dict[RoomId, RoomPause] = {}
        people_linked.subscribe(self._linked)

    async def _linked(self, _actors: tuple[ActorId, ...]) -> None:
        await self.load()

    async def load(self) -> None:
        """Read bans and pauses from the store. A ban holds for all accounts of the person, those
        linked later included. Raises StoreError."""
        self._all_bans = list(await self._store.bans())
        bans_of: defaultdict[ActorId, list[Ban]] = defaultdict(list)
        for ban in self._all_bans:
            for account in await all_accounts(self._store, ban.actor):
                bans_of[account].append(ban)
        self._bans = bans_of
        self._paused = {
            paused_room.room: paused_room for paused_room in await self._store.paused_rooms()
        }

    def refuses(self, event: Event, room: RoomId) -> str:
        """Return why the room does not let the event in; empty where nothing forbids it. Deletions
        always pass."""
        if not self._bans and not self._paused:
            return ""
        if isinstance(event, Deletion):
            return ""
        if self.paused(room):
            return "the room is paused"
        actor: ActorId | None = (
            event.author.id if isinstance(event, MessagePosted) else getattr(event, "actor", None)
        )
        return self._ban_reason(actor, room) if actor else ""

    def refuses_actor(self, actor: ActorId, room: RoomId) -> str:
        """Return why the room lets nothing of this account in; empty where nothing forbids it."""
        return "the room is paused" if self.paused(room) else self._ban_reason(actor, room)

    def _ban_reason(self, actor: ActorId, room: RoomId) -> str:
        bans = self._bans.get(actor, ())
        reason = next((ban.reason for ban in bans if ban.room in (None, room)), None)
        return _BAN_TEXTS[reason] if reason else ""

    def is_banned(self, actor: ActorId, room: RoomId) -> bool:
        """Whether the account is banned in the room."""
        return any(ban.room in (None, room) for ban in self._bans.get(actor, ()))

    def paused(self, room: RoomId) -> RoomPause | None:
        """Return the pause of the room; None where it is not paused any more."""
        pause = self._paused.get(room)
        if pause is not None and pause.until is not None and pause.until <= self._clock.time():
            del self._paused[room]
            return None
        return pause

    def bans(self) -> list[Ban]:
        """Return all bans."""
        return self._all_bans

    async def ban(self, actor: ActorId, reason: BanReason, by: str, room: RoomId | None) -> None:
        """Ban a person in one room, or (None) in all, under all accounts. Raises StoreError."""
        for account in await all_accounts(self._store, actor):
            await self._store.put_ban(Ban(account, reason, by, self._clock.time(), room))
        await self.load()

    async def unban(self, actor: ActorId, reason: BanReason, room: RoomId | None) -> bool:
        """End a ban. Returns whether there was one. Raises StoreError."""
        accounts = await all_accounts(self._store, actor)
        was_banned = [await self._store.remove_ban(room, account, reason) for account in accounts]
        await self.load()
        return any(was_banned)

    async def set_blocked(
        self, actor: ActorId, by: str, room: RoomId | None, *, blocked: bool
    ) -> bool:
        """Block a person, or end that. Returns whether the person is, or was, blocked there. Raises
        StoreError."""
        if not blocked:
            return await self.unban(actor, "banned", room)
        await self.ban(actor, "banned", by, room)
        return True

    async def pause(self, room: RoomId, reason: str, by: str, seconds: float | None = None) -> None:
        """Pause the room for some seconds, or (None) until it is resumed. Raises StoreError."""
        now = self._clock.time()
        until = None if seconds is None else now + seconds
        await self._store.pause_room(RoomPause(room, reason, by, now, until))
        await self.load()

    async def resume(self, room: RoomId) -> bool:
        """End the pause of the room. Returns whether it was paused. Raises StoreError."""
        was = self.paused(room) is not None
        await self._store.resume_room(room)
        await self.load()
        return was
