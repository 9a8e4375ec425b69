"""Operations in their lanes, as the store keeps them."""

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
    """How an operation ended. `receipts` are all native copies that it made, changed or removed.

    `thread_of` says that this post stands in the destination for a thread root that never came
    there, or is gone: later messages of that root's thread go below it. `then` is queued with it,
    behind all that waits.
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

    - `delivery` holds the message as it stands now, the thread's native root, the quoted message
      and the native copies. `thread_missing` says that it belongs to a thread whose root has no
      copy in this channel. `post_open`: the post that a mark waits for is not done yet.
    - `due` and `began` are seconds since 1970; `after` is the native id of the lane's last
      settled post.
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
    """An operation that nobody works on any more: refused, given up, or unproved. What became of
    its message since (`message_state`: edited, deleted) did not reach its copy either, should
    that stand. Or one that is held up: it is tried again (`waiting`), or its outcome is not known
    yet (`sending`)."""

    operation: Operation
    state: Literal["dead", "unproved", "waiting", "sending"]
    error: str
    attempts: int
    time: float
    excerpt: str
    message_state: MessageState = "complete"


@dataclass(frozen=True)
class LaneStatus:
    """What waits in one lane; `oldest` is seconds since 1970."""

    lane: LaneId
    account: AccountId
    waiting: int
    oldest: float
    state: OutboxState
    error: str = ""


@dataclass(frozen=True)
class OperationRecord:
    """One operation of a message as `explain` shows it."""

    operation: Operation
    state: OutboxState
    attempts: int
    error: str
    created: float
    began: float | None
    ended: float | None
    losses: tuple[Loss, ...]
    receipts: tuple[Receipt, ...]
