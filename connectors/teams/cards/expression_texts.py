"""Functions of adaptive expressions on text and URIs, with bounded results. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast
from urllib.parse import urlsplit

from pydantic import JsonValue

from connectors.teams.cards.expression_values import (
    Plain,
    is_same,
    list_in,
    text_in,
    whole_in,
)
from connectors.teams.cards.expressions import (
    written,
)


def _concat(values: Sequence[JsonValue]) -> JsonValue:
    if values and all(isinstance(value, list) for value in values):
        return [item for value in values for item in list_in(value)]
    return "".join(map(written, values))


def _substring(values: Sequence[JsonValue]) -> JsonValue:
    text, start = text_in(values[0]), whole_in(values[1])
    length = whole_in(values[2]) if len(values) > 2 else len(text) - start
    if not 0 <= start <= len(text) or length < 0 or start + length > len(text):
        raise ValueError
    return text[start : start + length]


def _replace(values: Sequence[JsonValue]) -> JsonValue:
    text, old, new = map(text_in, values[:3])
    if not old or text.count(old) * len(new) > 1_000_000:
        raise ValueError
    return text.replace(old, new)


def _replace_ignoring_case(values: Sequence[JsonValue]) -> JsonValue:
    text, old, new = map(text_in, values[:3])
    low, low_old = text.lower(), old.lower()
    if not low_old or len(low) != len(text) or low.count(low_old) * len(new) > 1_000_000:
        raise ValueError
    pieces: list[str] = []
    start = 0
    while (place := low.find(low_old, start)) >= 0:
        pieces += [text[start:place], new]
        start = place + len(low_old)
    return "".join([*pieces, text[start:]])


def _split(values: Sequence[JsonValue]) -> JsonValue:
    text, sign = text_in(values[0]), text_in(values[1]) if len(values) > 1 else ""
    return cast("JsonValue", text.split(sign) if sign else list(text))


def _index_of(values: Sequence[JsonValue]) -> JsonValue:
    if isinstance(values[0], list):
        return next((i for i, item in enumerate(values[0]) if is_same(item, values[1])), -1)
    return text_in(values[0]).find(text_in(values[1]))


def _last_index_of(values: Sequence[JsonValue]) -> JsonValue:
    if isinstance(values[0], list):
        places = [i for i, item in enumerate(values[0]) if is_same(item, values[1])]
        return places[-1] if places else -1
    return text_in(values[0]).rfind(text_in(values[1]))


def _ordinal(values: Sequence[JsonValue]) -> JsonValue:
    number = whole_in(values[0])
    ending = "th" if 10 < number % 100 < 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _sentence_case(values: Sequence[JsonValue]) -> JsonValue:
    text = text_in(values[0])
    return text[:1].upper() + text[1:].lower()


def _title_case(values: Sequence[JsonValue]) -> JsonValue:
    return " ".join(word[:1].upper() + word[1:].lower() for word in text_in(values[0]).split(" "))


def _reverse(values: Sequence[JsonValue]) -> JsonValue:
    value = values[0]
    return value[::-1] if isinstance(value, list) else text_in(value)[::-1]


def _of_uri(part: str) -> Callable[[Sequence[JsonValue]], JsonValue]:
    def read(values: Sequence[JsonValue]) -> JsonValue:
        uri = urlsplit(text_in(values[0]))
        if not uri.scheme:
            raise ValueError
        match part:
            case "host":
                return uri.hostname or ""
            case "path":
                return uri.path
            case "pathandquery":
                return f"{uri.path}?{uri.query}" if uri.query else uri.path
            case "port":
                return uri.port or {"http": 80, "https": 443}.get(uri.scheme, -1)
            case "query":
                return f"?{uri.query}" if uri.query else ""
            case _:
                return uri.scheme

    return read


TEXTS: dict[str, Plain] = {
    "concat": _concat,
    "length": lambda values: len(text_in(values[0])),
    "replace": _replace,
    "replaceignorecase": _replace_ignoring_case,
    "split": _split,
    "substring": _substring,
    "tolower": lambda values: text_in(values[0]).lower(),
    "toupper": lambda values: text_in(values[0]).upper(),
    "trim": lambda values: text_in(values[0]).strip(),
    "addordinal": _ordinal,
    "endswith": lambda values: text_in(values[0]).endswith(text_in(values[1])),
    "startswith": lambda values: text_in(values[0]).startswith(text_in(values[1])),
    "countword": lambda values: len(text_in(values[0]).split()),
    "indexof": _index_of,
    "lastindexof": _last_index_of,
    "sentencecase": _sentence_case,
    "titlecase": _title_case,
    "reverse": _reverse,
    "eol": lambda _values: "\n",
    "urihost": _of_uri("host"),
    "uripath": _of_uri("path"),
    "uripathandquery": _of_uri("pathandquery"),
    "uriport": _of_uri("port"),
    "uriquery": _of_uri("query"),
    "urischeme": _of_uri("scheme"),
}
