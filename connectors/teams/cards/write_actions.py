"""Buttons, overflow menus and rows of actions -> ActionSets."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bridge.content.cards.tree import Action, Actions, Asset, Button, Choice, Option, TextInput
from connectors.teams.cards.write_inputs import foreign, input_elements, lose_confirm
from connectors.teams.cards.write_presses import (
    PRIMARY,
    action_set,
    fold,
    opening,
    press_action,
    with_confirmation,
)
from connectors.teams.cards.write_runs import escape
from connectors.teams.cards.write_state import Element, Writing, plain
from connectors.teams.cards.write_text import text_block

_OWN_ICON = re.compile(r"icon:\w{1,60}(?:,\w{1,20})?\Z")
_STYLES = {"good": "positive", "primary": "positive", "danger": "destructive"}


def actions_row(writing: Writing, node: Actions) -> list[Element]:
    """Return rows of buttons; inputs between them have their own rows.

    A single button after a single text input becomes its inline action.
    """
    match node.items:
        case (TextInput() as text_input, Button(does="press" | "submit" | "open") as button):
            return _with_inline(writing, text_input, button)
        case items:
            return _row(writing, items)


def _with_inline(writing: Writing, text_input: TextInput, button: Button) -> list[Element]:
    elements = input_elements(writing, text_input)
    row = button_row(writing, (button,))
    fits = not text_input.dispatches and elements and elements[0]["type"] == "Input.Text"
    match row:
        case [{"type": "ActionSet", "actions": [{"type": kind} as action]}] if fits:
            if kind != "Action.ShowCard" and "mode" not in action:
                elements[0]["inlineAction"] = action
                return elements
        case _:
            pass
    return [*elements, *row]


def choice_elements(writing: Writing, node: Choice) -> list[Element]:
    """Return an overflow menu as a row of options, another choice as an input."""
    return _row(writing, (node,))


def button_row(writing: Writing, buttons: Iterable[Button]) -> list[Element]:
    return _row(writing, buttons)


def _row(writing: Writing, items: Iterable[Action]) -> list[Element]:
    row = _Row(writing)
    for item in items:
        row.add(item)
    row.end()
    return row.elements


class _Row:
    def __init__(self, writing: Writing) -> None:
        self._writing = writing
        self._actions: list[Element] = []
        self.elements: list[Element] = []

    def add(self, item: Action) -> None:
        if isinstance(item, Button):
            self._button(item)
        elif isinstance(item, Choice) and is_overflow(self._writing, item):
            self._overflow(item)
        else:
            self.end()
            self.elements += input_elements(self._writing, item)

    def end(self) -> None:
        if self._actions:
            self.elements.append(action_set(self._actions))
            self._actions = []

    def _button(self, node: Button) -> None:
        action, below = _action(self._writing, node)
        if action is None:
            self.end()
            self.elements += below
            return
        if action["type"] == "Action.ShowCard" and len(self._actions) >= PRIMARY:
            self.end()
        self._actions.append(action)
        if below:
            self.end()
            self.elements += below

    def _overflow(self, node: Choice) -> None:
        """Add the options of an overflow menu as secondary actions of the row."""
        writing = self._writing
        if label := plain(node.label):
            self.end()
            self.elements.append(text_block(escape(label, starts=True)))
        lose_confirm(writing, node.confirm, node.at)
        words = (node.placeholder, plain(node.hint), node.error)
        if unseen := " / ".join(word for word in words if word.strip()):
            writing.lose(node.at, "menu_words", unseen)
        token = writing.token(node.at)
        self._actions += [_option(writing, option, token, node.at) for option in node.options]


def is_overflow(writing: Writing, node: Choice) -> bool:
    """Return whether a choice is written as secondary actions of a row."""
    return (
        node.form == "overflow"
        and writing.accepts_presses
        and bool(node.options)
        and not node.disabled
    )


def _option(writing: Writing, option: Option, token: str, at: str) -> Element:
    label = plain(option.label)
    title = f"{option.emoji} {label}" if option.emoji else label
    short_title = writing.short(title, option.at or at, "title_cut")
    look: Element = {"title": short_title if short_title.strip() else "…"}
    if option.description:
        look["tooltip"] = writing.short(plain(option.description), option.at or at, "title_cut")
    look["mode"] = "secondary"
    if option.group.strip():
        writing.lose(option.at or at, "option_group", option.group, "options without headings")
    if option.url and (url := writing.link(option.url, option.at or at)):
        return {"type": "Action.OpenUrl", **look, "url": url}
    return press_action(writing, look, {"token": token, "value": option.value})


# --- one button ---------------------------------------------------------------------------------


def _action(writing: Writing, node: Button) -> tuple[Element | None, list[Element]]:
    """Return the action and the elements below its row; without an action, its text."""
    look = _look(writing, node)
    if node.does in ("press", "submit") and not writing.accepts_presses:
        return _foreign(writing, node, look)
    action, below = _effect(writing, node, look)
    if action is None:
        return None, _as_text(writing, node, look)
    if node.confirm is None:
        return action, below
    return with_confirmation(writing, node.confirm, look, action, below, node.at)


def _effect(writing: Writing, node: Button, look: Element) -> tuple[Element | None, list[Element]]:
    match node.does:
        case "press" | "submit":
            data = {"token": writing.token(node.at)}
            return press_action(writing, look, data, submits=node.does == "submit"), []
        case "open":
            url = writing.link(node.url, node.at)
            return {"type": "Action.OpenUrl", **look, "url": url} if url else None, []
        case "toggle":
            writing.toggles += 1
            names = [writing.id_of(target) for target in node.targets]
            return {"type": "Action.ToggleVisibility", **look, "targetElements": names}, []
        case "reveal":
            return _reveal(writing, node, look)


def _reveal(writing: Writing, node: Button, look: Element) -> tuple[Element, list[Element]]:
    """Return a reveal action; clients open one level of cards (AdaptiveCards #4233, 2020-06)."""
    shows = writing.shows
    writing.shows = False
    items = writing.elements(node.nodes)
    writing.shows = shows
    if shows and node.confirm is None:
        return opening(items, look), []
    opens, part = fold(writing, items)
    return {**opens, **look}, [part]


def _look(writing: Writing, node: Button) -> Element:
    label = writing.short(plain(node.label), node.at, "title_cut")
    title = f"{node.emoji} {label}".strip() if node.emoji else label if label.strip() else ""
    hint = writing.short(node.hint, node.at, "title_cut") if node.hint.strip() else ""
    look: Element = {"title": title or hint or ("Show more" if node.does == "toggle" else "…")}
    if style := _STYLES.get(node.style):
        look["style"] = style
    if hint and title:
        look["tooltip"] = hint
    if node.disabled:
        look["isEnabled"] = False
    if node.secondary:
        look["mode"] = "secondary"
    if node.icon is not None:
        _add_icon(writing, node.icon, look, node.at)
    return look


def _add_icon(writing: Writing, icon: Asset, look: Element, at: str) -> None:
    """Add an icon: a picture, or one of Teams' set; its description becomes the tooltip."""
    if _OWN_ICON.match(icon.name):
        look["iconUrl"] = icon.name
    elif url := writing.picture(icon):
        look["iconUrl"] = url
    if icon.alt and "tooltip" not in look:
        look["tooltip"] = writing.short(icon.alt, at, "title_cut")
    elif icon.alt:
        writing.lose(at, "icon_words", icon.alt)


def _foreign(writing: Writing, node: Button, look: Element) -> tuple[Element | None, list[Element]]:
    """Return a link to the original message: nobody would receive a press."""
    url = foreign(writing, look["title"], node.at)
    if not url:
        return None, _as_text(writing, node, look)
    lose_confirm(writing, node.confirm, node.at)
    return {"type": "Action.OpenUrl", **look, "url": url}, []


def _as_text(writing: Writing, node: Button, look: Element) -> list[Element]:
    lose_confirm(writing, node.confirm, node.at)
    if "tooltip" in look:
        writing.lose(node.at, "hint_dropped", look["tooltip"])
    return [text_block(escape(look["title"], starts=True))]
