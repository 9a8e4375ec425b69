"""One turn of an agent: it is asked, heard until it ends, and what it says is shown."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import structlog

from bridge.content.cards.reader import Cards
from bridge.content.messages.private_state import agent_state
from bridge.errors import BridgeError
from bridge.model import AccountId, MessageId
from bridge.model.archive_records import StoredMessage
from bridge.model.turn_records import NewTurn, StoredTurn
from bridge.model.turns import (
    AgentEvent,
    ApprovalWanted,
    MessageChanged,
    ToolCalled,
    Turn,
    TurnDone,
    TurnFailed,
)
from bridge.ports.agent import Agent
from bridge.ports.clock import Clock
from bridge.ports.connector import Connector
from bridge.ports.store.messages import MessageStore
from bridge.ports.store.turns import TurnStore
from bridge.router.outbound.streams import Stream, StreamRenderer
from bridge.router.outbound.typing import Typing
from bridge.router.outbound.typing import Work as AgentWork
from bridge.router.rooms.feed import Feed
from bridge.router.rooms.rooms import Room, Rooms
from bridge.router.runtime import metrics
from bridge.router.runtime.timeouts import Timeouts
from bridge.router.turns.answer import Answer
from bridge.router.turns.card_repair import CardRepair
from bridge.router.turns.deadlines import TurnDeadlines
from bridge.router.turns.follow_ups import FollowUps
from bridge.router.turns.inputs import Inputs
from bridge.router.turns.publisher import AnswerPublisher, answer_id
from bridge.router.turns.request import TurnRequests
from bridge.router.turns.tool_catalogue import ToolCatalogue
from bridge.router.turns.tools import Calls, Tools

log = structlog.get_logger()

_LOOK = 1.0  # seconds between two looks at what an agent does before it speaks


@dataclass
class Work:
    """One turn under way: where it was asked, what is said to the agent, what it says. `began` is
    the clock's; `first`: after how many seconds there was something to show."""

    stored: StoredTurn
    room: Room
    trigger: StoredMessage
    turn: Turn
    inputs: Inputs
    answer: Answer
    stream: Stream
    calls: Calls
    mending: CardRepair
    patience: TurnDeadlines
    began: float
    first: float | None = None
    showing: asyncio.Task[None] | None = None


class _AnsweringStore(MessageStore, TurnStore, Protocol):
    """What `TurnRunner` needs of the store."""


class TurnRunner:
    """Runs turns; each ends as done or failed, with its answer kept and shown."""

    def __init__(
        self,
        store: _AnsweringStore,
        connectors: Mapping[AccountId, Connector],
        rooms: Rooms,
        agents: Mapping[str, Agent],
        requests: TurnRequests,
        publisher: AnswerPublisher,
        showing: StreamRenderer,
        clock: Clock,
        policy: Timeouts,
        typing: Typing,
        feed: Feed,
        tools: Tools,
        follow_ups: FollowUps,
        tool_catalogue: ToolCatalogue,
        cards: Cards,
    ) -> None:
        self._store = store
        self._connectors = connectors
        self._rooms = rooms
        self._agents = agents
        self._requests = requests
        self._publisher = publisher
        self._renderer = showing
        self._clock = clock
        self._policy = policy
        self._typing = typing
        self._feed = feed
        self._tools = tools
        self._follow_ups = follow_ups
        self._tool_catalogue = tool_catalogue
        self._cards = cards

    async def run(self, stored: StoredTurn, inputs: Inputs) -> Sequence[NewTurn]:
        """Answer it, or say why not; `inputs` are what is said to the agent meanwhile. The turns
        that the answer calls: they are queued with it."""
        room = self._rooms.by_id.get(stored.room)
        agent = self._agents.get(stored.agent)
        trigger = await self._store.message(stored.origin or stored.trigger)
        if room is None or agent is None or trigger is None:
            error = "the room or the agent is no longer configured"
            await self._store.set_turn(stored.id, "failed", error=error)
            return ()
        await self._store.set_turn(stored.id, "running")
        tools = await self._tools.of(room, stored.agent)
        await self._tool_catalogue.note(room, stored.agent, tools)
        patience = TurnDeadlines(self._policy.turn_idle, self._policy.turn_total)
        answer = Answer(
            answer_id(stored),
            stored.agent,
            self._clock.time(),
            shows_tools=room.options.show_tools != "off",
        )
        work = Work(
            stored,
            room,
            trigger,
            turn=await self._requests.turn(stored, room, trigger, tools),
            inputs=inputs,
            answer=answer,
            stream=Stream(self._renderer, answer, partial(inputs.stop, None)),
            calls=self._tools.calls(tools, stored, room, trigger, inputs, patience),
            mending=CardRepair(self._cards, inputs, stored.agent),
            patience=patience,
            began=self._clock.monotonic(),
        )
        answer.note(agent_state(work.turn.conversation.metadata, stored.agent))
        try:
            failure = await self._outcome(agent, work)
        finally:
            await work.calls.close()
        for not_made in await work.calls.over(answer.parts):
            answer.take(not_made)
        return await self._finish(work, failure)

    async def _outcome(self, agent: Agent, work: Work) -> TurnFailed | None:
        """Until it ends or is stopped; being stopped is no failure."""
        listening = asyncio.create_task(self._listen(agent, work), name=f"turn {work.turn.id}")
        stopping = asyncio.create_task(self._stop(listening, work.inputs))
        typing = asyncio.create_task(self._show_typing(work))
        try:
            await asyncio.wait({listening})
            if (left := work.mending.over()) is not None:
                work.answer.take(left)
            if work.inputs.stop_wanted.is_set():
                work.answer.stop()
                return None
            return listening.result()
        finally:
            listening.cancel()
            stopping.cancel()
            typing.cancel()
            await asyncio.gather(listening, stopping, typing, return_exceptions=True)
            await work.stream.close()

    async def _show_typing(self, work: Work) -> None:
        """Until there is something to read, people see that it works on it."""
        shown, late = AgentWork(work.turn.agent, work.trigger.root), False
        try:
            while not work.answer.visible:
                words = work.answer.doing
                await self._typing.show(work.room.listeners(), shown, words)
                late = work.answer.visible  # it may have come after the first words
                await self._changes(work.answer, words)
        finally:
            if late or not work.answer.visible:
                await self._typing.over(shown)

    async def _changes(self, answer: Answer, words: str) -> None:
        """Until it is to be shown again, or other words are."""
        until = self._clock.monotonic() + self._policy.typing_again
        while (left := until - self._clock.monotonic()) > 0:
            await self._clock.sleep(min(left, _LOOK))
            if answer.visible or answer.doing != words:
                return

    async def _stop(self, listening: asyncio.Task[TurnFailed | None], inputs: Inputs) -> None:
        """When it shall stop: for a moment the agent may end by itself."""
        await inputs.stop_wanted.wait()
        await self._clock.sleep(self._policy.stop_grace)
        listening.cancel()

    async def _listen(self, agent: Agent, work: Work) -> TurnFailed | None:
        """Take what the agent says, show it as it grows; a failure if it did not finish."""
        try:
            async with (
                work.patience.in_all(),
                aclosing(agent.run(work.turn, work.inputs)) as said,
            ):
                while (event := await work.patience.next(said)) is not None:
                    if isinstance(event, TurnDone):
                        return None
                    if isinstance(event, TurnFailed):
                        return event
                    await self._hear(work, event)
        except TimeoutError:
            return TurnFailed(reason=f"it said nothing for {self._policy.turn_idle:g} s")
        except Exception as error:
            log.exception("agent_crashed", agent=work.turn.agent, turn=work.turn.id)
            return TurnFailed(reason=_told(error))
        finally:
            if work.showing is not None:
                work.showing.cancel()
                await asyncio.gather(work.showing, return_exceptions=True)
        return TurnFailed(reason="it ended without TurnDone or TurnFailed")

    async def _hear(self, work: Work, event: AgentEvent) -> None:
        """One thing that it says before it ends."""
        whole = work.mending.take(event, self._clock.time())
        if whole is None:
            await asyncio.sleep(0)  # the agent's reader of inputs takes what it is told
            return
        event = whole
        if isinstance(event, MessageChanged):
            await self._publisher.change(work.turn, event)
            self._feed.woke()
            return
        if isinstance(event, ToolCalled) and not work.calls.runs(event.part):
            await self._store.set_turn(work.turn.id, "running", tool_called=True)
        if isinstance(event, ToolCalled | ApprovalWanted):
            work.calls.take(event)
        work.answer.take(await self._publisher.heard(event))
        if (handed := work.calls.hand_over(event)) is not None:
            work.answer.take(handed)
        if work.first is None and work.answer.visible:
            work.first = self._clock.monotonic() - work.began
        self._feed.grows(work.room.id, work.answer)
        if work.showing is None:
            if work.answer.visible:
                work.showing = asyncio.create_task(self._show_soon(work))
        elif work.showing.done():
            work.showing.result()
            work.stream.grew()

    async def _show_soon(self, work: Work) -> None:
        """Gather the first words for a moment, then show them, whether or not more have come."""
        await self._clock.sleep(self._policy.stream_open)
        first, state = work.answer.message(), work.calls.state
        posts = await self._publisher.begin(
            work.turn.id, work.room, work.trigger, work.answer, state
        )
        work.stream.open(posts)
        if work.answer.message() != first or work.answer.steps:
            work.stream.grew()

    async def _finish(self, work: Work, failure: TurnFailed | None) -> Sequence[NewTurn]:
        stored, answer = work.stored, work.answer
        if failure:
            question = MessageId(work.trigger.message.message_id) if failure.retry else None
            answer.fail(failure.reason, question)
        called: Sequence[NewTurn] = ()
        if answer.said:
            answer.note(await self._requests.noted(work.turn, work.room))
            answer.time(work.first, self._clock.monotonic() - work.began)
            called = await self._keep(work, failed=failure is not None)
        self._feed.ended(work.room.id, answer.id)
        await self._store.set_turn(
            stored.id,
            "failed" if failure else "done",
            answer=answer.id if answer.said else None,
            error=failure.reason if failure else "",
        )
        metrics.TURNS.labels(stored.agent, "failed" if failure else "done").inc()
        return called

    async def _keep(self, work: Work, *, failed: bool) -> Sequence[NewTurn]:
        """The answer and what it calls, at once. One that was stopped or broke off calls nobody."""
        keep = partial(self._publisher.keep, work.room, work.trigger, work.answer)
        if failed or work.inputs.stop_wanted.is_set():
            await keep("interrupted" if failed else "complete")
            return ()
        said = work.answer.message()
        async with self._follow_ups.by(work.room, work.stored, said, work.trigger) as called:
            await keep("complete", called)
        return called

    async def interrupt(self, turn: StoredTurn) -> None:
        """It was cut off by a stop and may not run again by itself: say so where it had begun."""
        reason = "it was interrupted by a restart"
        begun = await self._store.message(answer_id(turn))
        answer = Answer(answer_id(turn), turn.agent, self._clock.time())
        if begun is not None:
            answer.resume(begun.message)
        for not_made in await self._tools.interrupted(turn, answer.parts):
            answer.take(not_made)
        room = self._rooms.by_id.get(turn.room)
        trigger = await self._store.message(turn.trigger)
        if room and trigger:
            origin = await self._store.message(turn.origin or turn.trigger)
            answer.note(await self._requests.kept(turn, room, origin or trigger))
            answer.fail(reason, MessageId(trigger.message.message_id))
            await self._publisher.keep(room, trigger, answer, "interrupted")
            metrics.TURNS.labels(turn.agent, "failed").inc()
        await self._store.set_turn(
            turn.id, "interrupted", answer=answer_id(turn) if room and trigger else None,
            error=reason,
        )  # fmt: skip


def _told(error: Exception) -> str:
    """What the room is told. Errors of ours are written for people; another's may show addresses,
    paths or keys: those are for the log."""
    if isinstance(error, BridgeError):
        return error.public
    return f"{type(error).__name__}; see the log"
