"""The tools with which agents find one another: `find_agent` and `describe_agent`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
from pydantic import JsonValue

from bridge.app.agent_directory.directory import Directory
from bridge.openfloor.envelope import Manifest
from bridge.openfloor.manifest import write_manifest
from bridge.ports.tools import AGENT_TOOLS, Tool
from bridge.uacs import ToolCallPart, ToolResultPart

_FIND, _DESCRIBE = "find_agent", "describe_agent"
_MOST = 5  # agents that are named


def _parameters(name: str, description: str, **optional: str) -> dict[str, JsonValue]:
    described = {name: description, **optional}
    properties: dict[str, JsonValue] = {
        key: {"type": "string", "description": about} for key, about in described.items()
    }
    return {"type": "object", "properties": properties, "required": [name]}


TOOLS = (
    Tool(
        _FIND, AGENT_TOOLS, _FIND,
        "Finds agents that can do a task: names, what they do, and how well they fit (0 to 1). "
        "Agents of this room can be handed over to by their name.",
        _parameters(
            "task", "The task in a few words.", language="The language it must speak (BCP 47: de)."
        ),
    ),
    Tool(
        _DESCRIBE, AGENT_TOOLS, _DESCRIBE,
        "Describes an agent: what it can do, for whom, where it is.",
        _parameters("agent", "Its name, speakerUri or address."),
    ),
)  # fmt: skip


class AgentTools:
    """Answers calls from a directory; what agents elsewhere say of themselves is data."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory

    async def tools(self) -> Sequence[Tool]:
        return TOOLS

    async def call(self, tool: Tool, call: ToolCallPart) -> ToolResultPart:
        if tool.own_name == _FIND:
            task = call.arguments.get("task")
            if not isinstance(task, str) or not task.strip():
                return _result(call, "`task` is a text: what the agent is to do.", is_error=True)
            language = call.arguments.get("language")
            wanted = language if isinstance(language, str) else ""
            found = await self._directory.find(task, _MOST, wanted)
            return _result(call, _listed(found) if found else "Nobody was found for this task.")
        who = call.arguments.get("agent")
        manifest = await self._directory.describe(who) if isinstance(who, str) else None
        if manifest is None:
            return _result(call, f"There is no agent {who!r}; ask {_FIND}.", is_error=True)
        return _result(call, orjson.dumps(write_manifest(manifest)).decode())


def _listed(manifests: Sequence[Manifest]) -> str:
    return orjson.dumps([_short(manifest) for manifest in manifests]).decode()


def _short(manifest: Manifest) -> dict[str, Any]:
    who = manifest.identification
    return {
        "name": who.conversational_name,
        "synopsis": who.synopsis,
        "speakerUri": who.speaker_uri,
        "score": manifest.score,
    }


def _result(call: ToolCallPart, text: str, *, is_error: bool = False) -> ToolResultPart:
    result = ToolResultPart(tool_call_id=call.id, content=text)
    return result.model_copy(update={"is_error": True}) if is_error else result
