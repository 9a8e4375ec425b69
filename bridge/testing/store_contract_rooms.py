"""Contract suite for stores, part: bans, pauses, links, epochs, views and deleted copies."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

from bridge.model import (
    AccountId,
    ActorId,
    Byline,
    ChannelRef,
    DeleteMessage,
    EditMessage,
    OperationId,
    Person,
    Place,
    PostMessage,
    Receipt,
    RoomId,
    actor_id_of,
    message_id_of,
    split_key,
)
from bridge.model.admission import Admission
from bridge.model.archive_records import DeletedCopy, NewMessage, Timeline, View
from bridge.model.outbox_records import Settlement
from bridge.model.room_records import Ban, RoomForm, RoomLink, RoomPause, RoomStanding
from bridge.ports.store.whole import Store
from bridge.testing.clock import ManualClock
from bridge.uacs import Actor, Message, TextPart, to_timestamp

_ANN = actor_id_of("tin", "W1", "U1")
_BOB = actor_id_of("tin", "W1", "U2")
_LOBBY, _ATTIC = RoomId("lobby"), RoomId("attic")
_HOME = ChannelRef(platform="tin", workspace="W1", channel="home")
_AWAY = ChannelRef(platform="wire", workspace="W2", channel="away")
_ACCOUNT = AccountId("acme")


def _new_message(native_id: str) -> NewMessage:
    message = Message(
        message_id=message_id_of(_HOME, native_id),
        timestamp=to_timestamp(datetime.fromtimestamp(1_700_000_000, UTC)),
        actor=Actor(id=_ANN, role="human", name="Ann"),
        content=(TextPart(text="Hello"),),
    )
    ann = Person(id=_ANN, name="Ann")
    place = Place(channel=_HOME)
    return NewMessage(message, ann, 1_700_000_000.0, place=place, native_id=native_id)


def _post(name: str, new: NewMessage) -> PostMessage:
    return PostMessage(
        id=OperationId(name), account=_ACCOUNT, channel=_AWAY, room=_LOBBY, message=new.id,
        byline=Byline(name="Ann"),
    )  # fmt: skip


def _removal(name: str, new: NewMessage) -> DeleteMessage:
    return DeleteMessage(
        id=OperationId(name), account=_ACCOUNT, channel=_AWAY, room=_LOBBY, message=new.id
    )


async def _admit_with_copies(store: Store, new: NewMessage, *native_ids: str) -> None:
    """Admit the message with these copies in _AWAY."""
    name = OperationId(f"post {new.native_id}")
    await store.admit(Admission("routed", message=new, operations=(_post(name, new),)))
    await store.begin(name)
    receipts = tuple(Receipt(slot=n, native_id=native_id) for n, native_id in enumerate(native_ids))
    await store.settle(Settlement(name, "done", receipts))


class RoomsContract:
    """Inherited by `StoreContract`."""

    async def test_a_ban_holds_until_it_is_lifted(self, store: Store) -> None:
        everywhere = Ban(_ANN, "banned", "tin:W1:U9", 5.0)
        here = Ban(_ANN, "opted_out", _ANN, 6.0, _LOBBY)
        await store.put_ban(here)
        await store.put_ban(everywhere)
        await store.put_ban(Ban(_BOB, "banned", "cli", 7.0, _ATTIC))

        assert await store.remove_ban(_ATTIC, _BOB, "banned")
        assert not await store.remove_ban(_ATTIC, _BOB, "banned")
        assert not await store.remove_ban(_ATTIC, _ANN, "banned")
        assert await store.bans() == [everywhere, here]

    async def test_a_room_is_paused_until_it_is_resumed(self, store: Store) -> None:
        await store.pause_room(RoomPause(_LOBBY, "a flood", "bridge", 5.0, 65.0))
        await store.pause_room(RoomPause(_ATTIC, "cleaning", "cli", 6.0))
        await store.pause_room(RoomPause(_LOBBY, "still", "cli", 7.0))

        assert await store.paused_rooms() == [
            RoomPause(_ATTIC, "cleaning", "cli", 6.0),
            RoomPause(_LOBBY, "still", "cli", 7.0),
        ]
        assert await store.resume_room(_ATTIC)
        assert not await store.resume_room(_ATTIC)
        assert [paused.room for paused in await store.paused_rooms()] == [_LOBBY]

    async def test_the_last_decision_on_a_channel_of_a_room_counts(self, store: Store) -> None:
        first = RoomLink(_LOBBY, _ACCOUNT, _HOME, True, "cli", 5.0)
        other = RoomLink(_LOBBY, _ACCOUNT, _AWAY, True, "cli", 6.0)
        last = RoomLink(_LOBBY, _ACCOUNT, _HOME, False, "cli", 7.0)
        for decision in (first, other, last):
            await store.link_channel(decision)

        assert await store.room_links() == [other, last]

    async def test_a_changed_configuration_of_a_room_begins_an_epoch(
        self, store: Store, clock: ManualClock
    ) -> None:
        async def stand(digest: str, *members: str) -> RoomStanding:
            (standing,) = await store.stand_rooms([RoomForm(_LOBBY, digest, members)])
            return standing

        assert await stand("a", "x", "y") == RoomStanding(1, {"x": 0.0, "y": 0.0})
        clock.now += 10
        assert await stand("b", "x", "z") == RoomStanding(2, {"x": 0.0, "z": clock.now})
        assert await stand("b", "x", "z") == RoomStanding(2, {"x": 0.0, "z": clock.now})
        since = clock.now
        clock.now += 10
        assert await stand("a", "x", "y", "z") == RoomStanding(
            3, {"x": 0.0, "y": clock.now, "z": since}
        )

    async def test_a_member_sees_the_messages_of_its_membership(self, store: Store) -> None:
        """A member of the first configuration also sees the messages from before there were
        epochs; a member that left and returned does not see the messages of its absence."""

        async def come(digest: str, native_id: str, *members: str) -> None:
            (standing,) = await store.stand_rooms([RoomForm(_LOBBY, digest, members)])
            lobby = Timeline(UUID(int=5), "room", "lobby", epoch=standing.epoch)
            await store.admit(
                Admission("routed", message=_new_message(native_id), timelines=(lobby,))
            )

        async def visible_ids(member: str) -> list[str]:
            view = View(member=member)
            conversation = await store.conversation(UUID(int=5), view=view)
            ids = [message.message_id for message in conversation.messages]
            for native_id in "0123":
                message = _new_message(native_id).id
                assert await store.was_present(_LOBBY, member, message) == (message in ids)
                assert not await store.was_present(_ATTIC, member, message)
            return [split_key(own_id)[-1] for own_id in ids]

        old = Timeline(UUID(int=5), "room", "lobby")  # of a store without epochs
        await store.admit(Admission("routed", message=_new_message("0"), timelines=(old,)))
        await come("a", "1", "x", "y")
        await come("b", "2", "x", "z")
        await come("c", "3", "x", "y", "z")

        assert await visible_ids("x") == ["0", "1", "2", "3"]
        assert await visible_ids("y") == ["0", "1", "3"]
        assert await visible_ids("z") == ["2", "3"]
        assert await visible_ids("nobody") == []

    async def test_a_view_for_readers_includes_only_their_whispers(self, store: Store) -> None:
        channel = Timeline(UUID(int=6), "channel", "home")
        for native_id, audience in (("1", None), ("2", (_ANN,)), ("3", (_ANN, _BOB))):
            new = replace(_new_message(native_id), audience=audience)
            await store.admit(Admission("routed", message=new, timelines=(channel,)))

        async def visible_ids(*readers: ActorId) -> list[str]:
            conversation = await store.conversation(channel.id, view=View(readers=readers))
            return [split_key(message.message_id)[-1] for message in conversation.messages]

        assert await visible_ids() == ["1"]
        assert await visible_ids(_BOB) == ["1", "3"]
        assert await visible_ids(_BOB, _ANN) == ["1", "2", "3"]
        assert await visible_ids(ActorId(f"{_BOB}0")) == ["1"]

    async def test_a_timeline_entry_records_the_epoch_of_its_room(self, store: Store) -> None:
        room = Timeline(UUID(int=5), "room", "lobby", epoch=7)
        other = Timeline(UUID(int=6), "channel", "home")

        await store.admit(Admission("routed", message=_new_message("1"), timelines=(room, other)))

        explanation = await store.explain(_new_message("1").id)
        assert explanation is not None
        assert sorted(explanation.timelines, key=lambda entry: entry[0].name) == [
            (other, 1),
            (room, 1),
        ]
        assert [timeline.epoch for timeline, _ in await store.conversations()] == [None, None]

    async def test_a_copy_that_a_person_deleted_is_no_longer_listed(self, store: Store) -> None:
        new = _new_message("1")
        await _admit_with_copies(store, new, "c1", "c2")

        assert not await store.removed_by_us(new.id, _AWAY, "c1")
        await store.admit(Admission("moderated", gone=(DeletedCopy(_AWAY, "c1"),)))

        assert [copy.native_id for copy in await store.copies(new.id, _AWAY)] == ["c2"]
        assert await store.removed_by_us(new.id, _AWAY, "c1")
        assert not await store.removed_by_us(new.id, _AWAY, "c2")
        assert await store.resolve(_AWAY, "c1") == new.id

    async def test_a_deleted_original_or_unknown_copy_changes_no_copies(self, store: Store) -> None:
        new = _new_message("1")
        await _admit_with_copies(store, new, "c1")

        await store.admit(
            Admission("moderated", gone=(DeletedCopy(_HOME, "1"), DeletedCopy(_AWAY, "unknown")))
        )

        assert [copy.native_id for copy in await store.copies(new.id, _HOME)] == ["1"]

    async def test_our_own_deletion_is_known_once_it_is_queued(self, store: Store) -> None:
        new = _new_message("1")
        await _admit_with_copies(store, new, "c1")

        await store.admit(Admission("moderated", removals=(_removal("del", new),)))

        assert await store.removed_by_us(new.id, _AWAY, "c1")
        assert not await store.removed_by_us(new.id, _HOME, "c1")
        await store.settle(Settlement(OperationId("del"), "dead", error="refused"))
        assert not await store.removed_by_us(new.id, _AWAY, "c1")

    async def test_an_edit_that_is_being_sent_may_delete_copies(self, store: Store) -> None:
        new = _new_message("1")
        await _admit_with_copies(store, new, "c1", "c2")
        edit = EditMessage(
            id=OperationId("edit"), account=_ACCOUNT, channel=_AWAY, room=_LOBBY, message=new.id,
            byline=Byline(name="Ann"),
        )  # fmt: skip
        await store.admit(Admission("edited", operations=(edit,)))

        assert not await store.removed_by_us(new.id, _AWAY, "c2")
        await store.begin(edit.id)
        assert await store.removed_by_us(new.id, _AWAY, "c2")
        await store.settle(
            Settlement(edit.id, "done", (Receipt(slot=1, native_id="c2", deleted=True),))
        )
        assert await store.removed_by_us(new.id, _AWAY, "c2")
        assert not await store.removed_by_us(new.id, _AWAY, "c1")

    async def test_a_removal_cancels_a_post_that_was_not_sent(self, store: Store) -> None:
        new = _new_message("1")
        await store.admit(Admission("routed", message=new, operations=(_post("p", new),)))

        await store.admit(Admission("moderated", removals=(_removal("del", new),)))

        assert await store.head(_AWAY.lane) is None
        stored = await store.message(new.id)
        assert stored is not None
        assert stored.state == "complete"
