"""Tables and charts -> blocks of code, or lists of their rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from bridge.content.cards.degrade import chart_as_table, line_prose, text_table
from bridge.content.cards.tree import Chart, Node, Nodes, Series, Table
from bridge.content.text.tree import CodeBlock, Inline, Text
from connectors.discord.cards import limits
from connectors.discord.cards.write_blocks import table_blocks
from connectors.discord.cards.write_state import Writing
from connectors.discord.cards.write_text import (
    bold,
    markdown,
    say,
    say_line,
    supported_markdown,
)

Line = tuple[Inline, ...]

_FENCED = limits.TEXT - 200


def write_text_table(w: Writing, node: Table) -> Nodes:
    """Write the table as text; if cells hold more than text, return its rows as nodes."""
    table, nodes_beyond_text = text_table(node)
    if nodes_beyond_text:
        w.lose(node.at, "table_as_rows", f"table of {len(node.rows)} rows", "one row after another")
        return tuple(_rows(node))
    say_line(w, bold(node.title), node.at)
    if not any(cell for row in (table.header, *table.rows) for cell in row):
        w.lose(node.at, "empty_table", f"table of {len(node.rows)} rows")
        return ()
    for block in table_blocks(w, table, node.at):
        for text in _parts(block, headed=node.header) if isinstance(block, CodeBlock) else ():
            say(w, text)
        if not isinstance(block, CodeBlock):
            say(w, supported_markdown(w, (block,), node.at))
    return ()


def _parts(block: CodeBlock, *, headed: bool) -> Iterator[str]:
    """Yield a long table in parts, each with the table's head."""
    if len(block.value) <= _FENCED:
        yield markdown((block,))
        return
    lines = block.value.split("\n")
    head = lines[:2] if headed and len(lines[0]) < _FENCED // 4 else []
    part_lines: list[str] = []
    size = 0
    for line in lines[len(head) :]:
        if part_lines and size + len(line) + 1 > _FENCED - sum(map(len, head)):
            yield markdown((replace(block, value="\n".join((*head, *part_lines))),))
            part_lines, size = [], 0
        part_lines.append(line)
        size += len(line) + 1
    yield markdown((replace(block, value="\n".join((*head, *part_lines))),))


def _rows(node: Table) -> Iterator[Node]:
    """Yield the texts of each row in one line, and other nodes between them."""
    if node.title:
        yield line_prose(bold(node.title), node.at)
    for number, row in enumerate(node.rows):
        line: list[Inline] = []
        for inner in (node for cell in row for node in cell):
            words = _words(inner)
            if words is None:
                yield from (line_prose(tuple(line), node.at),) if line else ()
                line = []
                yield inner
            elif words:
                line += [Text(" │ ")] if line else []
                line += bold(words) if node.header and not number else words
        yield from (line_prose(tuple(line), node.at),) if line else ()


def _words(node: Node) -> Line | None:
    """Return the text of a node in a cell; None if text cannot replace it."""
    table, nodes_beyond_text = text_table(Table((((node,),),), header=False))
    return None if nodes_beyond_text else table.rows[0][0]


def write_chart(w: Writing, node: Chart) -> Table:
    """Return a chart as a table of its numbers; other content is a Loss."""
    y_title = node.y_title if all(series.name for series in node.series) else ""
    lost = " ".join(text for text in (node.kind, "chart", y_title) if text)
    w.lose(node.at, "chart_as_table", lost, "a table of its numbers")
    for series in node.series:
        if repeated := _repeated(series):
            w.lose(node.at, "chart_points", f"{series.name} {repeated}".strip())
    return chart_as_table(node)


def _repeated(series: Series) -> str:
    """Return the repeated labels' points that a table leaves out: it has one number per label."""
    last = {point.label: index for index, point in enumerate(series.points)}
    return ", ".join(
        f"{point.label}: {point.value:g}"
        for index, point in enumerate(series.points)
        if last[point.label] != index
    )
