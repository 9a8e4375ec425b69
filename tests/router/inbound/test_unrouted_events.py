"""Events that no channel is shown are kept as they came, each with its outcome."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

from bridge.model import AccountRevoked, ChannelClosed, Ignored, Unknown
from bridge.model.admission import Admission
from tests.router.conftest import House


@pytest.mark.parametrize(
    ("kind", "what", "outcome"),
    [
        (ChannelClosed, {"reason": "archived"}, "kept: channel_closed"),
        (AccountRevoked, {"reason": "app_uninstalled"}, "kept: account_revoked"),
        (Unknown, {"kind": "dog_barked"}, "kept: unknown, dog_barked"),
        (Ignored, {"reason": "a ping"}, "ignored: a ping"),
    ],
)
async def test_what_is_carried_to_nobody_is_kept_with_its_outcome(
    house: House,
    monkeypatch: pytest.MonkeyPatch,
    kind: type[BaseModel],
    what: dict[str, str],
    outcome: str,
) -> None:
    slate, board, wall = house.connectors.values()
    outcomes: list[str] = []
    admit = house.store.admit

    async def noting(admission: Admission) -> object:
        outcomes.append(admission.outcome)
        return await admit(admission)

    monkeypatch.setattr(house.store, "admit", noting)
    async with house.run():
        await slate.happen(kind, "s", **what)
        await house.clock.let_work()
        assert await house.store.accept(slate.last, advance=False) is None  # it is there

    assert outcomes == [outcome]
    assert board.sent == wall.sent == []
