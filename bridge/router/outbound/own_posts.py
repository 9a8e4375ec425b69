"""What this process posted lately, so that most of its echoes are known without the store."""

from __future__ import annotations

from bridge.model import Call, ChannelRef, OperationId, Receipt
from bridge.runtime.newest import Newest

_REMEMBERED = 10_000  # calls: those of a minute at the highest rate


class OwnPosts:
    """Knows nothing of what other processes and earlier ones posted: the store does."""

    def __init__(self) -> None:
        self._operations = Newest[OperationId](_REMEMBERED)
        self._native = Newest[tuple[ChannelRef, str]](_REMEMBERED)

    def note_call(self, call: Call) -> None:
        """A call of this operation is made: the operation is in the store."""
        self._operations.add(call.operation)

    def note_answer(self, call: Call, receipt: Receipt) -> None:
        """The platform says which native message the call made or changed."""
        self._native.add((call.channel, receipt.native_id))

    def are_of(self, operation: OperationId) -> bool:
        """Whether a call of this operation was made."""
        return operation in self._operations

    def include(self, channel: ChannelRef, native_id: str) -> bool:
        """Whether a call made or changed this native message."""
        return (channel, native_id) in self._native
