"""From a kept payload to settled operations: it sees ports only and names no platform."""

from bridge.router.options import Filter, MemberOptions, RoomOptions, Sieve
from bridge.router.policy import Policy
from bridge.router.rooms import AgentSeat, Member, Room, Rooms
from bridge.router.router import Router

__all__ = [
    "AgentSeat",
    "Filter",
    "Member",
    "MemberOptions",
    "Policy",
    "Room",
    "RoomOptions",
    "Rooms",
    "Router",
    "Sieve",
]
