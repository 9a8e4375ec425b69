"""Published rate limits as sliding windows, counted the way the platforms count them."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass


@dataclass(frozen=True)
class Window:
    """At most `count` requests in any `seconds` seconds."""

    count: int
    seconds: float


class Limits:
    """Counts requests per key; refused ones do not count. Switched off, everything passes."""

    def __init__(self, *, on: bool = True) -> None:
        self.on = on
        self._times: defaultdict[tuple[str, Window], deque[float]] = defaultdict(deque)

    def retry_after(self, now: float, *limits: tuple[str, tuple[Window, ...]]) -> float | None:
        """Count one request against each key, or say in how many seconds it would pass.

        Either every window has room and each counts the request, or none does.
        """
        if not self.on:
            return None
        waits = [self._wait(key, window, now) for key, windows in limits for window in windows]
        if longest := max(waits, default=0.0):
            return longest
        for key, windows in limits:
            for window in windows:
                self._times[key, window].append(now)
        return None

    def left(self, now: float, key: str, window: Window) -> int:
        """How many more requests the window takes at this moment."""
        self._wait(key, window, now)
        return window.count - len(self._times[key, window])

    def _wait(self, key: str, window: Window, now: float) -> float:
        times = self._times[key, window]
        while times and times[0] <= now - window.seconds:
            times.popleft()
        return times[0] + window.seconds - now if len(times) >= window.count else 0.0
