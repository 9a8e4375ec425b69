"""Edits and deletions of people reach every copy; an older one never wins, a deletion is final."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from bridge.content.messages.metadata import read_bridge_metadata, with_bridge_metadata, with_person
from bridge.content.messages.stored_files import MEDIA, with_kept
from bridge.model import (
    ActorId,
    Deletion,
    FilesAwaited,
    MessageDeleted,
    MessageEdited,
    MessageId,
    MessagesBulkDeleted,
    Operation,
    OperationId,
    Place,
    PostMessage,
    ThreadDeleted,
    deletion_of,
    edit_of,
)
from bridge.model.admission import Admission
from bridge.model.archive_records import Change, Orphan, StoredMessage
from bridge.model.inbox_records import InboxRow
from bridge.ports.store.messages import MessageStore
from bridge.ports.store.recovery import RecoveryStore
from bridge.router.inbound.attachments import AttachmentFetcher
from bridge.router.inbound.context import Admitted, Planned, ended
from bridge.router.inbound.moderation import CopyDeletion, CopyDeletions, is_original
from bridge.router.inbound.threads import shown_message
from bridge.router.outbound.notes import standing_notes
from bridge.router.rooms.filters import lets_edit_out
from bridge.router.rooms.linking import Linking
from bridge.router.rooms.options import Kind
from bridge.router.rooms.reference_names import ReferenceNames
from bridge.router.rooms.rooms import Room
from bridge.uacs import Message

_LONGEST_THREAD = 5000  # messages that go with their thread at once; older ones when compared
_JUST_AFTER = 1e-6  # seconds: before all that can happen to a message later
_TO_A_COPY = "kept: it happened to a copy"


@dataclass(frozen=True)
class ApplyEdit:
    """Changes the message and its copies as the edit says."""

    copies: CopyEdits
    linking: Linking
    reference_names: ReferenceNames
    fetcher: AttachmentFetcher

    async def __call__(self, admitted: Admitted) -> Admitted | Planned:
        event = admitted.event
        if not isinstance(event, MessageEdited):
            return admitted
        channel = event.place.channel
        stored = await shown_message(self.copies.store, channel, event.target)
        if stored is None:
            return orphaned(admitted.row, event.place, event.target)
        if not is_original(stored, channel, event.target):
            return ended(_TO_A_COPY)
        time = event.edited_at.timestamp()
        if stored.state == "deleted" or time <= stored.changed:
            return ended("kept: edited, but something later happened to it")
        message, missing = await self._as_it_is_now(admitted.row, event, stored.message)
        if message.content == stored.message.content:
            # Kept all the same: an edit that was made before this one must not win.
            outcome = "kept: edited, but it says the same"
            change = Change(stored.message, "edited", time, actor=event.actor)
        else:
            files_changed = _kept_files(message) != _kept_files(stored.message)
            operations = await self.copies.of(
                message, stored, admitted.rooms, "edits", files=files_changed
            )
            outcome = "edited"
            change = Change(message, "edited", time, operations, event.actor)
        return Planned(admission=Admission(outcome, changes=(change,)), misses_files=missing)

    async def _as_it_is_now(
        self, row: InboxRow, event: MessageEdited, before: Message
    ) -> tuple[Message, bool]:
        """The new words and files under the old id, time and author, marked as edited; and whether
        files of it are missing."""
        message = event.message.model_copy(
            update={
                "message_id": before.message_id, "timestamp": before.timestamp,
                "actor": before.actor,
            }
        )  # fmt: skip
        message = with_person(message, await self.linking.person_of(ActorId(before.actor.id)))
        message = await self.reference_names.named(event.account, message)
        additions = read_bridge_metadata(message)[0].model_copy(update={"state": "edited"})
        message = with_bridge_metadata(message, additions)
        kept_before = read_bridge_metadata(before)[0].kept
        return await self.fetcher.with_files(message, event.account, row, kept_before)


@dataclass(frozen=True)
class AddFiles:
    """Adds files that could not be fetched when their message came, unless the message was changed
    since. The text stays, and the message is not marked as edited."""

    copies: CopyEdits

    async def __call__(self, admitted: Admitted) -> Admitted | Planned:
        event = admitted.event
        if not isinstance(event, FilesAwaited):
            return admitted
        stored = await shown_message(self.copies.store, event.place.channel, event.target)
        version = event.edited_at.timestamp() if event.edited_at else 0.0
        if stored is None or stored.state == "deleted" or stored.changed != version:
            return ended("kept: files came for what is said no more")
        if not admitted.kept_files:
            return ended("kept: its files could not be had")
        message = with_kept(stored.message, admitted.kept_files)
        operations = await self.copies.of(message, stored, admitted.rooms, "posts", files=True)
        change = Change(message, "edited", version + _JUST_AFTER, operations)
        return Planned(admission=Admission("files added", changes=(change,)))


@dataclass(frozen=True)
class CopyEdits:
    """Makes the edits of a message's copies."""

    store: MessageStore
    new_id: Callable[[], str]

    async def of(
        self, message: Message, stored: StoredMessage, rooms: Sequence[Room], kind: Kind,
        *, files: bool,
    ) -> tuple[Operation, ...]:  # fmt: skip
        """Return the operations that change the copies in these rooms, for channels that are shown
        events of this kind; `files`: the files changed, too. Raises StoreError."""
        by_id = {room.id: room for room in rooms}
        return tuple(
            edit_of(post, OperationId(self.new_id()), files_changed=files)
            for post in await self.store.posts_of(MessageId(stored.message.message_id))
            if post.room in by_id and lets_edit_out(by_id[post.room], post, message, stored, kind)
        )


def orphaned(row: InboxRow, place: Place, target: str) -> Planned:
    """Return the plan of an event whose message is unknown: the event waits for the message; after
    that it is noted for the message, should it come late."""
    orphan = Orphan(place.channel, target, row.id)
    admission = Admission("orphan: the message is not known", orphans=(orphan,))
    return Planned(admission=admission, waits_for=target)


class _DeletionStore(MessageStore, RecoveryStore, Protocol):
    """What `ApplyDeletion` needs of the store."""


@dataclass(frozen=True)
class ApplyDeletion:
    """Deletes messages, their copies and the notes below them. An unknown message is noted as gone:
    it is not shown, should it come late."""

    store: _DeletionStore
    new_id: Callable[[], str]
    of_copies: CopyDeletions

    async def __call__(self, admitted: Admitted) -> Admitted | Planned:
        match admitted.event:
            case MessageDeleted(target=target) as event:
                return await self._delete(admitted.row, event, (target,))
            case MessagesBulkDeleted(targets=targets) as event:
                return await self._delete(admitted.row, event, targets)
            case ThreadDeleted() as event:
                return await self._delete(admitted.row, event, await self._in_thread(event.place))
            case _:
                return admitted

    async def _delete(self, row: InboxRow, event: Deletion, targets: Sequence[str]) -> Planned:
        """One change for each original among the targets."""
        copies: list[CopyDeletion] = []
        changes: list[Change] = []
        orphans: list[Orphan] = []
        channel = event.place.channel
        for target in targets:
            await asyncio.sleep(0)  # a thread may have thousands: others go on in between
            stored = await shown_message(self.store, channel, target)
            if stored is None:
                orphans.append(Orphan(channel, target, row.id, deletion=True))
            elif is_original(stored, channel, target):
                changes += await self._deleted(stored, event)
            else:
                copies.append(await self.of_copies.of(event, target, stored))
                changes += copies[-1].changes
        if copies:
            outcome = copies[0].outcome
        else:
            outcome = "deleted" if changes else "orphan: deleted, but not known here"
        admission = Admission(
            outcome,
            changes=tuple(changes),
            gone=tuple(gone for copy in copies for gone in copy.gone),
            removals=tuple(removal for copy in copies for removal in copy.removals),
            orphans=tuple(orphans),
        )
        return Planned(admission=admission)

    async def _deleted(self, stored: StoredMessage, event: Deletion) -> Sequence[Change]:
        """The message goes, and with it the notes below it, wherever they stand: they may quote it,
        and describe nothing any more."""
        own_id = MessageId(stored.message.message_id)
        posts = await self.store.posts_of(own_id)
        channels = [post.channel for post in posts]
        channels += [stored.place.channel] if stored.place else []
        changes = [self._change(stored.message, posts, event)]
        for channel in {channel.key: channel for channel in channels}.values():
            for note in await standing_notes(self.store, own_id, channel):
                note_posts = await self.store.posts_of(MessageId(note.message_id))
                changes.append(self._change(note, note_posts, event))
        return changes

    def _change(self, message: Message, posts: Sequence[PostMessage], event: Deletion) -> Change:
        operations = [deletion_of(post, OperationId(self.new_id())) for post in posts]
        return Change(message, "deleted", event.time.timestamp(), tuple(operations), event.actor)

    async def _in_thread(self, place: Place) -> Sequence[str]:
        """The newest messages of the thread of this place, by native id."""
        limit, thread = _LONGEST_THREAD, place.thread
        messages = await self.store.expected_messages(
            place.channel, 0.0, limit=limit, thread=thread
        )
        return [message.native_id for message in messages]


def _kept_files(message: Message) -> list[str]:
    """The files of it that we hold, in order."""
    media = (part for part in message.content if isinstance(part, MEDIA))
    return [part.source.file_id for part in media if part.source.file_id]
