"""Rooms as the router knows them: their channels, what each is shown, and their agents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Literal, Protocol
from uuid import UUID

from bridge.content.cards.tool_calls import ToolsShown
from bridge.model import AccountId, ChannelRef, LaneId, RoomId
from bridge.model.archive_records import Timeline
from bridge.model.refs import channel_of_lane
from bridge.router.rooms.answer_conditions import Route
from bridge.router.rooms.options import UNCHANGED, USUAL, MemberOptions, RoomOptions
from bridge.router.rooms.programs import ACCOUNT, room_of_outside

Flow = Literal["in", "out", "both"]
Listen = Literal["mentions", "always", "threads"]
Scope = Literal["room", "channel", "thread", "person"]
Busy = Literal["queue", "merge", "steer", "interrupt"]
AgentsTalk = Literal["off", "mention"]
Undelivered = Literal["note", "whisper", "reaction", "off"]


@dataclass(frozen=True)
class Member:
    """A channel in a room. `in`: its messages come into the room; `out`: the room's messages are
    shown there. `name` is what people call it."""

    account: AccountId
    channel: ChannelRef
    flow: Flow = "both"
    name: str = ""
    options: MemberOptions = UNCHANGED

    @property
    def speaks(self) -> bool:
        return self.flow != "out"

    @property
    def listens(self) -> bool:
        return self.flow != "in"


@dataclass(frozen=True)
class AgentMembership:
    """An agent in a room.

    `mentions`: it answers when it is mentioned; `threads`: and from then on everything in that
    thread; `always`: everything that people say. Answers to what it said are always for it.

    - `session`: what it knows of, and what it answers one after the other: the whole room, one
      channel, one thread, or one person.
    - `busy`: what becomes of a question while it answers another: it waits; all that wait are
      answered as one (`merge`); the agent gets it at once (`steer`); or it stops (`interrupt`).
    - `gather`: seconds in which further messages belong to the same question.
    - `routes`: where it answers; nowhere else, unless somebody names it; empty: everywhere.
    - `beside`: it answers whoever else does, too; of all others the best route alone answers.
    - `bots`: bots and apps may call it by its name.
    - `allow`: globs of those who reach it (ids of any of their accounts); empty: everybody in
      channels, and in direct messages those who are paired. `deny`: those who never do.
    - `operators`: globs of those who may take over from it and hand it over, beside admins.
    - `tools`: the servers whose tools it has.
    - `greeting`: Markdown that it says when it comes into the room, once; empty: nothing.
    - `convener`: it hears all that is said, and decides which agents and programs may speak.
    - `history_tokens`: how much of the room it reads; `before`: at most from how many seconds
      before the question, None: from any time.
    """

    agent: str
    listen: Listen = "mentions"
    session: Scope = "room"
    busy: Busy = "queue"
    gather: float = 0.0
    routes: tuple[Route, ...] = ()
    beside: bool = False
    bots: bool = False
    operators: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    greeting: str = ""
    convener: bool = False
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    history_tokens: int = 20_000
    before: float | None = None


@dataclass(frozen=True)
class Talk:
    """Whether agents call one another by `@name`, and how many turns agents and bots may call in
    the room after the last that a person did, within an hour; `hand_over`: whether they are offered
    a tool with which they give the conversation to another agent or to a person."""

    agents: AgentsTalk = "off"
    turns: int = 4
    hand_over: bool = False


@dataclass(frozen=True)
class Room:
    """`conversation` is the id of its UACS Conversation, kept for ever; `undelivered`: how
    people are told what did not reach the others. `epoch` is the number of the configuration under
    which it stands; `joined` since when each channel (by its key) is in it, 0 for those that were
    there first."""

    id: RoomId
    conversation: UUID
    members: tuple[Member, ...]
    agents: tuple[AgentMembership, ...] = ()
    undelivered: Undelivered = "note"
    options: RoomOptions = USUAL
    epoch: int | None = None
    joined: Mapping[str, float] = field(default_factory=dict[str, float])
    talk: Talk = Talk()

    @property
    def timeline(self) -> Timeline:
        """The timeline of the room's conversation."""
        return Timeline(self.conversation, "room", str(self.id), epoch=self.epoch)

    @property
    def shows_all_history(self) -> bool:
        """Whether a member may know what was written before it came. Every member may in a room
        that stands under no configuration."""
        return self.options.history == "shared" or self.epoch is None

    @property
    def convener(self) -> AgentMembership | None:
        """The agent that decides who may speak; None where everybody may."""
        return next((member for member in self.agents if member.convener), None)

    def membership(self, agent: str) -> AgentMembership | None:
        """Return the agent's membership in this room; None where the agent is not in it."""
        return next((member for member in self.agents if member.agent == agent), None)

    def member(self, channel: ChannelRef) -> Member | None:
        """Return the channel's membership in this room; None where the channel is not in it."""
        return next((m for m in self.members if m.channel == channel), None)

    def listeners(self, *, besides: ChannelRef | None = None) -> list[Member]:
        """Return the members that are shown messages, without the channel `besides`."""
        return [m for m in self.members if m.listens and m.channel != besides]


class RoomsOfTwo(Protocol):
    """The rooms of two people who write to one another."""

    def find(self, room: RoomId) -> Room | None: ...

    def accepts(self, room: RoomId, account: AccountId, channel: ChannelRef) -> bool: ...


class Rooms:
    """All rooms, found by the channel where something happens. What is looked up for each message
    is indexed when the rooms change: no look-up walks all rooms.

    `version` rises with each change.
    """

    all: tuple[Room, ...]
    by_id: Mapping[RoomId, Room]
    version = 0

    def __init__(self, rooms: Iterable[Room]) -> None:
        self._of_two: RoomsOfTwo | None = None
        self._platform_name: Callable[[str], str] = str.capitalize
        self._use(_Index(), ())
        self.add(rooms)

    def change(self, rooms: Iterable[Room]) -> None:
        """Replace the rooms, for everybody who holds this object."""
        if rooms is self:
            return
        other = rooms if isinstance(rooms, Rooms) else Rooms(rooms)
        self._use(other._index, other.all)

    def add(self, rooms: Iterable[Room]) -> None:
        """Add rooms."""
        new = tuple(rooms)
        for room in new:
            self._index.add(room)
        self._use(self._index, self.all + new)

    def _use(self, index: _Index, rooms: tuple[Room, ...]) -> None:
        self.version += 1
        self._index = index
        self.all = rooms
        self.by_id = index.by_id

    def __iter__(self) -> Iterator[Room]:
        return iter(self.all)

    def find(self, room: RoomId) -> Room | None:
        """Return the room with this id, rooms of two people included; None where there is none."""
        return self.by_id.get(room) or (self._of_two.find(room) if self._of_two else None)

    def join(
        self, of_two: RoomsOfTwo, platform_name: Callable[[str], str] = str.capitalize
    ) -> None:
        """Find the rooms of two people, too; `platform_name` returns the names that people use for
        platforms."""
        self._platform_name = platform_name
        self._of_two = of_two

    def accepts_direct(self, room: RoomId, account: AccountId, channel: ChannelRef) -> bool:
        """Whether the channel accepts the messages of this room; only direct channels may refuse
        them."""
        return self._of_two is None or self._of_two.accepts(room, account, channel)

    def receiving_from(self, account: AccountId, channel: ChannelRef) -> Sequence[Room]:
        """Return the rooms into which this channel's messages come through this account. What
        another account receives from the channel goes nowhere: to that account our posts are a
        stranger's."""
        if account == ACCOUNT:
            room = self._index.by_id.get(room_of_outside(channel))
            return () if room is None else (room,)
        place = self._index.places.get(channel)
        return () if place is None else place.receiving.get(account, ())

    def holding(self, channel: ChannelRef) -> Sequence[Room]:
        """Return the rooms that this channel is in, in their order."""
        place = self._index.places.get(channel)
        return () if place is None else tuple(place.rooms.values())

    def concern(self, account: AccountId, channel: ChannelRef) -> bool:
        """Whether the channel is in any room through this account."""
        place = self._index.places.get(channel)
        return place is not None and account in place.receiving

    def have_lane(self, lane: LaneId) -> bool:
        """Return whether the lane is that of the posts of a channel in any room."""
        channel = channel_of_lane(lane)
        return channel in self._index.places and lane == channel.lane

    def name_of(self, channel: ChannelRef) -> str:
        """Return what people call a channel, with its platform, as "Paper #general"; its id if no
        name is known."""
        name = self.known_name(channel)
        return f"{self._platform_name(channel.platform)} {f'#{name}' if name else channel.channel}"

    def known_name(self, channel: ChannelRef) -> str | None:
        """Return the name of a channel that is in a room, without the #; None where it is not
        known."""
        place = self._index.places.get(channel)
        return (place.name or None) if place else None

    def altering(self, room: RoomId, channel: ChannelRef) -> MemberOptions | None:
        """Return the channel's options where they change how the room is shown; None where they
        change nothing."""
        altering = self._index.altering
        return altering.get((room, channel.key)) if altering else None

    def left(self, room: RoomId, channel: ChannelRef) -> str:
        """Return why operations for this channel are not sent any more; empty where they are."""
        current = self.find(room)
        member = current and current.member(channel)
        if current is None:
            return f"room {room!r} is not in the configuration any more"
        if member is None or not member.listens:
            return f"{self.name_of(channel)} is not shown room {room!r} any more"
        return ""

    def tools_shown(self, room: RoomId) -> ToolsShown:
        """Return what people in the room see of the tools that agents call."""
        current = self.by_id.get(room)
        return current.options.show_tools if current else "names"

    def asks_for_feedback(self, room: RoomId) -> bool:
        """Whether people in the room are asked what they think of agents' answers."""
        current = self.by_id.get(room)
        return current is not None and current.options.feedback == "on"

    def account_of(self, channel: ChannelRef) -> AccountId | None:
        """Return the account through which a channel of any room is reached."""
        place = self._index.places.get(channel)
        return None if place is None else place.account

    def account_seeing(self, platform: str, workspace: str) -> AccountId | None:
        """Return the first account that has a channel of any room in this workspace."""
        return self._index.workspaces.get((platform, workspace))

    def accounts_in(self, platform: str) -> Mapping[str, AccountId]:
        """Return, for each workspace of a platform with a channel in any room, an account there."""
        workspaces = self._index.workspaces.items()
        return {workspace: account for (of, workspace), account in workspaces if of == platform}

    def inbound_channels(self, account: AccountId) -> list[ChannelRef]:
        """Return the channels that this account listens to, each once."""
        return list(self._index.inbound.get(account, ()))

    def inbound_set(self, account: AccountId) -> Set[ChannelRef]:
        """Return the channels that this account listens to now."""
        return self._index.inbound_set(account)


@dataclass(slots=True)
class _Place:
    """One channel in all rooms: `account` is the first through which it is reached; `receiving` has
    the rooms into which its messages come, for each account that has it in a room."""

    account: AccountId
    name: str = ""
    rooms: dict[RoomId, Room] = field(default_factory=dict[RoomId, Room])
    receiving: dict[AccountId, list[Room]] = field(default_factory=dict[AccountId, list[Room]])


@dataclass
class _Index:
    """What is looked up by channel, account and workspace. Each channel is one entry, because the
    hash of a channel is most of the cost."""

    by_id: dict[RoomId, Room] = field(default_factory=dict[RoomId, Room])
    places: dict[ChannelRef, _Place] = field(default_factory=dict[ChannelRef, _Place])
    inbound: dict[AccountId, list[ChannelRef]] = field(
        default_factory=dict[AccountId, list[ChannelRef]]
    )
    inbound_sets: dict[AccountId, frozenset[ChannelRef]] = field(
        default_factory=dict[AccountId, frozenset[ChannelRef]]
    )
    workspaces: dict[tuple[str, str], AccountId] = field(
        default_factory=dict[tuple[str, str], AccountId]
    )
    altering: dict[tuple[RoomId, str], MemberOptions] = field(
        default_factory=dict[tuple[RoomId, str], MemberOptions]
    )

    def add(self, room: Room) -> None:
        self.by_id[room.id] = room
        for member in room.members:
            self._add_member(room, member)

    def _add_member(self, room: Room, member: Member) -> None:
        account, channel = member.account, member.channel
        place = self.places.get(channel)
        if place is None:
            place = self.places[channel] = _Place(account)
            self.workspaces.setdefault((channel.platform, channel.workspace), account)
        place.rooms[room.id] = room
        if member.name:
            place.name = member.name
        if not member.options.changes_nothing:
            self.altering[room.id, channel.key] = member.options
        rooms = place.receiving.setdefault(account, [])
        if member.speaks and (not rooms or rooms[-1] is not room):
            if not rooms:
                self.inbound.setdefault(account, []).append(channel)
                self.inbound_sets.pop(account, None)
            rooms.append(room)

    def inbound_set(self, account: AccountId) -> frozenset[ChannelRef]:
        """Return the channels that the account listens to, made at most once."""
        if account not in self.inbound_sets:
            self.inbound_sets[account] = frozenset(self.inbound.get(account, ()))
        return self.inbound_sets[account]
