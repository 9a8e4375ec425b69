"""A pydantic ValidationError -> InvalidUacs: JSON path, value and rule of the first fault."""

from __future__ import annotations

from collections.abc import Sequence
from reprlib import Repr
from typing import cast

from pydantic import ValidationError
from pydantic_core import PydanticCustomError

from bridge.errors import InvalidUacs

KNOWN_BRANCH, OPEN_BRANCH = "\0known", "\0open"
"""Labels of the two branches of a part in pydantic's locations; no JSON path shows them."""

_NO_KNOWN_TYPE = {"union_tag_not_found", "union_tag_invalid"}
_RULES = {
    "too_short": "must have at least one item",
    "string_type": "must be a string",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "dict_type": "must be an object",
    "tuple_type": "must be an array",
    "list_type": "must be an array",
    "string_unicode": "must be Unicode without lone surrogates",
}
_MAX_TEXT = 200


class _Excerpt(str):
    """The description of a value that is too large to print; it prints without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def refused(value: object, rule: str, at: str = "") -> PydanticCustomError:
    """Builds the error that our own validators raise.

    Args:
        value: The value at fault.
        rule: What the value must be, as the end of the sentence "VALUE ...".
        at: The path from the validated value to the value at fault, such as `.a[0]`.
    """
    return PydanticCustomError("uacs", "{rule}", {"rule": rule, "at": at, "value": shown(value)})


def to_invalid_uacs(error: ValidationError, *, tagged: bool = False) -> InvalidUacs:
    """Returns the first fault that explains something; for a part, the fault of the branch of its
    type.

    Args:
        error: What pydantic raised.
        tagged: Whether the validated value is itself a union, whose tag begins each location.
    """
    details = error.errors(include_url=False)
    fault = next((detail for detail in details if detail["type"] not in _NO_KNOWN_TYPE), details[0])
    loc = fault["loc"][1:] if tagged else fault["loc"]
    path, context = json_path(loc), fault.get("ctx", {})
    match fault["type"]:
        case "uacs":
            path = _short_text(path + context["at"])
            return InvalidUacs(path, context["value"], context["rule"])
        case "missing":
            return InvalidUacs(path, _Excerpt("nothing"), "is given, but this field is required")
        case "union_tag_invalid":
            rule = f"must be one of {context['expected_tags']}"
            return InvalidUacs(f"{path}.type", _short_text(context["tag"]), rule)
        case "union_tag_not_found":
            return InvalidUacs(
                f"{path}.type", _Excerpt("nothing"), "is given, but a string is required"
            )
        case "json_invalid":
            return InvalidUacs(path, shown(fault["input"]), f"must be JSON: {context['error']}")
        case kind:
            rule = _RULES.get(kind) or fault["msg"].replace("Input should be", "must be", 1)
            return InvalidUacs(path, shown(fault["input"]), rule)


def json_path(loc: Sequence[int | str]) -> str:
    r"""('content', 0, '\\0known', 'text', 'text') -> '$.content[0].text'."""
    path, steps = "$", iter(loc)
    for step in steps:
        if step == KNOWN_BRANCH:
            next(steps, None)  # the tag is the part's type and no step of JSON
        elif step != OPEN_BRANCH:
            path += json_step(step)
    return path


def json_step(step: int | str) -> str:
    """0 -> '[0]', 'a' -> '.a', 'a b' -> "['a b']"."""
    if isinstance(step, int):
        return f"[{step}]"
    return f".{_short_text(step)}" if step.isidentifier() else f"[{_short_text(step)!r}]"


def shown(value: object) -> object:
    """Returns the value itself if it is short, else an excerpt that is cheap to print."""
    match value:
        case None | bool() | float():
            return value
        case int():
            bits = value.bit_length()
            return value if bits <= 128 else _Excerpt(f"an integer of {bits} bits")
        case str():
            return _short_text(value)
        case bytes():
            return value[:_MAX_TEXT]
        case dict():
            keys = ", ".join(
                repr(_short_text(str(key))) for key in list(cast("dict[object, object]", value))[:6]
            )
            return _Excerpt(f"an object with the keys {keys}" if keys else "an empty object")
        case list() | tuple():
            return _Excerpt(f"an array of {len(cast('list[object]', value))} items")
        case _:
            return _Excerpt(_EXCERPT.repr(value))


def _short_text(text: str) -> str:
    """The text, cut to `_MAX_TEXT` characters and without lone surrogates, which no log can
    write."""
    text = text[: _MAX_TEXT + 1].encode(errors="backslashreplace").decode()
    return text if len(text) <= _MAX_TEXT else f"{text[: _MAX_TEXT - 1]}…"


_EXCERPT = Repr()
