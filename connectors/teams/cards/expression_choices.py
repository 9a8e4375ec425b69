"""Functions of adaptive expressions that evaluate their arguments: conditions and loops. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import JsonValue

from connectors.teams.cards.expression_values import (
    Number,
    is_true,
    number_in,
)
from connectors.teams.cards.expressions import (
    Expression,
    Lambda,
    Literal,
    Name,
    Scope,
    Special,
    Unresolved,
    charged,
    evaluate,
    items_of,
)


def _if(scope: Scope, arguments: tuple[Expression, ...]) -> JsonValue:
    condition, then, *other = _require(arguments, 2)
    if is_true(_value_or_none(condition, scope)):
        return evaluate(then, scope)
    return evaluate(other[0], scope) if other else None


def _and(scope: Scope, arguments: tuple[Expression, ...]) -> JsonValue:
    return all(is_true(_value_or_none(argument, scope)) for argument in arguments)


def _or(scope: Scope, arguments: tuple[Expression, ...]) -> JsonValue:
    return any(is_true(_value_or_none(argument, scope)) for argument in arguments)


def _not(scope: Scope, arguments: tuple[Expression, ...]) -> JsonValue:
    return not is_true(_value_or_none(_require(arguments, 1)[0], scope))


def _exists(scope: Scope, arguments: tuple[Expression, ...]) -> JsonValue:
    return _value_or_none(_require(arguments, 1)[0], scope) is not None


def _coalesce(scope: Scope, arguments: tuple[Expression, ...]) -> JsonValue:
    values = (_value_or_none(argument, scope) for argument in arguments)
    return next((value for value in values if value is not None), None)


def _value_or_none(expression: Expression, scope: Scope) -> JsonValue:
    """Return the value; None if it has none or calls an unknown function."""
    try:
        return evaluate(expression, scope)
    except Unresolved:
        return None


def _require(arguments: tuple[Expression, ...], count: int) -> tuple[Expression, ...]:
    if len(arguments) < count:
        raise Unresolved
    return arguments


def _each(scope: Scope, arguments: tuple[Expression, ...]) -> Iterator[tuple[JsonValue, JsonValue]]:
    """Yield each item with the lambda's value: `(items, x, body)` or `(items, x => body)`."""
    members = items_of(evaluate(_require(arguments, 2)[0], scope))
    match arguments[1:]:
        case (Name(name), body) | (Lambda(name, body),):
            for item in members:
                yield item, evaluate(body, scope.naming(name, item))
        case _:
            raise Unresolved


def _select(scope: Scope, arguments: tuple[Expression, ...]) -> JsonValue:
    return charged([value for _, value in _each(scope, arguments)], scope)


def _where(scope: Scope, arguments: tuple[Expression, ...]) -> JsonValue:
    return charged([item for item, value in _each(scope, arguments) if is_true(value)], scope)


def _any(scope: Scope, arguments: tuple[Expression, ...]) -> JsonValue:
    return any(is_true(value) for _, value in _each(scope, arguments))


def _all(scope: Scope, arguments: tuple[Expression, ...]) -> JsonValue:
    return all(is_true(value) for _, value in _each(scope, arguments))


def _sort(scope: Scope, arguments: tuple[Expression, ...], *, down: bool) -> JsonValue:
    """Sort by the items, by a member named in a string, or by a lambda."""
    members = evaluate(_require(arguments, 1)[0], scope)
    if not isinstance(members, list):
        raise Unresolved
    scope.budget.spend(len(members) * max(len(members).bit_length(), 1))
    match arguments[1:]:
        case ():
            keyed = [(item, item) for item in members]
        case (Literal(str(key)),):
            keyed = [(item, item.get(key) if isinstance(item, dict) else None) for item in members]
        case _:
            keyed = list(_each(scope, arguments))
    try:
        keyed.sort(key=lambda pair: _sort_key(pair[1]), reverse=down)
    except TypeError:
        raise Unresolved from None
    return [item for item, _ in keyed]


def _sort_key(value: JsonValue) -> tuple[int, Number | str]:
    if isinstance(value, str):
        return (1, value)
    return (0, 0 if value is None else number_in(value))


SPECIALS: dict[str, Special] = {
    "if": _if,
    "and": _and,
    "or": _or,
    "not": _not,
    "exists": _exists,
    "coalesce": _coalesce,
    "select": _select,
    "foreach": _select,
    "where": _where,
    "any": _any,
    "all": _all,
    "sortby": lambda scope, arguments: _sort(scope, arguments, down=False),
    "sortbydescending": lambda scope, arguments: _sort(scope, arguments, down=True),
}
