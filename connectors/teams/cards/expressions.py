"""Adaptive expressions: text -> syntax tree -> value, with bounded cost. No clock, no randomness.

Published at learn.microsoft.com, "Adaptive expressions" (Bot Framework); the functions are in
`expression_functions`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite
from typing import cast

from pydantic import JsonValue

MAX_LENGTH = 4000  # characters of one expression
MAX_DEPTH = 60


class Unresolved(Exception):
    """The expression has no value here; its text stays unexpanded."""


class Exhausted(Exception):
    """The expansion exceeds its budget."""


@dataclass(slots=True)
class Budget:
    """The remaining cost of one expansion: steps, and created characters and items."""

    left: int

    def spend(self, cost: int) -> None:
        self.left -= cost
        if self.left < 0:
            raise Exhausted


# --- the syntax tree ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Literal:
    value: JsonValue


@dataclass(frozen=True, slots=True)
class Name:
    name: str


@dataclass(frozen=True, slots=True)
class Index:
    """A member access: `of.name` or `of[index]`."""

    of: Expression
    index: Expression


@dataclass(frozen=True, slots=True)
class Call:
    function: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Interpolated:
    """A template between backquotes: text with expressions."""

    parts: tuple[str | Expression, ...]


@dataclass(frozen=True, slots=True)
class Lambda:
    """A lambda: `x => body`."""

    name: str
    body: Expression


Expression = Literal | Name | Index | Call | Interpolated | Lambda

# --- parsing --------------------------------------------------------------------------------

_TOKEN = re.compile(
    r"\s*(?:"
    r"(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?)"
    r"|(?P<string>'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\")"
    r"|(?P<template>`(?:[^`\\]|\\.)*+`)"
    r"|(?P<name>[A-Za-z_$@#][A-Za-z0-9_$]*)"
    r"|(?P<sign>=>|==|!=|<>|<=|>=|&&|\|\||\?\?|[-+*/%^&!<>()\[\]{}.,:?])"
    r")",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
_CONSTANTS: dict[str, JsonValue] = {"true": True, "false": False, "null": None}

# Precedence and function of each operator; `^` is right-associative.
_BINARY: dict[str, tuple[int, str]] = {
    "??": (1, "coalesce"),
    "||": (2, "or"),
    "&&": (3, "and"),
    "==": (4, "equals"),
    "!=": (4, "notequals"),
    "<>": (4, "notequals"),
    "<": (5, "less"),
    "<=": (5, "lessorequals"),
    ">": (5, "greater"),
    ">=": (5, "greaterorequals"),
    "&": (6, "concat"),
    "+": (7, "add"),
    "-": (7, "sub"),
    "*": (8, "mul"),
    "/": (8, "div"),
    "%": (8, "mod"),
    "^": (9, "exp"),
}


@lru_cache(maxsize=512)
def parse(source: str) -> Expression:
    """Return the syntax tree. Raises Unresolved for an invalid, too long or too deep expression."""
    if len(source) > MAX_LENGTH:
        raise Unresolved
    parser = _Parser(source)
    expression = parser.expression(0, 0)
    parser.end()
    _check_depth(expression)
    return expression


def _check_depth(expression: Expression) -> None:
    """Raise Unresolved if the tree is too deep; each operator of a chain adds a level."""
    level: list[Expression] = [expression]
    for _ in range(MAX_DEPTH):
        level = [inner for outer in level for inner in _within(outer)]
        if not level:
            return
    raise Unresolved


def _within(expression: Expression) -> tuple[Expression, ...]:
    match expression:
        case Index(of, index):
            return (of, index)
        case Call(_, arguments):
            return arguments
        case Interpolated(parts):
            return tuple(part for part in parts if not isinstance(part, str))
        case Lambda(_, body):
            return (body,)
        case _:
            return ()


class _Parser:
    def __init__(self, source: str) -> None:
        self._tokens = _tokens(source)
        self._place = 0

    def end(self) -> None:
        if self._place < len(self._tokens):
            raise Unresolved

    def expression(self, minimum: int, depth: int) -> Expression:
        """Parse operators of at least this precedence; `a ? b : c` has the lowest."""
        if depth > MAX_DEPTH:
            raise Unresolved
        left = self._unary(depth + 1)
        while (operator := _BINARY.get(self._sign())) and operator[0] >= minimum:
            self._place += 1
            right = self.expression(operator[0] + (operator[1] != "exp"), depth + 1)
            left = Call(operator[1], (left, right))
        if minimum == 0 and self._takes("?"):
            then = self.expression(0, depth + 1)
            self._needs(":")
            return Call("if", (left, then, self.expression(0, depth + 1)))
        return left

    def _unary(self, depth: int) -> Expression:
        if depth > MAX_DEPTH:
            raise Unresolved
        if self._takes("!"):
            return Call("not", (self._unary(depth + 1),))
        if self._takes("-"):
            return Call("sub", (Literal(0), self._unary(depth + 1)))
        if self._takes("+"):
            return self._unary(depth + 1)
        return self._postfix(self._primary(depth), depth)

    def _postfix(self, operand: Expression, depth: int) -> Expression:
        while self._sign() in (".", "["):
            if self._takes("."):
                operand = Index(operand, Literal(self._take("name")))
            else:
                self._needs("[")
                operand = Index(operand, self.expression(0, depth + 1))
                self._needs("]")
        return operand

    def _primary(self, depth: int) -> Expression:
        if self._place >= len(self._tokens):
            raise Unresolved
        kind, text = self._tokens[self._place]
        self._place += 1
        match kind:
            case "number":
                return Literal(_number(text))
            case "string":
                return Literal(_unescape(text[1:-1]))
            case "template":
                return Interpolated(_parse_template(text[1:-1]))
            case "name":
                return self._name_or_call(text, depth)
            case _:
                return self._bracket(text, depth)

    def _name_or_call(self, name: str, depth: int) -> Expression:
        if self._takes("("):
            return Call(name.lower(), self._list(")", depth))
        if self._takes("=>"):
            return Lambda(name, self.expression(0, depth + 1))
        if name in _CONSTANTS:
            return Literal(_CONSTANTS[name])
        return Name(name)

    def _bracket(self, sign: str, depth: int) -> Expression:
        match sign:
            case "(":
                inner = self.expression(0, depth + 1)
                self._needs(")")
                return inner
            case "[":
                return Call("createarray", self._list("]", depth))
            case "{":
                return Call("createobject", self._pairs(depth))
            case _:
                raise Unresolved

    def _list(self, end: str, depth: int) -> tuple[Expression, ...]:
        items: list[Expression] = []
        if self._takes(end):
            return ()
        while True:
            items.append(self.expression(0, depth + 1))
            if self._takes(end):
                return tuple(items)
            self._needs(",")

    def _pairs(self, depth: int) -> tuple[Expression, ...]:
        arguments: list[Expression] = []
        if self._takes("}"):
            return ()
        while True:
            key = self._take("string", "name")
            self._needs(":")
            arguments += [Literal(key), self.expression(0, depth + 1)]
            if self._takes("}"):
                return tuple(arguments)
            self._needs(",")

    # --- tokens

    def _sign(self) -> str:
        if self._place < len(self._tokens) and self._tokens[self._place][0] == "sign":
            return self._tokens[self._place][1]
        return ""

    def _takes(self, sign: str) -> bool:
        if self._sign() != sign:
            return False
        self._place += 1
        return True

    def _needs(self, sign: str) -> None:
        if not self._takes(sign):
            raise Unresolved

    def _take(self, *kinds: str) -> str:
        if self._place >= len(self._tokens) or self._tokens[self._place][0] not in kinds:
            raise Unresolved
        kind, text = self._tokens[self._place]
        self._place += 1
        return _unescape(text[1:-1]) if kind == "string" else text


def _tokens(source: str) -> list[tuple[str, str]]:
    tokens: list[tuple[str, str]] = []
    source, place = source.strip(), 0
    while place < len(source):
        token = _TOKEN.match(source, place)
        if token is None or token.lastgroup is None:
            raise Unresolved
        tokens.append((token.lastgroup, token[token.lastgroup]))
        place = token.end()
    return tokens


def _number(text: str) -> JsonValue:
    value = int(text) if text.isdigit() and len(text) < 16 else float(text)
    if not isfinite(value):
        raise Unresolved
    return value


def _unescape(text: str) -> str:
    return _ESCAPE.sub(lambda escape: _ESCAPES.get(escape[1], escape[1]), text)


def _parse_template(text: str) -> tuple[str | Expression, ...]:
    return tuple(
        parse(part.source) if isinstance(part, Embedded) else _unescape(part)
        for part in split_text(text)
    )


# --- expressions in text --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Embedded:
    """An expression in text: `${source}`."""

    source: str


def split_text(text: str) -> list[str | Embedded]:
    """Split text from its expressions; an unclosed `${` is text."""
    parts: list[str | Embedded] = []
    start = 0
    while (begin := text.find("${", start)) >= 0:
        end = _end_of(text, begin + 2)
        if end < 0:
            break
        if begin > start:
            parts.append(text[start:begin])
        parts.append(Embedded(text[begin + 2 : end]))
        start = end + 1
    return [*parts, text[start:]] if text[start:] else parts


_BRACE = re.compile(r"[{}]|'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\"|`(?:[^`\\]|\\.)*+`", re.DOTALL)


def _end_of(text: str, start: int) -> int:
    """Return the place of the closing brace, or -1; braces in strings do not count."""
    depth = 1
    for brace in _BRACE.finditer(text, start):
        if brace[0] == "{":
            depth += 1
        elif brace[0] == "}":
            depth -= 1
            if not depth:
                return brace.start()
    return -1


# --- evaluating -----------------------------------------------------------------------------

Function = Callable[["Scope", Sequence[JsonValue]], JsonValue]
Special = Callable[["Scope", tuple[Expression, ...]], JsonValue]


@dataclass(frozen=True, slots=True)
class Scope:
    """Where names are looked up: `names` (`$root`, `$index`, lambda parameters), then `data`.

    `functions` receive evaluated arguments; `specials` evaluate their arguments themselves.
    """

    data: JsonValue
    names: Mapping[str, JsonValue]
    budget: Budget
    functions: Mapping[str, Function]
    specials: Mapping[str, Special]

    def naming(self, name: str, value: JsonValue) -> Scope:
        names = {**self.names, name: value}
        return Scope(self.data, names, self.budget, self.functions, self.specials)


def evaluate(expression: Expression, scope: Scope) -> JsonValue:
    """Return the value; an unknown name is None.

    Raises Unresolved if there is no value, Exhausted if the budget is spent.
    """
    scope.budget.spend(1)
    match expression:
        case Literal(value):
            return value
        case Name(name):
            return _look_up(name, scope)
        case Index(of, index):
            return _index(evaluate(of, scope), evaluate(index, scope))
        case Call(function, arguments):
            return _call(function, arguments, scope)
        case Interpolated(parts):
            texts = (
                part if isinstance(part, str) else written(evaluate(part, scope)) for part in parts
            )
            return charged("".join(texts), scope)
        case Lambda():
            raise Unresolved


def _call(function: str, arguments: tuple[Expression, ...], scope: Scope) -> JsonValue:
    if (special := scope.specials.get(function)) is not None:
        return special(scope, arguments)
    if (plain := scope.functions.get(function)) is None:
        raise Unresolved
    values = [evaluate(argument, scope) for argument in arguments]
    try:
        return charged(plain(scope, values), scope)
    except (TypeError, ValueError, LookupError, ArithmeticError, AttributeError, RecursionError):
        raise Unresolved from None


def _look_up(name: str, scope: Scope) -> JsonValue:
    if name in scope.names:
        return scope.names[name]
    if name == "$data":
        return scope.data
    return scope.data.get(name) if isinstance(scope.data, dict) else None


def _index(value: JsonValue, index: JsonValue) -> JsonValue:
    if isinstance(value, dict) and isinstance(index, str):
        return value.get(index)
    if isinstance(value, list) and isinstance(index, int | float) and not isinstance(index, bool):
        place = int(index)
        return value[place] if place == index and 0 <= place < len(value) else None
    if value is None:
        return None
    raise Unresolved


def charged(value: JsonValue, scope: Scope) -> JsonValue:
    """Return the value after charging its size to the budget."""
    if isinstance(value, str | list | dict):
        scope.budget.spend(len(value) // 8 if isinstance(value, str) else len(value))
    return value


def written(value: JsonValue) -> str:
    """Return a value as text in a template."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case str():
            return value
        case int():
            return str(value)
        case float():
            return f"{value:.0f}" if value.is_integer() and abs(value) < 1e15 else f"{value:.15g}"
        case _:
            return as_json(value)


def as_json(value: JsonValue) -> str:
    """Return compact JSON. Raises Unresolved for too deep nesting."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (RecursionError, ValueError):
        raise Unresolved from None


def items_of(value: JsonValue) -> list[JsonValue]:
    """Return a list, or key and value of each member of an object. Raises Unresolved."""
    if isinstance(value, list):
        return value
    if isinstance(value, dict):
        return [cast("JsonValue", {"key": key, "value": member}) for key, member in value.items()]
    raise Unresolved
