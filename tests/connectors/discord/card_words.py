"""Short constructors of card nodes for tests: prose, fields and pictures."""

from __future__ import annotations

from bridge.content.cards.tree import Asset, Card, Context, Image, Node, Prose
from bridge.content.text.tree import Inline, Link, Paragraph, Strong, Text


def line(text: str) -> tuple[Inline, ...]:
    return (Text(text),)


def bold(text: str) -> Strong:
    return Strong(line(text))


def link(url: str, text: str) -> Link:
    return Link(url, line(text))


def prose(text: str) -> Prose:
    return Prose((Paragraph(line(text)),))


def small(text: str) -> Context:
    return Context((prose(text),))


def picture(url: str, **more: object) -> Image:
    return Image(Asset(url=url, **more))  # pyright: ignore[reportArgumentType]  # by their names


def card(*nodes: Node) -> Card:
    return Card(nodes)
