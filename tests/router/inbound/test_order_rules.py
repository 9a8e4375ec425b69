"""However events are mixed, doubled and delayed: the same final state on all sides."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Literal

import orjson
from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.model import Raw, message_id_of
from bridge.store import SqliteStore
from tests.examples import examples
from tests.router.conftest import RouterRig
from tests.router.fake_clock import FakeClock
from tests.router.fake_connector import FakeConnector
from tests.router.inbound.test_orphans import deleted, edited
from tests.router.inbound.test_routing import texts_in


@dataclass(frozen=True)
class Change:
    """One event of a channel's history; `at` is its place in it."""

    kind: Literal["post", "edit", "delete"]
    message: str
    text: str
    at: int


@st.composite
def histories(draw: st.DrawFn) -> list[Change]:
    """What people did, in its order: each message is posted, edited some times, and may go."""
    changes: list[Change] = []
    alive: list[str] = []
    for at in range(1, draw(st.integers(2, 14))):
        kind = draw(st.sampled_from(("post", "edit", "edit", "delete"))) if alive else "post"
        text = draw(st.sampled_from(("one", "two", "three", "x" * 150, "y" * 250)))
        if kind == "post":
            message = f"9{at:05}"
            alive.append(message)
            changes.append(Change("post", message, f"{message} {text}", at))
        elif kind == "edit":
            message = draw(st.sampled_from(alive))
            changes.append(Change("edit", message, f"{message} {text}", at))
        else:
            message = draw(st.sampled_from(alive))
            alive.remove(message)
            changes.append(Change("delete", message, "", at))
    return changes


@st.composite
def stories(draw: st.DrawFn) -> tuple[list[Change], list[tuple[Change, float]]]:
    """A history, and how it is heard: in any order, some of it twice, with pauses between."""
    history = draw(histories())
    played = draw(st.permutations(history + draw(st.lists(st.sampled_from(history), max_size=4))))
    pauses = st.sampled_from((0.0, 0.0, 0.5, 20.0, 40.0))
    return history, [(one, draw(pauses)) for one in played]


def in_the_end(history: list[Change]) -> dict[str, str]:
    state: dict[str, str] = {}
    for change in history:
        if change.kind == "delete":
            state.pop(change.message, None)
        else:
            state[change.message] = change.text
    return state


@settings(max_examples=examples(150))
@given(stories())
def test_the_final_state_does_not_depend_on_how_events_arrive(
    story: tuple[list[Change], list[tuple[Change, float]]],
) -> None:
    asyncio.run(_play(*story))


async def _play(history: list[Change], played: list[tuple[Change, float]]) -> None:
    clock = FakeClock()
    sales, billing, web = (FakeConnector(name, clock) for name in ("sales", "billing", "web"))
    rig = RouterRig(clock, SqliteStore.in_memory(clock), (sales, billing, web))
    rig.room("all", (sales, "s", "both"), (billing, "b", "both"), (web, "w", "both"))
    start = clock.now
    async with rig.run() as router:
        for number, (one, pause) in enumerate(played):
            raw = _raw(sales, one, start)
            if number % 3 == 2:  # a repeat under another key, as another way of hearing has
                raw = raw.model_copy(update={"dedupe_key": f"again {number}"})
            await router.inbox.accept(raw)
            await clock.advance(pause)
        await clock.advance(60)
        await clock.let_work()
        assert await rig.store.waiting_rows() == []

    expected = in_the_end(history)
    for side, channel in ((billing, "b"), (web, "w")):
        assert await _shown(rig, sales, side, channel, history) == expected
    archived = await texts_in(rig.store, rig.rooms[0].conversation)
    assert sorted(archived) == sorted(expected.values())


async def _shown(
    rig: RouterRig, sales: FakeConnector, side: FakeConnector, channel: str, history: list[Change]
) -> dict[str, str]:
    """Each message whole, wherever its parts stand; nothing else may stand there."""
    texts = {post.id: post.text for post in side.channels[channel]}
    changes: dict[str, str] = {}
    for message in dict.fromkeys(change.message for change in history):
        own_id = message_id_of(sales.channel("s"), message)
        copies = await rig.store.copies(own_id, side.channel(channel))
        if copies:
            changes[message] = "".join(texts.pop(copy.native_id) for copy in copies)
    assert texts == {}
    return changes


def _raw(sales: FakeConnector, change: Change, start: float) -> Raw:
    if change.kind == "edit":
        return edited(sales, change.message, change.text, start + change.at)
    if change.kind == "delete":
        return deleted(sales, change.message, at=start + change.at)
    payload = {"id": change.message, "author": "ann", "text": change.text, "thread": None}
    return Raw(
        account=sales.account, kind="post", dedupe_key=change.message, order_key=change.message,
        channel=sales.channel("s"), payload=orjson.dumps(payload),
    )  # fmt: skip
