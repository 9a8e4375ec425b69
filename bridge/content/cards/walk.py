"""Walks over a card in the order of reading: children of a node, all nodes, actions. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bridge.content.cards.tree import (
    Actions,
    Button,
    Card,
    Carousel,
    Columns,
    Container,
    Context,
    Gallery,
    Input,
    Native,
    Node,
    Nodes,
    Section,
    Table,
    Tasks,
)


def within(node: Node) -> Iterator[Node]:  # noqa: C901  # one flat match over the kinds
    """Yields the nodes directly within this one, in the order of reading."""
    match node:
        case Table(rows):
            for row in rows:
                for cell in row:
                    yield from cell
        case Context(items) | Gallery(items) | Actions(items):
            yield from items
        case Section(nodes, accessory, leading=leading):
            yield from (accessory, *nodes) if leading else (*nodes, accessory)
        case Columns(columns):
            for column in columns:
                yield from column.nodes
        case Container(nodes):
            yield from (picture for picture in (node.hero, node.thumbnail) if picture is not None)
            yield from nodes
        case Carousel(cards):
            yield from cards
        case Tasks(tasks):
            for task in tasks:
                yield from (*task.details, *task.output)
        case Native(_, _, nodes) | Button(nodes=nodes):
            yield from nodes
        case _:
            return


def walk(nodes: Iterable[Node]) -> Iterator[Node]:
    """Yields every node, each before the nodes within it."""
    stack = [iter(nodes)]
    while stack:
        node = next(stack[-1], None)
        if node is None:
            stack.pop()
        else:
            yield node
            stack.append(within(node))


def actions_of(card: Card) -> Iterator[Button | Input]:
    """Yields buttons and inputs, in order; their tokens derive from the path `at`."""
    for node in walk(card.nodes):
        if isinstance(node, Button | Input):
            yield node


def is_interactive(nodes: Nodes) -> bool:
    """Whether the nodes have anything to press or fill in, apart from links."""
    return any(
        isinstance(node, Input) or (isinstance(node, Button) and node.does != "open")
        for node in walk(nodes)
    )
