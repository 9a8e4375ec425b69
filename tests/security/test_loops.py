"""What could make the bridge say a thing twice, or answer itself for ever."""

from __future__ import annotations

from bridge.model import AccountId
from tests.router.conftest import House, clock, house
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
