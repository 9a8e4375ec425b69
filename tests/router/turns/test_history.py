"""How much of a room an agent reads, from how far back, and what that costs."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from bridge.agents.codec.speakers import header
from bridge.content.cards.reader import NO_CARDS
from bridge.content.messages.metadata import read_bridge_metadata
from bridge.model import ActorId, MessageId, Person, Place, RoomId, TurnId, message_id_of
from bridge.model.admission import Admission
from bridge.model.archive_records import NewMessage, StoredMessage
from bridge.model.turns import AgentEvent, AgentInput, TextDelta, Turn, TurnDone
from bridge.ports.store.whole import Store
from bridge.router import AgentMembership, Room, Timeouts
from bridge.router.rooms.options import RoomOptions
from bridge.router.turns.answer import Answer, asked_again
from bridge.router.turns.history import History
from bridge.store import SqliteStore, archive, open_sqlite
from bridge.store.connection import Connection
from bridge.uacs import Actor, Conversation, Message, TextPart, to_timestamp
from tests.router.conftest import RouterRig
from tests.router.fake_clock import FakeClock
from tests.router.fake_connector import FakeConnector

LOBBY = Room(RoomId("lobby"), UUID(int=7), (), options=RoomOptions(history="shared"))
START = 1_700_000_000.0


def new_message(n: int, text: str, at: float) -> NewMessage:
    fake = FakeConnector("sales", FakeClock()).channel("s")
    actor = ActorId("fake:sales:ann")
    message = Message(
        message_id=message_id_of(fake, f"{n:06d}"),
        timestamp=to_timestamp(datetime.fromtimestamp(at, UTC)),
        actor=Actor(id=actor, role="human", name="Ann"),
        content=(TextPart(text=text),),
    )
    return NewMessage(message, Person(id=actor, name="Ann"), at, Place(channel=fake), f"{n:06d}")


async def say(store: Store, *texts: str) -> list[NewMessage]:
    """One a minute."""
    messages = [new_message(n, text, START + 60 * n) for n, text in enumerate(texts)]
    for new in messages:
        await store.admit(Admission("routed", message=new, timelines=(LOBBY.timeline,)))
    return messages


async def read(
    store: Store, last: NewMessage, timeouts: Timeouts | None = None, **membership: Any
) -> Any:
    question = StoredMessage(
        last.message, last.author, last.time, last.place, last.native_id, None, "complete"
    )
    history = History(store, timeouts or Timeouts())
    return await history.of(
        LOBBY, AgentMembership("bot", **membership), TurnId("t"), last.message, question
    )


def words(conversation: Conversation) -> list[str]:
    return [part.text for m in conversation.messages for part in m.content
            if isinstance(part, TextPart)]  # fmt: skip


def about(conversation: Conversation) -> Any:
    metadata: Any = conversation.metadata
    return metadata["uacs_bridge"]["history"]


async def test_a_room_is_read_back_page_by_page_until_the_token_limit() -> None:
    store = SqliteStore.in_memory(FakeClock())
    *_, last = await say(store, *(f"{n} " + "x" * 400 for n in range(300)))

    small = await read(store, last, history_tokens=1000)
    large = await read(store, last, history_tokens=20_000)

    assert [word.split()[0] for word in words(small)] == [str(n) for n in range(291, 300)]
    assert about(small)["cut"]
    assert about(small)["tokens"] <= 1000
    assert len(large.messages) == 183
    assert about(large)["looked_at"] == 200
    assert words(large)[-1] == words(small)[-1]


async def test_messages_after_the_question_are_not_read() -> None:
    store = SqliteStore.in_memory(FakeClock())
    messages = await say(store, *(f"m{n}" for n in range(500)))

    conversation = await read(store, messages[3])

    assert words(conversation) == ["m0", "m1", "m2", "m3"]
    assert not about(conversation)["cut"]
    assert (
        about(conversation)["looked_at"] == 103
    )  # a page of what came later may have its own answers


async def test_edited_messages_read_as_they_are_and_deleted_ones_are_gone() -> None:
    store = SqliteStore.in_memory(FakeClock())
    messages = await say(store, "one", "two", "three", "four")
    await store.change_message(messages[1].message, "deleted")
    edited = messages[2].message.model_copy(update={"content": (TextPart(text="3"),)})
    await store.change_message(edited, "edited")

    assert words(await read(store, messages[3])) == ["one", "3", "four"]


@pytest.mark.parametrize(
    ("before", "expected"), [(None, 500), (0, 1), (150, 3), (60 * 250, 251), (1e9, 500)]
)
async def test_how_far_back_it_reads_is_a_setting(before: float | None, expected: int) -> None:
    store = SqliteStore.in_memory(FakeClock())
    *_, last = await say(store, *("hello" for _ in range(500)))

    conversation = await read(store, last, before=before)

    assert len(conversation.messages) == expected
    assert about(conversation)["cut"] == (expected < 500)


async def test_a_history_reading_looks_at_no_more_messages_than_its_limit() -> None:
    store = SqliteStore.in_memory(FakeClock())
    *_, last = await say(store, *("hi" for _ in range(1000)))

    conversation = await read(store, last, Timeouts(history_page=50, history_rows=200))

    assert len(conversation.messages) == 201
    assert about(conversation)["looked_at"] == 200
    assert about(conversation)["cut"]


@pytest.fixture
async def sqlite(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    store = await open_sqlite(tmp_path / "bridge.sqlite3", clock=FakeClock(), key=None)
    yield store
    await store.close()


def _fill(db: Connection, until: int) -> None:
    """The room has so many messages then: copies of its first."""
    db.execute(
        """
        WITH RECURSIVE n (i) AS (
          SELECT (SELECT max(n) + 1 FROM messages) UNION ALL SELECT i + 1 FROM n WHERE i < ?
        )
        INSERT INTO message_rows (n, key, body, author, time, channel, native_id, state, outcome)
        SELECT i, m.key || i, m.body, m.author, m.time, m.channel, m.native_id || i, 'complete', ''
        FROM n CROSS JOIN message_rows AS m ON m.n = 1
        """,
        (until,),
    )
    db.execute(
        "INSERT INTO entries (timeline, seq, message) SELECT 1, n, n FROM messages "
        "WHERE n > (SELECT max(seq) FROM entries)"
    )
    db.execute("UPDATE timelines SET length = ?", (until,))


async def test_a_long_room_costs_no_more_than_a_short_one(sqlite: SqliteStore) -> None:
    """Places that are looked at, and steps of SQLite's own machine."""
    (first,) = await say(sqlite, "A message of the usual length, such as people write.")
    assert sqlite.writer is not None
    costs: list[tuple[int, int]] = []
    for count in (1_000, 100_000):
        await sqlite.writer.run(lambda db, count=count: _fill(db, count))
        conversation = await read(sqlite, _as(first, f"{first.id}{count}"), history_tokens=10_000)
        assert len(conversation.messages) > 400
        costs.append((about(conversation)["looked_at"], await sqlite.writer.run(_steps)))

    (rows, steps), (more_rows, more_steps) = costs
    assert rows == more_rows == 500
    assert more_steps <= steps * 1.05


def _as(new: NewMessage, message_id: str) -> NewMessage:
    return replace(new, message=new.message.model_copy(update={"message_id": message_id}))


def _steps(db: Connection) -> int:
    """What one page costs, and the question's place."""
    assert isinstance(db, sqlite3.Connection)
    count = 0

    def step() -> int:
        nonlocal count
        count += 1
        return 0

    db.set_progress_handler(step, 1)
    try:
        archive.past(db, LOBBY.conversation, 100, None, None)
        archive.number_of(db, LOBBY.conversation, MessageId("nobody"))
    finally:
        db.set_progress_handler(None, 0)
    return count


class Remembers:
    """Tells whether it may trust what it was told before."""

    name = "bot"

    def __init__(self) -> None:
        self.unchanged: list[bool | None] = []
        self.knew: list[list[str]] = []

    async def run(
        self, turn: Turn, inputs: AsyncIterator[AgentInput]
    ) -> AsyncGenerator[AgentEvent, None]:
        del inputs
        self.unchanged.append(about(turn.conversation)["unchanged"])
        self.knew.append(words(turn.conversation))
        yield TextDelta(text="Yes.")
        yield TurnDone()


@pytest.mark.parametrize("change", ["nothing", "edited", "deleted"])
async def test_an_agent_is_told_that_what_it_knew_was_changed_however_long_ago(
    clock: FakeClock, change: str
) -> None:
    sales, billing = FakeConnector("sales", clock), FakeConnector("billing", clock)
    rig = RouterRig(clock, SqliteStore.in_memory(clock), (sales, billing))
    agent = Remembers()
    rig.agents = {"bot": agent}
    rig.memberships = (AgentMembership("bot", history_tokens=500),)
    rig.room("all", (sales, "s", "both"), (billing, "b", "both"))
    async with rig.run():
        secret = await sales.say("s", "The password is swordfish.")
        await sales.say("s", "@bot, remember that.", addresses_us=True)
        await clock.advance(5)
        for n in range(10):
            await sales.say("s", f"{n} " + "x" * 80)
        await sales.say("s", "@bot, are you there?", addresses_us=True)
        await clock.advance(5)
        later = await sales.say("s", "A later word")
        await sales.edit("s", later, "A later word, mended")
        match change:
            case "edited":
                await sales.edit("s", secret, "The password is ****.")
            case "deleted":
                await sales.delete("s", secret)
            case _:
                pass
        await clock.advance(5)
        for n in range(3):
            await sales.say("s", f"{n} " + "x" * 160)
        await sales.say("s", "@bot, and now?", addresses_us=True)
        await clock.advance(5)
        await sales.say("s", "@bot, once more?", addresses_us=True)
        await clock.advance(5)

    assert not any("swordfish" in one for one in agent.knew[2])  # long ago
    assert agent.unchanged == [None, True, change == "nothing", True]


@pytest.mark.parametrize("ends", ["failed", "stopped", "failed at once", "asked again"])
async def test_notices_that_the_bridge_adds_to_an_answer_reach_no_model(ends: str) -> None:
    store = SqliteStore.in_memory(FakeClock())
    answer = Answer(MessageId("agent:other:1"), "other", START)
    if ends != "failed at once":
        answer.take(TextDelta(text="The plan is"))
    if ends == "stopped":
        answer.stop()
    else:
        answer.fail("the model is overloaded", MessageId("q"))
    whole = NO_CARDS.with_fallbacks(answer.message())
    if ends == "asked again":
        whole = NO_CARDS.with_fallbacks(asked_again(whole))
    author = Person(id=ActorId("agent:other"), name="other", bot=True)
    new = NewMessage(whole, author, START)
    await store.admit(Admission("answer", message=new, timelines=(LOBBY.timeline,)))
    await say(store, "lunch?")
    failed = MessageId(whole.message_id)
    last = replace(new_message(1, "what now?", START + 60), root=failed, reply_to=failed)
    await store.admit(Admission("routed", message=last, timelines=(LOBBY.timeline,)))

    read_back = await read(store, last, session="room")

    begun = [] if ends == "failed at once" else ["The plan is"]
    assert words(read_back) == [*begun, "lunch?", "what now?"]
    place, _ = read_bridge_metadata(read_back.messages[-1])
    assert place.in_thread is not None
    assert place.in_thread.words.partition("#")[0].strip() == "".join(begun)
    assert not any(sign in header(read_back.messages[-1]) for sign in ("⚠️", "⏹️"))
    assert not [p for m in read_back.messages for p in m.content if not isinstance(p, TextPart)]
