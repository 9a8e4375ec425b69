"""Notices to people about messages that did not reach every channel, with a button to retry."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import structlog

from bridge.content.cards.tree import Button
from bridge.content.markdown import text_to_markdown
from bridge.content.text.tree import List, ListItem, Paragraph, Text
from bridge.errors import StoreError
from bridge.model import (
    AccountId,
    ChannelRef,
    DeleteMessage,
    EditMessage,
    LaneId,
    MessageId,
    Operation,
    OperationId,
    PostMessage,
    split_key,
)
from bridge.model.archive_records import StoredMessage
from bridge.model.operations import is_replay
from bridge.model.outbox_records import OperationRecord
from bridge.model.refs import is_notice
from bridge.ports.clock import Clock
from bridge.ports.connector import Connector
from bridge.ports.store.messages import MessageStore
from bridge.ports.store.outbox import OutboxStore
from bridge.router.outbound.failure_marks import FailureMarks
from bridge.router.outbound.notices import Notices, notice_id, plain_markdown
from bridge.router.rooms.direct_messages import DirectMessages
from bridge.router.rooms.features import has_whispers
from bridge.router.rooms.rooms import Member, Room, Rooms
from bridge.router.signals import OperationEnded

log = structlog.get_logger()

_LONGEST_AGE = 86_400.0  # seconds: older failures are not reported at a start


class _FailuresStore(MessageStore, OutboxStore, Protocol):
    """What `DeliveryFailures` needs of the store."""


class DeliveryFailures:
    """Posts one notice for each message that did not reach every channel: it answers the message,
    says why, and changes when the message arrives after all. Or puts a mark on the message, and
    removes it then."""

    def __init__(
        self,
        store: _FailuresStore,
        rooms: Rooms,
        connectors: Mapping[AccountId, Connector],
        notices: Notices,
        failure_marks: FailureMarks,
        directs: DirectMessages,
        clock: Clock,
        wake_lane: Callable[[LaneId], None],
    ) -> None:
        self._store = store
        self._rooms = rooms
        self._connectors = connectors
        self._notices = notices
        self._clock = clock
        self._wake_lane = wake_lane
        self._failure_marks = failure_marks
        self._directs = directs
        self._undelivered: set[MessageId] = set()
        self._notifying = asyncio.Lock()  # of two lanes, the later one has the newer state

    async def start(self) -> None:
        """Post the notices that were not posted before the last stop."""
        for letter in await self._store.dead_letters():
            message = letter.operation.message
            if is_replay(letter.operation.id):
                continue
            if message not in self._undelivered and not is_notice(message):
                self._undelivered.add(message)
                if letter.time >= self._clock.time() - _LONGEST_AGE:
                    await self._notify(message)

    async def operation_ended(self, ended: OperationEnded) -> None:
        """Report the failure of an operation, or the end of an earlier one. Raises StoreError."""
        operation, state = ended.operation, ended.state
        if is_replay(operation.id):
            return
        if state == "cancelled":
            await self._notify_of_refusal(operation)
        if state == "done" and operation.message not in self._undelivered:
            return
        if not is_notice(operation.message):
            self._undelivered.add(operation.message)
            await self._notify(operation.message)

    async def _notify_of_refusal(self, operation: Operation) -> None:
        """Tell the author of a message that its recipient wants no direct messages any more."""
        about, channel = operation.message, operation.channel
        if not isinstance(operation, PostMessage) or is_notice(about):
            return
        if self._rooms.accepts_direct(operation.room, operation.account, channel):
            return
        stored = await self._store.message(about)
        end = stored and stored.state != "deleted" and self._directs.end_of(stored.author.id)
        if end:
            await self._notices.post(
                notice_id("unwanted", about),
                "⚠️ This did not arrive: the recipient accepts no direct messages any more.",
                end.room,
                [Member(end.account, end.channel)],
                reply_to=about,
            )

    async def retry(self, own_id: MessageId) -> str:
        """Retry the message of a notice whose button somebody pressed. Returns the outcome."""
        about = _message_of(own_id)
        count = 0 if about is None else await self._try_again(about)
        return f"press: tried again: {count}"

    async def undelivered_in(self, room: Room, channel: ChannelRef) -> list[tuple[MessageId, str]]:
        """Return the messages of this channel that did not reach every other channel of the room,
        the newest first: the beginning of each, with the reasons."""
        reasons_of: dict[MessageId, str] = {}
        for letter in reversed(await self._store.dead_letters()):
            about = letter.operation.message
            if letter.operation.room != room.id or about in reasons_of:
                continue
            stored = await self._store.message(about)
            here = stored is not None and stored.place and stored.place.channel == channel
            if here and (missing := await self._missing(about)):
                reasons = " ".join(map(self._line, missing))
                reasons_of[about] = f"“{letter.excerpt}”: {reasons}"
        return list(reasons_of.items())

    async def retry_in(self, room: Room, channel: ChannelRef) -> int:
        """Retry all messages that `undelivered_in` returns. Returns their number."""
        undelivered = await self.undelivered_in(room, channel)
        for about, _ in undelivered:
            await self._try_again(about)
        return len(undelivered)

    async def _try_again(self, message: MessageId) -> int:
        operations = [record.operation for record in await self._missing(message)]
        for operation in operations:
            await self._replay(operation.id)
        return len(operations)

    async def _replay(self, operation: OperationId) -> None:
        try:
            self._wake_lane(await self._store.replay(operation))
        except StoreError as error:  # pressed twice: it waits already
            log.info("replay_rejected", operation=operation, error=str(error))

    async def _notify(self, message: MessageId) -> None:
        async with self._notifying:
            await self._post_failures(message)

    async def _post_failures(self, message: MessageId) -> None:
        missing, stored = await self._missing(message), await self._store.message(message)
        if not missing:
            self._undelivered.discard(message)
            await self._notices.change(_notice_about(message), "This was delivered after all.")
            if stored and stored.place:
                await self._failure_marks.take_back(message, stored.place.channel)
            return
        room = self._rooms.find(missing[0].operation.room)
        home = stored and room and self._home(stored, room)
        if not (stored and room and home):
            return
        by_mark = room.undelivered == "reaction"
        if not by_mark or not await self._failure_marks.put(message, room.id, home):
            await self._notices.post(
                _notice_about(message),
                self._words(missing),
                room.id,
                [home],
                root=stored.root,
                reply_to=message,
                buttons=[Button((Text("Try again"),), id="retry")],
                to=stored.author.id if self._whispered(room, home) else None,
            )

    async def _missing(self, message: MessageId) -> list[OperationRecord]:
        explanation = await self._store.explain(message)
        records = explanation.operations if explanation else ()
        return [
            record
            for record in records
            if record.state in ("dead", "unproved")
            and isinstance(record.operation, PostMessage | EditMessage | DeleteMessage)
        ]

    def _home(self, stored: StoredMessage, room: Room) -> Member | None:
        """The channel where the message was posted; None where the room is not shown there, or
        reports no failures."""
        if room.undelivered == "off":
            return None
        if stored.place is None:  # an agent's, or written by a command to one person
            return self._directs.home(room, stored.author.id)
        member = room.member(stored.place.channel)
        return member if member and member.listens else None

    def _whispered(self, room: Room, home: Member) -> bool:
        return has_whispers(self._connectors, home.account) and room.undelivered == "whisper"

    def _words(self, missing: Sequence[OperationRecord]) -> str:
        lines = [self._line(record) for record in missing]
        if len(lines) == 1:
            return plain_markdown(f"⚠️ {lines[0]}")
        items = tuple(ListItem((Paragraph((Text(line),)),)) for line in lines)
        return text_to_markdown((Paragraph((Text("⚠️ Not everything arrived:"),)), List(items)))

    def _line(self, record: OperationRecord) -> str:
        operation = record.operation
        where = self._rooms.name_of(operation.channel)
        failure = _FAILURE_TEXTS[operation.type]
        return f"This {failure} {where}: {record.error}"


_FAILURE_TEXTS = {
    "post_message": "did not reach",
    "edit_message": "was not changed in",
    "delete_message": "was not deleted in",
}


def _notice_about(message: MessageId) -> MessageId:
    return notice_id("undelivered", message)


def _message_of(own_id: MessageId) -> MessageId | None:
    """The message that a notice is about."""
    match split_key(own_id):
        case [_, "undelivered", message]:
            return MessageId(message)
        case _:
            return None
