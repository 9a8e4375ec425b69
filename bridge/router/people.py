"""Names and pictures of people: remembered, stored, and looked up where a payload has none."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import structlog

from bridge.content.mentions import mentioned_actors, rename_mentions
from bridge.content.names import shown_name
from bridge.errors import PlatformError
from bridge.model import AccountId, ActorId, Person, split_key
from bridge.ports.clock import Clock
from bridge.ports.connector import Connector, KnowsPeople
from bridge.ports.store import Store
from bridge.uacs import Message, TextPart

log = structlog.get_logger()

_FRESH = 3600.0  # seconds for which a looked-up person is not looked up again
_FAILED = 60.0  # ... and one who could not be looked up
_DEADLINE = 5.0  # seconds a message waits for its author's name, and for those in its text
_MOST_NAMES = 100  # mentions of one message that are given their names
_REMEMBERED = 10_000


class People:
    """A cache in front of the store and the platforms; two processes may each have one."""

    def __init__(
        self, store: Store, connectors: Mapping[AccountId, Connector], clock: Clock
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

    async def named(self, account: AccountId, message: Message) -> Message:
        """The message with those whom its text mentions under the names that people know."""
        texts = [part.text for part in message.content if isinstance(part, TextPart)]
        actors = tuple(dict.fromkeys(actor for text in texts for actor in mentioned_actors(text)))
        if not actors:
            return message
        names = await self.names(account, actors)
        content = tuple(
            part.model_copy(update={"text": rename_mentions(part.text, names)})
            if isinstance(part, TextPart)
            else part
            for part in message.content
        )
        return message.model_copy(update={"content": content})

    async def names(self, account: AccountId, actors: tuple[ActorId, ...]) -> dict[ActorId, str]:
        """Names of those who have one, as far as they are found in time: a message full of
        mentions must not hold its channel."""
        found: dict[ActorId, str] = {}
        try:
            async with asyncio.timeout(_DEADLINE):
                for actor in actors[:_MOST_NAMES]:
                    person, _ = await self.complete(account, nameless(actor))
                    if not is_nameless(person):
                        found[actor] = person.name
        except TimeoutError:
            log.warning("names_not_found", account=account, found=len(found), wanted=len(actors))
        return found

    async def _look_up(self, account: AccountId, actor: ActorId) -> Person | None:
        connector = self._connectors.get(account)
        if not isinstance(connector, KnowsPeople):
            return None
        try:
            async with asyncio.timeout(_DEADLINE):
                found = await connector.person(actor)
                return found and _seen(found)
        except (PlatformError, TimeoutError) as error:
            log.warning("person_not_found", account=account, actor=actor, error=str(error))
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
    name = shown_name(person.name, split_key(person.id)[-1])
    return person if name == person.name else person.model_copy(update={"name": name})


def nameless(actor: ActorId) -> Person:
    """Somebody of whom only the id is known: the native id stands for the name."""
    return Person(id=actor, name=split_key(actor)[-1])


def is_nameless(person: Person) -> bool:
    return person.name == split_key(person.id)[-1]
