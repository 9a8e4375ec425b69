"""Contract suite for stores, part: feedback on answers."""

from __future__ import annotations

from dataclasses import replace

from bridge.content.messages.metadata import read_bridge_metadata
from bridge.model import ActorId, actor_id_of
from bridge.model.admission import Admission
from bridge.model.archive_records import NewMessage
from bridge.model.turn_records import MessageRating
from bridge.ports.store.whole import Store
from bridge.testing.clock import START
from bridge.testing.store_contract import HOME, ROOM, admit, new_message

_ANN, _BOB = actor_id_of("tin", "W1", "U1"), actor_id_of("tin", "W1", "U2")


def _admission(
    new: NewMessage, time: float, sense: str = "good", actor: ActorId = _ANN
) -> Admission:
    feedback = MessageRating(
        new.id, actor, "good", "", START + time, HOME, ROOM, pending_agent="bot"
    )
    if sense == "bad":
        feedback = replace(feedback, sense="bad", comment="too long")
    return Admission("feedback", feedback=(feedback,))


async def _stored_feedback(store: Store, new: NewMessage) -> list[tuple[str, str, str]]:
    stored = await store.message(new.id)
    assert stored
    entries = read_bridge_metadata(stored.message)[0].feedback
    return [(entry.actor, entry.sense, entry.comment) for entry in entries]


class FeedbackContract:
    """Inherit it beside `StoreContract`; it needs the fixture `store`."""

    async def test_a_message_has_the_latest_feedback_of_each_person(self, store: Store) -> None:
        new = new_message("m1")
        await admit(store, new)
        for admission in (
            _admission(new, 2, "bad"),
            _admission(new, 1),
            _admission(new, 3, actor=_BOB),
            _admission(new, 2),
        ):
            await store.admit(admission)

        assert await _stored_feedback(store, new) == [(_ANN, "bad", "too long"), (_BOB, "good", "")]

    async def test_an_edit_of_the_answer_keeps_its_feedback(self, store: Store) -> None:
        new = new_message("m1")
        await admit(store, new)
        await store.admit(_admission(new, 1))
        stored = await store.message(new.id)
        assert stored

        await store.change_message(stored.message, "edited", [])
        await store.admit(_admission(new, 2, "bad"))

        assert await _stored_feedback(store, new) == [(_ANN, "bad", "too long")]

    async def test_feedback_is_undelivered_until_its_latest_version_is_delivered(
        self, store: Store
    ) -> None:
        new = new_message("m1")
        await admit(store, new)
        first, later = _admission(new, 1), _admission(new, 2, "bad")
        await store.admit(first)
        await store.admit(later)

        await store.set_feedback_delivered(first.feedback[0])
        assert await store.undelivered_feedback() == list(later.feedback)
        await store.set_feedback_delivered(later.feedback[0])
        assert await store.undelivered_feedback() == []

    async def test_feedback_on_a_deleted_message_is_dropped(self, store: Store) -> None:
        new = new_message("m1")
        await admit(store, new)
        await store.change_message(new.message, "deleted", [])

        await store.admit(_admission(new, 1))

        assert await store.undelivered_feedback() == []
