"""The cards that property tests draw: every node, marked in the order of reading."""

from __future__ import annotations

import pytest
from hypothesis import Phase, given, settings

from bridge.content.cards.tree import Card
from bridge.content.cards.walk import walk
from tests.content.card_strategies import cards, marks_of, node_types
from tests.examples import examples

DRAWN = settings(max_examples=examples(100))


@DRAWN
@given(cards())
def test_generated_cards_have_consecutive_marks_and_every_node_has_its_path(card: Card) -> None:
    numbers = [int(mark[2:]) for mark in marks_of(card)]

    assert numbers == list(range(1, len(numbers) + 1))
    assert all(node.at for node in walk(card.nodes))


class _AllDrawn(Exception):
    """Every type of node was in a card."""


def test_every_type_of_node_is_generated() -> None:
    drawn_types: set[str] = set()

    @settings(DRAWN, max_examples=300, phases=[Phase.generate])
    @given(cards(8))
    def look(card: Card) -> None:
        drawn_types.update(node.type for node in walk(card.nodes))
        if drawn_types == node_types():
            raise _AllDrawn

    with pytest.raises(_AllDrawn):
        look()
