"""Tool descriptions: `metadata.tools` of a conversation <-> each API's list. Pure.

A tool is `{"name", "description", "parameters", "returns"}`; the last two are JSON Schemas, and
`returns` is rare. What one API says beyond that stands under its key in `native`. A tool that only
one API has (its own web search) is `{"native": {api: ...}}` alone."""

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
    """Return the tool descriptions of a conversation."""
    return [obj(tool) for tool in arr((conversation.metadata or {}).get("tools"))]


def tool_names(conversation: Conversation) -> frozenset[str]:
    """Return the names of the tools that the bridge runs."""
    return frozenset(name for tool in tools_of(conversation) if (name := text(tool.get("name"))))


def write_tools(
    tools: list[Json], api: str, write: Callable[[Json], Json], losses: list[Loss]
) -> list[JsonValue]:
    """Return each tool in the API's form, without tools that only another API has, which are
    Losses."""
    written: list[JsonValue] = []
    for index, tool in enumerate(tools):
        own_form = obj(tool.get("native")).get(api)
        if text(tool.get("name")):
            written.append(patched(write(tool), own_form or {}))
        elif own_form is not None:
            written.append(own_form)
        else:
            path = f"/metadata/tools/{index}"
            losses.append(Loss(path=path, kind="tool_of_another", what="a tool of another API"))
    return written


def read_tool(native: JsonValue, neutral: Json, api: str, write: Callable[[Json], Json]) -> Json:
    """Return the description of an API's tool; `neutral` is what was read of it, empty if only this
    API has the tool."""
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
    """Return a tool name that all APIs accept: letters, digits, _ and -, at most 64."""
    return _ILLEGAL.sub("_", name)[:64] or "_"


def unknown_tool_result(call: ToolCallPart) -> ToolResultPart:
    """Return the result of a call of a tool that the agent was not offered."""
    text = f"There is no tool {call.name!r} here."
    return ToolResultPart(tool_call_id=call.id, content=text, is_error=True)


def media_of(result: ToolResultPart) -> list[MediaPart]:
    """Return the images, sounds, videos and files among the parts of a tool result."""
    content = result.content
    parts = content.get("parts") if isinstance(content, Mapping) else None
    media: list[MediaPart] = []
    for part in parts if isinstance(parts, (list, tuple)) else ():
        kind = _MEDIA.get(str(part.get("type"))) if isinstance(part, Mapping) else None
        if kind is not None:
            with contextlib.suppress(ValidationError):
                media.append(kind.model_validate(part))
    return media


def parameters_of(tool: Mapping[str, JsonValue]) -> Json:
    """Return the JSON Schema of a tool's arguments; an object without properties if the tool has
    none."""
    return obj(tool.get("parameters")) or {"type": "object", "properties": {}}
