"""Containers of nodes -> Container, ColumnSet, FactSet, Table, Carousel."""

from __future__ import annotations

import colorsys
from collections.abc import Iterator, Sequence
from itertools import groupby

from bridge.content.cards import degrade
from bridge.content.cards.tree import (
    Carousel,
    Choice,
    Column,
    Columns,
    Container,
    Context,
    Fields,
    Image,
    Input,
    LabelledValue,
    Native,
    Node,
    Nodes,
    Player,
    Prose,
    Section,
    Table,
)
from bridge.content.cards.walk import walk
from bridge.content.text.tree import Paragraph
from connectors.teams.cards.write_actions import is_overflow
from connectors.teams.cards.write_media import picture
from connectors.teams.cards.write_presses import action_set, fold
from connectors.teams.cards.write_state import Element, Writing, with_rules
from connectors.teams.cards.write_text import (
    document_elements,
    hidden,
    line_element,
    line_markdown,
    table,
)

_BOLD: Element = {"weight": "bolder"}
_SMALL: Element = {"size": "small", "isSubtle": True}
_SIDE_BY_SIDE = 3
_MAX_FACT = 200
# The colours of styles, the same on all platforms.
_STYLE_OF = {
    0x36C5F0: "accent", 0x2EB67D: "good", 0xECB22E: "warning", 0xE01E5A: "attention",
    0xDDDDDD: "emphasis", 0x99AAB5: "emphasis",
}  # fmt: skip
_HUES = ((20, "attention"), (70, "warning"), (170, "good"), (290, "accent"), (361, "attention"))


# --- containers ---------------------------------------------------------------------------------


def unboxed(node: Node) -> Nodes:
    """Return the nodes of a container that needs no box; otherwise the node itself."""
    if not isinstance(node, Container) or node.form == "panel":
        return (node,)
    looks = node.style != "default" or node.color is not None or (node.link and not node.title)
    folds = node.collapsed is not None or node.spoiler or node.hidden or node.id
    return (node,) if looks or folds else degrade.open_container(node)


def container(writing: Writing, node: Container) -> list[Element]:
    """Return a box with head and foot; a folded one has a button that shows it."""
    head = writing.elements(above) if (above := degrade.head_of_container(node)) else []
    body = writing.elements((*node.nodes, *degrade.foot_of_container(node)))
    if node.collapsed is not None:
        head, body = _foldable(writing, node, head, body)
    element: Element = {"type": "Container", "items": [*head, *body]}
    if style := style_of(writing, node):
        element["style"] = style
    if node.link and not node.title and (url := writing.link(node.link, node.at)):
        element["selectAction"] = {"type": "Action.OpenUrl", "url": url}
    if node.id:
        element["id"] = writing.id_for(node.id)
    if node.hidden:
        element["isVisible"] = False
    return hidden([element], "Spoiler", writing) if node.spoiler else [element]


def _foldable(
    writing: Writing, node: Container, head: list[Element], body: list[Element]
) -> tuple[list[Element], list[Element]]:
    """Return the head with a toggle button, and the foldable body."""
    opens, part = fold(writing, body)
    if not node.collapsed:
        del part["isVisible"]
    button = action_set([{**opens, "title": "▾", "tooltip": "Show or hide"}])
    if not head:
        return [button], [part]
    columns = [_column(head, "stretch"), _column([button], "auto")]
    return [{"type": "ColumnSet", "columns": columns}], [part]


def style_of(writing: Writing, node: Container) -> str:
    """Return the style, or the nearest of five styles to the colour."""
    if node.style != "default":
        return node.style
    if node.color is not None:
        style = nearest_style(node.color)
        if node.color not in _STYLE_OF:
            writing.lose(node.at, "color_as_style", f"#{node.color & 0xFFFFFF:06x}", style)
        return style
    return "" if node.form == "group" else "emphasis"


def nearest_style(color: int) -> str:
    """Return the style of the nearest hue; greys are neutral."""
    if color in _STYLE_OF:
        return _STYLE_OF[color]
    red, green, blue = ((color >> shift & 0xFF) / 255 for shift in (16, 8, 0))
    hue, saturation, value = colorsys.rgb_to_hsv(red, green, blue)
    if saturation < 0.2 or value < 0.15:
        return "emphasis"
    return next(style for end, style in _HUES if hue * 360 < end)


# --- side by side -------------------------------------------------------------------------------


def _column(items: list[Element], width: str | int) -> Element:
    return {"type": "Column", "width": width, "items": items}


def section(writing: Writing, node: Section) -> list[Element]:
    """Return the nodes with the accessory beside them."""
    if node.leading:
        aside = _aside(writing, node.accessory)
        main = writing.elements(node.nodes)
    else:
        main = writing.elements(node.nodes)
        aside = _aside(writing, node.accessory)
    if not main or not aside:
        return [*main, *aside]
    dots = isinstance(node.accessory, Choice) and is_overflow(writing, node.accessory)
    width = "stretch" if isinstance(node.accessory, Input) and not dots else "auto"
    columns = [_column(main, "stretch"), _column(aside, width)]
    return [{"type": "ColumnSet", "columns": columns[::-1] if node.leading else columns}]


def _aside(writing: Writing, node: Node) -> list[Element]:
    if isinstance(node, Image) and not node.title and not node.asset.spoiler:
        element = picture(writing, node, "medium")
        if element is not None:
            return [element]
    return writing.elements((node,))


def columns(writing: Writing, node: Columns) -> list[Element]:
    if not node.columns:
        return []
    return [
        {
            "type": "ColumnSet",
            "columns": [_column_element(writing, column) for column in node.columns],
        }
    ]


def _column_element(writing: Writing, node: Column) -> Element:
    width = node.width if isinstance(node.width, str) else max(node.width, 1)
    column = _column(writing.elements(node.nodes), width)
    if node.style != "default":
        column["style"] = node.style
    if node.link and (url := writing.link(node.link, node.at)):
        column["selectAction"] = {"type": "Action.OpenUrl", "url": url}
    return column


# --- small print and fields ---------------------------------------------------------------------


def context(writing: Writing, node: Context) -> list[Element]:
    """Return context items small and subtle in one row."""
    parts = [(item, _small(writing, item)) for item in node.items]
    full = [(item, elements) for item, elements in parts if elements]
    if len(full) < 2:
        return full[0][1] if full else []
    last = len(full) - 1
    columns = [_context_column(item, elements, last=index == last)
               for index, (item, elements) in enumerate(full)]  # fmt: skip
    return [{"type": "ColumnSet", "columns": columns}]


def _small(writing: Writing, item: Prose | Image) -> list[Element]:
    if isinstance(item, Prose):
        look = {**_SMALL, "horizontalAlignment": item.align} if item.align else _SMALL
        return with_rules(document_elements(item.text, writing, look, item.at))
    element = None if item.title or item.asset.spoiler else picture(writing, item)
    if element is None:
        return writing.elements((item,))
    if "size" not in element:
        element["width"] = "24px"
    return [element]


def _context_column(item: Prose | Image, elements: list[Element], *, last: bool) -> Element:
    wide = isinstance(item, Prose) and last
    column = _column(elements, "stretch" if wide else "auto")
    column["verticalContentAlignment"] = "center"
    column["spacing"] = "small"
    return column


def fields(writing: Writing, node: Fields) -> list[Element]:
    """Return a FactSet if labels and values are short lines; otherwise columns, at most three."""
    facts = _facts(writing, node.items)
    if facts:
        return [{"type": "FactSet", "facts": facts}]
    elements: list[Element] = []
    for short, group in groupby(node.items, lambda item: item.short):
        items = list(group)
        for row in _rows(items) if short else [[item] for item in items]:
            written = [_field(writing, fact) for fact in row]
            if len(row) == 1:
                elements += written[0]
            else:
                elements.append(
                    {"type": "ColumnSet", "columns": [_column(items, 1) for items in written]}
                )
    return elements


def _rows(items: Sequence[LabelledValue]) -> Iterator[Sequence[LabelledValue]]:
    """Yield rows of fields: two columns for two or four fields, else three."""
    wide = 2 if len(items) in (2, 4) else _SIDE_BY_SIDE
    return (items[start : start + wide] for start in range(0, len(items), wide))


def _facts(writing: Writing, items: Sequence[LabelledValue]) -> list[Element] | None:
    facts: list[Element] = []
    before = writing.checkpoint()
    for item in items:
        title = line_markdown(item.label, writing, item.at) if item.label else None
        value = _line(writing, item) if title else None
        if value is None or len(value) > _MAX_FACT:
            writing.roll_back_to(before)
            return None
        facts.append({"title": title, "value": value})
    return facts


def _line(writing: Writing, item: LabelledValue) -> str | None:
    if len(item.value) == 1 and isinstance(only := item.value[0], Paragraph):
        return line_markdown(only.children, writing, item.at)
    return None if item.value else ""


def _field(writing: Writing, item: LabelledValue) -> list[Element]:
    label = line_element(item.label, writing, _BOLD, item.at)
    value = writing.elements((Prose(item.value, at=item.at),))
    return value if label is None else [label, *value]


# --- tables -------------------------------------------------------------------------------------


def card_table(writing: Writing, node: Table) -> list[Element]:
    title = line_element(node.title, writing, _BOLD, node.at)
    rows = [[writing.elements(cell) for cell in row] for row in node.rows]
    elements = [] if title is None else [title]
    if any(rows):
        elements.append(table(rows, node.align, header=node.header))
    return elements


# --- carousels ----------------------------------------------------------------------------------


def carousel(writing: Writing, node: Carousel) -> list[Element]:
    """Return a carousel; other clients show its pages one below the other."""
    if len(node.cards) < 2:
        return writing.elements(node.cards)
    if not all(_fits_a_page(node) for node in walk(node.cards)):
        writing.lose(node.at, "carousel_stacked", f"{len(node.cards)} pages", "cards in a column")
        return writing.elements(node.cards)
    shows, writing.shows = writing.shows, False
    pages = [writing.elements(unboxed(card)) for card in node.cards]
    writing.shows = shows
    return [
        {
            "type": "Carousel",
            "pages": [{"type": "CarouselPage", "items": page} for page in pages],
            "fallback": {
                "type": "Container",
                "items": [{"type": "Container", "items": page} for page in pages],
            },
        }
    ]


def _fits_a_page(node: Node) -> bool:
    """Return whether a page may have the node: Teams' examples have no videos on pages."""
    return not isinstance(node, Player | Carousel | Native)
