"""A process that died or was stopped may have left a connection open, to which the platform still
hands some of the events; what the next process is handed keeps its order."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from bridge.model import ChannelRef, Raw
from bridge.model.assignments import account_assignment
from bridge.router import Router
from bridge.store import SqliteStore
from tests.router.conftest import RouterRig
from tests.router.fake_clock import FakeClock
from tests.router.fake_connector import FakeConnector, FakeWithHistory
from tests.router.test_sharing import Others


class Reads(FakeWithHistory):
    """Counts how often it is read, and takes a moment for it."""

    def __init__(self, account: str, clock: FakeClock) -> None:
        super().__init__(account, clock)
        self.reads = 0
        self._fake = clock

    async def read_after(
        self,
        channel: ChannelRef,
        cursor: str,
        threads: Sequence[str],
        *,
        wait_limit: float | None = None,
    ) -> AsyncIterator[Raw]:
        self.reads += 1
        await self._fake.sleep(0.1)
        async for raw in super().read_after(channel, cursor, threads, wait_limit=wait_limit):
            yield raw


class Scene:
    """`sales` is shown in `billing`; its process has just taken all accounts over."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.sales, self.billing = Reads("sales", clock), FakeConnector("billing", clock)
        self.rig = RouterRig(clock, SqliteStore.in_memory(clock), (self.sales, self.billing))
        self.rig.room("room", (self.sales, "s", "both"), (self.billing, "b", "both"))
        self.rig.cluster = self.others = Others(*map(account_assignment, self.rig.connectors))

    @asynccontextmanager
    async def taken(self, *, alone: bool, given_up: bool = False) -> AsyncGenerator[Router]:
        everything = {account_assignment(account) for account in self.rig.connectors}
        async with self.rig.run() as router:
            await router.sharing.take(everything)
            await self.clock.advance(20)
            await self.sales.say("s", "before")
            await self.clock.advance(20)
            if given_up:
                await self.clock.advance(150)
                self.others.own.clear()
                await router.sharing.give_up(everything)
        self.others.own = set(everything)
        async with self.rig.run() as router:
            await router.sharing.take(everything)
            await self.clock.let_work()
            router.inbox.session_began(self.sales.account, alone=alone)
            await self.clock.advance(20)
            self.sales.reads = 0
            yield router

    def handed_to_the_other(self, text: str) -> None:
        """A post whose event went elsewhere."""
        self.sales.raw("s", text)


@pytest.fixture
def scene(clock: FakeClock) -> Scene:
    return Scene(clock)


async def test_posts_that_went_to_another_connection_are_shown_in_their_order(scene: Scene) -> None:
    async with scene.taken(alone=False):
        for number in range(0, 9, 3):
            scene.handed_to_the_other(f"{number}")
            scene.handed_to_the_other(f"{number + 1}")
            await scene.sales.say("s", f"{number + 2}")
            await scene.clock.advance(0.05 * number)  # also while the channel is still read
        await scene.clock.advance(5)
        assert scene.billing.texts("b") == ["before", *map(str, range(9))]


async def test_a_later_reaction_does_not_hide_a_post_that_went_to_another_connection(
    scene: Scene,
) -> None:
    """The process that heard of the reaction dies before it reads the channel."""
    everything = {account_assignment(account) for account in scene.rig.connectors}
    async with scene.taken(alone=False):
        scene.handed_to_the_other("one")
        (before, *_) = scene.sales.channels["s"]
        await scene.sales.react("s", before.id, "👍")
        await scene.clock.advance(1)
        assert scene.billing.texts("b") == ["before"]
    scene.others.own = set(everything)
    async with scene.rig.run() as router:
        await router.sharing.take(everything)
        await scene.clock.let_work()
        router.inbox.session_began(scene.sales.account, alone=True)
        await scene.sales.say("s", "two")
        await scene.clock.advance(20)
        assert scene.billing.texts("b") == ["before", "one", "two"]


async def test_a_post_that_comes_late_after_all_is_shown_once(scene: Scene) -> None:
    async with scene.taken(alone=False) as router:
        late = scene.sales.raw("s", "one")
        await scene.sales.say("s", "two")
        await scene.clock.advance(5)
        assert not await router.inbox.accept(late)
        await scene.clock.advance(5)
        assert scene.billing.texts("b") == ["before", "one", "two"]


@pytest.mark.parametrize(("alone", "given_up"), [(True, False), (False, True)])
async def test_nothing_is_read_again_where_no_connection_was_left_open(
    scene: Scene, alone: bool, given_up: bool
) -> None:
    async with scene.taken(alone=alone, given_up=given_up):
        await scene.sales.say("s", "one")
        await scene.clock.advance(5)

        assert (scene.billing.texts("b"), scene.sales.reads) == (["before", "one"], 0)


async def test_the_next_process_reads_on_where_the_connection_may_still_be_open(
    scene: Scene,
) -> None:
    everything = {account_assignment(account) for account in scene.rig.connectors}
    async with scene.taken(alone=False) as router:
        scene.others.own.clear()
        await router.sharing.give_up(everything)
    scene.others.own = set(everything)
    async with scene.rig.run() as router:
        await router.sharing.take(everything)
        await scene.clock.let_work()
        router.inbox.session_began(scene.sales.account, alone=False)
        await scene.clock.advance(20)
        scene.handed_to_the_other("one")
        await scene.sales.say("s", "two")
        await scene.clock.advance(5)
        assert scene.billing.texts("b") == ["before", "one", "two"]

        await scene.clock.advance(100)
        reads = scene.sales.reads
        await scene.sales.say("s", "later")
        await scene.clock.advance(5)
        assert scene.sales.reads == reads


async def test_reading_before_each_post_ends_when_the_connection_must_have_closed(
    scene: Scene,
) -> None:
    async with scene.taken(alone=False):
        await scene.sales.say("s", "soon")
        await scene.clock.advance(150)
        assert scene.sales.reads == 1
        await scene.sales.say("s", "later")
        await scene.clock.advance(5)
        assert scene.sales.reads == 1


async def test_reading_before_each_post_ends_with_a_session_of_its_own(scene: Scene) -> None:
    async with scene.taken(alone=False) as router:
        router.inbox.session_began(scene.sales.account, alone=True)
        await scene.clock.advance(20)
        scene.sales.reads = 0
        await scene.sales.say("s", "one")
        await scene.clock.advance(5)
        assert scene.sales.reads == 0
