"""One ordered queue for each destination channel: order is kept here, budgets decide when."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

import structlog

from bridge.errors import (
    AuthFailed,
    BridgeError,
    FormRefused,
    NoHistory,
    NotFound,
    NotOpen,
    RateLimited,
    Refused,
    StoreError,
    ThreadClosed,
    TokenRefused,
    Unsettled,
)
from bridge.model import (
    AccountId,
    AddReaction,
    Call,
    DeleteMessage,
    Delivery,
    EditMessage,
    Encoded,
    LaneId,
    Loss,
    Mark,
    MessageId,
    NoteReactions,
    Operation,
    OperationId,
    PinMessage,
    PostMessage,
    Receipt,
    RemoveReaction,
    UnpinMessage,
)
from bridge.model.archive_records import NewMessage
from bridge.model.outbox_records import DeadLetter, OutboxItem, OutboxState, Settlement
from bridge.ports.abilities import has
from bridge.ports.clock import Clock
from bridge.ports.connector import Connector, FindsSent, LeavesFilesOut, SaysInWords
from bridge.ports.store.messages import MessageStore
from bridge.ports.store.outbox import OutboxStore
from bridge.router.outbound.delivery_lookup import find_post
from bridge.router.outbound.duplicates import DuplicateRemover
from bridge.router.outbound.encoding import Encoding, out_of_thread
from bridge.router.outbound.in_flight import InFlightCalls
from bridge.router.outbound.max_delay import too_late
from bridge.router.outbound.notices import is_ours
from bridge.router.outbound.rate_limits import Priority, RateLimits
from bridge.router.outbound.streams import streams_of
from bridge.router.rooms.rooms import Rooms
from bridge.router.runtime import metrics
from bridge.router.runtime.timeouts import Policy

log = structlog.get_logger()

_MOST_ASIDE = 3  # failing operations that let others go first in one round
_LOOK_AGAIN = 10.0  # seconds between two looks for a post that may still arrive


@dataclass
class _Claim:
    """A lane for whose next operation there is nothing to wait; `alone` until another comes."""

    operation: OperationId
    begun: bool
    alone: bool = True


@dataclass
class _Lane:
    """`echoes`: our own posts that came back while it worked, by operation and slot; `doubtful`:
    the call that had no answer, as it went out, `doubt` why it had none, and `doubted_at` when.

    `urged`: an operator wants the next attempt now. `failing`: when each operation first failed.
    `aside`: the failing operations that let the ones behind them go first in this round; `proved`:
    those for which one behind them was taken.
    """

    wake: asyncio.Event
    task: asyncio.Task[None]
    echoes: dict[tuple[OperationId, int], Receipt] = field(
        default_factory=dict[tuple[OperationId, int], Receipt]
    )
    doubtful: Call | None = None
    doubt: Unsettled | None = None
    doubted_at: float = 0.0
    urged: asyncio.Event = field(default_factory=asyncio.Event)
    failing: dict[OperationId, float] = field(default_factory=dict[OperationId, float])
    aside: dict[MessageId, _Aside] = field(default_factory=dict["MessageId", "_Aside"])
    proved: set[OperationId] = field(default_factory=set[OperationId])

    def forget_doubt(self) -> Unsettled | None:
        """It is known what became of the call; why that was not known at once."""
        doubt, self.doubtful, self.doubt = self.doubt, None, None
        return doubt


@dataclass(frozen=True)
class _Aside:
    """A failing operation that lets others go first, and its last error."""

    operation: OperationId
    error: str


@dataclass
class _Work:
    """The calls of one operation, what they could not carry, and what stands so far."""

    calls: Sequence[Call]
    losses: list[Loss]
    receipts: list[Receipt] = field(default_factory=list[Receipt])


class _LanesStore(MessageStore, OutboxStore, Protocol):
    """What `Lanes` needs of the store."""


class Lanes:
    """Sends what the outbox holds. A lane's trouble is its own: the others go on."""

    def __init__(
        self,
        store: _LanesStore,
        connectors: Mapping[AccountId, Connector],
        budgets: RateLimits,
        clock: Clock,
        policy: Policy,
        rooms: Rooms,
        encoding: Encoding,
        under_way: InFlightCalls,
    ) -> None:
        self._store = store
        self._connectors = connectors
        self._budgets = budgets
        self._clock = clock
        self._policy = policy
        self._rooms = rooms
        self._encoding = encoding
        self._under_way = under_way
        self._lanes: dict[LaneId, _Lane] = {}
        self._claims: dict[LaneId, _Claim] = {}
        self._begun: set[OperationId] = set()
        self._doubles = DuplicateRemover(store, connectors, clock, policy, self._take_away)
        self._started = False  # before that, a lane that nobody works on may not be empty
        self._closing = False
        self.on_end: Callable[[Operation, OutboxState], Awaitable[None]] | None = None
        self.say_instead: Callable[[Mark], Awaitable[None]] = _nothing
        self.is_stopped: Callable[[AccountId], bool] = lambda _account: False

    async def start(self) -> None:
        """Go on with every lane that has something to send."""
        for lane in await self._store.open_lanes():
            self.wake(lane)
        self._started = True

    def claim(self, operation: Operation) -> bool:
        """Whether this operation will be alone in its lane and may be queued as begun, which saves
        a COMMIT. Only where it can be found out after a crash whether it arrived.

        Every call is followed by `unclaim`, when the operation is durable or will never be.
        """
        lane = operation.lane
        if other := self._claims.get(lane):
            other.alone = False
        if not self._started or self._closing or other or lane in self._lanes:
            return False
        begun = lane == operation.channel.lane and has(
            self._connectors.get(operation.account), FindsSent
        )
        self._claims[lane] = _Claim(operation.id, begun)
        if begun:
            self._begun.add(operation.id)
        return begun

    def unclaim(self, operation: Operation, message: NewMessage | None, *, queued: bool) -> None:
        """It is queued, with this message, or will never be. Where it is alone in its lane it goes
        on at once, without a look into the store."""
        lane = operation.lane
        claim = self._claims.get(lane)
        if claim is None or claim.operation != operation.id:
            if queued:
                self.wake(lane)
            return
        del self._claims[lane]
        if not queued:
            self._begun.discard(operation.id)
            if not claim.alone:
                self.wake(lane)
            return
        alone = claim.alone and lane not in self._lanes
        self.wake(lane, self._first(operation, message, claim) if alone and message else None)

    def _first(self, operation: Operation, message: NewMessage, claim: _Claim) -> OutboxItem | None:
        """What `Store.head` would tell of it; None where it would have to look further."""
        if not isinstance(operation, PostMessage) or operation.root or operation.reply_to:
            return None
        if operation.message != message.message.message_id:
            return None
        now = self._clock.time()
        return OutboxItem(
            delivery=Delivery(operation=operation, message=message.message),
            state="sending" if claim.begun else "waiting",
            attempts=int(claim.begun),
            due=0.0,
            created=now,
            message_state=message.state,
        )

    def heard(self, lane: LaneId, operation: OperationId, receipt: Receipt) -> None:
        """A post came back: the proof that it arrived, should its answer be lost. Where nothing of
        its lane is open there is nothing to prove."""
        self._doubles.heard(operation, receipt)
        if running := self._lanes.get(lane):
            running.echoes[operation, receipt.slot] = receipt
            running.wake.set()

    def heard_ours(self, lane: LaneId) -> None:
        """Some post of ours came back, nobody knows which: where one is looked for, look now."""
        if (running := self._lanes.get(lane)) and running.doubt is not None:
            running.wake.set()

    def wake(self, lane: LaneId, first: OutboxItem | None = None) -> None:
        """Something in this lane is new: a worker starts, or looks again. `first`: what it begins
        with, where that is known."""
        if self._closing:
            return
        if claim := self._claims.get(lane):
            claim.alone = False
        if running := self._lanes.get(lane):
            running.wake.set()
            return
        wake = asyncio.Event()
        task = asyncio.create_task(self._run(lane, wake, first), name=f"lane {lane}")
        self._lanes[lane] = _Lane(wake, task)

    def wake_all(self) -> None:
        """Every lane looks again: something that held some of them is over."""
        for lane in self._lanes.values():
            lane.wake.set()

    @property
    def idle(self) -> bool:
        return not self._lanes

    async def close(self, seconds: float) -> None:
        """Let every lane finish the call that is under way, then stop."""
        self._closing = True
        tasks = {lane.task for lane in self._lanes.values()}
        for lane in self._lanes.values():
            lane.wake.set()
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=seconds)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        await self._doubles.close()

    async def _run(self, lane: LaneId, wake: asyncio.Event, first: OutboxItem | None) -> None:
        """Work until nothing is open; what is put in while we look is seen by `wake`."""
        failures = 0
        try:
            while not self._closing:
                item = None if wake.is_set() else first
                first = None
                wake.clear()
                try:
                    aside = self._lanes[lane].aside
                    item = item or await self._head(lane)
                    if item is None:
                        if aside or wake.is_set():
                            aside.clear()
                            continue
                        return
                    await self._advance(item, wake)
                    failures = 0
                except NotOpen as error:  # it was cancelled while we looked at it
                    log.info("operation_over", lane=lane, error=str(error))
                except Exception as error:
                    failures += 1
                    log.exception("lane_failed", lane=lane, error=str(error))
                    if not await self._give_up(item, error):
                        await self._pause(asyncio.Event(), self._policy.backoff(failures))
        finally:
            del self._lanes[lane]

    async def _head(self, lane: LaneId) -> OutboxItem | None:
        return await self._store.head(lane, besides=tuple(self._lanes[lane].aside))

    async def _give_up(self, item: OutboxItem | None, error: Exception) -> bool:
        """Whether an operation that keeps failing as nothing should was put aside."""
        if item is None or isinstance(error, BridgeError):
            return False
        if item.attempts + 1 < self._policy.odd_failures:
            return False
        await self._dead(item, _fault(error))
        return True

    async def _advance(self, item: OutboxItem, wake: asyncio.Event) -> None:
        """One step of the oldest open operation."""
        wait = self._wait(item)
        connector = self._connectors.get(item.delivery.operation.account)
        if connector is None:
            account = item.delivery.operation.account
            await self._dead(item, f"account {account!r} is no longer configured")
        elif self._must_wait(item):
            await self._hold(item, wake)
        elif isinstance(item.delivery.operation, Mark):
            await self._mark(item, item.delivery.operation, connector, wake)
        elif item.state == "sending" and item.delivery.operation.id not in self._begun:
            await self._settle(item, connector, wake)
        elif wait > 0:
            await self._pause(wake, wait)
        elif not self._is_wanted(item.delivery.operation):
            error = "they want no direct messages any more"
            over = Settlement(item.delivery.operation.id, "cancelled", error=error)
            await self._end(item, over)
        elif why := self._given_up(item):
            await self._dead(item, why)
        elif item.message_state == "deleted" and isinstance(item.delivery.operation, PostMessage):
            # It was thought to be on its way when it was deleted, and never arrived.
            over = Settlement(
                item.delivery.operation.id, "cancelled", error="deleted before it was sent"
            )
            await self._end(item, over)
        else:
            await self._send(item, connector, wake)

    def _wait(self, item: OutboxItem) -> float:
        """Seconds until its next attempt; what is tried in place of a failing one is tried now."""
        if self._lanes[item.delivery.operation.lane].aside:
            return 0.0
        return item.due - self._clock.time()

    def _must_wait(self, item: OutboxItem) -> bool:
        """Whether nothing is sent through its account now. Our own notices are, and what may have
        arrived is looked for."""
        operation = item.delivery.operation
        if not self.is_stopped(operation.account) or is_ours(operation.message):
            return False
        return item.state != "sending" or operation.id in self._begun

    async def _hold(self, item: OutboxItem, wake: asyncio.Event) -> None:
        operation = item.delivery.operation.id
        if operation in self._begun:  # nobody sent it: nobody needs to look for it
            self._begun.discard(operation)
            await self._store.postpone(operation, 0.0, "")
        if notice := await self._store.notice(item.delivery.operation.lane):
            await self._advance(notice, wake)
        else:
            await self._pause(wake, self._policy.stopped_look)

    def _is_wanted(self, operation: Operation) -> bool:
        """What is taken back is taken back from everybody."""
        if isinstance(operation, DeleteMessage):
            return True
        return self._rooms.wants_direct(operation.room, operation.account, operation.channel)

    def _given_up(self, item: OutboxItem) -> str:
        """Why what waited is not shown any more: for too long, or the channel is not in its room
        now, whose options would not hold; empty when it is. What we have to say ourselves is."""
        operation = item.delivery.operation
        said = isinstance(operation, PostMessage | EditMessage) and not is_ours(operation.message)
        if said and (left := self._rooms.left(operation.room, operation.channel)):
            return left
        options = self._rooms.altering(operation.room, operation.channel)
        if options is None or not isinstance(operation, PostMessage) or item.delivery.copies:
            return ""
        return too_late(options, self._clock.time() - item.created)

    # --- marks: reactions and pins ----------------------------------------------------------------

    async def _mark(
        self, item: OutboxItem, mark: Mark, connector: Connector, wake: asyncio.Event
    ) -> None:
        """Put it on the copy that stands here; doing it twice does no harm, so one that nobody
        knows the end of is simply said again."""
        wait = max(self._wait(item), self._policy.mark_wait if item.post_open else 0.0)
        if wait > 0:  # the end of the post wakes us, too
            await self._pause(wake, wait)
        elif isinstance(mark, NoteReactions):
            await self._store.begin(mark.id)  # a reaction from here on is another note's
            await self.say_instead(mark)
            await self._done(item, [], [])
        elif not item.delivery.copies:
            error = "the message does not stand there"
            await self._end(item, Settlement(mark.id, "cancelled", error=error))
        elif encoded := await self._encoded(item, connector):
            await self._put(item, mark, encoded, connector, wake)

    async def _put(
        self, item: OutboxItem, mark: Mark, encoded: Encoded, connector: Connector,
        wake: asyncio.Event,
    ) -> None:  # fmt: skip
        losses = [*encoded.losses]
        for call in encoded.calls:
            async with self._budgets.permission(mark.account, call.budgets, Priority.REACTION):
                if self._closing or (wake.is_set() and not await self._is_head(mark)):
                    return
                await self._store.begin(mark.id)
                try:
                    await self._call(connector, call)
                except FormRefused as error:
                    losses.append(
                        Loss(path="", kind="mark_refused", what=str(error), shown_as="a note")
                    )
                except StoreError:
                    raise
                except BridgeError as error:
                    await self._failed_mark(item, call, error)
                    return
        if encoded.calls:
            await self._taken(mark)
        if losses and isinstance(mark, PinMessage | UnpinMessage):
            await self.say_instead(mark)
        await self._done(item, [], losses)

    async def _is_head(self, mark: Mark) -> bool:
        """What is taken back while we wait for permission is not done any more."""
        now = await self._head(mark.lane)
        return now is not None and now.delivery.operation.id == mark.id

    async def _failed_mark(self, item: OutboxItem, call: Call, error: BridgeError) -> None:
        if isinstance(error, Unsettled):
            await self._retry(item, error, "unsettled", item.attempts)
        else:
            await self._failed(item, call, error)

    async def _send(self, item: OutboxItem, connector: Connector, wake: asyncio.Event) -> None:
        operation = item.delivery.operation.id
        if operation in self._begun:
            item = replace(item, state="waiting", attempts=item.attempts - 1)
        try:
            await self._carry_out(item, connector, wake)
        finally:
            if operation in self._begun:  # nobody sent it: nobody needs to look for it
                self._begun.discard(operation)
                await self._store.postpone(operation, 0.0, "")

    async def _carry_out(self, item: OutboxItem, connector: Connector, wake: asyncio.Event) -> None:
        encoded = await self._encoded(item, connector)
        if encoded is None:
            return
        work = _Work(encoded.calls, [*encoded.losses])
        try:
            if await self._make_calls(item, connector, wake, work):
                if work.receipts:
                    await self._taken(item.delivery.operation)
                await self._done(item, work.receipts, work.losses)
        except StoreError:
            raise
        except BridgeError as error:
            call = work.calls[len(work.receipts)]
            bare = await self._out_of_thread(item, call) if isinstance(error, NotFound) else None
            if bare is None:
                await self._failed(item, call, error)
            else:
                await self._carry_out(bare, connector, wake)

    async def _out_of_thread(self, item: OutboxItem, call: Call) -> OutboxItem | None:
        """A post whose thread is gone begins one anew, as where its root never came; None for what
        stands in none. Asked for once more: parts of it may stand by now."""
        operation = item.delivery.operation
        if call.kind != "post" or item.delivery.thread is None:
            return None
        now = await self._head(operation.channel.lane)
        if now is None or now.delivery.operation.id != operation.id:
            return None
        log.info("thread_gone", operation=operation.id, thread=item.delivery.thread)
        return replace(now, delivery=out_of_thread(now.delivery), thread_missing=True)

    async def _make_calls(
        self, item: OutboxItem, connector: Connector, wake: asyncio.Event, work: _Work
    ) -> bool:
        """One call after the other, each with permission; False when we stop before the first."""
        operation = item.delivery.operation
        first = work.calls[0].budgets if work.calls else ()
        async with self._budgets.permission(operation.account, first, _urgency(item)):
            if self._closing:
                return False
            await self._begin(operation.id)
            if wake.is_set():
                await self._bring_up_to_date(item, connector, work)
            if work.calls:
                await self._call_or_say(item, connector, work)
        while len(work.receipts) < len(work.calls):
            await self._store.record(operation.id, work.receipts[-1:])
            budgets = work.calls[len(work.receipts)].budgets
            async with self._budgets.permission(operation.account, budgets, _urgency(item)):
                await self._call_or_say(item, connector, work)
        return True

    async def _bring_up_to_date(self, item: OutboxItem, connector: Connector, work: _Work) -> None:
        """While we waited for permission the message may have changed; from `begin` on that would
        be an operation of its own."""
        operation = item.delivery.operation
        now = await self._head(operation.channel.lane)
        if now is None or now.delivery.operation.id != operation.id:
            return
        # One that grows may be whole by now; a thread that is gone does not come back.
        if now.delivery.message != item.delivery.message or operation.grows:
            delivery = out_of_thread(now.delivery) if item.thread_missing else now.delivery
            encoded = await self._encoding.to_send(delivery, connector)
            work.calls, work.losses = encoded.calls, [*encoded.losses]

    async def _call_or_say(self, item: OutboxItem, connector: Connector, work: _Work) -> None:
        """The next call; what the platform refuses in its form is said in words, and files that it
        refuses are named: neither takes the rest along. What it takes in no thread is said in the
        channel."""
        call = work.calls[len(work.receipts)]
        try:
            receipt = await self._call(connector, call)
        except Refused as error:
            receipt = await self._say_otherwise(item, connector, work, call, error)
        work.receipts.append(receipt)
        if item.delivery.operation.grows:
            self._encoding.edits.note(connector.account, call)

    async def _say_otherwise(
        self, item: OutboxItem, connector: Connector, work: _Work, call: Call, error: Refused
    ) -> Receipt:
        operation = item.delivery.operation
        for kind, shown_as, way in self._other_ways(item, connector, error):
            other = await way(call)
            if other is None:
                continue
            log.warning(
                "said_otherwise",
                lane=operation.lane,
                operation=operation.id,
                why=kind,
                error=str(error),
            )
            work.losses.append(Loss(path="", kind=kind, what=str(error), shown_as=shown_as))
            call = other
            index = len(work.receipts)
            work.calls = (*work.calls[:index], call, *work.calls[index + 1 :])
            try:
                async with self._budgets.permission(
                    operation.account, call.budgets, _urgency(item)
                ):
                    return await self._call(connector, call)
            except Refused as again:
                error = again
        raise error

    def _other_ways(
        self, item: OutboxItem, connector: Connector, error: Refused
    ) -> Iterator[tuple[str, str, Callable[[Call], Awaitable[Call | None]]]]:
        """Kind of the loss, what is shown instead, and the call that may pass in its place."""
        if streams := streams_of(connector):
            plain = partial(self._encoding.unstreamed, item.delivery, streams=streams)
            yield "no_stream", "a post that is edited", plain
        if isinstance(error, ThreadClosed):
            outside = partial(self._encoding.in_channel, item.delivery, connector=connector)
            yield "thread_closed", "a post in the channel", outside
        if isinstance(error, FormRefused) and isinstance(connector, SaysInWords):
            yield "form_refused", "its words", _at_once(connector.in_words)
        if isinstance(connector, LeavesFilesOut):
            yield "files_refused", "their names", _at_once(connector.without_files)

    async def _begin(self, operation: OperationId) -> None:
        if operation in self._begun:
            self._begun.discard(operation)
        else:
            await self._store.begin(operation)

    async def _failed(self, item: OutboxItem, call: Call, error: BridgeError) -> None:
        """What an error means for the operation: again, later, settle first, or never."""
        match error:
            case RateLimited():
                self._obey(call, item.delivery.operation.account, error)
                await self._wait_in_order(item, error, 0.0, "rate_limited")
            case TokenRefused():
                self._lanes[item.delivery.operation.lane].aside.clear()
                await self._wait_in_order(item, error, self._auth_pause(item), "token_refused")
            case AuthFailed():
                pause = self._auth_pause(item)
                await self._retry(item, error, "auth_failed", item.attempts, pause=pause)
            case Unsettled():
                operation = item.delivery.operation
                log.warning(
                    "operation_unsettled",
                    lane=operation.lane,
                    operation=operation.id,
                    error=str(error),
                )
                lane = self._lanes[operation.lane]
                lane.doubtful, lane.doubt = call, error
                lane.doubted_at = self._clock.time()
                metrics.RETRIED.labels(operation.account, "unsettled").inc()
            case Refused():
                await self._dead(item, str(error))
            case _:
                await self._retry(item, error, "unavailable", item.attempts)

    async def _retry(
        self,
        item: OutboxItem,
        error: BridgeError,
        why: str,
        attempts: int,
        *,
        pause: float | None = None,
    ) -> None:
        """Try it again after a pause, or give it up: after `retry_for` in any case, earlier where
        the lane's other operations show that the platform refuses this one alone. `attempts`: how
        often it was tried before this failure; `pause`: seconds, where the backoff is not meant."""
        operation = item.delivery.operation
        lane, now = self._lanes[operation.lane], self._clock.time()
        since = lane.failing.setdefault(operation.id, now)
        if operation.id in lane.proved:
            await self._dead(item, f"{error}; given up: the platform took what was sent after it")
        elif self._too_old(item, attempts):
            await self._dead(item, f"{error}; given up after {attempts + 1} attempts")
        else:
            seconds = self._policy.backoff(attempts) if pause is None else pause
            await self._again(item, error, seconds, why)
            if lane.aside or now - since >= self._policy.retry_alone_for:
                self._let_others_go_first(lane, operation, str(error))

    async def _wait_in_order(
        self, item: OutboxItem, error: BridgeError, pause: float, why: str
    ) -> None:
        """Try it again before anything behind it, which would not pass either; after `retry_for`
        it is given up."""
        if self._too_old(item, item.attempts):
            await self._dead(item, f"{error}; given up after {item.attempts + 1} attempts")
        else:
            await self._again(item, error, pause, why)

    def _too_old(self, item: OutboxItem, attempts: int) -> bool:
        """Whether it has been tried often and for long enough; `attempts` before this failure."""
        marks = isinstance(item.delivery.operation, Mark)
        limit = self._policy.retry_marks_for if marks else self._policy.retry_for
        age = self._clock.time() - item.created
        return attempts + 1 >= self._policy.odd_failures and age >= limit

    def _auth_pause(self, item: OutboxItem) -> float:
        return min(self._policy.auth_pause, self._policy.backoff(item.attempts))

    def _let_others_go_first(self, lane: _Lane, operation: Operation, error: str) -> None:
        """Whether the request or its channel is at fault, the requests behind it tell: a few of
        them are tried once in each round, after it has failed once more. Where all of them fail,
        the channel waits for its platform, in order."""
        if len(lane.aside) >= _MOST_ASIDE:
            lane.aside.clear()
        else:
            lane.aside[operation.message] = _Aside(operation.id, error)

    async def _taken(self, operation: Operation) -> None:
        """The platform took this operation while those before it failed: these are tried a last
        time."""
        lane = self._lanes[operation.lane]
        aside = [one for one in lane.aside.values() if one.operation != operation.id]
        lane.aside.clear()
        for one in aside:
            lane.proved.add(one.operation)
            await self._store.postpone(one.operation, 0.0, one.error)

    async def _encoded(self, item: OutboxItem, connector: Connector) -> Encoded | None:
        """The calls; a message that no encoder can take is given up, so that the lane goes on."""
        try:
            return await self._encoding.to_send(item.delivery, connector)
        except StoreError:
            raise
        except Exception as error:
            log.exception(
                "message_not_encoded",
                lane=item.delivery.operation.lane,
                operation=item.delivery.operation.id,
            )
            await self._dead(item, f"it cannot be encoded: {_fault(error)}")
            return None

    async def _call(self, connector: Connector, call: Call) -> Receipt:
        files = sum(file.size for file in call.files)
        deadline = self._policy.send_deadline + files / self._policy.upload_pace
        try:
            with self._under_way.call(connector):
                async with asyncio.timeout(deadline):
                    return await connector.send(call)
        except TimeoutError:
            raise Unsettled(
                f"{call.method} to {call.channel} had no answer within {deadline:g} s", late=True
            ) from None

    async def _take_away(self, connector: Connector, call: Call) -> Receipt:
        """A copy that nobody wanted."""
        account = connector.account
        async with self._budgets.permission(account, call.budgets, Priority.FINAL_EDIT):
            return await self._call(connector, call)

    async def _settle(self, item: OutboxItem, connector: Connector, wake: asyncio.Event) -> None:
        """Nobody knows whether the last call arrived: find out before the lane goes on."""
        operation = item.delivery.operation
        encoded = await self._encoded(item, connector)
        if encoded is None:
            return
        calls, lane = encoded.calls, self._lanes[operation.channel.lane]
        if not calls:
            await self._done(item, [], [])
        elif (post := _doubtful_post(calls, lane.doubtful, connector)) is None:
            doubt = lane.forget_doubt()
            if doubt is None:
                await self._store.postpone(
                    operation.id, 0.0, "said again: it changes nothing twice"
                )
            else:
                await self._retry(item, doubt, "unsettled", item.attempts - 1)
        elif isinstance(connector, FindsSent):
            await self._look_for(item, connector, post, wake)
        else:
            await self._unproved(item)

    async def _look_for(
        self, item: OutboxItem, connector: FindsSent, call: Call, wake: asyncio.Event
    ) -> None:
        operation = item.delivery.operation
        lane = self._lanes[operation.channel.lane]
        if echo := lane.echoes.pop((operation.id, call.slot), None):
            lane.forget_doubt()
            await self._taken(operation)
            await self._store.record(operation.id, [echo])
            await self._store.postpone(operation.id, 0.0, "")
            return
        grace = (item.began or 0.0) + self._policy.settle_grace - self._clock.time()
        if grace > 0:
            await self._pause(wake, grace)
            return
        try:
            async with asyncio.timeout(self._policy.send_deadline):
                receipt = await find_post(self._store, item, connector, call, lane.doubtful)
        except (BridgeError, TimeoutError) as error:
            if isinstance(error, StoreError):
                raise
            await self._look_again_later(item, error)
            return
        late = lane.doubt is not None and lane.doubt.late
        left = lane.doubted_at + self._policy.settle_late - self._clock.time()
        if receipt is None and late and left > 0:  # the platform may take it yet
            await self._pause(wake, min(left, max(_LOOK_AGAIN, self._policy.settle_grace)))
            return
        log.info("operation_looked_for", operation=operation.id, found=receipt is not None)
        doubt = lane.forget_doubt()
        if receipt:
            await self._taken(operation)
            await self._store.record(operation.id, [receipt])
            await self._store.postpone(operation.id, 0.0, "")
            return
        self._doubles.sent_again(operation)
        if doubt is None:
            await self._store.postpone(operation.id, 0.0, "it never arrived")
        else:
            tried = item.attempts - 1
            pause = None if tried > 0 else 0.0
            await self._retry(item, doubt, "never_arrived", tried, pause=pause)

    async def _look_again_later(self, item: OutboxItem, error: BridgeError | TimeoutError) -> None:
        """The platform cannot be asked just now whether the post arrived, or never will tell."""
        operation = item.delivery.operation
        log.warning(
            "settling_failed", lane=operation.lane, operation=operation.id, error=str(error)
        )
        if isinstance(error, NoHistory):
            await self._unproved(item)
            return
        refused = isinstance(error, Refused)
        limit = self._policy.retry_alone_for if refused else self._policy.retry_for
        if self._clock.time() - (item.began or item.created) >= limit:
            await self._unproved(item)
            return
        lane = self._lanes[operation.lane]
        lane.urged.clear()
        pause = getattr(error, "retry_after", self._policy.backoff(item.attempts))
        await self._pause(lane.urged, pause)

    async def skip(self, operation: OperationId) -> None:
        """Give up an operation that waits, so that its lane goes on: it becomes a dead letter.
        Raises StoreError where it does not wait."""
        waiting = {one.operation.id: one for one in await self._store.held_up()}
        if operation not in waiting:
            raise StoreError(f"Operation {operation!r} does not wait (any more)")
        lane = waiting[operation].operation.lane
        await self._over(waiting[operation].operation, skipped(waiting[operation]))
        running = self._lanes.get(lane)
        if running and running.doubtful and running.doubtful.operation == operation:
            running.forget_doubt()
        self.hasten(lane, operation)

    def hasten(self, lane: LaneId, operation: OperationId) -> None:
        """Look at the lane now; what failed so far counts no more for this operation."""
        if running := self._lanes.get(lane):
            running.failing.pop(operation, None)
            running.urged.set()
        self.wake(lane)

    async def _done(
        self, item: OutboxItem, receipts: Sequence[Receipt], losses: Sequence[Loss]
    ) -> None:
        operation = item.delivery.operation
        if isinstance(operation, EditMessage) and not operation.stream:
            self._encoding.edits.forget(operation.account, operation.channel, item.delivery.copies)
        thread_of = _root_of_new_thread(item)
        if thread_of is not None:
            missing = Loss(
                path="", kind="thread_root_missing", what="the thread's first message",
                shown_as="this message begins the thread here",
            )  # fmt: skip
            losses = (*losses, missing)
        settlement = Settlement(
            operation.id, "done", receipts=tuple(receipts), losses=tuple(losses),
            thread_of=thread_of, then=_note_after(operation) if losses else (),
        )  # fmt: skip
        await self._end(item, settlement)
        for loss in losses:
            metrics.LOST.labels(operation.account, loss.kind).inc()
        metrics.LATENCY.labels(operation.account).observe(self._clock.time() - item.created)

    async def _dead(self, item: OutboxItem, error: str) -> None:
        log.error(
            "operation_dead",
            lane=item.delivery.operation.lane,
            operation=item.delivery.operation.id,
            error=error,
        )
        await self._end(item, Settlement(item.delivery.operation.id, "dead", error=error))

    async def _unproved(self, item: OutboxItem) -> None:
        error = (
            "the answer was lost, and this platform cannot be asked whether the post arrived; "
            "look there; if it is missing, replay it with: uacs-bridge dead-letters replay"
        )
        log.warning(
            "operation_unproved",
            lane=item.delivery.operation.lane,
            operation=item.delivery.operation.id,
        )
        await self._end(item, Settlement(item.delivery.operation.id, "unproved", error=error))

    async def _end(self, item: OutboxItem, settlement: Settlement) -> None:
        operation = item.delivery.operation
        lane = self._lanes[operation.lane]
        lane.failing.pop(operation.id, None)
        lane.proved.discard(operation.id)
        await self._over(operation, settlement)

    async def _over(self, operation: Operation, settlement: Settlement) -> None:
        await self._store.settle(settlement)
        if isinstance(operation, PostMessage) and (
            marks := self._lanes.get(operation.channel.marks_lane)
        ):
            marks.wake.set()
        account = operation.account
        metrics.SETTLED.labels(account, settlement.state).inc()
        if self.on_end is not None:
            await self.on_end(operation, settlement.state)

    async def _again(self, item: OutboxItem, error: BridgeError, pause: float, why: str) -> None:
        operation = item.delivery.operation
        log.warning(
            "operation_postponed",
            lane=operation.lane,
            operation=operation.id,
            why=why,
            error=str(error),
        )
        metrics.RETRIED.labels(operation.account, why).inc()
        until = self._clock.time() + pause if pause else 0.0
        await self._store.postpone(operation.id, until, str(error))

    def _obey(self, call: Call, account: AccountId, error: RateLimited) -> None:
        """Wait where the platform said; if it did not say, the narrowest limit of the call."""
        keys = [key for key in call.budgets if key.rule in error.scope] or call.budgets[:1]
        self._budgets.block(account, keys, error.retry_after)

    async def _pause(self, wake: asyncio.Event, seconds: float) -> None:
        """Sleep, but not through a wake-up."""
        sleeping = asyncio.ensure_future(self._clock.sleep(seconds))
        woken = asyncio.ensure_future(wake.wait())
        try:
            await asyncio.wait({sleeping, woken}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleeping.cancel()
            woken.cancel()


def _doubtful_post(calls: Sequence[Call], sent: Call | None, connector: Connector) -> Call | None:
    """The post that may have arrived unseen: those before it left their receipts. None: what was
    `sent` last can be said twice, and so can the rest. After a crash nobody knows what that was;
    then what begins with a change is looked for, or said again where nobody can look."""
    if sent is not None and sent.operation == calls[0].operation:
        at_stake = sent.kind == "post"
    else:
        at_stake = calls[0].kind == "post" or isinstance(connector, FindsSent)
    return next((call for call in calls if call.kind == "post"), None) if at_stake else None


def _root_of_new_thread(item: OutboxItem) -> MessageId | None:
    """The root in whose place this message begins the thread here: a post, or an edit of what does
    not stand any more."""
    operation = item.delivery.operation
    if not item.thread_missing or not isinstance(operation, PostMessage | EditMessage):
        return None
    if isinstance(operation, EditMessage) and item.delivery.copies:
        return None
    return operation.root


def _note_after(operation: Operation) -> tuple[Operation, ...]:
    """A reaction that the platform did not take is told of in the note."""
    if not isinstance(operation, AddReaction | RemoveReaction):
        return ()
    told = operation.model_dump(exclude={"type", "emoji", "id"})
    return (NoteReactions(id=OperationId(f"{operation.id} note"), **told),)


def skipped(letter: DeadLetter) -> Settlement:
    """The end of an operation that an operator gives up."""
    why = f": {letter.error}" if letter.error else ""
    return Settlement(letter.operation.id, "dead", error=f"skipped by an operator{why}")


async def _nothing(_mark: Mark) -> None:
    """Nobody says anything instead of a mark."""


def _urgency(item: OutboxItem) -> Priority:
    operation = item.delivery.operation
    if isinstance(operation, PostMessage):
        return Priority.POST
    return Priority.FINAL_EDIT if isinstance(operation, EditMessage) else Priority.REACTION


def _at_once(way: Callable[[Call], Call | None]) -> Callable[[Call], Awaitable[Call | None]]:
    async def found(call: Call) -> Call | None:
        return way(call)

    return found


def _fault(error: Exception) -> str:
    """What people in the room are told. Errors of ours are written for people; another's may show
    addresses, paths or keys: those are in the log."""
    return (
        error.public if isinstance(error, BridgeError) else f"{type(error).__name__}; see the log"
    )
