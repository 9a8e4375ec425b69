"""References of a message -> their counterparts at its destination: accounts of linked people,
groups of the configuration, channels of the same room, copies of messages.

A copy mentions only whom the author could mention in the original. A message without references
costs one look at its text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from bridge.content.markdown import markdown_to_text
from bridge.content.safety.mentions import Reference, references_in
from bridge.content.text.look_alikes import skeleton
from bridge.content.text.names import name_with_mark
from bridge.content.text.tree import Broadcast, ChannelLink, GroupMention, Link, Mention
from bridge.content.text.uacs_links import SCHEME
from bridge.model import (
    AccountId,
    ActorId,
    ChannelRef,
    Counterparts,
    Delivery,
    EditMessage,
    MessageId,
    Person,
    PostMessage,
    channel_of_key,
    join_key,
    split_key,
)
from bridge.ports.abilities.links import Links
from bridge.ports.connector import Connector
from bridge.ports.store.authors import AuthorStore
from bridge.ports.store.messages import MessageStore
from bridge.ports.store.people import PeopleStore
from bridge.router.rooms.rooms import Rooms
from bridge.uacs import Message, TextPart

MOST = 100  # references of one message that are looked up
Groups = Mapping[str, Mapping[AccountId, str]]


@dataclass
class _Counterparts:
    people: dict[ActorId, Person] = field(default_factory=dict[ActorId, Person])
    groups: dict[str, str] = field(default_factory=dict[str, str])
    channels: dict[str, str] = field(default_factory=dict[str, str])
    links: dict[str, str] = field(default_factory=dict[str, str])
    everyone: bool = False


class _ReferencesStore(AuthorStore, MessageStore, PeopleStore, Protocol):
    """What `References` needs of the store."""


class References:
    """Looks counterparts up in the store; asks no platform."""

    def __init__(
        self,
        store: _ReferencesStore,
        connectors: Mapping[AccountId, Connector],
        rooms: Rooms,
        groups: Groups,
    ) -> None:
        self._store = store
        self._connectors = connectors
        self._rooms = rooms
        self._groups = groups
        self._linking: dict[AccountId, Links] = {}
        self._link_substrings_of: dict[AccountId, tuple[str, ...]] = {}
        self._link_substrings: tuple[str, ...] = ()
        self.learn_connectors()

    def change_groups(self, groups: Groups) -> None:
        """From now on these are the groups of people, with the id of each on each account."""
        self._groups = groups

    def learn_connectors(self) -> None:
        """Accounts were added or removed."""
        self._linking = {
            account: links
            for account, connector in self._connectors.items()
            if (links := connector.abilities.links) is not None
        }
        self._link_substrings_of = {
            account: self._connectors[account].capabilities.link_substrings
            for account in self._linking
        }
        substrings = {
            substring
            for substrings in self._link_substrings_of.values()
            for substring in substrings
        }
        self._link_substrings = (SCHEME, *sorted(substrings))

    def any_in(self, delivery: Delivery) -> bool:
        """Whether the delivery shows a text that may hold references; most do not."""
        if not isinstance(delivery.operation, PostMessage | EditMessage):
            return False
        return bool(self._texts_with_references(delivery))

    def _texts_with_references(self, delivery: Delivery) -> list[str]:
        texts = _texts(delivery.message)
        return [
            text for text in texts if any(substring in text for substring in self._link_substrings)
        ]

    async def resolved(self, delivery: Delivery) -> Delivery:
        """Return the delivery with its counterparts. Raises StoreError."""
        texts = self._texts_with_references(delivery)
        counterparts = _Counterparts()
        home = _home(delivery.message.message_id)
        for reference in _references(texts):
            await self._look_up(reference, home, delivery, counterparts)
        changes = {"counterparts": Counterparts(**vars(counterparts))}
        return delivery.model_copy(update=changes)

    async def _look_up(
        self,
        reference: Reference,
        home: tuple[str, str],
        delivery: Delivery,
        counterparts: _Counterparts,
    ) -> None:
        operation = delivery.operation
        destination = operation.channel
        match reference:
            case Mention(actor, name) if _home(actor) == home and actor not in counterparts.people:
                if person := await self._account_at(actor, name, destination):
                    counterparts.people[actor] = _distinct_person(
                        person, counterparts.people.values()
                    )
            case GroupMention(group) if _home(group) == home:
                if counterpart := self._group_at(group, operation.account, destination):
                    counterparts.groups[group] = counterpart
            case ChannelLink(channel):
                if counterpart := self._channel_at(channel, destination):
                    counterparts.channels[channel] = counterpart
            case Link(url):
                if counterpart := await self._copy_at(url, destination):
                    counterparts.links[url] = counterpart
            case Broadcast():
                counterparts.everyone = self._is_platform(home[0]) and self._rings(delivery)
            case _:
                pass

    def _is_platform(self, name: str) -> bool:
        """Whether it is a platform of people: agents and the bridge itself mention nobody."""
        return any(c.capabilities.platform == name for c in self._connectors.values())

    def _rings(self, delivery: Delivery) -> bool:
        operation = delivery.operation
        room = self._rooms.by_id.get(operation.room)
        member = room.member(operation.channel) if room else None
        return member is not None and member.options.everyone

    async def _account_at(
        self, actor: ActorId, name: str, destination: ChannelRef
    ) -> Person | None:
        """Another account of the same person, in the destination's workspace."""
        for account in await self._store.accounts_of(actor):
            if account.actor != actor and _home(account.actor) == (
                destination.platform,
                destination.workspace,
            ):
                person = await self._store.person(account.actor)
                return person or Person(id=account.actor, name=name)
        return None

    def _group_at(self, group: str, account: AccountId, destination: ChannelRef) -> str | None:
        platform, _, native = [*split_key(group), "", ""][:3]
        for accounts in self._groups.values():
            named = any(
                native == native_there and self._platform(name) == platform
                for name, native_there in accounts.items()
            )
            if named and (counterpart := accounts.get(account)):
                return join_key(destination.platform, destination.workspace, counterpart)
        return None

    def _platform(self, account: AccountId) -> str:
        connector = self._connectors.get(account)
        return connector.capabilities.platform if connector else ""

    def _channel_at(self, channel: str, destination: ChannelRef) -> str | None:
        """The same channel where it is of that workspace; else the one that shares a room with it,
        this one rather than another."""
        if _home(channel) == (destination.platform, destination.workspace):
            return channel
        beside = self._beside(channel, destination)
        if destination.key in beside:
            return destination.key
        return beside[0] if beside else None

    def _beside(self, channel: str, destination: ChannelRef) -> list[str]:
        """Channels of the destination's workspace that share a room with this one."""
        if len(split_key(channel)) != 3:
            return []
        return [
            member.channel.key
            for room in self._rooms.holding(channel_of_key(channel))
            for member in room.members
            if (member.channel.platform, member.channel.workspace)
            == (destination.platform, destination.workspace)
        ]

    async def _copy_at(self, url: str, destination: ChannelRef) -> str | None:
        for account, links in self._linking.items():
            is_link = any(substring in url for substring in self._link_substrings_of[account])
            place = links.message_at(url) if is_link else None
            if place is not None and (message := await self._message_at(*place)):
                return await self._address_at(message, destination)
        return None

    async def _message_at(self, channel: ChannelRef, native_id: str) -> MessageId | None:
        """The message with this native id in the channel, or in a thread of the workspace: an
        address may not name the thread's channel."""
        message = await self._store.resolve(channel, native_id)
        if message or self._rooms.holding(channel):
            return message
        for room in self._rooms.all:
            for member in room.members:
                if _home(member.channel.key) == _home(channel.key) and (
                    message := await self._store.resolve(member.channel, native_id)
                ):
                    return message
        return None

    async def _address_at(self, message: MessageId, destination: ChannelRef) -> str | None:
        linking = [
            self._linking[account]
            for account in self._linking
            if self._platform(account) == destination.platform
        ]
        stored = await self._store.message(message)
        if stored is None or stored.place is None or not linking or stored.state == "deleted":
            return None
        beside = self._beside(stored.place.channel.key, destination)
        for channel in (destination, *map(channel_of_key, beside)):
            if copies := await self._store.copies(message, channel):
                return linking[0].address_of(channel, copies[0]) or None
        return None


def _texts(message: Message) -> Iterator[str]:
    for part in message.content:
        if isinstance(part, TextPart) and part.is_markdown:
            yield part.text


def _references(texts: Sequence[str]) -> Iterator[Reference]:
    count = 0
    for text in texts:
        for reference in references_in(markdown_to_text(text)):
            count += 1
            if count > MOST:
                return
            yield reference


def _home(key: str) -> tuple[str, str]:
    """Platform and workspace of an actor, a group, a channel or a message."""
    platform, workspace, *_ = [*split_key(key), ""]
    return platform, workspace


def _distinct_person(person: Person, others: Iterable[Person]) -> Person:
    """The person under a name that none of the `others` has: some platforms identify people by
    name alone."""
    taken = {skeleton(other.name) for other in others}
    name, number = person.name, 2
    while skeleton(name) in taken:
        name, number = name_with_mark(person.name, str(number)), number + 1
    return person if name == person.name else person.model_copy(update={"name": name})
