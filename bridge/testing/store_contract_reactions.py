"""Contract suite for stores, part: reactions and pins."""

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
    begin_and_settle,
    copy,
    done,
    edit_admission,
    new_message,
    post,
)

ANN, BOB = actor_id_of("tin", "W1", "U1"), actor_id_of("tin", "W1", "U2")
PLACES = (HOME, AWAY, FAR)
TARGETS = {HOME.key: "m1", AWAY.key: "x0", FAR.key: "y0"}


def mark_operation(
    kind: type[Any], name: str, new: NewMessage, channel: ChannelRef, **more: Any
) -> Any:
    """Return an operation of this kind on the message's copy in the channel."""
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
    """Return the admission of a reaction, or of its removal, with operations for the other places.

    The id of an operation is like `+👍 away 5`: sign, emoji, channel and time.
    """
    kind, sign = (AddReaction, "+") if present else (RemoveReaction, "-")
    operations = tuple(
        mark_operation(kind, f"{sign}{emoji} {place.channel} {time:g}", new, place, emoji=emoji)
        for place in PLACES
        if place != at
    )
    change = ReactionChange(
        new.id, at, TARGETS[at.key], START + time, present, actor=actor, emoji=emoji,
        operations=operations,
    )  # fmt: skip
    return Admission("reacted", reactions=(change,))


async def message_with_copies(store: Store) -> NewMessage:
    """Admit a message of HOME with copies in AWAY and FAR, and return it."""
    new = new_message("m1")
    await admit(store, new, post("p1", new), post("p2", new, FAR))
    await begin_and_settle(store, "p1", copy("x0"))
    await begin_and_settle(store, "p2", copy("y0"))
    return new


async def drain_mark_lanes(store: Store) -> list[str]:
    """Settle the open operations in the lanes of reactions and pins; return their ids in order."""
    names: list[str] = []
    for channel in PLACES:
        while (item := await store.head(channel.reaction_lane)) is not None:
            names.append(item.delivery.operation.id)
            await store.begin(item.delivery.operation.id)
            await store.settle(done(item.delivery.operation.id))
    return names


async def stored_reactions(store: Store, new: NewMessage) -> list[tuple[str, tuple[str, ...]]]:
    """Return the reactions in the stored message: each emoji with its actors."""
    stored = await store.message(new.id)
    assert stored
    return [
        (reaction.emoji, reaction.actors)
        for reaction in read_bridge_metadata(stored.message)[0].reactions
    ]


class ReactionsContract:
    """Inherit it beside `StoreContract`; it needs the fixture `store`."""

    async def test_only_the_first_reaction_of_an_emoji_and_its_last_removal_are_mirrored(
        self, store: Store
    ) -> None:
        new = await message_with_copies(store)

        await store.admit(reaction(new, 1))
        assert await drain_mark_lanes(store) == ["+👍 away 1", "+👍 far 1"]
        await store.admit(reaction(new, 2, actor=BOB))
        assert await drain_mark_lanes(store) == []
        await store.admit(reaction(new, 3, actor=BOB, at=AWAY))
        assert await drain_mark_lanes(store) == ["+👍 home 3"]
        await store.admit(reaction(new, 4, present=False))
        await store.admit(reaction(new, 5, actor=BOB, present=False))

        assert await drain_mark_lanes(store) == ["-👍 away 5"]
        assert await stored_reactions(store, new) == [("👍", (BOB,))]
        assert await store.reactions(new.id) == [CurrentReaction("👍", BOB, AWAY, "x0", START + 3)]

    async def test_a_reaction_change_that_is_not_newer_is_ignored(self, store: Store) -> None:
        new = await message_with_copies(store)

        await store.admit(reaction(new, 5))
        await store.admit(reaction(new, 5, present=False))
        await store.admit(reaction(new, 4, present=False))
        await store.admit(reaction(new, 9, emoji="🎉", present=False))
        await store.admit(reaction(new, 8, emoji="🎉"))

        assert await drain_mark_lanes(store) == ["+👍 away 5", "+👍 far 5"]
        assert await stored_reactions(store, new) == [("👍", (ANN,))]

    async def test_removing_a_reaction_cancels_its_operations_that_were_never_tried(
        self, store: Store
    ) -> None:
        new = await message_with_copies(store)
        await store.admit(reaction(new, 1))
        await store.begin(OperationId("+👍 away 1"))
        await store.postpone(OperationId("+👍 away 1"), 0.0, "again")

        await store.admit(reaction(new, 2, present=False))

        assert await drain_mark_lanes(store) == ["+👍 away 1", "-👍 away 2"]

    async def test_clearing_reactions_removes_older_ones(self, store: Store) -> None:
        new = await message_with_copies(store)
        clear = ReactionChange(new.id, HOME, "m1", START + 5, present=False)

        await store.admit(Admission("cleared", reactions=(clear,)))
        await store.admit(reaction(new, 4))
        await store.admit(reaction(new, 6, emoji="🎉"))

        assert await stored_reactions(store, new) == [("🎉", (ANN,))]

    async def test_a_waiting_note_on_reactions_is_not_queued_again(self, store: Store) -> None:
        new = await message_with_copies(store)
        for number, actor in enumerate((ANN, BOB)):
            note = mark_operation(NoteReactions, f"n{number}", new, AWAY)
            change = ReactionChange(
                new.id, HOME, "m1", START + number, present=True, actor=actor, emoji="👍",
                operations=(note,),
            )  # fmt: skip
            await store.admit(Admission("reacted", reactions=(change,)))

        assert await drain_mark_lanes(store) == ["n0"]

    async def test_reactions_wait_for_their_post_in_a_lane_of_their_own(self, store: Store) -> None:
        new = new_message("m1")
        await admit(store, new, post("p1", new))
        await store.admit(reaction(new, 1))

        item = await store.head(AWAY.reaction_lane)
        assert item is not None
        assert (item.delivery.copies, item.post_open) == ((), True)
        await begin_and_settle(store, "p1", copy("x0"))

        item = await store.head(AWAY.reaction_lane)
        assert item is not None
        assert (item.delivery.copies, item.post_open) == ((copy("x0"),), False)
        assert await store.head(AWAY.lane) is None
        assert AWAY.reaction_lane in await store.open_lanes()

    async def test_reactions_stay_after_an_edit_and_end_with_a_deletion(self, store: Store) -> None:
        new = await message_with_copies(store)
        await store.admit(reaction(new, 1))

        await store.admit(edit_admission(new, "mended", START + 2))
        assert await stored_reactions(store, new) == [("👍", (ANN,))]
        stored = await store.message(new.id)
        assert stored
        await store.change_message(stored.message, "deleted")

        assert await drain_mark_lanes(store) == []
        await store.admit(reaction(new, 9, emoji="🎉"))
        assert await drain_mark_lanes(store) == []

    async def test_emoji_that_a_platform_refused_are_listed(self, store: Store) -> None:
        new = await message_with_copies(store)
        await store.admit(reaction(new, 1))
        await store.admit(reaction(new, 2, emoji="🎉"))
        lost = Loss(path="", kind="mark_refused", what="full", shown_as="a note")
        note = mark_operation(NoteReactions, "n1", new, AWAY)

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
        new = await message_with_copies(store)

        async def pin(time: float, *, pinned: bool) -> None:
            kind: type[ReactionOrPin] = PinMessage if pinned else UnpinMessage
            operation = mark_operation(kind, f"{kind.__name__} {time:g}", new, AWAY)
            change = PinChange(new.id, pinned, ANN, START + time, (operation,))
            await store.admit(Admission("pinned", pins=(change,)))

        for _ in range(twice):
            await pin(5, pinned=True)
            await pin(4, pinned=False)
        assert await store.pinned_by(new.id) == ANN
        assert await drain_mark_lanes(store) == ["PinMessage 5"]
        await pin(6, pinned=False)

        assert await store.pinned_by(new.id) is None
        assert await drain_mark_lanes(store) == ["UnpinMessage 6"]

    async def test_pins_of_a_channel_cover_its_originals_and_copies(self, store: Store) -> None:
        new, other = await message_with_copies(store), new_message("m2")
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

    async def test_a_pin_is_expected_on_the_first_copy(self, store: Store) -> None:
        new = new_message("m1")
        await admit(store, new, post("p1", new))
        await begin_and_settle(
            store, "p1", copy("x8", FIRST_SLOT_OF_FILES), copy("x9", 1 + FIRST_SLOT_OF_FILES)
        )

        change = PinChange(new.id, True, ANN, START)
        await store.admit(Admission("pinned", pins=(change,)))

        assert await store.pins(AWAY) == [ExpectedPin("x8", None, new.id, True, ANN, START)]
