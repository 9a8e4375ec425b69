"""Events that no channel is shown are kept as they came, each with its outcome."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

from bridge.model import AccountRevoked, ChannelClosed, Ignored, Unknown
from bridge.model.admission import Admission
from tests.router.conftest import RouterRig


@pytest.mark.parametrize(
    ("kind", "what", "outcome"),
    [
        (ChannelClosed, {"reason": "archived"}, "kept: channel_closed"),
        (AccountRevoked, {"reason": "app_uninstalled"}, "kept: account_revoked"),
        (Unknown, {"kind": "dog_barked"}, "kept: unknown, dog_barked"),
        (Ignored, {"reason": "a ping"}, "ignored: a ping"),
    ],
)
async def test_an_event_that_is_carried_nowhere_is_kept_with_its_outcome(
    rig: RouterRig,
    monkeypatch: pytest.MonkeyPatch,
    kind: type[BaseModel],
    what: dict[str, str],
    outcome: str,
) -> None:
    sales, billing, web = rig.connectors.values()
    outcomes: list[str] = []
    admit = rig.store.admit

    async def noting(admission: Admission) -> object:
        outcomes.append(admission.outcome)
        return await admit(admission)

    monkeypatch.setattr(rig.store, "admit", noting)
    async with rig.run():
        await sales.happen(kind, "s", **what)
        await rig.clock.let_work()
        assert await rig.store.accept(sales.last, advance=False) is None  # it is there

    assert outcomes == [outcome]
    assert billing.sent == web.sent == []
