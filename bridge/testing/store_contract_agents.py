"""Contract suite for stores, part: hand-overs, tools, spendings and pairings of agents."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from bridge.model import ActorId, MessageId, RoomId, TurnId
from bridge.model.admission import Admission
from bridge.model.archive_records import Timeline, View
from bridge.model.turn_records import (
    BUCKET,
    PAIRING_TRIES,
    PAIRING_WINDOW,
    CalledBy,
    HandOver,
    NewTurn,
    Pairing,
    PairingCode,
    Spending,
)
from bridge.ports.store.whole import Store
from bridge.testing.clock import ManualClock

_LOBBY = RoomId("lobby")
_ANN, _BOB = ActorId("tin:W1:U1"), ActorId("tin:W1:U2")


def _turn(number: int, called_by: CalledBy) -> Admission:
    trigger = MessageId(f"tin:W1:home:{number}")
    turn = NewTurn(TurnId(f"t{number}"), "helper", _LOBBY, trigger, called_by=called_by)
    return Admission(outcome="test", turns=(turn,))


class AgentsContract:
    """Inherited by `StoreContract`."""

    async def test_the_last_hand_over_of_a_place_counts(self, store: Store) -> None:
        await store.hold(HandOver(_LOBBY, "room", "other", _ANN, 1.0))
        await store.hold(HandOver(_LOBBY, "room", None, _BOB, 2.0))

        assert await store.holdings() == [HandOver(_LOBBY, "room", None, _BOB, 2.0)]
        inner = HandOver(
            _LOBBY, "room", "third", _ANN, 3.0, (("first", _ANN), ("second", "agent:x"))
        )
        await store.hold(inner)
        assert await store.holdings() == [inner]
        assert await store.release(_LOBBY, "room")
        assert not await store.release(_LOBBY, "room")
        assert await store.holdings() == []

    async def test_the_conversation_of_a_room_lists_the_tools_of_its_agents(
        self, store: Store
    ) -> None:
        lobby = Timeline(UUID(int=9), "room", "lobby")
        await store.admit(Admission("made", timelines=(lobby,)))

        async def described(view: View | None = None) -> object:
            conversation = await store.conversation(lobby.id, view=view)
            return (conversation.metadata or {}).get("tools")

        assert await described() is None
        listed: Any = {"name": "list", "parameters": {"type": "object"}}
        await store.put_tools(lobby.id, "x", [{"name": "add"}])
        await store.put_tools(lobby.id, "b", [listed])
        await store.put_tools(lobby.id, "x", [listed, {"name": "add", "description": "é"}])

        both = {**listed, "agents": ["b", "x"]}
        added = {"name": "add", "description": "é", "agents": ["x"]}
        assert await described() == [both, added]
        assert await described(View(member="agent:b")) == [{**listed, "agents": ["b"]}]
        page = await store.page(lobby.id, limit=5, viewer=_ANN)
        older = await store.page(lobby.id, limit=5, viewer=_ANN, before=1)
        assert (page.conversation.metadata or {})["tools"] == [both, added]
        assert "tools" not in (older.conversation.metadata or {})
        await store.put_tools(UUID(int=77), "b", [listed])
        await store.keep_tools({lobby.id: ["x"], UUID(int=78): []})
        assert await described(View(member="agent:b")) is None
        await store.put_tools(lobby.id, "x", [])
        assert await described() is None

    async def test_spendings_are_summed_by_quota_and_time(
        self, store: Store, clock: ManualClock
    ) -> None:
        now = clock.time()
        await store.spend(["room:lobby", "agent:x"], Spending(now, messages=1))
        await store.spend(["room:lobby"], Spending(now, tokens=70, micros=5))
        await store.spend(["room:lobby"], Spending(now + BUCKET, messages=1))

        sums = await store.spent("room:lobby", now)
        assert [(total.messages, total.tokens, total.micros) for total in sums] == [
            (1, 70, 5),
            (1, 0, 0),
        ]
        assert [total.messages for total in await store.spent("room:lobby", now + BUCKET)] == [1]
        assert [quota for quota, _ in await store.spending(now)] == ["agent:x", "room:lobby"]
        assert (await store.spending(now))[1][1].messages == 2
        await store.forget_spending("room:lobby")
        assert await store.spent("room:lobby", 0) == []

    async def test_turns_called_by_agents_are_counted_since_the_last_call_by_a_person(
        self, store: Store, clock: ManualClock
    ) -> None:
        for number, called_by in enumerate(("agent", "person", "agent", "bot")):
            await store.admit(_turn(number, called_by))  # type: ignore[arg-type]

        assert await store.called_by_others(_LOBBY, clock.time() - 60) == 2
        assert await store.called_by_others(_LOBBY, clock.time() + 60) == 0
        assert await store.called_by_others(RoomId("attic"), 0) == 0

    async def test_a_turn_keeps_its_origin_caller_and_session(self, store: Store) -> None:
        origin = MessageId("tin:W1:home:1")
        trigger = MessageId("agent:helper:t0")
        turn = NewTurn(TurnId("t1"), "other", _LOBBY, trigger, "s", origin, "agent")
        await store.admit(Admission(outcome="test", turns=(turn,)))

        (open_turn,) = await store.open_turns()
        assert (open_turn.origin, open_turn.called_by, open_turn.session) == (origin, "agent", "s")
        assert await store.was_called("other", origin)

    async def test_a_pairing_code_works_once(self, store: Store, clock: ManualClock) -> None:
        code = PairingCode("digest", "helper", "cli", clock.time() + 600)
        await store.put_pairing_code(code)

        assert await store.pairing_codes() == [code]
        assert await store.use_pairing_code("digest", _ANN) == "paired"
        assert await store.use_pairing_code("digest", _BOB) == "wrong"
        assert await store.pairings() == [Pairing(_ANN, "helper", "cli", clock.time())]
        assert not await store.unpair(_ANN, "another")
        assert await store.unpair(_ANN, None)
        assert await store.pairings() == []

    async def test_too_many_wrong_pairing_codes_lock_a_person_out_for_a_while(
        self, store: Store, clock: ManualClock
    ) -> None:
        await store.put_pairing_code(PairingCode("digest", "*", "cli", clock.time() + 10_000))
        for _ in range(PAIRING_TRIES):
            assert await store.use_pairing_code("no", _ANN) == "wrong"

        assert await store.use_pairing_code("digest", _ANN) == "too_many"
        clock.now += PAIRING_WINDOW
        assert await store.use_pairing_code("digest", _ANN) == "paired"

    async def test_a_pairing_code_expires(self, store: Store, clock: ManualClock) -> None:
        await store.put_pairing_code(PairingCode("digest", "*", "cli", clock.time() + 600))
        clock.now += 600

        assert await store.use_pairing_code("digest", _ANN) == "wrong"
        assert await store.pairing_codes() == []
