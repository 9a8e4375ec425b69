"""How often each method that reads may be asked: requests wait their turn, and none is refused."""

from __future__ import annotations

import math
from collections import defaultdict, deque

from bridge.errors import RateLimited
from bridge.ports.clock import Clock
from connectors.slack.capabilities import READS


class Pace:
    """One token's reads: Slack counts them by method, workspace and app, in sliding windows."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._taken: defaultdict[str, deque[float]] = defaultdict(deque)

    async def turn(self, method: str, patience: float = math.inf) -> None:
        """Wait until the method may be asked, first come, first served. Raises RateLimited where
        that takes longer than `patience` seconds; then no turn is taken."""
        rate = READS.get(method)
        if rate is None:
            return
        now, taken = self._clock.monotonic(), self._taken[method]
        while taken and taken[0] + rate.seconds <= now:
            taken.popleft()
        turn = max(now, taken[-rate.count] + rate.seconds) if len(taken) >= rate.count else now
        if turn - now > patience:
            raise RateLimited(
                f"{method}: Slack's limit of {rate.count} in {rate.seconds:g} s is used up; it is "
                "asked again then", retry_after=turn - now, code="paced",
            )  # fmt: skip
        taken.append(turn)
        if turn > now:
            await self._clock.sleep(turn - now)
