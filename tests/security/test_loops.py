"""What could make the bridge say a thing twice, or answer itself for ever."""

from __future__ import annotations

import pytest

from bridge.app.rooms.find import check_once
from bridge.app.settings.rooms import MemberSettings
from bridge.errors import ConfigError
from bridge.model import AccountId, ChannelRef
from bridge.store import SqliteStore
from tests.router.conftest import RouterRig, clock, rig
from tests.router.fake_clock import FakeClock
from tests.router.fake_connector import FakeConnector

__all__ = ["clock", "rig"]  # fixtures


def connector(rig: RouterRig, name: str) -> FakeConnector:
    return rig.connectors[AccountId(name)]


async def test_an_echo_of_an_operation_that_the_store_does_not_know_blocks_nothing(
    rig: RouterRig,
) -> None:
    """A restored backup, or another bridge with the same tokens, leaves such echoes."""
    sales = connector(rig, "sales")
    async with rig.run():
        await sales.say("s", "ours", own=True, operation="of another life")
        await sales.say("s", "after it")
        await rig.clock.let_work()

    assert connector(rig, "billing").texts("b") == ["after it"]


async def test_what_another_account_hears_in_a_channel_goes_nowhere(clock: FakeClock) -> None:
    """Two apps in one workspace: each hears the other's posts, as those of a stranger."""
    sales, billing = FakeConnector("sales", clock), FakeConnector("billing", clock)
    rig = RouterRig(clock, SqliteStore.in_memory(clock), (sales, billing))
    rig.room("all", (sales, "s", "both"), (billing, "b", "both"))
    async with rig.run() as router:
        await sales.say("s", "hello")
        await clock.let_work()
        payload = sales.raw("s", "hello, heard by the other app", bot=True)
        await router.inbox.accept(payload.model_copy(update={"account": billing.account}))
        await clock.let_work()

    assert billing.texts("b") == ["hello"]


def test_a_channel_stands_in_a_room_once_and_has_one_account() -> None:
    channel = ChannelRef(platform="slack", workspace="T1", channel="C1")
    settings = MemberSettings(account="one", channel="C1")
    other = MemberSettings(account="two", channel="#general")
    accounts: dict[ChannelRef, str] = {}

    check_once(settings, channel, accounts, [])
    check_once(settings, channel, accounts, [])  # in another room

    with pytest.raises(ConfigError, match="in this room already"):
        check_once(settings, channel, accounts, [channel])
    with pytest.raises(ConfigError, match="'one' speaks in already"):
        check_once(other, channel, accounts, [])


async def test_rooms_that_share_a_channel_carry_what_is_said_once(
    clock: FakeClock,
) -> None:
    """However rooms overlap, each channel shows a message once, and no copy is carried on."""
    a, b, c = (FakeConnector(name, clock) for name in "abc")
    rig = RouterRig(clock, SqliteStore.in_memory(clock), (a, b, c))
    rig.room("one", (a, "a", "both"), (b, "b", "both"))
    rig.room("two", (b, "b", "both"), (c, "c", "both"), (a, "a", "both"))
    rig.room("three", (c, "c", "both"), (b, "b", "in"))
    async with rig.run():
        await b.say("b", "from b")
        await a.say("a", "from a")
        await clock.let_work()

    assert sorted(a.texts("a")) == ["from a", "from b"]
    assert sorted(b.texts("b")) == ["from a", "from b"]
    assert sorted(c.texts("c")) == ["from a", "from b"]
