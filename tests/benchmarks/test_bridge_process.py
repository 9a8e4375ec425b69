"""The benchmarks measure the bridge's work and not its waiting for rate limits."""

from __future__ import annotations

import pytest

from bridge.model import AccountId, Rate, RateLimitKey
from bridge.router.outbound.rate_limits import Priority, RateLimits
from tests.benchmarks.bridge_process import lift_rate_limits
from tests.router.fake_clock import FakeClock

ACCOUNT = AccountId("ann")
ONCE_A_MINUTE = {"post": (Rate(count=1, seconds=60.0),)}
KEY = [RateLimitKey(rule="post", of="C1")]


@pytest.fixture
def lifted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RateLimits, "__init__", RateLimits.__init__)
    monkeypatch.setattr(RateLimits, "set_rules", RateLimits.set_rules)
    lift_rate_limits()


@pytest.mark.usefixtures("lifted")
async def test_accounts_of_benchmarks_have_no_rate_limits() -> None:
    limits = RateLimits(FakeClock(), {ACCOUNT: ONCE_A_MINUTE})
    limits.set_rules(ACCOUNT, ONCE_A_MINUTE)

    async with limits.permission(ACCOUNT, KEY, Priority.POST):
        assert limits.has_room(ACCOUNT, KEY)
