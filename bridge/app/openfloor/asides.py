"""What peers say to one agent alone: it answers them alone, and the room sees nothing of it."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass

from bridge.app.agent_directory.consulting import Consultations
from bridge.app.api.api_keys import Caller
from bridge.app.api.gateway import Gateway, RoomView
from bridge.app.openfloor.visits import Aside
from bridge.model import ActorId, MessageId, Person
from bridge.model.archive_records import StoredMessage
from bridge.uacs import Message


@dataclass(frozen=True)
class Answered:
    """An aside with its answer, or the reason why there is none."""

    aside: Aside
    answer: StoredMessage | None = None
    refusal: str = ""


class Asides:
    """Lets agents answer asides; an answer that takes long comes with a later envelope."""

    def __init__(self, gateway: Gateway, consultations: Consultations) -> None:
        self._gateway = gateway
        self._consultations = consultations
        self._running: dict[str, asyncio.Task[MessageId]] = {}

    async def refusal(
        self, caller: Caller, room: RoomView, agent: str, *, count: bool = False
    ) -> str:
        """Return why the agent does not answer the peer; "" where it does, which counts for the
        quotas if `count` is set. Raises StoreError."""
        refuses = self._gateway.visitors.refuses_aside
        return await refuses(room.id, agent, caller.actor, bot=caller.is_bot, count=count)

    async def begin(self, room: RoomView, aside: Aside, asker: Person, question: Message) -> None:
        """Let the agent answer, beside all else; what it was asked before is not asked again."""
        if aside.question in self._running:
            return
        work = self._consultations.answer_aside(room.id, aside.agent, below(asker), question)
        task = asyncio.create_task(work, name=f"aside {aside.question}")
        self._running[aside.question] = task
        task.add_done_callback(lambda _: self._running.pop(aside.question, None))

    async def wait(self, asides: Sequence[Aside], seconds: float) -> None:
        """Return when agents have answered all of these, or the time is over."""
        tasks = [task for one in asides if (task := self._running.get(one.question))]
        if tasks:
            await asyncio.wait(tasks, timeout=None if seconds == math.inf else seconds)

    async def answers(self, room: RoomView, asides: Sequence[Aside]) -> Sequence[Answered]:
        """Return the asides that are over. One whose agent was interrupted by a stop of the bridge
        is asked again. Raises StoreError."""
        found: list[Answered] = []
        for aside in asides:
            store = self._gateway.store
            stored = await store.message(MessageId(f"agent:{aside.agent}:{aside.question}"))
            if stored is not None:
                found.append(Answered(aside, stored))
            elif aside.question not in self._running:
                question = await store.message(MessageId(aside.question))
                if question is None:
                    found.append(Answered(aside, refusal="the question is not there any more"))
                else:
                    await self.begin(room, aside, question.author, question.message)
        return found

    async def close(self) -> None:
        """Stop; agents that answer now are asked again after the next start."""
        for task in list(self._running.values()):
            task.cancel()
        await asyncio.gather(*self._running.values(), return_exceptions=True)


def below(asker: Person) -> Person:
    """Return the asker under an id below that of its token: the token may not read the answer in
    other conversations that it has with the room."""
    own = asker.id if "/" in asker.id else ActorId(f"{asker.id}/~")
    return asker.model_copy(update={"id": own})
