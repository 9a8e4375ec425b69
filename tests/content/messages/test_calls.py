"""Calls in slots: what is posted, edited and deleted so that the bodies stand there."""

from __future__ import annotations

from typing import Any

import pytest

from bridge.content.messages.calls import calls_in_slots, copy_call, post_call
from bridge.model import (
    AccountId,
    Byline,
    Call,
    ChannelRef,
    Delivery,
    EditMessage,
    MessageId,
    OperationId,
    PostMessage,
    Receipt,
    RoomId,
)
from bridge.uacs import Actor, Message, TextPart

CHANNEL = ChannelRef(platform="some", workspace="W", channel="C")


def delivery(kind: type[Any], *copies: Receipt) -> Delivery:
    message = Message(
        message_id="slack:T:C:1",
        timestamp="2026-01-01T00:00:00Z",
        actor=Actor(id="slack:T:U", role="human", name="Ann"),
        content=(TextPart(text="hi"),),
    )
    operation = kind(
        id=OperationId("op"), account=AccountId("some"), channel=CHANNEL, room=RoomId("r"),
        message=MessageId("slack:T:C:1"), byline=Byline(name="Ann"),
    )  # fmt: skip
    return Delivery(operation=operation, message=message, copies=copies)


def copy(slot: int, *, deleted: bool = False) -> Receipt:
    return Receipt(slot=slot, native_id=f"m{slot}", thread="t1", deleted=deleted)


def calls(delivery: Delivery, *bodies: str) -> list[Call]:
    def post(slot: int, body: str) -> Call:
        return post_call(
            delivery, slot, method="POST", body={"text": body}, rate_limits=(), thread="t0"
        )

    def edit(copy: Receipt, body: str) -> Call:
        return copy_call(delivery, copy, "edit", method="PUT", body={"text": body}, rate_limits=())

    def delete(copy: Receipt) -> Call:
        return copy_call(delivery, copy, "delete", method="DELETE", body={}, rate_limits=())

    return list(calls_in_slots(delivery, bodies, post=post, edit=edit, delete=delete))


def outline(calls: list[Call]) -> list[tuple[str, int, str | None, str | None]]:
    return [(call.kind, call.slot, call.native_id, call.thread) for call in calls]


def test_a_partly_sent_post_continues_after_its_last_copy() -> None:
    assert outline(calls(delivery(PostMessage, copy(0)), "a", "b")) == [("post", 1, None, "t0")]


def test_an_edit_changes_copies_posts_new_ones_and_deletes_surplus_ones() -> None:
    longer = calls(delivery(EditMessage, copy(0)), "a", "b")
    shorter = calls(delivery(EditMessage, copy(0), copy(1), copy(2)), "a")

    assert outline(longer) == [("edit", 0, "m0", "t1"), ("post", 1, None, "t0")]
    assert outline(shorter) == [
        ("edit", 0, "m0", "t1"),
        ("delete", 1, "m1", "t1"),
        ("delete", 2, "m2", "t1"),
    ]


@pytest.mark.parametrize("kind", [PostMessage, EditMessage])
def test_a_deleted_copy_frees_its_slot(kind: type[Any]) -> None:
    without_copy = delivery(kind, copy(0, deleted=True))

    assert outline(calls(without_copy, "a")) == [("post", 0, None, "t0")]
