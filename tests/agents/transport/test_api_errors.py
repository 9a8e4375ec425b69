"""Errors of the library and of vendors -> ours, and what people are told of them."""

from __future__ import annotations

import inspect
from typing import Any

import httpx
import pytest

from bridge.agents.transport.api_errors import api_error, retry_after, turn_failure
from bridge.agents.transport.http import translated
from bridge.errors import (
    AgentError,
    AuthFailed,
    BridgeError,
    ConfigError,
    InvalidUacs,
    PlatformError,
    RateLimited,
    Refused,
    Unavailable,
)


def httpx_errors() -> list[type[Exception]]:
    return [
        one for _, one in inspect.getmembers(httpx, inspect.isclass)
        if issubclass(one, Exception) and one.__module__.startswith("httpx")
        and not issubclass(one, httpx.CookieConflict)
    ]  # fmt: skip


@pytest.mark.parametrize("kind", httpx_errors())
def test_every_error_of_the_http_library_becomes_an_error_of_the_bridge(
    kind: type[Exception],
) -> None:
    made = kind.__new__(kind)
    Exception.__init__(made, "https://user:secret@host")

    with pytest.raises(PlatformError) as caught, translated():
        raise made

    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 5.0),
        ({"retry-after": "12"}, 12.0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "soon"}, 5.0),
        ({"retry-after": "-3"}, 5.0),
        ({"retry-after": "nan"}, 5.0),
        (
            {
                "retry-after": "Sat, 21 Nov 2026 12:00:30 GMT",
                "date": "Sat, 21 Nov 2026 12:00:00 GMT",
            },
            30.0,
        ),
    ],
)
def test_the_pause_is_read_from_the_headers_of_an_answer(
    headers: dict[str, str], seconds: float
) -> None:
    assert retry_after(headers) == seconds


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"type": "overloaded_error", "message": "x"}, Unavailable),
        ({"code": 503, "status": "UNAVAILABLE", "message": "x"}, Unavailable),
        ({"code": "rate_limit_exceeded"}, RateLimited),
        ({"type": "authentication_error"}, AuthFailed),
        ({"code": "context_length_exceeded", "type": "invalid_request_error"}, Refused),
        ("all is lost", Unavailable),
        (None, Unavailable),
        ([1], Unavailable),
    ],
)
def test_an_error_type_of_a_vendor_has_its_class_of_error(
    error: Any, kind: type[BridgeError]
) -> None:
    assert type(api_error(error)) is kind


def test_a_key_in_the_error_text_of_a_vendor_is_hidden_in_the_log() -> None:
    error = api_error({"message": "Incorrect API key provided: sk-proj-abcdefgh12345"}, 401)

    assert "sk-proj" not in str(error)
    assert "check `api_key`" in str(error)


@pytest.mark.parametrize(
    "error",
    [
        AuthFailed("sk-secret1234567"),
        Refused("sk-secret1234567", code="sk secret"),
        RateLimited("sk-secret1234567", retry_after=1),
        ConfigError("sk-secret1234567"),
        InvalidUacs("$", "sk-secret1234567", "is bad"),
        Unavailable("sk-secret1234567"),
    ],
)
def test_people_see_no_error_text_of_a_vendor(error: BridgeError) -> None:
    assert "secret" not in turn_failure(error).reason


def test_an_error_text_of_the_bridge_is_shown_unchanged() -> None:
    assert turn_failure(AgentError("the stream ended")).reason == "the stream ended"
