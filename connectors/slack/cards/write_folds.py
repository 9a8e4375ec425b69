"""Foldable content -> container blocks with ten blocks each; more blocks continue in
the next one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bridge.content.cards import degrade
from bridge.content.cards.tree import Nodes
from bridge.content.cards.writing import runs_within
from bridge.content.text.tree import Strong, Text
from connectors.slack.capabilities import CONTAINER_BLOCKS, CONTAINER_TITLE
from connectors.slack.cards.write_pieces import Json, Piece, Writing
from connectors.slack.cards.write_size import size_of
from connectors.slack.cards.write_split import rich_line
from connectors.slack.cards.write_texts import Line, length, plain, words

_CHARACTERS = 9_000
_NAMELESS = "…"
_GOES_ON = "Continued"


def fold(writing: Writing, title: Line, nodes: Nodes, *, collapsed: bool = True) -> None:
    """Write nodes in a container that opens."""
    contain(writing, title, nodes, is_collapsible=True, default_collapsed=collapsed)


def contain(writing: Writing, title: Line, nodes: Nodes, **head: object) -> None:
    """Write nodes in a container. A title that is too long is a line above it, or the
    only content."""
    named = _title(writing, title)
    line = degrade.line_prose((Strong(title),))
    if named is None and words(title):
        nodes = (line, *nodes)
    pieces = writing.inside(nodes)
    _box(writing, pieces, {**(named or _plain(_NAMELESS)), **head})
    if named is not None and not any(piece.block for piece in pieces):
        writing.write((line,))
    writing.pieces += [piece for piece in pieces if not piece.block]


def fold_more(writing: Writing, nodes: Nodes) -> None:
    """Add nodes to the last written container."""
    host = writing.pieces.pop().block
    pieces = writing.inside(nodes)
    head = {key: value for key, value in host.items() if key not in ("type", "child_blocks")}
    _box(writing, [*map(Piece, host["child_blocks"]), *pieces], head)
    writing.pieces += [piece for piece in pieces if not piece.block]


def _box(writing: Writing, pieces: Iterable[Piece], head: Json) -> None:
    """The container; blocks that do not fit continue in the next one."""
    for number, blocks in enumerate(_parts(pieces)):
        if number:
            settings = {key: value for key, value in head.items() if isinstance(value, bool)}
            head = {**_plain(f"{_GOES_ON} ({number + 1})"), **settings}
        writing.pieces.append(Piece({"type": "container", **head, "child_blocks": blocks}))


def _parts(pieces: Iterable[Piece]) -> Iterator[list[Json]]:
    blocks = (piece.block for piece in pieces if piece.block)
    return runs_within(blocks, (CONTAINER_BLOCKS, _CHARACTERS, 1), _block_cost)


def _block_cost(block: Json) -> tuple[int, int, int]:
    return 1, size_of(block), block["type"] == "table"


def _title(writing: Writing, title: Line) -> Json | None:
    """The title, plain if it has no styles; None if it is empty or too long."""
    text = words(title)
    if not text or length(text) > CONTAINER_TITLE:
        return None
    if all(type(inline) is Text for inline in title):
        return _plain(text)
    elements = [rich_line(writing, title, "")]
    return {"rich_text_title": {"type": "rich_text", "elements": elements}}


def _plain(text: str) -> Json:
    return {"title": plain(text)}
