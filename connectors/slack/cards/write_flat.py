"""Nodes of any depth -> nodes that hold no others, in the order of reading. Pure, no recursion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bridge.content.cards import degrade
from bridge.content.cards.tree import (
    Actions,
    Button,
    Carousel,
    Columns,
    Container,
    Native,
    Node,
    Section,
    Table,
    Tasks,
)


def flat(nodes: Iterable[Node]) -> Iterator[Node]:
    """What containers and their kin say and hold, one below the other."""
    stack = [iter(nodes)]
    while stack:
        node = next(stack[-1], None)
        if node is None:
            stack.pop()
        elif (held := _held(node)) is None:
            yield node
        else:
            stack.append(iter(held))


def _held(node: Node) -> Iterable[Node] | None:
    """The nodes that say the same; None for a node that holds none."""
    match node:
        case Container():
            return degrade.open_container(node)
        case Section():
            return degrade.stack_section(node)
        case Columns():
            return degrade.stack_columns(node)
        case Carousel():
            return degrade.stack_carousel(node)
        case Native(fallback=fallback):
            return fallback
        case Tasks():
            return degrade.tasks_as_nodes(node)
        case Table(rows, title=title):
            head = (degrade.line_prose(title, node.at),) if title else ()
            return (*head, *(one for row in rows for cell in row for one in cell))
        case Button(label, does="reveal", nodes=nodes):
            return (degrade.line_prose(label, node.at), *nodes)
        case Actions(items) if any(isinstance(one, Button) and one.nodes for one in items):
            return items
        case _:
            return None
