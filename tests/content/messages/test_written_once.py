"""A message is written once for all channels of a platform, and anew where anything differs."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bridge.content.messages.written_once import WrittenOnce
from bridge.model import (
    AccountId,
    Byline,
    ChannelRef,
    Counterparts,
    Delivery,
    MessageId,
    OperationId,
    PostMessage,
    QuotedMessage,
    RoomId,
)
from bridge.uacs import Actor, FilePart, MediaSource, Message, StructuredDataPart, TextPart


def message(text: str = "hello", number: int = 1) -> Message:
    return Message(
        message_id=f"m{number}", timestamp="2026-01-01T00:00:00Z",
        actor=Actor(id="slack:T1:U1", role="human"), content=(TextPart(text=text),),
    )  # fmt: skip


def to(channel: str, what: Message, *, stream: bool = False) -> Delivery:
    return Delivery(
        operation=PostMessage(
            id=OperationId(f"to {channel}"), account=AccountId("acme"), room=RoomId("r"),
            message=MessageId(what.message_id), byline=Byline(name="Ann"), stream=stream,
            channel=ChannelRef(platform="slack", workspace="T1", channel=channel),
        ),
        message=what,
    )  # fmt: skip


class Writer:
    """Counts how often it writes."""

    def __init__(self) -> None:
        self.once = WrittenOnce[int]()
        self.count = 0

    def write(self, delivery: Delivery, *seen: object) -> int:
        return self.once.of(delivery, *seen, write=self._write)

    def _write(self) -> int:
        self.count += 1
        return self.count


def test_an_equal_message_is_written_once_for_all_channels() -> None:
    writer = Writer()
    written = [writer.write(to(name, message()), "cards") for name in ("C1", "C2", "C3")]
    assert written == [1, 1, 1]


CHANGES: dict[str, Callable[[Delivery], Delivery]] = {
    "words": lambda it: it.model_copy(update={"message": message("hello!")}),
    "quote": lambda it: it.model_copy(
        update={"quoted": QuotedMessage(author="Bob", excerpt="what?")}
    ),
    "counterparts": lambda it: it.model_copy(
        update={"counterparts": Counterparts(groups={"discord:1:2": "slack:T1:S1"})}
    ),
    "feedback": lambda it: it.model_copy(update={"feedback": True}),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_message_that_differs_is_written_anew(change: str) -> None:
    writer, delivery = Writer(), to("C1", message())
    assert writer.write(delivery) == 1
    assert writer.write(CHANGES[change](delivery)) == 2


def test_values_that_only_python_takes_for_equal_are_written_anew() -> None:
    writer = Writer()
    for number, value in enumerate((1, True, 1.0), start=1):
        data = StructuredDataPart(data={"value": value}, schema_id="https://example.com/x")
        what = message().model_copy(update={"content": (data,)})
        assert writer.write(to("C1", what)) == number


def test_what_else_the_writer_sees_counts_too() -> None:
    writer = Writer()
    written = [writer.write(to("C1", message()), name) for name in ("Ann", "Bob", "Bob")]
    assert written == [1, 2, 2]


def test_a_message_that_grows_is_written_each_time() -> None:
    writer = Writer()
    assert [writer.write(to("C1", message(), stream=True)) for _ in range(2)] == [1, 2]


def test_links_to_stored_files_are_made_each_time_because_they_expire() -> None:
    writer = Writer()
    with_file = FilePart(source=MediaSource(file_id="sha256:00"), media_type="text/plain")
    what = message().model_copy(update={"content": (with_file,)})
    assert [writer.write(to("C1", what)) for _ in range(2)] == [1, 2]


def test_only_the_newest_messages_are_remembered() -> None:
    writer = Writer()
    for number in range(65):
        writer.write(to("C1", message(number=number)))
    assert writer.write(to("C1", message(number=64))) == 65  # remembered
    assert writer.write(to("C1", message(number=0))) == 66
