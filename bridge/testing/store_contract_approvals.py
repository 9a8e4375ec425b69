"""Contract suite for stores, part: approvals and the decisions on them."""

from __future__ import annotations

import asyncio

from bridge.model import MessageId, RoomId, TurnId, actor_id_of
from bridge.model.turn_records import Approval, Decision
from bridge.ports.store.whole import Store
from bridge.testing.clock import ManualClock

_ANN = actor_id_of("tin", "W1", "U1")
_BOB = actor_id_of("tin", "W1", "U2")
_ANN_ELSEWHERE = actor_id_of("wire", "W2", "U9")
_QUESTION = MessageId("m1")
_START = 1_700_000_000.0


def _approval(own_id: str = "a1", call: str = "c1", quorum: int = 1) -> Approval:
    return Approval(
        id=own_id, turn=TurnId("t1"), room=RoomId("lobby"), agent="helper", tool="calendar__remove",
        call=call, arguments='{"title": "x"}', reason="", trigger=_QUESTION, asker=_ANN,
        approvers=("asker", "admins"), quorum=quorum, created=_START, expires=_START + 600,
    )  # fmt: skip


def _yes(actor: str, at: float = 1.0) -> Decision:
    return Decision(actor_id_of(*actor.split(":", 2)), True, _START + at, "tin:W1:home")


class ApprovalsContract:
    """Inherited by StoreContract."""

    async def test_a_tool_call_has_one_approval(self, store: Store, clock: ManualClock) -> None:
        assert await store.ask_approval(_approval()) == _approval()
        assert await store.ask_approval(_approval("a2")) == _approval()
        await store.ask_approval(_approval("a3", call="c2"))

        assert await store.approval("a1") == _approval()
        assert await store.approval("a2") is None
        assert [approval.id for approval in await store.approvals()] == ["a3", "a1"]
        assert await store.approvals(turn=TurnId("t2")) == []
        assert await store.approvals(room=RoomId("another")) == []
        assert len(await store.approvals(room=RoomId("lobby"))) == 2

    async def test_of_two_concurrent_decisions_only_the_first_counts(
        self, store: Store, clock: ManualClock
    ) -> None:
        await store.ask_approval(_approval())
        no = Decision(_BOB, False, _START + 1, "wire:W2:away")

        counted = await asyncio.gather(
            store.decide("a1", _yes(_ANN), (_ANN,)), store.decide("a1", no, (_BOB,))
        )

        assert sorted(outcome for outcome, _ in counted) == ["counted", "over"]
        saved = await store.approval("a1")
        assert saved is not None
        assert len(saved.decisions) == 1
        assert saved.state == ("allowed" if saved.decisions[0].allowed else "refused")
        assert saved.ended == _START + 1
        assert await store.approvals(open_only=True) == []

    async def test_a_quorum_counts_each_person_once_and_one_refusal_ends_it(
        self, store: Store, clock: ManualClock
    ) -> None:
        await store.ask_approval(_approval(quorum=2))
        await store.ask_approval(_approval("a2", call="c2", quorum=2))
        both = (_ANN, _ANN_ELSEWHERE)

        first, half = await store.decide("a1", _yes(_ANN), both)
        again, _ = await store.decide("a1", _yes(_ANN_ELSEWHERE), both)
        last, whole = await store.decide("a1", _yes(_BOB), (_BOB,))
        await store.decide("a2", _yes(_ANN), both)
        refused, other = await store.decide("a2", Decision(_BOB, False, _START + 2), (_BOB,))

        assert (first, again, last, refused) == ("counted", "repeat", "counted", "counted")
        assert half is not None
        assert half.state == "open"
        assert half.missing == 1
        assert whole is not None
        assert whole.state == "allowed"
        assert [decision.actor for decision in whole.decisions] == [_ANN, _BOB]
        assert other is not None
        assert other.state == "refused"

    async def test_an_expired_or_ended_approval_takes_no_decision(
        self, store: Store, clock: ManualClock
    ) -> None:
        await store.ask_approval(_approval())
        await store.ask_approval(_approval("a2", call="c2"))

        late, saved = await store.decide("a1", _yes(_ANN, at=600), (_ANN,))
        assert await store.end_approval("a2", "withdrawn", _START + 5)
        assert not await store.end_approval("a2", "expired", _START + 6)
        over, other = await store.decide("a2", _yes(_ANN), (_ANN,))
        nobody = await store.decide("a9", _yes(_ANN), (_ANN,))

        assert (late, over) == ("over", "over")
        assert saved is not None
        assert (saved.state, saved.decisions) == ("expired", ())
        assert other is not None
        assert (other.state, other.ended) == ("withdrawn", _START + 5)
        assert nobody == ("unknown", None)
