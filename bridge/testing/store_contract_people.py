"""Contract suite for stores, part: linked accounts, link codes and display names."""

from __future__ import annotations

from bridge.model import Person, RoomId, actor_id_of
from bridge.model.people_records import CODE_TRIES, CODE_WINDOW, DisplayName
from bridge.ports.store.whole import Store
from bridge.testing.clock import ManualClock

_TIN = actor_id_of("tin", "W1", "U1")
_WIRE = actor_id_of("wire", "W2", "7")
_GLASS = actor_id_of("glass", "W3", "x")
_STRANGER = actor_id_of("tin", "W1", "U9")
_LOBBY = RoomId("lobby")


async def _persons(store: Store) -> list[set[str]]:
    persons: dict[str, set[str]] = {}
    for account in await store.linked_accounts():
        persons.setdefault(account.person, set()).add(account.actor)
    return list(persons.values())


class PeopleContract:
    """Inherited by `StoreContract`."""

    async def test_linked_accounts_are_one_person(self, store: Store) -> None:
        assert not await store.accounts_of(_TIN)

        person = await store.link_people(_TIN, _WIRE, "command")

        for actor in (_TIN, _WIRE):
            accounts = await store.accounts_of(actor)
            assert [(account.actor, account.person, account.how) for account in accounts] == [
                (_TIN, person, "command"),
                (_WIRE, person, "command"),
            ]

    async def test_linking_two_persons_makes_them_one(self, store: Store) -> None:
        other = actor_id_of("glass", "W3", "y")
        await store.link_people(_TIN, _WIRE, "command")
        await store.link_people(_GLASS, other, "email")

        await store.link_people(_WIRE, other, "code")

        assert await _persons(store) == [{_TIN, _WIRE, _GLASS, other}]
        hows = {account.actor: account.how for account in await store.linked_accounts()}
        assert hows == {_TIN: "command", _WIRE: "command", _GLASS: "email", other: "email"}

    async def test_linking_twice_changes_nothing(self, store: Store) -> None:
        await store.link_people(_TIN, _WIRE, "command")
        before = await store.linked_accounts()

        await store.link_people(_WIRE, _TIN, "code")

        assert await store.linked_accounts() == before

    async def test_an_unlinked_account_belongs_to_no_person(self, store: Store) -> None:
        await store.link_people(_TIN, _WIRE, "command")
        await store.link_people(_TIN, _GLASS, "command")

        assert await store.unlink_person(_WIRE)
        assert await _persons(store) == [{_TIN, _GLASS}]

        assert await store.unlink_person(_TIN)
        assert await _persons(store) == []
        assert not await store.unlink_person(_GLASS)

    async def test_accounts_with_the_same_email_are_matched_once(self, store: Store) -> None:
        assert await store.same_email(_TIN, "digest") == []
        assert await store.same_email(_GLASS, "digest") == [_TIN]
        assert await store.same_email(_GLASS, "digest") == []  # reported before
        assert await store.same_email(_GLASS, "another") == []
        assert await store.same_email(_WIRE, "digest") == [_TIN]

    async def test_a_link_code_works_once(self, store: Store, clock: ManualClock) -> None:
        await store.put_link_code("digest", _TIN, clock.time() + 60)

        assert await store.use_link_code("digest", _TIN) == "own"
        assert await store.use_link_code("digest", _WIRE) == "linked"
        assert await store.use_link_code("digest", _GLASS) == "wrong"
        assert await _persons(store) == [{_TIN, _WIRE}]

    async def test_a_link_code_ends_when_it_expires_or_is_replaced(
        self, store: Store, clock: ManualClock
    ) -> None:
        await store.put_link_code("old", _TIN, clock.time() + 60)
        await store.put_link_code("new", _TIN, clock.time() + 60)
        assert await store.use_link_code("old", _WIRE) == "wrong"

        clock.now += 61

        assert await store.use_link_code("new", _WIRE) == "wrong"
        assert await store.linked_accounts() == []

    async def test_too_many_wrong_link_codes_lock_a_person_out_for_a_while(
        self, store: Store, clock: ManualClock
    ) -> None:
        await store.put_link_code("digest", _TIN, clock.time() + 2 * CODE_WINDOW)

        guesses = [await store.use_link_code(f"{n}", _WIRE) for n in range(CODE_TRIES)]

        assert guesses == ["wrong"] * CODE_TRIES
        assert await store.use_link_code("digest", _WIRE) == "too_many"
        assert await store.use_link_code("other", _GLASS) == "wrong"  # nobody else is stopped
        clock.now += CODE_WINDOW
        assert await store.use_link_code("digest", _WIRE) == "linked"

    async def test_names_that_look_alike_are_found(self, store: Store) -> None:
        ann = DisplayName(_LOBBY, _TIN, "Ann", "Ann (Tin)")
        fake = DisplayName(_LOBBY, _WIRE, "\u0410nn", "\u0410nn (Wire)")  # a Cyrillic A
        bob = DisplayName(_LOBBY, _GLASS, "Bob", "Bob")
        elsewhere = DisplayName(RoomId("attic"), _GLASS, "Ann", "Ann")

        await store.save_names([ann, fake, bob, elsewhere])

        assert {entry.actor for entry in await store.names_like(_LOBBY, "ANN")} == {_TIN, _WIRE}
        assert await store.names_like(_LOBBY, "ann (tin)") == [ann]
        assert await store.shown_name(_LOBBY, _GLASS) == bob
        assert await store.shown_name(_LOBBY, _STRANGER) is None

    async def test_a_saved_name_replaces_the_old_one(self, store: Store) -> None:
        await store.save_names([DisplayName(_LOBBY, _TIN, "Ann", "Ann")])
        await store.save_names([DisplayName(_LOBBY, _TIN, "Anna", "Anna")])

        assert await store.names_like(_LOBBY, "Ann") == []
        assert await store.shown_name(_LOBBY, _TIN) == DisplayName(_LOBBY, _TIN, "Anna", "Anna")

    async def test_linking_people_discards_their_display_names(self, store: Store) -> None:
        await store.save_names([
            DisplayName(_LOBBY, _TIN, "Ann", "Ann (Tin)"),
            DisplayName(_LOBBY, _WIRE, "Ann", "Ann (Wire)"),
            DisplayName(_LOBBY, _GLASS, "Ann", "Ann (Glass)"),
        ])  # fmt: skip

        await store.link_people(_TIN, _WIRE, "code")

        assert [entry.actor for entry in await store.names_like(_LOBBY, "Ann")] == [_GLASS]

    async def test_people_are_found_by_names_that_look_alike(self, store: Store) -> None:
        ann = Person(id=_TIN, name="Ann")
        await store.save_person(ann)
        await store.save_person(Person(id=_WIRE, name="Ann"))
        await store.save_person(Person(id=_WIRE, name="Bob"))

        assert await store.people_named("\uff21nn") == [ann]  # a wide A
