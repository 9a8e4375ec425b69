"""How far each peer has read in each of its conversations with a room, durably."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace

import orjson

from bridge.agents.codec.json_values import arr, obj, text
from bridge.model import AccountId, RoomId
from bridge.model.archive_records import Position
from bridge.openfloor.machines import SERVING, ServingHappening, ServingState
from bridge.ports.store.key_values import KeyValueStore


@dataclass(frozen=True)
class Aside:
    """What a peer said to one agent alone: the id of the message, the agent, and the URI of the
    speaker who gets the answer."""

    question: str
    agent: str
    speaker: str


@dataclass(frozen=True)
class Visit:
    """One conversation of a peer with a room.

    - `position`: up to where the peer has been told.
    - `state`: the state of figures 1 to 3.
    - `seen`: when the last envelope came, in seconds since 1970.
    - `asides`: what agents have yet to answer the peer alone.
    - `digest`, `began`: the last envelope, and the position before it: the same envelope again,
      whose answer was lost, gets the same answer.
    """

    position: Position
    state: ServingState = "idle"
    seen: float = 0.0
    asides: tuple[Aside, ...] = ()
    digest: str = ""
    began: Position = field(default_factory=Position)

    @property
    def joined(self) -> bool:
        """Whether the peer takes part: until it says good-bye or is uninvited."""
        return self.state != "idle"

    def after(self, happening: ServingHappening) -> Visit:
        """Return the visit in its next state."""
        return replace(self, state=SERVING.after(self.state, happening))

    def hearing(self, body: bytes, now: float, idle_seconds: float | None) -> Visit:
        """Return the visit with a new envelope: the same one begins where it began before. A peer
        that was silent for long has left."""
        digest = hashlib.sha256(body).hexdigest()
        visit = replace(self, seen=now)
        if digest == self.digest:
            return replace(visit, position=self.began)
        if idle_seconds is not None and self.seen and self.seen + idle_seconds < now:
            visit = visit.after("silence")
        return replace(visit, digest=digest, began=self.position)


class Visits:
    """The visits of one peer."""

    def __init__(self, store: KeyValueStore, peer: str) -> None:
        self._store = store
        self._account = AccountId(f"openfloor:{peer}")

    async def get(self, room: RoomId, conversation: str) -> Visit | None:
        """Return the visit; None for a conversation that is new. Raises StoreError."""
        stored = await self._store.get_value(self._account, _key(room, conversation))
        if stored is None:
            return None
        value = obj(orjson.loads(stored))
        seen = value.get("seen")
        return Visit(
            position=_position(text(value.get("position"))),
            state="ready" if value.get("joined") is True else "idle",
            seen=float(seen) if isinstance(seen, int | float) else 0.0,
            asides=tuple(_aside(one) for one in map(obj, arr(value.get("asides")))),
            digest=text(value.get("digest")),
            began=_position(text(value.get("began"))),
        )

    async def put(self, room: RoomId, conversation: str, visit: Visit) -> None:
        """Keep the visit. Raises StoreError."""
        value = {
            "position": _written(visit.position),
            "joined": visit.joined,
            "seen": visit.seen,
            "asides": [asdict(one) for one in visit.asides],
            "digest": visit.digest,
            "began": _written(visit.began),
        }
        key = _key(room, conversation)
        await self._store.put_value(self._account, key, orjson.dumps(value).decode())


def _aside(value: Mapping[str, object]) -> Aside:
    return Aside(str(value.get("question")), str(value.get("agent")), str(value.get("speaker")))


def _key(room: RoomId, conversation: str) -> str:
    return f"{room}:{hashlib.sha256(conversation.encode('utf-8', 'replace')).hexdigest()[:32]}"


def _position(written: str) -> Position:
    posted, _, changed = written.partition(".")
    return Position(int(posted), int(changed)) if posted and changed else Position()


def _written(position: Position) -> str:
    return f"{position.posted}.{position.changed}"
