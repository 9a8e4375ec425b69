"""The words of inputs, and their options and bounds as Discord takes them. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue

from bridge.content.cards.degrade import timestamp
from bridge.content.cards.input_text import kind_of_input, words
from bridge.content.cards.tree import (
    Choice,
    Confirm,
    DateInput,
    Input,
    NumberInput,
    Option,
    Picker,
    TextInput,
    Toggle,
)
from bridge.content.text.emoji import short_name_of
from bridge.content.text.inlines import plain_inlines
from bridge.content.text.tree import Inline, Text
from connectors.discord.cards import limits, schemas
from connectors.discord.cards.read_inputs import ROLE
from connectors.discord.cards.write_state import Json, Writing, sound
from connectors.discord.cards.write_text import plain

Line = tuple[Inline, ...]

_DIGITS = 20  # of the largest 64-bit id
_PICKERS = {
    "people": (schemas.USER_SELECT, "user"),
    "roles": (schemas.ROLE_SELECT, "role"),
    "mentionables": (schemas.MENTIONABLE_SELECT, "user"),
    "channels": (schemas.CHANNEL_SELECT, "channel"),
    "conversations": (schemas.CHANNEL_SELECT, "channel"),
}


def input_words(node: Input) -> str:
    """Return all words of an input, in order."""
    return " · ".join(word for word in _input_words(node) if word.strip())


def _input_words(node: Input) -> Iterator[str]:
    yield plain_inlines(node.label)
    yield plain_inlines(value_line(node))
    yield node.placeholder
    if isinstance(node, Choice):
        for option in node.options:
            yield from option_words(option)
    yield plain_inlines(node.hint)
    yield node.error
    yield confirm_words(node.confirm)


def input_name(node: Input, names: Mapping[int, Line]) -> str:
    """Return the input's name: its label, the text before it, its placeholder, or its kind."""
    title = node.title if isinstance(node, Toggle) else ()
    label = node.label or title or names.get(id(node), ())
    return plain(label) or sound(node.placeholder).strip() or kind_of_input(node)


def value_line(node: Input) -> Line:
    """Return the input's current value, if people may see it; a checkbox with its title."""
    match node:
        case Toggle(title=title, value=value):
            return (Text("☑ " if value else "☐ "), *title) if title or value else ()
        case TextInput(format="password"):
            return ()
        case DateInput(value=value, of="datetime") if _is_moment(value):
            return (timestamp(int(value)),)
        case TextInput(value=value) | DateInput(value=value):
            return words(sound(value).strip())
        case NumberInput(value=float() | int() as number):
            return (Text(number_words(number)),)
        case Choice(options=options, values=values):
            return _chosen(options, frozenset(values))
        case _:
            return ()


def _is_moment(value: str) -> bool:
    return value.isascii() and value.isdigit() and len(value) < _DIGITS


def _chosen(options: Sequence[Option], values: frozenset[str]) -> Line:
    labels = [option.label for option in options if option.value in values and option.label]
    return tuple(inline for label in labels for inline in (Text(", "), *label))[1:]


def number_words(value: float) -> str:
    """Return the number as text: `4`, `4.5`, without trailing zeros."""
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(value)


def option_words(option: Option) -> Iterator[str]:
    yield from (option.group, option.emoji)
    yield plain_inlines(option.label)
    yield plain_inlines(option.description)
    yield option.url


def confirm_words(confirm: Confirm | None) -> str:
    if confirm is None:
        return ""
    texts = (confirm.title, plain_inlines(confirm.text), confirm.ok, confirm.cancel)
    return " · ".join(text for text in texts if text.strip())


def with_room(inputs: Sequence[Input], pages: int = limits.FORM_PAGES) -> list[Input]:
    """Return the inputs that fit a form's pages; required ones take precedence."""
    room = pages * limits.MODAL
    selected_ids = {id(item) for item in sorted(inputs, key=lambda item: not item.required)[:room]}
    return [item for item in inputs if id(item) in selected_ids]


# --- values ---------------------------------------------------------------------------------


def option_values(choice: Choice) -> tuple[str, ...]:
    """Return the option values for Discord: numbers if a value is too long, empty or repeated."""
    values = tuple([option.value for option in choice.options])
    if len(set(values)) == len(values) and all(map(_is_usual, values)):
        return values
    return tuple(map(str, range(len(values))))


def _is_usual(value: str) -> bool:
    return 0 < len(value) <= limits.OPTION and value.isprintable() and value == value.strip()


def chosen_values(choice: Choice, picked: Sequence[str]) -> tuple[str, ...]:
    """Return the author's values for values from Discord: the inverse of `option_values`."""
    values = dict(
        zip(option_values(choice), (option.value for option in choice.options), strict=True)
    )
    return tuple(values.get(item, item) for item in picked)


# --- options --------------------------------------------------------------------------------


class Options:
    """The options of a choice as Discord's menus take them, in parts."""

    def __init__(self, w: Writing, choice: Choice, *, emoji: bool = True) -> None:
        self._w = w
        self._options = choice.options
        self._values = option_values(choice)
        self._chosen = frozenset(choice.values)
        self._emoji = emoji

    def at(self, places: Sequence[int], maximum: int) -> list[JsonValue]:
        """Return the options at these places; at most `maximum` default values are marked."""
        bodies: list[JsonValue] = []
        for place in places:
            option = self._options[place]
            body = _option(self._w, option, self._values[place], emoji=self._emoji)
            if maximum and option.value in self._chosen:
                body["default"] = True
                maximum -= 1
            bodies.append(body)
        return bodies


def _option(w: Writing, option: Option, value: str, *, emoji: bool) -> Json:
    label, sign = plain(option.label), option.emoji.strip()
    body: Json = {"label": "", "value": value}
    if sign and emoji and is_emoji(sign):
        body["emoji"] = {"name": sign}
    elif sign:
        label = f"{sound(sign)} {label}".strip()
    body["label"] = w.cut(label or sound(value), limits.OPTION, option.at, "cut_option")
    if description := _description(w, option):
        body["description"] = w.cut(description, limits.OPTION, option.at, "cut_option")
    return body


def _description(w: Writing, option: Option) -> str:
    """Return the option's description, after the heading of its group if both fit.

    Discord's menus have no headings.
    """
    description, group = plain(option.description), " ".join(sound(option.group).split())
    both = " · ".join(text for text in (group, description) if text)
    if not group or len(both) <= limits.OPTION:
        return both
    w.lose(option.at, "option_group", group)
    return description


def is_emoji(sign: str) -> bool:
    """Return whether Discord accepts the text as an emoji."""
    return short_name_of(sign) is not None


def chosen_bounds(node: Choice | Picker, room: int) -> Json:
    """Return `min_values` and `max_values` for at most `room` values; the default is one."""
    if not node.many:
        return {"min_values": 0} if node.min == 0 else {}
    maximum = min(max(node.max or room, 1), room)
    minimum = node.min if node.min is not None else int(node.required)
    return {"min_values": min(max(minimum, 0), maximum), "max_values": maximum}


def max_chosen(node: Choice | Picker, room: int) -> int:
    maximum = chosen_bounds(node, room).get("max_values")
    return maximum if isinstance(maximum, int) else 1


# --- pickers --------------------------------------------------------------------------------


def picker_body(w: Writing, node: Picker, custom_id: str) -> Json:
    kind, default_type = _PICKERS[node.of]
    body: Json = {"type": kind, "custom_id": custom_id, **chosen_bounds(node, limits.OPTIONS)}
    snowflakes = [value for value in node.values if _is_snowflake(value.removeprefix(ROLE))]
    for value in node.values:
        if value not in snowflakes:
            w.lose(node.at, "picked_before", value)
    if snowflakes:
        body["default_values"] = [
            {"id": key.removeprefix(ROLE), "type": "role" if key[0] == ROLE else default_type}
            for key in list(dict.fromkeys(snowflakes))[: max_chosen(node, limits.OPTIONS)]
        ]
    return body


def _is_snowflake(value: str) -> bool:
    return value.isascii() and value.isdigit() and value[0] != "0" and len(value) < _DIGITS
