"""A form -> the data of Discord's modals: pages of five labels and texts. Pure.

The bridge opens the first page on a press. After a submitted page, a button opens the next, because
Discord does not open a modal in answer to a modal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pydantic import JsonValue

from bridge.content.cards.forms import forms_of, texts_that_name
from bridge.content.cards.rendering import NativeMessage, Rendering, Written
from bridge.content.cards.tree import Button, Card, Form, Input, Node, Nodes
from bridge.content.cards.walk import walk, within
from bridge.content.text.plain import blocks_as_line
from bridge.content.text.tree import Text
from connectors.discord.cards import limits, schemas
from connectors.discord.cards.write_actions import has_several_submits, texts_of_form
from connectors.discord.cards.write_buttons import lose_details
from connectors.discord.cards.write_inputs import input_name
from connectors.discord.cards.write_labels import input_labels
from connectors.discord.cards.write_menus import stands_in_message
from connectors.discord.cards.write_nodes import WRITERS
from connectors.discord.cards.write_state import Json, Writing, content_of, sound
from connectors.discord.cards.write_text import plain

_TEXT_KEYS = ("label", "placeholder", "content", "description", "url")


def form_behind(card: Card, action: Button | Input) -> Form | None:
    """Return the form that a press opens; None if it opens none.

    A submit button opens the inputs that it sends, the button of an input group that group.
    """
    if isinstance(action, Button):
        return _form_of_button(card, action)
    if stands_in_message(action):
        return None
    group = [action] if action.dispatches else _group_of(card.nodes, action)
    group = [item for item in group if not item.disabled]
    inputs = _with_labels(card, group)
    title = ", ".join(input_name(item, {}) for item in inputs if isinstance(item, Input))
    return Form(title if len(title) <= limits.MODAL_TITLE else card.summary or title, inputs,
                at=action.at) if inputs else None  # fmt: skip


def _form_of_button(card: Card, button: Button) -> Form | None:
    forms = forms_of(card)
    inputs = [item for item in forms.sent_by(button) if not item.dispatches and not item.disabled]
    if not inputs:
        return None
    revealed_by = forms.revealed_by(button)
    label = plain(button.label)
    if revealed_by is None:
        return Form(label, _with_labels(card, inputs), id=button.id, at=button.at)
    title = plain(revealed_by.label)
    if has_several_submits(revealed_by):
        title = f"{title}: {label}"
    nodes = (*texts_of_form(revealed_by), *_with_labels(card, inputs))
    return Form(title, nodes, id=button.id, at=button.at)


def _with_labels(card: Card, inputs: Sequence[Input]) -> Nodes:
    """Return the inputs; one without a label takes the text before it."""
    names = texts_that_name(card.nodes)
    fields: list[Input] = []
    for node in inputs:
        text = names.get(id(node))
        label = blocks_as_line(text.text) if text is not None else ()
        fields.append(replace(node, label=label) if label else node)
    return tuple(fields)


def _group_of(nodes: Nodes, first: Input) -> list[Input]:
    """Return the adjacent inputs, from the first on."""
    for siblings in (nodes, *(tuple(within(node)) for node in walk(nodes))):
        for index, sibling in enumerate(siblings):
            if sibling is first:
                return list(_adjacent_inputs(siblings[index:]))
    return []


def _adjacent_inputs(siblings: Sequence[Node]) -> Iterator[Input]:
    for sibling in siblings:
        if not isinstance(sibling, Input) or sibling.dispatches or stands_in_message(sibling):
            return
        yield sibling


# --- modals ---------------------------------------------------------------------------------


def write_form(form: Form, rendering: Rendering) -> Written:
    """Return the form's modals in order, and the losses.

    Each message's body is a modal's `title`, `custom_id` and `components`.
    """
    w = Writing(Card(form.nodes), rendering, WRITERS)
    parts = _parts(w, form.nodes)
    words = " · ".join(text for text in (form.submit, form.close) if text.strip())
    if words:
        w.lose(form.at, "form_buttons", words, "Discord's own words")
    pages = [parts[at : at + limits.MODAL] for at in range(0, len(parts), limits.MODAL)]
    bodies = [_modal(w, form, page, number, len(pages)) for number, page in enumerate(pages, 1)]
    return Written(tuple(NativeMessage(body) for body in bodies), tuple(w.losses))


def _modal(w: Writing, form: Form, page: Sequence[Json], number: int, pages: int) -> Json:
    count = f" ({number}/{pages})" if pages > 1 else ""
    title, room = plain((Text(form.title),)) or "…", limits.MODAL_TITLE - len(count)
    cut_title = w.cut(title, room, form.at, "cut_title") if number == 1 else title[:room].strip()
    custom_id = w.action_id(form.at) if form.at else None
    own_id = w.unique_id(sound(form.id)) if custom_id is None and form.id.strip() else None
    return {
        "title": cut_title + count,
        "custom_id": custom_id or own_id or w.unique_id("form") or "form",
        "components": [*page],
    }


def _parts(w: Writing, nodes: Nodes) -> list[Json]:
    """Return the labels of the inputs and the texts between them."""
    parts: list[Json] = []
    texts: list[str] = []
    for node in w.opened(nodes):
        if isinstance(node, Input):
            parts += (*_displays(texts), *input_labels(w, node))
            texts = []
        elif isinstance(node, Button) and node.does != "open":
            lose_details(w, node)
            w.lose(node.at, "form_button", plain(node.label) or "button")
        else:
            w.write((node,))
            texts += _texts(w, node)
            w.pieces.clear()
    return [*parts, *_displays(texts)]


def _displays(texts: Sequence[str]) -> Iterator[Json]:
    """Yield the texts in as few text displays as possible: each takes the place of an input."""
    content = ""
    for text in texts:
        if content and len(content) + len(text) + 1 > limits.TEXT:
            yield {"type": schemas.TEXT_DISPLAY, "content": content}
            content = ""
        content += "\n" * bool(content) + text
    if content:
        yield {"type": schemas.TEXT_DISPLAY, "content": content}


def _texts(w: Writing, node: Node) -> Iterator[str]:
    """Yield the texts written for a node; modals show no pictures and no links."""
    for piece in w.pieces:
        kind = piece.body["type"]
        if kind == schemas.TEXT_DISPLAY:
            yield content_of(piece)
        elif kind != schemas.SEPARATOR:
            words = " ".join(_words_in(piece.body))
            w.lose(getattr(node, "at", ""), "not_in_form", words or node.type)


def _words_in(body: Json) -> Iterator[str]:
    """Yield the words of a component that modals do not support."""
    stack: list[JsonValue] = [body]
    while stack:
        part = stack.pop()
        if isinstance(part, list):
            stack += reversed(part)
        elif isinstance(part, dict):
            yield from (words for key in _TEXT_KEYS if isinstance(words := part.get(key), str))
            stack += [value for value in reversed(part.values()) if isinstance(value, dict | list)]
