"""Buttons, menus and inputs that stand together -> rows of components; inputs that cannot stand in
a message are a form behind a button.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bridge.content.card import Button, Input
from bridge.content.card_walk import walk
from bridge.content.text import Break, Inline, Text
from connectors.discord.cards import schemas
from connectors.discord.cards.write_buttons import STYLES, Row, tell_details
from connectors.discord.cards.write_inputs import filled_in, input_words, with_room
from connectors.discord.cards.write_menus import stands_in_message, write_as_text, write_menu
from connectors.discord.cards.write_state import Writing
from connectors.discord.cards.write_text import bold, plain, say_line, say_small

Line = tuple[Inline, ...]

FILL_IN = "Fill in"


def write_actions(w: Writing, items: Iterable[Button | Input]) -> None:
    """Buttons in rows of five, each menu in its own; inputs that stand together are one form."""
    row = Row(w)
    asked: list[Input] = []
    for item in items:
        if not isinstance(item, Button) and not stands_in_message(item):
            asked.append(item)
            continue
        if asked:
            _write_form_button(w, asked, row)
            asked = []
        if not isinstance(item, Button):
            row.end()
            write_menu(w, item)
        elif item.does in ("reveal", "toggle"):
            row.end()
            _write_shown(w, item)
        else:
            row.add(item)
    if asked:
        _write_form_button(w, asked, row)
    row.end()


def _write_shown(w: Writing, node: Button) -> None:
    """What a press would show is shown: below its label, or where it stands anyway."""
    tell_details(w, node)
    label = plain(node.label)
    if node.does == "toggle":
        words = f"{node.emoji} {label}".strip() or "button"
        w.lose(node.at, "toggle_shown", words, "what it hides is shown")
        return
    sign: Line = (Text(f"{node.emoji} "),) if node.emoji else ()
    say_line(w, (*sign, *bold(node.label)), node.at)
    w.lose(node.at, "reveal_shown", label or "button", "what it shows is below it")
    w.write(node.nodes)


def _write_form_button(w: Writing, asked: Sequence[Input], row: Row) -> None:
    """What is asked, and filled in already, in small print; the card's own submit button opens the
    form, else a button that stands here."""
    token = w.rendering.token
    if token is None or not token(asked[0].at):
        row.end()
        for node in asked:
            write_as_text(w, node)
        return
    lines = [one for node in asked if (one := _asked_line(node))]
    if lines:
        row.end()
        more = any(filled_in(node) or node.hint for node in asked)
        gap: Inline = Break() if more else Text(" · ")
        spaced = [each for one in lines for each in (gap, *one)]
        say_small(w, tuple(spaced[1:]), asked[0].at)
    for node in asked:
        words = input_words(node) or node.type
        if _has_room(w, node):
            w.lose(node.at, "input_in_form", words, "a form behind a button")
        else:
            w.lose(node.at, "input_without_room", words)
    if not _has_submit(w) and (custom_id := w.action_id(asked[0].at)):
        style = STYLES["default"]
        row.add_body(
            {"type": schemas.BUTTON, "style": style, "label": FILL_IN, "custom_id": custom_id}
        )


def _asked_line(node: Input) -> Line:
    """`label: what is filled in · hint`."""
    found = list(node.label)
    colon = " " if plain(node.label).endswith((":", "?")) else ": "
    for gap, part in ((colon, filled_in(node)), (" · ", node.hint)):
        if part:
            found += (Text(gap), *part) if found else part
    return tuple(found)


def _has_room(w: Writing, node: Input) -> bool:
    """Whether the pages of the card's form can ask it, too."""
    if w.without_room is None:
        asked = [one for one in walk(w.card.nodes) if isinstance(one, Input)]
        kept = {id(one) for one in with_room(asked)}
        w.without_room = frozenset(one.at for one in asked if id(one) not in kept)
    return node.at not in w.without_room


def _has_submit(w: Writing) -> bool:
    """Whether some button of the card sends its inputs: it opens the form then."""
    if w.submits is None:
        token = w.rendering.token
        w.submits = any(
            isinstance(node, Button) and node.does == "submit" and token and token(node.at)
            for node in walk(w.card.nodes)
        )
    return w.submits
