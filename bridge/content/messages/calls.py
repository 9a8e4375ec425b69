"""A delivery -> native calls: the part that is the same on every platform. Pure.

A connector provides methods, bodies and rate limits; this module adds slots, copies and threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, TypeVar

from pydantic import JsonValue

from bridge.model import Call, Delivery, EditMessage, RateLimitKey, Receipt, Upload

Body = TypeVar("Body")


def standing_copies(delivery: Delivery) -> list[Receipt]:
    """Returns the native copies that nobody has deleted, by increasing slot."""
    return [copy for copy in delivery.copies if not copy.deleted]


def post_call(
    delivery: Delivery, slot: int, *, method: str, body: dict[str, JsonValue],
    rate_limits: tuple[RateLimitKey, ...], thread: str | None, native_id: str | None = None,
    files: tuple[Upload, ...] = (),
) -> Call:  # fmt: skip
    """Returns the call that posts a new copy in this slot.

    Args:
        delivery: The delivery.
        slot: The number of the copy.
        method: The platform's name of the request.
        body: The request in the platform's own format.
        rate_limits: The limits that the call counts against.
        thread: The thread of the copy.
        native_id: The message that the post answers, if the method needs it.
        files: The files to upload before the call.
    """
    operation = delivery.operation
    return Call(
        kind="post",
        method=method,
        operation=operation.id,
        channel=operation.channel,
        slot=slot,
        thread=thread,
        native_id=native_id,
        rate_limits=rate_limits,
        body=body,
        files=files,
    )


def copy_call(
    delivery: Delivery, copy: Receipt, kind: Literal["edit", "delete", "other"], *, method: str,
    body: dict[str, JsonValue], rate_limits: tuple[RateLimitKey, ...],
    files: tuple[Upload, ...] = (),
) -> Call:  # fmt: skip
    """Returns the call that edits, deletes or marks an existing copy.

    Args:
        delivery: The delivery.
        copy: The copy.
        kind: What the call does with the copy.
        method: The platform's name of the request.
        body: The request in the platform's own format.
        rate_limits: The limits that the call counts against.
        files: The files to upload before the call.
    """
    operation = delivery.operation
    return Call(
        kind=kind,
        method=method,
        operation=operation.id,
        channel=operation.channel,
        slot=copy.slot,
        thread=copy.thread,
        native_id=copy.native_id,
        rate_limits=rate_limits,
        body=body,
        files=files,
    )


def calls_in_slots(
    delivery: Delivery, bodies: Sequence[Body], *, post: Callable[[int, Body], Call],
    edit: Callable[[Receipt, Body], Call], delete: Callable[[Receipt], Call],
) -> Iterator[Call]:  # fmt: skip
    """Yields the calls after which the bodies are in slots 0, 1, ...

    A slot without a copy is posted. An edit also changes the existing copies and deletes those
    beyond the last body; a post that continues after a failure leaves them as they are.

    Args:
        delivery: The delivery.
        bodies: The content of the copies, in order.
        post: Returns the call that posts a body in a slot.
        edit: Returns the call that edits a copy.
        delete: Returns the call that deletes a copy.
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
