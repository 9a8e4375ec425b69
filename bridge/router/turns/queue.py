"""Agents' turns: durable rows, answered one after the other in their session."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import structlog

from bridge.model import ActorId, MessageId, RoomId, TurnId
from bridge.model.admission import Admission
from bridge.model.archive_records import Change
from bridge.model.refs import join_key
from bridge.model.turn_records import NewTurn, StoredTurn
from bridge.model.turns import Steered
from bridge.ports.clock import Clock
from bridge.ports.store.admissions import AdmissionStore
from bridge.ports.store.conversations import ConversationStore
from bridge.ports.store.messages import MessageStore
from bridge.ports.store.turns import TurnStore
from bridge.router.rooms.rooms import AgentMembership, Rooms
from bridge.router.runtime.timeouts import Timeouts
from bridge.router.signals import Signal
from bridge.router.turns.admission import TurnAdmission
from bridge.router.turns.history import shown_meanwhile
from bridge.router.turns.inputs import Inputs
from bridge.router.turns.publisher import AnswerPublisher, answer_id
from bridge.router.turns.runner import TurnRunner
from bridge.uacs import Message

log = structlog.get_logger()


@dataclass
class _Running:
    """The turn that an agent works on now, and those whose questions it was told meanwhile;
    `outdated`: its own question is gone or says something else."""

    turn: StoredTurn
    inputs: Inputs = field(default_factory=Inputs)
    told: list[tuple[Steered, StoredTurn]] = field(default_factory=list[tuple[Steered, StoredTurn]])
    outdated: bool = False


@dataclass
class _Session:
    """Turns that wait, the one that runs, and when the last question came."""

    membership: AgentMembership
    waiting: deque[StoredTurn] = field(default_factory=deque[StoredTurn])
    running: _Running | None = None
    asked: float = 0.0


class _TurnsStore(AdmissionStore, ConversationStore, MessageStore, TurnStore, Protocol):
    """What `TurnQueue` needs of the store."""


class TurnQueue:
    """One queue for each session; sessions are answered side by side.

    What comes while an agent works waits (`queue`), waits and is answered as one (`merge`), is told
    to the agent if it listens (`steer`), or stops it (`interrupt`), as its seat wants.
    """

    def __init__(
        self,
        store: _TurnsStore,
        rooms: Rooms,
        runner: TurnRunner,
        publisher: AnswerPublisher,
        clock: Clock,
        policy: Timeouts,
        new_id: Callable[[], str],
        admission: TurnAdmission,
        hand_over_taken: Signal[RoomId],
    ) -> None:
        self._store = store
        self._rooms = rooms
        self._runner = runner
        self._publisher = publisher
        self._clock = clock
        self._policy = policy
        self._new_id = new_id
        self._admission = admission
        self._sessions: dict[str, _Session] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        hand_over_taken.subscribe(self._taken_over)

    async def start(self) -> None:
        """Go on with turns from before, those that waited for leave to call a tool among them. One
        whose tool call had begun is never run again."""
        for turn in await self._store.open_turns():
            tried = turn.state != "waiting" and turn.attempts >= self._policy.turn_attempts
            if turn.tool_called or tried:
                await self._runner.interrupt(turn)
            else:
                self._enqueue(turn)

    async def ask(self, new: NewTurn) -> None:
        """A queued turn: its agent answers as its seat wants."""
        turn = StoredTurn(
            new.id, new.agent, new.room, new.trigger, "queued", 0,
            asked=self._clock.time(), session=new.session, origin=new.origin,
            called_by=new.called_by,
        )  # fmt: skip
        session = self._sessions.get(_key(turn))
        if session is None or session.running is None:
            self._enqueue(turn)
        elif session.membership.busy == "steer":
            await self._steer(session, session.running, turn)
        else:
            self._enqueue(turn)
            if session.membership.busy == "interrupt":
                session.running.inputs.stop(None)

    def stop(self, session: str, by: ActorId | None) -> bool:
        """Stop what is answered there, and forget what waits; False when nothing is."""
        found = self._sessions.get(session)
        if found is None or found.running is None:
            return False
        found.running.inputs.stop(by)
        return True

    async def stop_answer(self, answer: MessageId, by: ActorId) -> bool:
        """Stop the turn that this message is the answer of, if they may."""
        for session in list(self._sessions.values()):
            running = session.running
            if running is not None and answer_id(running.turn) == answer:
                if not await self._admission.may_stop(running.turn, by):
                    return False
                running.inputs.stop(by)
                return True
        return False

    async def stop_thread(self, root: MessageId, by: ActorId) -> None:
        """Stop what is being answered in this thread, as far as they may."""
        for session in list(self._sessions.values()):
            running = session.running
            if running is None:
                continue
            stored = await self._store.message(running.turn.origin or running.turn.trigger)
            there = stored is not None and root in (stored.root, stored.message.message_id)
            if there and await self._admission.may_stop(running.turn, by):
                running.inputs.stop(by)

    async def _taken_over(self, room: RoomId) -> None:
        """A person took over somewhere in the room: what is being said there ends."""
        for session in list(self._sessions.values()):
            running = session.running
            if running is None or running.turn.room != room:
                continue
            if await self._admission.is_taken(running.turn):
                running.inputs.stop(None)

    async def question_changed(self, change: Change) -> None:
        """An answer to words that nobody says any more stops, and goes; edited words are asked."""
        question = MessageId(change.message.message_id)
        for session in list(self._sessions.values()):
            if change.state == "deleted":
                for turn in [one for one in session.waiting if _asks(one, question)]:
                    session.waiting.remove(turn)
                    await self._store.set_turn(turn.id, "done", error="the question was deleted")
            running = session.running
            if running is not None and _asks(running.turn, question):
                running.outdated = True
                running.inputs.stop(None)
                if change.state == "edited":
                    await self._ask_again(running.turn)

    async def _ask_again(self, turn: StoredTurn) -> None:
        new = NewTurn(
            TurnId(self._new_id()), turn.agent, turn.room, turn.trigger, turn.session, turn.origin,
            turn.called_by,
        )  # fmt: skip
        await self._store.admit(Admission(outcome="asked again", turns=(new,)))
        await self.ask(new)

    @property
    def idle(self) -> bool:
        return not self._tasks

    async def close(self) -> None:
        """Stop; turns that run now are taken up again at the next start."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _steer(self, session: _Session, running: _Running, turn: StoredTurn) -> None:
        message = await self._said_meanwhile(session.membership, running, turn)
        if message is None or session.running is not running:
            self._enqueue(turn)
            return
        told = Steered(message=message)
        running.told.append((told, turn))
        running.inputs.give(told)

    async def _said_meanwhile(
        self, membership: AgentMembership, running: _Running, turn: StoredTurn
    ) -> Message | None:
        """What the turn asks, as the agent at work is shown it; None where it cannot be."""
        room = self._rooms.by_id.get(turn.room)
        new = await self._store.message(turn.trigger)
        question = await self._store.message(running.turn.trigger)
        asked = await self._store.message(running.turn.origin or running.turn.trigger)
        if room is None or new is None or question is None or asked is None:
            return None
        before = [question.message, *(told.message for told, _ in running.told)]
        return await shown_meanwhile(self._store, room, membership, asked, before, new.message)

    def _enqueue(self, turn: StoredTurn) -> None:
        key = _key(turn)
        session = self._sessions.get(key)
        if session is not None:
            session.waiting.append(turn)
            session.asked = self._clock.monotonic()
            return
        session = _Session(self._seat(turn), deque([turn]), asked=self._clock.monotonic())
        self._sessions[key] = session
        task = asyncio.create_task(self._run(key, session), name=f"agent {turn.agent}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _seat(self, turn: StoredTurn) -> AgentMembership:
        room = self._rooms.by_id.get(turn.room)
        return (room and room.membership(turn.agent)) or AgentMembership(turn.agent)

    async def _run(self, key: str, session: _Session) -> None:
        try:
            while session.waiting:
                await self._gather(session)
                turn = await self._next(session)
                if why := await self._admission.refuses(turn):
                    await self._store.set_turn(turn.id, "done", error=why)
                    continue
                await self._admission.begins(turn)
                session.running = _Running(turn)
                called = await self._answer(session.running)
                await self._admission.ends(turn)
                if session.running.outdated:
                    await self._publisher.withdraw(turn)
                await self._call_others(called, withdrawn=session.running.outdated)
                over, session.running = session.running, None
                unheard = await self._heard_of(over)
                session.waiting.extendleft(reversed(unheard))
        finally:
            del self._sessions[key]

    async def _gather(self, session: _Session) -> None:
        """Rapid messages are one question: wait until nobody adds to it."""
        while (left := session.asked + session.membership.gather - self._clock.monotonic()) > 0:
            await self._clock.sleep(left)

    async def _next(self, session: _Session) -> StoredTurn:
        turn = session.waiting.popleft()
        while session.waiting and (session.membership.busy == "merge" or session.membership.gather):
            later = session.waiting.popleft()
            await self._store.set_turn(turn.id, "done", error=f"answered with {later.id}")
            turn = later
        return turn

    async def _answer(self, running: _Running) -> Sequence[NewTurn]:
        """Those that it calls, which are in the store."""
        try:
            return await self._runner.run(running.turn, running.inputs)
        except Exception as error:
            log.exception("turn_crashed", turn=running.turn.id, agent=running.turn.agent)
            await self._store.set_turn(running.turn.id, "failed", error=str(error))
            return ()

    async def _call_others(self, called: Sequence[NewTurn], *, withdrawn: bool) -> None:
        """What one agent says in its answer to another is asked, unless the answer is gone."""
        for one in called:
            if withdrawn:
                await self._store.set_turn(one.id, "done", error="the question was changed")
            else:
                await self.ask(one)

    async def _heard_of(self, running: _Running) -> Sequence[StoredTurn]:
        """Turns whose questions the agent did not look at: they are asked as others are."""
        unread = running.inputs.unread()
        unheard: list[StoredTurn] = []
        for told, turn in running.told:
            if any(told is one for one in unread):
                unheard.append(turn)
            else:
                await self._store.set_turn(turn.id, "done", error=f"told to {running.turn.id}")
        return unheard


def _asks(turn: StoredTurn, question: MessageId) -> bool:
    return question in (turn.trigger, turn.origin)


def _key(turn: StoredTurn) -> str:
    return turn.session or join_key(turn.agent, turn.room)
