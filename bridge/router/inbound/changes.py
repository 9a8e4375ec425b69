"""What people edit and delete is edited and deleted wherever it is shown."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from bridge.content.messages.metadata import of_person, read_bridge_metadata, with_bridge_metadata
from bridge.model import (
    ActorId,
    Deletion,
    FilesAwaited,
    MessageEdited,
    MessageId,
    Operation,
    OperationId,
    Place,
    PostMessage,
    deletion_of,
    edit_of,
)
from bridge.model.archive_records import Change, Orphan, StoredMessage
from bridge.router.inbound.admission import lets_edit_out
from bridge.router.inbound.context import Passage, Surroundings
from bridge.router.inbound.moderation import copy_deleted, is_original
from bridge.router.outbound.kept_files import MEDIA, with_kept, with_kept_files
from bridge.router.outbound.notes import standing_notes
from bridge.router.rooms.options import Kind
from bridge.uacs import Message

_LONGEST_THREAD = 5000  # messages that go with their thread at once; older ones when compared
_JUST_AFTER = 1e-6  # seconds: before all that can happen to a message later
_TO_A_COPY = "kept: it happened to a copy"


async def change_by_edit(passage: Passage, event: MessageEdited, around: Surroundings) -> str:
    """The outcome; what changes is in the passage."""
    stored = await _said_here(event.place, event.target, around)
    if stored is None:
        return orphaned(passage, event.place, event.target)
    if not is_original(stored, event.place.channel, event.target):
        return _TO_A_COPY
    time = event.edited_at.timestamp()
    if stored.state == "deleted" or time <= stored.changed:
        return "kept: edited, but something later happened to it"
    message = await _as_it_is_now(passage, event, stored.message, around)
    if _says_the_same(message, stored.message):
        # Kept all the same: an edit that was made before this one must not win.
        passage.changes.append(Change(stored.message, "edited", time))
        return "kept: edited, but it says the same"
    files_changed = _kept_files(message) != _kept_files(stored.message)
    operations = await _edits(message, stored, passage, around, "edits", files=files_changed)
    passage.changes.append(Change(message, "edited", time, operations))
    return "edited"


async def add_files(passage: Passage, event: FilesAwaited, around: Surroundings) -> str:
    """The outcome: a message has files that could not be had when it came, unless it was changed
    since. It says what it said, and is not known to be edited."""
    stored = await _said_here(event.place, event.target, around)
    version = event.edited_at.timestamp() if event.edited_at else 0.0
    if stored is None or stored.state == "deleted" or stored.changed != version:
        return "kept: files came for what is said no more"
    if not passage.kept:
        return "kept: its files could not be had"
    message = with_kept(stored.message, passage.kept)
    operations = await _edits(message, stored, passage, around, "posts", files=True)
    passage.changes.append(Change(message, "edited", version + _JUST_AFTER, operations))
    return "files added"


async def _edits(
    message: Message,
    stored: StoredMessage,
    passage: Passage,
    around: Surroundings,
    kind: Kind,
    *,
    files: bool,
) -> tuple[Operation, ...]:
    """What changes its copies, where it may be seen."""
    rooms = {room.id: room for room in passage.rooms}
    return tuple(
        edit_of(post, OperationId(around.new_id()), files_changed=files)
        for post in await around.store.posts_of(MessageId(stored.message.message_id))
        if post.room in rooms and lets_edit_out(rooms[post.room], post, message, stored, kind)
    )


def orphaned(passage: Passage, place: Place, target: str) -> str:
    """The outcome of what happened to a message that nobody knows: it waits for it, and is noted
    for it where it waited in vain."""
    passage.waits_for = target
    passage.orphans.append(Orphan(place.channel, target, passage.row.id))
    return "orphan: the message is not known"


async def change_by_deletion(
    passage: Passage,
    event: Deletion,
    targets: Sequence[str],
    around: Surroundings,
) -> str:
    """The outcome; one change for each message that was said here. One that nobody knows is noted
    as gone: it will not be shown, should it come late."""
    copies: list[str] = []
    for target in targets:
        await asyncio.sleep(0)  # of a thread there may be thousands: others go on in between
        stored = await _said_here(event.place, target, around)
        if stored is None:
            gone = Orphan(event.place.channel, target, passage.row.id, deletion=True)
            passage.orphans.append(gone)
            continue
        if not is_original(stored, event.place.channel, target):
            copies.append(await copy_deleted(passage, event, target, stored, around))
            continue
        passage.changes += await _deleted(stored, event, around)
    if copies:
        return copies[0]
    return "deleted" if passage.changes else "orphan: deleted, but not known here"


async def _deleted(
    stored: StoredMessage, event: Deletion, around: Surroundings
) -> Sequence[Change]:
    """The message goes, and with it the notes below it, wherever they stand: they may quote it, and
    tell of nothing any more."""
    own_id = MessageId(stored.message.message_id)
    posts = await around.store.posts_of(own_id)
    places = [post.channel for post in posts] + ([stored.place.channel] if stored.place else [])
    changes = [_gone(stored.message, posts, event, around)]
    for place in {place.key: place for place in places}.values():
        for note in await standing_notes(around.store, own_id, place):
            shown = await around.store.posts_of(MessageId(note.message_id))
            changes.append(_gone(note, shown, event, around))
    return changes


def _gone(
    message: Message, posts: Sequence[PostMessage], event: Deletion, around: Surroundings
) -> Change:
    operations = [deletion_of(post, OperationId(around.new_id())) for post in posts]
    return Change(message, "deleted", event.time.timestamp(), tuple(operations))


async def stood_in_thread(place: Place, around: Surroundings) -> Sequence[str]:
    """The newest messages that stood in the thread of this place, by native id."""
    held = await around.store.held(place.channel, 0.0, limit=_LONGEST_THREAD, thread=place.thread)
    return [one.native_id for one in held]


async def _said_here(place: Place, native_id: str, around: Surroundings) -> StoredMessage | None:
    """The message that this native one is, or shows."""
    known = await around.store.resolve(place.channel, native_id)
    return await around.store.message(known) if known else None


async def _as_it_is_now(
    passage: Passage, event: MessageEdited, before: Message, around: Surroundings
) -> Message:
    """The new words and files under the old id, time and author, known to be edited."""
    message = event.message.model_copy(
        update={
            "message_id": before.message_id, "timestamp": before.timestamp, "actor": before.actor,
        }
    )  # fmt: skip
    message = of_person(message, await around.linking.person_of(ActorId(before.actor.id)))
    message = await around.reference_names.named(event.account, message)
    additions = read_bridge_metadata(message)[0].model_copy(update={"state": "edited"})
    known = read_bridge_metadata(before)[0].kept
    return await with_kept_files(with_bridge_metadata(message, additions), passage, around, known)


def _kept_files(message: Message) -> list[str]:
    """What we hold of it, in order."""
    media = (part for part in message.content if isinstance(part, MEDIA))
    return [part.source.file_id for part in media if part.source.file_id]


def _says_the_same(now: Message, before: Message) -> bool:
    return now.content == before.content
