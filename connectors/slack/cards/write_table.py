"""Tables -> table blocks: one in a message, long ones in parts that repeat the header."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bridge.content.cards import degrade
from bridge.content.cards.tree import (
    Align,
    Badge,
    Button,
    Image,
    Node,
    Nodes,
    Progress,
    Prose,
    Rating,
    Table,
)
from bridge.content.text.plain import blocks_as_line
from bridge.content.text.tree import Break, Inline, Link, Paragraph, Strong, Text
from bridge.content.text.tree import Table as TextTable
from bridge.content.text.urls import safe_url
from connectors.slack.capabilities import (
    TABLE_CHARACTERS,
    TABLE_COLUMNS,
    TABLE_ROWS,
    TEXT_OBJECT,
    URL,
)
from connectors.slack.cards.write_pieces import Json, Piece, Writing
from connectors.slack.cards.write_split import rich_line
from connectors.slack.cards.write_texts import length, sound
from connectors.slack.rich_text_writer import rich_text_length

Line = tuple[Inline, ...]
Lines = list[Line]
Aligns = Sequence[Align | None]

_WRAPPED = 30  # characters; Slack cuts longer cells at the side


def write_table(writing: Writing, node: Table) -> None:
    """The title and the table; a table whose cells have more than text is written row by row."""
    if node.title:
        writing.write((degrade.line_prose((Strong(node.title),), node.at),))
    if all(_is_text(writing, inner) for row in node.rows for cell in row for inner in cell):
        rows = [[_line(writing, cell) for cell in row] for row in node.rows]
        _write_rows(writing, rows, node.align, node.at, header=node.header)
        return
    writing.lose(node.at, "table_as_rows", "a table with more than text in it", "its rows")
    for row in node.rows:
        writing.write(_row(writing, row, node.at))


def _row(writing: Writing, row: tuple[Nodes, ...], at: str) -> Iterator[Node]:
    """A row; texts of adjacent cells share a line."""
    line: list[Inline] = []
    for cell in row:
        for index, node in enumerate(cell):
            if _is_text(writing, node):
                line += [Text(" ") if index else Text(" | ")] if line else []
                line += _inline(writing, node)
            else:
                yield from (degrade.line_prose(tuple(line), at),) if line else ()
                yield node
                line = []
    yield from (degrade.line_prose(tuple(line), at),) if line else ()


def write_text_table(writing: Writing, table: TextTable, at: str) -> None:
    """A table of formatted text."""
    header = any(table.header)
    rows = [list(row) for row in ((table.header, *table.rows) if header else table.rows)]
    _write_rows(writing, rows, table.align, at, header=header)


def _write_rows(
    writing: Writing, rows: list[Lines], align: Aligns, at: str, *, header: bool
) -> None:
    if not any(cell for row in rows for cell in row):
        return
    width = max(len(row) for row in rows)
    rows = [[*row, *((),) * (width - len(row))] for row in rows]
    cells = [[_cell(writing, line, at) for line in row] for row in rows]
    sizes = [sum(_size(cell) for cell in row) for row in cells]
    head = sizes[0] if header else 0
    if width > TABLE_COLUMNS or max(sizes) + head > TABLE_CHARACTERS:
        _write_list(writing, rows, at, header=header)
    elif not (writing.has_table and _write_code(writing, rows, align, at, header=header)):
        writing.has_table = True
        settings = _settings(cells, align)
        for part in _parts(cells, sizes, header=header):
            writing.pieces.append(Piece({"type": "table", "rows": part, **settings}))


def _parts(
    cells: list[list[Json]], sizes: list[int], *, header: bool
) -> Iterator[list[list[Json]]]:
    head, size = (cells[:1], sizes[0]) if header else ([], 0)
    rows, used = list(head), size
    for row, cost in zip(cells[len(head) :], sizes[len(head) :], strict=True):
        if len(rows) == TABLE_ROWS or used + cost > TABLE_CHARACTERS:
            yield rows
            rows, used = list(head), size
        rows.append(row)
        used += cost
    yield rows


def _settings(cells: list[list[Json]], align: Aligns) -> Json:
    """The column settings that differ from the default."""
    settings: list[Json] = []
    for index, column in enumerate(zip(*cells, strict=True)):
        alignment = align[index] if index < len(align) else None
        wrapped = any(_size(cell) > _WRAPPED for cell in column)
        settings.append({"align": alignment or "left", **({"is_wrapped": True} if wrapped else {})})
    while settings and settings[-1] == {"align": "left"}:
        settings.pop()
    return {"column_settings": settings} if settings else {}


# --- cells ----------------------------------------------------------------------------------


def _cell(writing: Writing, line: Line, at: str) -> Json:
    """A cell, plain if it has no formatting; Slack refuses empty cells."""
    if all(type(inline) is Text for inline in line):
        text = sound(
            "".join(inline.value for inline in line if type(inline) is Text).replace("\n", " ")
        )
        return {"type": "raw_text", "text": text if text.strip() else " "}
    return {"type": "rich_text", "elements": [rich_line(writing, line, at)]}


def _size(cell: Json) -> int:
    if cell["type"] == "raw_text":
        return length(cell["text"])
    return 2 * rich_text_length(cell["elements"])


def _line(writing: Writing, cell: Nodes) -> Line:
    match cell:
        case ():
            return ()
        case (Prose((Paragraph(children),)),):
            return children
        case _:
            run: list[Inline] = []
            for node in cell:
                run += [Break()] if run else []
                run += _inline(writing, node)
            return tuple(run)


def _is_text(writing: Writing, node: Node) -> bool:
    """Whether a cell can show the node: as text or as a link."""
    match node:
        case Prose() | Badge() | Progress() | Rating():
            return True
        case Image(link="", title=()):
            return not node.asset.spoiler and _url(writing.url_of(node.asset)) is not None
        case Button(label, does="open", disabled=False, confirm=None, hint="", emoji="", icon=None):
            return bool(label) and _url(node.url) is not None
        case _:
            return False


def _inline(writing: Writing, node: Node) -> Line:
    match node:
        case Prose(text):
            return blocks_as_line(text)
        case Badge():
            return blocks_as_line(degrade.badge_as_prose(node).text)
        case Progress():
            return blocks_as_line(degrade.progress_as_prose(node).text)
        case Rating():
            return blocks_as_line(degrade.rating_as_prose(node).text)
        case Image():
            lost_text = node.asset.alt or node.asset.name or "a picture"
            writing.lose(node.at, "image_as_prose", lost_text, "a link in its cell")
            return blocks_as_line(degrade.image_as_prose(node, writing.url_of(node.asset)).text)
        case Button(label, url=url):
            safe = _url(url)
            return (Link(safe, label),) if safe else label
        case _:
            return ()


def _url(url: str) -> str | None:
    safe = safe_url(url) if url else None
    return safe if safe and len(safe) < URL else None


# --- other forms ----------------------------------------------------------------------------


def _write_code(
    writing: Writing, rows: list[Lines], align: Aligns, at: str, *, header: bool
) -> bool:
    """A second table as fixed-width text, if it is plain and narrow, since another message would be
    worse."""
    if any(type(node) is not Text for row in rows for cell in row for node in cell):
        return False
    code = degrade.table_as_code(_text_table(rows, align, header=header))
    if code is None or length(code.value) > TEXT_OBJECT:
        return False
    writing.lose(at, "table_as_code", "a table of its own", "fixed-width text")
    writing.write((degrade.prose(code, at=at),))
    return True


def _write_list(writing: Writing, rows: list[Lines], at: str, *, header: bool) -> None:
    """A table with too many columns, as a list."""
    document = degrade.table_as_prose(_text_table(rows, (), header=header))
    lost_text = f"a table of {len(rows[0])} columns"
    writing.lose(at, "table_as_prose", lost_text, "a list of its rows")
    writing.write((degrade.prose(*document, at=at),))


def _text_table(rows: list[Lines], align: Aligns, *, header: bool) -> TextTable:
    head, body = (rows[0], rows[1:]) if header else ([()] * len(rows[0]), rows)
    return TextTable(tuple(head), tuple(tuple(row) for row in body), tuple(align))
