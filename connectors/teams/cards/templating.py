"""The template language of Adaptive Cards: template and data -> card, with bounded cost. Pure.

`${expression}` in text, `$data` and `$when` on objects, `$root`, `$index` and `$host` in
expressions (learn.microsoft.com, "Adaptive Cards template language", 2025-06).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice

from pydantic import JsonValue

from bridge.content.cards.json_tree import check_nesting, pointer
from bridge.errors import CodecError
from connectors.teams.cards.expression_functions import FUNCTIONS, SPECIALS
from connectors.teams.cards.expressions import (
    Budget,
    Embedded,
    Exhausted,
    Expression,
    Index,
    Literal,
    Name,
    Scope,
    Unresolved,
    evaluate,
    parse,
    split_text,
    written,
)
from connectors.teams.cards.json_places import places_of
from connectors.teams.cards.json_values import Json

MAX_DEPTH = 64  # levels of a template that are expanded
MAX_COST = 400_000  # steps, items and eighths of characters of one expansion
_MAX_POINTERS = 1000  # pointers are long in deep cards
_RESOURCE = "rs:"  # `${rs:name}` names a string of the card itself


def expand(template: Json, data: JsonValue, host: JsonValue = None) -> tuple[Json, tuple[str, ...]]:
    """Return the card, and pointers to `${...}` without a value.

    Without `data` the template's own `$data` is used. Raises CodecError if the expansion exceeds
    its budget or the input is nested too deeply.
    """
    for value in (template, data, host):
        check_nesting(value)
    own = template.get("$data")
    data = own if data is None and isinstance(own, dict | list) else data
    bindings: dict[str, JsonValue] = {"$root": data, "$host": host}
    names = {name: value for name, value in bindings.items() if value is not None}
    expanding = _Expanding()
    try:
        card = expanding.member(template, Scope(data, names, Budget(MAX_COST), FUNCTIONS, SPECIALS))
    except Exhausted:
        raise CodecError("", "the expansion is too large; use less data") from None
    several = card if isinstance(card, list) else [card]
    first = several[0] if several else None
    return first if isinstance(first, dict) else {}, tuple(expanding.unresolved)


def unexpanded_in(value: JsonValue, at: str = "") -> tuple[str, ...]:
    """Return pointers to texts with `${...}`; beyond 1000, one pointer to the whole."""
    matches = islice(places_of(value, _is_unexpanded), _MAX_POINTERS + 1)
    places = [f"{at}{place}" for place, _, _ in matches]
    return (*places[:_MAX_POINTERS], *(at for _ in places[_MAX_POINTERS:]))


def _is_unexpanded(_step: str | int, value: JsonValue) -> bool:
    return isinstance(value, str) and "${" in value and _has_expression(value)


def _has_expression(text: str) -> bool:
    return any(
        isinstance(part, Embedded) and not part.source.startswith(_RESOURCE)
        for part in split_text(text)
    )


# --- expanding ------------------------------------------------------------------------------


@dataclass(slots=True)
class _Expanding:
    unresolved: list[str] = field(default_factory=list[str])

    def member(self, item: Json, scope: Scope, at: str = "", depth: int = 0) -> JsonValue:
        """Expand an object, which may become None or a list."""
        contexts = self._contexts(item, scope, at)
        objects = [self._object(item, context, at, depth) for context in contexts]
        expanded: list[JsonValue] = [item for item in objects if item is not None]
        return expanded if len(expanded) > 1 else expanded[0] if expanded else None

    def _value(self, value: JsonValue, scope: Scope, at: str, depth: int) -> JsonValue:
        scope.budget.spend(1)
        if isinstance(value, str):
            return self._text(value, scope, at)
        if depth > MAX_DEPTH:
            self.unresolved += unexpanded_in(value, at)
            return value
        if isinstance(value, dict):
            return self.member(value, scope, at, depth)
        if isinstance(value, list):
            return self._list(value, scope, at, depth)
        return value

    def _list(self, several: list[JsonValue], scope: Scope, at: str, depth: int) -> JsonValue:
        """Expand a list; an object is repeated for each item of its data."""
        expanded: list[JsonValue] = []
        for item in several:
            if not isinstance(item, dict) or depth >= MAX_DEPTH:
                expanded.append(self._value(item, scope, f"{at}/{len(expanded)}", depth + 1))
                continue
            for context in self._contexts(item, scope, f"{at}/{len(expanded)}"):
                context.budget.spend(1)
                expanded_item = self._object(item, context, f"{at}/{len(expanded)}", depth + 1)
                if expanded_item is not None:
                    expanded.append(expanded_item)
        return expanded

    def _contexts(self, item: Json, scope: Scope, at: str) -> list[Scope]:
        """Return a scope for each item of an object's data."""
        if "$data" not in item:
            return [scope]
        data = item["$data"]
        if isinstance(data, str):
            unresolved = len(self.unresolved)
            data = self._text(data, scope, pointer(at, "$data"))
            if len(self.unresolved) > unresolved:
                return [scope]
        if not isinstance(data, list):
            return [_scope_of(scope, data, None)]
        scope.budget.spend(len(data))
        return [_scope_of(scope, item, index) for index, item in enumerate(data)]

    def _object(self, item: Json, scope: Scope, at: str, depth: int) -> Json | None:
        """Expand an object; None if `$when` is false. An undecidable `$when` stays."""
        expanded: Json = {}
        if "$when" in item:
            when = self._decide(item["$when"], scope, pointer(at, "$when"))
            if when is False:
                return None
            if when is None:
                expanded["$when"] = item["$when"]
        for key, value in item.items():
            if key not in ("$data", "$when"):
                expanded_value = self._value(value, scope, pointer(at, key), depth + 1)
                if expanded_value is not None or value is None or isinstance(value, str):
                    expanded[key] = expanded_value
        return expanded

    def _decide(self, when: JsonValue, scope: Scope, at: str) -> bool | None:
        """Return whether `$when` is true (adaptivecards-templating 2.3); None without a value."""
        if not isinstance(when, str):
            return when is not False
        match split_text(when):
            case [Embedded(source)]:
                try:
                    return evaluate(parse(source), scope) is True
                except Unresolved:
                    self.unresolved.append(at)
                    return None
            case _:
                return True

    # --- text

    def _text(self, text: str, scope: Scope, at: str) -> JsonValue:
        """Expand text; a single expression keeps its type."""
        scope.budget.spend(len(text) // 8)
        if "${" not in text:
            return text
        parts = split_text(text)
        values: list[JsonValue] = []
        for part in parts:
            if isinstance(part, str):
                values.append(part)
                continue
            try:
                values.append(_value_of(part, scope))
            except Unresolved:
                values.append(f"${{{part.source}}}")
                if not part.source.startswith(_RESOURCE) and at not in self.unresolved[-1:]:
                    self.unresolved.append(at)
        if len(values) == 1:
            return values[0]
        whole = "".join(map(written, values))
        scope.budget.spend(len(whole) // 8)
        return whole


def _scope_of(scope: Scope, data: JsonValue, index: int | None) -> Scope:
    names = scope.names if index is None else {**scope.names, "$index": index}
    return Scope(data, names, scope.budget, scope.functions, scope.specials)


def _value_of(part: Embedded, scope: Scope) -> JsonValue:
    expression = parse(part.source)
    value = evaluate(expression, scope)
    if value is None and not _is_defined(expression, scope):
        raise Unresolved
    return value


def _is_defined(expression: Expression, scope: Scope) -> bool:
    """Return whether a name is defined, also as null; computed values always are."""
    match expression:
        case Name(name):
            return name in scope.names or (isinstance(scope.data, dict) and name in scope.data)
        case Index(of, Literal(str(key))):
            holder = evaluate(of, scope)
            return isinstance(holder, dict) and key in holder
        case Index():
            return False
        case _:
            return True
