"""The bridge as it is, but for its budgets: `python -m tests.benchmarks.bridge_process CONFIG`.

A sandbox without limits takes more than any platform does; a bridge that kept the platforms'
limits would only be measured waiting. Every request still asks for permission.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bridge.model import AccountId, Rate
from bridge.ports.clock import Clock
from bridge.router import router
from bridge.router.outbound.rate_limits import RateLimits
from tests.e2e.bridge_process import main


class NoLimits(RateLimits):
    """Budgets whose rules allow everything."""

    def __init__(
        self, clock: Clock, rules: Mapping[AccountId, Mapping[str, Sequence[Rate]]]
    ) -> None:
        super().__init__(clock, {account: {} for account in rules})

    def set_rules(self, account: AccountId, rules: Mapping[str, Sequence[Rate]]) -> None:
        super().set_rules(account, {})


if __name__ == "__main__":
    router.RateLimits = NoLimits  # type: ignore[misc]
    main()
