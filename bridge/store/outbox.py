"""Operations in their lanes as rows: queued, returned head by head, settled for good."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from bridge.errors import NotOpen, StoreError
from bridge.model import (
    DeleteMessage,
    Delivery,
    EditMessage,
    LaneId,
    MessageId,
    Operation,
    OperationId,
    PostMessage,
    QuotedMessage,
    Receipt,
)
from bridge.model.outbox_records import DeadLetter, OperationRecord, OutboxItem, Settlement
from bridge.store import engine, links, threads
from bridge.store.batches import Late
from bridge.store.bodies import (
    MESSAGES,
    OPERATIONS,
    PEOPLE,
    merge_receipts,
    new_receipts,
    read_losses,
    read_receipts,
    write_losses,
    write_receipts,
)
from bridge.store.connection import Connection
from bridge.store.conversations import excerpt_of
from bridge.store.queries import read_queries

SQL = read_queries("outbox")
_OPEN = ("waiting", "sending")
UNSETTLED_FOR = 30.0  # seconds without an answer, from which on a request counts as held up
_POST_IS_OPEN = read_queries("reactions")["post_is_open"]
_QUOTED = read_queries("archive")["quoted"]


def is_known(db: Connection, operation: OperationId) -> bool:
    return db.execute(SQL["is_known"], (operation,)).fetchone() is not None


def queue(db: Connection, operation: Operation, now: float, *, begun: bool = False) -> None:
    """Append an operation to its lane; `begun`: it is sent as soon as this is durable."""
    body = OPERATIONS.write(operation)
    columns = (
        operation.id,
        operation.lane,
        operation.type,
        operation.message,
        body,
        "sending" if begun else "waiting",
        1 if begun else 0,
        now if begun else None,
        now,
        now,
    )
    try:
        db.execute(SQL["queue"], columns)
    except engine.integrity_errors() as error:
        raise StoreError(
            f"Operation {operation.id!r} was not queued: its id is taken, or its message "
            f"{operation.message!r} is not archived"
        ) from error


def queue_change(db: Connection, operation: Operation, now: float) -> None:
    """Append a change, unless a waiting edit or unsent post already carries the new state, or the
    deletion concerns a post that was never sent."""
    if isinstance(operation, EditMessage) and not operation.files_changed:
        same = db.execute(SQL["same_waiting"], (operation.message, operation.channel.key))
        if same.fetchone() is not None:
            return
    if isinstance(operation, DeleteMessage):
        unsent = (now, operation.message, operation.channel.key)
        if db.execute(SQL["cancel_waiting"], unsent).rowcount:
            return
    queue(db, operation, now)


def posts_of(db: Connection, message: MessageId) -> Sequence[PostMessage]:
    rows = db.execute(SQL["posts_of"], (message,)).fetchall()
    posts = [OPERATIONS.read(body) for (body,) in rows]
    return [post for post in posts if isinstance(post, PostMessage)]


def has_unproved_post(db: Connection, message: MessageId, lane: LaneId) -> bool:
    return db.execute(SQL["unproved_post"], (message, lane)).fetchone() is not None


def open_lanes(db: Connection) -> Sequence[LaneId]:
    return [lane for (lane,) in db.execute(SQL["open_lanes"]).fetchall()]


def head(db: Connection, lane: LaneId, besides: Sequence[MessageId] = ()) -> OutboxItem | None:
    if besides:
        columns = db.execute(SQL["head_besides"], (lane, json.dumps(besides))).fetchone()
    else:
        columns = db.execute(SQL["head"], (lane,)).fetchone()
    return None if columns is None else _item(db, lane, columns)


def notice(db: Connection, lane: LaneId) -> OutboxItem | None:
    columns = db.execute(SQL["notice"], (lane,)).fetchone()
    return None if columns is None else _item(db, lane, columns)


def _item(db: Connection, lane: LaneId, columns: Sequence[Any]) -> OutboxItem:
    body, state, attempts, due, created, began, message, message_state, after, has_links = columns
    operation = OPERATIONS.read(body)
    channel = operation.channel.lane
    root = operation.root if isinstance(operation, PostMessage | EditMessage) else None
    thread = None if root is None else threads.root_in_channel(db, root, lane)
    is_mark = lane != channel
    standing = links.copies(db, operation.message, channel) if has_links or is_mark else ()
    post_open = is_mark and not standing and _is_to_be_posted(db, operation)
    if is_mark and not (standing or post_open):
        # The post may have ended between the two questions, each of which sees its own moment.
        standing = links.copies(db, operation.message, channel)
    delivery = Delivery(
        operation=operation,
        message=MESSAGES.read(message),
        thread=thread,
        quoted=_quoted(db, operation, lane),
        copies=standing,
    )
    return OutboxItem(
        delivery=delivery,
        state=state,
        attempts=attempts,
        due=due,
        created=created,
        began=began,
        after=after,
        thread_missing=root is not None and thread is None,
        post_open=post_open,
        message_state=message_state,
    )


def _is_to_be_posted(db: Connection, operation: Operation) -> bool:
    key = (operation.message, operation.channel.lane)
    return db.execute(_POST_IS_OPEN, key).fetchone() is not None


def _quoted(db: Connection, operation: Operation, lane: LaneId) -> QuotedMessage | None:
    """The answered message; its words only where they still stand and everybody may read them."""
    if not isinstance(operation, PostMessage | EditMessage) or operation.reply_to is None:
        return None
    row = db.execute(_QUOTED, (operation.reply_to,)).fetchone()
    if row is None:
        return None
    body, author, state, audience = row
    is_visible = state != "deleted" and audience is None
    standing = links.copies(db, operation.reply_to, lane)
    return QuotedMessage(
        author=PEOPLE.read(author).name,
        excerpt=excerpt_of(MESSAGES.read(body)) if is_visible else "",
        native_id=standing[0].native_id if standing else None,
    )


def begin(db: Connection, operation: OperationId, now: float) -> Late[None]:
    begun = db.execute(SQL["begin"], (now, operation))

    def check() -> None:
        if begun.rowcount == 0:
            raise NotOpen(
                f"Operation {operation!r} is not open any more; take the lane's head anew"
            )

    return Late(check)


def postpone(db: Connection, operation: OperationId, until: float, error: str) -> None:
    db.execute(SQL["postpone"], (until, error, operation))


def record(db: Connection, operation: OperationId, receipts: Sequence[Receipt], now: float) -> None:
    saved = db.execute(SQL["operation"], (operation,)).fetchone()
    if saved is None:
        return
    state, lane, _type, message, text, channel = saved
    saved_receipts = read_receipts(text)
    fresh = new_receipts(saved_receipts, receipts)
    if state in _OPEN and fresh:
        links.link_copies(db, lane, channel, message, fresh, now)
        db.execute(SQL["note_receipts"], (write_receipts(saved_receipts + fresh), operation))


def settle(db: Connection, settlement: Settlement, now: float) -> bool:
    """End an operation. Returns False when none was open under this id; then nothing changes."""
    saved = db.execute(SQL["operation"], (settlement.operation,)).fetchone()
    if saved is None:
        return False
    state, lane, kind, message, text, channel = saved
    if not _may_end(state, settlement):
        return False
    saved_receipts = read_receipts(text)
    links.link_copies(db, lane, channel, message, settlement.receipts, now)
    receipts = merge_receipts(saved_receipts, settlement.receipts)
    db.execute(
        SQL["settle"],
        (
            settlement.state,
            settlement.error,
            write_receipts(receipts),
            write_losses(settlement.losses),
            now,
            settlement.operation,
        ),
    )
    standing = [receipt for receipt in receipts if not receipt.deleted]
    if settlement.thread_of is not None and standing:
        threads.link_stand_in(db, lane, standing[0].native_id, settlement.thread_of, now)
    if kind == "post_message" and settlement.state == "done" and standing:
        db.execute(SQL["note_last_post"], (lane, standing[-1].native_id))
    for operation in settlement.then:
        queue(db, operation, now)
    return True


def is_simple(settlement: Settlement) -> bool:
    """Whether `settle_simple` may end the operation."""
    return (
        settlement.state == "done"
        and bool(settlement.receipts)
        and not any(receipt.deleted for receipt in settlement.receipts)
        and settlement.thread_of is None
        and not settlement.then
    )


def settle_simple(db: Connection, settlement: Settlement, now: float) -> Late[bool]:
    """End a post of which no receipt is kept, without reading anything first. Returns whether it
    did; where the operation stands otherwise, nothing changes."""
    own_id = settlement.operation
    for receipt in settlement.receipts:
        columns = (receipt.native_id, receipt.slot, receipt.thread, now, own_id)
        db.execute(SQL["link_first_copy"], columns)
        db.execute(SQL["unlink_replaced_by_first"], (own_id, receipt.slot, receipt.native_id))
    receipts = merge_receipts((), settlement.receipts)
    db.execute(SQL["note_first_post"], (receipts[-1].native_id, own_id))
    end = (settlement.error, write_receipts(receipts), write_losses(settlement.losses), now, own_id)
    settled = db.execute(SQL["settle_first"], end)
    return Late(lambda: settled.rowcount == 1)


def _may_end(state: str, settlement: Settlement) -> bool:
    """Proof of arrival also ends an operation that is already dead or unproved."""
    proof = settlement.state == "done" and bool(settlement.receipts)
    return state in _OPEN or (state in ("dead", "unproved") and proof)


def dead_letters(db: Connection) -> Sequence[DeadLetter]:
    return [
        DeadLetter(OPERATIONS.read(body), state, error, attempts, ended, _excerpt(message), now)
        for body, state, error, attempts, ended, message, now in db.execute(SQL["dead_letters"])
    ]


def held_up(db: Connection, now: float) -> Sequence[DeadLetter]:
    return [
        DeadLetter(
            OPERATIONS.read(body), state, error, attempts, created, _excerpt(message), now_is
        )
        for body, state, error, attempts, created, message, now_is in db.execute(
            SQL["held_up"], (now - UNSETTLED_FOR,)
        )
    ]


def hasten(db: Connection, operation: OperationId) -> LaneId:
    rows = db.execute(SQL["hasten"], (operation,)).fetchall()
    if not rows:
        raise StoreError(
            f"Operation {operation!r} does not wait; see `uacs-bridge dead-letters list`"
        )
    return rows[0][0]


def _excerpt(body: bytes) -> str:
    return excerpt_of(MESSAGES.read(body))


def replay(db: Connection, operation: OperationId, now: float) -> LaneId:
    rows = db.execute(SQL["replay"], (now, now, operation)).fetchall()
    if not rows:
        raise StoreError(
            f"There is no dead letter {operation!r}; see `uacs-bridge dead-letters list`"
        )
    return rows[0][0]


def records(db: Connection, message: int) -> Sequence[OperationRecord]:
    return [
        OperationRecord(
            operation=OPERATIONS.read(body),
            state=state,
            attempts=attempts,
            error=error,
            created=created,
            began=began,
            ended=ended,
            losses=read_losses(losses),
            receipts=read_receipts(receipts),
        )
        for body, state, attempts, error, created, began, ended, losses, receipts in db.execute(
            SQL["operations_of_message"], (message,)
        )
    ]
