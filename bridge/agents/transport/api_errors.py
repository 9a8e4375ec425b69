"""What goes wrong with a model's API: its answers -> the one error tree -> words for people.

What people read never holds what the vendor wrote: it may quote a key or a prompt.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from pydantic import JsonValue

from bridge.agents.codec.json_values import obj, text
from bridge.errors import (
    AgentError,
    AuthFailed,
    BridgeError,
    ConfigError,
    FileError,
    InvalidData,
    NotFound,
    PlatformError,
    RateLimited,
    Refused,
    Unavailable,
    Unsettled,
)
from bridge.model.turns import TurnFailed

_CODE = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,59}")
_KEYS = re.compile(r"\b(?:sk|pk|key|AIza|xai|gsk|Bearer)[-_ ]?[A-Za-z0-9_*.-]{6,}", re.IGNORECASE)
_PAUSE = 5.0  # seconds, where a vendor asks for a pause and does not say for how long
_MOST_SAID = 300

# The vendors' own words for faults that come in a stream, or in a body beside the status.
_BY_WORD: dict[str, int] = {
    "overloaded_error": 529, "api_error": 500, "timeout_error": 504, "server_error": 500,
    "rate_limit_error": 429, "rate_limit_exceeded": 429, "resource_exhausted": 429,
    "authentication_error": 401, "invalid_api_key": 401, "permission_error": 403,
    "unauthenticated": 401, "permission_denied": 403, "not_found_error": 404,
    "model_not_found": 404, "not_found": 404, "insufficient_quota": 402, "billing_error": 402,
    "invalid_request_error": 400, "request_too_large": 413, "unavailable": 503, "internal": 500,
    "deadline_exceeded": 504, "context_length_exceeded": 413, "invalid_input": 400,
}  # fmt: skip


def api_error(
    error: JsonValue, status: int | None = None, headers: Mapping[str, str] | None = None
) -> PlatformError:
    """An error as an API tells it (the object below `error`, or a text) -> ours."""
    told = obj(error)
    words = [text(told.get(key)) for key in ("code", "type", "status")]
    code = next((word for word in words if _CODE.fullmatch(word)), "")
    given = told.get("code")
    by_word = next((_BY_WORD[word.lower()] for word in words if word.lower() in _BY_WORD), None)
    if status is None or (status == 429 and by_word == 402):
        numeric = given if isinstance(given, int) and not isinstance(given, bool) else None
        status = by_word or numeric or 500
    message = text(told.get("message")) or text(error)
    return _by_status(status, code, without_keys(message), headers or {})


def without_keys(said: str) -> str:
    """A vendor's words for the log: short, in one line, without what looks like a key."""
    return _KEYS.sub("[hidden]", " ".join(said.split()))[:_MOST_SAID]


def _by_status(status: int, code: str, said: str, headers: Mapping[str, str]) -> PlatformError:
    told = f"{status}{f' {code}' if code else ''}{f': {said}' if said else ''}"
    if status in (401, 403):
        return AuthFailed(f"The API refused the key ({told}); check `api_key`", code=code)
    if status == 402:
        return Refused(f"The account's quota is spent ({told})", code="insufficient_quota")
    if status == 404:
        return NotFound(f"The API knows no such model or address ({told})", code=code)
    if status == 429:
        pause = retry_after(headers)
        return RateLimited(f"The API limits us ({told})", retry_after=pause, code=code)
    if status in (408, 409, 425) or status >= 500:
        return Unavailable(f"The API did not take the request ({told})", code=code)
    if status == 413 or code == "context_length_exceeded":
        return Refused(f"The request is too long ({told})", code="too_long")
    return Refused(f"The API refused the request ({told})", code=code or str(status))


def retry_after(headers: Mapping[str, str]) -> float:
    """Seconds to wait as an answer asks for it: a number, or an HTTP date beside the `date`."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) / unit
        except ValueError:
            continue
        if 0 <= seconds < 1e6:
            return seconds
    try:
        until = parsedate_to_datetime(headers.get("retry-after", ""))
        now = parsedate_to_datetime(headers.get("date", ""))
        return min(max(0.0, (until - now).total_seconds()), 1e6)
    except (TypeError, ValueError):
        return _PAUSE


def turn_failure(error: BridgeError) -> TurnFailed:
    """What people are told: nothing of what the vendor wrote. The log has that."""
    match error:
        case RateLimited(retry_after=seconds):
            pause = f"; it asks for a pause of {seconds:.0f} s" if seconds >= 1 else ""
            return TurnFailed(reason=f"its model is asked too often just now{pause}")
        case AuthFailed():
            reason = "its model's API refused the key; whoever runs the bridge must look at it"
            return TurnFailed(reason=reason, retry=False)
        case NotFound():
            reason = "its model's API does not know the model; whoever runs the bridge must look"
            return TurnFailed(reason=reason, retry=False)
        case Refused(code="insufficient_quota"):
            return TurnFailed(reason="its account with the model's vendor is spent", retry=False)
        case Refused(code="too_long"):
            reason = "the conversation is too long for its model"
            return TurnFailed(reason=reason, retry=False)
        case Refused(code=code):
            told = f" ({code})" if _CODE.fullmatch(code) or code.isdecimal() else ""
            return TurnFailed(reason=f"its model's API refused the request{told}", retry=False)
        case Unsettled():
            return TurnFailed(reason="the connection to its model broke off")
        case PlatformError():
            return TurnFailed(reason="its model does not answer just now")
        case ConfigError():
            reason = "it is not configured as it must be; the log says more"
            return TurnFailed(reason=reason, retry=False)
        case InvalidData():
            return TurnFailed(reason="its model's API answered with something unreadable")
        case AgentError() | FileError():
            return TurnFailed(reason=str(error))
        case _:
            return TurnFailed(reason="something went wrong; the log says more")
