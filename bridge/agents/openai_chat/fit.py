"""A Chat Completions request -> the same request as one server accepts it. Pure.

No content is lost: names stand before the texts if the server has no field for them, and joined
messages keep their headers and an empty line between them."""

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
"""Members of messages that a request can omit."""
_LIMITS = {"max_completion_tokens": "max_tokens", "max_tokens": "max_completion_tokens"}


def fitted(body: Json, dialect: Dialect) -> Json:
    """Return the request for one server. A token limit whose name the server refuses is sent under
    its other name."""
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
    name = text(message.get("name"))
    if (
        name
        and message.get("role") == "user"
        and ("name" in dialect.without or dialect.alternating)
    ):
        message = _headed(message, name_header(name))
    return without(message, *(dialect.without & MESSAGE_MEMBERS))


def _headed(message: Json, header: str) -> Json:
    block: Json = {"type": "text", "text": header}
    return {
        **without(message, "name"),
        "content": with_header(header, message.get("content"), block),
    }


def _joined(messages: Iterable[Json]) -> list[Json]:
    """Join neighbouring messages of one role. Tool results stay apart: each answers a call."""
    joined: list[Json] = []
    for message in messages:
        same_role = joined and message.get("role") == joined[-1].get("role") != "tool"
        if same_role:
            joined[-1] = _both(joined[-1], message)
        else:
            joined.append(message)
    return joined


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
