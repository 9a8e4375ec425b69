"""What a platform shows of a message is written once for all of its channels that show it alike."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Generic, TypeVar

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
        self._written: OrderedDict[str, tuple[tuple[Any, ...], T]] = OrderedDict()

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
        read = (message, delivery.quoted, delivery.counterparts, delivery.feedback, *seen)
        before = self._written.get(message.message_id)
        if before is not None and before[0] == read:
            return before[1]
        written = write()
        self._written[message.message_id] = read, written
        self._written.move_to_end(message.message_id)
        if len(self._written) > _REMEMBERED:
            self._written.popitem(last=False)
        return written


def _has_stored_files(message: Message) -> bool:
    if all(part.type == "text" for part in message.content):
        return False
    if any(isinstance(part, MEDIA) and part.source.file_id for part in message.content):
        return True
    return bool(read_bridge_metadata(message)[0].kept)
