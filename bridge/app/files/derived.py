"""Deletes what agents keep of files that are no longer stored: uploads at vendors, transcripts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import structlog

from bridge.errors import BridgeError
from bridge.model.blob_ids import file_id_of
from bridge.ports.agent import Agent, KeepsFiles
from bridge.ports.blobs import Blobs

log = structlog.get_logger()


async def forget_files(agents: Iterable[Agent], blobs: Blobs) -> Sequence[str]:
    """Delete what agents keep of files that are no longer stored. Returns a line for each agent
    whose vendor could not be asked; the next call asks it again."""

    async def is_stored(sha256: str) -> bool:
        return await blobs.stat(file_id_of(sha256)) is not None

    failures: list[str] = []
    for agent in agents:
        if not isinstance(agent, KeepsFiles):
            continue
        try:
            forgotten = await agent.forget_files(is_stored)
        except BridgeError as error:
            log.warning("agent_files_left", agent=agent.name, error=str(error))
            failures.append(f"{agent.name}: {error}")
        else:
            if forgotten:
                log.info("agent_files_forgotten", agent=agent.name, count=forgotten)
    return failures
