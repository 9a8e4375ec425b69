"""The newest messages that fit a budget of tokens. Pure.

Tool calls and their results stay together. A message that is larger than the whole budget is cut,
with a mark.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bridge.content.messages.agent_parts import is_hidden
from bridge.content.messages.llm_tokens import PER_MESSAGE, first_tokens, part_tokens, tokens_of
from bridge.content.messages.metadata import (
    PartDetails,
    read_bridge_metadata,
    select_parts,
    with_bridge_metadata,
)
from bridge.uacs import (
    ContentPart,
    Message,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)

_MIN_TOKENS = 100  # tokens: with fewer left, a message is dropped and not cut
_MARK_TOKENS = 25  # tokens of a mark, approximately
_RESULT_CUT = "[This result is cut here.]"

_Placed = tuple[int, ContentPart]
_Details = Mapping[str, PartDetails]


@dataclass
class Window:
    """Takes messages, newest first, until one does not fit; it always takes the first one.

    `reader` is the id of the actor that reads the window. `tokens` is the approximate size of the
    messages; `cut` tells whether something was left out.
    """

    budget: int
    reader: str = ""
    tokens: int = 0
    cut: bool = False
    _messages: list[Message] = field(default_factory=list[Message])

    @property
    def is_empty(self) -> bool:
        """Whether no message was taken."""
        return not self._messages

    def take(self, message: Message) -> bool:
        """Takes one message if it fits; returns whether there is room for more."""
        needed = tokens_of(message, self.reader)
        remaining = self.budget - self.tokens
        if needed > remaining:
            self.cut = True
            if not self.is_empty and (needed <= self.budget or remaining < _MIN_TOKENS):
                return False
            message = cut_message(message, remaining, self.reader)
            needed = tokens_of(message, self.reader)
        self._messages.append(message)
        self.tokens += needed
        return not self.cut

    def messages(self) -> tuple[Message, ...]:
        """Returns the messages, oldest first.

        A tool result without its call is left out; a call without a result stays.
        """
        calls = {
            part.id
            for message in self._messages
            for part in message.content
            if isinstance(part, ToolCallPart)
        }
        whole = (_with_calls(message, calls) for message in reversed(self._messages))
        return tuple(message for message in whole if message is not None)


def cut_message(message: Message, max_tokens: int, reader: str = "") -> Message:
    """Returns the beginning of a message in at most `max_tokens` tokens, and a mark.

    Parts that only an agent's own API reads are left out: they belong to the whole message.
    """
    details = read_bridge_metadata(message)[0].parts
    visible = [placed for placed in select_parts(message, ()) if not is_hidden(placed[1])]
    remaining = max_tokens - PER_MESSAGE - _MARK_TOKENS
    selected: dict[int, ContentPart] = {}
    for unit in _groups(visible):
        fitting = _fitted(unit, details, remaining)
        selected |= fitting
        if any(fitting.get(index) is not part for index, part in unit):
            break
        remaining -= _group_tokens(unit, details)
    text = f"[This message is cut here: all of it is about {tokens_of(message, reader)} tokens.]"
    return _with_parts(message, selected, TextPart(text=text, format="plain"))


def _groups(parts: Sequence[_Placed]) -> list[list[_Placed]]:
    """Parts that are kept or dropped together: a call with its result, any other part alone."""
    units: list[list[_Placed]] = []
    calls: dict[str, list[_Placed]] = {}
    for placed in parts:
        part = placed[1]
        if isinstance(part, ToolResultPart) and part.tool_call_id in calls:
            calls[part.tool_call_id].append(placed)
            continue
        units.append([placed])
        if isinstance(part, ToolCallPart):
            calls[part.id] = units[-1]
    return units


def _group_tokens(unit: Sequence[_Placed], details: _Details) -> int:
    return sum(part_tokens(part, details.get(str(index))) for index, part in unit)


def _fitted(unit: Sequence[_Placed], details: _Details, remaining: int) -> dict[int, ContentPart]:
    """The group as it fits into the remaining tokens; empty if it does not."""
    fitted: dict[int, ContentPart] = {}
    for index, part in unit:
        fits = part_tokens(part, details.get(str(index))) <= remaining
        shortened = part if fits else _shorter(part, remaining)
        if shortened is None:
            return {}
        fitted[index] = shortened
        remaining -= part_tokens(shortened, details.get(str(index)))
    return fitted


def _shorter(part: ContentPart, max_tokens: int) -> ContentPart | None:
    """The beginning of a text or a result; None for a part that cannot be cut."""
    if isinstance(part, TextPart):
        beginning = first_tokens(part.text, max_tokens)
        return part.model_copy(update={"text": beginning}) if beginning.strip() else None
    if isinstance(part, ToolResultPart):
        text = part.content if isinstance(part.content, str) else _json(part.content)
        empty = part.model_copy(update={"content": _RESULT_CUT})
        room = (max_tokens - part_tokens(empty)) // 2  # characters that JSON escapes count more
        return None if room <= 0 else empty.model_copy(
            update={"content": f"{first_tokens(text, room)}\n{_RESULT_CUT}"}
        )  # fmt: skip
    return None


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def _with_parts(message: Message, parts: Mapping[int, ContentPart], *added: ContentPart) -> Message:
    """The message with only these of its parts, by their places, and more; their metadata moves
    along."""
    places = sorted(parts)
    content = (*(parts[index] for index in places), *added)
    additions, _ = read_bridge_metadata(message)
    shorter = message.model_copy(update={"content": content})
    if not additions.parts and not additions.fallbacks:
        return shorter
    details = {
        str(n): additions.parts[str(i)] for n, i in enumerate(places) if str(i) in additions.parts
    }
    moved = additions.model_copy(update={"parts": details, "fallbacks": {}})
    return with_bridge_metadata(shorter, moved)


def _with_calls(message: Message, calls: set[str]) -> Message | None:
    """The message without results whose call is missing; None if nothing is left."""

    def is_lost(part: ContentPart) -> bool:
        return isinstance(part, ToolResultPart) and part.tool_call_id not in calls

    if not any(map(is_lost, message.content)):
        return message
    remaining = {index: part for index, part in select_parts(message, ()) if not is_lost(part)}
    return _with_parts(message, remaining) if remaining else None
