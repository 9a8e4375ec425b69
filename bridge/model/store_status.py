"""The state of the whole store, and of one message in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bridge.model.archive_records import StoredMessage, Timeline
from bridge.model.outbox_records import LaneStatus, OperationRecord
from bridge.model.raw import Raw
from bridge.model.refs import AccountId


@dataclass(frozen=True)
class StorePulse:
    """The number of messages, and of operations that are `open`, `dead` and `unproved`: each at
    most MOST_COUNTED."""

    messages: int
    outbox: Mapping[str, int]


MAX_COUNTED = 1000


@dataclass(frozen=True)
class StoreStatus:
    """The counts that `status` and `/metrics` show.

    `waiting` are the payloads in the inbox that wait, by account.
    """

    inbox: Mapping[str, int]
    outbox: Mapping[str, int]
    turns: Mapping[str, int]
    messages: int
    lanes: Sequence[LaneStatus]
    waiting: Mapping[AccountId, int] = field(default_factory=dict[AccountId, int])


@dataclass(frozen=True)
class Explanation:
    """Everything that the store knows about one message."""

    stored: StoredMessage
    raw: Raw | None
    kept_at: float | None
    outcome: str
    timelines: Sequence[tuple[Timeline, int]]
    operations: Sequence[OperationRecord]
