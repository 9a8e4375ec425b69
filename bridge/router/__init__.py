"""From a kept payload to settled operations: it sees ports only and names no platform."""

from bridge.router.policy import Policy
from bridge.router.rooms import AgentSeat, Member, Room, Rooms
from bridge.router.router import Router

__all__ = ["AgentSeat", "Member", "Policy", "Room", "Rooms", "Router"]
