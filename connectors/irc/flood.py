"""How fast a connection may speak: a token bucket over every line that it sends. Pure."""

from __future__ import annotations


class TokenBucket:
    """`burst` lines at once, then `per_second`; times are given in monotonic seconds."""

    def __init__(self, burst: int, per_second: float, now: float) -> None:
        self._burst = float(burst)
        self._per_second = per_second
        self._tokens = float(burst)
        self._at = now

    def wait(self, now: float) -> float:
        """Seconds until one more line may go; 0.0 where it may go now."""
        self._refill(now)
        return 0.0 if self._tokens >= 1 else (1 - self._tokens) / self._per_second

    def take(self, now: float) -> None:
        """Count one line. The bucket goes into debt where the line could not wait (PONG)."""
        self._refill(now)
        self._tokens -= 1

    def slow_down(self) -> None:
        """The server closed the connection for flooding: from now on half as fast."""
        self._per_second /= 2
        self._burst = max(1.0, self._burst / 2)
        self._tokens = min(self._tokens, self._burst)

    def _refill(self, now: float) -> None:
        passed = max(0.0, now - self._at)
        self._tokens = min(self._burst, self._tokens + passed * self._per_second)
        self._at = now
