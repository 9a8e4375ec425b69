"""The bridge as it is, but for its rate limits: `python -m tests.benchmarks.bridge_process CONFIG`.

A sandbox without limits takes more than any platform does; a bridge that kept the platforms'
limits would only be measured waiting. Every request still asks for permission.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bridge.model import AccountId, Rate
from bridge.ports.clock import Clock
from bridge.router.outbound.rate_limits import RateLimits
from tests.e2e.bridge_process import main


def lift_rate_limits() -> None:
    """Let every `RateLimits` of this process allow everything, whoever builds it."""
    build = RateLimits.__init__

    def build_without_rules(
        self: RateLimits, clock: Clock, rules: Mapping[AccountId, Mapping[str, Sequence[Rate]]]
    ) -> None:
        build(self, clock, {account: {} for account in rules})

    def keep_no_rules(
        self: RateLimits, account: AccountId, rules: Mapping[str, Sequence[Rate]]
    ) -> None:
        """A sandbox without limits has none for a new account either."""

    RateLimits.__init__ = build_without_rules  # type: ignore[method-assign]
    RateLimits.set_rules = keep_no_rules  # type: ignore[method-assign]


if __name__ == "__main__":
    lift_rate_limits()
    main()
