"""An import reads each part of an export once, reports what it cannot read, and goes on where it
was stopped."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from uuid import UUID

import pytest

from bridge.archive.exporting import export
from bridge.archive.importing import Importer, ImportReport
from bridge.errors import ExportUnreadable
from bridge.model import ActorId, Person, Place, RoomId, conversation_id_of, message_id_of
from bridge.model.admission import Admission
from bridge.model.archive_records import NewMessage, Timeline, channel_timeline
from bridge.model.export_records import (
    ArchivedMessage,
    ArchiveFilter,
    ExportedChannel,
    ExportedFile,
    ExportedMessage,
    ExportedPerson,
    ExportedReaction,
    ExportItem,
    ExportUnit,
    ImportCounts,
    NotUnderstood,
    NotWritten,
)
from bridge.model.room_records import RoomForm
from bridge.store.sqlite import SqliteStore
from bridge.testing.clock import ManualClock
from bridge.testing.memory_blobs import MemoryBlobs
from bridge.uacs import Actor, FilePart, Message, TextPart
from tests.archive.conversation import ANN, BOB, DEN, HOME, START, a_conversation, exported

EVERYTHING = ArchiveFilter(deleted=True)


class Listed:
    """An export of these items, in units of a few."""

    def __init__(self, items: Sequence[ExportItem], size: int = 3) -> None:
        self.parts = [items[at : at + size] for at in range(0, len(items), size)]
        self.read_units: list[str] = []
        self.broken: set[str] = set()

    def units(self) -> Sequence[ExportUnit]:
        return [
            ExportUnit(str(number), str(hash(str(part))), len(part))
            for number, part in enumerate(self.parts)
        ]

    def read(self, unit: ExportUnit) -> Iterator[ExportItem]:
        self.read_units.append(unit.key)
        for item in self.parts[int(unit.key)]:
            if unit.key in self.broken:
                raise ExportUnreadable(f"{unit.key} ends too early")
            yield item

    def close(self) -> None:
        """Nothing is open."""


class Gathered:
    """An export that keeps what it is given."""

    def __init__(self) -> None:
        self.people: list[ExportedPerson] = []
        self.channels: list[ExportedChannel] = []
        self.messages: list[ArchivedMessage] = []

    def person(self, person: ExportedPerson) -> None:
        self.people.append(person)

    def channel(self, channel: ExportedChannel) -> None:
        self.channels.append(channel)

    def message(self, message: ArchivedMessage) -> None:
        self.messages.append(message)

    def finish(self) -> Sequence[NotWritten]:
        return [NotWritten(None, "colour")]

    def close(self) -> None:
        """Nothing is open."""


@pytest.fixture
async def store() -> AsyncIterator[SqliteStore]:
    store = SqliteStore.in_memory(ManualClock())
    yield store
    await store.close()


async def run(
    store: SqliteStore, items: Sequence[ExportItem], *, blobs: MemoryBlobs | None = None
) -> ImportReport:
    return await Importer(store, blobs, "tin", "tin").run(Listed(items))


async def gathered(store: SqliteStore, wanted: ArchiveFilter = EVERYTHING) -> Gathered:
    writer = Gathered()
    await export(store, writer, wanted)
    return writer


def ids(writer: Gathered) -> list[str | None]:
    return [message.native_id for message in writer.messages]


async def test_everything_of_an_export_comes_out_again(store: SqliteStore) -> None:
    report = await run(store, a_conversation())
    out = await gathered(store)

    assert report.counts == ImportCounts(added=8)
    assert [person.person for person in out.people] == [ANN, BOB]
    assert out.people[0].native == {"id": "U1", "tz": "Europe/Berlin"}
    assert [channel.name for channel in out.channels] == ["den", "home"]
    assert ids(out) == ["6", "7", "8", "1", "2", "3", "4", "5"]
    by_id = {message.native_id: message for message in out.messages}
    for item in a_conversation():
        if isinstance(item, ExportedMessage):
            message = by_id[item.posted.native_id]
            root, reply_to = item.relations()
            assert message.message == item.posted.message
            assert message.author == item.posted.author
            assert message.payload == item.payload
            assert message.place == item.posted.place
            assert (message.root, message.reply_to) == (root, reply_to)
            assert (message.deleted, message.pinned) == (item.deleted, item.pinned)


async def test_a_reaction_without_a_time_gets_that_of_its_message(store: SqliteStore) -> None:
    await run(store, a_conversation())

    (first,) = [m for m in (await gathered(store)).messages if m.native_id == "1"]

    assert [(r.emoji, r.actor, r.at) for r in first.reactions] == [
        ("👍", ANN.id, START.timestamp() + 1),
        ("👍", BOB.id, START.timestamp() + 5),
        (":party:", BOB.id, START.timestamp() + 9.5),
    ]


async def test_a_second_import_adds_nothing_and_reads_nothing(store: SqliteStore) -> None:
    await run(store, a_conversation())
    again = Listed(a_conversation())

    report = await Importer(store, None, "tin", "tin").run(again)

    assert report.counts == ImportCounts()
    assert report.units == report.units_before == 4
    assert again.read_units == []


async def test_messages_in_another_order_stay_one(store: SqliteStore) -> None:
    await run(store, a_conversation())

    report = await run(store, a_conversation()[::-1])

    assert report.counts == ImportCounts(known=8)
    assert len((await gathered(store)).messages) == 8


async def test_a_changed_part_takes_over_edits_deletions_and_reactions(store: SqliteStore) -> None:
    await run(store, [exported(1), exported(2), replace(exported(3), reactions=_thumb())])

    report = await run(
        store,
        [exported(1, text="better", edited=True), replace(exported(2), deleted=True), exported(3)],
    )

    first, second, third = (await gathered(store)).messages
    assert report.counts == ImportCounts(changed=3)
    assert (first.message.content[0], first.versions) == (_text("better"), 1)
    assert second.deleted
    assert third.reactions == ()


async def test_an_older_export_undoes_no_edit(store: SqliteStore) -> None:
    await run(store, [exported(1, text="better", edited=True)])

    report = await run(store, [exported(1)])

    assert report.counts == ImportCounts(known=1)
    assert (await gathered(store)).messages[0].message.content[0] == _text("better")


async def test_a_message_that_came_live_stays_one_and_keeps_its_reactions(
    store: SqliteStore,
) -> None:
    item = exported(1)
    posted = item.posted
    live = NewMessage(
        posted.message, ANN, posted.time.timestamp(), place=posted.place, native_id="1"
    )
    await store.admit(
        Admission("kept", message=live, people=(ANN,), timelines=(channel_timeline(HOME),))
    )

    report = await run(store, [replace(item, reactions=_thumb())])

    (message,) = (await gathered(store)).messages
    assert report.counts == ImportCounts(known=1)
    assert message.reactions == ()


async def test_imported_messages_stand_before_live_ones_that_are_later(store: SqliteStore) -> None:
    item = exported(50)
    live = NewMessage(
        item.posted.message, ANN, item.posted.time.timestamp(), place=item.posted.place,
        native_id="50",
    )  # fmt: skip
    await store.admit(
        Admission("kept", message=live, people=(ANN,), timelines=(channel_timeline(HOME),))
    )

    await run(store, [exported(number) for number in (60, 3, 1)])

    assert ids(await gathered(store)) == ["1", "3", "50", "60"]


async def test_what_is_not_understood_is_counted_with_its_first_places(store: SqliteStore) -> None:
    unknown = [NotUnderstood(f"day {day}", "poll", "two answers") for day in range(5)]

    report = await run(store, [exported(1), *unknown])

    assert report.not_understood == {"poll": 5}
    assert [item.where for item in report.examples["poll"]] == ["day 0", "day 1", "day 2"]


async def test_a_part_that_cannot_be_read_stops_no_other_and_is_read_again(
    store: SqliteStore,
) -> None:
    items = [exported(number) for number in range(1, 10)]
    export_with_fault = Listed(items)
    export_with_fault.broken.add("1")

    report = await Importer(store, None, "tin", "tin").run(export_with_fault)
    export_with_fault.broken.clear()
    again = await Importer(store, None, "tin", "tin").run(export_with_fault)

    assert report.unreadable == [("1", "1 ends too early")]
    assert (report.counts.added, again.counts.added) == (6, 3)
    assert ids(await gathered(store)) == [str(number) for number in range(1, 10)]


async def test_files_of_an_export_are_stored_and_named_by_their_content(
    store: SqliteStore,
) -> None:
    blobs = MemoryBlobs(ManualClock())
    file = ExportedFile("a.pdf", lambda: io.BytesIO(b"plain words"))
    items = [
        replace(item, files={"https://files.test/a.pdf": file})
        if isinstance(item, ExportedMessage) and item.posted.native_id == "7"
        else item
        for item in a_conversation()
    ]

    report = await run(store, items, blobs=blobs)

    (message,) = [m for m in (await gathered(store)).messages if m.native_id == "7"]
    part = message.message.content[1]
    assert isinstance(part, FilePart)
    stored = await blobs.stat(part.source.file_id or "")
    assert report.files == 1
    assert stored is not None
    assert stored.size == len(b"plain words")


async def test_a_file_that_cannot_be_opened_is_reported_and_its_message_imported(
    store: SqliteStore,
) -> None:
    def missing() -> io.BytesIO:
        raise FileNotFoundError("a.pdf")

    item = replace(exported(1), files={"https://files.test/a.pdf": ExportedFile("a.pdf", missing)})

    report = await run(store, [item], blobs=MemoryBlobs(ManualClock()))

    assert report.counts.added == 1
    assert report.not_understood == {"file that cannot be read": 1}


async def test_more_messages_of_one_second_than_it_has_numbers_keep_their_order(
    store: SqliteStore,
) -> None:
    one_second = [replace(exported(n), posted=_at(exported(n), 7)) for n in range(1, 2101)]

    await run(store, one_second)

    assert ids(await gathered(store)) == [str(number) for number in range(1, 2101)]


async def test_an_export_begins_and_ends_at_the_given_times(store: SqliteStore) -> None:
    await run(store, [exported(number) for number in range(1, 10)])
    since, until = START.timestamp() + 3, START.timestamp() + 6

    out = await gathered(store, ArchiveFilter(since=since, until=until))

    assert ids(out) == ["3", "4", "5"]


async def test_deleted_messages_and_whispers_come_only_when_they_are_asked_for(
    store: SqliteStore,
) -> None:
    whisper = exported(2)
    posted = whisper.posted.model_copy(update={"audience": (BOB.id,)})
    await run(store, [replace(exported(1), deleted=True), replace(whisper, posted=posted)])

    assert ids(await gathered(store, ArchiveFilter())) == []
    assert ids(await gathered(store, ArchiveFilter(deleted=True))) == ["1"]
    assert ids(await gathered(store, ArchiveFilter(readers=(BOB.id,)))) == ["2"]
    assert ids(await gathered(store, ArchiveFilter(readers=(ANN.id,)))) == []


async def test_a_thread_is_a_conversation_of_its_own(store: SqliteStore) -> None:
    await run(store, a_conversation())

    thread = await store.conversation(conversation_id_of(Place(channel=HOME, thread="1")))

    assert [m.message_id for m in thread.messages] == [message_id_of(HOME, "2")]
    assert isinstance(UUID(thread.conversation_id), UUID)


async def test_a_long_channel_is_read_in_pages(store: SqliteStore) -> None:
    await run(store, [exported(number, channel=DEN) for number in range(1, 2501)])

    assert ids(await gathered(store)) == [str(number) for number in range(1, 2501)]


def _thumb() -> tuple[ExportedReaction, ...]:
    return (ExportedReaction("👍", BOB.id),)


def _text(text: str) -> object:
    return exported(1, text=text).posted.message.content[0]


def _at(item: ExportedMessage, second: int) -> object:
    return item.posted.model_copy(update={"time": exported(second).posted.time})


async def test_a_room_is_exported_with_its_agents_and_the_history_of_its_channels(
    store: SqliteStore,
) -> None:
    await run(store, [exported(1), exported(2, channel=DEN)])
    room = RoomForm(RoomId("lobby"), "digest", (HOME.key, "agent:helper"))
    await store.stand_rooms([room])
    (own_id,) = (await store.room_ids([RoomId("lobby")])).values()
    question = exported(3)
    answer = Message(
        message_id="agent:helper:1",
        timestamp="2024-03-01T00:00:03Z",
        actor=Actor(id="agent:helper", role="assistant", name="helper"),
        content=(TextPart(text="the answer"),),
    )
    helper = Person(id=ActorId("agent:helper"), name="helper", bot=True)
    timeline = Timeline(own_id, "room", "lobby")
    for new, timelines in (
        (_live(question), (channel_timeline(HOME), timeline)),
        (
            NewMessage(answer, helper, START.timestamp() + 4, reply_to=_live(question).id),
            (timeline,),
        ),
    ):
        await store.admit(Admission("routed", message=new, timelines=timelines))

    out = await gathered(store)

    assert [(channel.name, channel.kind) for channel in out.channels] == [
        ("lobby", "room"),
        ("den:1", "public"),
    ]
    assert [message.message.message_id for message in out.messages] == [
        message_id_of(HOME, "1"),
        message_id_of(HOME, "3"),
        "agent:helper:1",
        message_id_of(DEN, "2"),
    ]


def _live(item: ExportedMessage) -> NewMessage:
    posted = item.posted
    return NewMessage(
        posted.message,
        ANN,
        posted.time.timestamp(),
        place=posted.place,
        native_id=posted.native_id,
    )
