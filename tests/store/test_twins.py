"""The in-memory twin answers as SQLite does, whatever happens in whatever order."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from bridge.errors import StoreError
from bridge.model import OperationId, RoomId, TurnId
from bridge.ports.reading_store import Position
from bridge.ports.store import Admission, NewTurn, Settlement, Store
from bridge.store import MemoryStore, SqliteStore
from bridge.testing.store_contract import (
    ACME,
    ANN,
    AWAY,
    FAR,
    HOME,
    HOME_TIMELINE,
    ROOM_TIMELINE,
    START,
    HandClock,
    copy,
    edit,
    post,
    raw,
    said,
    words,
)

STEPS = 200
Step = Callable[[Store], Awaitable[Any]]


@pytest.mark.parametrize("seed", range(4))
async def test_both_stores_say_the_same_at_every_step(
    store: SqliteStore, clock: HandClock, seed: int
) -> None:
    twin, chance = MemoryStore(clock), random.Random(seed)

    for _ in range(STEPS):
        clock.now += 1
        step = _any_step(chance)
        assert await _outcome(step, store) == await _outcome(step, twin)
        assert await _picture(store) == await _picture(twin)


async def _outcome(step: Step, store: Store) -> object:
    try:
        return await step(store)
    except StoreError as error:
        return type(error)


def _any_step(chance: random.Random) -> Step:
    """Few names, so that everything happens to the same things again and again."""
    new = said(f"m{chance.randint(0, 5)}", root=chance.choice([None, "m0", "m1"]))
    lane = chance.choice([AWAY, FAR])
    name = f"p{chance.randint(0, 30)}"
    reply = chance.choice([None, said("m2").id])
    operation = post(name, new, lane, root=new.root, reply_to=reply)
    receipts = tuple(
        copy(f"x{chance.randint(0, 20)}", slot, deleted=chance.random() < 0.2)
        for slot in range(chance.randint(0, 2))
    )
    state: Any = chance.choice(["done", "done", "dead", "unproved", "cancelled"])
    root = chance.choice([None, None, said("m0").id])
    settlement = Settlement(OperationId(name), state, receipts, error="why", thread_of=root)
    turn = NewTurn(TurnId(f"t{chance.randint(0, 9)}"), "echo", RoomId("lobby"), new.id)
    message_state: Any = chance.choice(["edited", "streaming", "deleted"])
    admission = Admission(
        "routed",
        message=chance.choice([new, None]),
        timelines=(ROOM_TIMELINE, HOME_TIMELINE),
        operations=(operation,),
        turns=(turn,) if chance.random() < 0.2 else (),
        settles=(settlement,) if chance.random() < 0.2 else (),
    )
    arrived, number = raw(chance.randint(0, 9)), chance.randint(1, 10)
    return chance.choice(
        [
            lambda store: store.admit(admission),
            lambda store: store.admit(admission),
            lambda store: store.accept(arrived, advance=True),
            lambda store: store.fail_row(number, "broken"),
            lambda store: store.admit(Admission("ignored", number)),
            lambda store: store.change_message(
                words(new.native_id or "", name), message_state, [edit(f"e{name}", new, lane)]
            ),
            lambda store: store.begin(OperationId(name)),
            lambda store: store.record(OperationId(name), receipts),
            lambda store: store.settle(settlement),
            lambda store: store.postpone(OperationId(name), START, "later"),
            lambda store: store.replay(OperationId(name)),
            lambda store: store.set_turn(turn.id, "running"),
        ]
    )


async def _picture(store: Store) -> object:
    """Everything that can be asked."""
    return [
        *[await store.head(lane.lane) for lane in (AWAY, FAR, HOME)],
        *[await store.resolve(AWAY, f"x{number}") for number in range(21)],
        *[await store.explain(said(f"m{number}").id) for number in range(6)],
        sorted(await store.open_lanes()),
        await store.dead_letters(),
        await store.waiting_rows(),
        await store.failed_rows(),
        await store.open_turns(),
        await store.cursor(ACME, HOME),
        await store.conversations(),
        await store.position(ROOM_TIMELINE.id),
        await store.happened(ROOM_TIMELINE.id, Position(), limit=50, viewer=ANN.id),
        await store.live_threads(AWAY, START),
        await store.status(),
    ]
