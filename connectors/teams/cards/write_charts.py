"""Charts -> charts of Teams, with a table as fallback for other clients."""

from __future__ import annotations

from math import isfinite

from bridge.content.cards import degrade
from bridge.content.cards.tree import Chart, Nodes, Series
from bridge.content.text.tree import Text
from connectors.teams.cards.write_state import Element, Writing, together

_COLORS = frozenset((
    "good", "warning", "attention", "neutral", "categoricalRed", "categoricalPurple",
    "categoricalLavender", "categoricalBlue", "categoricalLightBlue", "categoricalTeal",
    "categoricalGreen", "categoricalLime", "categoricalMarigold", "sequential1", "sequential2",
    "sequential3", "sequential4", "sequential5", "sequential6", "sequential7", "sequential8",
    "divergingBlue", "divergingLightBlue", "divergingCyan", "divergingTeal", "divergingYellow",
    "divergingPeach", "divergingLightRed", "divergingRed", "divergingMaroon", "divergingGray",
))  # fmt: skip


def chart(writing: Writing, node: Chart) -> list[Element]:
    drawn = _drawn_chart(writing, node)
    table = writing.elements(_as_table(node))
    if drawn is None:
        writing.lose(node.at, "chart_as_table", f"a {node.kind} chart", "a table")
        return table
    title = {"title": node.title} if node.title else {}
    return [{"type": drawn["type"], **title, **drawn, "fallback": together(table)}]


def _as_table(node: Chart) -> Nodes:
    """Return the numbers as a table; the y title is a line below unless a column has it."""
    table = degrade.chart_as_table(node)
    if not node.y_title.strip() or any(not series.name for series in node.series):
        return (table,)
    return (table, degrade.line_prose((Text(node.y_title),), node.at, subtle=True))


def _drawn_chart(writing: Writing, node: Chart) -> Element | None:
    """Return the chart; None if Teams would lose too much of it."""
    numbers = [point.value for series in node.series for point in series.points]
    if not numbers or not all(map(isfinite, numbers)):
        return None
    match node.kind:
        case "pie" | "donut":
            return _pie(writing, node)
        case "gauge":
            return _gauge(writing, node)
        case "bar" | "stacked_bar":
            return _bars(writing, node)
        case "row" | "stacked_row":
            return _rows(writing, node)
        case "line" | "area":
            if node.kind == "area":
                writing.lose(node.at, "area_as_line", "the filled area", "a line")
            return _lines(writing, node)


def _pie(writing: Writing, node: Chart) -> Element | None:
    if len(node.series) != 1 or node.x_title or node.y_title:
        return None
    _without_name(writing, node, node.series[0])
    data = [{"legend": point.label, "value": point.value} for point in node.series[0].points]
    element: Element = {"type": "Chart.Pie" if node.kind == "pie" else "Chart.Donut", "data": data}
    if node.value is not None and isfinite(node.value):
        element["value"] = f"{node.value:g}"
    return element


def _gauge(writing: Writing, node: Chart) -> Element | None:
    if len(node.series) != 1 or node.x_title or node.y_title or node.value is None:
        return None
    if not isfinite(node.value):
        return None
    _without_name(writing, node, node.series[0])
    segments = [{"legend": point.label, "size": point.value} for point in node.series[0].points]
    return {"type": "Chart.Gauge", "value": node.value, "segments": segments}


def _without_name(writing: Writing, node: Chart, series: Series) -> None:
    if series.name.strip():
        writing.lose(node.at, "series_name", series.name, "the chart without it")


def _bars(writing: Writing, node: Chart) -> Element:
    if len(node.series) == 1 and node.kind == "bar":
        series = node.series[0]
        _without_name(writing, node, series)
        data = [{"x": point.label, "y": point.value} for point in series.points]
        element: Element = {"type": "Chart.VerticalBar", "data": data}
        if series.color in _COLORS:
            element["color"] = series.color
        return _with_axes(node, element)
    element = {
        "type": "Chart.VerticalBar.Grouped",
        "data": [_grouped(series) for series in node.series],
    }
    if node.kind == "stacked_bar":
        element["stacked"] = True
    return _with_axes(node, element)


def _rows(writing: Writing, node: Chart) -> Element:
    if len(node.series) == 1:
        series = node.series[0]
        _without_name(writing, node, series)
        data = [{"x": point.label, "y": point.value} for point in series.points]
        element: Element = {"type": "Chart.HorizontalBar", "data": data}
        if series.color in _COLORS:
            element["color"] = series.color
        return _with_axes(node, element)
    if node.kind == "row":
        writing.lose(node.at, "rows_stacked", "bars side by side", "bars in one row")
    pieces: dict[str, list[Element]] = {}
    for series in node.series:
        for point in series.points:
            piece = _with_color({"legend": series.name, "value": point.value}, series)
            pieces.setdefault(point.label, []).append(piece)
    data = [{"title": label, "data": several} for label, several in pieces.items()]
    return _with_axes(node, {"type": "Chart.HorizontalBar.Stacked", "data": data})


def _lines(writing: Writing, node: Chart) -> Element:
    data = [_grouped(series) for series in node.series]
    return _with_axes(node, {"type": "Chart.Line", "data": data})


def _grouped(series: Series) -> Element:
    values = [{"x": point.label, "y": point.value} for point in series.points]
    return _with_color({"legend": series.name, "values": values}, series)


def _with_color(element: Element, series: Series) -> Element:
    return {**element, "color": series.color} if series.color in _COLORS else element


def _with_axes(node: Chart, element: Element) -> Element:
    if node.x_title:
        element["xAxisTitle"] = node.x_title
    if node.y_title:
        element["yAxisTitle"] = node.y_title
    return element
