"""Contract suite for stores, part: expected messages of a channel, and orphans."""

from __future__ import annotations

from bridge.model.admission import Admission
from bridge.model.archive_records import Change, ExpectedMessage, Orphan
from bridge.ports.store.whole import Store
from bridge.testing.clock import START, ManualClock
from bridge.testing.store_contract import (
    AWAY,
    FAR,
    HOME,
    admit,
    begin_and_settle,
    copy,
    drain_lane,
    edit,
    edit_admission,
    new_message,
    post,
    raw,
)


class CatchUpContract:
    """Inherit it beside `StoreContract`; it needs the fixtures `store` and `clock`."""

    async def test_expected_messages_of_a_channel_are_listed_newest_first(
        self, store: Store, clock: ManualClock
    ) -> None:
        old, root = new_message("m1", time=START - 50), new_message("m2", time=START)
        answer = new_message("m3", time=START + 5, thread="m2", root="m2")
        for new in (old, root, answer):
            await admit(store, new)
        await store.admit(edit_admission(root, "changed", START + 7))

        assert await store.expected_messages(HOME, START - 10, limit=9) == [
            ExpectedMessage("m3", "m2", answer.id, is_original=True, at=START + 5),
            ExpectedMessage("m2", None, root.id, is_original=True, at=START, changed=START + 7),
        ]
        assert [
            message.native_id for message in await store.expected_messages(HOME, 0.0, limit=1)
        ] == ["m3"]
        assert await store.expected_messages(FAR, 0.0, limit=9) == []
        in_thread = await store.expected_messages(HOME, 0.0, limit=9, thread="m2")
        assert [message.native_id for message in in_thread] == ["m3"]

    async def test_expected_messages_include_copies_but_not_deleted_ones(
        self, store: Store
    ) -> None:
        first, second = new_message("m1"), new_message("m2")
        await admit(store, first, post("p1", first))
        await begin_and_settle(store, "p1", copy("x1"), copy("x2", 1))
        await admit(store, second, post("p2", second))
        await begin_and_settle(store, "p2", copy("x3"))
        await store.admit(Admission("deleted", changes=(Change(second.message, "deleted", START),)))

        held = await store.expected_messages(AWAY, 0.0, limit=9)

        assert sorted((message.native_id, message.is_original) for message in held) == [
            ("x1", False),
            ("x2", False),
        ]

    async def test_an_older_edit_of_a_message_admitted_as_edited_is_ignored(
        self, store: Store
    ) -> None:
        new = new_message("m1", "as it is now", changed=START + 5, state="edited")
        await admit(store, new)
        await store.admit(edit_admission(new, "older", START + 4))

        saved = await store.message(new.id)

        assert saved is not None
        assert (saved.message, saved.changed, saved.state) == (new.message, START + 5, "edited")

    async def test_an_edit_that_changes_files_is_not_merged(self, store: Store) -> None:
        new = new_message("m1")
        await admit(store, new)
        plain, files = edit("e1", new), edit("e2", new).model_copy(update={"files_changed": True})
        await store.admit(edit_admission(new, "one", START + 1, plain))
        await store.admit(edit_admission(new, "two", START + 2, files))

        assert await drain_lane(store) == ["e1", "e2"]

    async def test_a_deletion_with_an_older_time_still_counts(self, store: Store) -> None:
        new = new_message("m1")
        await admit(store, new)
        await store.admit(edit_admission(new, "changed", START + 9))
        await store.admit(Admission("deleted", changes=(Change(new.message, "deleted", START),)))

        saved = await store.message(new.id)

        assert saved is not None
        assert saved.state == "deleted"

    async def test_orphans_are_stored_once_listed_newest_first_and_deleted_by_age(
        self, store: Store, clock: ManualClock
    ) -> None:
        row = await store.accept(raw(1), advance=False)
        assert row is not None
        first = Orphan(HOME, "x1", row.id, deletion=True)
        second = Orphan(HOME, "x2", row.id)
        await store.admit(Admission("orphan", row=row.id, orphans=(first, first)))
        clock.now += 10
        await store.admit(Admission("orphan", orphans=(second, first)))

        assert await store.orphans(0.0, limit=9) == [second, first]
        assert await store.orphans(START + 5, limit=9) == [second]
        assert await store.orphans(0.0, limit=1) == [second]
        await store.forget_orphans(START + 5)
        assert await store.orphans(0.0, limit=9) == [second]

    async def test_a_finished_row_can_be_read_again(self, store: Store) -> None:
        row = await store.accept(raw(1), advance=False)
        assert row is not None
        await store.admit(Admission("orphan", row=row.id))

        assert await store.inbox_row(row.id) == row
        assert await store.inbox_row(row.id + 1) is None
