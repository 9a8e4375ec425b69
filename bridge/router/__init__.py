"""From a kept payload to settled operations: it sees ports only and names no platform."""

from typing import TYPE_CHECKING, Any

from bridge.router.rooms.options import Filter, MemberOptions, MessageFilter, RoomOptions
from bridge.router.rooms.rooms import AgentMembership, Member, Room, Rooms
from bridge.router.runtime.timeouts import Timeouts

if TYPE_CHECKING:
    from bridge.router.router import Router

__all__ = [
    "AgentMembership",
    "Filter",
    "Member",
    "MemberOptions",
    "MessageFilter",
    "Room",
    "RoomOptions",
    "Rooms",
    "Router",
    "Timeouts",
]


def __getattr__(name: str) -> Any:
    """The router itself comes with its first use: settings need the values above alone."""
    if name == "Router":
        from bridge.router.router import Router

        return Router
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
