"""How far each peer has read in each of its conversations with a room, durably."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace

import orjson

from bridge.agents.codec.json_values import obj, text
from bridge.model import AccountId, RoomId
from bridge.model.archive_records import Position
from bridge.ports.store.key_values import KeyValueStore


@dataclass(frozen=True)
class Visit:
    """One conversation of a peer with a room.

    - `position`: up to where the peer has been told.
    - `joined`: whether the peer takes part; it does until it says good-bye or is uninvited.
    - `digest`, `began`: the last envelope, and the position before it: the same envelope again,
      whose answer was lost, gets the same answer.
    """

    position: Position
    joined: bool = True
    digest: str = ""
    began: Position = field(default_factory=Position)

    def hearing(self, body: bytes) -> Visit:
        """The visit with a new envelope: the same one begins where it began before."""
        digest = hashlib.sha256(body).hexdigest()
        if digest == self.digest:
            return replace(self, position=self.began)
        return replace(self, digest=digest, began=self.position)


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
        return Visit(
            _position(text(value.get("position"))),
            value.get("joined") is True,
            text(value.get("digest")),
            _position(text(value.get("began"))),
        )

    async def put(self, room: RoomId, conversation: str, visit: Visit) -> None:
        """Keep the visit. Raises StoreError."""
        value = {
            "position": _written(visit.position),
            "joined": visit.joined,
            "digest": visit.digest,
            "began": _written(visit.began),
        }
        key = _key(room, conversation)
        await self._store.put_value(self._account, key, orjson.dumps(value).decode())


def _key(room: RoomId, conversation: str) -> str:
    return f"{room}:{hashlib.sha256(conversation.encode('utf-8', 'replace')).hexdigest()[:32]}"


def _position(written: str) -> Position:
    posted, _, changed = written.partition(".")
    return Position(int(posted), int(changed)) if posted and changed else Position()


def _written(position: Position) -> str:
    return f"{position.posted}.{position.changed}"
