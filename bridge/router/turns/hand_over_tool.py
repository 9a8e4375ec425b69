"""`hand_over`: a tool of the bridge's own with which any agent gives the conversation away. Pure.

In: a room, or a call. Out: the tool as the agent is offered it; the part of the answer that says to
whom it hands over, and what the agent is told.
"""

from __future__ import annotations

from typing import cast

from pydantic import JsonValue

from bridge.content.messages.agent_parts import HAND_OVER, PERSON
from bridge.content.messages.tool_names import HAND_OVER as NAME
from bridge.model.turns import PartGiven
from bridge.ports.tools import Tool
from bridge.router.rooms.rooms import Room
from bridge.uacs import ToolCallPart, ToolResultPart

_OWN = "bridge"  # no server of tools: nothing is called
_DESCRIPTION = (
    "Gives this conversation away: from the end of your answer on, the one you name answers here "
    f"in your place. `{PERSON}` silences all agents until a person gives the conversation back. "
    "Use it when another one is the right one to answer, or when somebody asks for a person; say "
    "in your answer, in a sentence, that you hand over."
)


def hand_over_tool(room: Room, agent: str) -> Tool | None:
    """None where the room does not allow it."""
    if not room.talk.hand_over:
        return None
    choices = _choices(
        [membership.agent for membership in room.agents if membership.agent != agent]
    )
    parameters: dict[str, JsonValue] = {
        "type": "object",
        "properties": {
            "to": {"type": "string", "enum": choices, "description": "Who goes on."},
            "why": {"type": "string", "description": "The reason in a few words, for all to read."},
        },
        "required": ["to"],
    }
    return Tool(NAME, _OWN, NAME, _DESCRIPTION, parameters)


def _choices(others: list[str]) -> list[JsonValue]:
    return list(dict.fromkeys([*others, PERSON]))


def handed_over(
    tool: Tool, call: ToolCallPart, *, again: bool
) -> tuple[PartGiven | None, ToolResultPart]:
    """None where nothing is handed over; `again`: where that was done in this answer before."""
    to, why = call.arguments.get("to"), call.arguments.get("why")
    name = to.strip().removeprefix("@") if isinstance(to, str) else ""
    choices = cast("dict[str, dict[str, JsonValue]]", tool.parameters["properties"])["to"]["enum"]
    if again:
        return None, _told(call, "You have handed over already; end your answer.", error=True)
    if not isinstance(choices, list) or name not in choices:
        known = ", ".join(map(str, choices if isinstance(choices, list) else ()))
        text = f"Nothing was handed over: there is no {to!r} in this room; there are: {known}."
        return None, _told(call, text, error=True)
    data: JsonValue = {"to": name, **({"why": why} if isinstance(why, str) and why else {})}
    part: JsonValue = {"type": "structured_data", "schema_id": HAND_OVER, "data": data}
    text = f"{name} goes on when your answer has ended; end it now."
    return PartGiven(part=part), _told(call, text, error=False)


def _told(call: ToolCallPart, text: str, *, error: bool) -> ToolResultPart:
    told = ToolResultPart(tool_call_id=call.id, content=text)
    return told.model_copy(update={"is_error": True}) if error else told
