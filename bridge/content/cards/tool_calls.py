"""An answer with tool calls -> what people see of them: nothing, names, or everything. Pure.

Parts keep their places, so that the metadata of parts still fits. The names, arguments and results
of tools are untrusted: they become text, never markup, and mention nobody.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Literal, cast

import orjson

from bridge.content.cards.json import SCHEMA_ID, card_to_json
from bridge.content.cards.tree import Card, Container, Prose
from bridge.content.markdown import text_to_markdown
from bridge.content.messages.agent_parts import STATE, is_hidden
from bridge.content.messages.tool_names import HIDDEN_TOOLS, readable_tool
from bridge.content.text.tree import CodeBlock, Emphasis, Paragraph, Text
from bridge.model.turns import PlanStep
from bridge.uacs import (
    ContentPart,
    JsonTree,
    Message,
    StructuredDataPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    write,
)

ToolsShown = Literal["off", "names", "full"]

_MAX_CHARACTERS = 1500  # characters of arguments, and of a result
_HIDDEN_PART = StructuredDataPart(schema_id=STATE, data={})


def has_tools(message: Message) -> bool:
    """Whether the message has calls of tools or their results."""
    return any(isinstance(part, ToolCallPart | ToolResultPart) for part in message.content)


def with_tools_shown(message: Message, tools_shown: ToolsShown) -> Message:
    """Returns the message with tool calls as its readers see them."""
    if not has_tools(message):
        return message
    content: list[ContentPart] = list(message.content)
    results = {part.tool_call_id: part for part in content if isinstance(part, ToolResultPart)}
    for run in _runs(message.content):
        calls = [
            (index, part)
            for index in run
            if isinstance(part := content[index], ToolCallPart) and part.name not in HIDDEN_TOOLS
        ]
        for index in run:
            if isinstance(content[index], ToolCallPart | ToolResultPart):
                content[index] = _HIDDEN_PART
        if tools_shown == "names" and calls:
            content[calls[0][0]] = _call_names([call for _, call in calls])
        elif tools_shown == "full":
            for index, call in calls:
                content[index] = _call_card(call, results.get(call.id))
    return message.model_copy(update={"content": tuple(content)})


def tool_steps(message: Message, tools_shown: ToolsShown) -> tuple[PlanStep, ...]:
    """Returns the calls as steps of work, for platforms that show such steps separately."""
    results = {
        part.tool_call_id: part for part in message.content if isinstance(part, ToolResultPart)
    }
    return tuple(
        _step(part, results.get(part.id), whole=tools_shown == "full")
        for part in message.content
        if isinstance(part, ToolCallPart) and part.name not in HIDDEN_TOOLS and tools_shown != "off"
    )


def _step(call: ToolCallPart, result: ToolResultPart | None, *, whole: bool) -> PlanStep:
    status = "in_progress" if result is None else "error" if result.is_error else "complete"
    arguments = orjson.dumps(dict(call.arguments)).decode() if call.arguments else ""
    return PlanStep(
        id=f"tool {call.id}",
        title=readable_tool(call.name),
        status=status,
        details=_cut(arguments) if whole else "",
        output=_cut(_result_text(result)) if whole and result is not None else "",
    )


def _runs(parts: Sequence[ContentPart]) -> Iterator[list[int]]:
    """Places of calls and results without visible parts between them."""
    run: list[int] = []
    for index, part in enumerate(parts):
        if isinstance(part, ToolCallPart | ToolResultPart):
            run.append(index)
        elif run and not is_hidden(part):
            yield run
            run = []
    if run:
        yield run


def _call_names(calls: Sequence[ToolCallPart]) -> TextPart:
    """`🔧 calendar: list events ×2 · tracker: search`, which grows with each call."""
    counts: dict[str, int] = {}
    for call in calls:
        name = readable_tool(call.name)
        counts[name] = counts.get(name, 0) + 1
    names = " · ".join(f"{name} ×{count}" if count > 1 else name for name, count in counts.items())
    return TextPart(text=text_to_markdown((Paragraph((Emphasis((Text(f"🔧 {names}"),)),)),)))


def _call_card(call: ToolCallPart, result: ToolResultPart | None) -> StructuredDataPart:
    """A box that can be folded: the arguments, and the result if there is one."""
    sign = "⏳" if result is None else "⚠️" if result.is_error else "🔧"
    blocks = [CodeBlock(_cut(_pretty(dict(call.arguments))), "json")] if call.arguments else []
    if result is not None:
        output = _result_text(result)
        blocks.append(CodeBlock(_cut(output or "(nothing)")))
    nodes = (Prose(tuple(blocks)),) if blocks else ()
    title = (Text(f"{sign} {readable_tool(call.name)}"),)
    box = Container(nodes, form="panel", title=title, collapsed=True)
    data = cast("JsonTree", card_to_json(Card((box,))))
    return StructuredDataPart(schema_id=SCHEMA_ID, data=data)


def _result_text(result: ToolResultPart) -> str:
    content = json.loads(write(result))["content"]
    if isinstance(content, str):
        return content
    if isinstance(content, dict) and isinstance(parts := content.get("parts"), list):
        return "\n\n".join(_line(part) for part in parts)
    return _pretty(content)


def _line(part: object) -> str:
    match part:
        case {"type": "text", "text": str(text)}:
            return text
        case {"type": str(kind), "media_type": str(media_type)}:
            return f"[{kind}: {media_type}]"
        case _:
            return _pretty(part)


def _pretty(value: object) -> str:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()


def _cut(text: str) -> str:
    return (
        text
        if len(text) <= _MAX_CHARACTERS
        else f"{text[:_MAX_CHARACTERS]}\n… ({len(text)} characters in all)"
    )
