"""One turn of an agent, from the question to the answer that stands in every channel."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing

import structlog

from bridge.errors import AgentError, BridgeError
from bridge.model import (
    AccountId,
    Byline,
    MessageId,
    OperationId,
    Person,
    PostMessage,
    TurnId,
    deletion_of,
    edit_of,
)
from bridge.model.refs import ActorId
from bridge.model.turns import (
    AgentEvent,
    MessageChanged,
    ToolCalled,
    Turn,
    TurnDone,
    TurnFailed,
)
from bridge.ports.agent import Agent
from bridge.ports.cards import Cards
from bridge.ports.clock import Clock, datetime_of
from bridge.ports.connector import Connector, Files
from bridge.ports.store import (
    Admission,
    MessageState,
    NewMessage,
    Store,
    StoredMessage,
    StoredTurn,
)
from bridge.router import metrics
from bridge.router.answers import Answer, saying
from bridge.router.budgets import Budgets
from bridge.router.files import with_json_files
from bridge.router.inputs import Inputs
from bridge.router.lanes import Lanes
from bridge.router.policy import Policy
from bridge.router.rooms import Member, Room, Rooms
from bridge.router.sessions import view_of
from bridge.router.streams import Stream
from bridge.router.typing import Typing
from bridge.uacs import Message

log = structlog.get_logger()


class Answering:
    """Runs one turn: asks the agent, shows its answer in every channel, and keeps it."""

    def __init__(
        self,
        store: Store,
        connectors: Mapping[AccountId, Connector],
        rooms: Rooms,
        agents: Mapping[str, Agent],
        budgets: Budgets,
        lanes: Lanes,
        clock: Clock,
        policy: Policy,
        new_id: Callable[[], str],
        cards: Cards,
        files: Files | None,
        typing: Typing,
    ) -> None:
        self._store = store
        self._connectors = connectors
        self._rooms = rooms
        self._agents = agents
        self._budgets = budgets
        self._lanes = lanes
        self._clock = clock
        self._policy = policy
        self._new_id = new_id
        self._cards = cards
        self._files = files
        self._typing = typing

    async def run(self, stored: StoredTurn, inputs: Inputs) -> None:
        """Answer it, or say why not; `inputs` are what is said to the agent meanwhile."""
        room = self._rooms.by_id.get(stored.room)
        agent = self._agents.get(stored.agent)
        trigger = await self._store.message(stored.trigger)
        if room is None or agent is None or trigger is None:
            error = "the room or the agent is no longer configured"
            await self._store.set_turn(stored.id, "failed", error=error)
            return
        await self._store.set_turn(stored.id, "running")
        turn = await self._turn(stored, room, trigger)
        answer = Answer(answer_id(stored), stored.agent, self._clock.time())
        stream = Stream(self._store, self._connectors, self._budgets, self._clock, room)
        listening = asyncio.create_task(
            self._listen(agent, turn, inputs, answer, stream, room, trigger), name=f"turn {turn.id}"
        )
        stopping = asyncio.create_task(self._stop(listening, inputs))
        typing = asyncio.create_task(self._show_typing(room, answer))
        try:
            failure = await self._heard(listening, inputs, answer)
        finally:
            listening.cancel()
            stopping.cancel()
            typing.cancel()
            await asyncio.gather(listening, stopping, typing, return_exceptions=True)
            await stream.close()
        await self._finish(stored, room, trigger, answer, failure)

    async def _show_typing(self, room: Room, answer: Answer) -> None:
        """Until there is something to read, people see that it works on it."""
        while not answer.visible:
            await self._typing.show(room.listeners())
            await self._clock.sleep(self._policy.typing_again)

    async def _stop(self, listening: asyncio.Task[TurnFailed | None], inputs: Inputs) -> None:
        """When it shall stop: for a moment the agent may end by itself."""
        await inputs.stop_wanted.wait()
        await self._clock.sleep(self._policy.stop_grace)
        listening.cancel()

    async def _heard(
        self, listening: asyncio.Task[TurnFailed | None], inputs: Inputs, answer: Answer
    ) -> TurnFailed | None:
        """How it ended; being stopped is no failure."""
        await asyncio.wait({listening})
        if inputs.stop_wanted.is_set():
            answer.stop()
            return None
        return listening.result()

    async def _turn(self, stored: StoredTurn, room: Room, trigger: StoredMessage) -> Turn:
        seat = room.seat(stored.agent)
        view = None if seat is None else view_of(seat, trigger)
        shown = self._policy.history_shown
        conversation = await self._store.conversation(room.conversation, newest=shown, view=view)
        upto = [m.message_id for m in conversation.messages]
        if stored.trigger in upto:
            messages = conversation.messages[: upto.index(stored.trigger) + 1]
            conversation = conversation.model_copy(update={"messages": messages})
        return Turn(
            id=stored.id,
            agent=stored.agent,
            room=stored.room,
            trigger=stored.trigger,
            asked_at=datetime_of(trigger.time),
            conversation=conversation,
            platforms=tuple(dict.fromkeys(m.channel.platform for m in room.listeners())),
        )

    async def _listen(
        self,
        agent: Agent,
        turn: Turn,
        inputs: Inputs,
        answer: Answer,
        stream: Stream,
        room: Room,
        trigger: StoredMessage,
    ) -> TurnFailed | None:
        """Take what the agent says, show it as it grows; a failure if it did not finish."""
        showing: asyncio.Task[None] | None = None
        try:
            async with (
                asyncio.timeout(self._policy.turn_total),
                aclosing(agent.run(turn, inputs)) as said,
            ):
                while (event := await _next(said, self._policy.turn_idle)) is not None:
                    if isinstance(event, TurnDone):
                        return None
                    if isinstance(event, TurnFailed):
                        return event
                    if isinstance(event, ToolCalled):
                        await self._store.set_turn(turn.id, "running", tool_called=True)
                    if isinstance(event, MessageChanged):
                        await self._change(turn, event)
                        continue
                    answer.take(event)
                    if showing is None and answer.visible:
                        soon = self._show_soon(turn.id, room, trigger, answer, stream)
                        showing = asyncio.create_task(soon)
                    elif showing is not None and showing.done():
                        showing.result()
                        stream.show(answer.message())
        except TimeoutError:
            return TurnFailed(reason=f"it said nothing for {self._policy.turn_idle:g} s")
        except Exception as error:
            log.exception("agent_raised", agent=turn.agent, turn=turn.id)
            return TurnFailed(reason=_told(error))
        finally:
            if showing is not None:
                showing.cancel()
                await asyncio.gather(showing, return_exceptions=True)
        return TurnFailed(reason="it ended without TurnDone or TurnFailed")

    async def _show_soon(
        self, turn: TurnId, room: Room, trigger: StoredMessage, answer: Answer, stream: Stream
    ) -> None:
        """Gather the first words for a moment, then show them, whether or not more have come."""
        await self._clock.sleep(self._policy.stream_open)
        await self._open(turn, room, trigger, answer)
        stream.show(answer.message())

    async def _change(self, turn: Turn, event: MessageChanged) -> None:
        """Raises AgentError when the message is not the agent's own, said in this room."""
        stored = await self._store.message(event.message)
        posts = [one for one in await self._store.posts_of(event.message) if one.room == turn.room]
        own = stored is not None and stored.message.actor.id == f"agent:{turn.agent}"
        if stored is None or not own or not posts:
            raise AgentError(
                f"it wanted to change message {event.message!r}, which it did not say in this room"
            )
        changed = await self._whole(saying(stored.message, event.parts))
        edits = [edit_of(post, OperationId(self._new_id())) for post in posts]
        await self._store.change_message(changed, "edited", edits)
        for edit in edits:
            self._lanes.wake(edit.channel.lane)

    async def _open(self, turn: TurnId, room: Room, trigger: StoredMessage, answer: Answer) -> None:
        """The first words take their place in every lane; a turn that runs again finds them."""
        operations = self._posts(room, trigger, answer, stream=True)
        message = await self._whole(answer.message())
        new = self._new_message(message, trigger, "streaming")
        admission = Admission(
            outcome="answer", message=new, timelines=(room.timeline,), operations=operations
        )
        await self._store.admit(admission)
        await self._store.set_turn(turn, "running", answer=answer.id)
        self._wake(room.listeners())

    async def _finish(
        self,
        stored: StoredTurn,
        room: Room,
        trigger: StoredMessage,
        answer: Answer,
        failure: TurnFailed | None,
    ) -> None:
        if failure:
            question = MessageId(trigger.message.message_id) if failure.retry else None
            answer.fail(failure.reason, question)
        if answer.visible:
            await self._keep(room, trigger, answer, "interrupted" if failure else "complete")
        await self._store.set_turn(
            stored.id,
            "failed" if failure else "done",
            answer=answer.id if answer.visible else None,
            error=failure.reason if failure else "",
        )
        metrics.TURNS.labels(stored.agent, "failed" if failure else "done").inc()
        self._wake(room.listeners())

    async def _keep(
        self, room: Room, trigger: StoredMessage, answer: Answer, state: MessageState
    ) -> None:
        """The final state: a post where nothing was shown yet, else an edit of what was."""
        message = await self._whole(answer.message())
        posts = self._posts(room, trigger, answer, stream=False)
        new = self._new_message(message, trigger, state)
        admission = Admission(
            outcome="answer", message=new, timelines=(room.timeline,), operations=posts
        )
        if (await self._store.admit(admission)).repeat:
            edits = [edit_of(post, OperationId(self._new_id())) for post in posts]
            await self._store.change_message(message, state, edits)

    async def _whole(self, message: Message) -> Message:
        """With all that an agent need not write, but those who show it need."""
        return await with_json_files(self._cards.with_fallbacks(message), self._cards, self._files)

    async def withdraw(self, turn: StoredTurn) -> None:
        """Take its answer away, if anything of it stands."""
        own_id = answer_id(turn)
        stored = await self._store.message(own_id)
        if stored is None:
            return
        posts = await self._store.posts_of(own_id)
        deletions = [deletion_of(post, OperationId(self._new_id())) for post in posts]
        await self._store.change_message(stored.message, "deleted", deletions)
        for one in deletions:
            self._lanes.wake(one.lane)

    async def interrupt(self, turn: StoredTurn) -> None:
        """It was cut off by a stop and may not run again by itself: say so where it had begun."""
        reason = "it was interrupted by a restart"
        room = self._rooms.by_id.get(turn.room)
        trigger = await self._store.message(turn.trigger)
        begun = await self._store.message(answer_id(turn))
        if room and trigger:
            answer = Answer(answer_id(turn), turn.agent, self._clock.time())
            if begun:
                answer.resume(begun.message)
            await self._finish(turn, room, trigger, answer, TurnFailed(reason=reason))
        await self._store.set_turn(turn.id, "interrupted", error=reason)

    def _posts(
        self, room: Room, trigger: StoredMessage, answer: Answer, *, stream: bool
    ) -> tuple[PostMessage, ...]:
        return tuple(
            PostMessage(
                id=OperationId(self._new_id()),
                account=member.account,
                channel=member.channel,
                room=room.id,
                message=answer.id,
                byline=Byline(name=answer.agent, agent=True),
                root=None if member.options.threads == "flat" else trigger.root,
                stream=stream,
            )
            for member in room.listeners()
        )

    def _new_message(
        self, message: Message, trigger: StoredMessage, state: MessageState
    ) -> NewMessage:
        author = Person(id=ActorId(message.actor.id), name=message.actor.name or "agent", bot=True)
        return NewMessage(
            message=message,
            author=author,
            time=self._clock.time(),
            root=trigger.root,
            reply_to=MessageId(trigger.message.message_id),
            state=state,
        )

    def _wake(self, members: Sequence[Member]) -> None:
        for member in members:
            self._lanes.wake(member.channel.lane)


def answer_id(turn: StoredTurn) -> MessageId:
    """The answer's id follows from the turn, so that a turn run twice answers once."""
    return MessageId(f"agent:{turn.agent}:{turn.id}")


def _told(error: Exception) -> str:
    """What the room is told. Errors of ours are written for people; another's may show addresses,
    paths or keys: those are for the log."""
    return str(error) if isinstance(error, BridgeError) else f"{type(error).__name__}; see the log"


async def _next(said: AsyncIterator[AgentEvent], seconds: float) -> AgentEvent | None:
    async with asyncio.timeout(seconds):
        return await anext(said, None)
