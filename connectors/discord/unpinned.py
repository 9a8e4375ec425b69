"""Detects unpinned messages: Discord reports no unpinning of its own, and never by whom.

`MESSAGE_UPDATE` (pinned: false) also comes for other reasons; `CHANNEL_PINS_UPDATE` says that some
pin of the channel changed, in no promised order before or after. Together they mean an unpinning.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import Any

from bridge.ports.clock import Clock

UNPINNED = (
    "MESSAGE_UNPINNED"  # our own kind of inbox row: the update of a message that lost its pin
)
PIN_KINDS = frozenset({"MESSAGE_UPDATE", "CHANNEL_PINS_UPDATE"})
PINNED_MESSAGE = "MESSAGE_PINNED"  # our own kind: a message that reading back found pinned
_TOGETHER_S = 10.0
_MAX_MESSAGES = 1024  # messages remembered
_MAX_PER_CHANNEL = 32


class OwnUnpins:
    """Messages that the bridge itself is unpinning."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._until: OrderedDict[str, float] = OrderedDict()

    def note(self, message: str) -> None:
        self._until[message] = self._clock.monotonic() + 3 * _TOGETHER_S
        self._until.move_to_end(message)
        if len(self._until) > _MAX_MESSAGES:
            self._until.popitem(last=False)

    def __contains__(self, message: str) -> bool:
        return self._until.get(message, 0.0) > self._clock.monotonic()


class UnpinDetector:
    """Finds unpinnings among the updates of messages."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._updates: OrderedDict[str, deque[tuple[float, dict[str, Any]]]] = OrderedDict()
        self._pins_changed: OrderedDict[str, float] = OrderedDict()

    def observe(self, kind: str, data: dict[str, Any]) -> list[tuple[float, dict[str, Any]]]:
        """Take one event and return the updates that are now known to be unpinnings.

        Each comes with its age in seconds.
        """
        channel, now = str(data.get("channel_id")), self._clock.monotonic()
        if kind == "CHANNEL_PINS_UPDATE":
            _remember(self._pins_changed, channel, now)
            recent_updates = self._updates.pop(channel, ())
            return [
                (now - received_at, update)
                for received_at, update in recent_updates
                if received_at + _TOGETHER_S >= now
            ]
        if kind != "MESSAGE_UPDATE" or not isinstance(data.get("pinned"), bool):
            return []
        updates = self._updates.get(channel) or deque(maxlen=_MAX_PER_CHANNEL)
        if data["pinned"]:
            for update in [update for update in updates if update[1].get("id") == data.get("id")]:
                updates.remove(
                    update
                )  # the message is pinned, so its earlier updates were no unpinning
            return []
        if self._pins_changed.get(channel, float("-inf")) + _TOGETHER_S >= now:
            return [(0.0, data)]
        updates.append((now, data))
        _remember(self._updates, channel, updates)
        return []


def _remember(remembered: OrderedDict[str, Any], channel: str, value: Any) -> None:
    remembered[channel] = value
    remembered.move_to_end(channel)
    if len(remembered) > _MAX_MESSAGES:
        remembered.popitem(last=False)
