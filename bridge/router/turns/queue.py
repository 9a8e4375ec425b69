"""Agents' turns: durable rows, answered one after the other in their session."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import structlog

from bridge.model import ActorId, MessageId, RoomId, TurnId
from bridge.model.admission import Admission
from bridge.model.archive_records import Change
from bridge.model.assignments import agent_assignment
from bridge.model.refs import join_key
from bridge.model.turn_records import NewTurn, StoredTurn
from bridge.model.turns import Steered
from bridge.ports.clock import Clock
from bridge.ports.cluster import Cluster
from bridge.ports.store.admissions import AdmissionStore
from bridge.ports.store.conversations import ConversationStore
from bridge.ports.store.messages import MessageStore
from bridge.ports.store.turns import TurnStore
from bridge.router.rooms.feed import Feed
from bridge.router.rooms.rooms import AgentMembership, Rooms
from bridge.router.runtime.timeouts import Timeouts
from bridge.router.signals import MemberSilenced
from bridge.router.turns.admission import TurnAdmission
from bridge.router.turns.history import shown_while_working
from bridge.router.turns.inputs import Inputs
from bridge.router.turns.publisher import AnswerPublisher
from bridge.router.turns.runner import TurnRunner
from bridge.uacs import Message

log = structlog.get_logger()

_OPEN = ("queued", "running", "waiting")


@dataclass
class _Running:
    """The turn that an agent works on now, and the turns whose questions it got meanwhile.
    `outdated`: the turn's own question was deleted or edited."""

    turn: StoredTurn
    inputs: Inputs = field(default_factory=Inputs)
    steered: list[tuple[Steered, StoredTurn]] = field(
        default_factory=list[tuple[Steered, StoredTurn]]
    )
    outdated: bool = False


@dataclass
class _Session:
    """The turns of one session that wait, the one that runs, and when the last question came;
    `taken`: all turns that came while it worked."""

    membership: AgentMembership
    waiting: deque[StoredTurn] = field(default_factory=deque[StoredTurn])
    running: _Running | None = None
    last_question_at: float = 0.0
    taken: list[TurnId] = field(default_factory=list[TurnId])


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
        admission: TurnAdmission,
        feed: Feed,
        new_id: Callable[[], str],
        clock: Clock,
        timeouts: Timeouts,
        cluster: Cluster,
    ) -> None:
        self._cluster = cluster
        self._store = store
        self._rooms = rooms
        self._runner = runner
        self._publisher = publisher
        self._clock = clock
        self._timeouts = timeouts
        self._new_id = new_id
        self._admission = admission
        self._feed = feed
        self._sessions: dict[str, _Session] = {}
        self._tasks: dict[asyncio.Task[None], str] = {}  # with their agents
        self._known: set[TurnId] = set()  # turns that this process takes care of

    async def start(self) -> None:
        """Continue with the turns of the last run, those that waited for an approval among them. A
        turn whose tool call had begun is never run again. Raises StoreError."""
        await self.look()

    async def look(self) -> None:
        """Take care of the open turns that are this process' and new to it. Raises StoreError."""
        for found in await self._store.open_turns():
            if found.id in self._known or not self._is_ours(found.agent):
                continue
            turn = await self._store.turn(found.id)  # it may have ended since
            if turn is None or turn.state not in _OPEN or turn.id in self._known:
                continue
            tried_often = turn.state != "waiting" and turn.attempts >= self._timeouts.turn_attempts
            if turn.tool_called or tried_often:
                await self._runner.interrupt(turn)
            else:
                self._enqueue(turn)

    async def take(self, new: NewTurn) -> None:
        """Take a turn that the store holds: its agent answers as its membership says. Raises
        StoreError."""
        turn = StoredTurn(
            new.id, new.agent, new.room, new.trigger, "queued", 0,
            asked=self._clock.time(), session=new.session, origin=new.origin,
            called_by=new.called_by, reason=new.reason,
        )  # fmt: skip
        if not self._is_ours(turn.agent):
            self._cluster.call(agent_assignment(turn.agent))
            return
        if self._cluster.is_shared and not await self._is_new(turn.id):
            return  # `look` found it in the store first
        session = self._sessions.get(_key(turn))
        if session is None or session.running is None:
            self._enqueue(turn)
        elif session.membership.busy == "steer":
            await self._steer(session, session.running, turn)
        else:
            self._enqueue(turn)
            if session.membership.busy == "interrupt":
                session.running.inputs.stop(None)

    async def stop(self, session: str, by: ActorId | None) -> None:
        """Ask the agent that answers in this session to stop. Raises StoreError."""
        if not self._stop(session, by):
            await self._cluster.tell("stop", session=session, by=by or "")

    def _stop(self, session: str, by: ActorId | None) -> bool:
        running_session = self._sessions.get(session)
        if running_session is None or running_session.running is None:
            return False
        running_session.running.inputs.stop(by)
        return True

    async def stop_answer(self, answer: MessageId, by: ActorId) -> None:
        """Stop the turn that writes this answer, if `by` may stop it. Raises StoreError."""
        if not await self._stop_answer(answer, by):
            await self._cluster.tell("stop_answer", answer=answer, by=by)

    async def _stop_answer(self, answer: MessageId, by: ActorId) -> bool:
        for session in list(self._sessions.values()):
            running = session.running
            if running is not None and running.turn.answer_id == answer:
                if await self._admission.may_stop(running.turn, by):
                    running.inputs.stop(by)
                return True
        return False

    async def cancel(self, question: MessageId) -> None:
        """Stop the turns that a message began, and forget those that wait; what was written stays.
        Raises StoreError."""
        await self._cancel(question)
        await self._cluster.tell("cancel", question=question)

    async def _cancel(self, question: MessageId) -> None:
        for session in list(self._sessions.values()):
            await self._forget_waiting(session, question, "the question was cancelled")
            if session.running is not None and _asks(session.running.turn, question):
                session.running.inputs.stop(None)

    async def _forget_waiting(self, session: _Session, question: MessageId, why: str) -> None:
        for turn in [turn for turn in session.waiting if _asks(turn, question)]:
            session.waiting.remove(turn)
            await self._store.set_turn(turn.id, "done", error=why)

    async def stop_thread(self, root: MessageId, by: ActorId) -> None:
        """Stop the turns of this thread that `by` may stop. Raises StoreError."""
        await self._stop_thread(root, by)
        await self._cluster.tell("stop_thread", root=root, by=by)

    async def _stop_thread(self, root: MessageId, by: ActorId) -> None:
        for session in list(self._sessions.values()):
            running = session.running
            if running is None:
                continue
            stored = await self._store.message(running.turn.origin or running.turn.trigger)
            there = stored is not None and root in (stored.root, stored.message.message_id)
            if there and await self._admission.may_stop(running.turn, by):
                running.inputs.stop(by)

    async def hand_over_taken(self, room: RoomId) -> None:
        """Stop the turns in this room where a person has taken over. Raises StoreError."""
        await self._hand_over_taken(room)
        await self._cluster.tell("hand_over_taken", room=room)

    async def _hand_over_taken(self, room: RoomId) -> None:
        for session in list(self._sessions.values()):
            running = session.running
            if running is None or running.turn.room != room:
                continue
            if await self._admission.is_taken(running.turn):
                running.inputs.stop(None)

    async def member_silenced(self, silenced: MemberSilenced) -> None:
        """Stop the turns of an agent that lost the floor of a room; its answers stay as far as they
        are written. Raises StoreError."""
        self._silence(silenced.room, silenced.actor)
        await self._cluster.tell("silenced", room=silenced.room, actor=silenced.actor)

    def _silence(self, room: RoomId, actor: ActorId) -> None:
        for session in list(self._sessions.values()):
            running = session.running
            if running is None or running.turn.room != room:
                continue
            if actor == f"agent:{running.turn.agent}":
                running.inputs.stop(None)

    async def question_changed(self, change: Change) -> None:
        """Stop the turn of a question that was deleted or edited; its answer is withdrawn. An
        edited question is asked again. Raises StoreError."""
        question = MessageId(change.message.message_id)
        await self._question_changed(question, change.state)
        await self._cluster.tell("question_changed", question=question, state=change.state)

    async def _question_changed(self, question: MessageId, state: str) -> None:
        for session in list(self._sessions.values()):
            if state == "deleted":
                await self._forget_waiting(session, question, "the question was deleted")
            running = session.running
            if running is not None and _asks(running.turn, question):
                running.outdated = True
                running.inputs.stop(None)
                if state == "edited":
                    await self._ask_again(running.turn)

    async def _ask_again(self, turn: StoredTurn) -> None:
        new = NewTurn(
            TurnId(self._new_id()), turn.agent, turn.room, turn.trigger, turn.session, turn.origin,
            turn.called_by, "the question was edited",
        )  # fmt: skip
        await self._store.admit(Admission(outcome="asked again", turns=(new,)))
        await self.take(new)

    async def told(self, kind: str, facts: Mapping[str, str]) -> None:
        """Do with the turns of this process what another process asks of all. Raises StoreError."""
        match kind:
            case "stop":
                self._stop(facts["session"], ActorId(facts["by"]) if facts["by"] else None)
            case "stop_answer":
                await self._stop_answer(MessageId(facts["answer"]), ActorId(facts["by"]))
            case "cancel":
                await self._cancel(MessageId(facts["question"]))
            case "stop_thread":
                await self._stop_thread(MessageId(facts["root"]), ActorId(facts["by"]))
            case "hand_over_taken":
                await self._hand_over_taken(RoomId(facts["room"]))
            case "silenced":
                self._silence(RoomId(facts["room"]), ActorId(facts["actor"]))
            case "question_changed":
                await self._question_changed(MessageId(facts["question"]), facts["state"])
            case _:
                pass

    async def let_go(self) -> None:
        """Stop the turns that are not this process' any more; whose they are runs them again."""
        ending = [task for task, agent in self._tasks.items() if not self._is_ours(agent)]
        for task in ending:
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)

    async def _is_new(self, turn: TurnId) -> bool:
        stored = await self._store.turn(turn)
        return stored is not None and stored.state in _OPEN and turn not in self._known

    def _is_ours(self, agent: str) -> bool:
        return not self._cluster.is_shared or self._cluster.owns(agent_assignment(agent))

    @property
    def idle(self) -> bool:
        return not self._tasks

    async def close(self) -> None:
        """Stop; turns that run now are taken up again at the next start."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _steer(self, session: _Session, running: _Running, turn: StoredTurn) -> None:
        message = await self._steered_message(session.membership, running, turn)
        if message is None or session.running is not running:
            self._enqueue(turn)
            return
        self._note(session, turn)
        steered = Steered(message=message)
        running.steered.append((steered, turn))
        running.inputs.give(steered)

    async def _steered_message(
        self, membership: AgentMembership, running: _Running, turn: StoredTurn
    ) -> Message | None:
        """Return the turn's question as the agent at work is shown it; None where it cannot be
        shown."""
        room = self._rooms.by_id.get(turn.room)
        new = await self._store.message(turn.trigger)
        question = await self._store.message(running.turn.trigger)
        origin = await self._store.message(running.turn.origin or running.turn.trigger)
        if room is None or new is None or question is None or origin is None:
            return None
        before = [question.message, *(steered.message for steered, _ in running.steered)]
        return await shown_while_working(self._store, room, membership, origin, before, new.message)

    def _enqueue(self, turn: StoredTurn) -> None:
        key = _key(turn)
        session = self._sessions.get(key)
        if session is not None:
            self._note(session, turn)
            session.waiting.append(turn)
            session.last_question_at = self._clock.monotonic()
            return
        session = _Session(
            self._membership(turn), deque([turn]), last_question_at=self._clock.monotonic()
        )
        self._note(session, turn)
        self._sessions[key] = session
        task = asyncio.create_task(self._run(key, session), name=f"agent {turn.agent}")
        self._tasks[task] = turn.agent
        task.add_done_callback(self._tasks.pop)

    def _note(self, session: _Session, turn: StoredTurn) -> None:
        self._known.add(turn.id)
        session.taken.append(turn.id)

    def _membership(self, turn: StoredTurn) -> AgentMembership:
        room = self._rooms.by_id.get(turn.room)
        return (room and room.membership(turn.agent)) or AgentMembership(turn.agent)

    async def _run(self, key: str, session: _Session) -> None:
        try:
            while session.waiting:
                await self._gather(session)
                turn = await self._next(session)
                if refusal := await self._admission.admit(turn):
                    await self._store.set_turn(turn.id, "done", error=refusal)
                    self._feed.woke()
                    continue
                session.running = _Running(turn)
                called_turns = await self._answer(session.running)
                await self._admission.ends(turn)
                if session.running.outdated:
                    await self._publisher.withdraw(turn)
                await self._call_others(called_turns, withdrawn=session.running.outdated)
                ended_turn, session.running = session.running, None
                self._feed.woke()
                unread_turns = await self._unread_turns(ended_turn)
                session.waiting.extendleft(reversed(unread_turns))
        finally:
            del self._sessions[key]
            self._known.difference_update(session.taken)

    async def _gather(self, session: _Session) -> None:
        """Rapid messages are one question: wait until nobody adds to it."""
        while (
            left := session.last_question_at + session.membership.gather - self._clock.monotonic()
        ) > 0:
            await self._clock.sleep(left)

    async def _next(self, session: _Session) -> StoredTurn:
        turn = session.waiting.popleft()
        while session.waiting and (session.membership.busy == "merge" or session.membership.gather):
            later = session.waiting.popleft()
            await self._store.set_turn(turn.id, "done", error=f"answered with {later.id}")
            turn = later
        return turn

    async def _answer(self, running: _Running) -> Sequence[NewTurn]:
        """Run the turn. Returns the turns that it calls, which are in the store."""
        try:
            return await self._runner.run(running.turn, running.inputs)
        except Exception as error:
            log.exception("turn_crashed", turn=running.turn.id, agent=running.turn.agent)
            await self._store.set_turn(running.turn.id, "failed", error=str(error))
            return ()

    async def _call_others(self, called_turns: Sequence[NewTurn], *, withdrawn: bool) -> None:
        """Ask the agents that an answer calls, unless the answer is withdrawn."""
        for new_turn in called_turns:
            if withdrawn:
                await self._store.set_turn(new_turn.id, "done", error="the question was changed")
            else:
                await self.take(new_turn)

    async def _unread_turns(self, running: _Running) -> Sequence[StoredTurn]:
        """Return the turns whose questions the agent did not read: they are asked as others are."""
        unread = running.inputs.unread()
        unread_turns: list[StoredTurn] = []
        for steered, turn in running.steered:
            if any(steered is value for value in unread):
                unread_turns.append(turn)
            else:
                await self._store.set_turn(turn.id, "done", error=f"told to {running.turn.id}")
        return unread_turns


def _asks(turn: StoredTurn, question: MessageId) -> bool:
    return question in (turn.trigger, turn.origin)


def _key(turn: StoredTurn) -> str:
    return turn.session or join_key(turn.agent, turn.room)
