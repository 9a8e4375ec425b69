"""What people see of the tools that agents call."""

from __future__ import annotations

from typing import Any

from bridge.content.cards.tool_calls import ToolsShown, with_tools_shown
from bridge.content.messages.agent_parts import STATE
from bridge.content.messages.parts import message_text
from bridge.uacs import (
    Actor,
    Message,
    StructuredDataPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)


def answer(*parts: Any) -> Message:
    return Message(
        message_id="agent:helper:1",
        timestamp="2026-11-22T12:00:00Z",
        actor=Actor(id="agent:helper", role="assistant"),
        content=parts,
    )


def call(own_id: str, name: str = "calendar__list_events", **arguments: Any) -> ToolCallPart:
    return ToolCallPart(id=own_id, name=name, arguments=arguments)


def result(own_id: str, content: Any, **fields: Any) -> ToolResultPart:
    return ToolResultPart(tool_call_id=own_id, content=content, **fields)


NOTE = StructuredDataPart(schema_id=STATE, data={"api": "x", "item": {}})
WHOLE = answer(
    TextPart(text="I look."), call("1", day="Monday"), call("2", day="Tuesday"), NOTE,
    result("1", "Nothing."), result("2", {"events": 1}), call("3", "tracker__search"),
    result("3", "broken", is_error=True), TextPart(text="Free on Monday."),
)  # fmt: skip


def text(message: Message, mode: ToolsShown) -> str:
    return message_text(with_tools_shown(message, mode))[0]


def test_tool_names_are_one_line_that_grows_with_each_call() -> None:
    growing = answer(TextPart(text="I look."), call("1", day="Monday"))

    assert text(growing, "names") == "I look.\n\n_🔧 calendar: list events_"
    assert text(WHOLE, "names") == (
        "I look.\n\n_🔧 calendar: list events ×2 · tracker: search_\n\nFree on Monday."
    )


def test_tool_calls_are_hidden_when_off() -> None:
    assert text(WHOLE, "off") == "I look.\n\nFree on Monday."


def test_full_tool_calls_are_boxes_with_arguments_and_results() -> None:
    card = with_tools_shown(WHOLE, "full").content[2]

    assert isinstance(card, StructuredDataPart)
    (box,) = card.data["nodes"]  # type: ignore[index, call-overload]
    assert box["collapsed"] is True  # type: ignore[index, call-overload]
    assert box["title"] == "🔧 calendar: list events"  # type: ignore[index, call-overload]
    assert '"day": "Tuesday"' in str(box["nodes"])  # type: ignore[index, call-overload]
    assert "broken" in str(with_tools_shown(WHOLE, "full").content[6])
    assert "⚠️" in str(with_tools_shown(WHOLE, "full").content[6])


def test_parts_keep_their_indexes_when_tool_calls_are_shown() -> None:
    modes: tuple[ToolsShown, ...] = ("off", "names", "full")
    for mode in modes:
        message = with_tools_shown(WHOLE, mode)

        assert len(message.content) == len(WHOLE.content)
        assert (message.content[0], message.content[-1]) == (WHOLE.content[0], WHOLE.content[-1])


def test_a_long_result_is_cut_and_names_its_length() -> None:
    message = with_tools_shown(answer(call("1"), result("1", "x" * 5000)), "full")

    assert "… (5000 characters in all)" in str(message.content[0])
    assert "x" * 1600 not in str(message.content[0])


def test_a_tool_name_is_never_read_as_markup() -> None:
    line = text(answer(call("1", "evil__@everyone [x](https://evil.example)")), "names")

    assert "](https" not in line.replace("\\]", "")
    assert "\\[x\\]" in line
