"""What of a conversation an agent reads: the newest that fits its budget. Pure.

The router hands over what fits already; what an agent is given in other ways is cut here.
"""

from __future__ import annotations

from collections.abc import Sequence

from bridge.agents.codec.json_values import Json, obj
from bridge.agents.codec.speakers import agent_id
from bridge.content.messages.agent_parts import STATE
from bridge.content.messages.conversation_window import Window
from bridge.content.messages.metadata import KEY
from bridge.uacs import (
    Actor,
    ContentPart,
    Conversation,
    Message,
    StructuredDataPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)

_CUT = "Earlier messages are not shown."
_NO_ANSWER = "This call was interrupted; nobody knows whether it was made."


def readable_window(conversation: Conversation, agent: str, budget: int) -> Conversation:
    """The newest messages that fit, the last one always: into the budget that the conversation was
    put together for, or into this one. Where the beginning is left out, or is the agent's own
    answer, a notice stands for it: APIs want that somebody else begins."""
    given = _history(conversation).get("budget")
    window = Window(given if isinstance(given, int) else budget, agent_id(agent))
    for message in reversed(conversation.messages):
        if not window.take(message):
            break
    messages = tuple(map(_answered, window.messages()))
    cut = window.cut or _history(conversation).get("cut") is True
    if messages and (cut or messages[0].actor.id == agent_id(agent)):
        messages = (_notice(messages[0]), *messages)
    return conversation.model_copy(update={"messages": messages})


def history_is_unchanged(conversation: Conversation) -> bool | None:
    """Whether all that the agent knew when it last answered still stands as it did, however long
    ago it was said; None where nobody looked."""
    found = _history(conversation).get("unchanged")
    return found if isinstance(found, bool) else None


def only_new_messages(conversation: Conversation, messages: Sequence[Message]) -> Conversation:
    """Further messages for a server that knows what was said before."""
    found = conversation.model_copy(update={"messages": tuple(messages)})
    history = _history(conversation)
    if "cut" not in history:
        return found
    about = obj((conversation.metadata or {}).get(KEY))
    kept = {**about, "history": {**history, "cut": False}}
    metadata = {**(conversation.metadata or {}), KEY: kept}
    return found.model_copy(update={"metadata": metadata})


def _history(conversation: Conversation) -> Json:
    """What whoever put it together says of that (`bridge.router.turns.request`)."""
    return obj(obj((conversation.metadata or {}).get(KEY)).get("history"))


def _notice(first: Message) -> Message:
    return Message(
        message_id="earlier",
        timestamp=first.timestamp,
        actor=Actor(id="bridge", role="system"),
        content=(TextPart(text=_CUT),),
    )


def _answered(message: Message) -> Message:
    """Every call with a result: a request with a call that has none is refused by all APIs."""
    results = {
        native_part.tool_call_id
        for native_part in message.content
        if isinstance(native_part, ToolResultPart)
    }
    if all(
        native_part.id in results
        for native_part in message.content
        if isinstance(native_part, ToolCallPart)
    ):
        return message
    parts: list[ContentPart] = []
    waiting: list[str] = []
    for part in message.content:
        if waiting and not isinstance(part, (ToolCallPart, ToolResultPart)) and not _is_state(part):
            parts += _results(waiting)
            waiting = []
        parts.append(part)
        if isinstance(part, ToolCallPart) and part.id not in results:
            waiting.append(part.id)
    return message.model_copy(update={"content": (*parts, *_results(waiting))})


def _results(waiting: Sequence[str]) -> list[ContentPart]:
    return [
        ToolResultPart(tool_call_id=call_id, content=_NO_ANSWER, is_error=True)
        for call_id in waiting
    ]


def _is_state(part: ContentPart) -> bool:
    return isinstance(part, StructuredDataPart) and part.schema_id == STATE
