"""The skeleton of a card writer: the walk over a card's nodes, and its output.

A platform fills a `WriterTable` (the function that writes each type of node, and its limits) and
derives its own `Writing` from `CardWriting`. The walk is the same for all: it writes neighbours
that share a row together, opens nodes that are nested too deeply, and names every loss with its
place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Generic, TypeVar, get_args

from bridge.content.cards import degrade
from bridge.content.cards.rendering import Rendering
from bridge.content.cards.tree import (
    Asset,
    Card,
    Carousel,
    Columns,
    Container,
    Native,
    Node,
    Nodes,
    Section,
    Table,
    Tasks,
)
from bridge.model import Loss

Piece = TypeVar("Piece")

NodeWriter = Callable[[Any, Any], None]
"""(the platform's writing, a node): adds to `writing.pieces` and names what is lost."""

NodeOpener = Callable[[Any, Any], Nodes | None]
"""(the platform's writing, a node) -> simpler nodes that say the same; None: it stays as it is."""

Checkpoint = tuple[int, dict[str, int]]
"""The number of losses at a point of the writing, and how often each id was used by then."""

NODE_TYPES: frozenset[type] = frozenset(get_args(get_args(Node)[0]))


def _opened_table(_writing: object, node: Table) -> Nodes:
    """The title, then the nodes of the cells, row by row."""
    title = (degrade.line_prose(node.title, node.at),) if node.title else ()
    return (*title, *(inner for row in node.rows for cell in row for inner in cell))


OPENERS: Mapping[type, NodeOpener] = MappingProxyType({
    Container: lambda _, node: degrade.open_container(node),
    Section: lambda _, node: degrade.stack_section(node),
    Columns: lambda _, node: degrade.stack_columns(node),
    Carousel: lambda _, node: degrade.stack_carousel(node),
    Tasks: lambda _, node: degrade.tasks_as_nodes(node),
    Native: lambda _, node: node.fallback,
    Table: _opened_table,
})  # fmt: skip
"""How nodes that hold others are opened, unless a platform has its own way."""


@dataclass(frozen=True, slots=True)
class WriterTable:
    """How one platform writes each type of node, and its limits.

    - `writers`: a function for each type of node.
    - `max_depth`: how deeply nodes may nest; `openers` open the nodes below that depth.
    - `row_types`, `write_row`: neighbours of these types are written together, as one row; they
      need no writer of their own.
    - `merge_neighbours`: changes the nodes of one level before they are written.
    - `id_separator`: precedes the number of an id that repeats.

    Raises:
        TypeError: A type of node has no writer.
    """

    writers: Mapping[type, NodeWriter]
    max_depth: int
    openers: Mapping[type, NodeOpener]
    row_types: frozenset[type] = frozenset()
    write_row: Callable[[Any, list[Any]], None] | None = None
    merge_neighbours: Callable[[Any, Iterable[Node]], Iterable[Node]] | None = None
    id_separator: str = "~"

    def __post_init__(self) -> None:
        if missing := NODE_TYPES - self.writers.keys() - self.row_types:
            names = ", ".join(sorted(kind.__name__ for kind in missing))
            raise TypeError(f"a table of card writers has no writer for {names}")


@dataclass(slots=True)
class CardWriting(Generic[Piece]):
    """The writing of one card: its pieces and its losses so far."""

    card: Card
    rendering: Rendering
    table: WriterTable
    pieces: list[Piece] = field(default_factory=list[Piece])
    losses: list[Loss] = field(default_factory=list[Loss])
    depth: int = 0
    _uses: dict[str, int] = field(default_factory=dict[str, int])  # how often each id was used

    # --- the walk ---------------------------------------------------------------------------

    def write(self, nodes: Iterable[Node]) -> None:
        """Adds the pieces of these nodes, in order."""
        table = self.table
        if self.depth >= table.max_depth:
            nodes = self.opened(nodes)
        if table.merge_neighbours is not None:
            nodes = table.merge_neighbours(self, nodes)
        self.depth += 1
        if table.write_row is None:
            writers = table.writers
            for node in nodes:
                writers[type(node)](self, node)
        else:
            self._write_with_rows(nodes, table.row_types, table.write_row)
        self.depth -= 1

    def _write_with_rows(
        self, nodes: Iterable[Node], row_types: frozenset[type],
        write_row: Callable[[Any, list[Any]], None],
    ) -> None:  # fmt: skip
        writers = self.table.writers
        row: list[Node] = []
        for node in nodes:
            kind = type(node)
            if kind in row_types:
                row.append(node)
                continue
            if row:
                write_row(self, row)
                row = []
            writers[kind](self, node)
        if row:
            write_row(self, row)

    def collect(self, nodes: Iterable[Node]) -> list[Piece]:
        """Returns the pieces of these nodes, apart from those written before."""
        outer, self.pieces = self.pieces, list[Piece]()
        self.write(nodes)
        pieces, self.pieces = self.pieces, outer
        return pieces

    def opened(self, nodes: Iterable[Node]) -> Iterator[Node]:
        """Yields the nodes with those that contain others replaced by their content, at any
        depth."""
        openers = self.table.openers
        stack = [iter(nodes)]
        while stack:
            node = next(stack[-1], None)
            if node is None:
                stack.pop()
                continue
            opener = openers.get(type(node))
            inner = None if opener is None else opener(self, node)
            if inner is None:
                yield node
            else:
                stack.append(iter(inner))

    # --- losses -----------------------------------------------------------------------------

    def lose(self, at: str, kind: str, what: str, shown_as: str = "") -> None:
        """Names what the platform does not show of the node at the path `at`."""
        self.losses.append(Loss(path=at, kind=kind, what=what, shown_as=shown_as))

    def checkpoint(self) -> Checkpoint:
        """Returns the state that `roll_back_to` restores when an attempt fails."""
        return len(self.losses), dict(self._uses)

    def roll_back_to(self, checkpoint: Checkpoint) -> None:
        """Drops the losses and ids since the checkpoint."""
        count, self._uses = checkpoint
        del self.losses[count:]

    # --- actions and assets -----------------------------------------------------------------

    @property
    def accepts_presses(self) -> bool:
        """Whether somebody receives presses of this card."""
        return self.rendering.token is not None

    def token(self, at: str) -> str:
        """Returns the token of the action at the path `at`; empty if nobody receives a press."""
        token = self.rendering.token
        return "" if token is None else token(at)

    def numbered_id(self, name: str) -> str:
        """Returns the id, with a number if an earlier element has the same id."""
        count = self._uses.get(name, 0) + 1
        self._uses[name] = count
        return name if count == 1 else f"{name}{self.table.id_separator}{count}"

    def travels(self, asset: Asset) -> bool:
        """Whether the asset travels with the message as a file."""
        return self.rendering.travels(asset)

    def url_of(self, asset: Asset) -> str:
        """Returns the public address of the asset; empty if there is none."""
        return self.rendering.url_of(asset)


# --- nodes that a platform has no form for ------------------------------------------------------

Lost = tuple[str, str, str]
"""The kind of a Loss, what is lost, and as what it is shown."""


def degraded(
    simpler: Callable[[Any], Node | Nodes], lost: Callable[[Any], Lost | None] | None = None
) -> NodeWriter:
    """Returns a writer for a type of node that the platform lacks.

    Args:
        simpler: Returns the nodes to write instead.
        lost: Returns the loss of a node, if any; it is named before the nodes are written.
    """

    def write(writing: CardWriting[Any], node: Any) -> None:
        if lost is not None and (loss := lost(node)) is not None:
            writing.lose(node.at, *loss)
        nodes = simpler(node)
        writing.write(nodes if isinstance(nodes, tuple) else (nodes,))

    return write


# --- limits -------------------------------------------------------------------------------------

Item = TypeVar("Item")


def runs_within(
    items: Iterable[Item], limits: tuple[int, ...], cost: Callable[[Item], tuple[int, ...]]
) -> Iterator[list[Item]]:
    """Yields the items in as few runs as the limits allow, in order.

    The sum of the costs of a run stays within each limit; an item that exceeds a limit is a run of
    its own.

    Args:
        items: The items.
        limits: The limits, each in its own unit.
        cost: Returns the costs of an item, in the units of the limits.
    """
    run: list[Item] = []
    used = [0] * len(limits)
    for item in items:
        costs = cost(item)
        sums = [total + addend for total, addend in zip(used, costs, strict=True)]
        if run and any(total > limit for total, limit in zip(sums, limits, strict=True)):
            yield run
            run, sums = [], list(costs)
        run.append(item)
        used = sums
    if run:
        yield run
