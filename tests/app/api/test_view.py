"""Programs see a room's Conversation without private data."""

from __future__ import annotations

from typing import Any

import pytest

from bridge.app.api.view import conversation_view
from bridge.content.cards.tool_calls import ToolsShown
from bridge.uacs import Actor, Conversation, Message, TextPart

WHEN = "2026-11-22T12:00:00Z"
TOOL: Any = {"name": "calendar__list", "description": "Lists.", "parameters": {}, "agents": ["bot"]}


@pytest.mark.parametrize(
    ("setting", "tools"), [("off", None), ("names", [{"name": "calendar__list"}]), ("full", [TOOL])]
)
def test_the_tool_setting_of_a_room_limits_what_programs_see_of_tools(
    setting: ToolsShown, tools: Any
) -> None:
    room = Conversation(
        conversation_id="0b0f5c9e-8f5e-5c6e-9d0e-2f6f3f1f7a11",
        created_at=WHEN,
        updated_at=WHEN,
        messages=(),
        metadata={"tools": [TOOL], "uacs_bridge": {"kind": "room"}},
    )

    metadata: Any = conversation_view(room, setting).metadata

    assert metadata.get("tools") == tools
    assert metadata["uacs_bridge"] == {"kind": "room"}


def test_private_state_of_agents_is_not_shown() -> None:
    answer = Message(
        message_id="a1",
        timestamp=WHEN,
        actor=Actor(id="agent:bot", role="assistant"),
        content=(TextPart(text="Yes."),),
        metadata={"agents": {"bot": {"mood": "good"}}, "usage": {"input_tokens": 1}},
    )
    room = Conversation(
        conversation_id="0b0f5c9e-8f5e-5c6e-9d0e-2f6f3f1f7a11",
        created_at=WHEN,
        updated_at=WHEN,
        messages=(answer,),
        metadata={},
    )

    (message_view,) = conversation_view(room, "full").messages

    assert message_view.metadata == {"usage": {"input_tokens": 1}}
