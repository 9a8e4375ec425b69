"""One JSON object inside a request, read field by field; errors go to its form. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from connectors.discord.sandbox.checks import Form

Json = dict[str, Any]
REQUIRED = "This field is required"
WEB = ("http", "https")
MEDIA = ("http", "https", "attachment")


@dataclass(frozen=True, slots=True)
class Node:
    """An object at a dotted path, such as `embeds.0.footer`."""

    form: Form
    path: str
    value: Json

    def at(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key

    def fail(self, key: str, code: str, message: str) -> None:
        self.form.fail(self.at(key) if key else self.path, code, message)

    def missing(self, key: str) -> None:
        self.fail(key, "BASE_TYPE_REQUIRED", REQUIRED)

    def text(
        self, key: str, max_length: int, *, min_length: int = 0, required: bool = False
    ) -> str | None:  # fmt: skip
        """Return the trimmed text of a field; numbers are converted, as Discord does."""
        value = self._read(key, required=required)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            self.fail(key, "STRING_TYPE_CONVERT", f'Could not interpret "{value}" as string.')
            return None
        trimmed = str(value).strip()
        if required and not trimmed and not min_length:
            self.missing(key)
        else:
            self.form.length(self.at(key), trimmed, min_length, max_length)
        return trimmed

    def integer(
        self, key: str, minimum: int, maximum: int, *, required: bool = False
    ) -> int | None:  # fmt: skip
        value = self._read(key, required=required)
        if value is None:
            return None
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            self.fail(key, "NUMBER_TYPE_COERCE", f'Value "{value}" is not int.')
            return None
        if value > maximum:
            text = f"int value should be less than or equal to {maximum}."
            self.fail(key, "NUMBER_TYPE_MAX", text)
        elif value < minimum:
            text = f"int value should be greater than or equal to {minimum}."
            self.fail(key, "NUMBER_TYPE_MIN", text)
        return value

    def choice(self, key: str, choices: tuple[Any, ...], *, required: bool = False) -> Any:
        value = self._read(key, required=required)
        if value is not None and (isinstance(value, bool) or value not in choices):
            listed = ", ".join(map(str, choices))
            self.fail(key, "BASE_TYPE_CHOICES", f"Value must be one of ({listed}).")
        return value

    def flag(self, key: str) -> bool:
        value = self.value.get(key)
        if value is not None and not isinstance(value, bool):
            self.fail(key, "BOOLEAN_TYPE_CONVERT", "Must be either true or false.")
        return bool(value)

    def address(
        self, key: str, max_length: int, schemes: tuple[str, ...] = WEB, *, required: bool = False
    ) -> str | None:
        value = self.text(key, max_length, required=required)
        if not value:
            return None
        try:
            parts = urlsplit(value)
        except ValueError:
            parts = urlsplit("")
        if not parts.scheme or not (parts.netloc or parts.path.strip("/")):
            self.fail(key, "URL_TYPE_INVALID_URL", "Not a well formed URL.")
        elif parts.scheme.lower() not in schemes:
            listed = ", ".join(f"'{scheme}'" for scheme in schemes)
            text = f'Scheme "{parts.scheme}" is not supported. Scheme must be one of ({listed}).'
            self.fail(key, "URL_TYPE_INVALID_SCHEME", text)
        return value

    def child(self, key: str, *, required: bool = False) -> Node | None:
        value = self._read(key, required=required)
        if value is None:
            return None
        if not isinstance(value, dict):
            text = "Only dictionaries may be used in a ModelType"
            self.fail(key, "MODEL_TYPE_CONVERT", text)
            return None
        return Node(self.form, self.at(key), value)

    def children(
        self, key: str, min_count: int, max_count: int, *, required: bool = False
    ) -> list[Node]:  # fmt: skip
        """Return the objects of a list with `min_count` to `max_count` items."""
        value = self._read(key, required=required)
        if value is None:
            return []
        if not isinstance(value, list):
            text = "Only iterables may be used in a ListType"
            self.fail(key, "LIST_TYPE_CONVERT", text)
            return []
        if not min_count <= len(value) <= max_count:
            self.fail(key, *_bad_length(min_count, max_count))
            return []
        return list(self._objects(key, value))

    def _read(self, key: str, *, required: bool) -> Any:
        """Return the value of a field, and report a required one that is missing."""
        value = self.value.get(key)
        if value is None and required:
            self.missing(key)
        return value

    def _objects(self, key: str, value: list[Any]) -> Iterator[Node]:
        for index, item in enumerate(value):
            if isinstance(item, dict):
                yield Node(self.form, f"{self.at(key)}.{index}", item)
            else:
                text = "Only dictionaries may be used in a ModelType"
                self.fail(f"{key}.{index}", "MODEL_TYPE_CONVERT", text)


def _bad_length(min_count: int, max_count: int) -> tuple[str, str]:
    if min_count:
        return "BASE_TYPE_BAD_LENGTH", f"Must be between {min_count} and {max_count} in length."
    return "BASE_TYPE_MAX_LENGTH", f"Must be {max_count} or fewer in length."
