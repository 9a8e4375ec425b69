"""Charts of Adaptive Cards -> charts."""

from __future__ import annotations

from math import isnan, nan
from typing import Literal

from bridge.content.cards.tree import Chart, Node, Point, Prose, Series
from bridge.content.text.tree import Paragraph
from connectors.teams.cards.json_values import (
    Json,
    flag,
    number,
    objects,
    string,
)
from connectors.teams.cards.reading import ElementReader, Reading

Kind = Literal["pie", "donut", "bar", "stacked_bar", "row", "stacked_row", "line", "area", "gauge"]


def _chart(
    reading: Reading,
    item: Json,
    at: str,
    depth: int,
    kind: Kind,
    series: list[Series],
    *,
    value: float | None = None,
    x_title: str = "",
) -> list[Node]:
    """Return the chart; without valid data, the words of the element."""
    points = [point for line in series for point in line.points]
    if any(isnan(point.value) for point in points) or (value is None and not points):
        return reading.unknown(reading, item, at, depth)
    chart = Chart(
        kind,
        tuple(series),
        title=reading.text(item, "title"),
        x_title=reading.text(item, "xAxisTitle") or x_title,
        y_title=reading.text(item, "yAxisTitle"),
        value=value,
        at=at,
    )
    return [chart]


# --- pie, donut, gauge ----------------------------------------------------------------------


def _donut(reading: Reading, item: Json, at: str, depth: int) -> list[Node]:
    return _pieces(reading, item, at, depth, "donut")


def _pie(reading: Reading, item: Json, at: str, depth: int) -> list[Node]:
    return _pieces(reading, item, at, depth, "pie")


def _pieces(reading: Reading, item: Json, at: str, depth: int, kind: Kind) -> list[Node]:
    """Read a pie or donut; a number in the middle is its value, text goes below."""
    series = [Series("", _points(reading, objects(item, "data"), "legend", "value"))]
    middle = number(item, "value")
    nodes = _chart(reading, item, at, depth, kind, series, value=middle)
    if series[0].points and middle is None and (words := reading.line(item, "value")):
        nodes.append(Prose((Paragraph(words),), at=f"{at}/value"))
    return nodes


def _gauge(reading: Reading, item: Json, at: str, depth: int) -> list[Node]:
    segments = objects(item, "segments")
    series = [Series("", _points(reading, segments, "legend", "size"))] if segments else []
    value, below = number(item, "value"), reading.text(item, "subLabel")
    return _chart(reading, item, at, depth, "gauge", series, value=value, x_title=below)


# --- charts with axes --------------------------------------------------------------------------


def _bars(reading: Reading, item: Json, at: str, depth: int) -> list[Node]:
    return _chart(reading, item, at, depth, "bar", _single_series(reading, item))


def _rows(reading: Reading, item: Json, at: str, depth: int) -> list[Node]:
    return _chart(reading, item, at, depth, "row", _single_series(reading, item))


def _single_series(reading: Reading, item: Json) -> list[Series]:
    return [Series("", _points(reading, objects(item, "data"), "x", "y"), string(item, "color"))]


def _grouped_bars(reading: Reading, item: Json, at: str, depth: int) -> list[Node]:
    kind: Kind = "stacked_bar" if flag(item, "stacked") else "bar"
    return _chart(reading, item, at, depth, kind, _several_series(reading, item))


def _lines(reading: Reading, item: Json, at: str, depth: int) -> list[Node]:
    return _chart(reading, item, at, depth, "line", _several_series(reading, item))


def _several_series(reading: Reading, item: Json) -> list[Series]:
    return [
        Series(
            reading.text(line, "legend"),
            _points(reading, objects(line, "values"), "x", "y"),
            string(line, "color") or string(item, "color"),
        )
        for line in objects(item, "data")
    ]


def _stacked_rows(reading: Reading, item: Json, at: str, depth: int) -> list[Node]:
    """Read stacked rows: Teams lists the pieces of each bar, a series has one piece of all bars."""
    points_by_name: dict[str, list[Point]] = {}
    colors: dict[str, str] = {}
    for row in objects(item, "data"):
        label = reading.text(row, "title")
        for piece in objects(row, "data"):
            name = reading.text(piece, "legend")
            points_by_name.setdefault(name, []).append(Point(label, _value(piece, "value")))
            colors.setdefault(name, string(piece, "color"))
    series = [Series(name, tuple(points), colors[name]) for name, points in points_by_name.items()]
    return _chart(reading, item, at, depth, "stacked_row", series)


def _points(reading: Reading, several: list[Json], label: str, value: str) -> tuple[Point, ...]:
    return tuple(Point(reading.text(point, label), _value(point, value)) for point in several)


def _value(point: Json, key: str) -> float:
    result = number(point, key)
    return nan if result is None else result


CHARTS: dict[str, ElementReader] = {
    "Chart.Donut": _donut,
    "Chart.Pie": _pie,
    "Chart.Gauge": _gauge,
    "Chart.VerticalBar": _bars,
    "Chart.VerticalBar.Grouped": _grouped_bars,
    "Chart.HorizontalBar": _rows,
    "Chart.HorizontalBar.Stacked": _stacked_rows,
    "Chart.Line": _lines,
}
