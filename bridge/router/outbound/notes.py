"""Notes below a message: they say in words which reactions and pins a platform cannot show."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Protocol

from bridge.model import (
    ActorId,
    ChannelRef,
    MessageId,
    PinMessage,
    ReactionOrPin,
    UnpinMessage,
)
from bridge.model.archive_records import StoredMessage
from bridge.model.reaction_records import CurrentReaction
from bridge.ports.store.messages import MessageStore
from bridge.ports.store.reactions import ReactionStore
from bridge.router.outbound.notices import Notices, notice_id, plain_markdown
from bridge.router.rooms.rooms import Member, Rooms
from bridge.router.signals import Signal
from bridge.uacs import Message

_KINDS = ("reactions", "pin")
_MOST_NAMES = 12  # of one emoji; the others are counted


async def standing_note(
    store: MessageStore, kind: str, message: MessageId, channel: ChannelRef
) -> MessageId | None:
    """The notice of this kind that stands below the message in a channel."""
    standing, _ = await _note(store, kind, message, channel)
    return standing


async def standing_notes(
    store: MessageStore, message: MessageId, channel: ChannelRef
) -> Sequence[Message]:
    """All that stand below the message in a channel."""
    note_ids = [await standing_note(store, kind, message, channel) for kind in _KINDS]
    stored = [await store.message(own_id) for own_id in note_ids if own_id]
    return [note.message for note in stored if note]


async def _note(
    store: MessageStore, kind: str, message: MessageId, channel: ChannelRef
) -> tuple[MessageId | None, MessageId]:
    """The one that stands, and the id of the next: one that was deleted never comes back."""
    number = 0
    while True:
        own_id = notice_id(kind, message, channel.key, str(number))
        stored = await store.message(own_id)
        if stored is None:
            return None, own_id
        if stored.state != "deleted":
            return own_id, own_id
        number += 1


class _NotesStore(ReactionStore, MessageStore, Protocol):
    """What `ReactionNotes` needs of the store."""


class ReactionNotes:
    """Keeps the notes up to date. Only the channel's reaction lane calls it, through
    `reaction_not_shown`, so that a note shows the last event."""

    def __init__(
        self,
        store: _NotesStore,
        rooms: Rooms,
        notices: Notices,
        shows_natively: Callable[[Member, str], bool],
        name_of: Callable[[ActorId], Awaitable[str]],
        reaction_not_shown: Signal[ReactionOrPin],
    ) -> None:
        self._store = store
        self._rooms = rooms
        self._notices = notices
        self._shows_natively = shows_natively
        self._name_of = name_of
        reaction_not_shown.subscribe(self.bring_up_to_date)

    async def bring_up_to_date(self, operation: ReactionOrPin) -> None:
        """Post, edit or delete the note; doing it twice changes nothing."""
        member = self._member(operation)
        stored = await self._store.message(operation.message)
        if member is None or stored is None:
            return
        if isinstance(operation, PinMessage | UnpinMessage):
            await self._put("pin", operation, member, stored, await self._pin(operation.message))
        else:
            await self._put(
                "reactions", operation, member, stored, await self._reactions(operation, member)
            )

    def _member(self, operation: ReactionOrPin) -> Member | None:
        room = self._rooms.find(operation.room)
        members = room.listeners() if room else ()
        return next((m for m in members if m.channel == operation.channel), None)

    async def _put(
        self, kind: str, operation: ReactionOrPin, member: Member, stored: StoredMessage, text: str
    ) -> None:
        standing, own_id = await _note(self._store, kind, operation.message, operation.channel)
        if text and stored.state != "deleted":
            await self._notices.post(
                own_id, text, operation.room, [member], root=stored.root, reply_to=operation.message
            )
        elif standing:
            await self._notices.take_back(standing)

    async def _pin(self, message: MessageId) -> str:
        actor = await self._store.pinned_by(message)
        return (
            plain_markdown(f"📌 {await self._name_of(actor)} pinned this message") if actor else ""
        )

    async def _reactions(self, operation: ReactionOrPin, member: Member) -> str:
        unshown = await self._store.unshown_emoji(operation.message, operation.channel)
        reactions = [
            reaction
            for reaction in await self._store.reactions(operation.message)
            if reaction.channel != operation.channel
            and (reaction.emoji in unshown or not self._shows_natively(member, reaction.emoji))
        ]
        if member.options.reactions == "off" or not reactions:
            return ""
        return plain_markdown(
            " · ".join([await self._line(*each) for each in _by_emoji(reactions)])
        )

    async def _line(self, emoji: str, actors: list[ActorId]) -> str:
        names = [await self._name_of(actor) for actor in actors[:_MOST_NAMES]]
        more = len(actors) - len(names)
        return f"{emoji} {', '.join(names)}" + (f" +{more}" if more else "")


def _by_emoji(reactions: Iterable[CurrentReaction]) -> Iterable[tuple[str, list[ActorId]]]:
    actors: dict[str, dict[ActorId, None]] = {}
    for reaction in reactions:
        actors.setdefault(reaction.emoji, {})[reaction.actor] = None
    return ((emoji, [*reacting]) for emoji, reacting in actors.items())
