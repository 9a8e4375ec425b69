"""Results of tools as messages of their own, for readers that ask for them."""

from __future__ import annotations

from typing import Any

from bridge.content.messages.metadata import read_bridge_metadata
from bridge.content.messages.tool_messages import with_tool_messages
from bridge.uacs import Actor, Message, TextPart, ToolCallPart, ToolResultPart


def message(*parts: Any, role: Any = "assistant", **more: Any) -> Message:
    return Message(
        message_id="agent:helper:t1", timestamp="2026-01-05T10:00:00Z",
        actor=Actor(id="agent:helper", role=role, name="helper"), content=parts, **more,
    )  # fmt: skip


CALLS = (
    TextPart(text="I look."),
    ToolCallPart(id="c1", name="look_up", arguments={"word": "answer"}),
    ToolCallPart(id="c2", name="count", arguments={}),
    ToolResultPart(tool_call_id="c1", content="42"),
    ToolResultPart(tool_call_id="c2", content="7"),
    TextPart(text="It is 42."),
)


def test_results_are_messages_of_their_tools_between_what_the_agent_says() -> None:
    first, one, two, last = with_tool_messages([message(*CALLS)])

    assert [m.message_id for m in (first, one, two, last)] == [
        "agent:helper:t1", "agent:helper:t1#2", "agent:helper:t1#3", "agent:helper:t1#4",
    ]  # fmt: skip
    assert first.content == CALLS[:3]
    assert (one.actor.id, one.actor.role, one.actor.name) == ("tool:look_up", "tool", "look_up")
    assert (two.actor.name, two.content) == ("count", CALLS[4:5])
    assert (last.actor.id, last.content) == ("agent:helper", CALLS[5:])


def test_all_parts_stay_in_order() -> None:
    pieces = with_tool_messages([message(*CALLS)])

    assert tuple(part for piece in pieces for part in piece.content) == CALLS


def test_details_stay_with_their_parts_and_the_rest_with_the_first_piece() -> None:
    metadata = {
        "usage": {"input": 3},
        "uacs_bridge": {"version": 1, "parts": {"0": {"name": "a"}, "5": {"notice": True}}},
    }
    first, _, _, last = with_tool_messages([message(*CALLS, metadata=metadata)])

    assert (first.metadata or {})["usage"] == {"input": 3}
    assert "usage" not in (last.metadata or {})
    assert read_bridge_metadata(first)[0].parts["0"].name == "a"
    assert read_bridge_metadata(last)[0].parts["0"].notice is True


def test_messages_without_results_and_those_of_others_are_unchanged() -> None:
    plain = message(*CALLS[:2])
    ready = message(CALLS[3], role="tool")

    assert with_tool_messages([plain, ready]) == (plain, ready)


def test_a_result_without_its_call_is_one_of_a_tool() -> None:
    (only,) = with_tool_messages([message(CALLS[3])])

    assert (only.actor.id, only.message_id) == ("tool:tool", "agent:helper:t1")
