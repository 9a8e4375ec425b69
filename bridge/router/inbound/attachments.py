"""Files of platforms are fetched before their addresses expire: while their message is admitted, or
later, as an edit of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Protocol

import structlog

from bridge.content.cards.assets import assets_in, key_of
from bridge.content.cards.reader import Cards
from bridge.content.cards.tree import Asset
from bridge.content.messages.metadata import KeptFile
from bridge.content.messages.parts import may_hold_files
from bridge.content.messages.stored_files import NO_FILES, KeptFiles, with_kept
from bridge.errors import (
    FileError,
    FileUnavailable,
    PlatformError,
    RateLimited,
    StoreError,
    Unavailable,
    Unsettled,
)
from bridge.model import AccountId, ActorId, Event, FilesAwaited, MessageEdited, MessagePosted, Raw
from bridge.model.admission import Admission
from bridge.model.inbox_records import InboxRow
from bridge.ports.abilities.files import PlatformFiles
from bridge.ports.clock import Clock
from bridge.ports.connector import Connector
from bridge.ports.files import Files
from bridge.ports.store.credentials import CredentialStore
from bridge.ports.store.inbox import InboxStore
from bridge.ports.store.recovery import RecoveryStore
from bridge.router.inbound.context import Placed, Planned, Received
from bridge.router.rooms.programs import raw_of
from bridge.router.runtime.kept_files import with_json_files
from bridge.router.runtime.timeouts import Timeouts
from bridge.uacs import Message

log = structlog.get_logger()

_MOST = 20  # files of one message that are fetched
_AT_ONCE = 4  # messages whose files are fetched later: those of new ones go first
_NOT_NOW = (FileUnavailable, RateLimited, Unavailable, Unsettled)


@dataclass
class FetchedFiles:
    """The files that could be fetched. `late`: others may be fetched later, after `pause` seconds
    if their host said so."""

    kept: dict[str, KeptFile] = field(default_factory=dict[str, KeptFile])
    late: bool = False
    pause: float = 0.0


@dataclass(frozen=True)
class WaitForFiles:
    """Puts an event of missing files aside. They are fetched in the background; the event comes
    again with them."""

    fetcher: AttachmentFetcher

    async def __call__(self, received: Received) -> Received | Planned:
        event = received.event
        if not isinstance(event, FilesAwaited):
            return received
        files = self.fetcher.take(received.row)
        if files is None:
            self.fetcher.put_aside(received.row, event)
            return Planned(
                admission=Admission("put aside: its files are not there"), put_aside=True
            )
        return replace(received, kept_files=files)


@dataclass(frozen=True)
class KeepFiles:
    """Fetches the files of the message now: their addresses expire, or need a token."""

    fetcher: AttachmentFetcher

    async def __call__(self, placed: Placed, planned: Planned) -> Planned:
        if placed.buried or planned.admission.message is None:
            return planned
        new = planned.admission.message
        message, missing = await self.fetcher.with_files(
            new.message, placed.event.account, placed.row
        )
        admission = replace(planned.admission, message=replace(new, message=message))
        return replace(planned, admission=admission, misses_files=missing)


class _FetcherStore(RecoveryStore, CredentialStore, InboxStore, Protocol):
    """What `AttachmentFetcher` needs of the store."""


class AttachmentFetcher:
    """Fetches the files that a connector calls its own, through the guarded fetcher.

    A message does not wait long for a file that cannot be fetched now. A row of the inbox notes the
    missing file: the row stays `waiting`, beside its channel's other events, until the file is
    kept, and takes its place among them then. So the file is still fetched after a restart.
    """

    def __init__(
        self,
        store: _FetcherStore,
        connectors: Mapping[AccountId, Connector],
        files: Files | None,
        cards: Cards,
        clock: Clock,
        timeouts: Timeouts,
        put: Callable[[InboxRow], None],
    ) -> None:
        self._store = store
        self._connectors = connectors
        self._files = files
        self._cards = cards
        self._clock = clock
        self._timeouts = timeouts
        self._put = put
        self._fetched_later: dict[int, KeptFiles] = {}
        self._turns = asyncio.Semaphore(_AT_ONCE)
        self._tasks: dict[asyncio.Task[None], InboxRow] = {}

    @property
    def awaited(self) -> int:
        """The number of messages that wait for a file."""
        return len(self._tasks)

    async def with_files(
        self, message: Message, account: AccountId, row: InboxRow, kept_before: KeptFiles = NO_FILES
    ) -> tuple[Message, bool]:
        """Return the message with its files kept, files for the parts that nothing can show
        included, and whether some files are still missing. Files `kept_before` are not fetched
        again. Raises StoreError."""
        if self._files is None or not may_hold_files(message):
            return message, False
        until = self._clock.monotonic() + self._timeouts.file_timeout
        fetched = await self._look(message, account, row, kept_before, until)
        message = with_kept(message, fetched.kept)
        return await with_json_files(message, self._cards, self._files), fetched.late

    async def await_files(self, event: Event, row: InboxRow) -> None:
        """Have the missing files of a post or an edit fetched later; durable when this returns.
        Raises StoreError."""
        if (awaited := _awaited(event, row)) is None:
            return
        raw = raw_of(awaited, f"files {row.id} {awaited.target}", order_key=row.raw.order_key)
        if (awaited_row := await self._store.accept(raw, advance=False)) is not None:
            self._put(awaited_row)

    def put_aside(self, row: InboxRow, event: FilesAwaited) -> None:
        """Keep the row here until its files were tried again."""
        task = asyncio.create_task(self._try_again(row, event), name=f"files {row.id}")
        self._tasks[task] = row
        task.add_done_callback(self._tasks.pop)

    def take(self, row: InboxRow) -> KeptFiles | None:
        """Return the files that were fetched for this row; None where they were not tried again."""
        return self._fetched_later.pop(row.id, None)

    async def let_go(self, is_ours: Callable[[Raw], bool]) -> None:
        """Fetch nothing more for rows that another process works on from now on."""
        ending = [task for task, row in self._tasks.items() if not is_ours(row.raw)]
        for task in ending:
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)

    async def close(self) -> None:
        """Stop; rows that wait for files stay in the inbox."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _try_again(self, row: InboxRow, event: FilesAwaited) -> None:
        kept_files: dict[str, KeptFile] = {}
        attempts, pause = 0, self._timeouts.file_timeout
        while True:
            await self._clock.sleep(pause)
            attempts += 1
            async with self._turns:
                fetched = await self._look_later(event, kept_files)
            kept_files |= fetched.kept
            over = self._clock.time() - event.time.timestamp() > self._timeouts.files_awaited
            if over or not fetched.late:
                break
            pause = max(
                self._timeouts.backoff(attempts), self._timeouts.file_timeout, fetched.pause
            )
        if fetched.late:
            log.warning(
                "file_fetch_abandoned", account=event.account, row=event.row, attempts=attempts
            )
        self._fetched_later[row.id] = kept_files
        self._put(row)

    async def _look_later(self, event: FilesAwaited, kept_before: KeptFiles) -> FetchedFiles:
        try:
            row = await self._store.inbox_row(event.row)
            if row is None:
                return FetchedFiles()
            return await self._look(event.message, event.account, row, kept_before, 0.0)
        except StoreError as error:
            log.warning("file_retry_failed", account=event.account, row=event.row, error=str(error))
            return FetchedFiles(late=True)

    async def _look(
        self,
        message: Message,
        account: AccountId,
        row: InboxRow,
        kept_before: KeptFiles,
        until: float,
    ) -> FetchedFiles:
        """Fetches the files of a message; one that fails is tried again until `until`."""
        connector = self._connectors.get(account)
        origin = connector.abilities.files if connector else None
        if self._files is None or origin is None:
            return FetchedFiles()
        card, _ = self._cards.read(message)
        assets = {key_of(asset): asset for asset in assets_in(card) if key_of(asset)}
        fetched = FetchedFiles({key: kept_before[key] for key in assets if key in kept_before})
        missing = [key for key in [*assets][:_MOST] if key not in kept_before]
        if not missing:
            return fetched
        credentials = await self._store.payload_credentials(row.id)
        raw = row.raw.model_copy(update={"credentials": dict(credentials)})
        for key in missing:
            try:
                kept_file = await self._patiently(origin, self._files, assets[key], raw, until)
                if kept_file is not None:
                    fetched.kept[key] = kept_file
            except _NOT_NOW as error:
                log.warning("file_fetch_delayed", account=account, row=row.id, reason=str(error))
                fetched.late, fetched.pause = True, max(fetched.pause, _pause_of(error))
            except (FileError, PlatformError) as error:
                log.warning("file_fetch_failed", account=account, row=row.id, reason=str(error))
        return fetched

    async def _patiently(
        self, origin: PlatformFiles, files: Files, asset: Asset, raw: Raw, until: float
    ) -> KeptFile | None:
        attempts = 0
        while True:
            try:
                return await _fetched(origin, files, asset, raw)
            except _NOT_NOW as error:
                pause = max(self._timeouts.backoff(attempts), _pause_of(error))
                attempts += 1
                if self._clock.monotonic() + pause > until:
                    raise
                await self._clock.sleep(pause)


async def _fetched(origin: PlatformFiles, files: Files, asset: Asset, raw: Raw) -> KeptFile | None:
    """Returns None for a file that every reader can fetch where it is."""
    address = await origin.address(asset, raw)
    if address is None:
        return None
    fetched = await files.fetcher.fetch(
        address.url, media_type=asset.media_type, bearer=address.bearer
    )
    return KeptFile(
        file_id=fetched.blob.file_id, media_type=fetched.media_type, size=fetched.blob.size
    )


def _pause_of(error: Exception) -> float:
    """The seconds for which the host of the file asks us to wait."""
    pause = error.retry_after if isinstance(error, FileUnavailable | RateLimited) else None
    return pause or 0.0


def _awaited(event: Event, row: InboxRow) -> FilesAwaited | None:
    version: datetime | None
    actor: ActorId
    match event:
        case MessagePosted(native_id=target, author=author, edited_at=version):
            actor = author.id
        case MessageEdited(target=target, actor=actor, edited_at=version):
            pass
        case _:
            return None
    return FilesAwaited(
        account=event.account, place=event.place, time=event.time, audience=event.audience,
        actor=actor, target=target, message=event.message, edited_at=version, row=row.id,
    )  # fmt: skip
