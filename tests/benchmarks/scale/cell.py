"""One cell, or a part of one: processes that own accounts, a database, platforms with limits.

A message: the owner of its account stores it, routes it in the order of its channel, and for each
other channel of the room the owner of that account sends it, in the order of that channel, when the
limits allow it, and settles it. What a dead process had not committed is done again by the next
owner, from the rows.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.benchmarks.scale.engine import Buckets, Engine, Job, Line, Processor, Store
from tests.benchmarks.scale.figures import (
    BACKOFF,
    LEASE,
    MEMBERS,
    PLATFORMS,
    Costs,
    Database,
    Platform,
)


@dataclass(frozen=True)
class Faults:
    """What fails when (seconds from the start): a process dies; the database stalls for so long; a
    platform refuses posts for so long."""

    death: float | None = None
    stall: tuple[float, float] | None = None
    refusal: tuple[str, float, float] | None = None


@dataclass
class Account:
    """An account and its owner; what waits while it has none."""

    platform: Platform
    owner: int
    limits: Buckets
    owned: bool = True
    undelivered: list[Job] = field(default_factory=list[Job])
    events: int = 0


@dataclass
class Channel:
    """A channel: its messages in order, and the posts to it in order."""

    account: Account
    limits: Buckets
    inbound: Line = field(default_factory=Line)
    lane: Line = field(default_factory=Line)
    posts: int = 0
    last_post: dict[int, int] = field(default_factory=dict[int, int])


@dataclass(slots=True)
class Message:
    """A message and how far it is."""

    number: int
    channel: Channel
    others: tuple[Channel, ...]
    arrived: float
    open: int
    stored: bool = False


@dataclass(slots=True)
class Copy:
    """A copy of a message in one channel."""

    message: Message
    channel: Channel
    begun: bool  # its lane was free, so the transaction that routed it also began the post
    attempts: int = 0


class Cell:
    """Simulates; the results are its public attributes.

    `latencies` are seconds from a message's arrival to the platform's acceptance of each copy,
    `targets` the channels of the copies.
    """

    def __init__(
        self, engine: Engine, random: Random, *, accounts: int, rooms: int, processes: int,
        database: Database, share: float = 1.0, costs: Costs | None = None,
        faults: Faults | None = None,
    ) -> None:  # fmt: skip
        self.engine = engine
        self.costs = costs or Costs()
        self.faults = faults or Faults()
        self.processes = [Processor(engine) for _ in range(processes)]
        self.store = Store(engine, database, share)
        self._random = random
        self.accounts = [self._account(number) for number in range(accounts)]
        self.rooms = [self._room() for _ in range(rooms)]
        self.latencies = array("d")
        self.targets: list[Channel] = []
        self.arrived = self.delivered = self.in_flight = self.most_in_flight = 0
        self.out_of_order = 0
        self.area = 0.0  # messages in the cell, summed over time
        self.time_inside = 0.0  # summed over messages
        self._last_change = 0.0
        self._plan_faults()

    def _account(self, number: int) -> Account:
        platform = PLATFORMS[0]
        at = self._random.random()
        for candidate in PLATFORMS:
            if at < candidate.share:
                platform = candidate
                break
            at -= candidate.share
        return Account(platform, number % len(self.processes), Buckets(platform.account))

    def _room(self) -> tuple[Channel, ...]:
        owners = self._random.sample(self.accounts, MEMBERS)
        return tuple(Channel(owner, Buckets(owner.platform.channel)) for owner in owners)

    # --- a message ----------------------------------------------------------------------------

    def arrive(self, room: int, member: int) -> None:
        """A person posts in a channel of a room."""
        channels = self.rooms[room]
        others = tuple(c for index, c in enumerate(channels) if index != member)
        message = Message(self.arrived, channels[member], others, self.engine.now, len(others))
        self.arrived += 1
        message.channel.account.events += 1
        self._change(+1)
        self._at_owner(message.channel.account, self.costs.receive, self._receive, message)

    def _at_owner(self, account: Account, seconds: float, work: Any, *args: Any) -> None:
        """Work of the process that owns the account, now or when it has an owner."""
        processor = self.processes[account.owner]
        if account.owned and processor.alive:
            processor.do(seconds, work, *args)
        else:
            account.undelivered.append((seconds, work, args))

    def _receive(self, message: Message) -> None:
        self.store.commit(self._stored, message)

    def _stored(self, message: Message) -> None:
        if message.stored:
            return  # the platform delivered it twice
        message.stored = True
        message.channel.inbound.waiting.append(message)
        self._next_inbound(message.channel)

    def _next_inbound(self, channel: Channel) -> None:
        line = channel.inbound
        if not line.busy and line.waiting:
            line.busy = True
            self._at_owner(channel.account, self.costs.route, self._route, line.waiting[0])

    def _route(self, message: Message) -> None:
        self.store.commit(self._routed, message)

    def _routed(self, message: Message) -> None:
        channel = message.channel
        if not channel.inbound.waiting or channel.inbound.waiting[0] is not message:
            return  # a former owner had committed it
        channel.inbound.waiting.popleft()
        channel.inbound.busy = False
        for other in message.others:
            other.lane.waiting.append(Copy(message, other, not other.lane.waiting))
            self._next_post(other)
        self._next_inbound(channel)

    # --- a copy -------------------------------------------------------------------------------

    def _next_post(self, channel: Channel) -> None:
        lane = channel.lane
        if not lane.busy and lane.waiting:
            lane.busy = True
            self._when_allowed(lane.waiting[0])

    def _when_allowed(self, copy: Copy) -> None:
        now, account = self.engine.now, copy.channel.account
        wait = max(copy.channel.limits.wait(now), account.limits.wait(now))
        if wait > 1e-9:
            copy.begun = copy.begun and copy.attempts > 0
            self.engine.at(now + wait, self._when_allowed, copy)
            return
        copy.channel.limits.take(now)
        account.limits.take(now)
        if copy.begun:
            self._begin(copy)
        else:
            copy.begun = True
            self.store.commit(self._begin, copy)

    def _begin(self, copy: Copy) -> None:
        account = copy.channel.account
        refused = self._refuses(account.platform)
        cost = self.costs.refused if refused else self.costs.send
        self._at_owner(account, cost, self._post, copy, refused)

    def _refuses(self, platform: Platform) -> bool:
        if self.faults.refusal is None:
            return False
        name, start, seconds = self.faults.refusal
        return name == platform.name and start <= self.engine.now < start + seconds

    def _post(self, copy: Copy, refused: bool) -> None:
        if refused:
            pause = BACKOFF[min(copy.attempts, len(BACKOFF) - 1)]
            copy.attempts += 1
            self.engine.at(self.engine.now + pause, self._when_allowed, copy)
            return
        median = copy.channel.account.platform.answer
        seconds = self._random.lognormvariate(0.0, 0.4) * median
        self.engine.at(self.engine.now + seconds, self._accepted, copy)

    def _accepted(self, copy: Copy) -> None:
        """The platform has it; the answer is settled, by whoever owns the account then."""
        message, channel = copy.message, copy.channel
        source = id(message.channel)
        if channel.last_post.get(source, -1) >= message.number:
            self.out_of_order += 1
        channel.last_post[source] = message.number
        channel.posts += 1
        self.latencies.append(self.engine.now - message.arrived)
        self.targets.append(channel)
        self.store.commit(self._settled, copy)

    def _settled(self, copy: Copy) -> None:
        lane = copy.channel.lane
        lane.waiting.popleft()
        lane.busy = False
        message = copy.message
        message.open -= 1
        if message.open == 0:
            self.delivered += 1
            self.time_inside += self.engine.now - message.arrived
            self._change(-1)
        self._next_post(copy.channel)

    def _change(self, by: int) -> None:
        now = self.engine.now
        self.area += self.in_flight * (now - self._last_change)
        self._last_change = now
        self.in_flight += by
        self.most_in_flight = max(self.most_in_flight, self.in_flight)

    # --- faults -------------------------------------------------------------------------------

    def _plan_faults(self) -> None:
        if self.faults.death is not None:
            self.engine.at(self.faults.death, self._die)
        if self.faults.stall is not None:
            at, seconds = self.faults.stall
            self.engine.at(at, self.store.stall, seconds)

    def _die(self) -> None:
        """The first process dies; its accounts have new owners when its leases have ended."""
        forgotten = self.processes[0].die()
        orphans = [account for account in self.accounts if account.owner == 0]
        for account in orphans:
            account.owned = False
        self.engine.at(self.engine.now + LEASE, self._take_over, orphans, forgotten)

    def _take_over(self, orphans: list[Account], forgotten: Sequence[Job]) -> None:
        """The others connect the accounts and do again what had not been committed."""
        heirs = [number for number, process in enumerate(self.processes) if process.alive]
        for number, account in enumerate(orphans):
            account.owner = heirs[number % len(heirs)]
            account.owned = True
            self.processes[account.owner].do(self.costs.reconnect, _nothing)
        for seconds, work, args in forgotten:
            if args:
                self._at_owner(args[0].channel.account, seconds, work, *args)
        for account in orphans:
            waiting, account.undelivered = account.undelivered, []
            for seconds, work, args in waiting:
                self._at_owner(account, seconds, work, *args)

    def posts_by_platform(self) -> Counter[str]:
        """Return the accepted copies of each platform."""
        counts: Counter[str] = Counter()
        for room in self.rooms:
            for channel in room:
                counts[channel.account.platform.name] += channel.posts
        return counts


def _nothing() -> None:
    """A step that only takes time."""
