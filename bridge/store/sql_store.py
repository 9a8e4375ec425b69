"""The methods of the Store port, each one unit of work of an engine's connection."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TypeVar, TypeVarTuple, cast
from uuid import UUID

from pydantic import JsonValue

from bridge.errors import StoreFull
from bridge.model import (
    AccountId,
    ActorId,
    ChannelRef,
    LaneId,
    MessageId,
    Operation,
    OperationId,
    Person,
    PersonId,
    PostMessage,
    Raw,
    Receipt,
    RoomId,
    TurnId,
)
from bridge.model.admission import Admission, Admitted, AdmittedRow
from bridge.model.api_records import ApiToken
from bridge.model.archive_records import (
    ExpectedMessage,
    ExpectedPin,
    HistoryPiece,
    MessageState,
    Orphan,
    Page,
    Position,
    Relation,
    RoomEvent,
    StoredMessage,
    Timeline,
    View,
)
from bridge.model.chain_records import ChainHead, ChainReport
from bridge.model.erasure_records import (
    Erasure,
    ErasureRecord,
    LegalHold,
    Pruned,
    Retention,
)
from bridge.model.export_records import (
    ArchivedConversation,
    ArchivedMessage,
    ArchiveFilter,
    ArchivePage,
    ExportedPerson,
    ImportBatch,
    ImportCounts,
)
from bridge.model.inbox_records import InboxRow
from bridge.model.outbox_records import DeadLetter, LaneStatus, OutboxItem, Settlement
from bridge.model.people_records import CodeUse, DisplayName, LinkedAccount, LinkMethod
from bridge.model.reaction_records import CurrentReaction
from bridge.model.room_records import (
    Ban,
    BanReason,
    DirectEnd,
    RoomForm,
    RoomLink,
    RoomPause,
    RoomStanding,
)
from bridge.model.search_records import FoundMessage, Search, SearchPage, Surroundings
from bridge.model.statistics_records import RefusedEvent, Statistics
from bridge.model.store_status import Explanation, StorePulse, StoreStatus
from bridge.model.tenants import (
    Installation,
    Tenant,
    TenantId,
    TenantLimits,
    TenantState,
    split_tenant_secret,
)
from bridge.model.turn_records import (
    Approval,
    ApprovalState,
    Counted,
    Decision,
    HandOver,
    MessageRating,
    NewTurn,
    Pairing,
    PairingCode,
    PairingUse,
    Spending,
    StoredTurn,
)
from bridge.model.turns import TurnState
from bridge.ports.clock import Clock
from bridge.store import (
    agents as of_agents,
)
from bridge.store import (
    approvals,
    archive,
    batches,
    catch_up,
    chain,
    directs,
    erasing,
    feedback,
    file_use,
    imports,
    inbox,
    key_values,
    links,
    outbox,
    people,
    reading,
    retention,
    rooms,
    threads,
    translations,  # fmt: skip
    turns,
)
from bridge.store import reactions as of_reactions
from bridge.store import search as of_search
from bridge.store import statistics as of_statistics
from bridge.store import tenants as of_tenants
from bridge.store.batches import BatchWriter
from bridge.store.connection import Connection
from bridge.store.seal import Seal
from bridge.store.status import lanes_waiting, read_pulse, read_status, write_proof
from bridge.store.writer import InlineWriter
from bridge.uacs import Conversation, Message

_LITTLE, _MUCH = 16, 1024 * 1024  # bytes that prove that something is taken
_KEY_IN_MEMORY = bytes(32)  # what it seals is read by nobody else


T = TypeVar("T")
Ts = TypeVarTuple("Ts")


class SqlStore:
    """What the stores of all engines have in common; an engine says where a unit of work runs."""

    def __init__(self, clock: Clock, seal: Seal) -> None:
        self._clock = clock
        self._seal = seal
        self._linking: set[str] = set()  # native ids that patient ends of operations will link

    writer: BatchWriter | InlineWriter | None  # None in a store that was opened to be read

    async def overwrite_freed(self, *, alone: bool) -> bool:
        raise NotImplementedError

    async def prove_writable(self) -> None:
        full = self.writer is not None and isinstance(self.writer.failure, StoreFull)
        await self._write(write_proof, _MUCH if full else _LITTLE)

    async def backup(self, target: Path) -> None:
        raise NotImplementedError

    async def close(self) -> None:
        raise NotImplementedError

    async def _write(self, unit: Callable[[Connection, *Ts], T], *args: *Ts) -> T:
        """Return the unit's result once it is durable."""
        raise NotImplementedError

    async def _write_late(
        self, unit: Callable[[Connection, *Ts], batches.Late[T]], *args: *Ts
    ) -> T:
        """Return the unit's late result once it is durable."""
        return cast("T", await self._write(unit, *args))

    async def _look(self, read: Callable[[Connection, *Ts], T], *args: *Ts) -> T:
        """Look up a few rows; sees everything that was awaited."""
        raise NotImplementedError

    async def _read_apart(self, read: Callable[[Connection, *Ts], T], *args: *Ts) -> T:
        """Read for minutes, over a connection of its own."""
        raise NotImplementedError

    async def _read(self, read: Callable[[Connection, *Ts], T], *args: *Ts) -> T:
        """Read any number of rows from one snapshot."""
        raise NotImplementedError

    # --- inbox --------------------------------------------------------------------------------

    async def accept(self, raw: Raw, *, advance: bool) -> InboxRow | None:
        return await self._write(inbox.keep, raw, advance, self._seal, self._clock.time())

    async def waiting_rows(self) -> Sequence[InboxRow]:
        return await self._read(inbox.waiting_rows)

    async def failed_rows(self, limit: int = 100) -> Sequence[tuple[InboxRow, str]]:
        return await self._read(inbox.failed_rows, limit)

    async def retry_failed_rows(self) -> int:
        return await self._write(inbox.retry_failed_rows)

    async def fail_row(self, row: int, error: str) -> None:
        await self._write(inbox.fail_row, row, error, self._clock.time())

    async def cursor(self, account: AccountId, channel: ChannelRef) -> str | None:
        return await self._look(inbox.cursor, account, channel)

    async def set_cursor(self, account: AccountId, channel: ChannelRef, cursor: str) -> None:
        await self._write(inbox.move_cursor, account, channel.key, cursor)

    # --- archive ------------------------------------------------------------------------------

    async def receive(self, raw: Raw, admission: Admission, *, advance: bool) -> AdmittedRow | None:
        return await self._write(
            archive.receive, raw, admission, advance, self._seal, self._clock.time()
        )

    async def admit(self, admission: Admission) -> Admitted:
        return await self._write(archive.admit, admission, self._clock.time())

    async def message(self, message: MessageId) -> StoredMessage | None:
        return await self._look(archive.message, message)

    async def change_message(
        self,
        message: Message,
        state: MessageState,
        operations: Sequence[Operation] = (),
        turns: Sequence[NewTurn] = (),
    ) -> None:
        now = self._clock.time()
        await self._write(archive.change_message, message, state, operations, now, turns)

    async def posts_of(self, message: MessageId) -> Sequence[PostMessage]:
        return await self._look(outbox.posts_of, message)

    async def resolve(self, channel: ChannelRef, native_id: str) -> MessageId | None:
        await self._until_linked(native_id)
        return await self._look(links.resolve, channel.key, native_id)

    async def removed_by_us(self, message: MessageId, channel: ChannelRef, native_id: str) -> bool:
        await self._until_linked(native_id)
        return await self._look(links.removed_by_us, message, channel.key, native_id)

    async def copies(self, message: MessageId, channel: ChannelRef) -> Sequence[Receipt]:
        return await self._look(links.copies, message, channel.key)

    async def person(self, actor: ActorId) -> Person | None:
        return await self._look(archive.person, actor)

    async def save_person(self, person: Person) -> None:
        await self._write(archive.save_person, person)

    async def room_ids(self, rooms: Sequence[RoomId]) -> Mapping[RoomId, UUID]:
        return await self._write(archive.room_ids, rooms)

    async def conversation(
        self, conversation: UUID, *, newest: int | None = None, view: View | None = None
    ) -> Conversation:
        return await self._read(archive.conversation, conversation, newest, view)

    async def past(
        self, conversation: UUID, *, rows: int, before: int | None = None, view: View | None = None
    ) -> HistoryPiece:
        return await self._read(archive.past, conversation, rows, before, view)

    async def number_of(self, conversation: UUID, message: MessageId) -> int | None:
        return await self._look(archive.number_of, conversation, message)

    async def relations(self, messages: Collection[MessageId]) -> Mapping[MessageId, Relation]:
        return await self._read(archive.relations, messages)

    async def changed_since(self, room: UUID, position: Position, author: str) -> bool:
        return await self._read(archive.changed_since, room, position, author)

    async def was_present(self, room: RoomId, member: str, message: MessageId) -> bool:
        return await self._look(archive.was_present, room, member, message)

    async def conversations(self) -> Sequence[tuple[Timeline, int]]:
        return await self._read(archive.conversations)

    async def live_threads(self, channel: ChannelRef, since: float) -> Sequence[str]:
        return await self._read(threads.live_threads, channel.key, since)

    async def explain(self, message: MessageId) -> Explanation | None:
        return await self._read(archive.explain, message)

    # --- search -------------------------------------------------------------------------------

    async def find(self, search: Search, *, limit: int, before: int | None = None) -> SearchPage:
        return await self._read(of_search.find, search, limit, before)

    async def around(
        self, found: FoundMessage, conversation: UUID, search: Search, *, count: int
    ) -> Surroundings:
        return await self._read(of_search.around, found, conversation, search, count)

    async def conversations_named(self, name: str) -> Sequence[str]:
        return await self._read(of_search.conversations_named, name)

    # --- imports and exports ------------------------------------------------------------------

    async def imported_units(self, export: str) -> Mapping[str, str]:
        return await self._read(imports.imported_units, export)

    async def add_imported(self, batch: ImportBatch) -> ImportCounts:
        return await self._write(imports.add_imported, batch, self._clock.time())

    async def statistics(
        self, *, since: float | None = None, until: float | None = None, most: int = 15
    ) -> Statistics:
        return await self._read(of_statistics.statistics, since, until, most)

    async def refused_events(
        self, channels: Sequence[ChannelRef], *, since: float, limit: int
    ) -> Sequence[RefusedEvent]:
        keys = [channel.key for channel in channels]
        return await self._read(of_statistics.refused, keys, since, limit)

    async def verify_chain(self, pinned: Mapping[str, ChainHead]) -> ChainReport:
        return await self._read(chain.verify, pinned)

    # --- erasures -----------------------------------------------------------------------------

    async def erase(self, erasure: Erasure, *, dry_run: bool = False) -> ErasureRecord:
        return await self._write(erasing.erase, erasure, self._clock.time(), dry_run)

    async def actors_of(self, workspace: str) -> Sequence[ActorId]:
        return await self._read(erasing.actors_of, workspace)

    async def erasures(self) -> Sequence[ErasureRecord]:
        return await self._read(erasing.records)

    async def files_to_remove(self) -> Sequence[str]:
        return await self._read(erasing.files_to_remove)

    async def set_cleaned(self) -> None:
        await self._write(erasing.set_cleaned, self._clock.time())

    async def prune_messages(
        self, policy: Retention, after: int | None, *, dry_run: bool = False
    ) -> Pruned:
        now = self._clock.time()
        return await self._write(retention.prune_messages, policy, after, dry_run, now)

    async def prune_payloads(
        self, policy: Retention, after: int | None, *, imported: bool, dry_run: bool = False
    ) -> Pruned:
        now = self._clock.time()
        return await self._write(retention.prune_payloads, policy, after, imported, dry_run, now)

    async def files_in_use(self) -> frozenset[str]:
        return await self._read_apart(file_use.files_named)

    async def files_over(self, policy: Retention) -> frozenset[str]:
        return await self._read_apart(retention.files_over, policy, self._clock.time())

    async def add_hold(self, hold: LegalHold) -> None:
        await self._write(erasing.add_hold, hold)

    async def holds(self) -> Sequence[LegalHold]:
        return await self._read(erasing.holds)

    async def remove_hold(self, name: str) -> bool:
        return await self._write(erasing.remove_hold, name)

    # --- the archive as a whole -----------------------------------------------------------------

    async def archived(
        self, messages: Collection[MessageId]
    ) -> Mapping[MessageId, ArchivedMessage]:
        return await self._look(imports.archived, messages)

    async def archived_people(self) -> Sequence[ExportedPerson]:
        return await self._read(imports.archived_people)

    async def archived_conversations(self) -> Sequence[ArchivedConversation]:
        return await self._read(imports.archived_conversations)

    async def archived_messages(
        self,
        timelines: Sequence[UUID],
        selection: ArchiveFilter,
        *,
        after: int | None,
        limit: int,
    ) -> ArchivePage:
        return await self._read(imports.archived_messages, timelines, selection, after, limit)

    # --- rooms --------------------------------------------------------------------------------

    async def put_ban(self, ban: Ban) -> None:
        await self._write(rooms.put_ban, ban)

    async def remove_ban(self, room: RoomId | None, actor: ActorId, reason: BanReason) -> bool:
        return await self._write(rooms.remove_ban, room, actor, reason)

    async def bans(self) -> Sequence[Ban]:
        return await self._read(rooms.bans)

    async def pause_room(self, paused: RoomPause) -> None:
        await self._write(rooms.pause, paused)

    async def resume_room(self, room: RoomId) -> bool:
        return await self._write(rooms.resume, room)

    async def paused_rooms(self) -> Sequence[RoomPause]:
        return await self._read(rooms.paused)

    async def link_channel(self, link: RoomLink) -> None:
        await self._write(rooms.link, link)

    async def room_links(self) -> Sequence[RoomLink]:
        return await self._read(rooms.links)

    async def stand_rooms(self, forms: Sequence[RoomForm]) -> Sequence[RoomStanding]:
        return await self._write(rooms.stand_all, forms, self._clock.time())

    # --- direct messages ----------------------------------------------------------------------

    async def put_direct_end(self, end: DirectEnd) -> None:
        await self._write(directs.put_end, end)

    async def remove_direct_ends(self, actor: ActorId) -> bool:
        return await self._write(directs.remove_ends, actor)

    async def direct_ends(self) -> Sequence[DirectEnd]:
        return await self._read(directs.ends)

    async def put_direct_pair(self, first: ActorId, second: ActorId) -> None:
        await self._write(directs.put_pair, first, second)

    async def direct_pairs(self) -> Sequence[tuple[ActorId, ActorId]]:
        return await self._read(directs.pairs)

    # --- people -------------------------------------------------------------------------------

    async def people_named(self, name: str) -> Sequence[Person]:
        return await self._look(people.people_named, name)

    async def shown_name(self, room: RoomId, actor: ActorId) -> DisplayName | None:
        return await self._look(people.shown_name, room, actor)

    async def names_like(self, room: RoomId, name: str) -> Sequence[DisplayName]:
        return await self._look(people.names_like, room, name)

    async def save_names(self, names: Sequence[DisplayName]) -> None:
        await self._write(people.save_names, names)

    async def accounts_of(self, actor: ActorId) -> Sequence[LinkedAccount]:
        return await self._look(people.accounts_of, actor)

    async def linked_accounts(self) -> Sequence[LinkedAccount]:
        return await self._read(people.linked_accounts)

    async def link_people(self, first: ActorId, second: ActorId, how: LinkMethod) -> PersonId:
        return await self._write(people.link_people, first, second, how, self._clock.time())

    async def unlink_person(self, actor: ActorId) -> bool:
        return await self._write(people.unlink_person, actor)

    async def same_email(self, actor: ActorId, digest: str) -> Sequence[ActorId]:
        return await self._write(people.same_email, actor, digest)

    async def put_link_code(self, digest: str, actor: ActorId, expires: float) -> None:
        await self._write(people.put_link_code, digest, actor, expires)

    async def use_link_code(self, digest: str, actor: ActorId) -> CodeUse:
        return await self._write(people.use_link_code, digest, actor, self._clock.time())

    # --- outbox -------------------------------------------------------------------------------

    async def open_lanes(self) -> Sequence[LaneId]:
        return await self._read(outbox.open_lanes)

    async def head(self, lane: LaneId, *, besides: Sequence[MessageId] = ()) -> OutboxItem | None:
        return await self._look(outbox.head, lane, besides)

    async def has_unproved_post(self, message: MessageId, lane: LaneId) -> bool:
        return await self._look(outbox.has_unproved_post, message, lane)

    async def notice(self, lane: LaneId) -> OutboxItem | None:
        return await self._look(outbox.notice, lane)

    async def knows_operation(self, operation: OperationId) -> bool:
        return await self._look(outbox.is_known, operation)

    async def begin(self, operation: OperationId) -> None:
        await self._write(outbox.begin, operation, self._clock.time())

    async def record(self, operation: OperationId, receipts: Sequence[Receipt]) -> None:
        await self._write(outbox.record, operation, receipts, self._clock.time())

    async def settle(self, settlement: Settlement, *, patient: bool = False) -> bool:
        native_ids = [receipt.native_id for receipt in settlement.receipts] if patient else []
        self._linking.update(native_ids)
        try:
            return await self._settle(settlement, patient=patient)
        finally:
            self._linking.difference_update(native_ids)

    async def _settle(self, settlement: Settlement, *, patient: bool) -> bool:
        now = self._clock.time()
        if outbox.is_simple(settlement):
            simple = outbox.settle_simple
            unit = batches.patient(simple) if patient else simple
            if await self._write_late(unit, settlement, now):
                return True
        settle = batches.patient(outbox.settle) if patient else outbox.settle
        return await self._write(settle, settlement, now)

    async def _until_linked(self, native_id: str) -> None:
        """Let an end that waits for company go on without it where somebody asks for its copy."""
        while native_id in self._linking:
            await self._write(_nothing)

    async def postpone(self, operation: OperationId, until: float, error: str) -> None:
        await self._write(outbox.postpone, operation, until, error)

    async def dead_letters(self) -> Sequence[DeadLetter]:
        return await self._read(outbox.dead_letters)

    async def held_up(self) -> Sequence[DeadLetter]:
        return await self._read(outbox.held_up, self._clock.time())

    async def hasten(self, operation: OperationId) -> LaneId:
        return await self._write(outbox.hasten, operation)

    async def replay(self, operation: OperationId) -> LaneId:
        return await self._write(outbox.replay, operation, self._clock.time())

    # --- reactions and pins -------------------------------------------------------------------

    async def reactions(self, message: MessageId) -> Sequence[CurrentReaction]:
        return await self._look(of_reactions.reactions, message)

    async def pinned_by(self, message: MessageId) -> ActorId | None:
        return await self._look(of_reactions.pinned_by, message)

    async def unshown_emoji(self, message: MessageId, channel: ChannelRef) -> Collection[str]:
        return await self._look(of_reactions.unshown_emoji, message, channel)

    # --- reading from outside -----------------------------------------------------------------

    async def position(self, room: UUID) -> Position:
        return await self._look(reading.position, room)

    async def events_after(
        self, room: UUID, after: Position, *, limit: int, viewer: ActorId
    ) -> Sequence[RoomEvent]:
        return await self._read(reading.events_after, room, after, limit, viewer)

    async def page(
        self, room: UUID, *, limit: int, viewer: ActorId, before: int | None = None
    ) -> Page:
        return await self._read(reading.page, room, limit, viewer, before)

    async def rooms_of(self, message: MessageId, *, viewer: ActorId) -> Sequence[UUID]:
        return await self._look(reading.rooms_of, message, viewer)

    async def put_token(self, token: ApiToken) -> None:
        await self._write(reading.put_token, token)

    async def token(self, name: str) -> ApiToken | None:
        return await self._look(reading.token, name)

    async def tokens(self) -> Sequence[ApiToken]:
        return await self._look(reading.tokens)

    async def revoke_token(self, name: str) -> bool:
        return await self._write(reading.revoke_token, name)

    # --- catch-up -----------------------------------------------------------------------------

    async def expected_messages(
        self, channel: ChannelRef, since: float, *, limit: int, thread: str | None = None
    ) -> Sequence[ExpectedMessage]:
        return await self._read(catch_up.expected_messages, channel, since, limit, thread)

    async def pins(self, channel: ChannelRef) -> Sequence[ExpectedPin]:
        return await self._read(catch_up.pins, channel)

    async def orphans(self, since: float, *, limit: int) -> Sequence[Orphan]:
        return await self._read(catch_up.orphans, since, limit)

    async def forget_orphans(self, before: float) -> None:
        await self._write(catch_up.forget_orphans, before)

    async def inbox_row(self, row: int) -> InboxRow | None:
        return await self._read(catch_up.inbox_row, row)

    # --- turns --------------------------------------------------------------------------------

    async def was_called(self, agent: str, root: MessageId) -> bool:
        return await self._look(turns.was_called, agent, root)

    async def last_answer(self, session: str, *, before: TurnId) -> MessageId | None:
        return await self._look(turns.last_answer, session, before)

    async def open_turns(self) -> Sequence[StoredTurn]:
        return await self._look(turns.open_turns)

    async def translation(
        self, message: MessageId, language: str, digest: str
    ) -> Sequence[str] | None:
        return await self._look(translations.find, message, language, digest)

    async def put_translation(
        self, message: MessageId, language: str, digest: str, texts: Sequence[str]
    ) -> None:
        await self._write(translations.put, message, language, digest, texts)

    async def turn(self, turn: TurnId) -> StoredTurn | None:
        return await self._look(turns.turn, turn)

    async def turns_of_room(
        self, room: RoomId, *, since: float, limit: int
    ) -> Sequence[StoredTurn]:
        return await self._look(turns.turns_of_room, room, since, limit)

    async def turns_about(self, question: MessageId) -> Sequence[StoredTurn]:
        return await self._look(turns.turns_about, question)

    async def set_turn(
        self,
        turn: TurnId,
        state: TurnState,
        *,
        tool_called: bool = False,
        answer: MessageId | None = None,
        error: str = "",
    ) -> None:
        now = self._clock.time()
        await self._write(turns.set_turn, turn, state, tool_called, answer, error, now)

    # --- agents in rooms ----------------------------------------------------------------------

    async def hold(self, holding: HandOver) -> None:
        await self._write(of_agents.hold, holding)

    async def release(self, room: RoomId, spot: str) -> bool:
        return await self._write(of_agents.release, room, spot)

    async def holdings(self) -> Sequence[HandOver]:
        return await self._look(of_agents.holdings)

    async def called_by_others(self, room: RoomId, since: float) -> int:
        return await self._look(of_agents.called_by_others, room, since)

    async def spend(self, quotas: Collection[str], spent: Spending) -> None:
        await self._write(of_agents.spend, quotas, spent)

    async def spent(self, quota: str, since: float) -> Sequence[Spending]:
        return await self._look(of_agents.spent, quota, since)

    async def spending(self, since: float) -> Sequence[tuple[str, Spending]]:
        return await self._read(of_agents.spending, since)

    async def forget_spending(self, quota: str) -> None:
        await self._write(of_agents.forget_spending, quota)

    async def put_tools(
        self, conversation: UUID, agent: str, tools: Sequence[Mapping[str, JsonValue]]
    ) -> None:
        await self._write(of_agents.put_tools, conversation, agent, tools)

    async def keep_tools(self, agents: Mapping[UUID, Collection[str]]) -> None:
        await self._write(of_agents.keep_tools, agents)

    async def put_pairing_code(self, code: PairingCode) -> None:
        await self._write(of_agents.put_pairing_code, code, self._clock.time())

    async def pairing_codes(self) -> Sequence[PairingCode]:
        return await self._look(of_agents.pairing_codes, self._clock.time())

    async def use_pairing_code(self, digest: str, actor: ActorId) -> PairingUse:
        return await self._write(of_agents.use_pairing_code, digest, actor, self._clock.time())

    async def pairings(self) -> Sequence[Pairing]:
        return await self._look(of_agents.pairings)

    async def unpair(self, actor: ActorId, agent: str | None) -> bool:
        return await self._write(of_agents.unpair, actor, agent)

    # --- approvals ----------------------------------------------------------------------------

    async def ask_approval(self, approval: Approval) -> Approval:
        return await self._write(approvals.ask, approval)

    async def approval(self, approval: str) -> Approval | None:
        return await self._look(approvals.approval, approval)

    async def decide(
        self, approval: str, decision: Decision, accounts: Collection[ActorId]
    ) -> tuple[Counted, Approval | None]:
        return await self._write(approvals.decide, approval, decision, accounts)

    async def end_approval(self, approval: str, state: ApprovalState, at: float) -> bool:
        return await self._write(approvals.end, approval, state, at)

    async def approvals(
        self,
        *,
        turn: TurnId | None = None,
        room: RoomId | None = None,
        newest: int = 100,
        open_only: bool = False,
    ) -> Sequence[Approval]:
        return await self._look(approvals.several, turn, room, newest, open_only)

    # --- feedback -----------------------------------------------------------------------------

    async def undelivered_feedback(self) -> Sequence[MessageRating]:
        return await self._look(feedback.undelivered)

    async def set_feedback_delivered(self, entry: MessageRating) -> None:
        await self._write(feedback.set_delivered, entry)

    # --- secrets ------------------------------------------------------------------------------

    async def get_value(self, account: AccountId, key: str) -> str | None:
        return await self._look(key_values.get, account, key, self._seal)

    async def put_value(
        self, account: AccountId, key: str, value: str, *, sealed: bool = False
    ) -> None:
        await self._write(key_values.put, account, key, value, sealed, self._seal)

    async def put_first_value(self, account: AccountId, key: str, value: str) -> str:
        return await self._write(key_values.put_first, account, key, value)

    async def value_keys(self, account: AccountId, prefix: str) -> Sequence[str]:
        return await self._look(key_values.keys, account, prefix)

    async def values(self, account: AccountId, prefix: str) -> Mapping[str, str]:
        return await self._read(key_values.values, account, prefix)

    async def put_values(self, account: AccountId, values: Mapping[str, str]) -> None:
        await self._write(key_values.put_all, account, values)

    async def remove_value(self, account: AccountId, key: str) -> None:
        await self._write(key_values.remove, account, key)

    async def credential(self, name: str) -> str | None:
        if (of_tenant := split_tenant_secret(name)) is not None:
            return await self.tenant_secret(*of_tenant)
        return await self._look(key_values.credential, name, self._seal)

    async def credential_names(self) -> Sequence[str]:
        return await self._look(key_values.credential_names)

    async def put_credential(self, name: str, value: str) -> None:
        await self._write(key_values.put_credential, name, value, self._seal)

    async def payload_credentials(self, row: int) -> Mapping[str, str]:
        return await self._look(inbox.credentials, row, self._seal, self._clock.time())

    async def forget_expired(self) -> int:
        return await self._write(inbox.forget_expired, self._clock.time())

    # --- tenants ------------------------------------------------------------------------------

    async def tenants(self) -> Sequence[Tenant]:
        return await self._look(of_tenants.tenants)

    async def tenant(self, tenant: TenantId) -> Tenant | None:
        return await self._look(of_tenants.tenant, tenant)

    async def put_tenant(self, tenant: Tenant, secrets: Mapping[str, str]) -> None:
        await self._write(of_tenants.put, tenant, secrets, self._seal)

    async def set_tenant_state(self, tenant: TenantId, state: TenantState) -> bool:
        return await self._write(of_tenants.set_state, tenant, state, self._seal)

    async def set_tenant_limits(self, tenant: TenantId, limits: TenantLimits) -> bool:
        return await self._write(of_tenants.set_limits, tenant, limits)

    async def set_tenant_trouble(self, tenant: TenantId, trouble: str) -> None:
        await self._write(of_tenants.set_trouble, tenant, trouble)

    async def renew_tenant(self, tenant: Tenant, renewed: Installation) -> bool:
        return await self._write(of_tenants.renew, tenant, renewed, self._seal)

    async def tenant_secrets(self, tenant: TenantId) -> Mapping[str, str]:
        return await self._look(of_tenants.secrets, tenant, self._seal)

    async def tenant_secret(self, tenant: TenantId, name: str) -> str | None:
        return await self._look(of_tenants.secret, tenant, name, self._seal)

    async def rotate_tenant_key(self, tenant: TenantId) -> int:
        return await self._write(of_tenants.rotate_key, tenant, self._seal)

    async def remove_tenant(self, tenant: TenantId) -> bool:
        return await self._write(of_tenants.remove, tenant)

    async def use_install_state(self, digest: bytes, expires: float) -> bool:
        return await self._write(of_tenants.use_state, digest, expires, self._clock.time())

    # --- the whole ----------------------------------------------------------------------------

    async def lanes_waiting(self) -> Sequence[LaneStatus]:
        return await self._read(lanes_waiting)

    async def status(self) -> StoreStatus:
        return await self._read(read_status)

    async def pulse(self) -> StorePulse:
        return await self._look(read_pulse)


def _nothing(_db: Connection) -> None:
    """A unit that brings those that wait for company with it."""
