"""What an agent is asked: the turn, with what it may know of the room."""

from __future__ import annotations

from collections.abc import Sequence

from bridge.model.turns import Turn
from bridge.ports.clock import datetime_of
from bridge.ports.store import Store, StoredMessage, StoredTurn
from bridge.ports.tools import Tool
from bridge.router.policy import Policy
from bridge.router.rooms import Room
from bridge.router.sessions import view_of


class Asking:
    """Turns as agents see them."""

    def __init__(self, store: Store, policy: Policy) -> None:
        self._store = store
        self._policy = policy

    async def turn(
        self, stored: StoredTurn, room: Room, trigger: StoredMessage, tools: Sequence[Tool] = ()
    ) -> Turn:
        """`tools` are described in the conversation's metadata."""
        seat = room.seat(stored.agent)
        view = None if seat is None else view_of(room, seat, trigger)
        shown = self._policy.history_shown
        conversation = await self._store.conversation(room.conversation, newest=shown, view=view)
        upto = [m.message_id for m in conversation.messages]
        if stored.trigger in upto:
            messages = conversation.messages[: upto.index(stored.trigger) + 1]
            conversation = conversation.model_copy(update={"messages": messages})
        if tools:
            described = [tool.described() for tool in tools]
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
