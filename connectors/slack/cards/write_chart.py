"""Charts -> data_visualization blocks if nothing is lost, else tables.

Source: docs.slack.dev "Data visualization block" (2026-08).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from bridge.content.cards import degrade
from bridge.content.cards.tree import Chart, Point, Series
from bridge.content.text.tree import Strong, Text
from connectors.slack.capabilities import CHART_LABEL, CHART_POINTS, CHART_SERIES, CHART_TITLE
from connectors.slack.cards.write_pieces import Json, Piece, Writing
from connectors.slack.cards.write_texts import length, one_line

_KINDS = {
    "pie": "pie",
    "donut": "pie",
    "bar": "bar",
    "stacked_bar": "bar",
    "row": "bar",
    "stacked_row": "bar",
    "line": "line",
    "area": "area",
}
_NAMELESS = "📊"


def write_chart(writing: Writing, node: Chart) -> None:
    chart = None if writing.is_inside else _chart(node)
    if chart is None:
        writing.lose(node.at, "chart_as_table", f"a {node.kind} chart", "a table")
        if node.y_title and (not node.series or any(series.name for series in node.series)):
            writing.lose(node.at, "chart_as_table", node.y_title)
        writing.write((degrade.chart_as_table(node),))
        return
    if chart["type"] != node.kind:
        writing.lose(node.at, "chart_form", f"a {node.kind} chart", f"a {chart['type']} chart")
    title = one_line(node.title)
    if length(title) > CHART_TITLE:
        writing.write((degrade.line_prose((Strong((Text(title),)),), node.at),))
        title = ""
    writing.pieces.append(
        Piece({"type": "data_visualization", "title": title or _NAMELESS, "chart": chart})
    )


def _chart(node: Chart) -> Json | None:
    kind = _KINDS.get(node.kind)
    if kind is None or node.value is not None:
        return None
    return _pie(node) if kind == "pie" else _axes(node, kind)


def _pie(node: Chart) -> Json | None:
    """One series of positive values, without axis titles."""
    if len(node.series) != 1 or node.x_title or node.y_title or node.series[0].name.strip():
        return None
    points = node.series[0].points
    if not 1 <= len(points) <= CHART_SERIES or not all(point.value > 0 for point in points):
        return None
    return {"type": "pie", "segments": _points(points)} if _are_sound(points) else None


def _axes(node: Chart, kind: str) -> Json | None:
    """Series that have a value for every label."""
    if not 1 <= len(node.series) <= CHART_SERIES or not all(map(_is_sound_series, node.series)):
        return None
    labels = [point.label for point in node.series[0].points]
    if any([point.label for point in series.points] != labels for series in node.series):
        return None
    names = [one_line(series.name) for series in node.series]
    if len(set(names)) != len(names) or not _are_names(names, len(names) > 1):
        return None
    axes: Json = {"categories": [one_line(label) for label in labels]}
    for key, text in (("x_label", node.x_title), ("y_label", node.y_title)):
        if length(one_line(text)) > CHART_TITLE:
            return None
        if one_line(text):
            axes[key] = one_line(text)
    series = [
        {"name": name or _NAMELESS, "data": _points(series.points)}
        for name, series in zip(names, node.series, strict=True)
    ]
    return {"type": kind, "axis_config": axes, "series": series}


def _are_names(names: Sequence[str], needed: bool) -> bool:
    return all(length(name) <= CHART_LABEL and (name or not needed) for name in names)


def _is_sound_series(series: Series) -> bool:
    return 1 <= len(series.points) <= CHART_POINTS and _are_sound(series.points)


def _are_sound(points: Sequence[Point]) -> bool:
    labels = [one_line(point.label) for point in points]
    return (
        len(set(labels)) == len(labels)
        and all(label and length(label) <= CHART_LABEL for label in labels)
        and all(math.isfinite(point.value) and abs(point.value) < 1e15 for point in points)
    )


def _points(points: Sequence[Point]) -> list[Json]:
    return [{"label": one_line(point.label), "value": point.value} for point in points]
