"""Posts archived messages in a channel, such as those of an import after a migration.

Each message is posted under its author's name and time, in its thread, oldest first. A replay is
slow on purpose: one message at a time, after the one before it has ended. It pings nobody, tells no
author of failures, and is not relayed. Progress is in the store, and an operation's id names its
message and channel, so that a replay continues after a restart and posts nothing twice.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Literal, Protocol
from uuid import UUID

import structlog
from pydantic import TypeAdapter, ValidationError

from bridge.errors import BridgeError, StoreError
from bridge.model import ChannelRef, LaneId, MessageId, OperationId, PostMessage, RoomId
from bridge.model.admission import Admission
from bridge.model.export_records import ArchivedMessage, ArchiveFilter
from bridge.model.operations import REPLAY
from bridge.model.people import Byline
from bridge.model.refs import is_notice
from bridge.ports.clock import Clock
from bridge.ports.store.admissions import AdmissionStore
from bridge.ports.store.archive import ArchiveStore
from bridge.ports.store.key_values import ROUTER_VALUES, KeyValueStore
from bridge.ports.store.outbox import OutboxStore
from bridge.router.rooms.rooms import Member, Rooms
from bridge.router.signals import OperationEnded

log = structlog.get_logger()

_SAVED = "replays"  # the value in the store that has the progress of all
_PAGE = 500  # messages that are counted at once
_LONGEST_NAME = 48  # characters of an author's name, so that the time fits behind it
_LONGEST_WAIT = 600.0  # seconds for one post, which may wait for its platform
State = Literal["waiting", "posting", "done", "stopped", "failed"]
_OPEN: tuple[State, ...] = ("waiting", "posting")


@dataclass
class ReplayProgress:
    """How far a replay is.

    - `source`: the name of the room or channel whose messages are posted, `timelines` the ids of
      its Conversations.
    - `target`: the channel that shows them, in this `room`.
    - `since`, `until`: seconds since 1970; `reached`: the time of the last message.
    - `after`: the moment of the last message, as pages of the archive name it.
    - `posted`, `failed`: how many messages; `left_out`: messages that were not posted, by reason.
    """

    source: str
    timelines: tuple[UUID, ...]
    target: ChannelRef
    room: RoomId
    since: float | None = None
    until: float | None = None
    after: int | None = None
    state: State = "waiting"
    error: str = ""
    posted: int = 0
    failed: int = 0
    reached: float | None = None
    left_out: dict[str, int] = field(default_factory=dict[str, int])

    @property
    def is_open(self) -> bool:
        """Whether something is left to post."""
        return self.state in _OPEN

    @property
    def key(self) -> tuple[str, str]:
        """What is posted where."""
        return self.source, self.target.key


_PROGRESS: TypeAdapter[list[ReplayProgress]] = TypeAdapter(list[ReplayProgress])


class _ReplayStore(ArchiveStore, AdmissionStore, OutboxStore, KeyValueStore, Protocol):
    """What `Replay` needs of the store."""


class Replay:
    """Posts one replay after the other."""

    def __init__(
        self,
        store: _ReplayStore,
        rooms: Rooms,
        clock: Clock,
        pause: float,
        wake_lane: Callable[[LaneId], None],
    ) -> None:
        self._store = store
        self._rooms = rooms
        self._clock = clock
        self._pause = pause
        self._wake_lane = wake_lane
        self._progress: dict[tuple[str, str], ReplayProgress] = {}
        self._worker: asyncio.Task[None] | None = None
        self._awaited: OperationId | None = None
        self._ended = asyncio.Event()
        self._state = ""

    @property
    def progress(self) -> Sequence[ReplayProgress]:
        """All replays, in the order in which somebody asked for them."""
        return list(self._progress.values())

    async def start(self) -> None:
        """Continue what the last process left. Raises StoreError."""
        saved = await self._store.get_value(ROUTER_VALUES, _SAVED)
        try:
            found = _PROGRESS.validate_json(saved) if saved else []
        except ValidationError as error:
            log.warning("replays_forgotten", error=str(error))
            found = []
        self._progress = {progress.key: progress for progress in found}
        self._wake()

    async def begin(self, asked: ReplayProgress) -> None:
        """Post these messages; a replay of the same messages that was stopped continues. Raises
        StoreError."""
        known = self._progress.get(asked.key)
        if known is not None and (known.since, known.until) == (asked.since, asked.until):
            if known.is_open:
                return
            asked = replace(known, state="waiting", error="")
        self._progress.pop(asked.key, None)
        self._progress[asked.key] = asked
        await self._save()
        self._wake()

    async def count(self, asked: ReplayProgress) -> int:
        """Return how many messages a replay would post. Raises StoreError."""
        selection = ArchiveFilter(since=asked.since, until=asked.until)
        count, after = 0, None
        while True:
            page = await self._store.archived_messages(
                asked.timelines, selection, after=after, limit=_PAGE
            )
            for archived in page.messages:
                own_id = MessageId(archived.message.message_id)
                count += not _reason_against(archived, own_id, asked.target)
            after = page.last
            if after is None:
                return count

    async def stop(self) -> int:
        """Stop all replays after the post that is under way. Returns how many there were. Raises
        StoreError."""
        stopped = [progress for progress in self._progress.values() if progress.is_open]
        for progress in stopped:
            progress.state = "stopped"
        await self._save()
        return len(stopped)

    async def close(self) -> None:
        """Stop at once; the next process continues."""
        if self._worker is not None:
            self._worker.cancel()
            await asyncio.gather(self._worker, return_exceptions=True)

    async def operation_ended(self, ended: OperationEnded) -> None:
        """Go on when the post that is awaited has ended."""
        if ended.operation.id == self._awaited:
            self._state = ended.state
            self._ended.set()

    async def _save(self) -> None:
        saved = _PROGRESS.dump_json(list(self._progress.values())).decode()
        await self._store.put_value(ROUTER_VALUES, _SAVED, saved)

    def _wake(self) -> None:
        if self._next() and (self._worker is None or self._worker.done()):
            self._worker = asyncio.create_task(self._work(), name="replay")

    def _next(self) -> ReplayProgress | None:
        return next((one for one in self._progress.values() if one.is_open), None)

    async def _work(self) -> None:
        while (progress := self._next()) is not None:
            try:
                await self._replay(progress)
            except BridgeError as error:
                progress.state, progress.error = "failed", error.public
                log.warning("replay_failed", channel=progress.target.key, error=str(error))
            await self._save()
            log.info(
                "replay_ended", channel=progress.target.key, state=progress.state,
                posted=progress.posted, failed=progress.failed,
            )  # fmt: skip

    async def _replay(self, progress: ReplayProgress) -> None:
        progress.state = "posting"
        selection = ArchiveFilter(since=progress.since, until=progress.until)
        while progress.state == "posting":
            page = await self._store.archived_messages(
                progress.timelines, selection, after=progress.after, limit=1
            )
            for message in page.messages:
                await self._post(progress, message)
                progress.reached = message.time
            if page.last is None:
                progress.state = "done"
                return
            progress.after = page.last
            await self._save()

    async def _post(self, progress: ReplayProgress, archived: ArchivedMessage) -> None:
        own_id = MessageId(archived.message.message_id)
        if reason := _reason_against(archived, own_id, progress.target):
            progress.left_out[reason] = progress.left_out.get(reason, 0) + 1
            return
        room = self._rooms.by_id.get(progress.room)
        member = None if room is None else room.member(progress.target)
        if member is None:
            raise StoreError(
                f"Channel {progress.target.key!r} is no longer in room {progress.room!r}"
            )
        post = _post_of(archived, own_id, progress.room, member)
        if await self._store.knows_operation(post.id):
            progress.posted += 1  # before a restart
            return
        self._awaited, self._state = post.id, ""
        self._ended.clear()
        await self._store.admit(Admission(outcome="replayed", operations=(post,)))
        self._wake_lane(post.lane)
        try:
            async with asyncio.timeout(_LONGEST_WAIT):
                await self._ended.wait()
        except TimeoutError:
            log.warning("replay_waits", channel=progress.target.key, operation=post.id)
        if self._state in ("", "done"):
            progress.posted += 1
        else:
            progress.failed += 1
        await self._clock.sleep(self._pause)


def _reason_against(archived: ArchivedMessage, own_id: MessageId, target: ChannelRef) -> str:
    """Why a message is not posted; empty if it is."""
    if archived.deleted:
        return "deleted"
    if archived.audience is not None:
        return "private"
    if is_notice(own_id) or archived.message.actor.role == "system":
        return "no message of a person"
    if archived.place is not None and archived.place.channel == target:
        return "written in the channel itself"
    return ""


def _post_of(
    archived: ArchivedMessage, own_id: MessageId, room: RoomId, member: Member
) -> PostMessage:
    author = archived.author
    time = datetime.fromtimestamp(archived.time, UTC).strftime("%Y-%m-%d %H:%M UTC")
    digest = hashlib.sha256(f"{member.channel.key}\n{own_id}".encode()).hexdigest()[:32]
    return PostMessage(
        id=OperationId(f"{REPLAY}{digest}"),
        account=member.account,
        channel=member.channel,
        room=room,
        message=own_id,
        byline=Byline(name=f"{author.name[:_LONGEST_NAME]} · {time}", picture=author.picture),
        root=None if member.options.threads == "flat" else archived.root,
        reply_to=archived.reply_to,
    )
