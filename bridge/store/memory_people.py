"""The in-memory twin's part on who is who. For tests."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import uuid4

from bridge.content.alike import skeleton
from bridge.model import ActorId, Person, PersonId, RoomId
from bridge.ports.clock import Clock
from bridge.ports.store import CODE_TRIES, CODE_WINDOW, CodeUse, HowLinked, LinkedAccount, ShownName


class MemoryPeople:
    """What `bridge.store.people` does, in dicts."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._people: dict[ActorId, Person] = {}
        self._accounts: dict[ActorId, LinkedAccount] = {}
        self._emails: dict[ActorId, str] = {}
        self._codes: dict[ActorId, tuple[str, float]] = {}
        self._attempts: dict[ActorId, tuple[int, float]] = {}
        self._shown: dict[tuple[RoomId, ActorId], ShownName] = {}

    def _must_be_open(self) -> None:
        raise NotImplementedError

    async def people_named(self, name: str) -> Sequence[Person]:
        wanted = skeleton(name)
        found = [one for one in self._people.values() if skeleton(one.name) == wanted]
        return sorted(found, key=lambda one: one.id)[:50]

    async def shown_name(self, room: RoomId, actor: ActorId) -> ShownName | None:
        return self._shown.get((room, actor))

    async def names_like(self, room: RoomId, name: str) -> Sequence[ShownName]:
        wanted = skeleton(name)
        return [
            one
            for one in self._shown.values()
            if one.room == room and wanted in (skeleton(one.name), skeleton(one.shown))
        ]

    async def save_names(self, names: Sequence[ShownName]) -> None:
        self._must_be_open()
        for one in names:
            self._shown[one.room, one.actor] = one

    async def accounts_of(self, actor: ActorId) -> Sequence[LinkedAccount]:
        if (known := self._accounts.get(actor)) is None:
            return ()
        return [one for one in await self.linked_accounts() if one.person == known.person]

    async def linked_accounts(self) -> Sequence[LinkedAccount]:
        return sorted(self._accounts.values(), key=lambda one: (one.person, one.actor))

    async def link_people(self, one: ActorId, other: ActorId, how: HowLinked) -> PersonId:
        self._must_be_open()
        known, theirs = self._accounts.get(one), self._accounts.get(other)
        person = known.person if known else theirs.person if theirs else PersonId(uuid4().hex)
        now = self._clock.time()
        for account in list(self._accounts.values()):
            if theirs is not None and account.person == theirs.person:
                moved = LinkedAccount(account.actor, person, account.how, account.linked)
                self._accounts[account.actor] = moved
        for actor in (one, other):
            self._accounts.setdefault(actor, LinkedAccount(actor, person, how, now))
        self._decide_names_anew(person)
        return person

    async def unlink_person(self, actor: ActorId) -> bool:
        self._must_be_open()
        account = self._accounts.get(actor)
        if account is None:
            return False
        self._decide_names_anew(account.person)
        del self._accounts[actor]
        left = [one for one in self._accounts.values() if one.person == account.person]
        if len(left) == 1:
            del self._accounts[left[0].actor]
        return True

    def _decide_names_anew(self, person: PersonId) -> None:
        theirs = {one.actor for one in self._accounts.values() if one.person == person}
        self._shown = {key: one for key, one in self._shown.items() if one.actor not in theirs}

    async def same_email(self, actor: ActorId, digest: str) -> Sequence[ActorId]:
        self._must_be_open()
        if self._emails.get(actor) == digest:
            return []
        self._emails[actor] = digest
        return sorted(
            one for one, known in self._emails.items() if known == digest and one != actor
        )

    async def put_link_code(self, digest: str, actor: ActorId, expires: float) -> None:
        self._must_be_open()
        self._codes[actor] = (digest, expires)

    async def use_link_code(self, digest: str, actor: ActorId) -> CodeUse:
        self._must_be_open()
        now = self._clock.time()
        failures, since = self._attempts.get(actor, (0, now))
        if now - since >= CODE_WINDOW:
            failures, since = 0, now
        if failures >= CODE_TRIES:
            return "too_many"
        holds = [one for one, code in self._codes.items() if code[0] == digest and code[1] > now]
        if not holds:
            self._attempts[actor] = (failures + 1, since)
            return "wrong"
        if holds[0] == actor:
            return "own"
        del self._codes[holds[0]]
        self._attempts.pop(actor, None)
        await self.link_people(holds[0], actor, "code")
        return "linked"
