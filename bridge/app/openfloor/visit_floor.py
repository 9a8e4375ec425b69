"""One envelope while it is answered."""

from __future__ import annotations

from dataclasses import dataclass, field

from bridge.app.api.api_keys import Caller
from bridge.app.api.gateway import RoomView
from bridge.app.openfloor.visits import Visit
from bridge.model import MessageId
from bridge.openfloor.envelope import Envelope, Event


@dataclass
class VisitFloor:
    """An envelope of a peer, and what its answer has so far.

    - `visit`: the peer's conversation with the room, as it is after the events until now.
    - `events`: those of the answer.
    - `posted`: the messages that the envelope said.
    - `push`: the address to which late answers go; "" where the peer has to ask for them.
    """

    caller: Caller
    room: RoomView
    envelope: Envelope
    visit: Visit
    events: list[Event] = field(default_factory=list[Event])
    posted: list[MessageId] = field(default_factory=list[MessageId])
    push: str = ""
