"""What of a conversation an agent reads: the newest that fits its budget. Pure.

Tokens are an estimate (4 characters each, 3 bytes where the script has no letters of one byte):
each vendor counts its own way, and none of them before it is asked.
"""

from __future__ import annotations

from collections.abc import Sequence

from bridge.agents.speakers import agent_id
from bridge.content.agent_parts import STATE
from bridge.uacs import (
    Actor,
    AudioPart,
    ContentPart,
    Conversation,
    FilePart,
    ImagePart,
    Message,
    StructuredDataPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    VideoPart,
    write,
)

_PER_MEDIA = 1500
_PER_MESSAGE = 8
_CUT = "Earlier messages are not shown."
_NO_ANSWER = "This call was interrupted; nobody knows whether it was made."


def tokens_of(message: Message) -> int:
    """An estimate, rather too high than too low."""
    return _PER_MESSAGE + sum(map(_tokens, message.content))


def _tokens(part: ContentPart) -> int:
    if isinstance(part, TextPart):
        return (len(part.text.encode()) + 2) // 3 if not part.text.isascii() else _ascii(part.text)
    if isinstance(part, (ImagePart, AudioPart, VideoPart, FilePart)):
        return _PER_MEDIA
    return _ascii(write(part).decode())


def _ascii(text: str) -> int:
    return (len(text) + 3) // 4


def within(conversation: Conversation, agent: str, budget: int) -> Conversation:
    """The newest messages that fit, the last one always. Where the beginning is left out, or is
    the agent's own answer, a notice stands for it: APIs want that somebody else begins."""
    kept: list[Message] = []
    used = 0
    for message in reversed(conversation.messages):
        used += tokens_of(message)
        if kept and used > budget:
            break
        kept.append(message)
    messages = tuple(_answered(one) for one in reversed(kept))
    cut = len(kept) < len(conversation.messages)
    if messages and (cut or messages[0].actor.id == agent_id(agent)):
        messages = (_notice(messages[0]), *messages)
    return conversation.model_copy(update={"messages": messages})


def _notice(first: Message) -> Message:
    return Message(
        message_id="earlier",
        timestamp=first.timestamp,
        actor=Actor(id="bridge", role="system"),
        content=(TextPart(text=_CUT),),
    )


def _answered(message: Message) -> Message:
    """Every call with a result: a request with a call that has none is refused by all APIs."""
    results = {one.tool_call_id for one in message.content if isinstance(one, ToolResultPart)}
    if all(one.id in results for one in message.content if isinstance(one, ToolCallPart)):
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
    return [ToolResultPart(tool_call_id=one, content=_NO_ANSWER, is_error=True) for one in waiting]


def _is_state(part: ContentPart) -> bool:
    return isinstance(part, StructuredDataPart) and part.schema_id == STATE
