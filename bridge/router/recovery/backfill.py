"""Reads what was said in a channel before the bridge came into the archive. Nothing of it is
mirrored or given to an agent.

It is the least urgent work: one request at a time, with a pause after each. Progress is in the
store, so that a backfill continues at its page after a restart, also after `kill -9`. Posts that
live events and catch-up have yet to bring are not read: a message that is archived before it was
mirrored would never be mirrored.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

import structlog
from pydantic import TypeAdapter, ValidationError

from bridge.content.text.emoji import canonical_emoji
from bridge.errors import BridgeError, RateLimited, Refused, StoreError, UndecodableEvent
from bridge.model import AccountId, ActorId, ChannelRef, MessageEdited, MessagePosted
from bridge.model.export_records import (
    ExportedMessage,
    ExportedPerson,
    ExportedReaction,
    ImportBatch,
)
from bridge.model.inbox_records import InboxRow
from bridge.ports.abilities.past import Past, PastPage, Span
from bridge.ports.abilities.platform_history import Standing
from bridge.ports.clock import Clock
from bridge.ports.connector import Connector
from bridge.ports.store.archive import ArchiveStore
from bridge.ports.store.inbox import InboxStore
from bridge.ports.store.key_values import ROUTER_VALUES, KeyValueStore
from bridge.ports.store.messages import MessageStore
from bridge.router.inbound.attachments import AttachmentFetcher
from bridge.router.rooms.bans import BansAndPauses
from bridge.router.rooms.filters import is_private
from bridge.router.rooms.people import People
from bridge.router.rooms.reference_names import ReferenceNames
from bridge.router.rooms.rooms import Room, Rooms
from bridge.router.runtime.timeouts import Timeouts
from bridge.uacs import Message

log = structlog.get_logger()

_SHORTEST_PAUSE = 0.25
_BATCH = 50  # messages of one transaction: live messages wait for it
_SAVED = "backfills"  # the value in the store that has the progress of all
State = Literal["waiting", "reading", "done", "stopped", "failed"]
_OPEN: tuple[State, ...] = ("waiting", "reading")


@dataclass
class BackfillProgress:
    """How far the backfill of one channel is.

    - `account`: the account that reads it.
    - `since`, `until`: the times between which it reads, in seconds since 1970; `reached`: that of
      the oldest post so far.
    - `last`: the order key of the newest post that it reads; empty until it begins.
    - `position`: the page that comes next, as the platform's `Past` gave it.
    - `added`, `known`: messages that are new to the archive, and that it had.
    - `left_out`: posts that were read and not archived, by reason.
    """

    channel: ChannelRef
    account: AccountId
    since: float
    until: float | None = None
    last: str = ""
    position: str = ""
    state: State = "waiting"
    error: str = ""
    requests: int = 0
    added: int = 0
    known: int = 0
    reached: float | None = None
    left_out: dict[str, int] = field(default_factory=dict[str, int])

    @property
    def is_open(self) -> bool:
        """Whether something is left to read."""
        return self.state in _OPEN


_PROGRESS: TypeAdapter[list[BackfillProgress]] = TypeAdapter(list[BackfillProgress])


class _BackfillStore(ArchiveStore, MessageStore, InboxStore, KeyValueStore, Protocol):
    """What `Backfill` needs of the store."""


class Backfill:
    """Reads one channel after the other."""

    def __init__(
        self,
        store: _BackfillStore,
        connectors: Mapping[AccountId, Connector],
        rooms: Rooms,
        people: People,
        reference_names: ReferenceNames,
        bans: BansAndPauses,
        fetcher: AttachmentFetcher,
        clock: Clock,
        timeouts: Timeouts,
    ) -> None:
        self._store = store
        self._connectors = connectors
        self._rooms = rooms
        self._people = people
        self._reference_names = reference_names
        self._bans = bans
        self._fetcher = fetcher
        self._clock = clock
        self._timeouts = timeouts
        self._progress: dict[str, BackfillProgress] = {}
        self._worker: asyncio.Task[None] | None = None

    @property
    def progress(self) -> Sequence[BackfillProgress]:
        """All backfills, in the order in which somebody asked for them."""
        return list(self._progress.values())

    async def start(self) -> None:
        """Continue what the last process left. Raises StoreError."""
        saved = await self._store.get_value(ROUTER_VALUES, _SAVED)
        try:
            found = _PROGRESS.validate_json(saved) if saved else []
        except ValidationError as error:
            log.warning("backfills_forgotten", error=str(error))
            found = []
        self._progress = {progress.channel.key: progress for progress in found}
        self._wake()

    async def begin(
        self,
        channels: Iterable[tuple[AccountId, ChannelRef]],
        since: float,
        until: float | None = None,
    ) -> None:
        """Read these channels between two times (seconds since 1970). A channel that is being read
        with the same times continues. Raises StoreError."""
        for account, channel in channels:
            known = self._progress.get(channel.key)
            asked = BackfillProgress(channel, account, since, until)
            if known is not None and (known.since, known.until) == (since, until):
                if known.is_open:
                    continue
                if known.state == "stopped" or known.state == "failed":
                    asked = replace(known, state="waiting", error="")
            self._progress.pop(channel.key, None)
            self._progress[channel.key] = asked
        await self._save()
        self._wake()

    async def begin_once(
        self, channels: Iterable[tuple[AccountId, ChannelRef]], since: float
    ) -> None:
        """Read those of the channels of which nothing was asked before. Raises StoreError."""
        new = [
            (account, channel)
            for account, channel in channels
            if channel.key not in self._progress and self._past(account) is not None
        ]
        if new:
            await self.begin(new, since)

    async def stop(self) -> int:
        """Stop all backfills after the request that is under way. Returns how many there were.
        Raises StoreError."""
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

    async def _save(self) -> None:
        saved = _PROGRESS.dump_json(list(self._progress.values())).decode()
        await self._store.put_value(ROUTER_VALUES, _SAVED, saved)

    def _wake(self) -> None:
        if self._next() and (self._worker is None or self._worker.done()):
            self._worker = asyncio.create_task(self._work(), name="backfill")

    def _next(self) -> BackfillProgress | None:
        return next((one for one in self._progress.values() if one.is_open), None)

    async def _work(self) -> None:
        while (progress := self._next()) is not None:
            try:
                await self._read_channel(progress)
            except StoreError as error:
                self._fail(progress, error)

    async def _read_channel(self, progress: BackfillProgress) -> None:
        progress.state = "reading"
        failures = 0
        while progress.state == "reading":
            try:
                await self._read_page(progress)
                failures = 0
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
        await self._save()
        log.info(
            "backfill_ended", channel=progress.channel.key, state=progress.state,
            added=progress.added, known=progress.known, requests=progress.requests,
        )  # fmt: skip

    @staticmethod
    def _fail(progress: BackfillProgress, error: BridgeError) -> None:
        progress.state, progress.error = "failed", error.public
        log.warning("backfill_failed", channel=progress.channel.key, error=str(error))

    def _past(self, account: AccountId) -> Past | None:
        connector = self._connectors.get(account)
        return None if connector is None else connector.abilities.past

    async def _read_page(self, progress: BackfillProgress) -> None:
        account = progress.account
        connector, past = self._connectors.get(account), self._past(account)
        if connector is None or past is None:
            raise Refused(f"The platform of account {account!r} tells nobody what was said earlier")
        if not progress.last:
            progress.last = await self._newest(connector, progress)
        span = Span(progress.since, progress.until, progress.last)
        try:
            page = await past.page(progress.channel, span, progress.position)
        except ValueError as error:
            raise Refused(
                f"The place in channel {progress.channel.key!r} is lost: {error}"
            ) from None
        progress.requests += 1
        await self._keep(connector, page, progress)
        progress.position = page.next or ""
        if page.next is None:
            progress.state = "done"
        else:
            await self._save()
            await self._clock.sleep(self._timeouts.reconcile_pause)

    async def _newest(self, connector: Connector, progress: BackfillProgress) -> str:
        """Up to where live events and catch-up have brought everything; the newest post, if nothing
        came of the channel yet."""
        cursor = await self._store.cursor(progress.account, progress.channel)
        history = connector.abilities.history
        if cursor is not None or history is None:
            return cursor or ""
        return await history.newest(progress.channel)

    async def _keep(self, connector: Connector, page: PastPage, progress: BackfillProgress) -> None:
        rooms = self._rooms.holding(progress.channel)
        by_kind: dict[str, list[ExportedMessage]] = {}
        for post in sorted(page.posts, key=lambda post: post.post.order_key):
            exported = await self._exported(connector, page, post, rooms, progress)
            if exported is not None:
                by_kind.setdefault(post.post.kind, []).append(exported)
        for kind, messages in by_kind.items():
            for at in range(0, len(messages), _BATCH):
                batch = messages[at : at + _BATCH]
                people = {m.posted.author.id: ExportedPerson(m.posted.author) for m in batch}
                counts = await self._store.add_imported(
                    ImportBatch(
                        export="backfill",
                        format=kind,
                        people=tuple(people.values()),
                        messages=tuple(batch),
                    )
                )
                progress.added += counts.added
                progress.known += counts.changed + counts.known

    async def _exported(
        self,
        connector: Connector,
        page: PastPage,
        post: Standing,
        rooms: Sequence[Room],
        progress: BackfillProgress,
    ) -> ExportedMessage | None:
        """None for a post that the archive does not take."""
        posted, reason = self._posted(connector, post)
        if posted is not None:
            reason = await self._reason_against(posted, post, rooms)
        if posted is None or reason:
            progress.left_out[reason] = progress.left_out.get(reason, 0) + 1
            return None
        account, time = progress.account, posted.time.timestamp()
        progress.reached = min(time, progress.reached or time)
        author, _ = await self._people.complete(account, posted.author)
        message, _ = await self._fetcher.with_files(
            _by(posted, author.name), account, InboxRow(0, post.post)
        )
        message = await self._reference_names.named(account, message)
        posted = posted.model_copy(update={"author": author, "message": message})
        root = posted.place.thread
        return ExportedMessage(
            posted=posted,
            payload=post.post.payload,
            root=root if root != posted.native_id else None,
            reply_to=posted.reply_to,
            reactions=tuple(await self._reactions(connector, progress.channel, page.thread, post)),
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
