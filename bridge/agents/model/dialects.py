"""What one server takes of an API's requests, and what a refusal says about that. Pure.

Servers that speak another vendor's API refuse members that they do not know, and each has its own
words for it (seen in their issue trackers, 2024 to 2026):

- Mistral, 422: `{"detail": [{"type": "extra_forbidden", "loc": ["body", "stream_options"]}]}`, also
  below `message`, and as JSON in a string; several members in one refusal.
- vLLM with Mistral's tokenizer, 400: `messages.0.user.name\\n  Extra inputs are not permitted`.
- OpenAI and Azure, 400: `"param": "temperature"`; `Unrecognized request argument supplied: x`.
- Groq, 400: `'messages.0' : property 'name' is unsupported`.
- Servers in Rust (serde), 400 or 422, as plain text too: `unknown field `x`, expected one of `y``.
- Chat templates (vLLM, TGI: 400; llama.cpp: 500): `Conversation roles must alternate
  user/assistant/user/assistant/...`; mistral-common: `Unexpected role 'user' after role 'user'`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

import orjson
from pydantic import JsonValue

from bridge.agents.codec.json_values import Json, without
from bridge.errors import PlatformError, Refused, Unavailable

_ALTERNATE = re.compile(r"\balternat(?:e|ing)\b|unexpected role '?\w+'? after role", re.IGNORECASE)
_EXPECTED = re.compile(r"\bexpected (?:one of )?[`'\"].*", re.DOTALL)  # what it does know
_ECHOED = frozenset(("input", "input_value", "ctx", "url"))  # what the request itself said
_MOST = 200  # strings of one refusal that are looked at
_LONGEST = 4000
_KEPT_CODES = frozenset(("too_long", "insufficient_quota", "moved", "context_length_exceeded"))


@dataclass(frozen=True)
class Dialect:
    """What is changed in every request to one server: `without` are members of the request, or of
    its messages, that the server does not take; with `alternating`, neighbouring messages of one
    role are joined. With `thinks_first`, its answers begin within thoughts, without a tag that says
    so."""

    without: frozenset[str] = frozenset()
    alternating: bool = False
    thinks_first: bool = False


def fitted(body: Json, dialect: Dialect) -> Json:
    """A request without the members that the server does not take."""
    return without(body, *dialect.without)


def dialect_after(
    error: PlatformError, dialect: Dialect, droppable: Collection[str], *, joins_messages: bool
) -> Dialect | None:
    """What to try after a refusal; None where it names nothing that can be left out. `droppable`
    are the members of the request that it can do without; `joins_messages` says whether messages of
    one role can be joined."""
    body = error.answer
    if type(error) is Refused and error.code not in _KEPT_CODES:
        named = {one for one in droppable if one not in dialect.without and _names(body, one)}
        if named:
            return replace(dialect, without=dialect.without | named)
    elif not isinstance(error, Unavailable):
        return None
    if joins_messages and not dialect.alternating and any(map(_ALTERNATE.search, _texts(body))):
        return replace(dialect, alternating=True)
    return None


def _names(body: object, member: str) -> bool:
    """Whether a refusal speaks of this member. A word that could be prose (`name`, `stream`) counts
    only in quotes, behind a dot or at the end of a line that ends with it."""
    word = re.escape(member)
    if "_" in member:
        found = re.compile(rf"(?<!\w){word}(?!\w)")
    else:
        found = re.compile(rf"(?:['\"`.\[(/]){word}(?!\w)|^{word}$|: {word}\.?$", re.MULTILINE)
    return any(map(found.search, _texts(body)))


def _texts(body: object) -> Iterator[str]:
    """The strings of a refusal, without what it repeats of the request. A place (`loc`) is one
    string, its steps joined by dots."""
    stack: list[object] = [body]
    seen = 0
    while stack and seen < _MOST:
        one = stack.pop()
        seen += 1
        if isinstance(one, str):
            inner = _inner(one)
            if inner is not None:
                stack.append(inner)
            else:
                yield _EXPECTED.sub("", one[:_LONGEST])
        elif isinstance(one, dict):
            loc = one.get("loc")
            if isinstance(loc, list):
                yield ".".join(map(str, loc))
            stack += (value for key, value in one.items() if key not in _ECHOED and key != "loc")
        elif isinstance(one, list):
            stack += one


def _inner(value: str) -> JsonValue:
    """The JSON in a string; None where there is none."""
    if not value.lstrip().startswith(("{", "[")):
        return None
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:
        return None
