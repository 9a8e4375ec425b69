"""A form -> the data of Discord's modals: pages of five labels and texts. Pure.

The bridge opens the first page when somebody presses; a page that was sent is followed by the next
behind a button, because a modal may not answer a modal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pydantic import JsonValue

from bridge.content.card import Button, Card, Form, Input, Node, Nodes
from bridge.content.card_walk import walk, within
from bridge.content.rendering import NativeMessage, Rendering, Written
from bridge.content.text import Text
from connectors.discord.cards import limits, schemas
from connectors.discord.cards.write_asked import asked_labels
from connectors.discord.cards.write_buttons import tell_details
from connectors.discord.cards.write_menus import stands_in_message
from connectors.discord.cards.write_nodes import flat_nodes, write_nodes
from connectors.discord.cards.write_state import Json, Writing, content_of, sound
from connectors.discord.cards.write_text import plain

_SEEN = ("label", "placeholder", "content", "description", "url")


def form_behind(card: Card, at: str) -> Form | None:
    """What is asked when the button (or the first of some inputs) that stood at `at` is pressed:
    a submit button sends all inputs that cannot stand in a message, “Fill in” those of its group.
    None for a button that asks nothing."""
    pressed = next(
        (one for one in walk(card.nodes) if isinstance(one, Button | Input) and one.at == at), None
    )
    if isinstance(pressed, Input):
        group = _group_of(card.nodes, pressed)
        return Form(plain(pressed.label) or card.summary, group, at=at) if group else None
    if pressed is None or pressed.does != "submit":
        return None
    asked = tuple(
        one for one in walk(card.nodes) if isinstance(one, Input) and not stands_in_message(one)
    )
    return Form(plain(pressed.label), asked, id=pressed.id, at=at) if asked else None


def _group_of(nodes: Nodes, first: Input) -> Nodes:
    """The inputs that stand together, from the first on."""
    for siblings in (nodes, *(tuple(within(one)) for one in walk(nodes))):
        for index, one in enumerate(siblings):
            if one is first:
                return tuple(_run(siblings[index:]))
    return ()


def _run(siblings: Sequence[Node]) -> Iterator[Node]:
    for one in siblings:
        if not isinstance(one, Input) or stands_in_message(one):
            return
        yield one


# --- modals ---------------------------------------------------------------------------------


def write_form(form: Form, rendering: Rendering) -> Written:
    """Each message's body is a modal's `title`, `custom_id` and `components`, in order."""
    w = Writing(Card(form.nodes), rendering, write_nodes)
    parts = _parts(w, form.nodes)
    words = " · ".join(one for one in (form.submit, form.close) if one.strip())
    if words:
        w.lose(form.at, "form_buttons", words, "Discord's own words")
    pages = [parts[at : at + limits.MODAL] for at in range(0, len(parts), limits.MODAL)]
    bodies = [_modal(w, form, page, number, len(pages)) for number, page in enumerate(pages, 1)]
    return Written(tuple(NativeMessage(body) for body in bodies), tuple(w.losses))


def _modal(w: Writing, form: Form, page: Sequence[Json], number: int, pages: int) -> Json:
    count = f" ({number}/{pages})" if pages > 1 else ""
    title, room = plain((Text(form.title),)) or "…", limits.MODAL_TITLE - len(count)
    shown = w.cut(title, room, form.at, "cut_title") if number == 1 else title[:room].strip()
    custom_id = w.action_id(form.at) if form.at else None
    own = w.unique_id(sound(form.id)) if custom_id is None and form.id.strip() else None
    return {
        "title": shown + count,
        "custom_id": custom_id or own or w.unique_id("form") or "form",
        "components": [*page],
    }


def _parts(w: Writing, nodes: Nodes) -> list[Json]:
    """Labels, and texts between them."""
    parts: list[Json] = []
    texts: list[str] = []
    for node in flat_nodes(w, nodes):
        if isinstance(node, Input):
            parts += (*_displays(texts), *asked_labels(w, node))
            texts = []
        elif isinstance(node, Button) and node.does != "open":
            tell_details(w, node)
            w.lose(node.at, "form_button", plain(node.label) or "button")
        else:
            write_nodes(w, (node,))
            texts += _texts(w, node)
            w.pieces.clear()
    return [*parts, *_displays(texts)]


def _displays(texts: Sequence[str]) -> Iterator[Json]:
    """As few text displays as hold them: each takes the place of an input."""
    run = ""
    for text in texts:
        if run and len(run) + len(text) + 1 > limits.TEXT:
            yield {"type": schemas.TEXT_DISPLAY, "content": run}
            run = ""
        run += "\n" * bool(run) + text
    if run:
        yield {"type": schemas.TEXT_DISPLAY, "content": run}


def _texts(w: Writing, node: Node) -> Iterator[str]:
    """What was written of it, as far as modals show it: they hold no pictures and no links."""
    for piece in w.pieces:
        kind = piece.body["type"]
        if kind == schemas.TEXT_DISPLAY:
            yield content_of(piece)
        elif kind != schemas.SEPARATOR:
            words = " ".join(_words_in(piece.body))
            w.lose(getattr(node, "at", ""), "not_in_form", words or node.type)


def _words_in(body: Json) -> Iterator[str]:
    """What a component that modals do not have would show."""
    stack: list[JsonValue] = [body]
    while stack:
        one = stack.pop()
        if isinstance(one, list):
            stack += reversed(one)
        elif isinstance(one, dict):
            yield from (said for key in _SEEN if isinstance(said := one.get(key), str))
            stack += [value for value in reversed(one.values()) if isinstance(value, dict | list)]
