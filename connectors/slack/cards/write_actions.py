"""Buttons -> button elements, rows of actions -> actions blocks.

A button whose presses would not arrive becomes a link to the original; one that cannot be pressed
becomes text.
"""

from __future__ import annotations

from bridge.content.cards import degrade
from bridge.content.cards.tree import Actions, Button, Image, Node
from bridge.content.cards.writing import runs_within
from bridge.content.text.tree import Inline, Strong, Text
from bridge.content.text.urls import safe_url
from connectors.slack.capabilities import ACTIONS, BUTTON_HINT, BUTTON_TEXT, URL
from connectors.slack.cards.write_confirm import add_confirm, lose_confirm
from connectors.slack.cards.write_folds import fold
from connectors.slack.cards.write_inputs import element_beside, element_in_row, is_input
from connectors.slack.cards.write_media import image_element, is_bare
from connectors.slack.cards.write_pieces import Json, Piece, Writing
from connectors.slack.cards.write_size import is_small, item_cost
from connectors.slack.cards.write_texts import (
    labelled,
    line_to_mrkdwn,
    mrkdwn,
    one_line,
    plain,
    shortened,
    words,
)

Line = tuple[Inline, ...]

_STYLES = {"primary": "primary", "good": "primary", "danger": "danger"}
_ROW_CHARACTERS = 8_000
_NAMELESS = "…"


def write_actions(writing: Writing, node: Actions) -> None:
    """The rows of elements; nodes that are not elements go between two rows."""
    row: list[Json] = []
    for item in node.items:
        element = (
            button_element(writing, item)
            if isinstance(item, Button)
            else element_in_row(writing, item)
        )
        if element is not None:
            row.append(element)
            continue
        write_row(writing, row)
        row = []
        writing.write((item,))
    write_row(writing, row)


def write_row(writing: Writing, row: list[Json]) -> None:
    """The elements as actions blocks."""
    if 0 < len(row) <= ACTIONS and is_small(row, _ROW_CHARACTERS):
        writing.pieces.append(Piece({"type": "actions", "elements": row}))
        return
    for elements in runs_within(row, (ACTIONS, _ROW_CHARACTERS), item_cost):
        writing.pieces.append(Piece({"type": "actions", "elements": elements}))


def accessory_element(writing: Writing, node: Node) -> Json | None:
    """The element beside a section; None for a node that cannot be an accessory."""
    if isinstance(node, Image):
        return image_element(writing, node) if is_bare(node) else None
    if isinstance(node, Button):
        return button_element(writing, node)
    return element_beside(writing, node) if is_input(node) else None


# --- buttons --------------------------------------------------------------------------------


def write_button(writing: Writing, node: Button) -> None:
    element = button_element(writing, node)
    if element is not None:
        write_row(writing, [element])
    elif node.disabled:
        _write_words(writing, node, "disabled", "its words")
    elif node.does == "reveal":
        _reveal(writing, node)
    elif node.does == "toggle":
        writing.toggled.append(node)
        _lose_side_effects(writing, node)
    elif node.does == "open":
        _write_words(writing, node, _fault(node.url), node.url)
    else:
        _write_words(writing, node, "foreign_action", _words(node))


def button_element(writing: Writing, node: Button) -> Json | None:
    """The button element; None for a button that can neither be pressed nor opened."""
    target = None if node.disabled else _target(writing, node)
    if target is None:
        return None
    element: Json = {"type": "button", "text": _label(writing, node), **target}
    if style := _STYLES.get(node.style):
        element["style"] = style
    if (hint := one_line(node.hint)) and (node.label or node.emoji):
        label = shortened(writing, hint, BUTTON_HINT, node.at, "long_text")
        element["accessibility_label"] = label
    if node.icon is not None and node.icon.alt:
        writing.lose(node.at, "icon", node.icon.alt)
    add_confirm(writing, element, node)
    return element


def _target(writing: Writing, node: Button) -> Json | None:
    if node.does == "open":
        url = safe_url(node.url)
        return {"url": url} if url and len(url) <= URL else None
    if node.does not in ("press", "submit"):
        return None
    if writing.accepts_presses:
        token = writing.token(node.at)
        return {"action_id": writing.numbered_id(token), "value": token}
    if writing.origin:
        writing.lose(node.at, "foreign_action", _words(node), "a link to the original")
        return {"url": writing.origin}
    return None


def _label(writing: Writing, node: Button) -> Json:
    labelled_text = labelled(writing, button_line(node), BUTTON_TEXT, node.at, "long_text")
    if labelled_text is not None:
        return labelled_text
    label = shortened(writing, one_line(node.hint), BUTTON_TEXT, node.at, "long_text")
    return plain(label or _NAMELESS)


def button_line(node: Button) -> Line:
    return (Text(f"{node.emoji} "), *node.label) if node.emoji else node.label


def _words(node: Button) -> str:
    return words(node.label) or one_line(node.emoji) or one_line(node.hint) or "a button"


def _fault(url: str) -> str:
    return "long_url" if safe_url(url) else "unsafe_url"


# --- buttons written as text ----------------------------------------------------------------


def _write_words(writing: Writing, node: Button, kind: str, lost_text: str) -> None:
    """The label of a button as small print; its other members are losses."""
    shown_as = "its words" if node.does != "open" or node.disabled else "its words, without a link"
    writing.lose(node.at, kind, lost_text if lost_text != "its words" else _words(node), shown_as)
    line = button_line(node)
    if text := line_to_mrkdwn(line):
        context = {"type": "context", "elements": [mrkdwn(text)]}
        if len(text) <= 2_900:
            writing.pieces.append(Piece(context))
        else:
            writing.write((degrade.line_prose(line, node.at),))
    _lose_side_effects(writing, node)
    writing.write(node.nodes)


def _lose_side_effects(writing: Writing, node: Button) -> None:
    for kind, text in (("hint", node.hint), ("icon", node.icon.alt if node.icon else "")):
        if text.strip():
            writing.lose(node.at, kind, text)
    lose_confirm(writing, node)


def _reveal(writing: Writing, node: Button) -> None:
    """The nodes that a press would show: in a container that opens, or below."""
    line = button_line(node)
    _lose_side_effects(writing, node)
    if writing.is_inside or not node.nodes:
        writing.lose(node.at, "reveal_open", _words(node), "what it shows")
        writing.write((degrade.line_prose((Strong(line),), node.at), *node.nodes))
    else:
        fold(writing, line, node.nodes)


def lose_toggles(writing: Writing) -> None:
    """The losses of buttons that open containers: Slack's containers have their own toggle."""
    for node in writing.toggled:
        writing.lose(node.at, "toggle", _words(node), _toggled_as(writing, node))


def _toggled_as(writing: Writing, node: Button) -> str:
    if not writing.folded.isdisjoint(node.targets):
        return "a container that opens"
    return "what it shows" if any(target in writing.toggles for target in node.targets) else ""
