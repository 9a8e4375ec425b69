"""One turn of an agent: the agent is asked, its events are read until it ends, and its answer is
shown and kept.

`TurnRunner` lists the steps; the other classes do them.
"""

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
from bridge.model import MessageId
from bridge.model.turn_records import NewTurn, StoredTurn
from bridge.model.turns import (
    AgentEvent,
    ApprovalWanted,
    MessageChanged,
    MessageSaid,
    PartGiven,
    ToolCalled,
    Turn,
    TurnDone,
    TurnFailed,
    Whispered,
)
from bridge.ports.agent import Agent
from bridge.ports.clock import Clock
from bridge.ports.store.messages import MessageStore
from bridge.ports.store.reading import ReadingStore
from bridge.ports.store.turns import TurnStore
from bridge.ports.traces import Tracer
from bridge.router.outbound.outcomes import public_fault
from bridge.router.outbound.streams import Stream, StreamRenderer
from bridge.router.outbound.typing import Typing
from bridge.router.outbound.typing import Work as AgentWork
from bridge.router.rooms.feed import Feed
from bridge.router.rooms.rooms import Rooms
from bridge.router.runtime import metrics
from bridge.router.runtime.deadlines import Deadlines
from bridge.router.runtime.timeouts import Timeouts
from bridge.router.runtime.traces import ToolSpans, turn_spans
from bridge.router.turns.answer import Answer
from bridge.router.turns.card_repair import CardRepair
from bridge.router.turns.floor import Floor
from bridge.router.turns.follow_ups import FollowUps
from bridge.router.turns.history import History, known_until
from bridge.router.turns.inputs import Inputs
from bridge.router.turns.publisher import AnswerPublisher
from bridge.router.turns.sessions import TurnContext
from bridge.router.turns.tools import Calls, ToolCatalogue, Tools

log = structlog.get_logger()

_LOOK = 1.0  # seconds between two looks at what an agent does before it writes


@dataclass
class RunningTurn:
    """One turn while its agent works.

    - `inputs`: what the agent gets meanwhile.
    - `began`: the monotonic clock's reading at the start.
    - `first_shown`: the seconds after which there was something to show.
    - `opening`: the task that shows the first words; `stream` shows the words after them.
    - `said`: how many messages actors below the agent have said.
    - `tool_spans`: its tool calls for its trace, if there is a tracer.
    """

    context: TurnContext
    turn: Turn
    inputs: Inputs
    answer: Answer
    calls: Calls
    card_repair: CardRepair
    deadlines: Deadlines
    began: float
    first_shown: float | None = None
    opening: asyncio.Task[None] | None = None
    stream: Stream | None = None
    said: int = 0
    tool_spans: ToolSpans | None = None


class _RunnerStore(MessageStore, TurnStore, Protocol):
    """What `TurnRunner` needs of the store."""


class TurnRunner:
    """Runs turns; each ends as done or failed, with its answer kept and shown."""

    def __init__(
        self,
        store: _RunnerStore,
        rooms: Rooms,
        agents: Mapping[str, Agent],
        preparation: TurnPreparation,
        listener: AgentListener,
        ending: TurnEnding,
    ) -> None:
        self._store = store
        self._rooms = rooms
        self._agents = agents
        self._preparation = preparation
        self._listener = listener
        self._ending = ending

    async def run(self, stored: StoredTurn, inputs: Inputs) -> Sequence[NewTurn]:
        """Ask the agent, and keep its answer, or the reason why there is none. Returns the turns
        that the answer calls, which are queued with it. Raises StoreError."""
        agent = self._agents.get(stored.agent)
        context = await self._context(stored)
        if agent is None or context is None:
            error = "the room or the agent is no longer configured"
            await self._store.set_turn(stored.id, "failed", error=error)
            return ()
        if stored.attempts and await self._ending.goes_on(context):
            return ()  # what its answer calls is in the store, and begins with the bridge
        await self._store.set_turn(stored.id, "running")
        running = await self._preparation.prepare(context, inputs)
        try:
            failure = await self._listener.listen(agent, running)
        finally:
            if running.calls.any_made:
                await running.calls.close()
        return await self._ending.finish(running, failure)

    async def interrupt(self, stored: StoredTurn) -> None:
        """End a turn that a stop of the bridge cut off and that may not run again by itself: its
        answer, where it had begun, says so. Raises StoreError."""
        await self._ending.interrupt(stored, await self._context(stored))

    async def _context(self, stored: StoredTurn) -> TurnContext | None:
        room = self._rooms.by_id.get(stored.room)
        origin = await self._store.message(stored.origin or stored.trigger)
        return None if room is None or origin is None else TurnContext(stored, room, origin)


class TurnPreparation:
    """Puts together what the agent is asked, and what its turn works with."""

    def __init__(
        self,
        history: History,
        tools: Tools,
        catalogue: ToolCatalogue,
        cards: Cards,
        floor: Floor,
        clock: Clock,
        timeouts: Timeouts,
    ) -> None:
        self._history = history
        self._floor = floor
        self._tools = tools
        self._catalogue = catalogue
        self._cards = cards
        self._clock = clock
        self._timeouts = timeouts

    async def prepare(self, context: TurnContext, inputs: Inputs) -> RunningTurn:
        """Return the turn, ready for its agent. Raises StoreError."""
        agent = context.turn.agent
        offered = await self._catalogue.offered(context.room, agent)
        deadlines = Deadlines(self._timeouts.turn_idle, self._timeouts.turn_total)
        calls = self._tools.calls(offered, context, inputs, deadlines)
        turn = await self._history.turn(context, offered)
        floor, overheard = self._floor.view(context.room), context.turn.called_by == "floor"
        if floor is not None:
            turn = turn.model_copy(update={"floor": floor, "overheard": overheard})
        answer = Answer(
            context.turn.answer_id, agent, self._clock.time(),
            shows_tools=context.room.options.show_tools != "off",
        )  # fmt: skip
        answer.note(agent_state(turn.conversation.metadata, agent))
        return RunningTurn(
            context, turn, inputs, answer, calls, CardRepair(self._cards, inputs, agent), deadlines,
            self._clock.monotonic(),
        )  # fmt: skip


class AgentListener:
    """Reads the events of an agent until it ends, is stopped or fails."""

    def __init__(
        self,
        store: TurnStore,
        publisher: AnswerPublisher,
        presenter: AnswerPresenter,
        clock: Clock,
        timeouts: Timeouts,
        tracer: Tracer | None = None,
    ) -> None:
        self._tracer = tracer
        self._store = store
        self._publisher = publisher
        self._presenter = presenter
        self._clock = clock
        self._timeouts = timeouts

    async def listen(self, agent: Agent, running: RunningTurn) -> TurnFailed | None:
        """Return the failure of an agent that did not finish; to be stopped is no failure."""
        listening = asyncio.create_task(
            self._read_events(agent, running), name=f"turn {running.turn.id}"
        )
        stopping = asyncio.create_task(self._stop(listening, running.inputs))
        typing = asyncio.create_task(self._presenter.show_typing(running))
        try:
            await asyncio.wait({listening})
            if (fault := running.card_repair.over()) is not None:
                running.answer.take(fault)
            if running.inputs.stop_requested.is_set():
                running.answer.stop()
                return None
            return listening.result()
        finally:
            listening.cancel()
            stopping.cancel()
            typing.cancel()
            await asyncio.gather(listening, stopping, typing, return_exceptions=True)
            if running.stream is not None:
                await running.stream.close()

    async def _stop(self, listening: asyncio.Task[TurnFailed | None], inputs: Inputs) -> None:
        """Wait for the wish to stop; for a moment after it the agent may end by itself."""
        await inputs.stop_requested.wait()
        await self._clock.sleep(self._timeouts.stop_grace)
        listening.cancel()

    async def _read_events(self, agent: Agent, running: RunningTurn) -> TurnFailed | None:
        try:
            async with (
                running.deadlines.in_all(),
                aclosing(agent.run(running.turn, running.inputs)) as events,
            ):
                while (event := await running.deadlines.next(events)) is not None:
                    if isinstance(event, TurnDone):
                        return None
                    if isinstance(event, TurnFailed):
                        return event
                    await self._take(running, event)
        except TimeoutError:
            return TurnFailed(reason=f"it said nothing for {self._timeouts.turn_idle:g} s")
        except Exception as error:
            log.exception("agent_crashed", agent=running.turn.agent, turn=running.turn.id)
            return TurnFailed(reason=public_fault(error))
        finally:
            await self._presenter.stop_opening(running)
        return TurnFailed(reason="it ended without TurnDone or TurnFailed")

    async def _take(self, running: RunningTurn, event: AgentEvent) -> None:
        """Take one event that does not end the turn into the answer."""
        repaired = running.card_repair.take(event, self._clock.time())
        if repaired is None:
            await asyncio.sleep(0)  # the agent reads in its inputs what is wrong with its card
            return
        event = repaired
        if self._tracer is not None:
            self._trace(self._tracer, running, event)
        if isinstance(event, MessageChanged):
            await self._publisher.change(running.turn, event)
            return
        if isinstance(event, MessageSaid):
            running.said += 1
            await self._publisher.say(running.context, event, running.said)
            return
        if isinstance(event, Whispered):
            running.said += 1
            heard = {m.actor.id for m in running.turn.conversation.messages}
            if event.to in heard:
                await self._publisher.whisper(running.context, event, running.said)
            else:  # agents write to nobody who has not spoken to them
                log.warning("whisper_rejected", agent=running.turn.agent, to=event.to)
            return
        if isinstance(event, ToolCalled) and not running.calls.runs(event.part):
            await self._store.set_turn(running.turn.id, "running", tool_called=True)
        if isinstance(event, ToolCalled | ApprovalWanted):
            running.calls.take(event)
        if isinstance(event, PartGiven):
            event = await self._publisher.with_kept_files(event)
        if running.calls.is_private(event):
            return
        running.answer.take(event)
        if (given := running.calls.own(event)) is not None:
            running.answer.take(given)
        self._presenter.answer_grew(running)

    def _trace(self, tracer: Tracer, running: RunningTurn, event: AgentEvent) -> None:
        if running.tool_spans is None:
            running.tool_spans = ToolSpans(running.context.turn)
        if (span := running.tool_spans.take(event, self._clock.time())) is not None:
            tracer.record(span)


class AnswerPresenter:
    """Shows an answer while its agent works: typing signs first, then its words as they grow."""

    def __init__(
        self,
        publisher: AnswerPublisher,
        renderer: StreamRenderer,
        typing: Typing,
        feed: Feed,
        clock: Clock,
        timeouts: Timeouts,
    ) -> None:
        self._publisher = publisher
        self._renderer = renderer
        self._typing = typing
        self._feed = feed
        self._clock = clock
        self._timeouts = timeouts

    async def show_typing(self, running: RunningTurn) -> None:
        """Show that the agent works, until there is something to read."""
        answer, room, is_late = running.answer, running.context.room, False
        if running.turn.overheard:
            return  # most often the agent has nothing to say
        work = AgentWork(running.turn.agent, running.context.origin.root)
        try:
            while not answer.visible:
                words = answer.doing
                await self._typing.show(room.listeners(), work, words)
                is_late = answer.visible  # the sign may have come after the first words
                await self._until_changed(answer, words)
        finally:
            if is_late or not answer.visible:
                await self._typing.over(work)

    async def _until_changed(self, answer: Answer, words: str) -> None:
        """Wait until the sign is to be shown again, or with other words."""
        until = self._clock.monotonic() + self._timeouts.typing_again
        while (left := until - self._clock.monotonic()) > 0:
            await self._clock.sleep(min(left, _LOOK))
            if answer.visible or answer.doing != words:
                return

    def answer_grew(self, running: RunningTurn) -> None:
        """Show the answer as it is now. Raises what went wrong when its first words were shown."""
        if running.first_shown is None and running.answer.visible:
            running.first_shown = self._clock.monotonic() - running.began
        self._feed.grows(running.context.room.id, running.answer)
        if running.opening is None:
            if running.answer.visible:
                running.opening = asyncio.create_task(self._open(running))
        elif running.opening.done():
            running.opening.result()
            if running.stream is not None:
                running.stream.grew()

    async def stop_opening(self, running: RunningTurn) -> None:
        """Show no first words any more: the whole answer follows."""
        if running.opening is not None:
            running.opening.cancel()
            await asyncio.gather(running.opening, return_exceptions=True)

    async def _open(self, running: RunningTurn) -> None:
        """Gather the first words for a moment, then show them, whether or not more have come."""
        await self._clock.sleep(self._timeouts.stream_open)
        first = running.answer.message()
        posts = await self._publisher.begin(running.context, running.answer, running.calls.state)
        stopped = partial(running.inputs.stop, None)
        running.stream = Stream(self._renderer, running.answer, stopped)
        running.stream.open(posts)
        if running.answer.message() != first or running.answer.steps:
            running.stream.grew()


class _EndingStore(ReadingStore, MessageStore, TurnStore, Protocol):
    """What `TurnEnding` needs of the store."""


class TurnEnding:
    """Keeps answers that are complete, and notes how their turns ended."""

    def __init__(
        self,
        store: _EndingStore,
        publisher: AnswerPublisher,
        history: History,
        tools: Tools,
        follow_ups: FollowUps,
        clock: Clock,
        tracer: Tracer | None = None,
    ) -> None:
        self._tracer = tracer
        self._store = store
        self._publisher = publisher
        self._history = history
        self._tools = tools
        self._follow_ups = follow_ups
        self._clock = clock

    async def finish(self, running: RunningTurn, failure: TurnFailed | None) -> Sequence[NewTurn]:
        """Keep the answer, and note that the turn is over. Returns the turns that the answer calls.
        Raises StoreError."""
        context, answer = running.context, running.answer
        if running.calls.any_made:
            for not_made in await running.calls.over(answer.parts):
                answer.take(not_made)
        if failure and running.turn.overheard:
            log.warning("convener_failed", agent=running.turn.agent, error=failure.reason)
        elif failure:
            question = MessageId(context.origin.message.message_id) if failure.retry else None
            answer.fail(failure.reason, question)
        called: Sequence[NewTurn] = ()
        took = self._clock.monotonic() - running.began
        if answer.has_content:
            position = await self._store.position(context.room.conversation)
            answer.note(known_until(position, running.turn.conversation))
            answer.time(running.first_shown, took)
            called = await self._keep(running, failed=failure is not None)
        self._publisher.ended(context, answer)
        await self._store.set_turn(
            context.turn.id,
            "failed" if failure else "done",
            answer=answer.id if answer.has_content else None,
            error=failure.reason if failure else "",
        )
        metrics.TURNS.labels(context.turn.agent, "failed" if failure else "done").inc()
        metrics.TURN_SECONDS.labels(context.turn.agent).observe(took)
        if self._tracer is not None:
            now, shown = self._clock.time(), answer.message() if answer.has_content else None
            for span in turn_spans(
                context.turn, shown, failed=failure is not None, began=now - took, ended=now
            ):
                self._tracer.record(span)
        if running.first_shown is not None:
            metrics.FIRST_OUTPUT.labels(context.turn.agent).observe(running.first_shown)
        if failure:
            await self._follow_ups.failed(context)
        return called

    async def _keep(self, running: RunningTurn, *, failed: bool) -> Sequence[NewTurn]:
        """Keep the answer and the turns that it calls in one transaction. An answer that was
        stopped or broke off calls nobody."""
        keep = partial(self._publisher.keep, running.context, running.answer)
        if failed or running.inputs.stop_requested.is_set():
            await keep("interrupted" if failed else "complete")
            return ()
        async with self._follow_ups.of(running.context, running.answer.message()) as called:
            await keep("complete", called)
        return called

    async def goes_on(self, context: TurnContext) -> bool:
        """End a turn whose answer was kept whole before the bridge stopped: its agent is not asked
        again, and a hand-over takes effect. Returns whether that is so. Raises StoreError."""
        kept = await self._store.message(context.turn.answer_id)
        if kept is None or kept.state != "complete":
            return False
        await self._follow_ups.hand_over_by(context, kept.message)
        await self._store.set_turn(context.turn.id, "done", answer=context.turn.answer_id)
        return True

    async def interrupt(self, turn: StoredTurn, context: TurnContext | None) -> None:
        """End a turn that does not go on after a stop; `asked` is None where its room or its
        question is gone. Raises StoreError."""
        reason = "it was interrupted by a restart"
        begun = await self._store.message(turn.answer_id)
        answer = Answer(turn.answer_id, turn.agent, self._clock.time())
        if begun is not None:
            answer.resume(begun.message)
        for not_made in await self._tools.interrupted(turn, answer.parts):
            answer.take(not_made)
        trigger = await self._store.message(turn.trigger)
        if context is not None and trigger is not None:
            answer.note(await self._history.agent_state(context))
            answer.fail(reason, MessageId(trigger.message.message_id))
            context = TurnContext(turn, context.room, trigger)
            await self._publisher.keep(context, answer, "interrupted")
            metrics.TURNS.labels(turn.agent, "failed").inc()
        else:
            context = None
        await self._store.set_turn(
            turn.id, "interrupted", answer=None if context is None else turn.answer_id, error=reason
        )
