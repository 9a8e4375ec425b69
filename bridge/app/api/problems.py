"""Errors of requests as JSON with the detail, the value and what to do (RFC 9457)."""

from __future__ import annotations

from collections.abc import Mapping

import orjson
from starlette.responses import Response

from bridge.errors import BridgeError, StoreError

_MAX_VALUE_LENGTH = 120  # characters of a value that are shown
_TITLES = {
    400: "the request cannot be read",
    401: "no valid token",
    403: "the token may not do this",
    404: "not found",
    405: "method not allowed",
    408: "timeout",
    409: "rejected",
    413: "body too large",
    422: "invalid request",
    429: "too many requests",
    431: "request head too large",
    500: "internal error",
    503: "temporarily unavailable",
}


class Problem(BridgeError):
    """A refused request. `value` is the invalid value; `todo` says how to correct the request."""

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        todo: str = "",
        value: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.status = status
        self.detail = detail
        self.todo = todo
        self.value = None if value is None else _short(value)
        self.headers = dict(headers or {})
        super().__init__(detail)

    @property
    def title(self) -> str:
        return _TITLES.get(self.status, "refused")

    @property
    def text(self) -> str:
        """The detail, the value and what to do, where an error is one text."""
        return "; ".join(text for text in (self.detail, self.value, self.todo) if text)

    def response(self) -> Response:
        body = {
            "type": "about:blank",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
        }
        if self.value is not None:
            body["value"] = self.value
        if self.todo:
            body["todo"] = self.todo
        return Response(
            orjson.dumps(body),
            self.status,
            {"Cache-Control": "no-store", **self.headers},
            media_type="application/problem+json",
        )


def json_response(value: object, status: int = 200) -> Response:
    """An answer that nobody may keep."""
    headers = {"Cache-Control": "no-store"}
    return Response(orjson.dumps(value), status, headers, media_type="application/json")


def store_trouble(error: StoreError) -> Problem:
    """The refusal (503) of a request for which the store failed."""
    return Problem(503, error.public, todo="try again later")


def _short(value: object) -> str:
    text = value if isinstance(value, str) else repr(value)
    text = text.encode("utf-8", "replace").decode()
    return text if len(text) <= _MAX_VALUE_LENGTH else f"{text[:_MAX_VALUE_LENGTH]}…"
