"""Accounts that are one person's: linked by a command, by a code that the person carries from one
platform to the other, or by an e-mail address that both workspaces vouch for.

Whoever holds a code can link their account to the one that it was made for, so it goes to that
person alone, for a few minutes, once. Addresses are kept as keyed digests.
"""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Mapping

import structlog

from bridge.errors import BridgeError, InvalidData, PlatformError
from bridge.model import AccountId, ActorId, Person, PersonId
from bridge.model.people_records import CODE_WINDOW
from bridge.ports.abilities.people import Emails
from bridge.ports.clock import Clock
from bridge.ports.connector import Connector
from bridge.ports.store.people import PeopleStore
from bridge.router.rooms.codes import digest_of, new_code
from bridge.router.rooms.display_names import DisplayNames
from bridge.router.signals import Signal

log = structlog.get_logger()

CODE_SECONDS = 600.0
_FRESH = 3600.0  # seconds for which it is remembered who an account belongs to
_REMEMBERED = 20_000
_PAUSES = (1.0, 30.0, 0.0)  # seconds after each time that an address was not known
_DEADLINE = 10.0  # seconds that asking for one address may take


class Linking:
    """`email_key` is None where e-mail addresses are nobody's business."""

    def __init__(
        self,
        store: PeopleStore,
        connectors: Mapping[AccountId, Connector],
        names: DisplayNames,
        clock: Clock,
        people_linked: Signal[tuple[ActorId, ...]],
        email_key: bytes | None = None,
    ) -> None:
        self._store = store
        self._connectors = connectors
        self._names = names
        self._clock = clock
        self._email_key = email_key
        self._persons: dict[ActorId, tuple[float, PersonId | None]] = {}
        self._looked_up: set[ActorId] = set()
        self._people_linked = people_linked
        self._tasks: set[asyncio.Task[None]] = set()

    def change_email_key(self, key: bytes | None) -> None:
        """Digest addresses with this key from now on; None: do not look at addresses."""
        self._email_key = key

    async def person_of(self, actor: ActorId) -> PersonId | None:
        """Return the person whose account this is; None for an account that is not linked. Raises
        StoreError."""
        until, person = self._persons.get(actor, (0.0, None))
        now = self._clock.monotonic()
        if until > now:
            return person
        accounts = await self._store.accounts_of(actor)
        person = accounts[0].person if accounts else None
        if len(self._persons) >= _REMEMBERED:
            self._persons.pop(next(iter(self._persons)))
        self._persons[actor] = (now + _FRESH, person)
        return person

    async def link(self, first: ActorId, second: ActorId) -> PersonId:
        """Make two accounts one person's. Returns the person. Raises InvalidData for one and the
        same account, and StoreError."""
        if first == second:
            raise InvalidData(f"{first!r} is one account; name two")
        person = await self._store.link_people(first, second, "command")
        await self._forget(first)
        return person

    async def unlink(self, actor: ActorId) -> bool:
        """Take an account away from its person. Returns whether it was linked. Raises
        StoreError."""
        theirs = [account.actor for account in await self._store.accounts_of(actor)]
        done = await self._store.unlink_person(actor)
        await self._forget_all(theirs)
        return done

    # --- codes ------------------------------------------------------------------------------------

    async def begin_link(self, actor: ActorId) -> str:
        """Return a code for this person alone, as `7F3K-9QXM`, which is good once, for
        CODE_SECONDS. Raises StoreError."""
        code = new_code()
        await self._store.put_link_code(digest_of(code), actor, self._clock.time() + CODE_SECONDS)
        return code

    async def finish_link(self, actor: ActorId, code: str) -> None:
        """Link this account to the account that the code was made for. Raises InvalidData, which
        says what to do, and StoreError."""
        used = await self._store.use_link_code(digest_of(code), actor)
        if used == "linked":
            await self._forget(actor)
        elif used == "own":
            raise InvalidData("This code is your own; give it where your other account is")
        elif used == "too_many":
            minutes = int(CODE_WINDOW // 60)
            raise InvalidData(f"Too many codes were wrong; try again in {minutes} minutes")
        else:
            raise InvalidData("This code is not known, or not good any more; ask for a new one")

    # --- e-mail -----------------------------------------------------------------------------------

    def person_seen(self, account: AccountId, person: Person) -> None:
        """Find out in the background whether other accounts have the e-mail address of this new
        person."""
        if self._email_key is None or person.bot or person.id in self._looked_up:
            return
        connector = self._connectors.get(account)
        emails = connector.abilities.emails if connector else None
        if emails is None:
            return
        if len(self._looked_up) >= _REMEMBERED:
            self._looked_up.clear()
        self._looked_up.add(person.id)
        work = self._link_by_email(emails, person.id, self._email_key)
        task = asyncio.create_task(work, name=f"address of {person.id}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _link_by_email(self, emails: Emails, actor: ActorId, key: bytes) -> None:
        try:
            email = await self._email(emails, actor)
            if email is None or "@" not in email:
                return
            digest = hmac.digest(key, email.strip().casefold().encode(), "sha256").hex()
            for other in await self._store.same_email(actor, digest):
                await self._store.link_people(other, actor, "email")
                await self._forget(actor)
        except (BridgeError, TimeoutError) as error:
            log.warning("account_link_failed", actor=actor, error=str(error))

    async def _email(self, emails: Emails, actor: ActorId) -> str | None:
        """Asked some times: where somebody spoke a moment ago is not known everywhere yet."""
        for pause in _PAUSES:
            try:
                async with asyncio.timeout(_DEADLINE):
                    if email := await emails.email(actor):
                        return email
            except (PlatformError, TimeoutError) as error:
                log.warning("email_lookup_failed", actor=actor, error=type(error).__name__)
            await self._clock.sleep(pause)
        return None

    @property
    def idle(self) -> bool:
        return not self._tasks

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # --- what is remembered -----------------------------------------------------------------------

    async def _forget(self, actor: ActorId) -> None:
        await self._forget_all([account.actor for account in await self._store.accounts_of(actor)])

    async def _forget_all(self, actors: list[ActorId]) -> None:
        for actor in actors:
            self._persons.pop(actor, None)
        self._names.forget(actors)
        await self._people_linked.emit(tuple(actors))
