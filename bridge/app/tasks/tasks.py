"""Programs ask a room or one of its agents, follow the answers, and cancel. A task is a message in
the room, and the turns of agents that it begins; all that is known of it can be read after a
restart."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, replace
from typing import Literal
from uuid import uuid4

import orjson

from bridge.agents.turn.inline_files import inline_files
from bridge.app.api.addressing import calling
from bridge.app.api.api_keys import Caller
from bridge.app.api.gateway import Gateway, RoomView
from bridge.app.api.messages import post
from bridge.app.api.problems import Problem
from bridge.app.api.view import outside_view
from bridge.app.tasks.records import TaskRecord, TaskRecords, new_task_id
from bridge.content.messages.agent_parts import is_hidden
from bridge.model import MessageId
from bridge.model.times import datetime_of
from bridge.model.turn_records import Approval, StoredTurn
from bridge.ports.files import Files
from bridge.router.rooms.programs import outside_channel
from bridge.uacs import ContentPart, Conversation, Message, TextPart, to_timestamp, write

State = Literal["working", "waiting", "done", "failed", "cancelled"]

_LOOK = 1.0  # seconds between two looks, for changes by other processes
_INLINE = 8_000_000  # bytes of files in the answers of one task
_OPEN = ("queued", "running", "waiting")
_YES = frozenset({"yes", "y", "allow", "allowed", "approve", "approved", "ok", "true"})


@dataclass(frozen=True)
class Answer:
    """What one agent answers; `growing`: it is still being written."""

    agent: str
    message: Message
    growing: bool


@dataclass(frozen=True)
class Task:
    """A task as it stands.

    - `questions`: the messages of the program that can still be read.
    - `asks`: the calls of tools that somebody must allow before the agents go on.
    - `failure`: why nobody answered.
    """

    record: TaskRecord
    state: State
    questions: tuple[Message, ...]
    answers: tuple[Answer, ...] = ()
    asks: tuple[Approval, ...] = ()
    failure: str = ""

    @property
    def is_over(self) -> bool:
        return self.state not in ("working", "waiting")

    @property
    def newest(self) -> str:
        """The time (UACS) of the newest message of the task."""
        times = [one.timestamp for one in (*self.questions, *(a.message for a in self.answers))]
        return max(times, default=to_timestamp(datetime_of(self.record.asked)))

    @property
    def request(self) -> str:
        """What the program is asked for while the task waits."""
        return "\n".join(
            f"{one.agent} asks for leave to call {one.tool} with {one.arguments}. "
            "Answer `allow` or `refuse`."
            for one in self.asks
        )


@dataclass(frozen=True)
class Asked:
    """What a program says to a room.

    - `agent`: the agent that is meant; "" for the room as a whole.
    - `own_id`: the program's own id of the message; the same one is posted once.
    - `context`: the program's id of a conversation, which people see as a thread.
    """

    agent: str
    parts: Sequence[ContentPart]
    own_id: str = ""
    context: str = ""


class Tasks:
    """The tasks of one program in one room."""

    def __init__(self, gateway: Gateway, caller: Caller, room: RoomView, files: Files) -> None:
        self._gateway = gateway
        self._caller = caller
        self._room = room
        self._files = files
        self._records = TaskRecords(gateway.store, caller.name, room.id)

    async def begin(self, asked: Asked) -> TaskRecord:
        """Post what the program says, once, and return its task.

        Raises:
            Problem: the token may not, or the message cannot be posted.
            StoreError: the store cannot be read or written.
        """
        context = asked.context or str(uuid4())
        question = await self._post(asked, context)
        if (known := await self._records.of_question(question)) is not None:
            return known
        if await self._records.root_of(context) is None:
            await self._records.put_root(context, question)
        now = self._gateway.clock.time()
        record = TaskRecord(new_task_id(now), self._room.id, asked.agent, context, (question,), now)
        await self._records.put(record)
        return record

    async def go_on(self, record: TaskRecord, asked: Asked) -> TaskRecord:
        """Say something further about a task: where it waits for leave, that is the decision; else
        it is a message to the agent. Raises as `begin`, and Problem for a task that is over."""
        task = await self.look(record)
        if task.is_over:
            raise Problem(
                409, f"The task is {task.state}", value=record.id,
                todo="begin another task in the same context",
            )  # fmt: skip
        if task.asks:
            await self._decide(task, asked)
            return record
        question = await self._post(asked, record.context)
        if question in record.questions:
            return record
        record = replace(record, questions=(*record.questions, question))
        await self._records.put(record)
        return record

    async def get(self, task: str) -> TaskRecord:
        """Return a task by its id. Raises Problem (404) for a task that is not the program's, and
        StoreError."""
        self._caller.require_scope("read")
        record = await self._records.get(task)
        if record is None:
            raise Problem(404, "There is no such task", value=task)
        return record

    async def ids(self) -> Sequence[str]:
        """Return the ids of all tasks, the newest first. Raises StoreError."""
        self._caller.require_scope("read")
        return list(reversed(await self._records.ids()))

    async def knows(self, context: str) -> bool:
        """Return whether anything was asked in a context. Raises StoreError."""
        self._caller.require_scope("read")
        return await self._records.root_of(context) is not None

    async def cancel(self, record: TaskRecord) -> TaskRecord:
        """Stop the agents; what they have written stays. Raises StoreError, and Problem for a task
        that is over."""
        self._caller.require_scope("post")
        if (task := await self.look(record)).is_over:
            raise Problem(409, f"The task is {task.state}", value=record.id)
        record = replace(record, cancelled=True)
        await self._records.put(record)
        for question in record.questions:
            await self._gateway.cancel(question)
        return record

    async def look(self, record: TaskRecord) -> Task:
        """Return the task as it stands now. Raises StoreError."""
        store = self._gateway.store
        turns = [
            turn for question in record.questions for turn in await store.turns_about(question)
        ]
        growing = {one.message_id: one for one in self._gateway.growing(self._room.id)}
        answers = [
            found for turn in turns if (found := await self._answer(turn, growing)) is not None
        ]
        asks: list[Approval] = []
        for turn in turns:
            if turn.state == "waiting":
                asks += await store.approvals(turn=turn.id, open_only=True)
        stored = [await store.message(question) for question in record.questions]
        return Task(
            record,
            _state(record, turns, asks),
            tuple(self._shown(one.message) for one in stored if one and one.state != "deleted"),
            tuple(answers),
            tuple(asks),
            _failure(record, turns),
        )

    async def follow(self, record: TaskRecord) -> AsyncGenerator[Task]:
        """Yield the task whenever it has changed, until it is over. Raises StoreError."""
        last: Task | None = None
        with self._gateway.reading() as news:
            while last is None or not last.is_over:
                news.clear()
                task = await self.look(await self._records.get(record.id) or record)
                if task != last:
                    last = task
                    yield task
                    continue
                try:
                    async with asyncio.timeout(_LOOK):
                        await news.wait()
                except TimeoutError:
                    pass

    async def settled(self, record: TaskRecord) -> Task:
        """Return the task when it is over, or waits for somebody. Raises StoreError."""
        async for task in self.follow(record):
            if task.state != "working":
                return task
        return await self.look(record)

    async def with_files(self, task: Task) -> Task:
        """Return the task with the files of its answers in them, as far as they are not too large.
        Raises StoreError."""
        if not task.answers:
            return task
        messages = tuple(one.message for one in task.answers)
        times = messages[0].timestamp, messages[-1].timestamp
        said = Conversation(
            conversation_id=str(uuid4()), created_at=min(times), updated_at=max(times),
            messages=messages,
        )  # fmt: skip
        inlined, _ = await inline_files(said, self._files, _INLINE)
        answers = zip(task.answers, inlined.messages, strict=True)
        return replace(task, answers=tuple(replace(one, message=m) for one, m in answers))

    async def _post(self, asked: Asked, context: str) -> MessageId:
        self._caller.require_scope("post")
        self._caller.require_scope("read")
        parts = [part for part in asked.parts if not is_hidden(part)]
        if all(isinstance(part, TextPart) and not part.text.strip() for part in parts):
            raise Problem(422, "The message has no content", todo="send a text, or a file")
        content = [orjson.Fragment(write(part)) for part in calling(parts, asked.agent)]
        root = await self._records.root_of(context)
        key = asked.own_id or uuid4().hex
        body = {"content": content, "message_id": key}
        if root is not None and not root.endswith(f"/{key}"):
            body["thread"] = root
        posted = await post(self._gateway, self._caller, self._room, orjson.dumps(body), None)
        return MessageId(posted.message_id)

    async def _decide(self, task: Task, asked: Asked) -> None:
        self._caller.require_scope("interact")
        words = " ".join(part.text for part in asked.parts if isinstance(part, TextPart))
        allowed = words.strip().rstrip(".!").casefold() in _YES
        for approval in task.asks:
            counts = await self._gateway.decide_approval(
                approval.id, self._caller.actor, outside_channel(self._room.id), allowed=allowed
            )
            if not counts:
                raise Problem(
                    403, "This token may not decide about the call", value=approval.tool,
                    todo=f"wait for {' or '.join(approval.approvers)}",
                )  # fmt: skip

    async def _answer(self, turn: StoredTurn, growing: dict[str, Message]) -> Answer | None:
        if (written := growing.get(turn.answer_id)) is not None:
            return Answer(turn.agent, self._shown(written), growing=True)
        stored = await self._gateway.store.message(turn.answer or turn.answer_id)
        if stored is None or stored.state == "deleted":
            return None
        return Answer(turn.agent, self._shown(stored.message), turn.state in _OPEN)

    def _shown(self, message: Message) -> Message:
        return outside_view(message, self._room.tools)


def _state(record: TaskRecord, turns: Sequence[StoredTurn], asks: Sequence[Approval]) -> State:
    if record.cancelled:
        return "cancelled"
    if any(turn.state in _OPEN for turn in turns):
        return "waiting" if asks else "working"
    return "failed" if _failure(record, turns) else "done"


def _failure(record: TaskRecord, turns: Sequence[StoredTurn]) -> str:
    """Why nobody answered; "" where somebody did, or nobody had to."""
    if turns and all(turn.state in ("failed", "interrupted") for turn in turns):
        return f"{', '.join(dict.fromkeys(turn.agent for turn in turns))} could not answer"
    if record.agent and not turns:
        return (
            f"{record.agent} does not answer this program. An agent answers tokens of the role "
            "`human`, and others where its place in the room has `bots: true`"
        )
    return ""
