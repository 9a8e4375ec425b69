"""Translates the store's statements from SQLite's dialect to PostgreSQL's. Pure.

Most statements differ in a few words only, which the rules below change. The others are in
`sql/`, under the name that they have there, with the same values as $1, $2 ...
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from bridge.store.queries import read_queries

_STRING = re.compile(r"('(?:[^']|'')*')")
_PLACEHOLDER = re.compile(r"\?(\d*)")
_NUMBERED = re.compile(r"\$(\d+)")

# In this order, outside of strings and before placeholders are numbered.
_RULES: Sequence[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]] = (
    (re.compile(r"\bCROSS JOIN\b"), "JOIN"),
    (re.compile(r"\bINDEXED BY \w+"), ""),
    (re.compile(r"\btemp\."), "pg_temp."),
    (re.compile(r"\b(\w+\.)?key (=|IN) (\(SELECT )?message_key\(([^()]*)\)"), r"\1id \2 \3\4"),
    (
        re.compile(r"json_each\(([^()]*)\) AS (\w+)"),
        r"json_array_elements_text(CAST(\1 AS json)) AS \2(value)",
    ),
    (re.compile(r"\bpacked\(([^()]*)\)"), r"\1"),
    (re.compile(r"(\?\d+) IS NULL"), r"CAST(\1 AS text) IS NULL"),
    (re.compile(r"CAST\(([^()]*) AS BLOB\)"), r"\1"),
    (re.compile(r"AS INTEGER\)"), "AS bigint)"),
    (re.compile(r"\bgroup_concat\(([^()]*)\)"), r"string_agg(\1, ',')"),
    (re.compile(r"\binstr\("), "has_part("),
    (re.compile(r"\bLIMIT (\?\d*)"), r"LIMIT nullif(CAST(\1 AS bigint), -1)"),
)
# Across strings.
_FIELD = re.compile(r"json_extract\(CAST\(([\w.]+|\w+\([^()]*\)) AS TEXT\), '\$\.(\w+)'\)")
_IGNORE = re.compile(r"^INSERT OR IGNORE (.*)$", re.DOTALL)


@dataclass(frozen=True)
class Statement:
    """A statement with the placeholders $1, $2 ..., and which of the given values they stand
    for."""

    text: str
    order: tuple[int, ...] | None  # None: all, as they are given

    def of(self, values: Sequence[Any]) -> Sequence[Any]:
        """Return the values in the order of the placeholders."""
        return values if self.order is None else [values[place] for place in self.order]


@cache
def statement_of(sql: str) -> Statement:
    """Return the statement for one of SQLite's dialect."""
    own = _own().get(sql)
    return _in_order(translated(sql) if own is None else own, _count(sql))


def translated(sql: str) -> str:
    """Apply the rules to a statement."""
    sql = _FIELD.sub(r"json_field(\1, '\2')", sql.replace("x''", "''"))
    if found := _IGNORE.match(sql):
        sql = f"INSERT {found[1]} ON CONFLICT DO NOTHING"
    sql = "".join(
        piece if piece.startswith("'") else _by_rules(piece) for piece in _STRING.split(sql)
    )
    numbers = iter(range(1, 100))
    return _outside_strings(
        sql,
        lambda piece: _PLACEHOLDER.sub(lambda found: f"${found[1] or next(numbers)}", piece),
    )


def _by_rules(piece: str) -> str:
    for pattern, replacement in _RULES:
        piece = pattern.sub(replacement, piece)
    return piece


def _outside_strings(sql: str, change: Callable[[str], str]) -> str:
    return "".join(
        piece if piece.startswith("'") else change(piece) for piece in _STRING.split(sql)
    )


def _count(sql: str) -> int:
    """How many values the statement takes."""
    found = _PLACEHOLDER.findall("".join(_STRING.split(sql)[::2]))
    return max((int(number) for number in found if number), default=len(found))


def _in_order(text: str, count: int) -> Statement:
    """Number the placeholders without a gap: the server refuses values that no one stands for."""
    used = sorted({int(number) for number in _NUMBERED.findall(text)})
    if used == list(range(1, count + 1)):
        return Statement(text, None)
    new = {old: number for number, old in enumerate(used, 1)}
    renumbered = _NUMBERED.sub(lambda found: f"${new[int(found[1])]}", text)
    return Statement(renumbered, tuple(old - 1 for old in used))


@cache
def _own() -> Mapping[str, str]:
    """PostgreSQL's own statements, by those that they replace.

    Raises:
        KeyError: one replaces nothing.
    """
    found: dict[str, str] = {}
    for file in files("bridge.store.postgresql").joinpath("sql").iterdir():
        name = file.name.removesuffix(".sql")
        replaced = read_queries(name)
        found |= {replaced[query]: text for query, text in read_queries(name, "postgresql").items()}
    return found
