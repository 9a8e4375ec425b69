"""The part of a conversation that an agent reads: the newest messages within its token limit. Pure.

The router sends a conversation that fits already; conversations from elsewhere are cut here."""

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


def readable_window(conversation: Conversation, agent: str, token_limit: int) -> Conversation:
    """Return the newest messages within the token limit, always with the last one. The limit is the
    one that the conversation was built for, else `budget`. If the beginning is cut, or is the
    agent's own answer, a notice stands first: APIs require that another actor begins."""
    own_budget = _history(conversation).get("budget")
    window = Window(own_budget if isinstance(own_budget, int) else token_limit, agent_id(agent))
    for message in reversed(conversation.messages):
        if not window.take(message):
            break
    messages = tuple(map(_with_results, window.messages()))
    is_cut = window.cut or _history(conversation).get("cut") is True
    if messages and (is_cut or messages[0].actor.id == agent_id(agent)):
        messages = (_notice(messages[0]), *messages)
    return conversation.model_copy(update={"messages": messages})


def history_is_unchanged(conversation: Conversation) -> bool | None:
    """Return whether everything that the agent knew at its last answer is still the same, however
    old it is; None if nobody checked."""
    unchanged = _history(conversation).get("unchanged")
    return unchanged if isinstance(unchanged, bool) else None


def only_new_messages(conversation: Conversation, messages: Sequence[Message]) -> Conversation:
    """Return the conversation with further messages alone, for a server that knows the earlier
    ones."""
    shorter = conversation.model_copy(update={"messages": tuple(messages)})
    history = _history(conversation)
    if "cut" not in history:
        return shorter
    additions = obj((conversation.metadata or {}).get(KEY))
    changed = {**additions, "history": {**history, "cut": False}}
    metadata = {**(conversation.metadata or {}), KEY: changed}
    return shorter.model_copy(update={"metadata": metadata})


def _history(conversation: Conversation) -> Json:
    """Return how the conversation was built (`bridge.router.turns.history`)."""
    return obj(obj((conversation.metadata or {}).get(KEY)).get("history"))


def _notice(first: Message) -> Message:
    return Message(
        message_id="earlier",
        timestamp=first.timestamp,
        actor=Actor(id="bridge", role="system"),
        content=(TextPart(text=_CUT),),
    )


def _with_results(message: Message) -> Message:
    """Give every call a result: all APIs refuse a request with an unanswered call."""
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
    open_calls: list[str] = []
    for part in message.content:
        if (
            open_calls
            and not isinstance(part, (ToolCallPart, ToolResultPart))
            and not _is_state(part)
        ):
            parts += _missing_results(open_calls)
            open_calls = []
        parts.append(part)
        if isinstance(part, ToolCallPart) and part.id not in results:
            open_calls.append(part.id)
    return message.model_copy(update={"content": (*parts, *_missing_results(open_calls))})


def _missing_results(call_ids: Sequence[str]) -> list[ContentPart]:
    return [
        ToolResultPart(tool_call_id=call_id, content=_NO_ANSWER, is_error=True)
        for call_id in call_ids
    ]


def _is_state(part: ContentPart) -> bool:
    return isinstance(part, StructuredDataPart) and part.schema_id == STATE
