"""Which thread a message is in and what it answers, as an agent is told it.

It stands in the metadata of the messages of a turn (`uacs_bridge.in_thread`, `replies_to`), is made
anew for each turn, and holds no word of a message that the agent may not see.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Protocol
from uuid import UUID

from bridge.content.markdown import markdown_to_text
from bridge.content.messages.metadata import (
    InThread,
    RepliesTo,
    read_bridge_metadata,
    with_thread_and_reply,
    without_notices,
)
from bridge.content.messages.parts import message_text
from bridge.content.text.plain import text_to_plain
from bridge.content.text.split import cut_text
from bridge.model import MessageId
from bridge.model.archive_records import Relation, View
from bridge.ports.store.conversations import ConversationStore
from bridge.ports.store.messages import MessageStore
from bridge.uacs import Message

_WORDS = 48  # characters of a message by which it is known again


class _ThreadsToldStore(ConversationStore, MessageStore, Protocol):
    """What `ThreadContext` needs of the store."""


@dataclass
class ThreadContext:
    """Of one turn. `view` is what of the room the agent is shown."""

    store: _ThreadsToldStore
    conversation: UUID
    view: View
    _relations: dict[str, Relation] = field(default_factory=dict[str, Relation])
    _seen: dict[str, Message | None] = field(default_factory=dict[str, "Message | None"])

    async def tell(self, messages: Sequence[Message]) -> list[Message]:
        """The messages with all that is known of where they belong."""
        for one in messages:
            self._seen[one.message_id] = one
        ids = [MessageId(one.message_id) for one in messages]
        self._relations.update((await self.store.relations(ids)).items())
        return [await self._told(one) for one in messages]

    def settle(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        """Without what the order of the messages says by itself: their thread where all are in the
        same one, what a message answers where it stands right behind it. Threads whose first words
        are the same, or may not be seen, get a digest of their root's id."""
        threads = {self._thread_of(one) for one in messages}
        alike = _alike(messages)
        found: list[Message] = []
        before = ""
        for one in messages:
            additions, _ = read_bridge_metadata(one)
            thread = additions.in_thread if len(threads) > 1 else None
            if thread is not None and thread.words in alike:
                told = f"{thread.words} #{_digest(thread.root)}".strip()
                thread = thread.model_copy(update={"words": told})
            reply = additions.replies_to
            if reply is not None and (reply.message == before or self._is_root(one, reply)):
                reply = None
            found.append(with_thread_and_reply(one, thread, reply))
            before = one.message_id
        return tuple(found)

    def _thread_of(self, message: Message) -> str:
        known = self._relations.get(message.message_id)
        return (known.root if known else None) or message.message_id

    def _is_root(self, message: Message, reply: RepliesTo) -> bool:
        return reply.message == self._thread_of(message)

    async def _told(self, message: Message) -> Message:
        known = self._relations.get(message.message_id) or Relation()
        thread, reply = None, None
        if known.root is not None and known.root != message.message_id:
            root = await self._shown(known.root)
            thread = InThread(root=known.root, words=_words(root))
        if known.reply_to is not None:
            target = await self._shown(known.reply_to)
            author = "" if target is None else target.actor.name or target.actor.id
            reply = RepliesTo(message=known.reply_to, author=author, words=_words(target))
        return with_thread_and_reply(message, thread, reply)

    async def _shown(self, wanted: MessageId) -> Message | None:
        """The message, if the agent may see it and it stands."""
        if wanted not in self._seen:
            number = await self.store.number_of(self.conversation, wanted)
            self._seen[wanted] = None
            if number is not None:
                past = await self.store.past(
                    self.conversation, rows=1, before=number + 1, view=self.view
                )
                self._seen[wanted] = past.messages[0] if past.messages else None
        return self._seen[wanted]


def _alike(messages: Sequence[Message]) -> set[str]:
    """First words that several threads have, and those of none."""
    roots: dict[str, set[str]] = {}
    for one in messages:
        if (thread := read_bridge_metadata(one)[0].in_thread) is not None:
            roots.setdefault(thread.words, set()).add(thread.root)
    return {words for words, found in roots.items() if len(found) > 1 or not words}


def _digest(root: str) -> str:
    return sha256(root.encode()).hexdigest()[:4]


def _words(message: Message | None) -> str:
    """Its first words in one line, none of them the bridge's; empty where it may not be seen."""
    said = None if message is None else without_notices(message)
    if said is None:
        return ""
    document = markdown_to_text(message_text(said)[0])
    return cut_text(" ".join(text_to_plain(document).split()), _WORDS)
