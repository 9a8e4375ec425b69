"""What an agent is asked: the turn, with the messages before the question, as many as the agent
reads: page by page, newest first, until the agent's token limit is full.

`ThreadContext` says which thread each of these messages is in and what it answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, Protocol
from uuid import UUID

from pydantic import JsonValue

from bridge.content.markdown import markdown_to_text
from bridge.content.messages.conversation_window import Window
from bridge.content.messages.metadata import (
    KEY,
    InThread,
    RepliesTo,
    read_bridge_metadata,
    with_thread_and_reply,
    without_notices,
)
from bridge.content.messages.parts import message_text
from bridge.content.messages.private_state import AGENTS, agent_state, state_of, view_of_agent
from bridge.content.text.plain import text_to_plain
from bridge.content.text.split import cut_text
from bridge.model import MessageId, TurnId
from bridge.model.archive_records import Position, Relation, StoredMessage, View
from bridge.model.times import datetime_of
from bridge.model.turn_records import StoredTurn
from bridge.model.turns import Turn
from bridge.ports.store.conversations import ConversationStore
from bridge.ports.store.messages import MessageStore
from bridge.ports.store.reading import ReadingStore
from bridge.ports.store.turns import TurnStore
from bridge.ports.tools import Tool
from bridge.router.rooms.programs import aside_of, is_outside
from bridge.router.rooms.rooms import AgentMembership, Room
from bridge.router.runtime.timeouts import Timeouts
from bridge.router.turns.sessions import TurnContext, session_of, view_of
from bridge.router.turns.tools import tool_metadata
from bridge.uacs import Conversation, Message, to_datetime

_WORDS = 48  # characters of a message by which it is known again


class _HistoryStore(ConversationStore, MessageStore, ReadingStore, TurnStore, Protocol):
    """What `History` needs of the store."""


class History:
    """Reads rooms for agents. The cost depends on the agent's token limit, never on the length
    of the room: at most `Timeouts.history_rows` messages are looked at."""

    def __init__(self, store: _HistoryStore, timeouts: Timeouts) -> None:
        self._store = store
        self._timeouts = timeouts

    async def turn(self, context: TurnContext, tools: Sequence[Tool] = ()) -> Turn:
        """Return the turn as its agent sees it, the `tools` described in the metadata of its
        conversation. Raises StoreError."""
        stored, room, origin = context.turn, context.room, context.origin
        membership = room.membership(stored.agent) or AgentMembership(stored.agent)
        question = await self._store.message(stored.trigger) or origin
        conversation = await self.of(room, membership, stored.id, question.message, origin)
        if question.place is not None and is_outside(question.place.channel):
            conversation = await self._with_aside(conversation, stored)
        if tools:
            described = [tool_metadata(tool) for tool in tools]
            metadata = {**(conversation.metadata or {}), "tools": described}
            conversation = conversation.model_copy(update={"metadata": metadata})
        return Turn(
            id=stored.id,
            agent=stored.agent,
            room=stored.room,
            trigger=stored.trigger,
            asked_at=datetime_of(origin.time),
            conversation=conversation,
            platforms=tuple(dict.fromkeys(m.channel.platform for m in room.listeners())),
        )

    async def _with_aside(self, conversation: Conversation, turn: StoredTurn) -> Conversation:
        """The conversation with what a program said to the agent alone, before its question."""
        aside = await self._store.message(aside_of(turn.trigger, turn.agent))
        if aside is None:
            return conversation
        *before, question = conversation.messages
        messages = (*before, aside.message, question)
        return conversation.model_copy(update={"messages": messages})

    async def of(
        self,
        room: Room,
        membership: AgentMembership,
        turn: TurnId,
        question: Message,
        context: StoredMessage,
    ) -> Conversation:
        """The room as the agent is shown it, oldest first, the question last, with what it keeps
        for itself since its last answer in this session (`metadata.agents.<name>`). `asked` is what
        a person said that led to it.

        `metadata.uacs_bridge.history` says how it was put together: `budget` and `tokens`; `cut`
        where something older is left out; `unchanged`, whether all that the agent knew when it last
        answered still stands as it did, None where it has not answered; `changed`, how far the
        changes of the room were known.
        """
        position = await self._store.position(room.conversation)
        whole = await self._store.conversation(room.conversation, newest=0)
        window = Window(membership.history_tokens, f"agent:{membership.agent}")
        threads = ThreadContext(self._store, room.conversation, view_of(room, membership, context))
        looked_at = 0
        if window.take(*await threads.with_context([question])):
            looked_at = await self._read_back(
                window, threads, room, membership, question, context, position.posted
            )
        messages_shown = threads.settle(window.messages())
        messages = tuple(view_of_agent(message, membership.agent) for message in messages_shown)
        last = await self._last_answer(session_of(membership, room.id, context), turn)
        history: dict[str, JsonValue] = {
            "budget": membership.history_tokens,
            "tokens": window.tokens,
            "cut": window.cut,
            "looked_at": looked_at,
            "changed": position.changed,
            "unchanged": await self._is_unchanged(room, membership, last),
        }
        state = agent_state(None if last is None else last.metadata, membership.agent)
        return _with_history(whole, messages, history, {membership.agent: state} if state else {})

    async def agent_state(self, context: TurnContext) -> dict[str, JsonValue]:
        """Return what the agent has kept for itself since its last answer in this session. Raises
        StoreError."""
        turn, room = context.turn, context.room
        membership = room.membership(turn.agent) or AgentMembership(turn.agent)
        session = session_of(membership, room.id, context.origin)
        last = await self._last_answer(session, turn.id)
        return agent_state(None if last is None else last.metadata, membership.agent)

    async def _last_answer(self, session: str, turn: TurnId) -> Message | None:
        message_id = await self._store.last_answer(session, before=turn)
        stored = None if message_id is None else await self._store.message(message_id)
        return None if stored is None else stored.message

    async def _read_back(
        self,
        window: Window,
        threads: ThreadContext,
        room: Room,
        membership: AgentMembership,
        question: Message,
        context: StoredMessage,
        until: int,
    ) -> int:
        """The number of messages that were read, of those before `until`. Answers that the agent
        posted while this question waited go before it: turns of a session know of one another."""
        view = threads.view
        since = (
            None
            if membership.before is None
            else _moment(context) - timedelta(seconds=membership.before)
        )
        question_id = MessageId(question.message_id)
        before = await self._store.number_of(room.conversation, question_id)
        later = 0 if before is None else until - before
        looked_at = 0
        if later:
            page = await self._store.past(
                room.conversation, rows=min(later, self._timeouts.history_page), view=view
            )
            looked_at = page.looked_at
            own = [message for message in page.messages if message.actor.id == window.reader]
            if not _take(window, await threads.with_context(own), question_id, since):
                return looked_at
        while looked_at < self._timeouts.history_rows:
            page = await self._store.past(
                room.conversation, rows=self._timeouts.history_page, before=before, view=view
            )
            looked_at += page.looked_at
            placed = await threads.with_context(page.messages)
            if not _take(window, placed, question_id, since):
                break
            if page.first is None:
                return looked_at
            before = page.first
        window.cut = True
        return looked_at

    async def _is_unchanged(
        self, room: Room, membership: AgentMembership, last: Message | None
    ) -> bool | None:
        match None if last is None else state_of(last.metadata, membership.agent).get(KEY):
            case {"said": int(posted), "changed": int(changed)}:
                position = Position(posted, changed)
                author = f"agent:{membership.agent}"
                return not await self._store.changed_since(room.conversation, position, author)
            case _:
                return None


def known_until(position: Position, conversation: Conversation) -> dict[str, JsonValue]:
    """Return how much of the room an agent knew that was shown this conversation, and that ends at
    this position: it is noted with its answer for the next turn (`metadata.agents.<name>`)."""
    about: Any = (conversation.metadata or {}).get(KEY)
    return {KEY: {"said": position.posted, "changed": about["history"]["changed"]}}


class _SteeredStore(ConversationStore, MessageStore, Protocol):
    """What `shown_while_working` needs of the store."""


async def shown_while_working(
    store: _SteeredStore,
    room: Room,
    membership: AgentMembership,
    context: StoredMessage,
    before: Sequence[Message],
    message: Message,
) -> Message:
    """Return a message that came while the agent works, as the agent is shown it. `before` are the
    question and the messages since; `question` is the message of a person that led to it. Raises
    StoreError."""
    threads = ThreadContext(store, room.conversation, view_of(room, membership, context))
    placed = await threads.with_context([*before, message])
    return view_of_agent(threads.settle(placed)[-1], membership.agent)


def _take(
    window: Window, page: Sequence[Message], question: MessageId, since: datetime | None
) -> bool:
    """Whether there may be more to take behind this page."""
    younger = not page
    for message in page:
        if message.message_id == question:
            continue
        if since is not None and to_datetime(message.timestamp) < since:
            continue
        younger = True
        visible = without_notices(message)
        if visible is not None and not window.take(visible):
            return False
    return younger or since is None


def _moment(context: StoredMessage) -> datetime:
    return to_datetime(context.message.timestamp)


def _with_history(
    conversation: Conversation,
    messages: tuple[Message, ...],
    history: dict[str, JsonValue],
    agents: dict[str, JsonValue],
) -> Conversation:
    metadata = dict(conversation.metadata or {})
    about = metadata.get(KEY)
    metadata[KEY] = {**(about if isinstance(about, dict) else {}), "history": history}
    metadata.pop("tools", None)  # those of all agents of the room
    if agents:
        metadata[AGENTS] = agents
    return conversation.model_copy(update={"messages": messages, "metadata": metadata})


# --- threads ------------------------------------------------------------------------------------


class _ThreadContextStore(ConversationStore, MessageStore, Protocol):
    """What `ThreadContext` needs of the store."""


@dataclass
class ThreadContext:
    """Tells for the messages of one turn which thread each is in, and what it answers. `view` is
    the part of the room that the agent is shown."""

    store: _ThreadContextStore
    conversation: UUID
    view: View
    _relations: dict[str, Relation] = field(default_factory=dict[str, Relation])
    _messages: dict[str, Message | None] = field(default_factory=dict[str, "Message | None"])

    async def with_context(self, messages: Sequence[Message]) -> list[Message]:
        """Return the messages with all that is known of their thread and of what they answer.
        Raises StoreError."""
        for message in messages:
            self._messages[message.message_id] = message
        ids = [MessageId(message.message_id) for message in messages]
        self._relations.update((await self.store.relations(ids)).items())
        return [await self._placed(message) for message in messages]

    def settle(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        """Return the messages without what their order says by itself: their thread where all are
        in the same one, and what a message answers where it stands right behind it. Threads whose
        first words are alike, or may not be seen, get a digest of their root's id."""
        threads = {self._thread_of(message) for message in messages}
        ambiguous = _ambiguous_words(messages)
        settled: list[Message] = []
        before = ""
        for message in messages:
            additions, _ = read_bridge_metadata(message)
            thread = additions.in_thread if len(threads) > 1 else None
            if thread is not None and thread.words in ambiguous:
                words = f"{thread.words} #{_digest(thread.root)}".strip()
                thread = thread.model_copy(update={"words": words})
            reply = additions.replies_to
            if reply is not None and (reply.message == before or self._is_root(message, reply)):
                reply = None
            settled.append(with_thread_and_reply(message, thread, reply))
            before = message.message_id
        return tuple(settled)

    def _thread_of(self, message: Message) -> str:
        relation = self._relations.get(message.message_id)
        return (relation.root if relation else None) or message.message_id

    def _is_root(self, message: Message, reply: RepliesTo) -> bool:
        return reply.message == self._thread_of(message)

    async def _placed(self, message: Message) -> Message:
        relation = self._relations.get(message.message_id) or Relation()
        thread, reply = None, None
        if relation.root is not None and relation.root != message.message_id:
            root_message = await self._visible(relation.root)
            thread = InThread(root=relation.root, words=_words(root_message))
        if relation.reply_to is not None:
            target = await self._visible(relation.reply_to)
            author = "" if target is None else target.actor.name or target.actor.id
            reply = RepliesTo(message=relation.reply_to, author=author, words=_words(target))
        return with_thread_and_reply(message, thread, reply)

    async def _visible(self, message_id: MessageId) -> Message | None:
        """The message, if the agent may see it and it stands."""
        if message_id not in self._messages:
            number = await self.store.number_of(self.conversation, message_id)
            self._messages[message_id] = None
            if number is not None:
                past = await self.store.past(
                    self.conversation, rows=1, before=number + 1, view=self.view
                )
                self._messages[message_id] = past.messages[0] if past.messages else None
        return self._messages[message_id]


def _ambiguous_words(messages: Sequence[Message]) -> set[str]:
    """First words that several threads have, and those of none."""
    roots: dict[str, set[str]] = {}
    for message in messages:
        if (thread := read_bridge_metadata(message)[0].in_thread) is not None:
            roots.setdefault(thread.words, set()).add(thread.root)
    return {words for words, found in roots.items() if len(found) > 1 or not words}


def _digest(root: str) -> str:
    return sha256(root.encode()).hexdigest()[:4]


def _words(message: Message | None) -> str:
    """Its first words in one line, none of them the bridge's; empty where it may not be seen."""
    visible = None if message is None else without_notices(message)
    if visible is None:
        return ""
    document = markdown_to_text(message_text(visible)[0])
    return cut_text(" ".join(text_to_plain(document).split()), _WORDS)
