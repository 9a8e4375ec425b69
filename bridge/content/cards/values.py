"""A structured value -> nodes that people can read: fields, tables and lists. Pure.

For answers in a format (`VALUE`, or the schema's own `$id`): never raw JSON, unless it is so deep
that nothing else is left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeGuard

import orjson
from pydantic import JsonValue

from bridge.content.cards.tree import Fields, LabelledValue, Node, Prose, Table
from bridge.content.messages.agent_parts import VALUE
from bridge.content.text.tree import (
    Block,
    CodeBlock,
    Heading,
    Inline,
    Link,
    List,
    ListItem,
    Paragraph,
    Strong,
    Text,
)
from bridge.content.text.urls import safe_url

_DEEPEST = 4
_MOST_COLUMNS, _MOST_ROWS, _MOST_ITEMS = 8, 100, 200
_SHORT = 40  # characters of a value that may stand beside another

Scalar = str | int | float | bool | None


def is_value(schema_id: str) -> bool:
    """Whether a payload of this schema is a plain value: the address of a JSON Schema names one."""
    return schema_id == VALUE or schema_id.startswith(("http://", "https://"))


def value_nodes(value: object) -> tuple[Node, ...]:
    """Nodes that say all of the value; `{"value": X}` says X."""
    if isinstance(value, Mapping) and list(value) == ["value"]:
        value = value["value"]
    return tuple(_nodes(value, 1)) or (_prose(_line("(nothing)")),)


def _nodes(value: object, depth: int) -> list[Node]:
    if _is_scalar(value):
        return [_prose(_scalar_block(value))] if value not in (None, "") else []
    if depth > _DEEPEST:
        return [_as_code(value)]
    if isinstance(value, Mapping):
        return _object(value, depth)
    if isinstance(value, Sequence):
        return _array(value, depth)
    return [_as_code(value)]


def _object(value: Mapping[str, JsonValue], depth: int) -> list[Node]:
    """Scalars as fields, in their order; what has an inside under a heading of its own."""
    nodes: list[Node] = []
    fields: list[LabelledValue] = []
    for key, inner in value.items():
        if _is_scalar(inner) or _is_words(inner):
            said = _scalar(inner) if _is_scalar(inner) else _joined(inner)
            short = len(_plain(inner)) <= _SHORT
            fields.append(LabelledValue((Text(_label(key)),), (Paragraph(said),), short))
            continue
        if fields:
            nodes.append(Fields(tuple(fields)))
            fields = []
        head = Heading(min(depth + 2, 6), (Text(_label(key)),))
        nodes += [_prose(head), *(_nodes(inner, depth + 1) or [_prose(_line("(nothing)"))])]
    if fields:
        nodes.append(Fields(tuple(fields)))
    return nodes


def _array(value: Sequence[JsonValue], depth: int) -> list[Node]:
    shown = value[:_MOST_ITEMS]
    left = len(value) - len(shown)
    more = [_prose(_line(f"… and {left} more"))] if left else []
    if all(_is_scalar(one) or _is_words(one) for one in shown):
        items = tuple(ListItem((Paragraph(_inlines(one)),)) for one in shown)
        return [_prose(List(items)), *more] if items else []
    rows = [one for one in shown if isinstance(one, Mapping)]
    columns = list(dict.fromkeys(key for row in rows for key in row))
    flat = all(_is_scalar(one) or _is_words(one) for row in rows for one in row.values())
    if len(rows) == len(shown) and flat and len(columns) <= _MOST_COLUMNS:
        return _table(rows, columns, len(value))
    nodes: list[Node] = []
    for number, one in enumerate(shown, 1):
        nodes.append(_prose(Paragraph((Strong((Text(f"{number}."),)),))))
        nodes += _nodes(one, depth + 1)
    return [*nodes, *more]


def _table(rows: Sequence[Mapping[str, JsonValue]], columns: list[str], many: int) -> list[Node]:
    shown = rows[:_MOST_ROWS]
    head = tuple((_prose(_line(_label(key))),) for key in columns)
    body = [tuple((_prose(Paragraph(_inlines(row.get(key)))),) for key in columns) for row in shown]
    nodes: list[Node] = [Table((head, *body))]
    if many > len(shown):
        nodes.append(_prose(_line(f"… and {many - len(shown)} more")))
    return nodes


def _inlines(value: JsonValue) -> tuple[Inline, ...]:
    return _scalar(value) if _is_scalar(value) else _joined(value)


def _joined(value: object) -> tuple[Inline, ...]:
    return (Text(_plain(value) or "–"),)


def _is_scalar(value: object) -> TypeGuard[Scalar]:
    return value is None or isinstance(value, str | int | float | bool)


def _is_words(value: object) -> bool:
    """A few short scalars, which read well in one line."""
    if not isinstance(value, list) or len(value) > 10:
        return False
    return all(_is_scalar(one) and len(_plain(one)) <= _SHORT for one in value)


def _plain(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case list():
            return ", ".join(_plain(one) for one in value)
        case _:
            return str(value)


def _scalar(value: Scalar) -> tuple[Inline, ...]:
    said = _plain(value) or "–"
    url = safe_url(said) if said.startswith(("http:", "https:")) else None
    return (Link(url, (Text(url),)),) if url else (Text(said),)


def _scalar_block(value: Scalar) -> Paragraph:
    return Paragraph(_scalar(value))


def _line(said: str) -> Paragraph:
    return Paragraph((Text(said),))


def _label(key: str) -> str:
    """`due_date` -> `due date`; as it is where it has words of its own."""
    return " ".join(key.replace("_", " ").split()) or "–"


def _prose(block: Block) -> Prose:
    return Prose((block,))


def _as_code(value: object) -> Prose:
    written = orjson.dumps(value, option=orjson.OPT_INDENT_2, default=str).decode()
    return _prose(CodeBlock(written, "json"))
