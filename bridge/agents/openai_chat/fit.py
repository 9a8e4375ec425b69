"""A request of Chat Completions -> the same request as one server takes it. Pure.

No word is lost: names stand before the texts where the server has no field for them, and messages
that are joined stay apart by their headers and an empty line.
"""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import JsonValue

from bridge.agents.codec.json_values import Json, arr, obj, text, without
from bridge.agents.codec.prompt import with_header
from bridge.agents.codec.speakers import name_header
from bridge.agents.model.dialects import Dialect

MESSAGE_MEMBERS = frozenset(
    ("name", "reasoning_content", "reasoning", "refusal", "audio", "annotations", "images")
)
"""Members of messages that a request can do without."""
_LIMITS = {"max_completion_tokens": "max_tokens", "max_tokens": "max_completion_tokens"}


def fitted(body: Json, dialect: Dialect) -> Json:
    """A limit that the server does not know by one name is given by its other name."""
    if not dialect.without and not dialect.alternating:
        return body
    messages = [_fitted(obj(message), dialect) for message in arr(body.get("messages"))]
    result = without(body, *dialect.without)
    for name, other in _LIMITS.items():
        if name in body and name in dialect.without and other not in dialect.without:
            result[other] = body[name]
    result["messages"] = list[JsonValue](_joined(messages) if dialect.alternating else messages)
    return result


def _fitted(message: Json, dialect: Dialect) -> Json:
    named = text(message.get("name"))
    if (
        named
        and message.get("role") == "user"
        and ("name" in dialect.without or dialect.alternating)
    ):
        message = _headed(message, name_header(named))
    return without(message, *(dialect.without & MESSAGE_MEMBERS))


def _headed(message: Json, header: str) -> Json:
    block: Json = {"type": "text", "text": header}
    return {
        **without(message, "name"),
        "content": with_header(header, message.get("content"), block),
    }


def _joined(messages: Iterable[Json]) -> list[Json]:
    """Neighbours of one role as one message. Results of tools stay apart: each answers a call."""
    found: list[Json] = []
    for message in messages:
        same = found and message.get("role") == found[-1].get("role") != "tool"
        if same:
            found[-1] = _both(found[-1], message)
        else:
            found.append(message)
    return found


def _both(first: Json, second: Json) -> Json:
    result = {**first, **second}
    for key in first.keys() & second.keys() - {"role"}:
        result[key] = _added(first[key], second[key])
    return result


def _added(first: JsonValue, second: JsonValue) -> JsonValue:
    if isinstance(first, list) or isinstance(second, list):
        return [*_blocks(first), *_blocks(second)]
    if isinstance(first, str) and isinstance(second, str):
        return "\n\n".join(filter(None, (first, second)))
    return second if second is not None else first


def _blocks(content: JsonValue) -> list[JsonValue]:
    if isinstance(content, list):
        return content
    return [{"type": "text", "text": content}] if isinstance(content, str) and content else []
