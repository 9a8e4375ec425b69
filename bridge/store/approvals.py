"""Approvals and their decisions as rows."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any

from bridge.model import ActorId, RoomId, TurnId
from bridge.model.turn_records import Approval, ApprovalState, Counted, Decision
from bridge.store.connection import Connection
from bridge.store.queries import read_queries

_APPROVERS = 10  # its column
SQL = read_queries("approvals")


def ask(db: Connection, request: Approval) -> Approval:
    columns = (
        request.id, request.turn, request.call, request.room, request.agent, request.tool,
        request.arguments, request.reason, request.trigger, request.asker,
        json.dumps(request.approvers), request.quorum, request.created, request.expires,
    )  # fmt: skip
    db.execute(SQL["ask"], columns)
    (saved_id,) = db.execute(SQL["of_call"], (request.turn, request.call)).fetchone()
    return approval(db, saved_id) or request


def approval(db: Connection, own_id: str) -> Approval | None:
    row = db.execute(SQL["one"], (own_id,)).fetchone()
    if row is None:
        return None
    decisions = tuple(
        Decision(actor, bool(allowed), at, place)
        for actor, allowed, at, place in db.execute(SQL["decisions"], (own_id,)).fetchall()
    )
    whole: list[Any] = list(row)
    whole[_APPROVERS] = tuple(json.loads(whole[_APPROVERS]))
    return Approval(*whole, decisions=decisions)


def decide(
    db: Connection, own_id: str, decision: Decision, accounts: Collection[ActorId]
) -> tuple[Counted, Approval | None]:
    saved = approval(db, own_id)
    counted, state = judge(saved, decision, accounts)
    if counted == "counted":
        values = (own_id, decision.actor, decision.allowed, decision.at, decision.place)
        db.execute(SQL["decide"], values)
    if state is not None:
        end(db, own_id, state, decision.at)
    return counted, approval(db, own_id)


def judge(
    saved: Approval | None, decision: Decision, accounts: Collection[ActorId]
) -> tuple[Counted, ApprovalState | None]:
    """Return how a decision counts, and the state of the approval after it. Pure."""
    if saved is None:
        return "unknown", None
    if saved.state != "open":
        return "over", None
    if decision.at >= saved.expires:
        return "over", "expired"
    if any(
        earlier.actor in accounts and earlier.allowed == decision.allowed
        for earlier in saved.decisions
    ):
        return "repeat", None
    if not decision.allowed:
        return "counted", "refused"
    return "counted", "allowed" if saved.missing <= 1 else None


def end(db: Connection, own_id: str, state: ApprovalState, at: float) -> bool:
    return db.execute(SQL["end"], (state, at, own_id)).rowcount > 0


def several(
    db: Connection,
    turn: TurnId | None,
    room: RoomId | None,
    newest: int,
    open_only: bool,
) -> Sequence[Approval]:
    ids = db.execute(SQL["several"], (turn, room, open_only, newest)).fetchall()
    approvals = (approval(db, own_id) for (own_id,) in ids)
    return [candidate for candidate in approvals if candidate is not None]
