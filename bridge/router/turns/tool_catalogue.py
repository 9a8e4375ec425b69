"""The tools of a room's agents stand in its Conversation, as they are now (`metadata.tools`)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import orjson
import structlog
from pydantic import JsonValue

from bridge.errors import BridgeError
from bridge.model import RoomId
from bridge.ports.store.agents import AgentStore
from bridge.ports.tools import Tool
from bridge.router.rooms.rooms import Room, Rooms
from bridge.router.runtime.background import Background
from bridge.router.turns.tools import Tools

log = structlog.get_logger()


class ToolCatalogue:
    """An agent's tools are noted when it is asked, and from then on whenever their list changes:
    servers are not connected for this alone."""

    def __init__(
        self, store: AgentStore, rooms: Rooms, tools: Tools, background: Background
    ) -> None:
        self._background = background
        self._store = store
        self._rooms = rooms
        self._tools = tools
        self._noted: dict[tuple[RoomId, str], str] = {}

    async def note(self, room: Room, agent: str, tools: Sequence[Tool]) -> None:
        """What the agent has in this room now."""
        described = [tool_metadata(tool) for tool in tools]
        digest = hashlib.sha256(orjson.dumps(described)).hexdigest()
        if self._noted.get((room.id, agent)) != digest:
            await self._store.put_tools(room.conversation, agent, described)
            self._noted[room.id, agent] = digest

    def changed(self, server: str | None) -> None:
        """The list of this server has changed; None: what agents have in rooms may have. They are
        noted beside all else."""
        self._background.spawn(self._look_again(server), "tools described")

    async def _look_again(self, server: str | None) -> None:
        try:
            if server is None:
                await self._forget()
            for room_id, agent in list(self._noted):
                room = self._rooms.by_id.get(room_id)
                membership = None if room is None else room.membership(agent)
                if (
                    room is not None
                    and membership is not None
                    and server in (None, *membership.tools)
                ):
                    await self.note(room, agent, await self._tools.of(room, agent))
        except BridgeError as error:
            log.warning("tool_description_failed", error=str(error))

    async def _forget(self) -> None:
        """Agents that sit in a room no more have no tools there."""
        for room in self._rooms.all:
            await self._store.keep_tools(
                room.conversation, [membership.agent for membership in room.agents]
            )
        for room_id, agent in list(self._noted):
            room = self._rooms.by_id.get(room_id)
            if room is None or room.membership(agent) is None:
                del self._noted[room_id, agent]


def tool_metadata(tool: Tool) -> dict[str, JsonValue]:
    """As a conversation's metadata has it."""
    found: dict[str, JsonValue] = {"name": tool.name}
    if tool.description:
        found["description"] = tool.description
    return {**found, "parameters": tool.parameters or {"type": "object", "properties": {}}}
