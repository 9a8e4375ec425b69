"""An HTTP request to the Web API -> its token and arguments, parsed as Slack does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

import orjson

from connectors.slack.sandbox.state import at_of

Json = dict[str, Any]
_FORM = "application/x-www-form-urlencoded"


class ApiError(Exception):
    """An answer with `"ok": false`; `facts` are further members of it."""

    def __init__(self, code: str, **facts: Any) -> None:
        self.code = code
        self.facts = facts
        super().__init__(code)


def invalid_arguments(message: str) -> ApiError:
    return ApiError("invalid_arguments", response_metadata={"messages": [f"[ERROR] {message}"]})


def read_arguments(query: Mapping[str, str], content_type: str, body: bytes) -> Json:
    """The arguments of the query and the body; the body is JSON or a form. Raises ApiError."""
    kind = content_type.partition(";")[0].strip().lower()
    if not body:
        return dict(query)
    if kind == "application/json":
        return dict(query) | _json_object(body)
    if kind in (_FORM, ""):
        form = parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True)
        return dict(query) | dict(form)
    raise ApiError("invalid_post_type")


def _json_object(body: bytes) -> Json:
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise ApiError("invalid_json") from error
    if not isinstance(value, dict):
        raise ApiError("json_not_object")
    return value


class Arguments:
    """Typed reads of the arguments; a wrong type raises `invalid_arguments`, as in Slack."""

    def __init__(self, values: Json) -> None:
        self.values = values

    def text(self, name: str, default: str = "") -> str:
        value = self.values.get(name)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise invalid_arguments(f"must be a string [json-pointer:/{name}]")
        return str(value)

    def required(self, name: str) -> str:
        value = self.text(name)
        if not value:
            raise invalid_arguments(f"missing required field: {name}")
        return value

    def has(self, name: str) -> bool:
        return self.values.get(name) not in (None, "")

    def flag(self, name: str, default: bool = False) -> bool:
        """A boolean: JSON, or "1"/"0"/"true"/"false" in a form."""
        value = self.values.get(name)
        if value is None or value == "":
            return default
        return str(value).lower() in ("1", "true")

    def limit(self, default: int, maximum: int) -> int:
        """The page size; 0 and a missing argument mean the default, larger values the maximum."""
        text = self.text("limit")
        if not text:
            return default
        if not text.isascii() or not text.isdecimal():
            raise ApiError("invalid_limit")
        return min(int(text[:9]) or default, maximum)

    def moment(self, name: str, error: str) -> int | None:
        """A ts as microseconds; None when it is missing."""
        text = self.text(name)
        if not text:
            return None
        at = at_of(text)
        if at is None:
            raise ApiError(error)
        return at

    def items(self, name: str, error: str) -> list[Any] | None:
        """A JSON array, also as JSON text; None when it is missing."""
        value = self._parsed(name, error)
        if value is None:
            return None
        if not isinstance(value, list):
            raise ApiError(error)
        return value

    def mapping(self, name: str, error: str) -> Json | None:
        value = self._parsed(name, error)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise ApiError(error)
        return value

    def _parsed(self, name: str, error: str) -> Any:
        value = self.values.get(name)
        if not isinstance(value, str):
            return value
        if not value:
            return None
        try:
            return orjson.loads(value)
        except orjson.JSONDecodeError as cause:
            raise ApiError(error) from cause
