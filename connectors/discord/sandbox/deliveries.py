"""Events on their way to the gateway, with the requested faults."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable

from bridge.sandbox.faults import Fault, FaultKind, Faults
from connectors.discord.sandbox.events import Event

_REORDER_AT_MOST_S = 5.0
_KINDS: tuple[FaultKind, ...] = ("drop", "delay", "duplicate", "reorder")


class Deliveries:
    """Passes events on at once and in order, unless a fault changes that."""

    def __init__(
        self, faults: Faults, forward: Callable[[Event], None], disconnect: Callable[[], None]
    ) -> None:
        self._faults = faults
        self._forward = forward
        self._disconnect = disconnect
        self._overtaken: defaultdict[int, list[Event]] = defaultdict(list)
        self._timers: set[asyncio.TimerHandle] = set()

    def deliver(self, event: Event) -> None:
        if self._fault(event, "disconnect"):
            self._disconnect()
        fault = self._fault(event, *_KINDS)
        match fault.kind if fault else None:
            case "drop":
                return
            case "delay":
                self._later(fault.seconds if fault else 0.0, event)
                return
            case "reorder":
                self._hold(event, fault.seconds if fault else 0.0)
                return
            case "duplicate":
                self._forward(event)
            case _:
                pass
        self._forward(event)
        held_events = self._overtaken.pop(event.channel.id, [])
        while (
            held_events
        ):  # emptied in place: the timers of these events look for them in this list
            self._forward(held_events.pop(0))

    def close(self) -> None:
        for timer in self._timers:
            timer.cancel()
        self._timers.clear()

    def _fault(self, event: Event, *kinds: FaultKind) -> Fault | None:
        """Take a fault for the event's own channel, or for the parent of its thread."""
        channel = event.channel
        fault = self._faults.take(f"discord:event:{channel.id}", *kinds)
        if fault is None and channel.root is not channel:
            fault = self._faults.take(f"discord:event:{channel.root.id}", *kinds)
        return fault

    def _later(self, seconds: float, event: Event) -> None:
        self._at(seconds, lambda: self._forward(event))

    def _hold(self, event: Event, seconds: float) -> None:
        """Hold an event until the next one of its channel, or for a while if none comes."""
        held_events = self._overtaken[event.channel.id]
        held_events.append(event)

        def give_up() -> None:
            if event in held_events:
                held_events.remove(event)
                self._forward(event)

        self._at(seconds or _REORDER_AT_MOST_S, give_up)

    def _at(self, seconds: float, act: Callable[[], None]) -> None:
        def run() -> None:
            self._timers.discard(timer)
            act()

        timer = asyncio.get_running_loop().call_later(seconds, run)
        self._timers.add(timer)
