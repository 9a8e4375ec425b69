"""Every view of the archive says where a message belongs and what happened to it."""

from __future__ import annotations

from typing import Any, cast

from bridge.archive.additions import with_additions
from bridge.content.messages.metadata import KEY
from bridge.model import message_id_of
from bridge.model.export_records import ExportedMessage, ImportBatch
from bridge.store import SqliteStore
from bridge.testing.clock import ManualClock
from tests.archive.conversation import BOB, a_conversation, exported


async def test_threads_replies_edits_reactions_and_pins_are_in_the_metadata() -> None:
    store = SqliteStore.in_memory(ManualClock())
    items = tuple(item for item in a_conversation() if isinstance(item, ExportedMessage))
    await store.add_imported(ImportBatch("tin", "tin", messages=items))
    messages = [item.posted.message for item in items]

    shown = await with_additions(store, messages)

    known: dict[str, dict[str, Any]] = {
        message.message_id: cast("dict[str, Any]", (message.metadata or {})[KEY])
        for message in shown
    }
    of = {item.posted.native_id: known[item.posted.message.message_id] for item in items}
    assert all(facts["channel"] and facts["native_id"] for facts in of.values())
    threaded = [item for item in items if item.root]
    for item in threaded:
        root = message_id_of(item.posted.place.channel, item.root or "")
        assert of[item.posted.native_id]["thread_root"] == root
    edited = next(item for item in items if item.posted.edited_at and not item.deleted)
    assert of[edited.posted.native_id]["edited_at"]
    reacted = next(item for item in items if item.reactions)
    assert len(of[reacted.posted.native_id]["reacted"]) == len(reacted.reactions)
    assert sum("pinned" in facts for facts in of.values()) == sum(item.pinned for item in items)
    assert sum("deleted" in facts for facts in of.values()) == sum(item.deleted for item in items)


async def test_a_message_that_the_archive_has_not_stays_as_it_is() -> None:
    store = SqliteStore.in_memory(ManualClock())
    message = exported(1, BOB).posted.message

    assert await with_additions(store, [message]) == (message,)
