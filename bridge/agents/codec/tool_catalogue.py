"""Descriptions of tools: `metadata.tools` of a conversation <-> each API's list. Pure.

A tool is `{"name", "description", "parameters", "returns"}` (JSON Schemas, the last one seldom), as
the seeds' formats have it; what else one API says of it stands under its key in `native`. A tool
that only one API has (its own web search) is `{"native": {api: ...}}` alone.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping

from pydantic import JsonValue, ValidationError

from bridge.agents.codec.json_values import Json, arr, obj, patch_of, patched, text
from bridge.content.messages.parts import MediaPart
from bridge.model import Loss
from bridge.uacs import (
    AudioPart,
    Conversation,
    FilePart,
    ImagePart,
    ToolCallPart,
    ToolResultPart,
    VideoPart,
)

_NEUTRAL = ("name", "description", "parameters", "returns")
_MEDIA = {"image": ImagePart, "audio": AudioPart, "video": VideoPart, "file": FilePart}
_ILLEGAL = re.compile(r"[^A-Za-z0-9_-]")


def tools_of(conversation: Conversation) -> list[Json]:
    return [obj(tool) for tool in arr((conversation.metadata or {}).get("tools"))]


def tool_names(conversation: Conversation) -> frozenset[str]:
    """The tools that the bridge runs itself."""
    return frozenset(name for tool in tools_of(conversation) if (name := text(tool.get("name"))))


def write_tools(
    tools: list[Json], api: str, write: Callable[[Json], Json], losses: list[Loss]
) -> list[JsonValue]:
    """Each tool as the API has it; another API's own tools are left out."""
    written: list[JsonValue] = []
    for index, tool in enumerate(tools):
        own = obj(tool.get("native")).get(api)
        if text(tool.get("name")):
            written.append(patched(write(tool), own or {}))
        elif own is not None:
            written.append(own)
        else:
            path = f"/metadata/tools/{index}"
            losses.append(Loss(path=path, kind="tool_of_another", what="a tool of another API"))
    return written


def read_tool(native: JsonValue, neutral: Json, api: str, write: Callable[[Json], Json]) -> Json:
    """A tool of an API; `neutral` is what was read of it, empty where it is the API's own."""
    if not text(neutral.get("name")):
        return {"native": {api: native}}
    tool: Json = {key: neutral[key] for key in _NEUTRAL if neutral.get(key) is not None}
    patch = patch_of(write(tool), obj(native))
    return {**tool, "native": {api: patch}} if patch else tool


def name_and_description(tool: Mapping[str, JsonValue]) -> Json:
    """Return the members of a tool that all APIs write alike; the name is made legal."""
    named: Json = {"name": legal_tool_name(text(tool.get("name")))}
    return {**named, "description": tool["description"]} if "description" in tool else named


def legal_tool_name(name: str) -> str:
    """As all APIs take it: letters, digits, _ and -, at most 64."""
    return _ILLEGAL.sub("_", name)[:64] or "_"


def unknown_tool_result(call: ToolCallPart) -> ToolResultPart:
    """What an agent is told that calls a tool which it was not offered."""
    text = f"There is no tool {call.name!r} here."
    return ToolResultPart(tool_call_id=call.id, content=text, is_error=True)


def media_of(result: ToolResultPart) -> list[MediaPart]:
    """The pictures, sounds, films and files of a result with parts."""
    content = result.content
    listed = content.get("parts") if isinstance(content, Mapping) else None
    found: list[MediaPart] = []
    for one in listed if isinstance(listed, (list, tuple)) else ():
        kind = _MEDIA.get(str(one.get("type"))) if isinstance(one, Mapping) else None
        if kind is not None:
            with contextlib.suppress(ValidationError):
                found.append(kind.model_validate(one))
    return found


def parameters_of(tool: Mapping[str, JsonValue]) -> Json:
    """The JSON Schema of a tool's arguments; an object without properties where it says nothing."""
    return obj(tool.get("parameters")) or {"type": "object", "properties": {}}
