"""Reads what was said in a channel before the bridge came into the archive. Nothing of it is
mirrored or given to an agent.

It is the least urgent work, like the comparison with the archive: one request at a time, with a
pause after each. A backfill that was stopped begins again, and what it had read is known.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Literal, Protocol

import structlog

from bridge.content.text.emoji import canonical_emoji
from bridge.errors import BridgeError, RateLimited, Refused, UndecodableEvent
from bridge.model import AccountId, ActorId, ChannelRef, MessageEdited, MessagePosted
from bridge.model.export_records import (
    ExportedMessage,
    ExportedPerson,
    ExportedReaction,
    ImportBatch,
)
from bridge.model.inbox_records import InboxRow
from bridge.ports.abilities.platform_history import Standing, Stretch
from bridge.ports.clock import Clock
from bridge.ports.connector import Connector
from bridge.ports.store.archive import ArchiveStore
from bridge.ports.store.messages import MessageStore
from bridge.router.inbound.attachments import AttachmentFetcher
from bridge.router.rooms.bans import BansAndPauses
from bridge.router.rooms.filters import is_private
from bridge.router.rooms.people import People
from bridge.router.rooms.rooms import Room, Rooms
from bridge.router.runtime.timeouts import Timeouts
from bridge.uacs import Message

log = structlog.get_logger()

_SHORTEST_PAUSE = 0.25
State = Literal["waiting", "reading", "done", "stopped", "failed"]


@dataclass
class BackfillProgress:
    """How far the backfill of one channel is.

    - `since`: seconds since 1970, from which on it reads; `reached`: the time of the oldest post so
      far.
    - `added`, `known`: messages that are new to the archive, and that it had.
    - `left_out`: posts that were read and not archived, by reason.
    """

    channel: ChannelRef
    since: float
    state: State = "waiting"
    error: str = ""
    requests: int = 0
    added: int = 0
    known: int = 0
    reached: float | None = None
    left_out: Counter[str] = field(default_factory=Counter[str])


class _BackfillStore(ArchiveStore, MessageStore, Protocol):
    """What `Backfill` needs of the store."""


class Backfill:
    """Reads one channel after the other."""

    def __init__(
        self,
        store: _BackfillStore,
        connectors: Mapping[AccountId, Connector],
        rooms: Rooms,
        people: People,
        bans: BansAndPauses,
        fetcher: AttachmentFetcher,
        clock: Clock,
        timeouts: Timeouts,
    ) -> None:
        self._store = store
        self._connectors = connectors
        self._rooms = rooms
        self._people = people
        self._bans = bans
        self._fetcher = fetcher
        self._clock = clock
        self._timeouts = timeouts
        self._progress: dict[str, BackfillProgress] = {}
        self._queue: asyncio.Queue[tuple[AccountId, BackfillProgress]] = asyncio.Queue()
        self._worker: asyncio.Task[None] | None = None

    @property
    def progress(self) -> Sequence[BackfillProgress]:
        """All backfills since the start of the bridge, in the order in which they were asked
        for."""
        return list(self._progress.values())

    def begin(self, channels: Iterable[tuple[AccountId, ChannelRef]], since: float) -> None:
        """Read these channels from `since` (seconds since 1970) on. A channel that is being read
        goes on."""
        for account, channel in channels:
            known = self._progress.get(channel.key)
            if known is not None and known.state in ("waiting", "reading"):
                continue
            progress = BackfillProgress(channel, since)
            self._progress.pop(channel.key, None)
            self._progress[channel.key] = progress
            self._queue.put_nowait((account, progress))
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work(), name="backfill")

    def stop(self) -> int:
        """Stop all backfills after the request that is under way. Returns how many there were."""
        stopped = [one for one in self._progress.values() if one.state in ("waiting", "reading")]
        for progress in stopped:
            progress.state = "stopped"
        return len(stopped)

    async def close(self) -> None:
        """Stop at once."""
        if self._worker is not None:
            self._worker.cancel()
            await asyncio.gather(self._worker, return_exceptions=True)

    async def _work(self) -> None:
        while not self._queue.empty():
            account, progress = self._queue.get_nowait()
            if progress.state == "waiting":
                await self._read_channel(account, progress)

    async def _read_channel(self, account: AccountId, progress: BackfillProgress) -> None:
        progress.state = "reading"
        failures = 0
        while progress.state == "reading":
            try:
                await self._read_once(account, progress)
            except RateLimited as error:
                await self._clock.sleep(max(error.retry_after, _SHORTEST_PAUSE))
            except Refused as error:
                self._fail(progress, error)
            except BridgeError as error:
                failures += 1
                if failures == self._timeouts.catch_up_tries:
                    self._fail(progress, error)
                else:
                    await self._clock.sleep(self._timeouts.backoff(failures))
        log.info(
            "backfill_ended", channel=progress.channel.key, state=progress.state,
            added=progress.added, known=progress.known, requests=progress.requests,
        )  # fmt: skip

    @staticmethod
    def _fail(progress: BackfillProgress, error: BridgeError) -> None:
        progress.state, progress.error = "failed", error.public
        log.warning("backfill_failed", channel=progress.channel.key, error=str(error))

    async def _read_once(self, account: AccountId, progress: BackfillProgress) -> None:
        connector = self._connectors.get(account)
        abilities = connector.abilities if connector else None
        if connector is None or abilities is None or not abilities.read_back:
            raise Refused(f"The platform of account {account!r} tells nobody what was said earlier")
        if abilities.history is None:
            raise Refused(f"Account {account!r} cannot read the past of its channels")
        until = await abilities.history.newest(progress.channel)
        progress.left_out.clear()
        stretches = abilities.read_back.stretches(progress.channel, progress.since, until, ())
        async with aclosing(stretches) as reading:
            async for stretch in reading:
                progress.requests += 1
                await self._keep(account, connector, stretch, progress)
                if progress.state != "reading":
                    return
                await self._clock.sleep(self._timeouts.reconcile_pause)
        progress.state = "done"

    async def _keep(
        self,
        account: AccountId,
        connector: Connector,
        stretch: Stretch,
        progress: BackfillProgress,
    ) -> None:
        rooms = self._rooms.holding(progress.channel)
        by_kind: dict[str, list[ExportedMessage]] = {}
        for post in sorted(stretch.posts, key=lambda post: post.post.order_key):
            exported = await self._exported(account, connector, stretch, post, rooms, progress)
            if exported is not None:
                by_kind.setdefault(post.post.kind, []).append(exported)
        for kind, messages in by_kind.items():
            people = {m.posted.author.id: ExportedPerson(m.posted.author) for m in messages}
            counts = await self._store.add_imported(
                ImportBatch(
                    export="backfill",
                    format=kind,
                    people=tuple(people.values()),
                    messages=tuple(messages),
                )
            )
            progress.added += counts.added
            progress.known += counts.changed + counts.known

    async def _exported(
        self,
        account: AccountId,
        connector: Connector,
        stretch: Stretch,
        post: Standing,
        rooms: Sequence[Room],
        progress: BackfillProgress,
    ) -> ExportedMessage | None:
        """None for a post that the archive does not take."""
        posted, reason = self._posted(connector, post)
        if posted is not None:
            reason = await self._reason_against(posted, post, rooms)
        if posted is None or reason:
            progress.left_out[reason] += 1
            return None
        time = posted.time.timestamp()
        progress.reached = min(time, progress.reached or time)
        author, _ = await self._people.complete(account, posted.author)
        message, _ = await self._fetcher.with_files(
            _by(posted, author.name), account, InboxRow(0, post.post)
        )
        posted = posted.model_copy(update={"author": author, "message": message})
        root = posted.place.thread
        return ExportedMessage(
            posted=posted,
            payload=post.post.payload,
            root=root if root != posted.native_id else None,
            reply_to=posted.reply_to,
            reactions=tuple(
                await self._reactions(connector, progress.channel, stretch.thread, post)
            ),
            pinned=bool(post.pin),
        )

    @staticmethod
    def _posted(connector: Connector, post: Standing) -> tuple[MessagePosted | None, str]:
        """The post as it is now, with the time of its last edit; or why it is none."""
        try:
            events = connector.decode(post.post)
            edits = connector.decode(post.edit) if post.edit is not None else ()
        except UndecodableEvent:
            return None, "not understood"
        posted = next((event for event in events if isinstance(event, MessagePosted)), None)
        if posted is None:
            return None, "no message"
        edit = next((event for event in edits if isinstance(event, MessageEdited)), None)
        if edit is None:
            return posted, ""
        changed = {"message": edit.message, "edited_at": edit.edited_at}
        return posted.model_copy(update=changed), ""

    async def _reason_against(
        self, posted: MessagePosted, post: Standing, rooms: Sequence[Room]
    ) -> str:
        if post.own or posted.own or posted.operation is not None:
            return "posted by the bridge"
        shown = await self._store.resolve(posted.place.channel, posted.native_id)
        if shown is not None and shown != posted.message.message_id:
            return "posted by the bridge"
        if any(is_private(posted, room) for room in rooms):
            return "private"
        if any(self._bans.is_banned(posted.author.id, room.id) for room in rooms):
            return "its author opted out or is banned"
        return ""

    async def _reactions(
        self, connector: Connector, channel: ChannelRef, thread: str | None, post: Standing
    ) -> list[ExportedReaction]:
        found: list[ExportedReaction] = []
        for reaction in post.reactions:
            actors: Sequence[ActorId] | None = reaction.actors
            reactors = connector.abilities.reactors
            if actors is None and reactors is not None:
                actors = await reactors.reactors(channel, post.native_id, thread, reaction.native)
            emoji = canonical_emoji(reaction.emoji)
            found += [ExportedReaction(emoji, actor) for actor in actors or ()]
        return found


def _by(posted: MessagePosted, name: str) -> Message:
    """The message under the name of its author."""
    actor = posted.message.actor.model_copy(update={"name": name})
    return posted.message.model_copy(update={"actor": actor})
