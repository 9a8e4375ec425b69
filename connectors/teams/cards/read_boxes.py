"""Layout elements of Adaptive Cards -> containers, columns, sections, tables and carousels."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from pydantic import JsonValue

from bridge.content.cards.tree import (
    Actions,
    Align,
    Button,
    Carousel,
    Column,
    Columns,
    Container,
    Context,
    Fields,
    Image,
    Node,
    Nodes,
    Prose,
    Section,
    Table,
)
from connectors.teams.cards.json_values import (
    Json,
    choice_of,
    flag,
    items,
    number_of,
    objects,
    pixels,
)
from connectors.teams.cards.read_actions import read_actions, with_selected
from connectors.teams.cards.read_elements import ALIGN, style_of
from connectors.teams.cards.reading import ElementReader, Reading

Width = Literal["auto", "stretch"] | int

_SMALL = 160  # pixels; the maximal width of a picture beside a text


# --- below one another ----------------------------------------------------------------------


def read_card(reading: Reading, item: Json, at: str, depth: int) -> list[Node]:
    """Read a whole card: body, actions and selectAction."""
    nodes = reading.nodes(item.get("body"), f"{at}/body", depth + 1)
    nodes += read_actions(reading, item, at, depth + 1)
    nodes = with_selected(reading, item, nodes, at, depth + 1)
    style = style_of(item)
    if style == "default" or not nodes:
        return nodes
    return [Container(tuple(nodes), form="card", style=style, at=at)]


def _container(reading: Reading, item: Json, at: str, depth: int) -> list[Node]:
    nodes = _box_nodes(reading, item, at, depth)
    return [Container(nodes, style=style_of(item), at=at)] if nodes else []


def _box_nodes(reading: Reading, item: Json, at: str, depth: int) -> Nodes:
    """Return the items of a box and its selectAction."""
    nodes = reading.nodes(item.get("items"), f"{at}/items", depth + 1)
    return tuple(with_selected(reading, item, nodes, at, depth))


# --- side by side ---------------------------------------------------------------------------


def _column_set(reading: Reading, item: Json, at: str, depth: int) -> list[Node]:
    raw = items(item, "columns")
    columns: list[Column] = []
    for index, column in enumerate(raw):
        columns += _column(reading, column, f"{at}/columns/{index}", depth)
    columns = [column for column in columns if column.nodes]
    nodes: list[Node] = []
    if columns:
        section = _section(columns, raw, at) if len(columns) == len(raw) == 2 else None
        nodes.append(section or Columns(tuple(columns), at=at))
    nodes = with_selected(reading, item, nodes, at, depth)
    style = style_of(item)
    return [Container(tuple(nodes), style=style, at=at)] if nodes and style != "default" else nodes


def _column(reading: Reading, item: JsonValue, at: str, depth: int) -> list[Column]:
    """Read a column or its fallback; its type may be missing."""
    if not isinstance(item, dict):
        nodes = reading.nodes([item], at, depth + 1)
        return [Column(tuple(nodes), at=at)] if nodes else []
    if item.get("type", "Column") != "Column" or "fallback" in item or "requires" in item:
        nodes = reading.nodes({"type": "Column", **item}, at, depth + 1)
    else:
        nodes = reading.with_visibility(item, list(_box_nodes(reading, item, at, depth)), at)
    style = style_of(item)
    return [Column(tuple(nodes), width=_width(item.get("width")), style=style, at=at)]


def _lone_column(reading: Reading, item: Json, at: str, depth: int) -> list[Node]:
    """Read the content of a column outside a column set."""
    return list(_box_nodes(reading, item, at, depth))


def _width(value: JsonValue) -> Width:
    """Return `auto`, `stretch` or a share; a width in pixels becomes `auto`."""
    if isinstance(value, str) and value.strip().lower() == "auto":
        return "auto"
    if pixels(value) is not None and isinstance(value, str):
        return "auto"
    share = number_of(value)
    return min(max(round(share), 1), 1000) if share is not None and share > 0 else "stretch"


def _section(columns: list[Column], raw: list[JsonValue], at: str) -> Section | None:
    """Return a section if the columns are text and one small picture or button."""
    first, second = columns
    if any(column.style != "default" for column in columns):
        return None
    if _is_text(first.nodes) and (small := _small(second, first, raw[1])) is not None:
        return Section(first.nodes, small, at=at)
    if _is_text(second.nodes) and (small := _small(first, second, raw[0])) is not None:
        return Section(second.nodes, small, leading=True, at=at)
    return None


def _is_text(nodes: Nodes) -> bool:
    return all(isinstance(node, Prose | Fields | Context) for node in nodes)


def _small(column: Column, other: Column, raw: JsonValue) -> Image | Button | None:
    match column.nodes:
        case (Actions((Button() as button,)),) if other.width != "auto":
            return button
        case (Image() as image,) if _is_small(image, column, other, raw):
            return image
        case _:
            return None


def _is_small(image: Image, column: Column, other: Column, raw: JsonValue) -> bool:
    """Return whether a picture is small, or in a narrow column."""
    raw_width = raw.get("width") if isinstance(raw, dict) else None
    width = (pixels(raw_width) if isinstance(raw_width, str) else None) or image.asset.width
    if image.size == "large" or (width is not None and width > _SMALL):
        return False
    if image.size != "full" or width is not None or column.width == "auto":
        return True
    if isinstance(column.width, int) and isinstance(other.width, int):
        return column.width * 2 <= other.width
    return False


# --- tables ---------------------------------------------------------------------------------


def _table(reading: Reading, item: Json, at: str, depth: int) -> list[Node]:
    rows = [
        _cells(reading, row, f"{at}/rows/{index}", depth)
        for index, row in enumerate(items(item, "rows"))
        if isinstance(row, dict)
    ]
    rows = [row for row in rows if row]
    if not any(cell for row in rows for cell in row):
        return []
    header = flag(item, "firstRowAsHeader", default=flag(item, "firstRowAsHeaders", default=True))
    return [Table(tuple(rows), header=header, align=_alignment(item, max(map(len, rows))), at=at)]


def _alignment(item: Json, width: int) -> tuple[Align | None, ...]:
    key = "horizontalCellContentAlignment"
    whole: Align | None = ALIGN.get(choice_of(item, key))
    alignments = [choice_of(column, key) for column in objects(item, "columns")][:width]
    aligned: tuple[Align | None, ...] = tuple(
        ALIGN.get(alignment) or whole
        for alignment in (*alignments, *[""] * (width - len(alignments)))
    )
    return aligned if any(aligned) else ()


def _cells(reading: Reading, row: Json, at: str, depth: int) -> tuple[Nodes, ...]:
    """Return the cells of a row; each has the visibility of the row."""
    cells: list[Nodes] = []
    for index, cell in enumerate(items(row, "cells")):
        place = f"{at}/cells/{index}"
        if isinstance(cell, dict) and cell.get("type", "TableCell") == "TableCell":
            nodes = reading.with_visibility(
                cell, list(_box_nodes(reading, cell, place, depth)), place
            )
        else:
            nodes = reading.nodes([cell], f"{at}/cells", depth + 1)
        cells.append(tuple(reading.with_visibility(row, nodes, place)))
    return tuple(cells)


def _table_row(reading: Reading, item: Json, at: str, depth: int) -> list[Node]:
    """Read a row outside a table."""
    cells = _cells(reading, item, at, depth)
    return [Table((cells,), header=False, at=at)] if any(cells) else []


# --- pages --------------------------------------------------------------------


def _carousel(reading: Reading, item: Json, at: str, depth: int) -> list[Node]:
    pages = _pages(reading, item, at, depth)
    cards = tuple(page for page in pages if isinstance(page, Container))
    if len(cards) != len(pages):
        return pages
    return [Carousel(cards, at=at)] if cards else []


def _page(reading: Reading, item: Json, at: str, depth: int) -> list[Node]:
    nodes = _box_nodes(reading, item, at, depth)
    return [Container(nodes, form="card", style=style_of(item), at=at)] if nodes else []


def _pages(reading: Reading, item: Json, at: str, depth: int) -> list[Node]:
    return reading.nodes(item.get("pages"), f"{at}/pages", depth + 1)


def _accordion_page(reading: Reading, item: Json, at: str, depth: int) -> list[Node]:
    return _foldable(reading, item, "headerTitle", at, depth, is_open=flag(item, "isExpanded"))


def _tab_set(reading: Reading, item: Json, at: str, depth: int) -> list[Node]:
    """Read tabs as foldable containers; only the first is open."""
    pages = _pages(reading, item, at, depth)
    chosen = next((page for page in pages if isinstance(page, Container)), None)
    return [replace(page, collapsed=False) if page is chosen else page for page in pages]


def _tab_page(reading: Reading, item: Json, at: str, depth: int) -> list[Node]:
    return _foldable(reading, item, "title", at, depth, is_open=False)


def _foldable(
    reading: Reading, item: Json, key: str, at: str, depth: int, *, is_open: bool
) -> list[Node]:
    title = reading.line(item, key)
    nodes = _box_nodes(reading, item, at, depth)
    if not title and not nodes:
        return []
    style = style_of(item)
    return [Container(nodes, title=title, collapsed=not is_open, style=style, at=at)]


BOXES: dict[str, ElementReader] = {
    "AdaptiveCard": read_card,
    "Container": _container,
    "ColumnSet": _column_set,
    "Column": _lone_column,
    "Table": _table,
    "TableRow": _table_row,
    "TableCell": _lone_column,
    "Carousel": _carousel,
    "CarouselPage": _page,
    "Accordion": _pages,
    "AccordionPage": _accordion_page,
    "TabSet": _tab_set,
    "TabPage": _tab_page,
}
