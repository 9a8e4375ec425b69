"""Sections, columns, containers, carousels -> sections and containers of Discord's.

Its containers do not stand within one another, so nodes are written into the box that is around.
"""

from __future__ import annotations

from bridge.content.card import (
    Button,
    Carousel,
    Columns,
    Container,
    Image,
    Node,
    Nodes,
    Prose,
    Section,
)
from bridge.content.degrade import (
    foot_of_container,
    head_of_container,
    line_prose,
    stack_section,
)
from bridge.content.urls import safe_url
from connectors.discord.cards import limits, schemas
from connectors.discord.cards.colors import color_of
from connectors.discord.cards.write_buttons import button_body
from connectors.discord.cards.write_media import is_small, linked, thumbnail
from connectors.discord.cards.write_state import Box, Json, Piece, Writing, content_of
from connectors.discord.cards.write_text import say_small


def write_section(w: Writing, node: Section) -> None:
    """Texts with a button or a picture beside them; anything else stands below."""
    first = len(w.pieces)
    if node.leading and not (isinstance(node.accessory, Image) and is_small(w, node.accessory)):
        w.lose(node.at, "stack_section", node.accessory.type, "above")
        w.write(stack_section(node))
        return
    w.write(node.nodes)
    beside = _accessory(w, node.accessory) if _are_texts(w, first) else None
    if beside is None:
        if not isinstance(node.accessory, Button):
            w.lose(node.at, "stack_section", node.accessory.type, "below")
        w.write((node.accessory,))
        return
    _set_beside(w, first, beside)


def _are_texts(w: Writing, first: int) -> bool:
    pieces = w.pieces[first:]
    return (
        bool(pieces)
        and all(one.body["type"] == schemas.TEXT_DISPLAY and one.box is w.box for one in pieces)
        and sum(one.text + 1 for one in pieces) <= limits.TEXT
    )


def _accessory(w: Writing, node: Node) -> Piece | None:
    if isinstance(node, Image):
        return thumbnail(w, node)
    if isinstance(node, Button) and node.does not in ("reveal", "toggle"):
        lost, body = len(w.losses), button_body(w, node)
        if body is not None:
            return Piece(body, w.box)
        del w.losses[lost:]  # said again where it stands below
    return None


def _set_beside(w: Writing, first: int, beside: Piece) -> None:
    """The pieces from `first` on as one section."""
    texts = w.pieces[first:]
    bodies = [one.body for one in texts[: limits.SECTION_TEXTS]]
    if rest := texts[limits.SECTION_TEXTS :]:
        said = [content_of(one) for one in (texts[limits.SECTION_TEXTS - 1], *rest)]
        bodies[-1] = {"type": schemas.TEXT_DISPLAY, "content": "\n".join(said)}
    body: Json = {"type": schemas.SECTION, "components": [*bodies], "accessory": beside.body}
    text = sum(one.text for one in texts) + len(rest)
    w.pieces[first:] = [Piece(body, w.box, 2 + len(bodies), text, beside.files)]


def write_columns(w: Writing, node: Columns) -> None:
    """One below the other; two of them may be a section."""
    if beside := _picture_column(node):
        write_section(w, Section(node.columns[0].nodes, beside, at=node.at))
        return
    if len(node.columns) > 1:
        w.lose(node.at, "stack_columns", f"{len(node.columns)} columns", "one below the other")
    for column in node.columns:
        w.write(column.nodes)
        if column.link:
            say_small(w, linked(w, (), column.link, column.at), column.at)


def _picture_column(node: Columns) -> Image | None:
    """The small picture that is all of the second column of two."""
    if len(node.columns) != 2 or any(one.link for one in node.columns):
        return None
    match node.columns[1].nodes:
        case (Image() as beside,) if beside.size != "full" and node.columns[0].nodes:
            return beside
        case _:
            return None


def write_container(w: Writing, node: Container) -> None:
    outer = w.box
    w.box = _box_of(w, node)
    if node.collapsed:
        w.lose(node.at, "collapsed_shown", "folded", "open")
    if node.hidden:
        w.lose(node.at, "hidden_shown", "hidden until asked for", "open")
    w.write(opened(w, node))
    w.box = outer


def _box_of(w: Writing, node: Container) -> Box | None:
    """Discord's containers do not stand within one another; hidden ones stay hidden."""
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


def opened(w: Writing, node: Container) -> Nodes:
    """What stands around its nodes as nodes; a thumbnail stands beside the first text."""
    head = head_of_container(node)
    if node.link and not node.title and (link := linked(w, (), node.link, node.at)):
        head = (*head, line_prose(link, node.at))
    elif node.link and safe_url(node.link) is None:
        w.lose(node.at, "unsafe_link", node.link)
    for credit in (node.author, node.footer):
        if credit is not None and credit.link and not (credit.text and safe_url(credit.link)):
            w.lose(credit.at, "credit_link", credit.link)
    match node.nodes:
        case (Prose() as first, *rest) if _is_bare_thumbnail(w, node, head):
            beside = Section((first,), head[-1], at=node.at)
            nodes: Nodes = (*head[:-1], beside, *rest)
        case _:
            nodes = (*head, *node.nodes)
    return (*nodes, *foot_of_container(node))


def _is_bare_thumbnail(w: Writing, node: Container, head: Nodes) -> bool:
    """Whether the thumbnail has no title to stand beside."""
    last = head[-1] if head else None
    return isinstance(last, Image) and last is node.thumbnail and is_small(w, last)


def write_carousel(w: Writing, node: Carousel) -> None:
    if len(node.cards) > 1:
        w.lose(node.at, "stack_carousel", f"{len(node.cards)} cards", "one below the other")
    for card in node.cards:
        w.write((card,))
