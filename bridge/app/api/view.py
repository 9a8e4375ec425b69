"""Messages and conversations as programs see them, without agents' private data. Pure."""

from __future__ import annotations

from typing import Any

from bridge.content.cards.tool_calls import ToolsShown, with_tools_shown
from bridge.content.markdown.mentions import mentioned_actors
from bridge.content.messages.agent_parts import is_hidden
from bridge.content.messages.metadata import KEY, read_bridge_metadata
from bridge.content.messages.parts import message_text
from bridge.model import ActorId
from bridge.router.turns.selection import is_named
from bridge.uacs import Conversation, Message, TextPart

_AGENTS = "agents"  # metadata.agents.<name>: an agent's private data
_TOOLS = "tools"  # metadata.tools of a Conversation: the tools of its agents
_HOME = "home"  # the rest of a native message, for its own platform only


def outside_view(message: Message, tools: ToolsShown = "full") -> Message:
    """The message without agents' private state and reasoning, data that only its platform can
    read, and tool calls that the room does not show. `full` leaves tool calls and results
    unchanged."""
    if tools != "full":
        message = with_tools_shown(message, tools)
    unshown = {index for index, part in enumerate(message.content) if is_hidden(part)}
    metadata = message.metadata or {}
    ours = metadata.get(KEY)
    has_home = isinstance(ours, dict) and _HOME in ours
    if not unshown and _AGENTS not in metadata and not has_home:
        return message
    outside_metadata: dict[str, Any] = {
        key: value for key, value in metadata.items() if key != _AGENTS
    }
    if isinstance(ours, dict):
        outside_metadata[KEY] = _renumbered(message, ours, unshown)
    content = [part for index, part in enumerate(message.content) if index not in unshown]
    parts = content or [TextPart(text="", format="plain")]
    return message.model_copy(update={"content": tuple(parts), "metadata": outside_metadata})


def conversation_view(conversation: Conversation, tools: ToolsShown) -> Conversation:
    """The conversation with messages and agents' tools as the room shows them."""
    messages = tuple(outside_view(message, tools) for message in conversation.messages)
    metadata: dict[str, Any] = dict(conversation.metadata or {})
    described = metadata.pop(_TOOLS, [])
    if described and tools != "off":
        tools_view = (
            described if tools == "full" else [{"name": tool["name"]} for tool in described]
        )
        metadata[_TOOLS] = tools_view
    return conversation.model_copy(update={"messages": messages, "metadata": metadata})


def mentions(message: Message, name: str, actor: ActorId) -> bool:
    """Whether the message's text contains `@name` or a mention of the actor."""
    text, _ = message_text(message)
    return is_named(name, text) or actor in mentioned_actors(text)


def _renumbered(message: Message, ours: dict[str, Any], unshown: set[int]) -> dict[str, Any]:
    """The bridge's metadata with the parts' indices after hidden parts are removed."""
    details = {key: value for key, value in ours.items() if key != _HOME}
    if not unshown:
        return details
    part_indices = [index for index in range(len(message.content)) if index not in unshown]
    now = {index: place for place, index in enumerate(part_indices)}
    additions, _ = read_bridge_metadata(message)
    dumped = additions.model_dump(mode="json", include={"fallbacks", "parts"}, exclude_unset=True)
    for key in ("fallbacks", "parts"):
        details.pop(key, None)
    if additions.parts:
        details["parts"] = {
            str(now[int(key)]): index for key, index in dumped["parts"].items() if int(key) in now
        }
    if additions.fallbacks:
        details["fallbacks"] = {
            str(now[int(key)]): [now[index] for index in places if index in now]
            for key, places in dumped["fallbacks"].items()
            if int(key) in now
        }
    return details
