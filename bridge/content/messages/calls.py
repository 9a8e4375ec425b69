"""A delivery -> native calls: the part that is the same on every platform. Pure.

A connector gives methods, bodies and rate limits; slots, copies and threads are filled in here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, TypeVar

from pydantic import JsonValue

from bridge.model import Call, Delivery, EditMessage, RateLimitKey, Receipt, Upload

Body = TypeVar("Body")


def standing_copies(delivery: Delivery) -> list[Receipt]:
    """The native copies that nobody has deleted, by rising slot."""
    return [copy for copy in delivery.copies if not copy.deleted]


def post_call(
    delivery: Delivery, slot: int, *, method: str, body: dict[str, JsonValue],
    rate_limits: tuple[RateLimitKey, ...], thread: str | None, native_id: str | None = None,
    files: tuple[Upload, ...] = (),
) -> Call:  # fmt: skip
    """The call that posts a new copy in this slot. `native_id`: what the post answers, where the
    method asks for it."""
    operation = delivery.operation
    return Call(
        kind="post",
        method=method,
        operation=operation.id,
        channel=operation.channel,
        slot=slot,
        thread=thread,
        native_id=native_id,
        budgets=rate_limits,
        body=body,
        files=files,
    )


def copy_call(
    delivery: Delivery, copy: Receipt, kind: Literal["edit", "delete", "other"], *, method: str,
    body: dict[str, JsonValue], rate_limits: tuple[RateLimitKey, ...],
    files: tuple[Upload, ...] = (),
) -> Call:  # fmt: skip
    """The call that edits, deletes or marks a copy that stands there."""
    operation = delivery.operation
    return Call(
        kind=kind,
        method=method,
        operation=operation.id,
        channel=operation.channel,
        slot=copy.slot,
        thread=copy.thread,
        native_id=copy.native_id,
        budgets=rate_limits,
        body=body,
        files=files,
    )


def calls_in_slots(
    delivery: Delivery, bodies: Sequence[Body], *, post: Callable[[int, Body], Call],
    edit: Callable[[Receipt, Body], Call], delete: Callable[[Receipt], Call],
) -> Iterator[Call]:  # fmt: skip
    """The calls after which the bodies stand in slots 0, 1, ...

    A slot without a copy is posted. An edit also changes the copies that stand and deletes those
    beyond the last body; a post that goes on after a failure leaves them as they are.
    """
    copies = {copy.slot: copy for copy in standing_copies(delivery)}
    is_edit = isinstance(delivery.operation, EditMessage)
    for slot, body in enumerate(bodies):
        if slot not in copies:
            yield post(slot, body)
        elif is_edit:
            yield edit(copies[slot], body)
    if is_edit:
        yield from (delete(copy) for slot, copy in sorted(copies.items()) if slot >= len(bodies))
