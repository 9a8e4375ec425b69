"""What people think of answers: kept with the message, and given to the agent if it takes that."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import structlog

from bridge.content.messages.authors import agent_of
from bridge.errors import BridgeError, Refused
from bridge.model import FeedbackGiven, MessageId
from bridge.model.admission import Admission
from bridge.model.assignments import agent_assignment
from bridge.model.times import datetime_of
from bridge.model.turn_records import MessageRating
from bridge.model.turns import Feedback
from bridge.ports.agent import Agent, TakesFeedback
from bridge.ports.clock import Clock
from bridge.ports.cluster import Cluster
from bridge.ports.store.feedback import FeedbackStore
from bridge.ports.store.messages import MessageStore
from bridge.router.inbound.context import Admitted, Planned, ended
from bridge.router.inbound.threads import canonical_id
from bridge.router.rooms.people import People, nameless
from bridge.router.runtime.timeouts import Timeouts

log = structlog.get_logger()

_LONGEST_COMMENT = 4000  # characters


class FeedbackListeners(Protocol):
    """Knows which agents take feedback on their answers."""

    def takes_feedback(self, agent: str) -> bool:
        """Whether this agent takes feedback."""
        ...


@dataclass(frozen=True)
class TakeFeedback:
    """Counts feedback for the canonical message, whichever of its copies it is on, in rooms that
    ask for it. No channel shows feedback."""

    store: MessageStore
    people: People
    agents: FeedbackListeners

    async def __call__(self, admitted: Admitted) -> Admitted | Planned:
        event = admitted.event
        if not isinstance(event, FeedbackGiven):
            return admitted
        message_id = await canonical_id(self.store, event.place.channel, event.target)
        stored = await self.store.message(message_id) if message_id else None
        agent = agent_of(stored.message) if stored else None
        if stored is None or agent is None or stored.state == "deleted":
            return ended("feedback: on no answer of an agent")
        room = next((room for room in admitted.rooms if room.options.feedback == "on"), None)
        if room is None:
            return ended("feedback: the room does not ask for it")
        person, is_new = await self.people.complete(event.account, nameless(event.actor))
        if person.bot:
            return ended("feedback: only that of people counts")
        feedback = MessageRating(
            MessageId(stored.message.message_id), event.actor, event.sense,
            event.comment[:_LONGEST_COMMENT], event.time.timestamp(), event.place.channel, room.id,
            pending_agent=agent if self.agents.takes_feedback(agent) else None,
        )  # fmt: skip
        people = (person,) if is_new else ()
        return Planned(admission=Admission("feedback", people=people, feedback=(feedback,)))


class FeedbackDelivery:
    """Hands feedback to the agents that take it, to each in order. Feedback that an agent does not
    take now waits, also over a restart."""

    def __init__(
        self,
        store: FeedbackStore,
        agents: Mapping[str, Agent],
        clock: Clock,
        timeouts: Timeouts,
        cluster: Cluster,
    ) -> None:
        self._cluster = cluster
        self._queued: set[MessageRating] = set()
        self._store = store
        self._agents = agents
        self._clock = clock
        self._timeouts = timeouts
        self._queues: dict[str, asyncio.Queue[MessageRating]] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def takes_feedback(self, agent: str) -> bool:
        return self._listener(agent) is not None

    async def start(self) -> None:
        """Continue with feedback that was not handed over before the last stop. Raises
        StoreError."""
        for feedback in await self._store.undelivered_feedback():
            self.deliver(feedback)

    def deliver(self, feedback: MessageRating) -> None:
        """Queue feedback that is in the store for its agent."""
        agent = feedback.pending_agent
        if agent is None or self._listener(agent) is None or feedback in self._queued:
            return
        if not self._is_ours(agent):
            self._cluster.call(agent_assignment(agent))
            return
        self._queued.add(feedback)
        if agent not in self._queues:
            self._queues[agent] = asyncio.Queue()
            self._tasks[agent] = asyncio.create_task(self._run(agent), name=f"feedback {agent}")
        self._queues[agent].put_nowait(feedback)

    async def let_go(self) -> None:
        """Forget feedback for agents that are not this process' any more; the store has it."""
        for agent in [name for name in self._queues if not self._is_ours(name)]:
            self._tasks[agent].cancel()
            await asyncio.gather(self._tasks[agent], return_exceptions=True)
            del self._tasks[agent], self._queues[agent]
            self._queued = {one for one in self._queued if one.pending_agent != agent}

    def _is_ours(self, agent: str) -> bool:
        return self._cluster.owns(agent_assignment(agent))

    async def close(self) -> None:
        """Stop; feedback that is not handed over stays in the store."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    def _listener(self, agent: str) -> TakesFeedback | None:
        listener = self._agents.get(agent)
        return listener if isinstance(listener, TakesFeedback) and listener.takes_feedback else None

    async def _run(self, agent: str) -> None:
        while True:
            feedback = await self._queues[agent].get()
            attempts = 0
            while not await self._is_over(agent, feedback):
                attempts += 1
                await self._clock.sleep(self._timeouts.backoff(attempts))
            self._queued.discard(feedback)

    async def _is_over(self, agent: str, feedback: MessageRating) -> bool:
        """Hand the feedback over; False if it must be tried again."""
        listener = self._listener(agent)
        try:
            if listener is not None:
                await listener.take_feedback(_feedback_for(agent, feedback))
                await self._store.set_feedback_delivered(feedback)
        except Refused as error:
            log.warning("feedback_rejected", agent=agent, error=str(error))
            await self._store.set_feedback_delivered(feedback)
        except BridgeError as error:
            log.warning("feedback_delayed", agent=agent, error=str(error))
            return False
        return True


def _feedback_for(agent: str, feedback: MessageRating) -> Feedback:
    return Feedback(
        agent=agent, room=feedback.room, message=feedback.message, actor=feedback.actor,
        sense=feedback.sense, comment=feedback.comment, given_at=datetime_of(feedback.time),
    )  # fmt: skip
