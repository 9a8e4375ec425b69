"""What a platform shows of a message is written once for all of its channels that show it alike."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

from bridge.content.messages.metadata import read_bridge_metadata
from bridge.content.messages.stored_files import MEDIA
from bridge.model import Delivery
from bridge.uacs import Message

T = TypeVar("T")

_REMEMBERED = 64  # messages


class WrittenOnce(Generic[T]):
    """The newest messages as one platform shows them. Callers do not change what they get.

    A message that still grows is written each time, for it is never the same; and so is one with
    stored files, because links to them expire.
    """

    def __init__(self) -> None:
        self._written: OrderedDict[str, tuple[Message, tuple[object, ...], T]] = OrderedDict()

    def of(self, delivery: Delivery, *seen: object, write: Callable[[], T]) -> T:
        """Returns what `write` returned for the same message, and returns it again for the next
        delivery.

        Args:
            delivery: The delivery.
            seen: What `write` reads of it beside the message, its counterparts, the quoted message
                and whether it asks for feedback; and what it reads of anything else.
            write: Writes the message.
        """
        message = delivery.message
        if delivery.operation.grows or _has_stored_files(message):
            return write()
        read = (delivery.quoted, delivery.counterparts, delivery.feedback, *seen)
        if (before := self._written.get(message.message_id)) is not None:
            message_before, read_before, written = before
            if read == read_before and _is_same(message, message_before):
                return written
        written = write()
        self._written[message.message_id] = message, read, written
        self._written.move_to_end(message.message_id)
        if len(self._written) > _REMEMBERED:
            self._written.popitem(last=False)
        return written


def _is_same(one: Message, other: Message) -> bool:
    """Whether both show the same: 1, 1.0 and true, which Python takes for equal, do not."""
    return one is other or one.model_dump_json() == other.model_dump_json()


def _has_stored_files(message: Message) -> bool:
    if all(part.type == "text" for part in message.content):
        return False
    if any(isinstance(part, MEDIA) and part.source.file_id for part in message.content):
        return True
    return bool(read_bridge_metadata(message)[0].kept)
