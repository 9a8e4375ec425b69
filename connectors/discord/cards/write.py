"""A card -> Discord messages: prose as content, panels as embeds, richer nodes as components. Pure;
deterministic.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from bridge.content.cards.rendering import NativeMessage, Rendering, Written
from bridge.content.cards.tree import Actions, Card, Container, Context, Node, Nodes, Prose
from bridge.content.cards.writing import runs_within
from bridge.content.text.split import split_text
from connectors.discord.cards import limits, schemas
from connectors.discord.cards.write_embeds import Embed, is_embeddable, join_prose, write_embeds
from connectors.discord.cards.write_messages import pack, safe_message
from connectors.discord.cards.write_nodes import WRITERS
from connectors.discord.cards.write_state import Json, Writing
from connectors.discord.cards.write_text import is_small_print

_MAX_DEPTH = 8


def write_card(card: Card, rendering: Rendering) -> Written:
    """Return the messages of a card in order, and the losses."""
    nodes = _ungrouped(card.nodes, 0)
    shape = _shape_of(nodes)
    if shape is not None:
        w = Writing(card, rendering, WRITERS)
        messages = _write_embeds_message(w, shape)
        if messages is not None:
            return Written(messages, tuple(w.losses))
    return write_components(card, rendering)


def write_components(card: Card, rendering: Rendering) -> Written:
    """Return the card as components only.

    A message with V2 components cannot be edited into one without (docs: components/reference).
    """
    w = Writing(card, rendering, WRITERS)
    w.write(card.nodes)
    return Written(pack(w.pieces), tuple(w.losses))


def _ungrouped(nodes: Nodes, depth: int) -> Nodes:
    """Return the nodes with plain groups replaced by their children."""
    if depth >= _MAX_DEPTH or not any(isinstance(node, Container) for node in nodes):
        return nodes
    ungrouped: list[Node] = []
    for node in nodes:
        if isinstance(node, Container) and node == Container(node.nodes, id=node.id):
            ungrouped += _ungrouped(node.nodes, depth + 1)
        else:
            ungrouped.append(node)
    return tuple(ungrouped)


# --- content and embeds ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Shape:
    """Prose, then panels, then buttons and menus."""

    prose: Sequence[Prose | Context]
    panels: Sequence[Container]
    actions: Sequence[Actions]


def _shape_of(nodes: Nodes) -> _Shape | None:
    """Return the parts of a card that a message of content and embeds can hold, else None.

    Buttons below panels, or at the end of the last one, stand below the embeds; buttons without
    panels need components.
    """
    prose: list[Prose | Context] = []
    panels: list[Container] = []
    actions: list[Actions] = []
    for node in nodes:
        if isinstance(node, Actions) and panels:
            actions.append(node)
        elif actions:
            return None
        elif isinstance(node, Container) and node.form == "panel":
            panel, own = _without_actions(node)
            panels.append(panel)
            actions += own
        elif panels:
            return None
        elif isinstance(node, Prose) or (isinstance(node, Context) and is_small_print(node)):
            prose.append(node)
        else:
            return None
    return _Shape(prose, panels, actions)


def _without_actions(panel: Container) -> tuple[Container, list[Actions]]:
    """Return the panel and the action rows at its end, which stand below the embed."""
    nodes, rows = list(panel.nodes), list[Actions]()
    while len(nodes) > 1 and isinstance(last := nodes[-1], Actions):
        rows.insert(0, last)
        nodes.pop()
    return (replace(panel, nodes=tuple(nodes)), rows) if rows else (panel, [])


def _write_embeds_message(w: Writing, shape: _Shape) -> tuple[NativeMessage, ...] | None:
    """Return messages of content, embeds and rows; None if a part has no place in them."""
    if not all(is_embeddable(w, panel) for panel in shape.panels):
        return None
    text = join_prose(w, shape.prose)
    texts = [part.strip() for part in split_text(text, limits.CONTENT)] if text else []
    embeds = [embed for panel in shape.panels for embed in write_embeds(w, panel)]
    w.write(shape.actions)
    rows = [piece.body for piece in w.pieces]
    if len(rows) > limits.ROWS * bool(embeds) or any(
        row["type"] != schemas.ACTION_ROW for row in rows
    ):
        return None
    return tuple(_messages(texts, embeds, rows))


def _messages(
    texts: Sequence[str], embeds: Sequence[Embed], rows: Sequence[Json]
) -> Iterable[NativeMessage]:
    """Yield the messages: the last text above the first embeds, the rows below the last."""
    groups = _groups(embeds)
    above = texts[-1:] if groups else ()
    for text in texts[: len(texts) - len(above)]:
        yield safe_message({"content": text})
    for number, group in enumerate(groups):
        body: Json = {"content": above[0]} if above and not number else {}
        body["embeds"] = [embed.body for embed in group]
        if above and not number:
            body["content"] = _without_previews(above[0], group)
        if rows and number == len(groups) - 1:
            body["components"] = [*rows]
        yield safe_message(body, tuple(file for embed in group for file in embed.files))


def _without_previews(text: str, embeds: Iterable[Embed]) -> str:
    """Return the text with links to the embeds' URLs in angle brackets, so that Discord adds no
    second preview."""
    for embed in embeds:
        url = embed.body.get("url")
        if isinstance(url, str) and url in text:
            without_preview = re.sub(
                rf"(?<!\S){re.escape(url)}(?!\S)", lambda match: f"<{match[0]}>", text
            )
            text = without_preview if len(without_preview) <= limits.CONTENT else text
    return text


def _groups(embeds: Sequence[Embed]) -> list[list[Embed]]:
    """Return groups of embeds that one message can hold each."""
    room = (limits.EMBEDS, limits.EMBED_TOTAL, limits.FILES)
    return [*runs_within(embeds, room, lambda embed: (1, embed.text, len(embed.files)))]
