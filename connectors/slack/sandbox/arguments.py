"""An HTTP request to the Web API -> its token and arguments, as Slack reads them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

import orjson

from connectors.slack.sandbox.state import at_of

Json = dict[str, Any]
_FORM = "application/x-www-form-urlencoded"


class ApiError(Exception):
    """An answer with `"ok": false`; `facts` stand beside the error code."""

    def __init__(self, code: str, **facts: Any) -> None:
        self.code = code
        self.facts = facts
        super().__init__(code)


def invalid_arguments(message: str) -> ApiError:
    return ApiError("invalid_arguments", response_metadata={"messages": [f"[ERROR] {message}"]})


def read_arguments(query: Mapping[str, str], content_type: str, body: bytes) -> Json:
    """Query and body together; the body is JSON or a form."""
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
    """Typed looks at the arguments; a wrong type is `invalid_arguments`, as with Slack."""

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
        """JSON booleans, or "1"/"0"/"true"/"false" as forms write them."""
        value = self.values.get(name)
        if value is None or value == "":
            return default
        return str(value).lower() in ("1", "true")

    def limit(self, default: int, maximum: int) -> int:
        """The page size; 0 and nothing mean the default, too much means the most."""
        text = self.text("limit")
        if not text:
            return default
        if not text.isascii() or not text.isdecimal():
            raise ApiError("invalid_limit")
        return min(int(text[:9]) or default, maximum)

    def moment(self, name: str, error: str) -> int | None:
        """A ts as microseconds; None where none was given."""
        text = self.text(name)
        if not text:
            return None
        at = at_of(text)
        if at is None:
            raise ApiError(error)
        return at

    def items(self, name: str, error: str) -> list[Any] | None:
        """A JSON array, given as such or as its text; None where none was given."""
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
