"""Tasks are kept, found by their messages, and the oldest ones forgotten."""

from __future__ import annotations

from uuid import UUID

import pytest

from bridge.app.tasks import records
from bridge.app.tasks.growth import grown
from bridge.app.tasks.records import TaskRecord, TaskRecords, new_task_id
from bridge.model import MessageId, RoomId
from bridge.store import SqliteStore
from bridge.testing.clock import ManualClock
from bridge.uacs import TextPart, ToolCallPart

LOBBY = RoomId("lobby")


def record(number: int, **changes: object) -> TaskRecord:
    fields = {
        "id": new_task_id(1000.0 + number), "room": LOBBY, "agent": "bot", "context": f"c{number}",
        "questions": (MessageId(f"q{number}"),), "asked": 1000.0 + number, **changes,
    }  # fmt: skip
    return TaskRecord(**fields)  # type: ignore[arg-type]


def test_ids_of_tasks_are_uuids_in_the_order_of_time() -> None:
    ids = [new_task_id(1_700_000_000.0 + second) for second in range(50)]

    assert ids == sorted(ids)
    assert {UUID(one).version for one in ids} == {7}
    assert len({new_task_id(5.0) for _ in range(100)}) == 100


async def test_a_task_is_found_by_its_id_and_its_messages_in_its_room_alone() -> None:
    store = SqliteStore.in_memory(ManualClock())
    kept = TaskRecords(store, "peer", LOBBY)
    task = record(1, questions=(MessageId("q1"), MessageId("q2")), cancelled=True)
    await kept.put(task)
    await kept.put_root("c1", MessageId("q1"))

    assert await kept.get(task.id) == task
    assert await kept.of_question(MessageId("q2")) == task
    assert await kept.root_of("c1") == "q1"
    for other in (TaskRecords(store, "thief", LOBBY), TaskRecords(store, "peer", RoomId("x"))):
        assert await other.get(task.id) is None
        assert await other.of_question(MessageId("q1")) is None
        assert await other.root_of("c1") is None
    await store.close()


async def test_the_oldest_tasks_are_forgotten_with_their_contexts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(records, "_MOST", 2)
    store = SqliteStore.in_memory(ManualClock())
    kept = TaskRecords(store, "peer", LOBBY)
    tasks = [record(number) for number in range(3)]
    for task in tasks:
        await kept.put_root(task.context, task.questions[0])
        await kept.put(task)

    assert list(await kept.ids()) == [task.id for task in tasks[1:]]
    assert await kept.of_question(MessageId("q0")) is None
    assert await kept.root_of("c0") is None
    assert await kept.root_of("c1") == "q1"
    await store.close()


def text(words: str) -> TextPart:
    return TextPart(text=words)


CALL = ToolCallPart(id="c", name="n", arguments={})


@pytest.mark.parametrize(
    ("before", "after", "new"),
    [
        ([], [text("a")], [text("a")]),
        ([text("a")], [text("a")], []),
        ([text("a")], [text("ab")], [text("b")]),
        ([text("a")], [text("a"), CALL], [CALL]),
        ([text("a")], [text("ab"), CALL], [text("b"), CALL]),
        ([text("a"), CALL], [text("a")], None),
        ([text("ab")], [text("a")], None),
        ([text("a")], [CALL], None),
        ([text("x"), text("a")], [text("y"), text("ab")], None),
    ],
    ids=str,
)
def test_what_has_grown_is_the_rest_of_the_last_text_and_what_follows(
    before: list[TextPart], after: list[TextPart], new: list[TextPart] | None
) -> None:
    found = grown(before, after)

    assert found is None if new is None else list(found or ()) == new
