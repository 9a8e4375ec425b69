"""A stream of chat completion chunks -> agent events, and the whole response. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import takewhile

import orjson
from pydantic import JsonValue

from bridge.agents.codec.call_ids import MADE_ID
from bridge.agents.codec.json_values import Json, arr, number, obj, patched, text, without
from bridge.agents.codec.messages import read_arguments
from bridge.agents.codec.native_parts import events_of
from bridge.agents.codec.stream_reader import DONE, ENDED_EARLY, Ending
from bridge.agents.openai_chat.read import message_parts, thought_parts
from bridge.agents.openai_chat.thoughts import RetroactiveThought, Segment, ThoughtParser
from bridge.agents.transport.api_errors import api_error
from bridge.content.messages.agent_parts import STATE
from bridge.errors import AgentError
from bridge.model.turns import AgentEvent, TextDelta, TextReplaced
from bridge.uacs import ContentPart, StructuredDataPart, TextPart, write

_GROWING = ("content", "reasoning_content", "reasoning", "refusal")
_PASSING = ("choices", "usage", "object", "obfuscation")


class Stream:
    """Reads chunks in order. Some servers end a stream without a `finish_reason`, only with the
    usage or `[DONE]`. Calls without an id, or with an id from `used_ids` or a repeated one, get an
    id of the bridge, so that each result finds its call."""

    def __init__(self, *, thinks_first: bool = False, used_ids: Collection[str] = ()) -> None:
        self._thoughts = ThoughtParser(first=thinks_first)
        self._used_ids = frozenset(used_ids)
        self._top: Json = {}
        self._choice: Json = {"index": 0}
        self._message: Json = {"role": "assistant"}
        self._calls: list[Json] = []
        self._early: list[ContentPart] = []
        self._streamed = False
        self._complete = False

    def take(self, event: JsonValue) -> Sequence[AgentEvent]:
        chunk = obj(event)
        self._complete |= event == DONE or bool(obj(chunk.get("usage")).get("completion_tokens"))
        if chunk.get("error") is not None:
            raise api_error(chunk["error"])
        self._top.update(without(chunk, *_PASSING))
        if isinstance(chunk.get("usage"), dict):
            self._top["usage"] = chunk["usage"]
        for choice in map(obj, arr(chunk.get("choices"))):
            if number(choice.get("index")) in (0, None):
                return self._take_choice(choice)
        return ()

    def end(self) -> Sequence[AgentEvent]:
        if not self._complete and not text(self._choice.get("finish_reason")):
            raise AgentError(ENDED_EARLY)
        events = self._say(self._thoughts.end())
        parts = message_parts(self._whole_message(), "0")
        early = [part for part in self._early if part in parts]
        rest = [part for part in parts if part not in early]
        if self._streamed:
            refusal = text(self._message.get("refusal"))
            rest = [p for p in rest if not isinstance(p, TextPart) or p.text == refusal]
        return [*events, *events_of(rest)]

    @property
    def thinks_first(self) -> bool:
        """Whether the answer began with reasoning, without an opening tag."""
        return self._thoughts.first

    @property
    def ending(self) -> Ending:
        reason = text(self._choice.get("finish_reason"))
        if refusal := text(self._message.get("refusal")):
            return Ending("refused", refusal)
        if reason == "content_filter":
            return Ending("refused")
        if self._calls:
            return Ending("calls", reason)
        return Ending("length" if reason == "length" else "done", reason)

    @property
    def response(self) -> Json:
        choice: Json = {**self._choice, "message": self._whole_message()}
        return {**self._top, "object": "chat.completion", "choices": [choice]}

    def _whole_message(self) -> Json:
        calls: Json = {"tool_calls": list(self._with_ids())} if self._calls else {}
        return {**self._message, **calls}

    def _with_ids(self) -> Iterator[Json]:
        used = set(self._used_ids)
        made = 0
        for call in self._calls:
            own_id = text(call.get("id"))
            while not own_id or own_id in used:
                made += 1
                own_id = f"{MADE_ID}{made}"
            used.add(own_id)
            yield {**call, "id": own_id}

    def _take_choice(self, choice: Json) -> list[AgentEvent]:
        for key, value in without(choice, "delta", "message").items():
            if value is not None:
                self._choice[key] = value
        delta = obj(choice.get("delta") or choice.get("message"))
        events: list[AgentEvent] = []
        for key, value in without(delta, "tool_calls", "role").items():
            events += self._grow(key, value)
        touched: list[Json] = []
        for tool_call in map(obj, arr(delta.get("tool_calls"))):
            repeated = self._repeated(tool_call, touched)
            call = repeated or self._call_of(tool_call, touched)
            touched.append(call)
            if repeated is None:
                self._take_call(call, tool_call)
        return events

    def _grow(self, key: str, value: JsonValue) -> list[AgentEvent]:
        """Take more of one member of the message; text of the answer is emitted at once."""
        if value is None or value == "":
            self._message.setdefault(key, value)
            return []
        before = self._message.get(key)
        if key not in _GROWING:
            self._message[key] = _joined(before, value)
            return []
        self._message[key] = _grown(before, value)
        if key != "content":
            return []
        if isinstance(value, str) and not isinstance(before, list):
            return self._say(self._thoughts.feed(value))
        added = value if isinstance(value, str) else _texts(value)
        return self._say([added] if added else [])

    def _say(self, pieces: Sequence[Segment]) -> list[AgentEvent]:
        """Say words at once; reasoning with the first word, or at the end."""
        events: list[AgentEvent] = []
        reread: list[ContentPart] | None = None
        for piece in pieces:
            match piece:
                case RetroactiveThought(thought) if self._streamed:
                    reread = thought_parts(thought)
                    self._early += reread
                case str() if reread is not None:
                    replaced = tuple(orjson.loads(write(part)) for part in reread)
                    events.append(TextReplaced(parts=replaced, text=piece))
                    reread = None
                case str():
                    events += [*self._begin(), TextDelta(text=piece)]
                case _:
                    pass
        return events

    def _begin(self) -> list[AgentEvent]:
        """Say the reasoning before the first word."""
        if self._streamed:
            return []
        self._streamed = True
        parts = message_parts(self._message, "0")
        self._early = list(takewhile(lambda part: not isinstance(part, TextPart), parts))
        self._early = [part for part in self._early if not _is_last(part)]
        return events_of(self._early)

    def _take_call(self, call: Json, delta: Json) -> None:
        function = obj(delta.get("function"))
        function_so_far = obj(call.get("function"))
        for key, value in without(delta, "function").items():
            if value not in (None, ""):
                call[key] = value
        name = text(function.get("name")) or text(function_so_far.get("name"))
        new_arguments = function.get("arguments")
        if isinstance(new_arguments, dict):
            call["function"] = {**function_so_far, "name": name, "arguments": new_arguments}
            return
        arguments = text(function_so_far.get("arguments")) + text(new_arguments)
        others = {k: v for k, v in function.items() if v not in (None, "")}
        call["function"] = {**function_so_far, **others, "name": name, "arguments": arguments}

    def _call_of(self, delta: Json, touched: Sequence[Json]) -> Json:
        """Return the call that a delta belongs to. Some servers give every call the index 0, or the
        same id, or neither. Another call begins with another id; with another name; with a name
        after complete arguments, or if both have neither arguments nor an id or index; and with a
        name if this chunk has described the same call already."""
        index, own_id = number(delta.get("index")), text(delta.get("id"))
        candidates = [call for call in self._calls if index is None or call.get("index") == index]
        candidates = [
            candidate for candidate in candidates if own_id and candidate.get("id") == own_id
        ] or candidates
        last = candidates[-1] if candidates else None
        if last is None or _begins_another(delta, last, again=_is_in(last, touched)):
            self._calls.append({} if index is None else {"index": index})
            return self._calls[-1]
        return last

    def _repeated(self, delta: Json, touched: Sequence[Json]) -> Json | None:
        """Return the call that a server sends again as a whole, as some do at the end. Two equal
        calls in one chunk, or under two indexes, are two calls."""
        function = obj(delta.get("function"))
        described = (text(delta.get("id")), text(function.get("name")), function.get("arguments"))
        if not all(described) or not _is_whole(described[2]):
            return None
        for call in self._calls:
            function_so_far = obj(call.get("function"))
            same = (
                call.get("id"),
                function_so_far.get("name"),
                function_so_far.get("arguments"),
            ) == described
            indexes = {number(call.get("index")), number(delta.get("index"))} - {None}
            if same and len(indexes) < 2 and not _is_in(call, touched):
                return call
        return None


def _is_in(call: Json, touched: Sequence[Json]) -> bool:
    """Return whether this very call, not an equal one, is in the list."""
    return any(call is native_call for native_call in touched)


def _begins_another(delta: Json, last: Json, *, again: bool) -> bool:
    own_id, last_id = text(delta.get("id")), text(last.get("id"))
    if own_id and last_id and own_id != last_id:
        return True
    new_function, function = obj(delta.get("function")), obj(last.get("function"))
    name, before = text(new_function.get("name")), text(function.get("name"))
    if not name or not before:
        return False
    is_bare = not (own_id or last_id or new_function.get("arguments") or function.get("arguments"))
    if is_bare and delta.get("index") is None:
        return True
    return again or name != before or _is_whole(function.get("arguments"))


def _is_whole(arguments: JsonValue) -> bool:
    """Return whether nothing can follow these arguments."""
    if isinstance(arguments, dict):
        return True
    written = text(arguments).rstrip()
    return written.endswith("}") and read_arguments(written) is not None


def _is_last(part: ContentPart) -> bool:
    """Whether a part holds a message's other fields, which are emitted when it is complete."""
    return (
        isinstance(part, StructuredDataPart) and part.schema_id == STATE and "message" in part.data
    )


def _texts(blocks: JsonValue) -> str:
    return "".join(text(obj(block).get("text")) for block in arr(blocks))


def _grown(before: JsonValue, value: JsonValue) -> JsonValue:
    """Return a content with more: strings are joined, and so are blocks of the same type."""
    if isinstance(value, str) and not isinstance(before, list):
        return text(before) + value
    blocks = list(before) if isinstance(before, list) else _as_blocks(text(before))
    for added in map(obj, _as_blocks(value) if isinstance(value, str) else arr(value)):
        last = obj(blocks[-1]) if blocks else {}
        kind = added.get("type")
        if kind == last.get("type") == "text":
            blocks[-1] = {**last, "text": text(last.get("text")) + text(added.get("text"))}
        elif kind == last.get("type") == "thinking":
            inner = _grown(arr(last.get("thinking")), added.get("thinking"))
            blocks[-1] = {**last, **added, "thinking": inner}
        else:
            blocks.append(added)
    return blocks


def _as_blocks(content: str) -> list[JsonValue]:
    return [{"type": "text", "text": content}] if content else []


def _joined(before: JsonValue, value: JsonValue) -> JsonValue:
    """Join members that only some servers have: lists grow, by `index` if they have one."""
    if isinstance(value, dict):
        return patched(before, value)
    if not isinstance(value, list):
        return value
    result = list(arr(before))
    for item in value:
        place = _place(result, item)
        if place is None:
            result.append(item)
        else:
            result[place] = _continued(obj(result[place]), obj(item))
    return result


def _place(items: list[JsonValue], value: JsonValue) -> int | None:
    index = obj(value).get("index")
    same = (n for n, item in enumerate(items) if obj(item).get("index") == index)
    return next(same, None) if index is not None else None


def _continued(before: Json, added: Json) -> Json:
    result = {**before, **{key: value for key, value in added.items() if value is not None}}
    for key in ("text", "summary", "data"):
        if isinstance(before.get(key), str) and isinstance(added.get(key), str):
            result[key] = text(before[key]) + text(added[key])
    return result
