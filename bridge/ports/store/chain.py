"""Port: the hash chain, by which changes of the archive are found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from bridge.model.chain_records import ChainHead, ChainReport


class ChainStore(Protocol):
    """Verifies the archive. Whatever adds or changes a message extends the chain by itself."""

    async def verify_chain(self, pinned: Mapping[str, ChainHead]) -> ChainReport:
        """Compare all messages, former versions, payloads and reactions with the chain.

        Args:
            pinned: heads that were written down earlier, by the ids of their conversations; a chain
                that was cut or made anew since differs from them.
        """
        ...
