"""The template language of Adaptive Cards: a template and its data -> the card. Pure and bounded.

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
MOST = 400_000  # steps, items and characters (by eights) of one expansion
_MOST_NAMED = 1000  # pointers, which are long where a card is deep
_RESOURCE = "rs:"  # `${rs:name}` names a string of the card itself


def expand(template: Json, data: JsonValue, host: JsonValue = None) -> tuple[Json, tuple[str, ...]]:
    """The card, and pointers into it to what still has `${...}`: it has no value in this data.

    Without data the template's own `$data` is used. Raises CodecError where the card would be
    beyond all measure, and nothing else.
    """
    for one in (template, data, host):
        check_nesting(one)
    own = template.get("$data")
    data = own if data is None and isinstance(own, dict | list) else data
    given: dict[str, JsonValue] = {"$root": data, "$host": host}
    names = {name: one for name, one in given.items() if one is not None}
    expanding = _Expanding()
    try:
        card = expanding.member(template, Scope(data, names, Budget(MOST), FUNCTIONS, SPECIALS))
    except Exhausted:
        raise CodecError("", "expands beyond all measure; give it less data") from None
    several = card if isinstance(card, list) else [card]
    first = several[0] if several else None
    return first if isinstance(first, dict) else {}, tuple(expanding.unresolved)


def unexpanded_in(value: JsonValue, at: str = "") -> tuple[str, ...]:
    """Pointers to the text that has `${...}` in it; where there is far more, one to the whole."""
    found = islice(places_of(value, _is_unexpanded), _MOST_NAMED + 1)
    places = [f"{at}{place}" for place, _, _ in found]
    return (*places[:_MOST_NAMED], *(at for _ in places[_MOST_NAMED:]))


def _is_unexpanded(_step: str | int, value: JsonValue) -> bool:
    return isinstance(value, str) and "${" in value and _has_expression(value)


def _has_expression(text: str) -> bool:
    return any(
        isinstance(one, Embedded) and not one.source.startswith(_RESOURCE)
        for one in split_text(text)
    )


# --- expanding ------------------------------------------------------------------------------


@dataclass(slots=True)
class _Expanding:
    unresolved: list[str] = field(default_factory=list[str])

    def member(self, item: Json, scope: Scope, at: str = "", depth: int = 0) -> JsonValue:
        """An object that stands alone: it may become none or several."""
        contexts = self._contexts(item, scope, at)
        found = [self._object(item, context, at, depth) for context in contexts]
        kept: list[JsonValue] = [one for one in found if one is not None]
        return kept if len(kept) > 1 else kept[0] if kept else None

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
        """Objects in a list stand there as often as they have data."""
        found: list[JsonValue] = []
        for item in several:
            if not isinstance(item, dict) or depth >= MAX_DEPTH:
                found.append(self._value(item, scope, f"{at}/{len(found)}", depth + 1))
                continue
            for context in self._contexts(item, scope, f"{at}/{len(found)}"):
                context.budget.spend(1)
                one = self._object(item, context, f"{at}/{len(found)}", depth + 1)
                if one is not None:
                    found.append(one)
        return found

    def _contexts(self, item: Json, scope: Scope, at: str) -> list[Scope]:
        """Where the names within an object are looked up: once for each item of its data."""
        if "$data" not in item:
            return [scope]
        data = item["$data"]
        if isinstance(data, str):
            unresolved = len(self.unresolved)
            data = self._text(data, scope, pointer(at, "$data"))
            if len(self.unresolved) > unresolved:
                return [scope]
        if not isinstance(data, list):
            return [_about(scope, data, None)]
        scope.budget.spend(len(data))
        return [_about(scope, one, index) for index, one in enumerate(data)]

    def _object(self, item: Json, scope: Scope, at: str, depth: int) -> Json | None:
        """None where `$when` says so; one that cannot be decided stays."""
        found: Json = {}
        if "$when" in item:
            when = self._decided(item["$when"], scope, pointer(at, "$when"))
            if when is False:
                return None
            if when is None:
                found["$when"] = item["$when"]
        for key, value in item.items():
            if key not in ("$data", "$when"):
                one = self._value(value, scope, pointer(at, key), depth + 1)
                if one is not None or value is None or isinstance(value, str):
                    found[key] = one
        return found

    def _decided(self, when: JsonValue, scope: Scope, at: str) -> bool | None:
        """Only true is true (adaptivecards-templating 2.3); None for what is no expression here."""
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
        """A lone expression keeps its kind; others are put into the text."""
        scope.budget.spend(len(text) // 8)
        if "${" not in text:
            return text
        parts = split_text(text)
        told: list[JsonValue] = []
        for part in parts:
            if isinstance(part, str):
                told.append(part)
                continue
            try:
                told.append(_valued(part, scope))
            except Unresolved:
                told.append(f"${{{part.source}}}")
                if not part.source.startswith(_RESOURCE) and at not in self.unresolved[-1:]:
                    self.unresolved.append(at)
        if len(told) == 1:
            return told[0]
        whole = "".join(map(written, told))
        scope.budget.spend(len(whole) // 8)
        return whole


def _about(scope: Scope, data: JsonValue, index: int | None) -> Scope:
    names = scope.names if index is None else {**scope.names, "$index": index}
    return Scope(data, names, scope.budget, scope.functions, scope.specials)


def _valued(part: Embedded, scope: Scope) -> JsonValue:
    expression = parse(part.source)
    value = evaluate(expression, scope)
    if value is None and not _is_there(expression, scope):
        raise Unresolved
    return value


def _is_there(expression: Expression, scope: Scope) -> bool:
    """Whether a name has a value, be it null; what is worked out always has one."""
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
