"""Results of tools as messages of their own, by the tool (role `tool`), for readers that ask for
that view. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any
from urllib.parse import quote

from bridge.content.messages.metadata import KEY, BridgeMetadata, read_bridge_metadata
from bridge.uacs import Actor, Message, ToolCallPart, ToolResultPart


def with_tool_messages(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Return the messages, of which those with results of tools are divided there: what the agent
    says before a result, the result under the tool's name, what the agent says after it. The first
    piece keeps the id of the message; the others have a number behind it (`ID#2`)."""
    return tuple(piece for message in messages for piece in _pieces(message))


def _pieces(message: Message) -> Sequence[Message]:
    if message.actor.role != "assistant" or not any(map(_is_result, message.content)):
        return (message,)
    runs = [
        (is_result, list(indices))
        for is_result, indices in groupby(
            range(len(message.content)), lambda index: _is_result(message.content[index])
        )
    ]
    names = {part.id: part.name for part in message.content if isinstance(part, ToolCallPart)}
    return list(_numbered(message, _runs_by_tool(message, runs), names))


def _runs_by_tool(
    message: Message, runs: Sequence[tuple[bool, list[int]]]
) -> Iterator[tuple[str | None, list[int]]]:
    """The runs, each with the call that it answers (None for the agent's own)."""
    for is_result, indices in runs:
        if not is_result:
            yield None, indices
        for index in indices if is_result else ():
            part = message.content[index]
            yield (part.tool_call_id if isinstance(part, ToolResultPart) else None), [index]


def _numbered(
    message: Message, runs: Iterable[tuple[str | None, list[int]]], names: Mapping[str, str]
) -> Iterator[Message]:
    for number, (call, indices) in enumerate(runs, 1):
        changes: dict[str, Any] = {
            "content": tuple(message.content[index] for index in indices),
            "metadata": _metadata(message, indices, whole=number == 1),
        }
        if number > 1:
            changes["message_id"] = f"{message.message_id}#{number}"
        if call is not None:
            name = names.get(call, "tool")
            changes["actor"] = Actor(id=f"tool:{quote(name, safe='')}", role="tool", name=name)
        yield message.model_copy(update=changes)


def _metadata(message: Message, indices: Sequence[int], *, whole: bool) -> Mapping[str, Any]:
    """The metadata of a piece: what is known of its parts, and in the first piece the rest."""
    additions, _ = read_bridge_metadata(message)
    now = {index: place for place, index in enumerate(indices)}
    parts = {str(now[int(i)]): one for i, one in additions.parts.items() if int(i) in now}
    fallbacks = {
        str(now[int(index)]): tuple(now[place] for place in places if place in now)
        for index, places in additions.fallbacks.items()
        if int(index) in now
    }
    rest = additions if whole else BridgeMetadata()
    own = rest.model_copy(update={"parts": parts, "fallbacks": fallbacks})
    dumped = own.model_dump(mode="json", exclude_defaults=True)
    kept = {key: value for key, value in (message.metadata or {}).items() if key != KEY}
    base = kept if whole else {}
    return {**base, KEY: {"version": 1, **dumped}} if dumped or KEY in base else base


def _is_result(part: object) -> bool:
    return isinstance(part, ToolResultPart)
