"""Reactions and pins of people are shown wherever their message is shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from bridge.content.text.emoji import canonical_emoji
from bridge.model import (
    AccountId,
    ActorId,
    AddReaction,
    MessageId,
    MessagePinned,
    MessageUnpinned,
    NoteReactions,
    OperationId,
    Person,
    PinMessage,
    ReactionAdded,
    ReactionRemoved,
    ReactionsCleared,
    RemoveReaction,
    UnpinMessage,
)
from bridge.model.admission import Admission
from bridge.model.archive_records import StoredMessage
from bridge.model.reaction_records import PinChange, ReactionChange
from bridge.ports.connector import Connector
from bridge.ports.store.messages import MessageStore
from bridge.ports.store.reactions import ReactionStore
from bridge.router.inbound.admission import named_author
from bridge.router.inbound.changes import orphaned
from bridge.router.inbound.context import Admitted, Planned, ended
from bridge.router.inbound.moderation import is_original, shares_pin
from bridge.router.inbound.threads import shown_message
from bridge.router.outbound.notes import standing_note
from bridge.router.rooms.options import filtered_event
from bridge.router.rooms.people import People, nameless
from bridge.router.rooms.rooms import Member, Room, Rooms

_OnMessage = ReactionAdded | ReactionRemoved | ReactionsCleared | MessagePinned | MessageUnpinned
_ShownOperation = AddReaction | RemoveReaction | NoteReactions
_STOP = frozenset({"🛑", "⏹️", "⏹"})  # each stops the answer that it is put on
_DELETED = "kept: it happened to what is deleted"


@dataclass(frozen=True)
class ApplyReaction:
    """Counts reactions for the canonical message, whichever of its copies they are on; an older
    event never wins."""

    store: ReactionStore
    places: ShownPlaces
    people: People
    connectors: Mapping[AccountId, Connector]
    new_id: Callable[[], str]

    async def __call__(self, admitted: Admitted) -> Admitted | Planned:
        event = admitted.event
        if not isinstance(event, ReactionAdded | ReactionRemoved | ReactionsCleared):
            return admitted
        stored = await shown_message(self.places.store, event.place.channel, event.target)
        if stored is None:
            return orphaned(admitted.row, event.place, event.target)
        if stored.state == "deleted":
            return ended(_DELETED)
        if isinstance(event, ReactionsCleared):
            cleared = await self._cleared(event, stored)
            return Planned(admission=Admission("reactions cleared", reactions=cleared))
        people = await news_of_actor(event, self.people)
        reaction = await self._reaction(event, stored)
        stops = isinstance(event, ReactionAdded) and reaction.emoji in _STOP
        return Planned(
            admission=Admission("reacted", people=people, reactions=(reaction,)),
            stopped_answers=((reaction.message, event.actor),) if stops else (),
        )

    async def _reaction(
        self, event: ReactionAdded | ReactionRemoved, stored: StoredMessage
    ) -> ReactionChange:
        emoji, present = canonical_emoji(event.emoji), isinstance(event, ReactionAdded)
        return ReactionChange(
            message=MessageId(stored.message.message_id),
            channel=event.place.channel,
            target=event.target,
            time=event.time.timestamp(),
            present=present,
            actor=event.actor,
            emoji=emoji,
            operations=await self._operations_for(stored, event, emoji, present=present),
        )

    async def _cleared(
        self, event: ReactionsCleared, stored: StoredMessage
    ) -> tuple[ReactionChange, ...]:
        """Each reaction that stands there goes, and one whose event comes late stays away."""
        message, channel = MessageId(stored.message.message_id), event.place.channel
        emoji = canonical_emoji(event.emoji) if event.emoji else None
        time = event.time.timestamp()
        changes = [ReactionChange(message, channel, event.target, time, present=False, emoji=emoji)]
        for reacted in await self.store.reactions(message):
            is_here = (reacted.channel, reacted.target) == (channel, event.target)
            if is_here and emoji in (None, reacted.emoji):
                operations = await self._operations_for(stored, event, reacted.emoji, present=False)
                changes.append(
                    ReactionChange(
                        message, channel, reacted.target, time, present=False,
                        actor=reacted.actor, emoji=reacted.emoji, operations=operations,
                    )
                )  # fmt: skip
        return tuple(changes)

    async def _operations_for(
        self, stored: StoredMessage, event: _OnMessage, emoji: str, *, present: bool
    ) -> tuple[_ShownOperation, ...]:
        """What shows a reaction in the other places of the message, should it be news there."""
        message = MessageId(stored.message.message_id)
        operations: list[_ShownOperation] = []
        for room, member in await self.places.besides(event, stored):
            if member.options.reactions == "off":
                continue
            native = shows_natively(self.connectors, member, emoji)
            if native:
                kind = AddReaction if present else RemoveReaction
                reaction = kind(
                    id=OperationId(self.new_id()), account=member.account, channel=member.channel,
                    room=room.id, message=message, emoji=emoji,
                )  # fmt: skip
                operations.append(reaction)
            if not native or await standing_note(
                self.places.store, "reactions", message, member.channel
            ):
                note = NoteReactions(
                    id=OperationId(self.new_id()), account=member.account, channel=member.channel,
                    room=room.id, message=message,
                )  # fmt: skip
                operations.append(note)
        return tuple(operations)


def shows_natively(connectors: Mapping[AccountId, Connector], member: Member, emoji: str) -> bool:
    """Whether our bot shows the reaction as a reaction of its own in this channel."""
    connector = connectors.get(member.account)
    reactions = connector.abilities.reactions if connector else None
    takes = reactions is not None and reactions.takes_reaction(emoji)
    return member.options.reactions == "native" and takes


@dataclass(frozen=True)
class ApplyPin:
    """Puts a pin of the original on every copy; a pin of a copy goes as far as the moderation of
    its room says."""

    places: ShownPlaces
    rooms: Rooms
    people: People
    new_id: Callable[[], str]

    async def __call__(self, admitted: Admitted) -> Admitted | Planned:
        event = admitted.event
        if not isinstance(event, MessagePinned | MessageUnpinned):
            return admitted
        store, channel = self.places.store, event.place.channel
        stored = await shown_message(store, channel, event.target)
        if stored is None:
            return orphaned(admitted.row, event.place, event.target)
        if stored.state == "deleted":
            return ended(_DELETED)
        shared = await shares_pin(stored, event.place, event.target, store, self.rooms)
        found = await self.places.besides(event, stored)
        places = [(room, member) for room, member in found if shared(room, member)]
        pinned = isinstance(event, MessagePinned)
        if not places and not is_original(stored, channel, event.target):
            return ended(f"kept: a person {'pinned' if pinned else 'unpinned'} a copy")
        people = await news_of_actor(event, self.people)
        message = MessageId(stored.message.message_id)
        kind = PinMessage if pinned else UnpinMessage
        operations = [
            kind(
                id=OperationId(self.new_id()), account=member.account, channel=member.channel,
                room=room.id, message=message,
            )
            for room, member in places
        ]  # fmt: skip
        time = event.time.timestamp()
        pin = PinChange(message, pinned, event.actor, time, tuple(operations))
        outcome = "pinned" if pinned else "unpinned"
        return Planned(admission=Admission(outcome, people=people, pins=(pin,)))


class _ActorEvent(Protocol):
    """An event of an actor, received by an account."""

    @property
    def account(self) -> AccountId: ...

    @property
    def actor(self) -> ActorId: ...


async def news_of_actor(event: _ActorEvent, people: People) -> tuple[Person, ...]:
    """Return the actor, if anything of that person is new. People may react who never posted a
    message: notes need their names. Raises StoreError."""
    person, is_new = await people.complete(event.account, nameless(event.actor))
    return (person,) if is_new else ()


@dataclass(frozen=True)
class ShownPlaces:
    """Finds the channels that show a message."""

    store: MessageStore
    rooms: Rooms
    people: People

    async def besides(
        self, event: _OnMessage, stored: StoredMessage
    ) -> Sequence[tuple[Room, Member]]:
        """Return the channels besides that of the event where the message stands or will stand,
        that of the original among them: each once, if its room shows such events there. Raises
        StoreError."""
        posts = await self.store.posts_of(MessageId(stored.message.message_id))
        rooms = [self.rooms.find(post.room) for post in posts]
        message_filters = [
            member.options.message_filter for room in rooms if room for member in room.members
        ]
        filtered = filtered_event(event, await named_author(event, message_filters, self.people))
        places: dict[str, tuple[Room, Member]] = {}
        original = (stored.place.channel,) if stored.place and stored.native_id else ()
        for post, room in zip(posts, rooms, strict=True):
            for member in room.listeners(besides=event.place.channel) if room else ():
                is_shown = member.channel in (post.channel, *original)
                if room and is_shown and not member.options.message_filter.refuses(filtered):
                    places.setdefault(member.channel.key, (room, member))
        return list(places.values())
