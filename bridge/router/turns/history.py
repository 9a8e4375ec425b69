"""What was said before a question, as much of it as its agent reads: page by page, newest first,
until the agent's budget of tokens is full."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Protocol

from pydantic import JsonValue

from bridge.content.messages.conversation_window import Window
from bridge.content.messages.metadata import KEY, without_notices
from bridge.content.messages.private_state import AGENTS, agent_state, state_of, view_of_agent
from bridge.model import MessageId, TurnId
from bridge.model.archive_records import Position, StoredMessage
from bridge.ports.store.conversations import ConversationStore
from bridge.ports.store.messages import MessageStore
from bridge.ports.store.reading import ReadingStore
from bridge.ports.store.turns import TurnStore
from bridge.router.rooms.rooms import AgentMembership, Room
from bridge.router.runtime.timeouts import Timeouts
from bridge.router.turns.sessions import session_of, view_of
from bridge.router.turns.thread_context import ThreadContext
from bridge.uacs import Conversation, Message, to_datetime


class _HistoryStore(ConversationStore, MessageStore, ReadingStore, TurnStore, Protocol):
    """What `History` needs of the store."""


class History:
    """Reads rooms back for agents. What it costs depends on the budget, never on how much was said
    in the room: at most `Timeouts.history_rows` places are looked at."""

    def __init__(self, store: _HistoryStore, policy: Timeouts) -> None:
        self._store = store
        self._policy = policy

    async def of(
        self,
        room: Room,
        membership: AgentMembership,
        turn: TurnId,
        question: Message,
        asked: StoredMessage,
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
        threads = ThreadContext(self._store, room.conversation, view_of(room, membership, asked))
        looked_at = 0
        if window.take(*await threads.tell([question])):
            looked_at = await self._read_back(
                window, threads, room, membership, question, asked, position.posted
            )
        shown = threads.settle(window.messages())
        messages = tuple(view_of_agent(one, membership.agent) for one in shown)
        last = await self._last_answer(session_of(membership, room.id, asked), turn)
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

    async def told(self, room: Room, conversation: Conversation) -> dict[str, JsonValue]:
        """What is noted with an answer, for the next turn: how much of the room its agent knew."""
        position = await self._store.position(room.conversation)
        about: Any = (conversation.metadata or {}).get(KEY)
        return {KEY: {"said": position.posted, "changed": about["history"]["changed"]}}

    async def kept(
        self, room: Room, membership: AgentMembership, turn: TurnId, asked: StoredMessage
    ) -> dict[str, JsonValue]:
        """What the agent keeps for itself since its last answer in this session."""
        last = await self._last_answer(session_of(membership, room.id, asked), turn)
        return agent_state(None if last is None else last.metadata, membership.agent)

    async def _last_answer(self, session: str, turn: TurnId) -> Message | None:
        known = await self._store.last_answer(session, before=turn)
        stored = None if known is None else await self._store.message(known)
        return None if stored is None else stored.message

    async def _read_back(
        self,
        window: Window,
        threads: ThreadContext,
        room: Room,
        membership: AgentMembership,
        question: Message,
        asked: StoredMessage,
        said: int,
    ) -> int:
        """How many places were looked at, of those up to `said`. What the agent answered while this
        question waited stands before it: turns of a session know of one another."""
        view = threads.view
        since = (
            None
            if membership.before is None
            else _moment(asked) - timedelta(seconds=membership.before)
        )
        question_id = MessageId(question.message_id)
        before = await self._store.number_of(room.conversation, question_id)
        later = 0 if before is None else said - before
        looked_at = 0
        if later:
            page = await self._store.past(
                room.conversation, rows=min(later, self._policy.history_page), view=view
            )
            looked_at = page.looked_at
            own = [one for one in page.messages if one.actor.id == window.reader]
            if not _take(window, await threads.tell(own), question_id, since):
                return looked_at
        while looked_at < self._policy.history_rows:
            page = await self._store.past(
                room.conversation, rows=self._policy.history_page, before=before, view=view
            )
            looked_at += page.looked_at
            told = await threads.tell(page.messages)
            if not _take(window, told, question_id, since):
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
            case {"said": int(said), "changed": int(changed)}:
                known = Position(said, changed)
                author = f"agent:{membership.agent}"
                return not await self._store.changed_since(room.conversation, known, author)
            case _:
                return None


class _ShownMeanwhileStore(ConversationStore, MessageStore, Protocol):
    """What `shown_meanwhile` needs of the store."""


async def shown_meanwhile(
    store: _ShownMeanwhileStore,
    room: Room,
    membership: AgentMembership,
    asked: StoredMessage,
    before: Sequence[Message],
    message: Message,
) -> Message:
    """A message that is said while the agent works, as the agent is shown it. `before` are the
    question and what was said since, `asked` is what a person said that led to the question."""
    threads = ThreadContext(store, room.conversation, view_of(room, membership, asked))
    told = await threads.tell([*before, message])
    return view_of_agent(threads.settle(told)[-1], membership.agent)


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
        said = without_notices(message)
        if said is not None and not window.take(said):
            return False
    return younger or since is None


def _moment(asked: StoredMessage) -> datetime:
    return to_datetime(asked.message.timestamp)


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
