"""Tasks and their contexts as durable values."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID, uuid4

import orjson

from bridge.agents.codec.json_values import arr, obj, text
from bridge.model import AccountId, MessageId, RoomId
from bridge.ports.store.key_values import KeyValueStore

_MOST = 1000  # tasks of a program that are kept
_TASK, _QUESTION, _CONTEXT = "task:", "question:", "context:"


@dataclass(frozen=True)
class TaskRecord:
    """What a program asked a room, or (`agent`) one agent in it.

    - `id`: ids of later tasks are greater.
    - `context`: the id that the program gives to tasks that belong together.
    - `questions`: the messages of the program, the first one first.
    - `asked`: in seconds since 1970.
    """

    id: str
    room: RoomId
    agent: str
    context: str
    questions: tuple[MessageId, ...]
    asked: float
    cancelled: bool = False


class TaskRecords:
    """The tasks of one program in one room."""

    def __init__(self, store: KeyValueStore, program: str, room: RoomId) -> None:
        self._store = store
        self._account = AccountId(f"tasks:{program}:{room}")

    async def get(self, task: str) -> TaskRecord | None:
        """Return a task by its id. Raises StoreError."""
        stored = await self._store.get_value(self._account, f"{_TASK}{task}")
        if stored is None:
            return None
        value = obj(orjson.loads(stored))
        asked = value.get("asked")
        return TaskRecord(
            id=task,
            room=RoomId(text(value.get("room"))),
            agent=text(value.get("agent")),
            context=text(value.get("context")),
            questions=tuple(MessageId(text(one)) for one in arr(value.get("questions"))),
            asked=float(asked) if isinstance(asked, int | float) else 0.0,
            cancelled=value.get("cancelled") is True,
        )

    async def of_question(self, question: MessageId) -> TaskRecord | None:
        """Return the task that a message belongs to. Raises StoreError."""
        task = await self._store.get_value(self._account, _question_key(question))
        return None if task is None else await self.get(task)

    async def put(self, record: TaskRecord) -> None:
        """Keep a task, and forget the oldest ones of a program that has too many. Raises
        StoreError."""
        value = {
            "room": record.room, "agent": record.agent, "context": record.context,
            "questions": record.questions, "asked": record.asked, "cancelled": record.cancelled,
        }  # fmt: skip
        written = orjson.dumps(value).decode()
        await self._store.put_value(self._account, f"{_TASK}{record.id}", written)
        for question in record.questions:
            await self._store.put_value(self._account, _question_key(question), record.id)
        for old in (await self.ids())[:-_MOST]:
            await self._forget(old)

    async def ids(self) -> Sequence[str]:
        """Return the ids of all tasks, the oldest first. Raises StoreError."""
        keys = await self._store.value_keys(self._account, _TASK)
        return [key.removeprefix(_TASK) for key in keys]

    async def root_of(self, context: str) -> MessageId | None:
        """Return the first message of a context; None for a context that is new. Raises
        StoreError."""
        root = await self._store.get_value(self._account, _context_key(context))
        return None if root is None else MessageId(root)

    async def put_root(self, context: str, root: MessageId) -> None:
        """Keep the first message of a context. Raises StoreError."""
        await self._store.put_value(self._account, _context_key(context), root)

    async def _forget(self, task: str) -> None:
        record = await self.get(task)
        if record is not None:
            for question in record.questions:
                await self._store.remove_value(self._account, _question_key(question))
            if await self.root_of(record.context) in record.questions:  # nobody goes on there
                await self._store.remove_value(self._account, _context_key(record.context))
        await self._store.remove_value(self._account, f"{_TASK}{task}")


def new_task_id(now: float) -> str:
    """Return a UUID (version 7) that is greater than those of earlier tasks; `now` is in seconds
    since 1970."""
    random = uuid4().int & ((1 << 62) - 1)
    return str(UUID(int=int(now * 1000) << 80 | 7 << 76 | (random >> 50) << 64 | 2 << 62 | random))


def _question_key(question: MessageId) -> str:
    return f"{_QUESTION}{question}"


def _context_key(context: str) -> str:
    return f"{_CONTEXT}{hashlib.sha256(context.encode('utf-8', 'replace')).hexdigest()[:32]}"
