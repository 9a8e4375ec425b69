"""A room's newest messages -> a Mermaid sequence diagram of who sent what to whom."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from bridge.app.rooms.channel_lookup import remembered_name
from bridge.content.text.split import cut_text
from bridge.errors import StoreError
from bridge.model import ChannelRef, MessageId
from bridge.model.outbox_records import OperationRecord
from bridge.model.store_status import Explanation
from bridge.ports.store.whole import Store
from bridge.store.conversations import excerpt_of

_EXCERPT = 40
_ARROWS = {"done": "->>", "waiting": "-)", "sending": "-)", "cancelled": "--x"}
_LOST = "-x"
_ARROW_LABELS = {
    "post_message": "",
    "edit_message": "edit: ",
    "delete_message": "delete: ",
    "add_reaction": "reaction ",
    "remove_reaction": "reaction taken back ",
    "pin_message": "pin: ",
    "unpin_message": "unpin: ",
}


async def sequence_of(store: Store, room: str, newest: int, accounts: Mapping[str, str]) -> str:
    """A Mermaid diagram of the newest messages of a room.

    `accounts` are the configured accounts with their platforms, whose names of channels are shown.
    Raises StoreError if the room has no messages.
    """
    conversation_id = await room_named(store, room)
    conversation = await store.conversation(conversation_id, newest=newest)
    found_explanations = [
        await store.explain(MessageId(message.message_id)) for message in conversation.messages
    ]
    explanations = [explanation for explanation in found_explanations if explanation is not None]
    titles: dict[ChannelRef, str] = {}
    for channel in dict.fromkeys(_channels(explanations)):
        mine = [name for name, platform in accounts.items() if platform == channel.platform]
        if name := await remembered_name(channel.key, mine, store):
            titles[channel] = f"{channel.platform} #{name}"
    return "\n".join(_Diagram(titles).lines(explanations))


async def room_named(store: Store, room: str) -> UUID:
    """The id of a room's conversation. Raises StoreError if it has no messages."""
    rooms = {
        conversation.name: conversation.id
        for conversation, _ in await store.conversations()
        if conversation.kind == "room"
    }
    if room not in rooms:
        names = ", ".join(sorted(rooms)) or "none"
        raise StoreError(
            f"There are no messages in a room {room!r} yet; rooms with messages: {names}"
        )
    return rooms[room]


def _channels(explanations: Sequence[Explanation]) -> Iterator[ChannelRef]:
    for explanation in explanations:
        if explanation.stored.place is not None:
            yield explanation.stored.place.channel
        yield from (record.operation.channel for record in explanation.operations)


@dataclass
class _Diagram:
    """Builds the diagram; participants get short names in the order of their appearance."""

    titles: Mapping[ChannelRef, str]
    names: dict[str, str] = field(default_factory=dict[str, str])

    def lines(self, explanations: Sequence[Explanation]) -> list[str]:
        arrows = [line for explanation in explanations for line in self._message(explanation)]
        participants = [f"    participant {a} as {safe(name)}" for name, a in self.names.items()]
        return ["sequenceDiagram", "    participant B as bridge", *participants, *arrows]

    def _message(self, explained: Explanation) -> Iterator[str]:
        stored = explained.stored
        words = safe(cut_text(excerpt_of(stored.message), _EXCERPT))
        if stored.place is not None:
            author = safe(stored.author.name)
            yield f"    {self._short(stored.place.channel)}->>B: {author}: {words}"
        else:
            yield f"    Note over B: {safe(stored.author.name)}: {words}"
        for record in explained.operations:
            yield self._operation(record, words)

    def _operation(self, record: OperationRecord, words: str) -> str:
        operation = record.operation
        arrow = _ARROWS.get(record.state, _LOST)
        emoji = getattr(operation, "emoji", "")
        text = f"{_ARROW_LABELS.get(operation.type, '')}{safe(emoji)}{'' if emoji else words}"
        state = "" if record.state == "done" else f" ({record.state})"
        losses = f" [{len(record.losses)} lost]" if record.losses else ""
        return f"    B{arrow}{self._short(operation.channel)}: {text}{state}{losses}"

    def _short(self, channel: ChannelRef) -> str:
        name = self.titles.get(channel) or f"{channel.platform} {channel.channel}"
        return self.names.setdefault(name, f"C{len(self.names) + 1}")


def safe(text: str) -> str:
    """The text for a line of Mermaid: its syntax as entities, without invisible characters."""
    line = " ".join(re.sub(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]", " ", text).split())
    return re.sub(r"[#;<>{}%]", lambda sign: f"#{ord(sign.group())};", line)
