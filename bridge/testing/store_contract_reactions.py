"""What every store promises of reactions and pins, as tests; inherit it beside `StoreContract`."""

from __future__ import annotations

from typing import Any

import pytest

from bridge.content.messages.metadata import read_bridge_metadata
from bridge.model import (
    FIRST_SLOT_OF_FILES,
    ActorId,
    AddReaction,
    ChannelRef,
    Loss,
    NoteReactions,
    OperationId,
    PinMessage,
    ReactionOrPin,
    RemoveReaction,
    UnpinMessage,
    actor_id_of,
)
from bridge.model.admission import Admission
from bridge.model.archive_records import ExpectedPin, NewMessage
from bridge.model.outbox_records import Settlement
from bridge.model.reaction_records import CurrentReaction, PinChange, ReactionChange
from bridge.ports.store.whole import Store
from bridge.testing.clock import START
from bridge.testing.store_contract import (
    ACME,
    AWAY,
    FAR,
    HOME,
    ROOM,
    admit,
    carry,
    copy,
    done,
    later,
    new_message,
    post,
)

ANN, BOB = actor_id_of("tin", "W1", "U1"), actor_id_of("tin", "W1", "U2")
PLACES = (HOME, AWAY, FAR)
TARGETS = {HOME.key: "m1", AWAY.key: "x0", FAR.key: "y0"}


def mark(kind: type[Any], name: str, new: NewMessage, channel: ChannelRef, **more: Any) -> Any:
    return kind(
        id=OperationId(name), account=ACME, channel=channel, room=ROOM, message=new.id, **more
    )


def reaction(
    new: NewMessage,
    time: float,
    *,
    emoji: str = "👍",
    actor: ActorId = ANN,
    at: ChannelRef = HOME,
    present: bool = True,
) -> Admission:
    """Somebody reacts to the message at one of its places, or takes it back: `+👍 away 5`."""
    kind, sign = (AddReaction, "+") if present else (RemoveReaction, "-")
    operations = tuple(
        mark(kind, f"{sign}{emoji} {place.channel} {time:g}", new, place, emoji=emoji)
        for place in PLACES
        if place != at
    )
    change = ReactionChange(
        new.id, at, TARGETS[at.key], START + time, present, actor=actor, emoji=emoji,
        operations=operations,
    )  # fmt: skip
    return Admission("reacted", reactions=(change,))


async def standing(store: Store) -> NewMessage:
    """A message of HOME with its copies in AWAY and FAR."""
    new = new_message("m1")
    await admit(store, new, post("p1", new), post("p2", new, FAR))
    await carry(store, "p1", copy("x0"))
    await carry(store, "p2", copy("y0"))
    return new


async def waiting_marks(store: Store) -> list[str]:
    """Ids of what waits in the lanes of marks, in order; ends all of it."""
    names: list[str] = []
    for channel in PLACES:
        while (item := await store.head(channel.reaction_lane)) is not None:
            names.append(item.delivery.operation.id)
            await store.begin(item.delivery.operation.id)
            await store.settle(done(item.delivery.operation.id))
    return names


async def stored_reactions(store: Store, new: NewMessage) -> list[tuple[str, tuple[str, ...]]]:
    stored = await store.message(new.id)
    assert stored
    return [
        (reaction.emoji, reaction.actors)
        for reaction in read_bridge_metadata(stored.message)[0].reactions
    ]


class ReactionsContract:
    """`store` is a fixture of whoever inherits it."""

    async def test_the_first_elsewhere_and_the_last_are_news(self, store: Store) -> None:
        new = await standing(store)

        await store.admit(reaction(new, 1))
        assert await waiting_marks(store) == ["+👍 away 1", "+👍 far 1"]
        await store.admit(reaction(new, 2, actor=BOB))
        assert await waiting_marks(store) == []
        await store.admit(reaction(new, 3, actor=BOB, at=AWAY))
        assert await waiting_marks(store) == ["+👍 home 3"]
        await store.admit(reaction(new, 4, present=False))
        await store.admit(reaction(new, 5, actor=BOB, present=False))

        assert await waiting_marks(store) == ["-👍 away 5"]
        assert await stored_reactions(store, new) == [("👍", (BOB,))]
        assert await store.reactions(new.id) == [CurrentReaction("👍", BOB, AWAY, "x0", START + 3)]

    async def test_what_is_not_later_changes_nothing(self, store: Store) -> None:
        new = await standing(store)

        await store.admit(reaction(new, 5))
        await store.admit(reaction(new, 5, present=False))
        await store.admit(reaction(new, 4, present=False))
        await store.admit(reaction(new, 9, emoji="🎉", present=False))
        await store.admit(reaction(new, 8, emoji="🎉"))

        assert await waiting_marks(store) == ["+👍 away 5", "+👍 far 5"]
        assert await stored_reactions(store, new) == [("👍", (ANN,))]

    async def test_what_is_taken_back_before_it_was_tried_goes_with_it(self, store: Store) -> None:
        new = await standing(store)
        await store.admit(reaction(new, 1))
        await store.begin(OperationId("+👍 away 1"))
        await store.postpone(OperationId("+👍 away 1"), 0.0, "again")

        await store.admit(reaction(new, 2, present=False))

        assert await waiting_marks(store) == ["+👍 away 1", "-👍 away 2"]

    async def test_clearing_beats_what_happened_before(self, store: Store) -> None:
        new = await standing(store)
        clear = ReactionChange(new.id, HOME, "m1", START + 5, present=False)

        await store.admit(Admission("cleared", reactions=(clear,)))
        await store.admit(reaction(new, 4))
        await store.admit(reaction(new, 6, emoji="🎉"))

        assert await stored_reactions(store, new) == [("🎉", (ANN,))]

    async def test_notes_are_queued_with_every_change_and_once(self, store: Store) -> None:
        new = await standing(store)
        for number, who in enumerate((ANN, BOB)):
            note = mark(NoteReactions, f"n{number}", new, AWAY)
            change = ReactionChange(
                new.id, HOME, "m1", START + number, present=True, actor=who, emoji="👍",
                operations=(note,),
            )  # fmt: skip
            await store.admit(Admission("reacted", reactions=(change,)))

        assert await waiting_marks(store) == ["n0"]

    async def test_marks_wait_beside_the_lane_for_their_post(self, store: Store) -> None:
        new = new_message("m1")
        await admit(store, new, post("p1", new))
        await store.admit(reaction(new, 1))

        item = await store.head(AWAY.reaction_lane)
        assert item is not None
        assert (item.delivery.copies, item.post_open) == ((), True)
        await carry(store, "p1", copy("x0"))

        item = await store.head(AWAY.reaction_lane)
        assert item is not None
        assert (item.delivery.copies, item.post_open) == ((copy("x0"),), False)
        assert await store.head(AWAY.lane) is None
        assert AWAY.reaction_lane in await store.open_lanes()

    async def test_reactions_outlive_an_edit_and_end_with_the_message(self, store: Store) -> None:
        new = await standing(store)
        await store.admit(reaction(new, 1))

        await store.admit(later(new, "mended", START + 2))
        assert await stored_reactions(store, new) == [("👍", (ANN,))]
        stored = await store.message(new.id)
        assert stored
        await store.change_message(stored.message, "deleted")

        assert await waiting_marks(store) == []
        await store.admit(reaction(new, 9, emoji="🎉"))
        assert await waiting_marks(store) == []

    async def test_what_was_not_taken_is_known(self, store: Store) -> None:
        new = await standing(store)
        await store.admit(reaction(new, 1))
        await store.admit(reaction(new, 2, emoji="🎉"))
        lost = Loss(path="", kind="mark_refused", what="full", shown_as="a note")
        note = mark(NoteReactions, "n1", new, AWAY)

        await store.begin(OperationId("+👍 away 1"))
        await store.settle(
            Settlement(OperationId("+👍 away 1"), "done", losses=(lost,), then=(note,))
        )
        await store.begin(OperationId("+🎉 away 2"))
        await store.settle(Settlement(OperationId("+🎉 away 2"), "done"))

        assert set(await store.unshown_emoji(new.id, AWAY)) == {"👍"}
        assert set(await store.unshown_emoji(new.id, FAR)) == set()
        item = await store.head(AWAY.reaction_lane)
        assert item is not None
        assert item.delivery.operation == note

    @pytest.mark.parametrize("twice", [1, 2])
    async def test_the_latest_pin_wins(self, store: Store, twice: int) -> None:
        new = await standing(store)

        async def pin(time: float, *, pinned: bool) -> None:
            kind: type[ReactionOrPin] = PinMessage if pinned else UnpinMessage
            operation = mark(kind, f"{kind.__name__} {time:g}", new, AWAY)
            change = PinChange(new.id, pinned, ANN, START + time, (operation,))
            await store.admit(Admission("pinned", pins=(change,)))

        for _ in range(twice):
            await pin(5, pinned=True)
            await pin(4, pinned=False)
        assert await store.pinned_by(new.id) == ANN
        assert await waiting_marks(store) == ["PinMessage 5"]
        await pin(6, pinned=False)

        assert await store.pinned_by(new.id) is None
        assert await waiting_marks(store) == ["UnpinMessage 6"]

    async def test_pins_of_a_channel_are_those_of_messages_that_stand_there(
        self, store: Store
    ) -> None:
        new, other = await standing(store), new_message("m2")
        await admit(store, other)

        for number, message in enumerate((new.id, other.id)):
            change = PinChange(message, True, ANN, START + number)
            await store.admit(Admission("pinned", pins=(change,)))
        unpinned = PinChange(new.id, False, BOB, START + 5)
        await store.admit(Admission("unpinned", pins=(unpinned,)))

        assert await store.pins(HOME) == [
            ExpectedPin("m1", None, new.id, False, BOB, START + 5),
            ExpectedPin("m2", None, other.id, True, ANN, START + 1),
        ]
        assert await store.pins(AWAY) == [ExpectedPin("x0", None, new.id, False, BOB, START + 5)]

    async def test_a_pin_is_on_the_first_copy_that_stands(self, store: Store) -> None:
        new = new_message("m1")
        await admit(store, new, post("p1", new))
        await carry(
            store, "p1", copy("x8", FIRST_SLOT_OF_FILES), copy("x9", 1 + FIRST_SLOT_OF_FILES)
        )

        change = PinChange(new.id, True, ANN, START)
        await store.admit(Admission("pinned", pins=(change,)))

        assert await store.pins(AWAY) == [ExpectedPin("x8", None, new.id, True, ANN, START)]
