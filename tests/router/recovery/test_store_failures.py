"""A store that fails while channels are read and compared: the work goes on when it answers again,
in the order of the platform."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from bridge.errors import StoreError
from bridge.model import AccountId, ChannelRef, Raw
from bridge.model.archive_records import ExpectedMessage
from bridge.model.inbox_records import InboxRow
from bridge.store import SqliteStore
from tests.router.conftest import RouterRig
from tests.router.fake_clock import FakeClock
from tests.router.fake_connector import FakeConnector
from tests.router.recovery.test_reconcile import FakeReadBack

OUTAGE = 15.0  # seconds: longer than all tries after which a failing platform's channel goes on


class Failing(SqliteStore):
    """Fails in what `broken` names."""

    broken: str = ""

    def _check(self, what: str) -> None:
        if what == self.broken:
            raise StoreError("the server is starting")

    async def cursor(self, account: AccountId, channel: ChannelRef) -> str | None:
        self._check("cursor")
        return await super().cursor(account, channel)

    async def set_cursor(self, account: AccountId, channel: ChannelRef, cursor: str) -> None:
        self._check("set_cursor")
        await super().set_cursor(account, channel, cursor)

    async def live_threads(self, channel: ChannelRef, since: float) -> Sequence[str]:
        self._check("live_threads")
        return await super().live_threads(channel, since)

    async def accept(self, raw: Raw, *, advance: bool) -> InboxRow | None:
        self._check("accept")
        return await super().accept(raw, advance=advance)

    async def expected_messages(
        self, channel: ChannelRef, since: float, *, limit: int, thread: str | None = None
    ) -> Sequence[ExpectedMessage]:
        self._check("expected_messages")
        return await super().expected_messages(channel, since, limit=limit, thread=thread)


class Pair:
    """Two channels of `sales`, each shown in one of `billing`; one message was said in each."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.sales, self.billing = FakeReadBack("sales", clock), FakeConnector("billing", clock)
        self.sales.edits, self.sales.takes = {}, {"s": 1, "t": 1}
        self.store = Failing.in_memory(clock)
        self.rig = RouterRig(clock, self.store, (self.sales, self.billing))
        for name in "st":
            self.rig.room(name, (self.sales, name, "both"), (self.billing, name, "both"))

    async def begin(self) -> list[str]:
        await self.clock.advance(5)
        said = [await self.sales.say(name, "before") for name in "st"]
        await self.clock.advance(5)
        return said


@pytest.fixture
def pair(clock: FakeClock) -> Pair:
    return Pair(clock)


@pytest.mark.parametrize("broken", ["cursor", "live_threads", "accept"])
async def test_a_held_channel_is_read_when_the_store_answers_again(pair: Pair, broken: str) -> None:
    async with pair.rig.run() as router:
        await pair.begin()
        pair.sales.raw("s", "missed")
        pair.store.broken = broken if broken != "accept" else ""  # which live events need
        router.inbox.session_began(pair.sales.account)
        await pair.sales.say("s", "live")
        pair.store.broken = broken
        await pair.clock.advance(OUTAGE)
        pair.store.broken = ""
        await pair.clock.advance(10)

        assert pair.billing.texts("s") == ["before", "missed", "live"]


async def test_a_channel_is_current_again_after_its_cursor_could_not_be_written(pair: Pair) -> None:
    async with pair.rig.run() as router:
        await pair.begin()
        router.inbox.session_began(pair.sales.account)
        await pair.clock.advance(2)
        pair.store.broken = "set_cursor"
        await pair.clock.advance(OUTAGE)
        pair.store.broken = ""
        await pair.clock.advance(30)
        last = await pair.sales.say("s", "live")
        await pair.clock.advance(5)

        assert await pair.store.cursor(AccountId("sales"), pair.sales.channel("s")) == last


@pytest.mark.parametrize("broken", ["cursor", "expected_messages"])
async def test_a_comparison_that_the_store_interrupts_is_made_again(
    pair: Pair, broken: str
) -> None:
    async with pair.rig.run() as router:
        one, _ = await pair.begin()
        pair.sales.silently(one, "mended")
        router.inbox.session_began(pair.sales.account)
        await pair.clock.advance(1)  # the channels are read, but not compared yet
        pair.store.broken = broken
        await pair.clock.advance(OUTAGE)
        pair.store.broken = ""
        await pair.clock.advance(90)

        assert pair.billing.texts("s") == ["mended"]
        assert router.operations.catching_up == 0


async def test_a_comparison_that_the_store_interrupts_ends_no_reading(pair: Pair) -> None:
    pair.rig.timeouts = replace(pair.rig.timeouts, reconcile_read_timeout=0.0)
    async with pair.rig.run() as router:
        await pair.begin()
        pair.sales.raw("s", "missed")
        pair.sales.takes = {"s": 10, "t": 1}
        router.inbox.session_began(pair.sales.account)
        await pair.sales.say("s", "live")
        await pair.clock.advance(2.9)
        pair.store.broken = "cursor"  # of the other channel: this one is still being read
        await pair.clock.advance(OUTAGE)

        assert pair.billing.texts("s") == ["before", "missed", "live"]
