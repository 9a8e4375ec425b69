"""Approvals as rows, and every decision as one more."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Sequence
from typing import Any

from bridge.model import ActorId, TurnId
from bridge.model.turn_records import Approval, ApprovalState, Counted, Decision
from bridge.store.queries import read_queries

_APPROVERS = 10  # its column
SQL = read_queries("approvals")


def ask(db: sqlite3.Connection, one: Approval) -> Approval:
    columns = (
        one.id, one.turn, one.call, one.room, one.agent, one.tool, one.arguments, one.reason,
        one.trigger, one.asker, json.dumps(one.approvers), one.quorum, one.created, one.expires,
    )  # fmt: skip
    db.execute(SQL["ask"], columns)
    (found,) = db.execute(SQL["of_call"], (one.turn, one.call)).fetchone()
    return approval(db, found) or one


def approval(db: sqlite3.Connection, own_id: str) -> Approval | None:
    found = db.execute(SQL["one"], (own_id,)).fetchone()
    if found is None:
        return None
    decisions = tuple(
        Decision(actor, bool(allowed), at, place)
        for actor, allowed, at, place in db.execute(SQL["decisions"], (own_id,)).fetchall()
    )
    whole: list[Any] = list(found)
    whole[_APPROVERS] = tuple(json.loads(whole[_APPROVERS]))
    return Approval(*whole, decisions=decisions)


def decide(
    db: sqlite3.Connection, own_id: str, decision: Decision, accounts: Collection[ActorId]
) -> tuple[Counted, Approval | None]:
    known = approval(db, own_id)
    counted, state = judged(known, decision, accounts)
    if counted == "counted":
        said = (own_id, decision.actor, decision.allowed, decision.at, decision.place)
        db.execute(SQL["decide"], said)
    if state is not None:
        end(db, own_id, state, decision.at)
    return counted, approval(db, own_id)


def judged(
    known: Approval | None, decision: Decision, accounts: Collection[ActorId]
) -> tuple[Counted, ApprovalState | None]:
    """Whether a decision counts, and the state that it brings. Pure."""
    if known is None:
        return "unknown", None
    if known.state != "open":
        return "over", None
    if decision.at >= known.expires:
        return "over", "expired"
    if any(one.actor in accounts and one.allowed == decision.allowed for one in known.decisions):
        return "repeat", None
    if not decision.allowed:
        return "counted", "refused"
    return "counted", "allowed" if known.missing <= 1 else None


def end(db: sqlite3.Connection, own_id: str, state: ApprovalState, at: float) -> bool:
    return db.execute(SQL["end"], (state, at, own_id)).rowcount > 0


def several(
    db: sqlite3.Connection, turn: TurnId | None, newest: int, open_only: bool
) -> Sequence[Approval]:
    found = db.execute(SQL["several"], (turn, turn, open_only, newest)).fetchall()
    known = (approval(db, own_id) for (own_id,) in found)
    return [one for one in known if one is not None]
