"""A structured value -> nodes for people: fields, tables and lists. Pure.

Answers in a requested format (`VALUE`, or the schema's own `$id`) are shown this way; raw JSON
appears only for values that are nested too deeply.
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

_MAX_DEPTH = 4
_MAX_COLUMNS, _MAX_ROWS, _MAX_ITEMS = 8, 100, 200
_SHORT = 40  # characters of a value that fits beside another

Scalar = str | int | float | bool | None


def is_value(schema_id: str) -> bool:
    """Whether a payload of this schema is a plain value; the address of a JSON Schema names one."""
    return schema_id == VALUE or schema_id.startswith(("http://", "https://"))


def value_nodes(value: object) -> tuple[Node, ...]:
    """Returns nodes with the whole value; `{"value": X}` is shown as X."""
    if isinstance(value, Mapping) and list(value) == ["value"]:
        value = value["value"]
    return tuple(_nodes(value, 1)) or (_prose(_line("(nothing)")),)


def _nodes(value: object, depth: int) -> list[Node]:
    if _is_scalar(value):
        return [_prose(_scalar_block(value))] if value not in (None, "") else []
    if depth > _MAX_DEPTH:
        return [_as_code(value)]
    if isinstance(value, Mapping):
        return _object(value, depth)
    if isinstance(value, Sequence):
        return _array(value, depth)
    return [_as_code(value)]


def _object(value: Mapping[str, JsonValue], depth: int) -> list[Node]:
    """Scalars as fields, in order; members with members of their own under a heading each."""
    nodes: list[Node] = []
    fields: list[LabelledValue] = []
    for key, inner in value.items():
        if _is_scalar(inner) or _is_short_list(inner):
            inlines = _scalar(inner) if _is_scalar(inner) else _joined(inner)
            short = len(_plain(inner)) <= _SHORT
            fields.append(LabelledValue((Text(_label(key)),), (Paragraph(inlines),), short))
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
    items = value[:_MAX_ITEMS]
    remaining = len(value) - len(items)
    note = [_prose(_line(f"… and {remaining} more"))] if remaining else []
    if all(_is_scalar(item) or _is_short_list(item) for item in items):
        lines = tuple(ListItem((Paragraph(_inlines(item)),)) for item in items)
        return [_prose(List(lines)), *note] if lines else []
    rows = [item for item in items if isinstance(item, Mapping)]
    columns = list(dict.fromkeys(key for row in rows for key in row))
    flat = all(_is_scalar(cell) or _is_short_list(cell) for row in rows for cell in row.values())
    if len(rows) == len(items) and flat and len(columns) <= _MAX_COLUMNS:
        return _table(rows, columns, len(value))
    nodes: list[Node] = []
    for number, item in enumerate(items, 1):
        nodes.append(_prose(Paragraph((Strong((Text(f"{number}."),)),))))
        nodes += _nodes(item, depth + 1)
    return [*nodes, *note]


def _table(rows: Sequence[Mapping[str, JsonValue]], columns: list[str], total: int) -> list[Node]:
    shown_rows = rows[:_MAX_ROWS]
    head = tuple((_prose(_line(_label(key))),) for key in columns)
    body = [
        tuple((_prose(Paragraph(_inlines(row.get(key)))),) for key in columns) for row in shown_rows
    ]
    nodes: list[Node] = [Table((head, *body))]
    if total > len(shown_rows):
        nodes.append(_prose(_line(f"… and {total - len(shown_rows)} more")))
    return nodes


def _inlines(value: JsonValue) -> tuple[Inline, ...]:
    return _scalar(value) if _is_scalar(value) else _joined(value)


def _joined(value: object) -> tuple[Inline, ...]:
    return (Text(_plain(value) or "–"),)


def _is_scalar(value: object) -> TypeGuard[Scalar]:
    return value is None or isinstance(value, str | int | float | bool)


def _is_short_list(value: object) -> bool:
    """Whether the value is a list of a few short scalars, which fit in one line."""
    if not isinstance(value, list) or len(value) > 10:
        return False
    return all(_is_scalar(item) and len(_plain(item)) <= _SHORT for item in value)


def _plain(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case list():
            return ", ".join(_plain(item) for item in value)
        case _:
            return str(value)


def _scalar(value: Scalar) -> tuple[Inline, ...]:
    text = _plain(value) or "–"
    url = safe_url(text) if text.startswith(("http:", "https:")) else None
    return (Link(url, (Text(url),)),) if url else (Text(text),)


def _scalar_block(value: Scalar) -> Paragraph:
    return Paragraph(_scalar(value))


def _line(text: str) -> Paragraph:
    return Paragraph((Text(text),))


def _label(key: str) -> str:
    """`due_date` -> `due date`."""
    return " ".join(key.replace("_", " ").split()) or "–"


def _prose(block: Block) -> Prose:
    return Prose((block,))


def _as_code(value: object) -> Prose:
    written = orjson.dumps(value, option=orjson.OPT_INDENT_2, default=str).decode()
    return _prose(CodeBlock(written, "json"))
