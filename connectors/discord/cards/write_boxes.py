"""Sections, columns, containers, carousels -> Discord's sections and containers.

Discord's containers cannot be nested, so nodes are written into the outermost box.
"""

from __future__ import annotations

from bridge.content.cards.degrade import (
    columns_as_line,
    foot_of_container,
    head_of_container,
    is_decorative,
    line_prose,
    short_texts,
    stack_section,
)
from bridge.content.cards.tree import (
    Button,
    Carousel,
    Column,
    Columns,
    Container,
    Image,
    Node,
    Nodes,
    Prose,
    Section,
)
from bridge.content.text.urls import safe_url
from connectors.discord.cards import limits, schemas
from connectors.discord.cards.colors import color_of
from connectors.discord.cards.write_buttons import button_body
from connectors.discord.cards.write_media import (
    is_small,
    linked,
    lose_decoration,
    thumbnail,
)
from connectors.discord.cards.write_state import Box, Json, Piece, Writing, content_of
from connectors.discord.cards.write_text import lose_manner, say_line, say_small


def write_section(w: Writing, node: Section) -> None:
    """Write texts with a button or a picture beside them; any other accessory stands below."""
    first = len(w.pieces)
    if node.leading and not (isinstance(node.accessory, Image) and is_small(w, node.accessory)):
        w.lose(node.at, "stack_section", node.accessory.type, "above")
        w.write(stack_section(node))
        return
    w.write(node.nodes)
    accessory = _accessory(w, node.accessory) if _are_texts(w, first) else None
    if accessory is None:
        if not isinstance(node.accessory, Button):
            w.lose(node.at, "stack_section", node.accessory.type, "below")
        w.write((node.accessory,))
        return
    _join_as_section(w, first, accessory)


def _are_texts(w: Writing, first: int) -> bool:
    pieces = w.pieces[first:]
    return (
        bool(pieces)
        and all(
            piece.body["type"] == schemas.TEXT_DISPLAY and piece.box is w.box for piece in pieces
        )
        and sum(piece.text + 1 for piece in pieces) <= limits.TEXT
    )


def _accessory(w: Writing, node: Node) -> Piece | None:
    if isinstance(node, Image):
        return thumbnail(w, node)
    if isinstance(node, Button) and node.does not in ("reveal", "toggle"):
        lost, body = len(w.losses), button_body(w, node)
        if body is not None:
            return Piece(body, w.box)
        del w.losses[lost:]  # recorded again when it is written below
    return None


def _join_as_section(w: Writing, first: int, accessory: Piece) -> None:
    """Replace the pieces from `first` on by one section."""
    texts = w.pieces[first:]
    bodies = [piece.body for piece in texts[: limits.SECTION_TEXTS]]
    if remaining := texts[limits.SECTION_TEXTS :]:
        contents = [content_of(text) for text in (texts[limits.SECTION_TEXTS - 1], *remaining)]
        bodies[-1] = {"type": schemas.TEXT_DISPLAY, "content": "\n".join(contents)}
    body: Json = {"type": schemas.SECTION, "components": [*bodies], "accessory": accessory.body}
    text = sum(piece.text for piece in texts) + len(remaining)
    w.pieces[first:] = [Piece(body, w.box, 2 + len(bodies), text, accessory.files)]


def write_columns(w: Writing, node: Columns) -> None:
    """Write adjacent short texts in one line, other columns one below the other.

    Texts with a small picture become a section.
    """
    if picture := _picture_column(node):
        write_section(w, Section(node.columns[0].nodes, picture, at=node.at))
        return
    first = len(w.pieces)
    columns, picture = _without_icons(w, node.columns)
    stacked = _write_side_by_side(w, node, columns)
    if picture is not None and (piece := thumbnail(w, picture)) is not None:
        _join_as_section(w, first, piece)
    if stacked and len(node.columns) > 1:
        w.lose(node.at, "stack_columns", f"{len(node.columns)} columns", "one below the other")


def _without_icons(
    w: Writing, columns: tuple[Column, ...]
) -> tuple[tuple[Column, ...], Image | None]:
    """Return the columns without decorative pictures, and the first such picture if texts can have
    it beside them."""
    icons = {
        column.at or str(number): column.nodes[0]
        for number, column in enumerate(columns)
        if len(column.nodes) == 1 and not column.link and is_decorative(column.nodes[0])
    }
    if not icons:
        return columns, None
    other_columns = tuple(
        column for n, column in enumerate(columns) if (column.at or str(n)) not in icons
    )
    pictures = [icon for icon in icons.values() if isinstance(icon, Image)]
    texts = bool(other_columns) and all(
        not node.link and all(isinstance(inner, Prose) for inner in node.nodes)
        for node in other_columns
    )
    section_picture = pictures[0] if texts and is_small(w, pictures[0]) else None
    for picture in pictures:
        if picture is not section_picture:
            lose_decoration(w, picture)
    return other_columns, section_picture


def _write_side_by_side(w: Writing, node: Columns, columns: tuple[Column, ...]) -> bool:
    """Write the columns; returns whether some stand below others instead of beside them."""
    groups: list[list[Prose] | Column] = []
    texts = short_texts([column.nodes for column in columns])
    for column, text in zip(columns, texts, strict=True):
        if column.link or text is None:
            groups.append(column)
        elif groups and isinstance(last := groups[-1], list):
            last.append(text)
        else:
            groups.append([text])
    for group in groups:
        if isinstance(group, list):
            _write_line(w, node, group)
        else:
            w.write(group.nodes)
            if group.link:
                say_small(w, linked(w, (), group.link, group.at), group.at)
    return len(groups) > 1


def _write_line(w: Writing, node: Columns, texts: list[Prose]) -> None:
    if len(texts) == 1:
        w.write(texts)
        return
    for text in texts:
        lose_manner(w, text)
    w.lose(node.at, "columns_as_line", f"{len(texts)} columns", "one line")
    line = columns_as_line(texts)
    if all(text.subtle or text.size == "small" for text in texts):
        say_small(w, line, node.at)
    else:
        say_line(w, line, node.at)


def _picture_column(node: Columns) -> Image | None:
    """Return the small picture that is the whole second of two columns."""
    if len(node.columns) != 2 or any(column.link for column in node.columns):
        return None
    match node.columns[1].nodes:
        case (Image() as picture,) if picture.size != "full" and node.columns[0].nodes:
            return picture
        case _:
            return None


def write_container(w: Writing, node: Container) -> None:
    outer = w.box
    w.box = _box_of(w, node)
    if node.collapsed:
        w.lose(node.at, "collapsed_shown", "folded", "open")
    if node.hidden:
        w.unfolded |= {node.id}
        w.lose(node.at, "hidden_shown", "hidden until asked for", "open")
    w.write(open_container(w, node))
    w.box = outer


def _box_of(w: Writing, node: Container) -> Box | None:
    """Return the box for a container: nested ones use the outer box unless they are spoilers."""
    color = color_of(node.style, node.color)
    outer = w.box
    if outer is None:
        boxed = node.form != "group" or color is not None or node.spoiler
        return Box(color, node.spoiler) if boxed else None
    if node.spoiler and not outer.spoiler:
        return Box(outer.color if color is None else color, spoiler=True)
    if color is not None and color != outer.color:
        w.lose(node.at, "nested_container", f"colour #{color:06X}", "part of what is around it")
    return outer


def open_container(w: Writing, node: Container) -> Nodes:
    """Return a container's nodes with its head and foot as nodes.

    A thumbnail stands beside the first text.
    """
    head = head_of_container(node)
    if node.link and not node.title and (link := linked(w, (), node.link, node.at)):
        head = (*head, line_prose(link, node.at))
    elif node.link and safe_url(node.link) is None:
        w.lose(node.at, "unsafe_link", node.link)
    for credit in (node.author, node.footer):
        if credit is not None and credit.link and not (credit.text and safe_url(credit.link)):
            w.lose(credit.at, "credit_link", credit.link)
    match node.nodes:
        case (Prose() as first, *remaining) if _is_bare_thumbnail(w, node, head):
            section = Section((first,), head[-1], at=node.at)
            nodes: Nodes = (*head[:-1], section, *remaining)
        case _:
            nodes = (*head, *node.nodes)
    return (*nodes, *foot_of_container(node))


def _is_bare_thumbnail(w: Writing, node: Container, head: Nodes) -> bool:
    """Return whether the head ends with the thumbnail, without a title beside it."""
    last = head[-1] if head else None
    return isinstance(last, Image) and last is node.thumbnail and is_small(w, last)


def write_carousel(w: Writing, node: Carousel) -> None:
    if len(node.cards) > 1:
        w.lose(node.at, "stack_carousel", f"{len(node.cards)} cards", "one below the other")
    for card in node.cards:
        w.write((card,))
