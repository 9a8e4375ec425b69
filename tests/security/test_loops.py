"""What could make the bridge say a thing twice, or answer itself for ever."""

from __future__ import annotations

import pytest

from bridge.app.build import check_once
from bridge.app.settings.rooms import MemberSettings
from bridge.errors import ConfigError
from bridge.model import AccountId, ChannelRef
from bridge.store import SqliteStore
from tests.router.conftest import House, clock, house
from tests.router.fake_clock import FakeClock
from tests.router.paper import PaperConnector

__all__ = ["clock", "house"]  # fixtures


def connector(house: House, name: str) -> PaperConnector:
    return house.connectors[AccountId(name)]


async def test_an_echo_of_an_operation_that_the_store_does_not_know_blocks_nothing(
    house: House,
) -> None:
    """A restored backup, or another bridge with the same tokens, leaves such echoes."""
    slate = connector(house, "slate")
    async with house.run():
        await slate.say("s", "ours", own=True, operation="of another life")
        await slate.say("s", "after it")
        await house.clock.let_work()

    assert connector(house, "board").texts("b") == ["after it"]


async def test_what_another_account_hears_in_a_channel_goes_nowhere(clock: FakeClock) -> None:
    """Two apps in one workspace: each hears the other's posts, as those of a stranger."""
    slate, board = PaperConnector("slate", clock), PaperConnector("board", clock)
    house = House(clock, SqliteStore.in_memory(clock), (slate, board))
    house.room("all", (slate, "s", "both"), (board, "b", "both"))
    async with house.run() as router:
        await slate.say("s", "hello")
        await clock.let_work()
        heard = slate.raw("s", "hello, heard by the other app", bot=True)
        await router.inbox.accept(heard.model_copy(update={"account": board.account}))
        await clock.let_work()

    assert board.texts("b") == ["hello"]


def test_a_channel_stands_in_a_room_once_and_has_one_account() -> None:
    channel = ChannelRef(platform="slack", workspace="T1", channel="C1")
    wanted = MemberSettings(account="one", channel="C1")
    other = MemberSettings(account="two", channel="#general")
    accounts: dict[ChannelRef, str] = {}

    check_once(wanted, channel, accounts, [])
    check_once(wanted, channel, accounts, [])  # in another room

    with pytest.raises(ConfigError, match="in this room already"):
        check_once(wanted, channel, accounts, [channel])
    with pytest.raises(ConfigError, match="'one' speaks in already"):
        check_once(other, channel, accounts, [])


async def test_rooms_that_share_a_channel_carry_what_is_said_once(
    clock: FakeClock,
) -> None:
    """However rooms overlap, each channel shows a message once, and no copy is carried on."""
    a, b, c = (PaperConnector(name, clock) for name in "abc")
    house = House(clock, SqliteStore.in_memory(clock), (a, b, c))
    house.room("one", (a, "a", "both"), (b, "b", "both"))
    house.room("two", (b, "b", "both"), (c, "c", "both"), (a, "a", "both"))
    house.room("three", (c, "c", "both"), (b, "b", "in"))
    async with house.run():
        await b.say("b", "from b")
        await a.say("a", "from a")
        await clock.let_work()

    assert sorted(a.texts("a")) == ["from a", "from b"]
    assert sorted(b.texts("b")) == ["from a", "from b"]
    assert sorted(c.texts("c")) == ["from a", "from b"]
