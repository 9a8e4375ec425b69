"""Which members of an API's requests a server accepts, and what its refusals say about that. Pure.

Servers that implement another vendor's API refuse members that they do not know, each in its own
words (from their issue trackers, 2024 to 2026):

- Mistral, 422: `{"detail": [{"type": "extra_forbidden", "loc": ["body", "stream_options"]}]}`, also
  below `message`, and as JSON in a string; several members in one refusal.
- vLLM with Mistral's tokenizer, 400: `messages.0.user.name`, a line end, `Extra inputs are not
  permitted`.
- OpenAI and Azure, 400: `"param": "temperature"`; `Unrecognized request argument supplied: x`.
- Groq, 400: `'messages.0' : property 'name' is unsupported`.
- Servers in Rust (serde), 400 or 422, as plain text too: `unknown field x, expected one of y`, the
  names in backticks.
- Chat templates (vLLM, TGI: 400; llama.cpp: 500): `Conversation roles must alternate
  user/assistant/user/assistant/...`; mistral-common: `Unexpected role 'user' after role 'user'`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

import orjson
from pydantic import JsonValue

from bridge.agents.codec.json_values import Json, without
from bridge.errors import PlatformError, Refused, Unavailable

_ALTERNATE = re.compile(r"\balternat(?:e|ing)\b|unexpected role '?\w+'? after role", re.IGNORECASE)
_EXPECTED = re.compile(
    r"\bexpected (?:one of )?[`'\"].*", re.DOTALL
)  # members that the server does know
_ECHOED = frozenset(("input", "input_value", "ctx", "url"))  # parts of the request in an error
_MOST_STRINGS = 200  # strings of one refusal that are searched
_LONGEST_STRING = 4000
_KEPT_CODES = frozenset(("too_long", "insufficient_quota", "moved", "context_length_exceeded"))


@dataclass(frozen=True)
class Dialect:
    """Changes to the requests to one server. `without` are fields of the request, or of its
    messages, that the server refuses. With `alternating`, adjacent messages of one role are
    joined. With `thinks_first`, its answers begin with reasoning without an opening tag."""

    without: frozenset[str] = frozenset()
    alternating: bool = False
    thinks_first: bool = False


def fitted(body: Json, dialect: Dialect) -> Json:
    """Return a request without the members that the server refuses."""
    return without(body, *dialect.without)


def dialect_after(
    error: PlatformError, dialect: Dialect, droppable: Collection[str], *, joins_messages: bool
) -> Dialect | None:
    """Return the dialect to try after a refusal; None if the refusal names nothing that can be
    omitted. `droppable` are the members that the request can omit; `joins_messages` says whether
    messages of one role can be joined."""
    body = error.answer
    if type(error) is Refused and error.code not in _KEPT_CODES:
        refused_members = {
            member for member in droppable if member not in dialect.without and _names(body, member)
        }
        if refused_members:
            return replace(dialect, without=dialect.without | refused_members)
    elif not isinstance(error, Unavailable):
        return None
    if joins_messages and not dialect.alternating and any(map(_ALTERNATE.search, _texts(body))):
        return replace(dialect, alternating=True)
    return None


def _names(body: object, member: str) -> bool:
    """Return whether a refusal names this member. A word that could be prose (`name`, `stream`)
    counts only in quotes, after a dot, or at the end of a line that ends with it."""
    name = re.escape(member)
    if "_" in member:
        pattern = re.compile(rf"(?<!\w){name}(?!\w)")
    else:
        pattern = re.compile(rf"(?:['\"`.\[(/]){name}(?!\w)|^{name}$|: {name}\.?$", re.MULTILINE)
    return any(map(pattern.search, _texts(body)))


def _texts(body: object) -> Iterator[str]:
    """Yield the strings of a refusal, without what it repeats of the request. A location (`loc`) is
    one string, its steps joined by dots."""
    stack: list[object] = [body]
    visited = 0
    while stack and visited < _MOST_STRINGS:
        node = stack.pop()
        visited += 1
        if isinstance(node, str):
            inner_json = _inner(node)
            if inner_json is not None:
                stack.append(inner_json)
            else:
                yield _EXPECTED.sub("", node[:_LONGEST_STRING])
        elif isinstance(node, dict):
            loc = node.get("loc")
            if isinstance(loc, list):
                yield ".".join(map(str, loc))
            stack += (value for key, value in node.items() if key not in _ECHOED and key != "loc")
        elif isinstance(node, list):
            stack += node


def _inner(value: str) -> JsonValue:
    """Return the JSON in a string; None if there is none."""
    if not value.lstrip().startswith(("{", "[")):
        return None
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:
        return None
