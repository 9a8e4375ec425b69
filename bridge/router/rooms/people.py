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
        self._known: dict[ActorId, tuple[float, Person]] = {}
        self._asked: dict[ActorId, tuple[float, Person]] = {}

    async def complete(self, account: AccountId, person: Person) -> tuple[Person, bool]:
        """The person with name and picture as far as anybody knows, and whether that is news."""
        person = _seen(person)
        if not is_nameless(person):
            known = self._remembered(person.id)
            self._remember(person, _FRESH)
            return person, known != person
        if known := self._remembered(person.id):
            return known, False
        found = self._asked.pop(person.id, None)
        if found is None or is_nameless(found[1]):
            found = (0.0, await self._look_up(account, person.id))
        if found[1] is not None:
            self._remember(found[1], _FRESH)
            return found[1], True
        stored = await self._store.person(person.id) or person
        self._remember(stored, _FAILED)
        return stored, False

    async def name_of(self, account: AccountId, person: Person) -> str:
        """As `complete`, for whoever only asks: nobody is known because of it."""
        person = _seen(person)
        if not is_nameless(person):
            return person.name
        if known := self._remembered(person.id) or await self._store.person(person.id):
            return known.name
        until, found = self._asked.get(person.id, (0.0, person))
        if until <= self._clock.monotonic():
            found = await self._look_up(account, person.id) or person
            seconds = _FAILED if is_nameless(found) else _FRESH
            if len(self._asked) >= _REMEMBERED:
                self._asked.pop(next(iter(self._asked)))
            self._asked[person.id] = (self._clock.monotonic() + seconds, found)
        return found.name

    async def stored_name(self, actor: ActorId) -> str:
        """As far as it is known without asking a platform; else the id."""
        known = self._remembered(actor) or await self._store.person(actor)
        return known.name if known else nameless(actor).name

    async def _look_up(self, account: AccountId, actor: ActorId) -> Person | None:
        connector = self._connectors.get(account)
        people = connector.abilities.people if connector else None
        if people is None:
            return None
        try:
            async with asyncio.timeout(_DEADLINE):
                found = await people.person(actor)
                return found and _seen(found)
        except (PlatformError, TimeoutError) as error:
            log.warning("person_lookup_failed", account=account, actor=actor, error=str(error))
            return None

    def _remembered(self, actor: ActorId) -> Person | None:
        until, person = self._known.get(actor, (0.0, None))
        return person if until > self._clock.monotonic() else None

    def _remember(self, person: Person, seconds: float) -> None:
        if len(self._known) >= _REMEMBERED:
            self._known.pop(next(iter(self._known)))
        self._known[person.id] = (self._clock.monotonic() + seconds, person)


def _seen(person: Person) -> Person:
    """With a name that is what it looks like."""
    name = display_name(person.name, split_key(person.id)[-1])
    return person if name == person.name else person.model_copy(update={"name": name})


def nameless(actor: ActorId) -> Person:
    """Somebody of whom only the id is known: the native id stands for the name."""
    return Person(id=actor, name=split_key(actor)[-1])


def is_nameless(person: Person) -> bool:
    return person.name == split_key(person.id)[-1]
