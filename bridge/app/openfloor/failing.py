"""Agents that cannot answer a peer -> what the peer gets in place of an answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from bridge.app.agent_directory.directory import Directory
from bridge.app.openfloor.visit_floor import VisitFloor
from bridge.content.messages.parts import message_text
from bridge.model.turn_records import StoredTurn
from bridge.openfloor.envelope import BYE, PUBLISH_MANIFESTS, YIELD_FLOOR, Event
from bridge.openfloor.reasons import ERROR, UNAVAILABLE
from bridge.ports.store.messages import MessageStore
from bridge.ports.store.turns import TurnStore

OnFailure = Literal["stay", "yield", "bye", "propose"]
_MOST = 3  # agents that are proposed in place of one


class _FailingStore(MessageStore, TurnStore, Protocol):
    """What `failures` needs of the store."""


async def failures(store: _FailingStore, floor: VisitFloor) -> Sequence[StoredTurn]:
    """Return the turns that the envelope's messages called and that gave no answer. Raises
    StoreError."""
    found: list[StoredTurn] = []
    for message in floor.posted:
        turns = await store.turns_about(message)
        found += [turn for turn in turns if _has_failed(turn)]
    return found


async def in_place_of(
    failed: Sequence[StoredTurn],
    on_failure: OnFailure,
    floor: VisitFloor,
    directory: Directory,
    store: _FailingStore,
) -> Sequence[Event]:
    """Return the events that a peer gets after agents failed; with `stay`, and in versions without
    floors, none: it reads the words. Raises StoreError."""
    if not failed or on_failure == "stay":
        return ()
    reason = _reason(failed[0])
    if on_failure == "bye":
        return (Event(BYE, reason=reason),)
    if on_failure == "propose":
        names = {turn.agent for turn in failed}
        question = await store.message(failed[0].trigger)
        task = message_text(question.message)[0] if question else ""
        fit = [
            manifest
            for manifest in await directory.find(task, _MOST + len(names))
            if manifest.identification.conversational_name not in names
        ]
        if fit:
            return (Event(PUBLISH_MANIFESTS, servicing=tuple(fit[:_MOST]), reason=reason),)
    return (Event(YIELD_FLOOR, reason=reason),) if floor.envelope.root == "openFloor" else ()


def _has_failed(turn: StoredTurn) -> bool:
    return turn.state in ("failed", "interrupted") or (
        turn.state == "done" and turn.answer is None and bool(turn.error)
    )


def _reason(turn: StoredTurn) -> str:
    """A turn that failed met an error; one that never began was refused."""
    token = ERROR if turn.state in ("failed", "interrupted") else UNAVAILABLE
    return f"{token} {turn.agent}: {turn.error}"
