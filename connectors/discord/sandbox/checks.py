"""Request bodies -> values, or error 50035 with every mistake, nested as Discord does. Pure."""

from __future__ import annotations

import base64
import contextlib
from collections.abc import Mapping
from typing import Any

from connectors.discord.sandbox.errors import ApiError, invalid_form

CONTENT_MAX = 2000
V2_FLAG = 1 << 15
_FORBIDDEN_IN_NAMES = ("clyde", "discord")


class Form:
    """Reads one JSON object field by field and collects its errors."""

    def __init__(self, body: Any) -> None:
        if not isinstance(body, dict):
            text = "Only dictionaries may be used in a DictType"
            raise invalid_form({"_errors": [{"code": "DICT_TYPE_CONVERT", "message": text}]})
        self.body: dict[str, Any] = body
        self.errors: dict[str, Any] = {}

    def fail(self, path: str, code: str, message: str) -> None:
        """Add an error at a dotted path, such as `embeds.0.title`."""
        place = self.errors
        for step in path.split("."):
            place = place.setdefault(step, {})
        place.setdefault("_errors", []).append({"code": code, "message": message})

    def done(self) -> None:
        if self.errors:
            raise invalid_form(self.errors)

    def text(
        self, key: str, *, max_length: int, min_length: int = 0, required: bool = False
    ) -> str | None:  # fmt: skip
        """Return the trimmed text of a field; numbers are converted, as Discord does."""
        value = self.body.get(key)
        if value is None:
            if required:
                self.fail(key, "BASE_TYPE_REQUIRED", "This field is required")
            return None
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            self.fail(key, "STRING_TYPE_CONVERT", f'Could not interpret "{value}" as string.')
            return None
        trimmed = str(value).strip()
        self.length(key, trimmed, min_length, max_length)
        return trimmed

    def length(self, path: str, value: str, min_length: int, max_length: int) -> None:
        if min_length and not min_length <= len(value) <= max_length:
            message = f"Must be between {min_length} and {max_length} in length."
            self.fail(path, "BASE_TYPE_BAD_LENGTH", message)
        elif len(value) > max_length:
            self.fail(path, "BASE_TYPE_MAX_LENGTH", f"Must be {max_length} or fewer in length.")

    def flag(self, key: str) -> bool:
        return bool(self.body.get(key))

    def number(self, key: str, default: int = 0) -> int:
        value = self.body.get(key)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int):
            self.fail(key, "NUMBER_TYPE_COERCE", f'Value "{value}" is not int.')
            return default
        return value

    def choice(self, key: str, choices: tuple[int, ...], default: int) -> int:
        value = self.number(key, default)
        if value not in choices:
            listed = ", ".join(map(str, choices))
            self.fail(key, "BASE_TYPE_CHOICES", f"Value must be one of ({listed}).")
        return value

    def objects(self, key: str, max_count: int) -> list[dict[str, Any]] | None:
        """Return a list of objects unchanged; None if the request has no such field."""
        value = self.body.get(key)
        if value is None:
            return [] if key in self.body else None
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            self.fail(key, "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType")
            return None
        if len(value) > max_count:
            self.fail(key, "BASE_TYPE_MAX_LENGTH", f"Must be {max_count} or fewer in length.")
        return value

    def mapping(self, key: str) -> dict[str, Any] | None:
        value = self.body.get(key)
        if value is None or isinstance(value, dict):
            return value
        self.fail(key, "DICT_TYPE_CONVERT", "Only dictionaries may be used in a DictType")
        return None

    def snowflake(self, key: str, inside: Mapping[str, Any] | None = None) -> int | None:
        value = (self.body if inside is None else inside).get(key)
        if value is None:
            return None
        if not is_snowflake(value):
            self.fail(key, "NUMBER_TYPE_COERCE", f'Value "{value}" is not snowflake.')
            return None
        return int(value)


def is_snowflake(value: Any) -> bool:
    """Return whether the value is an id: a number or decimal digits, within 64 bits."""
    if isinstance(value, bool):
        return False
    if isinstance(value, str):
        return value.isascii() and value.isdecimal() and len(value) <= 20
    return isinstance(value, int) and 0 <= value < 1 << 64


def read_webhook_name(form: Form, key: str, *, required: bool) -> str | None:
    """Return the name of a webhook or post: 1 to 80 characters, some words forbidden."""
    name = form.text(key, max_length=80, min_length=1, required=required)
    for word in _FORBIDDEN_IN_NAMES:
        if name and word in name.lower():
            text = f'Username cannot contain "{word}"'
            form.fail(key, "USERNAME_INVALID_CONTAINS", text)
    return name


def read_address(form: Form, key: str) -> str | None:
    """Return the address of a picture: http or https."""
    address = form.text(key, max_length=2048)
    if not address:
        return None
    scheme = address.partition(":")[0].lower()
    if scheme not in ("http", "https") or "://" not in address:
        text = f"Scheme \"{scheme}\" is not supported. Scheme must be one of ('http', 'https')."
        form.fail(key, "URL_TYPE_INVALID_SCHEME", text)
    return address


def read_picture(form: Form, key: str) -> bytes | None:
    """Return the bytes of a picture in a data URI."""
    value = form.body.get(key)
    if value is None:
        return None
    head, _, data = str(value).partition(",")
    is_image = head.startswith("data:image/") and head.endswith(";base64")
    with contextlib.suppress(ValueError):
        if is_image:
            return base64.b64decode(data, validate=True)
    form.fail(key, "BASE_TYPE_INVALID_IMAGE", "Invalid image data")
    return None


def read_limit(query: Mapping[str, str], default: int, highest: int) -> int:
    """Return the `limit` of a list request; raises ApiError if it is out of range."""
    limit_text = query.get("limit", str(default))
    form = Form({})
    try:
        limit = int(limit_text)
    except ValueError:
        form.fail("limit", "NUMBER_TYPE_COERCE", f'Value "{limit_text}" is not int.')
        limit = default
    if limit > highest:
        text = f"int value should be less than or equal to {highest}."
        form.fail("limit", "NUMBER_TYPE_MAX", text)
    if limit < 1:
        form.fail("limit", "NUMBER_TYPE_MIN", "int value should be greater than or equal to 1.")
    form.done()
    return limit


def read_anchor(query: Mapping[str, str], key: str) -> int | None:
    """Return an id in the query: `before`, `after`, `around` or `thread_id`."""
    form = Form(dict(query))
    anchor = form.snowflake(key)
    form.done()
    return anchor


def not_a_snowflake(key: str, value: str) -> ApiError:
    text = f'Value "{value}" is not snowflake.'
    return invalid_form({key: {"_errors": [{"code": "NUMBER_TYPE_COERCE", "message": text}]}})


def check_mentions(form: Form, mentions: dict[str, Any] | None) -> None:
    if mentions is None:
        return
    parse = mentions.get("parse") or []
    if not isinstance(parse, list) or any(p not in ("users", "roles", "everyone") for p in parse):
        text = "Value must be one of ('users', 'roles', 'everyone')."
        form.fail("allowed_mentions.parse", "BASE_TYPE_CHOICES", text)
        parse = []
    for key in ("users", "roles"):
        _check_ids(form, mentions, key)
        if key in parse and mentions.get(key):
            text = f'parse:["{key}"] and {key}: [ids...] are mutually exclusive.'
            form.fail("allowed_mentions", "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", text)


def _check_ids(form: Form, mentions: dict[str, Any], key: str) -> None:
    ids = mentions.get(key) or []
    if not isinstance(ids, list):
        text = "Only iterables may be used in a ListType"
        form.fail(f"allowed_mentions.{key}", "LIST_TYPE_CONVERT", text)
        return
    if len(ids) > 100:
        text = "Must be 100 or fewer in length."
        form.fail(f"allowed_mentions.{key}", "BASE_TYPE_MAX_LENGTH", text)
    for index, item in enumerate(ids):
        if not is_snowflake(item):
            text = f'Value "{item}" is not snowflake.'
            form.fail(f"allowed_mentions.{key}.{index}", "NUMBER_TYPE_COERCE", text)
