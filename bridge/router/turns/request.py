"""What an agent is asked: the turn, with what it may know of the room."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pydantic import JsonValue

from bridge.model.archive_records import StoredMessage
from bridge.model.times import datetime_of
from bridge.model.turn_records import StoredTurn
from bridge.model.turns import Turn
from bridge.ports.store.conversations import ConversationStore
from bridge.ports.store.messages import MessageStore
from bridge.ports.store.reading import ReadingStore
from bridge.ports.store.turns import TurnStore
from bridge.ports.tools import Tool
from bridge.router.rooms.rooms import AgentMembership, Room
from bridge.router.runtime.timeouts import Timeouts
from bridge.router.turns.history import History
from bridge.router.turns.tool_catalogue import tool_metadata


class _AskingStore(ConversationStore, MessageStore, ReadingStore, TurnStore, Protocol):
    """What `TurnRequests` needs of the store."""


class TurnRequests:
    """Turns as agents see them."""

    def __init__(self, store: _AskingStore, policy: Timeouts) -> None:
        self._store = store
        self._history = History(store, policy)

    async def turn(
        self, stored: StoredTurn, room: Room, trigger: StoredMessage, tools: Sequence[Tool] = ()
    ) -> Turn:
        """`tools` are described in the conversation's metadata."""
        membership = room.membership(stored.agent) or AgentMembership(stored.agent)
        question = await self._store.message(stored.trigger) or trigger
        conversation = await self._history.of(
            room, membership, stored.id, question.message, trigger
        )
        if tools:
            described = [tool_metadata(tool) for tool in tools]
            metadata = {**(conversation.metadata or {}), "tools": described}
            conversation = conversation.model_copy(update={"metadata": metadata})
        return Turn(
            id=stored.id,
            agent=stored.agent,
            room=stored.room,
            trigger=stored.trigger,
            asked_at=datetime_of(trigger.time),
            conversation=conversation,
            platforms=tuple(dict.fromkeys(m.channel.platform for m in room.listeners())),
        )

    async def kept(
        self, stored: StoredTurn, room: Room, trigger: StoredMessage
    ) -> dict[str, JsonValue]:
        """What the agent keeps for itself, before this turn."""
        membership = room.membership(stored.agent) or AgentMembership(stored.agent)
        return await self._history.kept(room, membership, stored.id, trigger)

    async def noted(self, turn: Turn, room: Room) -> dict[str, JsonValue]:
        """What stands with the answer for the next turn, in `metadata.agents.<name>`."""
        return await self._history.told(room, turn.conversation)
