"""Contract suite for stores: inherit `StoreContract` and provide its `store` fixture.

class TestMyStore(StoreContract):
    @pytest.fixture
    async def store(self, clock: ManualClock) -> AsyncIterator[Store]: ...
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from bridge.errors import NotOpen, StoreError
from bridge.model import (
    AccountId,
    ActorId,
    AddReaction,
    Byline,
    ChannelRef,
    DeleteMessage,
    Delivery,
    EditMessage,
    Loss,
    MessageId,
    Operation,
    OperationId,
    Person,
    Place,
    PostMessage,
    QuotedMessage,
    Raw,
    Receipt,
    RoomId,
    TurnId,
    actor_id_of,
    conversation_id_of,
    message_id_of,
    split_key,
)
from bridge.model.admission import Admission, Admitted
from bridge.model.archive_records import Change, NewMessage, StoredMessage, Timeline, View
from bridge.model.outbox_records import (
    DeadLetter,
    LaneStatus,
    OperationRecord,
    OutboxItem,
    Settlement,
)
from bridge.model.store_status import Explanation, StorePulse, StoreStatus
from bridge.model.turn_records import NewTurn, StoredTurn
from bridge.ports.store.whole import Store
from bridge.testing.clock import START, ManualClock
from bridge.testing.store_contract_agents import AgentsContract
from bridge.testing.store_contract_approvals import ApprovalsContract
from bridge.testing.store_contract_people import PeopleContract
from bridge.testing.store_contract_rooms import RoomsContract
from bridge.uacs import Actor, Conversation, Message, TextPart, to_timestamp

ACME = AccountId("acme")
HOME = ChannelRef(platform="tin", workspace="W1", channel="home")  # where people post
AWAY = ChannelRef(
    platform="wire", workspace="W2", channel="away"
)  # where their posts are copied to
FAR = ChannelRef(platform="wire", workspace="W2", channel="far")
ANN = Person(id=actor_id_of("tin", "W1", "U1"), name="Ann", picture="https://pictures.test/ann")
BYLINE = Byline(name="Ann", picture=ANN.picture)
ROOM = RoomId("lobby")
ROOM_TIMELINE = Timeline(UUID("5e0f2f4e-52f4-4a0e-9b1e-3f0f7b0a6f11"), "room", "lobby")
HOME_TIMELINE = Timeline(
    conversation_id_of(Place(channel=HOME)), "channel", "home", {"channel": HOME.key}
)


def raw(number: int = 1, **changes: Any) -> Raw:
    """Return a payload as a connector delivers it."""
    fields: dict[str, Any] = {
        "account": ACME,
        "kind": "event",
        "dedupe_key": f"D{number}",
        "order_key": f"{number:06}",
        "channel": HOME,
        "payload": b'{"n": %d}' % number,
    }
    return Raw(**{**fields, **changes})


def edit_admission(new: NewMessage, text: str, time: float, *operations: Operation) -> Admission:
    """Return the admission of a person's edit of an archived message."""
    changed = ann_message(new.native_id or "", text)
    return Admission("edited", changes=(Change(changed, "edited", time, operations),))


def deletion(name: str, new: NewMessage, channel: ChannelRef = AWAY) -> DeleteMessage:
    """Return an operation that deletes the message's copies in the channel."""
    return DeleteMessage(
        id=OperationId(name), account=ACME, channel=channel, room=ROOM, message=new.id
    )


def ann_message(native_id: str, text: str = "Hello", channel: ChannelRef = HOME) -> Message:
    """Return a canonical message of Ann's with this text."""
    return Message(
        message_id=message_id_of(channel, native_id),
        timestamp=to_timestamp(datetime.fromtimestamp(START, UTC)),
        actor=Actor(id=ANN.id, role="human", name=ANN.name),
        content=(TextPart(type="text", text=text),),
    )


def new_message(
    native_id: str,
    text: str = "Hello",
    *,
    thread: str | None = None,
    root: str | None = None,
    time: float = START,
    **changes: Any,
) -> NewMessage:
    """Return a message of Ann's in HOME."""
    return NewMessage(
        message=ann_message(native_id, text),
        author=ANN,
        time=time,
        place=Place(channel=HOME, thread=thread),
        native_id=native_id,
        root=None if root is None else message_id_of(HOME, root),
        **changes,
    )


def stored(new: NewMessage) -> StoredMessage:
    """Return what the store returns for an admitted message."""
    return StoredMessage(
        message=new.message,
        author=new.author,
        time=new.time,
        place=new.place,
        native_id=new.native_id,
        root=new.root,
        state=new.state,
    )


def post(name: str, new: NewMessage, channel: ChannelRef = AWAY, **changes: Any) -> PostMessage:
    """Return an operation that posts the message into the channel."""
    return PostMessage(
        id=OperationId(name),
        account=ACME,
        channel=channel,
        room=ROOM,
        message=new.id,
        byline=BYLINE,
        **changes,
    )


def edit(name: str, new: NewMessage, channel: ChannelRef = AWAY) -> EditMessage:
    """Return an operation that edits the message's copies in the channel."""
    return EditMessage(
        id=OperationId(name),
        account=ACME,
        channel=channel,
        room=ROOM,
        message=new.id,
        byline=BYLINE,
    )


def copy(native_id: str, slot: int = 0, **changes: Any) -> Receipt:
    """Return the receipt of one native copy."""
    return Receipt(slot=slot, native_id=native_id, **changes)


def done(name: str, *receipts: Receipt, **changes: Any) -> Settlement:
    """Return the settlement of an operation that succeeded."""
    return Settlement(OperationId(name), "done", receipts, **changes)


async def admit(store: Store, new: NewMessage, *operations: Operation, **changes: Any) -> Admitted:
    """Admit a message together with operations."""
    return await store.admit(Admission("routed", message=new, operations=operations, **changes))


async def begin_and_settle(store: Store, name: str, *receipts: Receipt, **changes: Any) -> None:
    """Begin an operation and settle it as done."""
    await store.begin(OperationId(name))
    await store.settle(done(name, *receipts, **changes))


async def head(store: Store, channel: ChannelRef = AWAY) -> OutboxItem:
    """Return the head of a lane; fail the test when the lane is empty."""
    item = await store.head(channel.lane)
    assert item is not None
    return item


async def drain_lane(store: Store, channel: ChannelRef = AWAY) -> list[str]:
    """Cancel the open operations of a lane and return their ids in order."""
    names: list[str] = []
    while (item := await store.head(channel.lane)) is not None:
        names.append(item.delivery.operation.id)
        await store.settle(Settlement(item.delivery.operation.id, "cancelled"))
    return names


class StoreContract(PeopleContract, RoomsContract, AgentsContract, ApprovalsContract):
    """Tests of the promises that every store keeps.

    Inherit it in a class whose name begins with `Test`.
    """

    @pytest.fixture
    def clock(self) -> ManualClock:
        """The clock of the store."""
        return ManualClock()

    # --- inbox --------------------------------------------------------------------------------

    async def test_an_accepted_payload_becomes_a_waiting_row(self, store: Store) -> None:
        row = await store.accept(raw(1), advance=False)

        assert row is not None
        assert row.raw == raw(1)
        assert await store.waiting_rows() == [row]

    async def test_a_repeated_delivery_is_stored_once(self, store: Store) -> None:
        first = await store.accept(raw(1), advance=False)

        assert await store.accept(raw(1, payload=b"other"), advance=False) is None
        assert await store.waiting_rows() == [first]

    async def test_a_delivery_that_was_admitted_before_is_a_repeat(self, store: Store) -> None:
        row = await store.accept(raw(1), advance=False)
        assert row is not None
        await store.admit(Admission("ignored", row.id))

        assert await store.accept(raw(1), advance=False) is None
        assert await store.waiting_rows() == []

    async def test_two_accounts_may_use_the_same_dedupe_key(self, store: Store) -> None:
        await store.accept(raw(1), advance=False)

        assert await store.accept(raw(1, account=AccountId("other")), advance=False) is not None

    async def test_waiting_rows_are_returned_in_the_order_they_were_stored(
        self, store: Store
    ) -> None:
        rows_kept = [await store.accept(raw(number), advance=False) for number in (5, 3, 4)]

        rows = await store.waiting_rows()

        assert list(rows) == rows_kept
        assert [row.id for row in rows] == sorted(row.id for row in rows)

    async def test_concurrently_accepted_payloads_are_all_stored(self, store: Store) -> None:
        async with asyncio.TaskGroup() as group:
            for number in range(200):
                group.create_task(store.accept(raw(number % 100), advance=True))

        assert len(await store.waiting_rows()) == 100
        assert await store.cursor(ACME, HOME) == "000099"

    async def test_a_payload_may_have_no_channel_and_any_bytes(self, store: Store) -> None:
        odd = raw(1, channel=None, payload=bytes(range(256)) * 300, dedupe_key="\0 ’ 🙂")

        await store.accept(odd, advance=True)

        assert [row.raw for row in await store.waiting_rows()] == [odd]

    async def test_accept_moves_the_cursor_only_with_advance(self, store: Store) -> None:
        await store.accept(raw(1), advance=True)
        await store.accept(raw(2), advance=False)

        assert await store.cursor(ACME, HOME) == "000001"

    async def test_a_repeated_payload_moves_the_cursor_too(self, store: Store) -> None:
        await store.accept(raw(2), advance=False)
        await store.accept(raw(2), advance=True)

        assert await store.cursor(ACME, HOME) == "000002"

    async def test_a_cursor_never_moves_back(self, store: Store) -> None:
        await store.set_cursor(ACME, HOME, "0005")
        await store.set_cursor(ACME, HOME, "0004")

        assert await store.cursor(ACME, HOME) == "0005"

    async def test_cursors_are_kept_for_each_account_and_channel(self, store: Store) -> None:
        await store.set_cursor(ACME, HOME, "1")
        await store.set_cursor(ACME, AWAY, "2")

        assert await store.cursor(ACME, HOME) == "1"
        assert await store.cursor(ACME, AWAY) == "2"
        assert await store.cursor(AccountId("other"), HOME) is None

    async def test_a_failed_row_is_listed_with_its_error_until_it_is_retried(
        self, store: Store
    ) -> None:
        row = await store.accept(raw(1), advance=False)
        assert row is not None

        await store.fail_row(row.id, "no decoder knows 'event'")

        assert await store.waiting_rows() == []
        assert await store.failed_rows() == [(row, "no decoder knows 'event'")]
        assert await store.retry_failed_rows() == 1
        assert await store.failed_rows() == []
        assert await store.waiting_rows() == [row]

    async def test_failed_rows_are_listed_up_to_a_limit(self, store: Store) -> None:
        for number in range(3):
            row = await store.accept(raw(number), advance=False)
            assert row is not None
            await store.fail_row(row.id, "broken")

        assert len(await store.failed_rows(limit=2)) == 2

    async def test_an_unknown_row_is_an_error(self, store: Store) -> None:
        with pytest.raises(StoreError, match="99"):
            await store.fail_row(99, "broken")
        with pytest.raises(StoreError, match="99"):
            await store.admit(Admission("routed", 99))

    # --- credentials of payloads --------------------------------------------------------------

    async def test_credentials_are_stored_apart_from_the_row(self, store: Store) -> None:
        secret = raw(1, credentials={"/response_url": "https://hooks.test/1"}, credentials_ttl=60.0)

        row = await store.accept(secret, advance=False)

        assert row is not None
        assert row.raw == raw(1)
        assert await store.waiting_rows() == [row]
        assert await store.payload_credentials(row.id) == {"/response_url": "https://hooks.test/1"}

    async def test_expired_credentials_are_deleted(self, store: Store, clock: ManualClock) -> None:
        row = await store.accept(
            raw(1, credentials={"/t": "x"}, credentials_ttl=60.0), advance=True
        )
        assert row is not None
        clock.now += 59
        assert await store.forget_expired() == 0

        clock.now += 2

        assert await store.payload_credentials(row.id) == {}
        assert await store.forget_expired() == 1
        assert await store.forget_expired() == 0
        assert await store.waiting_rows() == [row]

    # --- admitting ----------------------------------------------------------------------------

    async def test_an_admission_ends_the_waiting_of_its_row(self, store: Store) -> None:
        row = await store.accept(raw(1), advance=False)
        assert row is not None

        admitted = await store.admit(Admission("routed", row.id, new_message("m1")))

        assert admitted == Admitted(repeat=False)
        assert await store.waiting_rows() == []

    async def test_a_payload_is_kept_with_what_it_changes(self, store: Store) -> None:
        new = new_message("m1")

        received = await store.receive(
            raw(1), Admission("routed", message=new, operations=(post("p1", new),)), advance=True
        )

        assert received is not None
        assert (received.row.raw, received.repeat) == (raw(1), False)
        assert await store.accept(raw(1), advance=False) is None
        assert await store.waiting_rows() == []
        assert await store.message(new.id) == stored(new)
        assert await store.open_lanes() == [AWAY.lane]
        assert await store.cursor(raw(1).account, HOME) == raw(1).order_key
        explained = await store.explain(new.id)
        assert explained is not None
        assert (explained.raw, explained.outcome) == (raw(1), "routed")

    async def test_messages_are_chained_as_they_are_stored_whichever_way_they_come(
        self, store: Store
    ) -> None:
        timelines = (HOME_TIMELINE, ROOM_TIMELINE)
        for number in (1, 2):  # the first one makes the timelines
            new = new_message(f"m{number}", f"grüße {number}", audience=(ANN.id,))
            admission = Admission("routed", message=new, timelines=timelines)
            assert await store.receive(raw(number), admission, advance=False)
        row = await store.accept(raw(3), advance=False)
        assert row is not None
        await store.admit(Admission("routed", row.id, new_message("m3"), timelines=timelines))
        await admit(store, replace(new_message("m4"), place=None), timelines=timelines)

        report = await store.verify_chain({})

        assert (report.faults, report.messages, report.payloads_gone) == ([], 4, 0)

    async def test_a_repeated_payload_with_what_it_changes_moves_only_the_cursor(
        self, store: Store
    ) -> None:
        await store.accept(raw(1), advance=False)

        again = await store.receive(
            raw(1), Admission("routed", message=new_message("m1")), advance=True
        )

        assert again is None
        assert await store.message(new_message("m1").id) is None
        assert await store.cursor(raw(1).account, HOME) == raw(1).order_key

    async def test_a_payload_of_a_message_that_is_archived_is_a_repeat(self, store: Store) -> None:
        first = new_message("m1", "first")
        await admit(store, first)

        again = await store.receive(
            raw(1), Admission("routed", message=new_message("m1", "second")), advance=False
        )

        assert again is not None
        assert again.repeat
        assert await store.message(first.id) == stored(first)
        assert await store.waiting_rows() == []

    async def test_a_payload_whose_changes_are_refused_is_not_kept(self, store: Store) -> None:
        refused = Admission(
            "routed",
            message=new_message("m1"),
            operations=(post("p1", new_message("never archived")),),
        )

        with pytest.raises(StoreError, match="p1"):
            await store.receive(raw(1), refused, advance=True)

        assert await store.cursor(raw(1).account, HOME) is None
        assert await store.accept(raw(1), advance=False) is not None

    async def test_an_admitted_message_is_returned_with_all_its_fields(self, store: Store) -> None:
        new = new_message("m1", thread="m0", root="m0", reply_to=message_id_of(HOME, "m0"))

        await admit(store, new)

        assert await store.message(new.id) == stored(new)

    async def test_an_unknown_message_is_none(self, store: Store) -> None:
        assert await store.message(MessageId("tin:W1:home:nothing")) is None

    async def test_an_agents_message_has_no_place(self, store: Store) -> None:
        agent = Person(id=ActorId("agent:echo"), name="Echo", bot=True)
        new = NewMessage(ann_message("a1"), agent, START, state="streaming")

        await admit(store, new)

        assert await store.message(new.id) == stored(new)

    async def test_extra_fields_of_a_message_are_stored(self, store: Store) -> None:
        odd = ann_message("m1").model_copy(
            update={"metadata": {"tin": {"deep": [1, 2.5, None, "’"]}}, "extra": {"a": 1}}
        )

        await admit(store, NewMessage(odd, ANN, START))

        saved = await store.message(MessageId(odd.message_id))
        assert saved is not None
        assert saved.message == odd

    async def test_a_repeated_message_changes_only_its_row(self, store: Store) -> None:
        first = new_message("m1", "first")
        await admit(store, first, timelines=(ROOM_TIMELINE,))
        row = await store.accept(raw(1), advance=False)
        assert row is not None

        again = await store.admit(
            Admission(
                "routed",
                row.id,
                new_message("m1", "second"),
                people=(ANN,),
                timelines=(HOME_TIMELINE,),
                operations=(post("p1", first),),
                turns=(NewTurn(TurnId("t1"), "echo", ROOM, first.id),),
            )
        )

        assert again == Admitted(repeat=True)
        assert await store.message(first.id) == stored(first)
        assert await store.waiting_rows() == []
        assert await store.open_lanes() == []
        assert await store.open_turns() == []
        assert await store.person(ANN.id) is None
        assert [timeline for timeline, _ in await store.conversations()] == [ROOM_TIMELINE]

    async def test_a_refused_admission_changes_nothing(self, store: Store) -> None:
        row = await store.accept(raw(1), advance=False)
        assert row is not None
        unknown = new_message("never archived")

        with pytest.raises(StoreError, match="p1"):
            await store.admit(
                Admission(
                    "routed",
                    row.id,
                    new_message("m1"),
                    people=(ANN,),
                    timelines=(ROOM_TIMELINE,),
                    operations=(post("p1", unknown),),
                )
            )

        assert await store.message(new_message("m1").id) is None
        assert await store.person(ANN.id) is None
        assert await store.conversations() == []
        assert await store.waiting_rows() == [row]

    async def test_a_refused_admission_does_not_stop_concurrent_ones(self, store: Store) -> None:
        bad = admit(store, new_message("m1"), post("p1", new_message("never archived")))
        good = [admit(store, new_message(f"g{number}")) for number in range(20)]

        results = await asyncio.gather(*good[:10], bad, *good[10:], return_exceptions=True)

        assert isinstance(results.pop(10), StoreError)
        assert results == [Admitted()] * 20
        assert await store.message(new_message("g19").id) == stored(new_message("g19"))

    async def test_an_operation_id_cannot_be_queued_twice(self, store: Store) -> None:
        await admit(store, new_message("m1"), post("p1", new_message("m1")))

        with pytest.raises(StoreError, match="p1"):
            await admit(store, new_message("m2"), post("p1", new_message("m2")))

        assert await store.message(new_message("m2").id) is None

    async def test_an_admission_without_a_message_can_queue_and_settle(self, store: Store) -> None:
        new = new_message("m1")
        await admit(store, new, post("p1", new))
        await store.begin(OperationId("p1"))

        await store.admit(
            Admission(
                "reaction",
                operations=(post("p2", new, FAR),),
                settles=(done("p1", copy("x1")),),
            )
        )

        assert await store.open_lanes() == [FAR.lane]
        assert await store.resolve(AWAY, "x1") == new.id

    async def test_settling_an_unknown_operation_changes_nothing(self, store: Store) -> None:
        await store.admit(Admission("own echo", settles=(done("not ours", copy("x1")),)))

        assert await store.settle(done("not ours", copy("x1"))) is False
        assert await store.resolve(AWAY, "x1") is None

    # --- people and rooms ---------------------------------------------------------------------

    async def test_people_are_saved_and_replaced(self, store: Store) -> None:
        await store.admit(Admission("joined", people=(ANN,)))
        assert await store.person(ANN.id) == ANN
        renamed = ANN.model_copy(update={"name": "Ann B."})

        await store.save_person(renamed)

        assert await store.person(ANN.id) == renamed
        assert await store.person(ActorId("tin:W1:nobody")) is None

    async def test_a_message_keeps_its_author_as_of_its_admission(self, store: Store) -> None:
        await admit(store, new_message("m1"))

        await store.save_person(ANN.model_copy(update={"name": "Ann B."}))

        assert await store.message(new_message("m1").id) == stored(new_message("m1"))

    async def test_a_room_keeps_its_conversation_id(self, store: Store) -> None:
        first = await store.room_ids([ROOM, RoomId("attic")])
        again = await store.room_ids([RoomId("cellar"), ROOM])

        assert list(first) == [ROOM, "attic"]
        assert again[ROOM] == first[ROOM]
        assert len({*first.values(), *again.values()}) == 3

    # --- timelines ----------------------------------------------------------------------------

    async def test_a_timeline_is_a_conversation_in_the_order_of_admission(
        self, store: Store
    ) -> None:
        for number in (3, 1, 2):
            new = new_message(f"m{number}", time=START + number)
            await admit(store, new, timelines=(ROOM_TIMELINE, HOME_TIMELINE))

        conversation = await store.conversation(HOME_TIMELINE.id)

        assert conversation == Conversation(
            conversation_id=str(HOME_TIMELINE.id),
            created_at=to_timestamp(datetime.fromtimestamp(START + 1, UTC)),
            updated_at=to_timestamp(datetime.fromtimestamp(START + 3, UTC)),
            messages=(ann_message("m3"), ann_message("m1"), ann_message("m2")),
            metadata={
                "uacs_bridge": {"kind": "channel", "name": "home", "channel": HOME.key},
            },
        )

    async def test_a_conversation_can_be_cut_to_its_newest_messages(self, store: Store) -> None:
        for number in range(5):
            await admit(store, new_message(f"m{number}"), timelines=(ROOM_TIMELINE,))

        newest = await store.conversation(ROOM_TIMELINE.id, newest=2)
        none = await store.conversation(ROOM_TIMELINE.id, newest=0)

        assert newest.messages == (ann_message("m3"), ann_message("m4"))
        assert none.messages == ()

    async def test_a_view_returns_the_matching_messages_and_their_answers(
        self, store: Store
    ) -> None:
        room = (ROOM_TIMELINE,)
        bob = Person(id=ActorId("fake:home:bob"), name="Bob")
        await admit(store, new_message("m1"), timelines=room)
        await admit(store, new_message("m2", thread="m1", root="m1"), timelines=room)
        by_bob = replace(new_message("m3"), author=bob, place=Place(channel=AWAY))
        await admit(store, by_bob, timelines=room)
        for number, native_id in enumerate(("m2", "m3")):
            question = message_id_of(HOME, native_id)
            answer = NewMessage(ann_message(f"a{number}"), ANN, START, reply_to=question)
            await admit(store, answer, timelines=room)

        async def ids_in_view(view: View, newest: int | None = None) -> list[str]:
            conversation = await store.conversation(ROOM_TIMELINE.id, newest=newest, view=view)
            return [split_key(message.message_id)[-1] for message in conversation.messages]

        assert await ids_in_view(View()) == ["m1", "m2", "m3", "a0", "a1"]
        assert await ids_in_view(View(channel=AWAY)) == ["m3", "a1"]
        assert await ids_in_view(View(thread=message_id_of(HOME, "m1"))) == ["m1", "m2", "a0"]
        assert await ids_in_view(View(person=bob.id)) == ["m3", "a1"]
        assert await ids_in_view(View(channel=HOME), newest=2) == ["m2", "a0"]

    async def test_deleted_messages_are_absent_and_not_counted(self, store: Store) -> None:
        for number in range(3):
            await admit(store, new_message(f"m{number}"), timelines=(ROOM_TIMELINE,))

        await store.change_message(ann_message("m1"), "deleted")

        conversation = await store.conversation(ROOM_TIMELINE.id, newest=2)
        assert conversation.messages == (ann_message("m0"), ann_message("m2"))

    async def test_a_conversation_has_the_latest_state_of_an_edited_message(
        self, store: Store
    ) -> None:
        await admit(store, new_message("m1"), timelines=(ROOM_TIMELINE,))

        await store.change_message(ann_message("m1", "changed"), "edited")

        conversation = await store.conversation(ROOM_TIMELINE.id)
        assert conversation.messages == (ann_message("m1", "changed"),)

    async def test_an_unknown_conversation_is_an_error(self, store: Store) -> None:
        with pytest.raises(StoreError, match=str(ROOM_TIMELINE.id)):
            await store.conversation(ROOM_TIMELINE.id)

    async def test_timelines_are_listed_with_their_message_counts(self, store: Store) -> None:
        await admit(store, new_message("m1"), timelines=(ROOM_TIMELINE, HOME_TIMELINE))
        await admit(store, new_message("m2"), timelines=(ROOM_TIMELINE,))

        assert await store.conversations() == [(ROOM_TIMELINE, 2), (HOME_TIMELINE, 1)]

    async def test_a_timeline_can_be_created_without_a_message(
        self, store: Store, clock: ManualClock
    ) -> None:
        await store.admit(Admission("thread started", timelines=(ROOM_TIMELINE,)))
        empty = await store.conversation(ROOM_TIMELINE.id)
        await admit(store, new_message("m1", time=START - 500), timelines=(ROOM_TIMELINE,))

        assert empty.messages == ()
        assert empty.created_at == to_timestamp(datetime.fromtimestamp(clock.now, UTC))
        assert await store.conversations() == [(ROOM_TIMELINE, 1)]

    async def test_concurrent_admissions_get_sequence_numbers_without_gaps(
        self, store: Store
    ) -> None:
        async with asyncio.TaskGroup() as group:
            for number in range(50):
                group.create_task(
                    admit(store, new_message(f"m{number}"), timelines=(ROOM_TIMELINE,))
                )

        numbers: list[int] = []
        for number in range(50):
            explanation = await store.explain(new_message(f"m{number}").id)
            assert explanation is not None
            numbers += [seq for _, seq in explanation.timelines]
        assert sorted(numbers) == list(range(1, 51))

    # --- changing -----------------------------------------------------------------------------

    async def test_changing_an_unknown_message_is_an_error(self, store: Store) -> None:
        with pytest.raises(StoreError, match="m1"):
            await store.change_message(ann_message("m1"), "edited")

    async def test_a_change_queues_its_operations(self, store: Store) -> None:
        new = new_message("m1")
        await admit(store, new)

        await store.change_message(ann_message("m1", "changed"), "edited", [edit("e1", new)])

        item = await head(store)
        assert item.delivery.operation == edit("e1", new)
        assert item.delivery.message == ann_message("m1", "changed")
        assert item.message_state == "edited"

    async def test_a_change_with_a_repeated_operation_id_changes_nothing(
        self, store: Store
    ) -> None:
        new = new_message("m1")
        await admit(store, new, post("p1", new))

        with pytest.raises(StoreError, match="p1"):
            await store.change_message(ann_message("m1", "changed"), "edited", [post("p1", new)])

        assert await store.message(new.id) == stored(new)

    async def test_an_edit_is_merged_into_a_waiting_post(self, store: Store) -> None:
        new = new_message("m1")
        await admit(store, new, post("p1", new))

        await store.change_message(ann_message("m1", "changed"), "edited", [edit("e1", new)])

        item = await head(store)
        assert item.delivery.message == ann_message("m1", "changed")
        assert await drain_lane(store) == ["p1"]

    async def test_an_edit_is_queued_behind_a_post_that_is_being_sent(self, store: Store) -> None:
        new = new_message("m1")
        await admit(store, new, post("p1", new))
        await store.begin(OperationId("p1"))

        await store.change_message(ann_message("m1", "changed"), "edited", [edit("e1", new)])

        assert await drain_lane(store) == ["p1", "e1"]

    async def test_an_edit_is_queued_behind_a_post_that_was_partly_sent(self, store: Store) -> None:
        new = new_message("m1")
        await admit(store, new, post("p1", new))
        await store.begin(OperationId("p1"))
        await store.record(OperationId("p1"), [copy("x0")])
        await store.postpone(OperationId("p1"), START + 5, "busy")

        await store.change_message(ann_message("m1", "changed"), "edited", [edit("e1", new)])

        assert await drain_lane(store) == ["p1", "e1"]

    async def test_waiting_edits_of_a_message_are_merged(self, store: Store) -> None:
        new = new_message("m1")
        await admit(store, new)

        for number in range(3):
            changed = ann_message("m1", f"state {number}")
            await store.change_message(changed, "streaming", [edit(f"e{number}", new)])

        item = await head(store)
        assert item.delivery.message == ann_message("m1", "state 2")
        assert await drain_lane(store) == ["e0"]

    async def test_an_edit_is_queued_behind_an_edit_that_is_being_sent(self, store: Store) -> None:
        new = new_message("m1")
        await admit(store, new)
        await store.change_message(ann_message("m1", "one"), "edited", [edit("e1", new)])
        await store.begin(OperationId("e1"))

        await store.change_message(ann_message("m1", "two"), "edited", [edit("e2", new)])

        assert await drain_lane(store) == ["e1", "e2"]

    async def test_edits_of_different_lanes_or_messages_are_not_merged(self, store: Store) -> None:
        first, second = new_message("m1"), new_message("m2")
        await admit(store, first, post("p1", first, AWAY))
        await admit(store, second)

        await store.change_message(ann_message("m1", "x"), "edited", [edit("e1", first, FAR)])
        await store.change_message(ann_message("m2", "x"), "edited", [edit("e2", second, AWAY)])

        assert await drain_lane(store, AWAY) == ["p1", "e2"]
        assert await drain_lane(store, FAR) == ["e1"]

    # --- admitted changes ----------------------------------------------------------------------

    async def test_an_admitted_change_updates_the_message_and_queues_its_operations(
        self, store: Store
    ) -> None:
        new = new_message("m1")
        await admit(store, new, post("p1", new), timelines=(ROOM_TIMELINE,))
        await begin_and_settle(store, "p1", copy("x0"))

        await store.admit(edit_admission(new, "changed", START + 5, edit("e1", new)))

        item = await head(store)
        assert item.delivery.operation == edit("e1", new)
        assert item.delivery.message == ann_message("m1", "changed")
        assert (await store.conversation(ROOM_TIMELINE.id)).messages == (
            ann_message("m1", "changed"),
        )

    async def test_a_change_that_is_not_newer_is_ignored(self, store: Store) -> None:
        new = new_message("m1")
        await admit(store, new)
        await store.admit(edit_admission(new, "newest", START + 5, edit("e1", new)))

        await store.admit(edit_admission(new, "older", START + 4, edit("e2", new, FAR)))
        await store.admit(edit_admission(new, "as old", START + 5, edit("e3", new, FAR)))

        assert (await head(store)).delivery.message == ann_message("m1", "newest")
        assert await drain_lane(store, FAR) == []

    async def test_an_edit_of_a_deleted_message_changes_nothing(self, store: Store) -> None:
        new = new_message("m1")
        await admit(store, new, timelines=(ROOM_TIMELINE,))
        deleted = Change(new.message, "deleted", START + 5)
        await store.admit(Admission("deleted", changes=(deleted,)))

        await store.admit(edit_admission(new, "back", START + 9, edit("e1", new)))

        assert (await store.conversation(ROOM_TIMELINE.id)).messages == ()
        assert await store.open_lanes() == []

    async def test_an_admitted_change_of_an_unknown_message_changes_nothing(
        self, store: Store
    ) -> None:
        await store.admit(edit_admission(new_message("m1"), "changed", START + 5))

        assert await store.message(new_message("m1").id) is None

    async def test_a_deletion_cancels_a_post_that_was_not_sent(self, store: Store) -> None:
        new = new_message("m1")
        await admit(store, new, post("p1", new), post("p2", new, FAR))
        await store.begin(OperationId("p2"))
        deleted = Change(
            new.message, "deleted", START + 5, (deletion("d1", new), deletion("d2", new, FAR))
        )

        await store.admit(Admission("deleted", changes=(deleted,)))

        assert await drain_lane(store) == []
        assert await drain_lane(store, FAR) == ["p2", "d2"]
        assert await store.dead_letters() == []

    async def test_the_posts_of_a_message_exclude_dead_letters(self, store: Store) -> None:
        new = new_message("m1")
        posts = [post("p1", new), post("p2", new, FAR), post("p3", new, HOME)]
        await admit(store, new, *posts)
        await begin_and_settle(store, "p1", copy("x0"))
        await store.settle(Settlement(OperationId("p2"), "dead", error="refused"))

        assert await store.posts_of(new.id) == [posts[0], posts[2]]
        assert await store.posts_of(new_message("m2").id) == []

    async def test_a_post_is_unproved_until_an_operator_replays_it(self, store: Store) -> None:
        new = new_message("m1")
        p1 = post("p1", new)
        await admit(store, new, p1, post("p2", new, FAR))
        await begin_and_settle(store, "p2", copy("x0"))
        assert not await store.has_unproved_post(new.id, p1.lane)

        await store.begin(OperationId("p1"))
        await store.settle(Settlement(OperationId("p1"), "unproved", error="no answer"))
        assert await store.has_unproved_post(new.id, p1.lane)
        assert not await store.has_unproved_post(new.id, post("p2", new, FAR).lane)

        await store.replay(OperationId("p1"))
        assert not await store.has_unproved_post(new.id, p1.lane)

    # --- resolving ----------------------------------------------------------------------------

    async def test_a_native_id_resolves_to_the_message_posted_in_that_channel(
        self, store: Store
    ) -> None:
        await admit(store, new_message("m1"))

        assert await store.resolve(HOME, "m1") == new_message("m1").id
        assert await store.resolve(AWAY, "m1") is None
        assert await store.resolve(HOME, "m2") is None

    async def test_a_native_id_resolves_to_the_message_of_our_copy(self, store: Store) -> None:
        new = new_message("m1")
        await admit(store, new, post("p1", new))

        await begin_and_settle(store, "p1", copy("x1"), copy("x2", 1))

        assert await store.resolve(AWAY, "x1") == new.id
        assert await store.resolve(AWAY, "x2") == new.id

    async def test_a_copy_resolves_while_the_end_of_its_post_waits_for_company(
        self, store: Store
    ) -> None:
        new = new_message("m1")
        await admit(store, new, post("p1", new))
        await store.begin(OperationId("p1"))

        ending = asyncio.create_task(store.settle(done("p1", copy("x1")), patient=True))
        await asyncio.sleep(0)  # it was told, and is not stored

        assert await store.resolve(AWAY, "x1") == new.id
        assert await ending

    async def test_a_deleted_copy_still_resolves(self, store: Store) -> None:
        new = new_message("m1")
        removal = DeleteMessage(
            id=OperationId("d1"), account=ACME, channel=AWAY, room=ROOM, message=new.id
        )
        await admit(store, new, post("p1", new), removal)
        await begin_and_settle(store, "p1", copy("x1"))

        await begin_and_settle(store, "d1", copy("x1", deleted=True))

        assert await store.resolve(AWAY, "x1") == new.id

    async def test_a_copy_that_starts_a_thread_anew_resolves_to_its_own_message(
        self, store: Store
    ) -> None:
        new = new_message("m1", thread="m0", root="m0")
        await admit(store, new, post("p1", new, root=new.root))

        await begin_and_settle(store, "p1", copy("x1"), thread_of=new.root)

        assert await store.resolve(AWAY, "x1") == new.id

    # --- lanes --------------------------------------------------------------------------------

    async def test_the_head_of_a_lane_has_the_delivery_and_its_times(
        self, store: Store, clock: ManualClock
    ) -> None:
        new = new_message("m1")
        clock.now = START + 7

        await admit(store, new, post("p1", new))

        assert await store.head(AWAY.lane) == OutboxItem(
            delivery=Delivery(operation=post("p1", new), message=new.message),
            state="waiting",
            attempts=0,
            due=START + 7,
            created=START + 7,
        )

    async def test_an_empty_lane_has_no_head(self, store: Store) -> None:
        assert await store.head(AWAY.lane) is None
        assert await store.open_lanes() == []

    async def test_a_lane_keeps_the_order_of_admission(self, store: Store) -> None:
        first, second = new_message("m1"), new_message("m2")
        await admit(store, first, post("z", first), post("y", first))
        await admit(store, second, post("x", second), post("elsewhere", second, FAR))

        assert sorted(await store.open_lanes()) == sorted([AWAY.lane, FAR.lane])
        assert await drain_lane(store) == ["z", "y", "x"]
        assert await store.open_lanes() == [FAR.lane]

    async def test_an_operation_is_known_once_it_is_queued(self, store: Store) -> None:
        new = new_message("m1")
        await admit(store, new, post("p1", new))
        assert await store.knows_operation(OperationId("p1"))
        assert not await store.knows_operation(OperationId("nobody's"))

    async def test_the_oldest_open_notice_of_a_lane_is_found_behind_other_posts(
        self, store: Store
    ) -> None:
        new, new_notice = new_message("m1"), new_message("n1")
        notice = new_notice.message.model_copy(update={"message_id": "bridge:late"})
        new_notice = replace(new_notice, message=notice, native_id=None)
        await admit(store, new, post("p1", new))
        assert await store.notice(AWAY.lane) is None
        await admit(store, new_notice, post("p2", new_notice))

        item = await store.notice(AWAY.lane)
        assert item is not None
        assert item.delivery.operation.id == "p2"
        await store.settle(Settlement(OperationId("p2"), "done"))
        assert await store.notice(AWAY.lane) is None

    async def test_an_operation_that_is_being_sent_stays_the_head(
        self, store: Store, clock: ManualClock
    ) -> None:
        new = new_message("m1")
        await admit(store, new, post("p1", new))
        clock.now += 3

        await store.begin(OperationId("p1"))

        item = await head(store)
        assert (item.state, item.attempts, item.began) == ("sending", 1, START + 3)
        assert await store.open_lanes() == [AWAY.lane]

    async def test_each_begin_counts_as_an_attempt(self, store: Store) -> None:
        new = new_message("m1")
        await admit(store, new, post("p1", new))

        for _ in range(3):
            await store.begin(OperationId("p1"))

        assert (await head(store)).attempts == 3

    async def test_an_operation_may_begin_with_its_admission(
        self, store: Store, clock: ManualClock
    ) -> None:
        new = new_message("m1")
        begun = frozenset({OperationId("p1")})
        await admit(store, new, post("p1", new), post("p2", new), begun=begun)

        first = await head(store)
        assert (first.state, first.attempts, first.began) == ("sending", 1, clock.now)
        await store.settle(done("p1"))
        second = await head(store)
        assert (second.state, second.attempts, second.began) == ("waiting", 0, None)

    async def test_a_settled_or_unknown_operation_cannot_begin(self, store: Store) -> None:
        new = new_message("m1")
        await admit(store, new, post("p1", new))
        await begin_and_settle(store, "p1", copy("x1"))

        with pytest.raises(NotOpen, match="p1"):
            await store.begin(OperationId("p1"))
        with pytest.raises(NotOpen, match="p9"):
            await store.begin(OperationId("p9"))

    async def test_a_postponed_operation_waits_for_its_time(self, store: Store) -> None:
        new = new_message("m1")
        await admit(store, new, post("p1", new))
        await store.begin(OperationId("p1"))

        await store.postpone(OperationId("p1"), START + 30, "429: wait 30 s")

        item = await head(store)
        assert (item.state, item.attempts, item.due) == ("waiting", 1, START + 30)
        (lane,) = (await store.status()).lanes
        assert list(await store.lanes_waiting()) == [lane]
        assert lane.error == "429: wait 30 s"

    async def test_a_settled_operation_is_not_postponed(self, store: Store) -> None:
        new = new_message("m1")
        await admit(store, new, post("p1", new))
        await begin_and_settle(store, "p1", copy("x1"))

        await store.postpone(OperationId("p1"), START + 30, "too late")

        assert await store.head(AWAY.lane) is None

    async def test_copies_recorded_so_far_are_in_the_delivery(self, store: Store) -> None:
        new = new_message("m1")
        await admit(store, new, post("p1", new))
        await store.begin(OperationId("p1"))

        await store.record(OperationId("p1"), [copy("x1", 1), copy("x0", 0, thread="t")])

        assert (await head(store)).delivery.copies == (copy("x0", 0, thread="t"), copy("x1", 1))
        assert await store.resolve(AWAY, "x0") == new.id

    async def test_a_slot_recorded_before_keeps_its_first_receipt(self, store: Store) -> None:
        new = new_message("m1")
        await admit(store, new, post("p1", new))

        await store.record(OperationId("p1"), [copy("x0")])
        await store.record(OperationId("p1"), [copy("other"), copy("x1", 1)])

        assert (await head(store)).delivery.copies == (copy("x0"), copy("x1", 1))

    async def test_a_settled_operation_records_nothing(self, store: Store) -> None:
        new = new_message("m1")
        await admit(store, new, post("p1", new), edit("e1", new))
        await begin_and_settle(store, "p1", copy("x0"))

        await store.record(OperationId("p1"), [copy("x1", 1)])

        assert (await head(store)).delivery.copies == (copy("x0"),)

    async def test_an_operation_that_nobody_knows_records_nothing(self, store: Store) -> None:
        await store.record(OperationId("p9"), [copy("x1")])

        assert await store.resolve(AWAY, "x1") is None

    async def test_after_is_the_last_native_id_of_the_last_sent_post(self, store: Store) -> None:
        new = new_message("m1")
        operations = [post(f"p{number}", new) for number in range(3)]
        await admit(store, new, *operations)
        assert (await head(store)).after is None

        await begin_and_settle(store, "p0", copy("x0"), copy("x1", 1))
        assert (await head(store)).after == "x1"
        await store.settle(Settlement(OperationId("p1"), "dead", error="gone"))

        assert (await head(store)).after == "x1"

    # --- settling -----------------------------------------------------------------------------

    async def test_an_operation_is_settled_once(self, store: Store) -> None:
        new = new_message("m1")
        await admit(store, new, post("p1", new), edit("e1", new))
        await store.begin(OperationId("p1"))

        assert await store.settle(done("p1", copy("x1"))) is True
        assert await store.settle(done("p1", copy("x2"))) is False
        assert await store.settle(Settlement(OperationId("p1"), "dead")) is False
        assert (await head(store)).delivery.copies == (copy("x1"),)

    async def test_an_operation_can_be_settled_before_it_began(self, store: Store) -> None:
        new = new_message("m1")
        await admit(store, new, post("p1", new))

        assert await store.settle(Settlement(OperationId("p1"), "cancelled")) is True
        assert await store.open_lanes() == []

    async def test_the_delivery_of_an_edit_has_the_copies_of_the_post(self, store: Store) -> None:
        new = new_message("m1")
        await admit(store, new, post("p1", new))
        await begin_and_settle(store, "p1", copy("x1", 1, thread="t"), copy("x0", 0, thread="t"))

        await store.change_message(ann_message("m1", "changed"), "edited", [edit("e1", new)])

        assert (await head(store)).delivery == Delivery(
            operation=edit("e1", new),
            message=ann_message("m1", "changed"),
            copies=(copy("x0", 0, thread="t"), copy("x1", 1, thread="t")),
        )

    async def test_copies_that_were_recorded_and_settled_are_joined(self, store: Store) -> None:
        new = new_message("m1")
        await admit(store, new, post("p1", new), edit("e1", new))
        await store.begin(OperationId("p1"))
        await store.record(OperationId("p1"), [copy("x0")])

        await store.settle(done("p1", copy("x1", 1)))

        item = await head(store)
        assert item.delivery.copies == (copy("x0"), copy("x1", 1))
        assert item.after == "x1"

    async def test_an_edit_replaces_adds_and_removes_copies(self, store: Store) -> None:
        new = new_message("m1")
        await admit(store, new, post("p1", new), edit("e1", new), edit("e2", new))
        await begin_and_settle(store, "p1", copy("x0"), copy("x1", 1), copy("x2", 2))

        await begin_and_settle(store, "e1", copy("y0"), copy("x1", 1), copy("x2", 2, deleted=True))

        assert (await head(store)).delivery.copies == (copy("y0"), copy("x1", 1))

    async def test_an_edit_keeps_the_thread_of_a_copy(self, store: Store) -> None:
        new = new_message("m1")
        await admit(store, new, post("p1", new), edit("e1", new), edit("e2", new))
        await begin_and_settle(store, "p1", copy("x0", thread="t"))

        await begin_and_settle(store, "e1", copy("x0"))

        assert (await head(store)).delivery.copies == (copy("x0", thread="t"),)

    async def test_in_its_own_channel_the_original_counts_as_a_copy(self, store: Store) -> None:
        new = new_message("m1")
        reaction = AddReaction(
            id=OperationId("r1"),
            account=ACME,
            channel=HOME,
            room=ROOM,
            message=new.id,
            emoji="👍",
        )

        await admit(store, new, reaction)

        item = await store.head(HOME.reaction_lane)
        assert item is not None
        assert item.delivery.copies == (copy("m1"),)
        assert list(await store.copies(new.id, HOME)) == [copy("m1")]
        assert list(await store.copies(new.id, AWAY)) == []

    @pytest.mark.parametrize("state", ["dead", "unproved"])
    async def test_a_dead_or_unproved_post_can_be_settled_as_done(
        self, store: Store, state: Any
    ) -> None:
        new = new_message("m1")
        await admit(store, new, post("p1", new))
        await store.begin(OperationId("p1"))
        await store.settle(Settlement(OperationId("p1"), state, error="no answer"))

        assert await store.settle(done("p1", copy("x1"))) is True
        assert await store.settle(done("p1", copy("x1"))) is False
        assert await store.dead_letters() == []
        assert await store.resolve(AWAY, "x1") == new.id

    # --- threads and replies ------------------------------------------------------------------

    async def test_an_answer_is_posted_below_our_copy_of_its_root(self, store: Store) -> None:
        root, answer = new_message("m0"), new_message("m1", thread="m0", root="m0")
        await admit(store, root, post("p0", root))
        await begin_and_settle(store, "p0", copy("x0"), copy("x0b", 1))

        await admit(store, answer, post("p1", answer, root=root.id))

        item = await head(store)
        assert (item.delivery.thread, item.thread_missing) == ("x0", False)

    async def test_an_answer_in_the_roots_channel_is_posted_below_the_original(
        self, store: Store
    ) -> None:
        root = new_message("m0")
        answer = NewMessage(ann_message("a1"), ANN, START, root=root.id)
        await admit(store, root)

        await admit(store, answer, post("p1", answer, HOME, root=root.id))

        item = await head(store, HOME)
        assert (item.delivery.thread, item.thread_missing) == ("m0", False)

    @pytest.mark.parametrize("native_id", ["m0", "19:a:b%3A"])
    async def test_an_unarchived_root_is_known_by_its_id_in_its_own_channel(
        self, store: Store, native_id: str
    ) -> None:
        root = message_id_of(HOME, native_id)
        answer = NewMessage(ann_message("a1"), ANN, START, root=root)

        await admit(store, answer, post("p1", answer, HOME, root=root))

        item = await head(store, HOME)
        assert (item.delivery.thread, item.thread_missing) == (native_id, False)

    async def test_the_thread_is_missing_where_the_root_has_no_copy(self, store: Store) -> None:
        answer = new_message("m1", thread="m0", root="m0")

        await admit(store, answer, post("p1", answer, root=answer.root))

        item = await head(store)
        assert (item.delivery.thread, item.thread_missing) == (None, True)

    async def test_later_answers_are_posted_below_the_message_that_replaces_the_root(
        self, store: Store
    ) -> None:
        first, second = new_message("m1", root="m0"), new_message("m2", root="m0")
        await admit(store, first, post("p1", first, root=first.root))
        await begin_and_settle(store, "p1", copy("x1"), copy("x2", 1), thread_of=first.root)

        await admit(store, second, post("p2", second, root=second.root))

        item = await head(store)
        assert (item.delivery.thread, item.thread_missing) == ("x1", False)

    async def test_a_new_first_message_of_a_thread_replaces_its_deleted_root(
        self, store: Store
    ) -> None:
        root, first, second = (
            new_message("m0"),
            new_message("m1", root="m0"),
            new_message("m2", root="m0"),
        )
        await admit(store, root, post("p0", root))
        await begin_and_settle(store, "p0", copy("x0"))
        await admit(store, first, post("p1", first, root=root.id), post("h1", first, HOME))
        await begin_and_settle(store, "p1", copy("x1"), thread_of=root.id)
        await begin_and_settle(store, "h1", copy("y1"), thread_of=root.id)

        await admit(store, second, post("p2", second, root=root.id))

        assert (await head(store)).delivery.thread == "x1"
        assert await store.resolve(AWAY, "x0") == root.id
        assert await store.copies(root.id, HOME) == (copy("m0"),)  # the original is not ours

    async def test_the_root_itself_is_preferred_to_the_message_that_replaces_it(
        self, store: Store
    ) -> None:
        root, answer = new_message("m0"), new_message("m1", root="m0")
        await admit(store, answer, post("p1", answer, root=root.id))
        await begin_and_settle(store, "p1", copy("x1"), thread_of=root.id)
        await admit(store, root, post("p0", root))
        await begin_and_settle(store, "p0", copy("x0"))

        await store.change_message(answer.message, "edited", [edit("e1", answer)])
        late = new_message("m2", root="m0")
        await admit(store, late, post("p2", late, root=root.id))

        await begin_and_settle(store, "e1", copy("x1"))
        assert (await head(store)).delivery.thread == "x0"

    async def test_a_reply_quotes_the_message_that_it_answers(self, store: Store) -> None:
        question, answer = new_message("m0", "Who is **there**?\n\nSay so"), new_message("m1", "Me")
        await admit(store, question, post("p0", question))
        await begin_and_settle(store, "p0", copy("x0"))

        await admit(store, answer, post("p1", answer, reply_to=question.id))
        await admit(
            store, new_message("m2"), post("p2", new_message("m2"), FAR, reply_to=question.id)
        )

        assert (await head(store)).delivery.quoted == QuotedMessage(
            author="Ann", excerpt="Who is there? Say so", native_id="x0"
        )
        assert (await head(store, FAR)).delivery.quoted == QuotedMessage(
            author="Ann", excerpt="Who is there? Say so", native_id=None
        )

    async def test_an_edited_reply_keeps_its_quote(self, store: Store) -> None:
        question, answer = new_message("m0", "Who is there?"), new_message("m1", "Me")
        await admit(store, question)
        await admit(store, answer, post("p1", answer, reply_to=question.id))
        await begin_and_settle(store, "p1", copy("x1"))

        change = edit("e1", answer).model_copy(update={"reply_to": question.id})
        await store.change_message(answer.message, "edited", [change])

        assert (await head(store)).delivery.quoted == QuotedMessage(
            author="Ann", excerpt="Who is there?"
        )

    async def test_a_quoted_excerpt_is_short(self, store: Store) -> None:
        question, answer = new_message("m0", "word " * 5000), new_message("m1")

        await admit(store, question)
        await admit(store, answer, post("p1", answer, reply_to=question.id))

        quoted = (await head(store)).delivery.quoted
        assert quoted is not None
        assert len(quoted.excerpt) <= 100
        assert quoted.excerpt.startswith("word word")

    async def test_deleted_and_private_messages_are_not_quoted(self, store: Store) -> None:
        gone, secret = new_message("m0", "gone"), new_message("m1", "secret", audience=(ANN.id,))
        answer = new_message("m2")
        await admit(store, gone)
        await admit(store, secret)
        await store.change_message(gone.message, "deleted")

        await admit(
            store,
            answer,
            post("p1", answer, AWAY, reply_to=gone.id),
            post("p2", answer, FAR, reply_to=secret.id),
        )

        assert (await head(store)).delivery.quoted == QuotedMessage(author="Ann", excerpt="")
        assert (await head(store, FAR)).delivery.quoted == QuotedMessage(author="Ann", excerpt="")

    async def test_a_reply_to_an_unknown_message_quotes_nothing(self, store: Store) -> None:
        answer = new_message("m1")

        await admit(store, answer, post("p1", answer, reply_to=message_id_of(HOME, "m0")))

        assert (await head(store)).delivery.quoted is None

    # --- dead letters -------------------------------------------------------------------------

    async def test_dead_letters_are_listed_with_their_reason(
        self, store: Store, clock: ManualClock
    ) -> None:
        first, second = new_message("m1", "Hello **you**"), new_message("m2")
        await admit(store, first, post("p1", first), post("p2", first, FAR))
        await admit(store, second, post("p3", second))
        await store.begin(OperationId("p1"))
        clock.now += 5
        await store.settle(Settlement(OperationId("p1"), "dead", error="no such channel"))
        clock.now += 5
        await store.settle(Settlement(OperationId("p2"), "unproved", error="no answer"))
        await store.settle(Settlement(OperationId("p3"), "cancelled"))

        assert await store.dead_letters() == [
            DeadLetter(post("p1", first), "dead", "no such channel", 1, START + 5, "Hello you"),
            DeadLetter(post("p2", first, FAR), "unproved", "no answer", 0, START + 10, "Hello you"),
        ]
        await store.change_message(first.message, "deleted")
        assert {letter.message_state for letter in await store.dead_letters()} == {"deleted"}

    async def test_a_replayed_dead_letter_waits_at_the_end_of_its_lane(
        self, store: Store, clock: ManualClock
    ) -> None:
        new = new_message("m1")
        await admit(store, new, post("p1", new), post("p2", new))
        await store.begin(OperationId("p1"))
        await store.settle(Settlement(OperationId("p1"), "dead", error="refused"))
        clock.now += 60

        assert await store.replay(OperationId("p1")) == AWAY.lane

        assert await store.dead_letters() == []
        await begin_and_settle(store, "p2", copy("x2"))
        assert await store.head(AWAY.lane) == OutboxItem(
            delivery=Delivery(operation=post("p1", new), message=new.message, copies=(copy("x2"),)),
            state="waiting",
            attempts=0,
            due=START + 60,
            created=START + 60,
            after="x2",
        )

    async def test_operations_that_wait_for_a_retry_or_an_answer_are_held_up(
        self, store: Store, clock: ManualClock
    ) -> None:
        for name in ("m1", "m2", "m3", "m4"):
            await admit(store, new_message(name), post(name.replace("m", "p"), new_message(name)))
        for name in ("p1", "p2", "p3"):
            await store.begin(OperationId(name))
        await store.postpone(OperationId("p1"), START + 60, "HTTP 503")
        await store.settle(Settlement(OperationId("p3"), "dead", error="refused"))
        assert [letter.operation.id for letter in await store.held_up()] == ["p1"]

        clock.now += 60

        waiting, sending = await store.held_up()
        assert (waiting.operation.id, waiting.state, waiting.error) == ("p1", "waiting", "HTTP 503")
        assert (waiting.attempts, waiting.time, waiting.excerpt) == (1, START, "Hello")
        assert (sending.operation.id, sending.state) == ("p2", "sending")

    async def test_hasten_makes_only_waiting_operations_due(self, store: Store) -> None:
        for name in ("m1", "m2", "m3"):
            await admit(store, new_message(name), post(name.replace("m", "p"), new_message(name)))
        await store.begin(OperationId("p1"))
        await store.postpone(OperationId("p1"), START + 60, "HTTP 503")
        await store.settle(Settlement(OperationId("p3"), "dead", error="refused"))

        assert await store.hasten(OperationId("p1")) == AWAY.lane

        item = await head(store)
        assert (item.delivery.operation.id, item.state, item.due) == ("p1", "waiting", 0.0)
        await store.begin(OperationId("p1"))
        assert await store.hasten(OperationId("p1")) == AWAY.lane
        assert (await head(store)).state == "sending"
        for name in ("p3", "p9"):
            with pytest.raises(StoreError, match="does not wait"):
                await store.hasten(OperationId(name))

    async def test_the_head_of_a_lane_can_skip_messages(self, store: Store) -> None:
        for name in ("m1", "m2", "m3"):
            await admit(store, new_message(name), post(name.replace("m", "p"), new_message(name)))

        async def first(*besides: str) -> str | None:
            ids = [new_message(name).id for name in besides]
            item = await store.head(AWAY.lane, besides=ids)
            return item and item.delivery.operation.id

        assert [await first(), await first("m1"), await first("m2")] == ["p1", "p2", "p1"]
        assert await first("m1", "m2", "m3") is None

    async def test_only_dead_letters_are_replayed(self, store: Store) -> None:
        new = new_message("m1")
        await admit(store, new, post("p1", new))

        for name in ("p1", "p9"):
            with pytest.raises(StoreError, match=name):
                await store.replay(OperationId(name))

    # --- live threads -------------------------------------------------------------------------

    async def test_live_threads_are_recent_threads_and_recent_posts(
        self, store: Store, clock: ManualClock
    ) -> None:
        await admit(store, new_message("old", time=START - 100))
        await admit(store, new_message("a", time=START + 1))
        await admit(store, new_message("b", thread="t", root="t", time=START + 2))
        await admit(store, new_message("c", thread="a", root="a", time=START + 3))
        clock.now = START + 4
        elsewhere = NewMessage(ann_message("e"), ANN, START)
        await admit(store, elsewhere, post("p1", elsewhere, HOME), post("p2", elsewhere))
        await begin_and_settle(store, "p1", copy("ours"))
        await begin_and_settle(store, "p2", copy("not here"))

        assert await store.live_threads(HOME, START) == ["ours", "a", "t"]
        assert await store.live_threads(HOME, START - 100) == ["ours", "a", "t", "old"]
        assert await store.live_threads(HOME, START + 100) == []

    async def test_a_deleted_copy_is_still_a_live_thread(
        self, store: Store, clock: ManualClock
    ) -> None:
        clock.now = START + 4
        new = new_message("m1", time=START)
        await admit(store, new, post("p1", new))
        await begin_and_settle(store, "p1", copy("x1"))
        await store.change_message(new.message, "deleted", [deletion("d1", new)])
        await begin_and_settle(store, "d1", copy("x1", deleted=True))

        assert await store.live_threads(AWAY, START) == ["x1"]

    async def test_live_threads_are_at_most_200(self, store: Store) -> None:
        for number in range(210):
            await admit(store, new_message(f"{number:03}", time=START + number))

        threads = await store.live_threads(HOME, START)

        assert threads == [f"{number:03}" for number in range(209, 9, -1)]

    # --- turns --------------------------------------------------------------------------------

    async def test_turns_are_queued_with_the_message(
        self, store: Store, clock: ManualClock
    ) -> None:
        clock.now = START + 3
        turns = [NewTurn(TurnId(name), "echo", ROOM, new_message("m1").id) for name in ("t2", "t1")]

        await admit(store, new_message("m1"), turns=tuple(turns))

        assert await store.open_turns() == [
            StoredTurn(TurnId("t2"), "echo", ROOM, new_message("m1").id, "queued", 0, START + 3),
            StoredTurn(TurnId("t1"), "echo", ROOM, new_message("m1").id, "queued", 0, START + 3),
        ]

    async def test_a_repeated_change_queues_its_turns_once(
        self, store: Store, clock: ManualClock
    ) -> None:
        clock.now = START + 3
        await admit(store, new_message("m1"))
        called = NewTurn(TurnId("t1"), "echo", ROOM, new_message("m1").id, called_by="agent")

        await store.change_message(ann_message("m1"), "complete", turns=[called])
        await store.change_message(ann_message("m1"), "complete", turns=[called])

        (turn,) = await store.open_turns()
        assert (turn.id, turn.state, turn.called_by) == ("t1", "queued", "agent")

    async def test_a_turn_records_its_attempts_tool_calls_and_answer(self, store: Store) -> None:
        await self._queue_turn(store)

        await store.set_turn(TurnId("t1"), "running")
        await store.set_turn(TurnId("t1"), "running", tool_called=True)
        await store.set_turn(TurnId("t1"), "waiting", answer=new_message("a1").id)
        await store.set_turn(TurnId("t1"), "running")

        assert await store.open_turns() == [
            StoredTurn(
                TurnId("t1"),
                "echo",
                ROOM,
                new_message("m1").id,
                "running",
                attempts=2,
                asked=START,
                tool_called=True,
                answer=new_message("a1").id,
            )
        ]

    async def test_translations_are_kept_for_the_texts_that_were_translated(
        self, store: Store
    ) -> None:
        await admit(store, new_message("m1"))
        own = new_message("m1").id

        await store.put_translation(own, "de", "d1", ["Hallo"])
        await store.put_translation(own, "fr", "d1", ["Salut", "toi"])
        await store.put_translation(own, "de", "d2", ["Guten Tag"])
        await store.put_translation(MessageId("tin:W1:home:m9"), "de", "d1", ["?"])

        assert await store.translation(own, "de", "d1") is None
        assert await store.translation(own, "de", "d2") == ("Guten Tag",)
        assert await store.translation(own, "fr", "d1") == ("Salut", "toi")
        assert await store.translation(MessageId("tin:W1:home:m9"), "de", "d1") is None

    async def test_the_turns_about_a_question_are_its_own_and_those_that_answers_called(
        self, store: Store
    ) -> None:
        first, second = new_message("m1").id, new_message("m2").id
        turns = (
            NewTurn(TurnId("t1"), "echo", ROOM, first),
            NewTurn(TurnId("t2"), "parrot", ROOM, MessageId("agent:echo:t1"), origin=first),
        )
        await admit(store, new_message("m1"), turns=turns)
        other = NewTurn(TurnId("t3"), "echo", ROOM, second)
        await admit(store, new_message("m2"), turns=(other,))
        await store.set_turn(TurnId("t1"), "failed", error="no key")

        found = await store.turns_about(first)

        assert [(turn.id, turn.state, turn.error) for turn in found] == [
            ("t1", "failed", "no key"), ("t2", "queued", ""),
        ]  # fmt: skip
        assert await store.turns_about(MessageId("m9")) == []

    @pytest.mark.parametrize("state", ["done", "failed", "interrupted"])
    async def test_an_ended_turn_is_not_open(self, store: Store, state: Any) -> None:
        await self._queue_turn(store)

        await store.set_turn(TurnId("t1"), state, error="")

        assert await store.open_turns() == []

    async def test_an_unknown_turn_is_an_error(self, store: Store) -> None:
        with pytest.raises(StoreError, match="t9"):
            await store.set_turn(TurnId("t9"), "running")

    async def test_was_called_covers_a_message_and_its_thread(self, store: Store) -> None:
        answer = new_message("m1", thread="m0", root="m0")
        await admit(store, answer, turns=(NewTurn(TurnId("t1"), "echo", ROOM, answer.id),))
        root = message_id_of(HOME, "m0")

        assert await store.was_called("echo", root)
        assert await store.was_called("echo", answer.id)
        assert not await store.was_called("other", root)
        assert not await store.was_called("echo", message_id_of(HOME, "m2"))

    async def test_the_last_answer_of_a_session_ignores_deleted_answers(self, store: Store) -> None:
        for number in range(1, 5):
            session = "other" if number == 3 else "one"
            turn = NewTurn(
                TurnId(f"t{number}"), "echo", ROOM, new_message(f"m{number}").id, session
            )
            await admit(store, new_message(f"m{number}"), turns=(turn,))
            await admit(store, new_message(f"a{number}"))
            if number != 4:
                await store.set_turn(turn.id, "done", answer=new_message(f"a{number}").id)

        assert await store.last_answer("one", before=TurnId("t4")) == new_message("a2").id
        assert await store.last_answer("one", before=TurnId("t2")) == new_message("a1").id
        assert await store.last_answer("none", before=TurnId("t4")) is None
        await store.change_message(ann_message("a2"), "deleted")
        assert await store.last_answer("one", before=TurnId("t4")) == new_message("a1").id

    async def _queue_turn(self, store: Store) -> None:
        turn = NewTurn(TurnId("t1"), "echo", ROOM, new_message("m1").id)
        await admit(store, new_message("m1"), turns=(turn,))

    # --- secrets ------------------------------------------------------------------------------

    @pytest.mark.parametrize("sealed", [False, True])
    async def test_values_of_an_account_are_stored_replaced_and_removed(
        self, store: Store, sealed: bool
    ) -> None:
        assert await store.get_value(ACME, "hook") is None

        await store.put_value(ACME, "hook", "one", sealed=not sealed)
        await store.put_value(ACME, "hook", "two", sealed=sealed)
        assert await store.get_value(ACME, "hook") == "two"
        assert await store.get_value(AccountId("other"), "hook") is None

        await store.remove_value(ACME, "hook")
        await store.remove_value(ACME, "hook")
        assert await store.get_value(ACME, "hook") is None

    async def test_keys_of_an_account_are_listed_by_their_beginning(self, store: Store) -> None:
        for key in ("file:b", "file:a", "file%", "filing", "other"):
            await store.put_value(ACME, key, "one")
        await store.put_value(AccountId("other"), "file:c", "one")

        assert await store.value_keys(ACME, "file:") == ["file:a", "file:b"]
        assert await store.value_keys(ACME, "nothing") == []

    async def test_many_values_are_saved_and_read_together(self, store: Store) -> None:
        await store.put_value(ACME, "file:a", "old")
        await store.put_value(ACME, "file:secret", "hidden", sealed=True)
        await store.put_value(ACME, "other", "one")

        await store.put_values(ACME, {"file:a": "new", "file:é": ""})
        await store.put_values(ACME, {})

        assert await store.values(ACME, "file:") == {"file:a": "new", "file:é": ""}
        assert await store.values(AccountId("other"), "file:") == {}

    async def test_credentials_are_stored_and_replaced_by_name(self, store: Store) -> None:
        await store.put_credential("acme.token", "xoxb-one")
        await store.put_credential("acme.token", "xoxb-two")

        assert await store.credential("acme.token") == "xoxb-two"
        assert await store.credential("other") is None

    # --- inspection ---------------------------------------------------------------------------

    async def test_the_status_counts_rows_operations_turns_and_messages(
        self, store: Store, clock: ManualClock
    ) -> None:
        new = new_message("m1")
        rows = [await store.accept(raw(number), advance=False) for number in range(3)]
        first, second, _ = [row.id for row in rows if row is not None]
        turn = NewTurn(TurnId("t1"), "echo", ROOM, new.id)
        operations = [post(f"p{number}", new) for number in range(5)]
        await store.admit(
            Admission(
                "routed", first, new, operations=(*operations, post("f", new, FAR)), turns=(turn,)
            )
        )
        await store.fail_row(second, "broken")
        await begin_and_settle(store, "p0", copy("x0"))
        await store.settle(Settlement(OperationId("p1"), "dead", error="no"))
        clock.now += 9
        await store.begin(OperationId("p2"))

        assert await store.status() == StoreStatus(
            inbox={"waiting": 1, "failed": 1, "done": 1},
            outbox={"waiting": 3, "sending": 1, "done": 1, "dead": 1},
            turns={"queued": 1},
            messages=1,
            lanes=[
                LaneStatus(AWAY.lane, ACME, 3, START, "sending"),
                LaneStatus(FAR.lane, ACME, 1, START, "waiting"),
            ],
            waiting={ACME: 1},
        )

        assert await store.pulse() == StorePulse(1, {"open": 4, "dead": 1, "unproved": 0})

    async def test_the_status_of_a_new_store_is_empty(self, store: Store) -> None:
        assert await store.status() == StoreStatus({}, {}, {}, 0, [])
        assert await store.pulse() == StorePulse(0, {"open": 0, "dead": 0, "unproved": 0})

    async def test_prove_writable_leaves_no_trace_in_the_status(self, store: Store) -> None:
        for _ in range(3):
            await store.prove_writable()

        assert await store.status() == StoreStatus({}, {}, {}, 0, [])

    async def test_a_message_is_explained_from_payload_to_receipts(
        self, store: Store, clock: ManualClock
    ) -> None:
        new, loss = new_message("m1"), Loss(path="/content/0", kind="text", what="a table")
        row = await store.accept(raw(1), advance=False)
        assert row is not None
        clock.now = START + 1
        await store.admit(
            Admission(
                "routed",
                row.id,
                new,
                timelines=(HOME_TIMELINE, ROOM_TIMELINE),
                operations=(post("p1", new), post("p2", new, FAR)),
            )
        )
        clock.now = START + 2
        await store.begin(OperationId("p1"))
        clock.now = START + 3
        await store.settle(done("p1", copy("x1"), losses=(loss,)))

        assert await store.explain(new.id) == Explanation(
            stored=stored(new),
            raw=raw(1),
            kept_at=START,
            outcome="routed",
            timelines=[(HOME_TIMELINE, 1), (ROOM_TIMELINE, 1)],
            operations=[
                OperationRecord(
                    operation=post("p1", new),
                    state="done",
                    attempts=1,
                    error="",
                    created=START + 1,
                    began=START + 2,
                    ended=START + 3,
                    losses=(loss,),
                    receipts=(copy("x1"),),
                ),
                OperationRecord(
                    operation=post("p2", new, FAR),
                    state="waiting",
                    attempts=0,
                    error="",
                    created=START + 1,
                    began=None,
                    ended=None,
                    losses=(),
                    receipts=(),
                ),
            ],
        )

    async def test_a_message_without_a_payload_can_be_explained(self, store: Store) -> None:
        await admit(store, new_message("a1"))

        assert await store.explain(new_message("a1").id) == Explanation(
            stored=stored(new_message("a1")),
            raw=None,
            kept_at=None,
            outcome="routed",
            timelines=[],
            operations=[],
        )
        assert await store.explain(MessageId("nothing")) is None

    # --- concurrency ----------------------------------------------------------------------------

    async def test_a_read_sees_every_write_that_was_awaited_before(self, store: Store) -> None:
        async def lane(channel: ChannelRef) -> Sequence[str]:
            for number in range(10):
                new = new_message(f"{channel.channel}-{number}")
                await admit(store, new, post(new.id, new, channel))
                assert (await head(store, channel)).delivery.operation.message == new.id
                await begin_and_settle(store, new.id, copy(f"x{number}"))
                assert await store.head(channel.lane) is None
            return [f"x{number}" for number in range(10)]

        channels = [ChannelRef(platform="wire", workspace="W2", channel=str(n)) for n in range(20)]
        await asyncio.gather(*(lane(channel) for channel in channels))

        assert (await store.status()).outbox == {"done": 200}

    async def test_concurrent_writes_return_in_the_order_of_their_calls(self, store: Store) -> None:
        woken: list[int] = []

        async def keep(number: int) -> None:
            await store.accept(raw(number), advance=False)
            woken.append(number)

        await asyncio.gather(*(keep(number) for number in range(50)))

        assert woken == list(range(50))

    async def test_a_closed_store_refuses_to_write(self, store: Store) -> None:
        await store.close()
        await store.close()

        with pytest.raises(StoreError, match="closed"):
            await store.accept(raw(1), advance=False)
