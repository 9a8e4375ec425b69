"""Errors of agent APIs: a response -> the bridge's error tree -> a reason for people.

People never read the vendor's text: it may quote a key or a prompt."""

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
_DEFAULT_PAUSE = 5.0  # seconds, if a vendor asks for a pause without a length
_LONGEST = 300

# HTTP statuses for the vendors' error codes, which arrive in streams or beside a status.
_STATUS_BY_CODE: dict[str, int] = {
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
    """Return an error that an API reports (the object below `error`, or a text) as an error of the
    bridge. Without an HTTP `status`, the API's own code decides."""
    reported = obj(error)
    words = [text(reported.get(key)) for key in ("code", "type", "status")]
    code = next((word for word in words if _CODE.fullmatch(word)), "")
    api_code = reported.get("code")
    by_code = next(
        (_STATUS_BY_CODE[word.lower()] for word in words if word.lower() in _STATUS_BY_CODE), None
    )
    if status is None or (status == 429 and by_code == 402):
        numeric = api_code if isinstance(api_code, int) and not isinstance(api_code, bool) else None
        status = by_code or numeric or 500
    message = text(reported.get("message")) or text(error)
    return _by_status(status, code, without_keys(message), headers or {})


def without_keys(text_of_vendor: str) -> str:
    """Return a vendor's text for the log: one line of at most 300 characters, with anything that
    looks like a key hidden."""
    return _KEYS.sub("[hidden]", " ".join(text_of_vendor.split()))[:_LONGEST]


def _by_status(status: int, code: str, message: str, headers: Mapping[str, str]) -> PlatformError:
    details = f"{status}{f' {code}' if code else ''}{f': {message}' if message else ''}"
    if status in (401, 403):
        return AuthFailed(f"The API refused the key ({details}); check `api_key`", code=code)
    if status == 402:
        return Refused(f"The account's quota is used up ({details})", code="insufficient_quota")
    if status == 404:
        return NotFound(f"The API does not know the model or the address ({details})", code=code)
    if status == 429:
        pause = retry_after(headers)
        return RateLimited(
            f"The API's rate limit is reached ({details})", retry_after=pause, code=code
        )
    if status in (408, 409, 425) or status >= 500:
        return Unavailable(f"The API did not accept the request ({details})", code=code)
    if status == 413 or code == "context_length_exceeded":
        return Refused(f"The request is too long ({details})", code="too_long")
    return Refused(f"The API refused the request ({details})", code=code or str(status))


def retry_after(headers: Mapping[str, str]) -> float:
    """Return the pause in seconds that a response asks for: a number, or an HTTP date relative to
    its `date`; 5 if it names none."""
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
        return _DEFAULT_PAUSE


def turn_failure(error: BridgeError) -> TurnFailed:
    """Return the failed turn for an error, with a reason for people. It contains none of the
    vendor's text, which is in the log."""
    match error:
        case RateLimited(retry_after=seconds):
            pause = f"; it asks for a pause of {seconds:.0f} s" if seconds >= 1 else ""
            return TurnFailed(reason=f"its model's rate limit is reached{pause}")
        case AuthFailed():
            reason = "its model's API refused the key; the bridge's administrator must check it"
            return TurnFailed(reason=reason, retry=False)
        case NotFound():
            reason = (
                "its model's API does not know the model; the bridge's administrator must check it"
            )
            return TurnFailed(reason=reason, retry=False)
        case Refused(code="insufficient_quota"):
            return TurnFailed(
                reason="the quota of its account with the model's vendor is used up", retry=False
            )
        case Refused(code="too_long"):
            reason = "the conversation is too long for its model"
            return TurnFailed(reason=reason, retry=False)
        case Refused(code=code):
            details = f" ({code})" if _CODE.fullmatch(code) or code.isdecimal() else ""
            return TurnFailed(reason=f"its model's API refused the request{details}", retry=False)
        case Unsettled():
            return TurnFailed(reason="the connection to its model broke")
        case PlatformError():
            return TurnFailed(reason="its model does not answer at the moment")
        case ConfigError():
            reason = "its configuration is invalid; the log has the details"
            return TurnFailed(reason=reason, retry=False)
        case InvalidData():
            return TurnFailed(reason="its model's API sent an unreadable answer")
        case AgentError() | FileError():
            return TurnFailed(reason=str(error))
        case _:
            return TurnFailed(reason="an error occurred; the log has the details")
