"""Choices and pickers -> menus, each in its own row; those without a receiver become text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bridge.content.cards.input_text import input_as_blocks, words
from bridge.content.cards.tree import Button, Choice, Input, Picker
from bridge.content.text.urls import safe_url
from connectors.discord.cards import limits, schemas
from connectors.discord.cards.write_buttons import Row
from connectors.discord.cards.write_inputs import (
    Options,
    chosen_bounds,
    confirm_words,
    input_words,
    max_chosen,
    picker_body,
)
from connectors.discord.cards.write_state import Json, Writing, sound
from connectors.discord.cards.write_text import (
    bold,
    plain,
    say,
    say_line,
    say_small,
    supported_markdown,
)

_SHOWN_LATER = "said when it is wrong"


def stands_in_message(node: Input) -> bool:
    """Return whether messages can show the input: menus can, other inputs need a form."""
    if isinstance(node, Choice):
        return bool(node.options) and not node.external
    return isinstance(node, Picker)


def write_menu(w: Writing, node: Input) -> None:
    if isinstance(node, Choice) and all(_is_link(option.url) for option in node.options):
        _write_links(w, node)
        return
    custom_id = w.action_id(node.at)
    if custom_id is None:
        write_as_text(w, node)
        return
    placeholder = sound(node.placeholder).strip()
    label = plain(node.label)
    if label and not placeholder and len(label) <= limits.PLACEHOLDER - 10:
        placeholder = label
    else:
        say_line(w, bold(node.label), node.at)
    if isinstance(node, Choice):
        _write_choice(w, node, custom_id, placeholder)
    elif isinstance(node, Picker):
        _add_menu(w, node, picker_body(w, node, custom_id), placeholder)
    say_small(w, node.hint, node.at)
    lose_input_details(w, node)


def _write_links(w: Writing, node: Choice) -> None:
    """Write a menu of links as a row of link buttons below its label."""
    say_line(w, bold(node.label), node.at)
    say_small(w, words(sound(node.placeholder).strip()), node.at)
    _write_option_links(w, node, range(len(node.options)))
    say_small(w, node.hint, node.at)
    lose_input_details(w, node)


def _write_choice(w: Writing, node: Choice, custom_id: str, placeholder: str) -> None:
    """Write menus of at most 25 options; options with links become buttons."""
    runs = list(_runs(node))
    menus = sum(1 for are_links, _ in runs if not are_links)
    if menus > 1:
        lost_text = f"{len(node.options)} options in one menu"
        w.lose(node.at, "split_options", lost_text, f"{menus} menus")
    for option in node.options:
        if option.url and not _is_link(option.url):
            w.lose(option.at or node.at, "unsafe_link", option.url)
    options, number = Options(w, node), 0
    for are_links, places in runs:
        if are_links:
            _write_option_links(w, node, places)
            continue
        number += 1
        if number > 1:
            custom_id = w.action_id(node.at) or custom_id
        count = f" ({number}/{menus})" if menus > 1 else ""
        room = len(places)
        body: Json = {"type": schemas.STRING_SELECT, "custom_id": custom_id}
        body["options"] = options.at(places, max_chosen(node, room))
        body |= chosen_bounds(node, room)
        if menus > 1 and node.many:
            body["min_values"] = 0
        _add_menu(w, node, body, placeholder if number == 1 else "…", count)


def _runs(node: Choice) -> Iterable[tuple[bool, list[int]]]:
    """Yield the places of up to 25 adjacent options, and whether they are links."""
    places: list[int] = []
    for place, option in enumerate(node.options):
        is_link = _is_link(option.url)
        if places and (
            _is_link(node.options[places[0]].url) != is_link or len(places) == limits.OPTIONS
        ):
            yield _is_link(node.options[places[0]].url), places
            places = []
        places.append(place)
    if places:
        yield _is_link(node.options[places[0]].url), places


def _is_link(url: str) -> bool:
    return bool(url) and safe_url(url) is not None


def _write_option_links(w: Writing, node: Choice, places: Sequence[int]) -> None:
    row = Row(w)
    group = ""
    for place in places:
        option = node.options[place]
        if option.group.strip() and option.group != group:
            w.lose(option.at or node.at, "option_group", option.group)
        group = option.group
        row.add(
            Button(
                option.label, does="open", url=option.url, emoji=option.emoji,
                disabled=node.disabled, at=option.at,
            )
        )  # fmt: skip
        if option.description:
            w.lose(option.at, "option_description", plain(option.description))
    row.end()


def _add_menu(
    w: Writing, node: Choice | Picker, body: Json, placeholder: str, count: str = ""
) -> None:
    if placeholder or count:
        room = limits.PLACEHOLDER - len(count)
        body["placeholder"] = w.cut(placeholder, room, node.at, "cut_placeholder") + count
    if node.disabled:
        body["disabled"] = True
    w.add({"type": schemas.ACTION_ROW, "components": [body]}, count=2)


def lose_input_details(w: Writing, node: Input) -> None:
    if node.error:
        w.lose(node.at, "input_error", node.error, _SHOWN_LATER if w.accepts_presses else "")
    if node.confirm is not None:
        w.lose(node.at, "confirm_dialog", confirm_words(node.confirm) or "?", "asked when chosen")


def write_as_text(w: Writing, node: Input) -> None:
    """Write the input as text: no agent would receive the answer."""
    say(w, supported_markdown(w, input_as_blocks(node), node.at))
    shown_as = w.rendering.origin or "text"
    w.lose(node.at, "foreign_action", input_words(node) or node.type, shown_as)
