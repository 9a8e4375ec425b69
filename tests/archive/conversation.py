"""A small conversation of two channels, as an import reads it: a thread, an edit, a deletion,
reactions, a file, a whisper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from bridge.model import (
    AccountId,
    ChannelRef,
    MessagePosted,
    Person,
    Place,
    actor_id_of,
    message_id_of,
)
from bridge.model.export_records import (
    ExportedChannel,
    ExportedMessage,
    ExportedPerson,
    ExportedReaction,
    ExportItem,
)
from bridge.uacs import Actor, FilePart, MediaSource, Message, TextPart, to_timestamp

START = datetime(2024, 2, 29, 23, 59, 58, tzinfo=UTC)
ANN = Person(id=actor_id_of("tin", "W1", "U1"), name="Ann", picture="https://pictures.test/ann")
BOB = Person(id=actor_id_of("tin", "W1", "U2"), name="Bob 漢字")
HOME = ChannelRef(platform="tin", workspace="W1", channel="home")
DEN = ChannelRef(platform="tin", workspace="W1", channel="den:1")


def exported(
    number: int,
    author: Person = ANN,
    *,
    channel: ChannelRef = HOME,
    text: str = "",
    root: str | None = None,
    edited: bool = False,
) -> ExportedMessage:
    """Return the message of this number; it is `number` seconds after the first."""
    native_id = str(number)
    time = START + timedelta(seconds=number)
    return ExportedMessage(
        posted=MessagePosted(
            account=AccountId("import"),
            place=Place(channel=channel, thread=root),
            time=time,
            native_id=native_id,
            message=Message(
                message_id=message_id_of(channel, native_id),
                timestamp=to_timestamp(time),
                actor=Actor(id=author.id, role="human", name=author.name),
                content=(TextPart(text=text or f"message {number}"),),
            ),
            author=author,
            edited_at=time + timedelta(seconds=30) if edited else None,
        ),
        payload=b'{"number": %d}' % number,
        root=root,
    )


def a_conversation() -> Sequence[ExportItem]:
    """Return people, channels and eight messages."""
    with_file = exported(7, channel=DEN)
    part = FilePart(source=MediaSource(url="https://files.test/a.pdf"), media_type="text/plain")
    content = (*with_file.posted.message.content, part)
    message = with_file.posted.message.model_copy(update={"content": content})
    posted = with_file.posted.model_copy(update={"message": message})
    reactions = (
        ExportedReaction("👍", BOB.id, START.timestamp() + 5),
        ExportedReaction("👍", ANN.id),
        ExportedReaction(":party:", BOB.id, START.timestamp() + 9.5),
    )
    return [
        ExportedPerson(ANN, {"id": "U1", "tz": "Europe/Berlin"}),
        ExportedPerson(BOB),
        ExportedChannel(HOME, "home", topic="**Tea**", members=(ANN.id, BOB.id), created=1.5e9),
        ExportedChannel(DEN, "den", "private", native={"id": "den:1"}),
        replace(exported(1), reactions=reactions, pinned=True),
        exported(2, BOB, root="1", text="in the thread"),
        replace(exported(3, BOB, edited=True), editor=BOB.id, reply_to="1"),
        replace(exported(4), deleted=True),
        exported(5, text="日本語の文 and `code`"),
        exported(6, BOB, channel=DEN),
        replace(with_file, posted=posted),
        exported(8, channel=DEN),
    ]
