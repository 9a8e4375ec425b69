"""The table of functions that write each type of node as components."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import get_args

from bridge.content.cards.degrade import (
    columns_as_table,
    is_decorative,
    is_row_of_texts,
    line_prose,
    stack_columns,
)
from bridge.content.cards.tree import (
    Actions,
    Alert,
    Badge,
    Button,
    Carousel,
    Chart,
    Columns,
    Container,
    Context,
    Divider,
    Fields,
    File,
    Gallery,
    Image,
    Input,
    Native,
    Node,
    Nodes,
    Player,
    Poll,
    Progress,
    Prose,
    Rating,
    Section,
    Table,
    Tasks,
)
from bridge.content.cards.writing import OPENERS, WriterTable
from connectors.discord.cards.write_actions import write_actions
from connectors.discord.cards.write_boxes import (
    open_container,
    write_carousel,
    write_columns,
    write_container,
    write_section,
)
from connectors.discord.cards.write_degraded import (
    write_alert,
    write_badge,
    write_context,
    write_divider,
    write_fields,
    write_native,
    write_poll,
    write_progress,
    write_rating,
    write_tasks,
)
from connectors.discord.cards.write_media import (
    is_small,
    linked,
    lose_decoration,
    write_file,
    write_gallery,
    write_image,
    write_player,
)
from connectors.discord.cards.write_state import SEPARATOR, Writing
from connectors.discord.cards.write_tables import write_chart, write_text_table
from connectors.discord.cards.write_text import bold, write_prose


def _merged(w: Writing, nodes: Iterable[Node]) -> Iterator[Node]:
    """Yield the nodes with adjacent rows of short texts merged into a table.

    A decorative picture stands beside the following text, or is a Loss.
    """
    waiting = deque(nodes)
    while waiting:
        node = waiting.popleft()
        if isinstance(node, Columns):
            if (table := _table_of(node, waiting)) is not None:
                lost_text = f"{len(table.rows)} rows of columns"
                w.lose(node.at, "columns_as_table", lost_text, "a table")
                node = table
        elif (icons := _icons(node)) and (node,) != w.card.nodes:
            first = icons[0]
            has_text_after = waiting and isinstance(waiting[0], Prose) and is_small(w, first)
            for icon in icons[1:] if has_text_after else icons:
                lose_decoration(w, icon)
            if not has_text_after:
                continue
            node = Section((waiting.popleft(),), first, at=node.at)
        yield node


def _icons(node: Node) -> list[Image]:
    """Return the decorative pictures of a node that has nothing else."""
    items = node.items if isinstance(node, Gallery) else (node,)
    icons = [item for item in items if isinstance(item, Image) and is_decorative(item)]
    return icons if len(icons) == len(items) else []


def _table_of(first: Columns, next_nodes: deque[Node]) -> Table | None:
    """Return the table of adjacent rows and dividers, removed from `next_nodes`.

    None for a single row.
    """
    rows: list[Columns] = []
    consumed, after_divider = 0, False
    for number, node in enumerate(chain((first,), next_nodes)):
        if isinstance(node, Columns) and len(node.columns) == len(first.columns):
            if not is_row_of_texts(node):
                break
            rows.append(node)
            consumed, after_divider = number, False
        elif isinstance(node, Divider) and not after_divider:
            after_divider = True
        else:
            break
    if len(rows) < 2:
        return None
    for _ in range(consumed):
        next_nodes.popleft()
    return columns_as_table(rows)


def _table(w: Writing, node: Table) -> None:
    if rows := write_text_table(w, node):
        w.write(rows)


def _chart(w: Writing, node: Chart) -> None:
    _table(w, write_chart(w, node))


def _actions(w: Writing, node: Actions) -> None:
    write_actions(w, node.items)


# --- below the depth limit ------------------------------------------------------------------


def _opened_container(w: Writing, node: Container) -> Nodes:
    if node.spoiler:
        w.lose(node.at, "nested_container", "spoiler", "open")
    return open_container(w, node)


def _opened_columns(w: Writing, node: Columns) -> Nodes:
    links = (linked(w, (), column.link, column.at) for column in node.columns if column.link)
    return (*stack_columns(node), *(line_prose(link, node.at) for link in links if link))


def _opened_table(_w: Writing, node: Table) -> Nodes:
    cells = tuple(inner for row in node.rows for cell in row for inner in cell)
    return (line_prose(bold(node.title), node.at), *cells) if node.title else cells


def _opened_actions(_w: Writing, node: Actions) -> Nodes:
    return node.items


def _opened_button(_w: Writing, node: Button) -> Nodes | None:
    return (replace(node, nodes=()), *node.nodes) if node.nodes else None


# --- the table ------------------------------------------------------------------------------

WRITERS = WriterTable(
    {
        Prose: write_prose,
        Table: _table,
        Divider: write_divider,
        Context: write_context,
        Fields: write_fields,
        Image: write_image,
        Player: write_player,
        Gallery: write_gallery,
        File: write_file,
        Section: write_section,
        Columns: write_columns,
        Container: write_container,
        Carousel: write_carousel,
        Alert: write_alert,
        Badge: write_badge,
        Progress: write_progress,
        Rating: write_rating,
        Tasks: write_tasks,
        Chart: _chart,
        Poll: write_poll,
        Native: write_native,
        Actions: _actions,
    },
    max_depth=16,
    openers={
        **OPENERS,
        Container: _opened_container,
        Columns: _opened_columns,
        Table: _opened_table,
        Actions: _opened_actions,
        Button: _opened_button,
    },
    row_types=frozenset((Button, *get_args(Input))),
    write_row=write_actions,
    merge_neighbours=_merged,
    id_separator=SEPARATOR,
)
