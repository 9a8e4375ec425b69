"""Operations in their lanes, as the store has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bridge.model.archive_records import MessageState
from bridge.model.loss import Loss
from bridge.model.operations import Delivery, Operation
from bridge.model.receipts import Receipt
from bridge.model.refs import AccountId, LaneId, MessageId, OperationId

OutboxState = Literal["waiting", "sending", "done", "dead", "unproved", "cancelled"]


@dataclass(frozen=True)
class Settlement:
    """The result of an operation; `receipts` are all native copies that it made, changed or
    removed.

    `thread_of`: this post replaces, at the destination, a thread root that has no copy there: later
    messages of that root's thread go below it. `then` are operations to queue with it, behind all
    others.
    """

    operation: OperationId
    state: Literal["done", "dead", "unproved", "cancelled"]
    receipts: tuple[Receipt, ...] = ()
    losses: tuple[Loss, ...] = ()
    error: str = ""
    thread_of: MessageId | None = None
    then: tuple[Operation, ...] = ()


@dataclass(frozen=True)
class OutboxItem:
    """The oldest open operation of a lane, ready for `encode`.

    - `delivery`: the operation with the current message, the thread's native root, the quoted
      message and the native copies.
    - `thread_missing`: its thread's root has no copy in this channel.
    - `post_open`: the post that a reaction or pin waits for is not done yet.
    - `due`, `began`: in seconds since 1970.
    - `after`: the native id of the lane's last settled post.
    """

    delivery: Delivery
    state: Literal["waiting", "sending"]
    attempts: int
    due: float
    created: float
    began: float | None = None
    after: str | None = None
    thread_missing: bool = False
    post_open: bool = False
    message_state: MessageState = "complete"


@dataclass(frozen=True)
class DeadLetter:
    """An operation that no worker handles any more: refused, given up, or unproved.

    Later changes of its message (`message_state`: edited, deleted) did not reach its copy either,
    if that exists. Also an operation that is delayed: it will be tried again (`waiting`), or its
    outcome is not known yet (`sending`).
    """

    operation: Operation
    state: Literal["dead", "unproved", "waiting", "sending"]
    error: str
    attempts: int
    time: float
    excerpt: str
    message_state: MessageState = "complete"


@dataclass(frozen=True)
class LaneStatus:
    """The operations that wait in one lane; `oldest` is in seconds since 1970."""

    lane: LaneId
    account: AccountId
    waiting: int
    oldest: float
    state: OutboxState
    error: str = ""


@dataclass(frozen=True)
class OperationRecord:
    """One operation of a message, as `explain` shows it."""

    operation: Operation
    state: OutboxState
    attempts: int
    error: str
    created: float
    began: float | None
    ended: float | None
    losses: tuple[Loss, ...]
    receipts: tuple[Receipt, ...]
