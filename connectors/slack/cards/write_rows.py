"""Nodes side by side -> fields of a section, an accessory, a context block."""

from __future__ import annotations

from itertools import chain

from bridge.content.cards import degrade
from bridge.content.cards.tree import (
    Actions,
    Badge,
    Button,
    Column,
    Columns,
    Container,
    Context,
    Fields,
    Image,
    LabelledValue,
    Node,
    Nodes,
    Progress,
    Prose,
    Rating,
    Section,
)
from bridge.content.cards.writing import runs_within
from bridge.content.text.tree import Heading, Link, Paragraph, Rule, Strong, Table, Text
from bridge.content.text.urls import safe_url
from connectors.slack.capabilities import (
    CONTEXT_ELEMENTS,
    FIELD_TEXT,
    FIELDS,
    TEXT_OBJECT,
    URL,
)
from connectors.slack.cards.write_actions import accessory_element
from connectors.slack.cards.write_media import image_element, is_bare
from connectors.slack.cards.write_pieces import Json, Piece, Pieces, Writing
from connectors.slack.cards.write_prose import lose_marks, write_document
from connectors.slack.cards.write_texts import (
    bold_mrkdwn,
    document_to_mrkdwn,
    length,
    mrkdwn,
    section,
)

_ROW_CHARACTERS = 8_000
_TEXTS = (Prose, Badge, Progress, Rating)

# --- fields ---------------------------------------------------------------------------------


def write_fields(writing: Writing, node: Fields) -> None:
    """Ten short fields in a section; long ones in sections of their own."""
    row: list[Json] = []
    used = 0
    for item in node.items:
        lose_marks(writing, item.value, item.at or node.at)
        text = _field(item)
        size = length(text)
        if not text:
            continue
        if not item.short or size > FIELD_TEXT:
            _flush_fields(writing, row)
            row, used = [], 0
            _write_long(writing, item, text, item.at or node.at)
            continue
        if len(row) == FIELDS or used + size > _ROW_CHARACTERS:
            _flush_fields(writing, row)
            row, used = [], 0
        row.append(mrkdwn(text))
        used += size
    _flush_fields(writing, row)


def _field(item: LabelledValue) -> str:
    label, value = bold_mrkdwn(item.label), document_to_mrkdwn(item.value)
    return f"{label}\n{value}" if label and value else label or value


def _flush_fields(writing: Writing, row: list[Json]) -> None:
    if row:
        writing.pieces.append(Piece({"type": "section", "fields": row}))


def _write_long(writing: Writing, item: LabelledValue, text: str, at: str) -> None:
    if length(text) <= TEXT_OBJECT:
        writing.pieces.append(Piece(section(text)))
        return
    label = (Paragraph((Strong(item.label),)),) if item.label else ()
    write_document(writing, (*label, *item.value), at)


# --- sections -------------------------------------------------------------------------------


def write_section(writing: Writing, node: Section) -> None:
    """Text with an accessory; if that is not possible, one below the other."""
    is_last = not node.leading or isinstance(node.accessory, Image)
    pieces = _text_of_section(writing, node.nodes) if is_last else []
    section_host = _host(pieces, node.accessory)
    element = accessory_element(writing, node.accessory) if section_host is not None else None
    if section_host is not None and element is not None:
        section_host.block["accessory"] = element
        writing.pieces += pieces
        return
    lost_text = f"a {node.accessory.type} at the side"
    writing.lose(node.at, "stack_section", lost_text, "above" if node.leading else "below")
    if node.leading:
        writing.write(degrade.stack_section(node))
    else:
        writing.pieces += pieces
        writing.write((node.accessory,))


def _text_of_section(writing: Writing, nodes: Nodes) -> Pieces:
    match nodes:
        case (Prose(text),) if mrkdwn_of_prose(text):
            return [Piece(section(mrkdwn_of_prose(text)))]
        case (Prose(text), Fields() as fields) if mrkdwn := mrkdwn_of_prose(text):
            pieces = writing.collect((fields,))
            head = section(mrkdwn)
            if len(pieces) == 1 and "fields" in pieces[0].block:
                return [Piece({**head, "fields": pieces[0].block["fields"]})]
            return [Piece(head), *pieces]
        case _:
            return writing.collect(nodes)


def mrkdwn_of_prose(document: tuple[object, ...]) -> str:
    """The text for one section, simplified if necessary; "" if no section can have it."""
    if any(isinstance(block, Table | Rule) for block in document):
        return ""
    text = document_to_mrkdwn(document)  # pyright: ignore[reportArgumentType]  # blocks of text
    return text if length(text) <= TEXT_OBJECT else ""


def _host(pieces: Pieces, accessory: Node) -> Piece | None:
    """The section for the accessory: the first for a picture, the last for other elements."""
    sections = [piece for piece in pieces if piece.block.get("type") == "section"]
    free = [block for block in sections if "accessory" not in block.block]
    if isinstance(accessory, Image):
        return free[0] if free else None
    return free[-1] if free and free[-1] is pieces[-1] else None


# --- columns --------------------------------------------------------------------------------


def write_columns(writing: Writing, node: Columns) -> None:
    """A picture or button beside text; short texts as fields; else one below the other."""
    columns = [_with_link(writing, column, node.at) for column in node.columns]
    columns = [column for column in columns if column]
    if len(columns) > 2 and _side_by_side(columns, node.at) is None:
        columns = _without_icons(writing, columns)
    if len(columns) == 1:
        writing.write(columns[0])
    elif (section := _side_by_side(columns, node.at)) is not None:
        write_section(writing, section)
    elif not _write_as_fields(writing, columns):
        writing.lose(node.at, "stack_columns", f"{len(columns)} columns", "one below the other")
        for nodes in columns:
            writing.write(nodes)


def _without_icons(writing: Writing, columns: list[Nodes]) -> list[Nodes]:
    """The columns with content, without icons and buttons that only fold."""
    columns_left: list[Nodes] = []
    for nodes in columns:
        icons = [node for node in nodes if degrade.is_decorative(node)]
        texts = tuple(node for node in nodes if not degrade.is_decorative(node))
        if not icons or not all(map(_only_folds, texts)):
            columns_left.append(nodes)
            continue
        for icon in icons:
            if isinstance(icon, Image):
                name = icon.asset.name or writing.url_of(icon.asset) or "picture"
                writing.lose(icon.at, "small_picture", name)
        writing.write(texts)
    return columns_left


def _only_folds(node: Node) -> bool:
    """Whether it has only buttons that show and hide nodes, which containers with
    titles replace."""
    items = node.items if isinstance(node, Actions) else (node,)
    return all(isinstance(item, Button) and item.does == "toggle" for item in items)


def _with_link(writing: Writing, column: Column, at: str) -> Nodes:
    url = safe_url(column.link) if column.link else None
    if not column.link:
        return column.nodes
    if url is None or len(url) >= URL:
        writing.lose(at, "long_url" if url else "unsafe_url", column.link)
        return column.nodes
    return (*column.nodes, degrade.line_prose((Link(url, (Text(url),)),), at, subtle=True))


def _side_by_side(columns: list[Nodes], at: str) -> Section | None:
    """Text with an accessory; a picture may come first."""
    match columns:
        case [nodes, (accessory,)] if _is_text(nodes) and not _is_text((accessory,)):
            return Section(nodes, accessory, at=at)
        case [nodes, (Image() as picture,)] if _begins_with_text(nodes):
            return Section(nodes, picture, at=at)
        case [(Image() as picture,), nodes] if _begins_with_text(nodes):
            return Section(nodes, picture, leading=True, at=at)
        case _:
            return None


def _is_text(nodes: Nodes) -> bool:
    return bool(nodes) and all(isinstance(node, _TEXTS) for node in nodes)


def _begins_with_text(nodes: Nodes) -> bool:
    """Whether its first block is a section, which can have a picture beside it."""
    match nodes:
        case (Prose() | Fields(), *_):
            return True
        case (Container(inner, form="group", title=(), hero=None, author=None), *_):
            return _begins_with_text(inner[:1]) and isinstance(inner[0], Prose)
        case _:
            return False


def _write_as_fields(writing: Writing, columns: list[Nodes]) -> bool:
    if not 1 < len(columns) <= FIELDS or not all(_is_text(nodes) for nodes in columns):
        return False
    texts = [_column(nodes) for nodes in columns]
    too_long = any(not text or length(text) > FIELD_TEXT for text in texts)
    if too_long or sum(map(length, texts)) > _ROW_CHARACTERS:
        return False
    writing.pieces.append(Piece({"type": "section", "fields": [mrkdwn(text) for text in texts]}))
    for node in chain.from_iterable(columns):
        if isinstance(node, Badge) and node.icon:
            writing.lose(node.at, "icon", node.icon)
    return True


def _column(nodes: Nodes) -> str:
    """The mrkdwn of a column's texts, one below the other; "" when mrkdwn cannot express them."""
    texts: list[str] = []
    for node in nodes:
        prose = _as_prose(node)
        if prose is None or not all(_is_short(block) for block in prose.text):
            return ""
        texts.append(document_to_mrkdwn(prose.text))
    return "\n".join(text for text in texts if text)


def _as_prose(node: Node) -> Prose | None:
    match node:
        case Prose():
            return node
        case Badge():
            return degrade.badge_as_prose(node)
        case Progress():
            return degrade.progress_as_prose(node)
        case Rating():
            return degrade.rating_as_prose(node)
        case _:
            return None


def _is_short(block: object) -> bool:
    return isinstance(block, Paragraph | Heading)


# --- context --------------------------------------------------------------------------------


def write_context(writing: Writing, node: Context) -> None:
    row: list[Json] = []
    for item in node.items:
        element = _in_context(writing, item)
        if element is None:
            _flush_context(writing, row)
            row = []
            writing.write((item,))
        elif element:
            row.append(element)
    _flush_context(writing, row)


def _in_context(writing: Writing, item: Prose | Image) -> Json | None:
    """The context element; {} for an empty node, None for a node that no context block can have."""
    if isinstance(item, Image):
        return image_element(writing, item) if is_bare(item) else None
    text = document_to_mrkdwn(item.text)
    if length(text) > TEXT_OBJECT or any(isinstance(block, Table) for block in item.text):
        return None
    return mrkdwn(text) if text else {}


def _flush_context(writing: Writing, row: list[Json]) -> None:
    for elements in runs_within(row, (CONTEXT_ELEMENTS, _ROW_CHARACTERS), _context_cost):
        writing.pieces.append(Piece({"type": "context", "elements": elements}))


def _context_cost(element: Json) -> tuple[int, int]:
    return 1, length(element.get("text") or element.get("alt_text", ""))
