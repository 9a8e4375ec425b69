"""Names and pictures of people: remembered, stored, and looked up where a payload has none."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import structlog

from bridge.content.text.names import display_name
from bridge.errors import PlatformError
from bridge.model import AccountId, ActorId, Person, split_key
from bridge.ports.clock import Clock
from bridge.ports.connector import Connector
from bridge.ports.store.authors import AuthorStore

log = structlog.get_logger()

_FRESH = 3600.0  # seconds for which a looked-up person is not looked up again
_FAILED = 60.0  # ... and one who could not be looked up
_DEADLINE = 5.0  # seconds a message waits for its author's name
_REMEMBERED = 10_000


class People:
    """A cache in front of the store and the platforms; two processes may each have one."""

    def __init__(
        self, store: AuthorStore, connectors: Mapping[AccountId, Connector], clock: Clock
    ) -> None:
        self._store = store
        self._connectors = connectors
        self._clock = clock
        self._people: dict[ActorId, tuple[float, Person]] = {}
        self._looked_up: dict[ActorId, tuple[float, Person]] = {}

    async def complete(self, account: AccountId, person: Person) -> tuple[Person, bool]:
        """Return the person with name and picture as far as they are known, and whether anything of
        that is new. Raises StoreError."""
        person = _normalized(person)
        if not is_nameless(person):
            remembered = self._remembered(person.id)
            self._remember(person, _FRESH)
            return person, remembered != person
        if remembered := self._remembered(person.id):
            return remembered, False
        looked_up = self._looked_up.pop(person.id, None)
        if looked_up is None or is_nameless(looked_up[1]):
            looked_up = (0.0, await self._look_up(account, person.id))
        if looked_up[1] is not None:
            self._remember(looked_up[1], _FRESH)
            return looked_up[1], True
        stored = await self._store.person(person.id) or person
        self._remember(stored, _FAILED)
        return stored, False

    async def name_of(self, account: AccountId, person: Person) -> str:
        """Return the person's name; unlike `complete`, nothing is remembered of the person. Raises
        StoreError."""
        person = _normalized(person)
        if not is_nameless(person):
            return person.name
        if person_known := self._remembered(person.id) or await self._store.person(person.id):
            return person_known.name
        until, looked_up = self._looked_up.get(person.id, (0.0, person))
        if until <= self._clock.monotonic():
            looked_up = await self._look_up(account, person.id) or person
            seconds = _FAILED if is_nameless(looked_up) else _FRESH
            if len(self._looked_up) >= _REMEMBERED:
                self._looked_up.pop(next(iter(self._looked_up)))
            self._looked_up[person.id] = (self._clock.monotonic() + seconds, looked_up)
        return looked_up.name

    async def stored_name(self, actor: ActorId) -> str:
        """Return the name as far as it is known without asking a platform; else the id. Raises
        StoreError."""
        person = self._remembered(actor) or await self._store.person(actor)
        return person.name if person else nameless(actor).name

    async def _look_up(self, account: AccountId, actor: ActorId) -> Person | None:
        connector = self._connectors.get(account)
        people = connector.abilities.people if connector else None
        if people is None:
            return None
        try:
            async with asyncio.timeout(_DEADLINE):
                person = await people.person(actor)
                return person and _normalized(person)
        except (PlatformError, TimeoutError) as error:
            log.warning("person_lookup_failed", account=account, actor=actor, error=str(error))
            return None

    def _remembered(self, actor: ActorId) -> Person | None:
        until, person = self._people.get(actor, (0.0, None))
        return person if until > self._clock.monotonic() else None

    def _remember(self, person: Person, seconds: float) -> None:
        if len(self._people) >= _REMEMBERED:
            self._people.pop(next(iter(self._people)))
        self._people[person.id] = (self._clock.monotonic() + seconds, person)


def _normalized(person: Person) -> Person:
    """With a name that is what it looks like."""
    name = display_name(person.name, split_key(person.id)[-1])
    return person if name == person.name else person.model_copy(update={"name": name})


def nameless(actor: ActorId) -> Person:
    """Return a person of whom only the id is known, with the native id as the name."""
    return Person(id=actor, name=split_key(actor)[-1])


def is_nameless(person: Person) -> bool:
    return person.name == split_key(person.id)[-1]
