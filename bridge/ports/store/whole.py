"""The whole store: all ports, and what concerns the store as a whole."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from bridge.model.store_status import StorePulse, StoreStatus
from bridge.ports.store.admissions import AdmissionStore
from bridge.ports.store.agents import AgentStore
from bridge.ports.store.approvals import ApprovalStore
from bridge.ports.store.archive import ArchiveStore
from bridge.ports.store.authors import AuthorStore
from bridge.ports.store.chain import ChainStore
from bridge.ports.store.conversations import ConversationStore
from bridge.ports.store.credentials import CredentialStore
from bridge.ports.store.direct_messages import DirectStore
from bridge.ports.store.erasures import ErasureStore
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
from bridge.ports.store.search import SearchStore
from bridge.ports.store.statistics import StatisticsStore
from bridge.ports.store.tenants import TenantStore
from bridge.ports.store.translations import TranslationStore
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
    ArchiveStore,
    SearchStore,
    ErasureStore,
    ChainStore,
    StatisticsStore,
    TranslationStore,
    TenantStore,
    Protocol,
):
    """All ports of the store in one."""

    async def status(self) -> StoreStatus:
        """Return counts, sizes and times for the status command."""
        ...

    async def pulse(self) -> StorePulse:
        """Return the counts of a health check; their cost does not depend on the store's size."""
        ...

    async def prove_writable(self) -> None:
        """Write a small value; after a full disk, as much as a batch of messages.

        Raises:
            StoreFull: the disk is full.
            StoreError: the store cannot be written.
        """
        ...

    async def backup(self, target: Path) -> None:
        """Write a consistent copy of the store to `target` while the store is in use.

        Raises:
            StoreError: the copy cannot be written.
        """
        ...

    async def close(self) -> None:
        """Finish the pending writes and close the database."""
        ...
