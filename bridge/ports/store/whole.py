"""The whole store: every port, and what concerns the store as a whole."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from bridge.model.store_status import StorePulse, StoreStatus
from bridge.ports.store.admissions import AdmissionStore
from bridge.ports.store.agents import AgentStore
from bridge.ports.store.approvals import ApprovalStore
from bridge.ports.store.authors import AuthorStore
from bridge.ports.store.conversations import ConversationStore
from bridge.ports.store.credentials import CredentialStore
from bridge.ports.store.direct_messages import DirectStore
from bridge.ports.store.feedback import FeedbackStore
from bridge.ports.store.inbox import InboxStore
from bridge.ports.store.key_values import KeyValueStore
from bridge.ports.store.messages import MessageStore
from bridge.ports.store.outbox import OutboxStore
from bridge.ports.store.people import PeopleStore
from bridge.ports.store.reactions import ReactionStore
from bridge.ports.store.reading import ReadingStore
from bridge.ports.store.recovery import RecoveryStore
from bridge.ports.store.rooms import RoomStore
from bridge.ports.store.turns import TurnStore


class Store(
    InboxStore,
    AdmissionStore,
    MessageStore,
    ConversationStore,
    AuthorStore,
    PeopleStore,
    RoomStore,
    OutboxStore,
    ReactionStore,
    TurnStore,
    AgentStore,
    KeyValueStore,
    CredentialStore,
    RecoveryStore,
    ReadingStore,
    ApprovalStore,
    FeedbackStore,
    DirectStore,
    Protocol,
):
    """All of it."""

    async def status(self) -> StoreStatus: ...

    async def pulse(self) -> StorePulse:
        """The little that a health check tells; takes no longer in a large store."""
        ...

    async def prove_writable(self) -> None:
        """Write something small; after a disk that was full, as much as a batch of messages.
        Raises StoreError."""
        ...

    async def backup(self, target: Path) -> None:
        """A consistent copy of the whole store while it is in use."""
        ...

    async def close(self) -> None: ...
