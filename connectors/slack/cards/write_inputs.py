"""Inputs -> elements in input blocks, in actions blocks or beside a section; else text.

Inputs become text where the answer would not arrive, and where Slack has no element.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard, get_args

from bridge.content.cards import degrade
from bridge.content.cards.input_text import input_as_blocks, kind_of_input
from bridge.content.cards.tree import Choice, Input, Node, Toggle
from bridge.content.text.plain import blocks_as_line, text_to_plain
from bridge.content.text.tree import Inline, Text
from connectors.slack.capabilities import INPUT_LABEL, PLACEHOLDER
from connectors.slack.cards.write_confirm import add_confirm, lose_confirm
from connectors.slack.cards.write_elements import elements_of
from connectors.slack.cards.write_pieces import Json, Piece, Writing
from connectors.slack.cards.write_texts import (
    bold_mrkdwn,
    document_to_mrkdwn,
    labelled,
    length,
    one_line,
    plain,
    section,
    shortened,
    words,
)

Line = tuple[Inline, ...]

_INPUTS = get_args(Input)
_TEXT = "plain_text_input"
_HINTING = frozenset(("datepicker", "timepicker", _TEXT))  # and all menus except overflow
_SHOWN_ON_ERROR = "said when it is wrong"


def is_input(node: Node) -> TypeGuard[Input]:
    return isinstance(node, _INPUTS)


def write_input(writing: Writing, node: Input) -> None:
    """An input block with its label; the further menus of a split one go below it."""
    elements = _elements(writing, node)
    if not elements:
        _write_words(writing, node)
        return
    first, *more = elements
    if first["type"] == _TEXT and not words(_label(node)):
        node = _named(writing, node, first)
    block = _block(writing, node, first)
    writing.pieces.append(Piece(block))
    writing.pieces += [Piece({"type": "actions", "elements": [element]}) for element in more]
    _write_notes(writing, node, with_hint="hint" not in block)


def _named(writing: Writing, node: Input, element: Json) -> Input:
    """The input with a label, which Slack requires: the text before it, else its placeholder, else
    its kind."""
    name = writing.names.get(id(node))
    if (
        name is not None
        and writing.pieces
        and writing.pieces[-1].block == section(document_to_mrkdwn(name.text))
    ):
        writing.pieces.pop()
        return replace(node, label=blocks_as_line(name.text))
    if one_line(node.placeholder):
        element.pop("placeholder", None)
        return replace(node, label=(Text(node.placeholder),))
    return replace(node, label=(Text(kind_of_input(node)),))


def element_in_row(writing: Writing, node: Input) -> Json | None:
    """The element in an actions block; its label becomes the placeholder."""
    return _bare_element(writing, node, frozenset((_TEXT,)))


def element_beside(writing: Writing, node: Input) -> Json | None:
    return _bare_element(writing, node, frozenset((_TEXT, "datetimepicker")))


def _bare_element(writing: Writing, node: Input, refused: frozenset[str]) -> Json | None:
    """The element without a block, if nothing is lost; else None."""
    label = _label(node)
    is_named = words(label) != ""
    if node.hint or node.error.strip() or (is_named and one_line(node.placeholder)):
        return None
    before = writing.checkpoint()
    elements = _elements(writing, node)
    if len(elements) == 1 and (kind := elements[0]["type"]) not in refused:
        if not is_named:
            return elements[0]
        if _has_placeholder(kind):
            elements[0]["placeholder"] = labelled(writing, label, PLACEHOLDER, node.at, "long_text")
            return elements[0]
    writing.roll_back_to(before)
    return None


# --- blocks ---------------------------------------------------------------------------------


def _block(writing: Writing, node: Input, element: Json) -> Json:
    label, kind = _label(node), element["type"]
    if kind == "overflow" and (text := bold_mrkdwn(label)) and length(text) <= INPUT_LABEL:
        return {**section(text), "accessory": element}
    label_text = labelled(writing, label, INPUT_LABEL, node.at, "long_text")
    if kind == "overflow" or (label_text is None and kind != _TEXT):
        return {"type": "actions", "elements": [element]}
    block: Json = {"type": "input", "label": label_text or plain("…"), "element": element}
    if hint := labelled(writing, node.hint, INPUT_LABEL, node.at, "long_text"):
        block["hint"] = hint
    if not node.required:
        block["optional"] = True
    if node.dispatches:
        block["dispatch_action"] = True
    return block


def _label(node: Input) -> Line:
    """The label; a single box without a title uses the label as its text."""
    return () if isinstance(node, Toggle) and not node.title else node.label


def _write_notes(writing: Writing, node: Input, *, with_hint: bool) -> None:
    if with_hint and words(node.hint):
        writing.write((degrade.line_prose(node.hint, node.at, subtle=True),))
    if error := one_line(node.error):
        # Slack shows no custom error; the bridge answers an invalid value with it.
        writing.lose(
            node.at, "input_error", error, _SHOWN_ON_ERROR if writing.accepts_presses else ""
        )


# --- elements -------------------------------------------------------------------------------


def _elements(writing: Writing, node: Input) -> list[Json]:
    """The elements with their action_ids; none when nothing can be filled in."""
    if node.disabled or not writing.accepts_presses or _is_empty(node):
        return []
    elements = elements_of(writing, node)
    token = writing.token(node.at)
    for element in elements:
        element["action_id"] = writing.numbered_id(token)
    first, kind = elements[0], elements[0]["type"]
    if hint := one_line(node.placeholder):
        if _has_placeholder(kind):
            placeholder = shortened(writing, hint, PLACEHOLDER, node.at, "long_text")
            first["placeholder"] = plain(placeholder)
        else:
            writing.lose(node.at, "placeholder", hint)
    if kind == _TEXT:
        lose_confirm(writing, node)
    else:
        add_confirm(writing, first, node)
    return elements


def _is_empty(node: Input) -> bool:
    """Whether the node is a menu without options."""
    return isinstance(node, Choice) and not node.options and not node.external


def _has_placeholder(kind: str) -> bool:
    return kind in _HINTING or kind.endswith("_select")


# --- text -----------------------------------------------------------------------------------


def _write_words(writing: Writing, node: Input) -> None:
    """The question as text, where it cannot be answered."""
    kind = (
        "disabled" if node.disabled else "no_input" if writing.accepts_presses else "foreign_action"
    )
    document = input_as_blocks(node)
    writing.lose(node.at, kind, words(node.label) or f"a {node.type}", "what it asks")
    hint = node.placeholder.strip()
    if hint and hint not in text_to_plain(document):
        writing.lose(node.at, "placeholder", hint)
    lose_confirm(writing, node)
    writing.write((degrade.prose(*document, at=node.at),) if document else ())
    _write_notes(writing, node, with_hint=False)
