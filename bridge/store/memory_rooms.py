"""The in-memory twin's part on rooms. For tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bridge.model import ActorId, RoomId
from bridge.ports.clock import Clock
from bridge.ports.store import Barred, BarredWhy, Paused, RoomForm, RoomLink, RoomStanding


@dataclass
class _Period:
    member: str
    joined: float
    since: int
    until: int | None = None


class MemoryRooms:
    """What `bridge.store.rooms` does, in dicts."""

    _clock: Clock

    def __init__(self) -> None:
        self._barred: dict[tuple[RoomId | None, ActorId, BarredWhy], Barred] = {}
        self._paused: dict[RoomId, Paused] = {}
        self._room_links: dict[tuple[RoomId, str], RoomLink] = {}
        self._epochs: dict[RoomId, tuple[int, str]] = {}
        self._periods: dict[RoomId, list[_Period]] = {}

    def _must_be_open(self) -> None:
        raise NotImplementedError

    async def bar(self, barred: Barred) -> None:
        self._must_be_open()
        self._barred[barred.room, barred.actor, barred.why] = barred

    async def unbar(self, room: RoomId | None, actor: ActorId, why: BarredWhy) -> bool:
        self._must_be_open()
        return self._barred.pop((room, actor, why), None) is not None

    async def barred(self) -> Sequence[Barred]:
        return sorted(self._barred.values(), key=lambda one: (one.at, one.room or "", one.actor))

    async def pause_room(self, paused: Paused) -> None:
        self._must_be_open()
        self._paused[paused.room] = paused

    async def resume_room(self, room: RoomId) -> bool:
        self._must_be_open()
        return self._paused.pop(room, None) is not None

    async def paused_rooms(self) -> Sequence[Paused]:
        return sorted(self._paused.values(), key=lambda one: one.room)

    async def link_channel(self, link: RoomLink) -> None:
        self._must_be_open()
        self._room_links[link.room, link.channel.key] = link

    async def room_links(self) -> Sequence[RoomLink]:
        found = self._room_links.values()
        return sorted(found, key=lambda one: (one.at, one.room, one.channel.key))

    async def stand_rooms(self, forms: Sequence[RoomForm]) -> Sequence[RoomStanding]:
        self._must_be_open()
        return [self._stand(form) for form in forms]

    def _stand(self, form: RoomForm) -> RoomStanding:
        epoch, digest = self._epochs.get(form.room, (0, ""))
        if digest != form.digest:
            epoch += 1
            self._epochs[form.room] = epoch, form.digest
        periods = self._periods.setdefault(form.room, [])
        first = not periods
        known = {one.member: one for one in periods if one.until is None}
        for gone in known.keys() - set(form.members):
            known[gone].until = epoch
        for new in form.members:
            if new not in known:
                joined = 0.0 if first else self._clock.time()
                known[new] = _Period(new, joined, 0 if first else epoch)
                periods.append(known[new])
        return RoomStanding(epoch, {one: known[one].joined for one in form.members})

    def _was_member(self, room: str, member: str, epoch: int | None) -> bool:
        """Whether it was in the room under this configuration."""
        return any(
            one.member == member
            and one.since <= (epoch or 0)
            and (one.until is None or one.until > (epoch or 0))
            for one in self._periods.get(RoomId(room), ())
        )
