"""Slack's tables and charts -> tables and charts of the card."""

from __future__ import annotations

from typing import Literal, cast

from bridge.content.cards.tree import Align, Chart, Node, Nodes, Point, Prose, Series, Table
from bridge.content.text.tree import Paragraph, Text
from connectors.slack.cards.read_json import items_at, number_at, string_at
from connectors.slack.cards.read_texts import is_blank, line, plain_document, prose, words
from connectors.slack.cards.read_unknown import unknown
from connectors.slack.json_values import Json

_ALIGN: dict[str, Align] = {"left": "left", "center": "center", "right": "right"}


def table(block: Json, at: str, team: str) -> list[Node]:
    """A table from `table` or `data_table`; the first row is the header."""
    rows = tuple(
        _row(row, f"{at}/rows/{index}", team) for index, row in enumerate(items_at(block, "rows"))
    )
    title = line(block.get("caption"), team)
    if not any(cell for row in rows for cell in row):
        return []
    settings = items_at(block, "column_settings")
    align: tuple[Align | None, ...] = tuple(_align(setting) for setting in settings)
    return [Table(rows, title=title, align=align, at=at)]


def _align(setting: object) -> Align | None:
    members = cast("Json", setting) if isinstance(setting, dict) else {}
    return _ALIGN.get(string_at(members, "align"))


def _row(row: object, at: str, team: str) -> tuple[Nodes, ...]:
    if not isinstance(row, list):
        return (_cell(row, at, team),)
    cells = cast("list[object]", row)
    return tuple(_cell(cell, f"{at}/{index}", team) for index, cell in enumerate(cells))


def _cell(cell: object, at: str, team: str) -> Nodes:
    match cell:
        case {"type": "raw_text", "text": str(text)}:
            blocks = plain_document(text, emoji=False)
        case {"type": "raw_number", "text": str(text)} if text.strip():
            blocks = plain_document(text, emoji=False)
        case {"type": "raw_number" | "raw_boolean", "value": value} if _scalar(value):
            blocks = (Paragraph((Text(_scalar(value)),)),)
        case str(text):
            blocks = plain_document(text, emoji=False)
        case None:
            return ()
        case _ if text := _scalar(cell):
            blocks = (Paragraph((Text(text),)),)
        case _:
            text_node = prose(cell, at, team)
            return (
                (text_node,) if text_node else () if is_blank(cell) else (unknown(cell, at, team),)
            )
    return (Prose(blocks, at=at),) if blocks else ()


def _scalar(value: object) -> str:
    """A number or boolean as people read it."""
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value) if abs(value) < 10**300 else ""
        case float():
            return str(int(value)) if value.is_integer() and abs(value) < 10**15 else repr(value)
        case str():
            return value.strip()
        case _:
            return ""


# --- charts ---------------------------------------------------------------------------------


def chart(block: Json, at: str, team: str) -> list[Node]:
    """A chart with a value for each point; a chart with missing values is not read."""
    chart_json = block.get("chart")
    drawn = cast("Json", chart_json) if isinstance(chart_json, dict) else {}
    match drawn.get("type"):
        case "pie":
            series = _series("", drawn.get("segments"), [])
            return _chart(block, at, "pie", (series,)) if series else []
        case "line" | "bar" | "area" as kind:
            return _axes(block, drawn, at, kind)
        case _:
            return []


def _axes(block: Json, drawn: Json, at: str, kind: Literal["line", "bar", "area"]) -> list[Node]:
    config = drawn.get("axis_config")
    axes = cast("Json", config) if isinstance(config, dict) else {}
    labels = [words(item) for item in items_at(axes, "categories")]
    series = [
        _series(words(cast("Json", item).get("name")), cast("Json", item).get("data"), labels)
        for item in items_at(drawn, "series")
        if isinstance(item, dict)
    ]
    complete = tuple(series_item for series_item in series if series_item is not None)
    if not complete or len(complete) != len(items_at(drawn, "series")):
        return []
    x_title, y_title = words(axes.get("x_label")), words(axes.get("y_label"))
    return _chart(block, at, kind, complete, x_title, y_title)


def _chart(
    block: Json,
    at: str,
    kind: Literal["pie", "line", "bar", "area"],
    series: tuple[Series, ...],
    x_title: str = "",
    y_title: str = "",
) -> list[Node]:
    title = words(block.get("title"))
    return [Chart(kind, series, title=title, x_title=x_title, y_title=y_title, at=at)]


def _series(name: str, data: object, labels: list[str]) -> Series | None:
    if not isinstance(data, list):
        return None
    values = cast("list[object]", data)
    points = [_point(value, labels[index : index + 1]) for index, value in enumerate(values)]
    complete = tuple(point for point in points if point is not None)
    return Series(name, complete) if len(complete) == len(points) else None


def _point(value: object, label: list[str]) -> Point | None:
    if isinstance(value, int | float):
        value = {"value": value}
    if not isinstance(value, dict):
        return None
    members = cast("Json", value)
    number = number_at(members, "value")
    name = words(members.get("label")) or "".join(label)
    return Point(name, number) if number is not None else None
