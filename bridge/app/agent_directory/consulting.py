"""An agent, or a program, asks an agent behind the scenes: the room sees nothing of it, and the
archive keeps question and answer for the two alone."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import NAMESPACE_URL, uuid4, uuid5

from pydantic import JsonValue

from bridge.app.agent_directory.directory import Directory
from bridge.content.messages.agent_parts import ProposedAgent, proposed_by
from bridge.content.messages.parts import message_text
from bridge.content.messages.private_state import AGENTS
from bridge.errors import AgentError, StoreError
from bridge.model import ActorId, MessageId, Person, RoomId, TurnId
from bridge.model.admission import Admission
from bridge.model.archive_records import NewMessage, Timeline, View
from bridge.model.refs import join_key
from bridge.model.times import datetime_of
from bridge.model.turns import Turn, TurnDone, TurnFailed
from bridge.ports.agent import Agent
from bridge.ports.clock import Clock
from bridge.ports.store.admissions import AdmissionStore
from bridge.ports.store.conversations import ConversationStore
from bridge.ports.store.messages import MessageStore
from bridge.ports.tools import ToolUse
from bridge.router.rooms.rooms import Room
from bridge.router.turns.answer import Answer
from bridge.router.turns.visitors import Visitors
from bridge.runtime.never import never
from bridge.uacs import Actor, Conversation, Message, TextPart, to_timestamp

_SECONDS = 60.0  # for one answer
_REMEMBERED = 20  # earlier questions and answers of the two that are sent along
_KIND = "consulting"


@dataclass(frozen=True)
class Consulted:
    """What the other agent answered, and the agents that it proposes."""

    agent: str
    text: str
    proposed: tuple[ProposedAgent, ...]


class _ConsultingStore(AdmissionStore, ConversationStore, MessageStore, Protocol):
    """What `Consultations` needs of the store."""


class Consultations:
    """Questions of agents to others: those of the room by name, and those at addresses that may be
    invited. Agents of the room answer an agent as they answer programs: by their lists of who may
    ask, and within quotas. `open_agent` gives the agent at an address, and raises ConfigError for
    one that may not."""

    def __init__(
        self,
        store: _ConsultingStore,
        clock: Clock,
        directory: Directory,
        agents: Mapping[str, Agent],
        room_of: Callable[[RoomId], Room | None],
        open_agent: Callable[[str], Awaitable[Agent]],
        visitors: Callable[[], Visitors],
    ) -> None:
        self._store = store
        self._clock = clock
        self._directory = directory
        self._agents = agents
        self._room_of = room_of
        self._open_agent = open_agent
        self._visitors = visitors

    async def ask(self, use: ToolUse, who: str, question: str) -> Consulted:
        """Ask an agent, and return its answer.

        Raises:
            AgentError: there is no such agent here, or it gave no answer.
            ConfigError: agents at its address may not be invited.
            StoreError: the archive cannot be read or written.
        """
        room = self._room(use.room)
        agent = await self._agent(use, room, who)
        asker = Person(id=ActorId(f"agent:{use.agent}"), name=use.agent, bot=True)
        question_id, turn = f"{use.turn}/{uuid4().hex[:8]}", f"{use.turn}.{uuid4().hex[:8]}"
        asked = self._question(use, f"agent:{use.agent}:{question_id}", question)
        answer = self._answer(agent.name, question_id)
        await self._exchange(room, agent, asker, asked, TurnId(turn), answer)
        if not answer.has_content:
            raise AgentError(f"{agent.name} said nothing")
        said = answer.message()
        await self._keep(room, asker, said, agent.name)
        proposed = tuple(one for part in said.content for one in proposed_by(part))
        return Consulted(agent.name, message_text(said)[0], proposed)

    async def answer_aside(
        self, room_id: RoomId, who: str, asker: Person, question: Message
    ) -> MessageId:
        """Let an agent of a room answer what a program says to it alone. A question that was
        answered before is not asked again; where the agent fails, the answer says why. Returns the
        id of the answer, which the archive has.

        Raises:
            AgentError: the room or the agent is not there any more.
            StoreError: the archive cannot be read or written.
        """
        room = self._room(room_id)
        if room.membership(who) is None or who not in self._agents:
            raise AgentError(f"there is no agent {who!r} in this room")
        agent = self._agents[who]
        answer = self._answer(who, question.message_id)
        if await self._store.message(answer.id) is None:
            try:
                await self._exchange(
                    room, agent, asker, question, TurnId(f"{question.message_id}.aside"), answer
                )
            except AgentError as error:
                answer.fail(error.public)
            if not answer.has_content:
                answer.fail("it said nothing")
            await self._keep(room, asker, answer.message(), who)
        return answer.id

    async def _exchange(
        self, room: Room, agent: Agent, asker: Person, asked: Message, turn: TurnId, answer: Answer
    ) -> None:
        """Keep a question, and let the agent answer it with what the two have said before."""
        talk = _talk(room, _between(asker, agent.name))
        before = await self._before(talk, _between(asker, agent.name))
        earlier = tuple(m for m in before if m.message_id != asked.message_id)
        await self._keep(room, asker, asked, agent.name)
        state = _state(earlier, agent.name)
        answer.note(state)
        asking = self._turn(room.id, agent.name, talk, (*earlier, asked), state, turn)
        await self._answered(agent, asking, answer)

    def _room(self, room_id: RoomId) -> Room:
        room = self._room_of(room_id)
        if room is None:
            raise AgentError("the room is not there any more")
        return room

    def _answer(self, agent: str, question_id: str) -> Answer:
        return Answer(MessageId(f"agent:{agent}:{question_id}"), agent, self._clock.time())

    async def _agent(self, use: ToolUse, room: Room, who: str) -> Agent:
        name = who.strip().removeprefix("@")
        if name == use.agent:
            raise AgentError("an agent does not ask itself")
        if room.membership(name) is not None and name in self._agents:
            asker = ActorId(f"agent:{use.agent}")
            refuses = self._visitors().refuses_aside
            if refusal := await refuses(room.id, name, asker, bot=False, count=True):
                raise AgentError(f"{name} does not answer: {refusal}")
            return self._agents[name]
        url = name if "://" in name else ""
        if not url and (manifest := await self._directory.describe(name)) is not None:
            url = manifest.identification.service_url
        if not url:
            raise AgentError(f"there is no agent {who!r} in this room, and none at such an address")
        return await self._open_agent(url)

    async def _before(
        self, talk: Timeline, between: tuple[ActorId, ActorId]
    ) -> tuple[Message, ...]:
        """What the two have said to one another, oldest first."""
        view = View(readers=between)
        try:
            found = await self._store.conversation(talk.id, newest=_REMEMBERED, view=view)
        except StoreError:  # nothing yet
            return ()
        return found.messages

    def _question(self, use: ToolUse, own_id: str, question: str) -> Message:
        return Message(
            message_id=own_id,
            timestamp=to_timestamp(datetime_of(self._clock.time())),
            actor=Actor(id=f"agent:{use.agent}", role="assistant", name=use.agent),
            content=(TextPart(text=question),),
        )

    def _turn(
        self,
        room: RoomId,
        agent: str,
        talk: Timeline,
        messages: tuple[Message, ...],
        state: Mapping[str, JsonValue],
        turn: TurnId,
    ) -> Turn:
        now = datetime_of(self._clock.time())
        conversation = Conversation(
            conversation_id=str(talk.id),
            created_at=messages[0].timestamp,
            updated_at=messages[-1].timestamp,
            messages=messages,
        )
        if state:
            metadata: Any = {AGENTS: {agent: dict(state)}}
            conversation = conversation.model_copy(update={"metadata": metadata})
        trigger = MessageId(messages[-1].message_id)
        return Turn(
            id=turn, agent=agent, room=room, trigger=trigger, asked_at=now,
            conversation=conversation, private=True,
        )  # fmt: skip

    async def _answered(self, agent: Agent, turn: Turn, answer: Answer) -> None:
        try:
            async with (
                asyncio.timeout(_SECONDS), aclosing(agent.run(turn, never())) as events,
            ):  # fmt: skip
                async for event in events:
                    if isinstance(event, TurnFailed):
                        raise AgentError(f"{agent.name} could not answer: {event.reason}")
                    if isinstance(event, TurnDone):
                        return
                    answer.take(event)
        except TimeoutError:
            raise AgentError(f"{agent.name} did not answer within {_SECONDS:g} s") from None

    async def _keep(self, room: Room, asker: Person, message: Message, agent: str) -> None:
        """Archive a question or an answer for the two alone, once."""
        between = _between(asker, agent)
        own = Person(id=ActorId(f"agent:{agent}"), name=agent, bot=True)
        new = NewMessage(
            message=message,
            author=asker if message.actor.id != own.id else own,
            time=self._clock.time(),
            audience=between,
        )
        timelines = (room.timeline, _talk(room, between))
        await self._store.admit(Admission(outcome="consulted", message=new, timelines=timelines))


def _between(asker: Person, agent: str) -> tuple[ActorId, ActorId]:
    return (asker.id, ActorId(f"agent:{agent}"))


def _talk(room: Room, between: tuple[ActorId, ActorId]) -> Timeline:
    """The conversation of the two behind a room."""
    name = join_key(_KIND, str(room.id), *between)
    return Timeline(uuid5(NAMESPACE_URL, name), "thread", name, {"kind": _KIND})


def _state(messages: tuple[Message, ...], agent: str) -> Mapping[str, JsonValue]:
    """What the agent kept for itself at its last answer."""
    for message in reversed(messages):
        kept = (message.metadata or {}).get(AGENTS)
        if isinstance(kept, dict) and isinstance(own := kept.get(agent), dict):
            return own
    return {}
