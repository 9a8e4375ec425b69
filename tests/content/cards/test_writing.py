"""A card writer's skeleton: any table of writers gets every node once, in order and flat enough."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.content.cards.rendering import Rendering
from bridge.content.cards.tree import Alert, Button, Card, Container, Divider, Node, Prose, Rating
from bridge.content.cards.writing import (
    NODE_TYPES,
    OPENERS,
    CardWriting,
    WriterTable,
    degraded,
    runs_within,
)
from bridge.content.text.tree import Paragraph, Text
from bridge.model import Loss

WITH_TOKENS = Rendering(token=lambda path: f"token of {path}")


def prose(text: str) -> Prose:
    return Prose((Paragraph((Text(text),)),))


def _name(writing: CardWriting[str], node: Any) -> None:
    writing.pieces.append(node.type)


def _text(writing: CardWriting[str], node: Prose) -> None:
    match node.text:
        case (Paragraph((Text(value),)),):
            writing.pieces.append(value)
        case _:
            writing.pieces.append(node.type)


def _inner(writing: CardWriting[str], node: Container) -> None:
    writing.pieces.append(f"<{' '.join(writing.collect(node.nodes))}>")


def _row(writing: CardWriting[str], row: list[Node]) -> None:
    writing.pieces.append(f"row of {len(row)}")


TABLE = WriterTable(
    dict.fromkeys(NODE_TYPES, _name) | {Prose: _text, Container: _inner},
    max_depth=3,
    openers=OPENERS,
)


def written(*nodes: Node, table: WriterTable = TABLE) -> CardWriting[str]:
    writing = CardWriting[str](Card(nodes), WITH_TOKENS, table)
    writing.write(nodes)
    return writing


def nested(depth: int) -> Node:
    node: Node = prose("core")
    for _ in range(depth):
        node = Container((node,))
    return node


def test_a_table_without_a_writer_for_each_type_of_node_is_refused() -> None:
    with pytest.raises(TypeError, match="no writer for Divider, Rating"):
        replace(
            TABLE,
            writers=dict.fromkeys(NODE_TYPES - {Divider, Rating}, _name),
        )


def test_nodes_are_written_in_order_and_collected_pieces_are_separate() -> None:
    writing = written(prose("above"), Container((prose("a"), prose("b"))), prose("below"))

    assert writing.pieces == ["above", "<a b>", "below"]


@pytest.mark.parametrize(
    ("depth", "shown"), [(2, "<<core>>"), (3, "<<<core>>>"), (9, "<<<core>>>")]
)
def test_nodes_below_the_depth_of_a_table_are_opened(depth: int, shown: str) -> None:
    assert written(nested(depth)).pieces == [shown]


def test_an_opener_that_returns_none_leaves_the_node_unchanged() -> None:
    table = replace(TABLE, max_depth=0, openers={Container: lambda _writing, _node: None})

    assert written(nested(1), table=table).pieces == ["<core>"]


def test_neighbours_of_row_types_are_written_together() -> None:
    table = replace(TABLE, row_types=frozenset((Button,)), write_row=_row)
    button = Button(())

    pieces = written(button, button, prose("between"), button, table=table).pieces

    assert pieces == ["row of 2", "between", "row of 1"]


def test_a_degraded_node_is_written_as_simpler_nodes_with_a_loss() -> None:
    simpler = degraded(
        lambda node: prose(node.level), lambda node: ("as_prose", node.level, "text")
    )
    table = replace(TABLE, writers={**TABLE.writers, Alert: simpler})

    writing = written(Alert("warning", (), at="/blocks/0"), table=table)

    assert writing.pieces == ["warning"]
    loss = Loss(path="/blocks/0", kind="as_prose", what="warning", shown_as="text")
    assert writing.losses == [loss]


def test_rolling_back_drops_the_losses_and_ids_since_the_checkpoint() -> None:
    writing = written()
    assert writing.numbered_id("id") == "id"
    mark = writing.checkpoint()
    writing.lose("/0", "kind", "what")
    assert writing.numbered_id("id") == "id~2"

    writing.roll_back_to(mark)

    assert writing.losses == []
    assert writing.numbered_id("id") == "id~2"


def test_an_action_has_no_token_where_nobody_receives_presses() -> None:
    without_tokens = CardWriting[str](Card(()), Rendering(), TABLE)

    assert (without_tokens.accepts_presses, without_tokens.token("/0")) == (False, "")
    assert (written().accepts_presses, written().token("/0")) == (True, "token of /0")


@given(st.lists(st.integers(0, 12)), st.integers(1, 5), st.integers(1, 20))
def test_runs_keep_the_order_and_only_a_single_item_may_exceed_a_limit(
    sizes: list[int], count: int, room: int
) -> None:
    runs = list(runs_within(sizes, (count, room), lambda size: (1, size)))

    assert [size for run in runs for size in run] == sizes
    assert all(len(run) == 1 or (len(run) <= count and sum(run) <= room) for run in runs)
    for run, after in pairwise(runs):
        assert len(run) == count or sum(run) + after[0] > room
