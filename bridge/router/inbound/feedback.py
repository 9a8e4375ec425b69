"""What people think of answers: kept with the message, and told to the agent if it listens."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import structlog

from bridge.errors import BridgeError, Refused
from bridge.model import FeedbackGiven, MessageId
from bridge.model.turn_records import GivenFeedback
from bridge.model.turns import Feedback
from bridge.ports.agent import Agent, TakesFeedback
from bridge.ports.cards import agent_of
from bridge.ports.clock import Clock, datetime_of
from bridge.ports.store.feedback import FeedbackStore
from bridge.router.inbound.context import Passage, Surroundings
from bridge.router.rooms.people import nameless
from bridge.router.runtime.timeouts import Policy

log = structlog.get_logger()

_LONGEST_COMMENT = 4000  # characters


async def hear_feedback(passage: Passage, around: Surroundings) -> str | None:
    """It counts for the canonical message, whichever of its copies was judged, in rooms that ask
    for it; nothing of it is shown elsewhere."""
    event = passage.event
    if not isinstance(event, FeedbackGiven):
        return None
    known = await around.resolve(event.place.channel, event.target)
    stored = await around.store.message(known) if known else None
    agent = agent_of(stored.message) if stored else None
    if stored is None or agent is None or stored.state == "deleted":
        return "feedback: on no answer of an agent"
    room = next((one for one in passage.rooms if one.options.feedback == "on"), None)
    if room is None:
        return "feedback: the room does not ask for it"
    person, news = await around.people.complete(event.account, nameless(event.actor))
    if person.bot:
        return "feedback: only that of people counts"
    if news:
        passage.people.append(person)
    passage.feedback.append(
        GivenFeedback(
            MessageId(stored.message.message_id), event.actor, event.sense,
            event.comment[:_LONGEST_COMMENT], event.time.timestamp(), event.place.channel, room.id,
            tells=agent if around.feedback.is_wanted_by(agent) else None,
        )
    )  # fmt: skip
    return "feedback"


class FeedbackDelivery:
    """Hands feedback to the agents that want it, each in order; what one does not take now waits,
    over a restart, too."""

    def __init__(
        self, store: FeedbackStore, agents: Mapping[str, Agent], clock: Clock, policy: Policy
    ) -> None:
        self._store = store
        self._agents = agents
        self._clock = clock
        self._policy = policy
        self._queues: dict[str, asyncio.Queue[GivenFeedback]] = {}
        self._tasks: list[asyncio.Task[None]] = []

    def is_wanted_by(self, agent: str) -> bool:
        return self._listener(agent) is not None

    async def start(self) -> None:
        """Go on with what was not handed over before the last stop."""
        for one in await self._store.untold_feedback():
            self.tell(one)

    def tell(self, given: GivenFeedback) -> None:
        """It is kept: hand it over when its turn comes."""
        agent = given.tells
        if agent is None or self._listener(agent) is None:
            return
        if agent not in self._queues:
            self._queues[agent] = asyncio.Queue()
            self._tasks.append(asyncio.create_task(self._run(agent), name=f"feedback {agent}"))
        self._queues[agent].put_nowait(given)

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _listener(self, agent: str) -> TakesFeedback | None:
        known = self._agents.get(agent)
        return known if isinstance(known, TakesFeedback) and known.takes_feedback else None

    async def _run(self, agent: str) -> None:
        while True:
            given = await self._queues[agent].get()
            attempts = 0
            while not await self._is_over(agent, given):
                attempts += 1
                await self._clock.sleep(self._policy.backoff(attempts))

    async def _is_over(self, agent: str, given: GivenFeedback) -> bool:
        """Whether there is nothing more to try."""
        listener = self._listener(agent)
        try:
            if listener is not None:
                await listener.take_feedback(_told(agent, given))
                await self._store.feedback_told(given)
        except Refused as error:
            log.warning("feedback_refused", agent=agent, error=str(error))
            await self._store.feedback_told(given)
        except BridgeError as error:
            log.warning("feedback_not_taken", agent=agent, error=str(error))
            return False
        return True


def _told(agent: str, given: GivenFeedback) -> Feedback:
    return Feedback(
        agent=agent, room=given.room, message=given.message, actor=given.actor, sense=given.sense,
        comment=given.comment, given_at=datetime_of(given.time),
    )  # fmt: skip
