"""One input of a form -> label components with the matching inputs of modals. Pure."""

from __future__ import annotations

from datetime import UTC, datetime
from math import isfinite

from bridge.content.cards.input_text import kind_of_input
from bridge.content.cards.tree import (
    Choice,
    DateInput,
    FileInput,
    Input,
    NumberInput,
    Picker,
    TextInput,
    Toggle,
)
from connectors.discord.cards import limits, schemas
from connectors.discord.cards.write_inputs import (
    Options,
    max_chosen,
    number_words,
    option_words,
    picker_body,
)
from connectors.discord.cards.write_menus import lose_input_details
from connectors.discord.cards.write_state import Json, Writing, sound
from connectors.discord.cards.write_text import plain

_DATES = {"date": "YYYY-MM-DD", "time": "HH:MM", "datetime": "YYYY-MM-DD HH:MM"}
_SHORT, _PARAGRAPH = 1, 2
_LONG_VALUE = 100  # longer values get a text input of several lines


def input_labels(w: Writing, node: Input) -> list[Json]:
    """Return the label of an input; several for a choice of many options."""
    lose_input_details(w, node)
    if node.disabled:
        w.lose(node.at, "disabled_input", "cannot be changed", "can be")
    match node:
        case TextInput():
            return [_label(w, node, _text_input(w, node))]
        case NumberInput():
            return [_label(w, node, _number_input(w, node))]
        case DateInput():
            return [_label(w, node, _date_input(w, node))]
        case Toggle():
            return [_label(w, node, _checkbox(w, node))]
        case Choice():
            return _choice(w, node)
        case Picker():
            body = picker_body(w, node, _id(w, node))
            return [_label(w, node, body | _bounds(w, node, limits.OPTIONS))]
        case FileInput():
            return [_label(w, node, _file_upload(w, node))]


def _id(w: Writing, node: Input) -> str:
    custom_id = w.action_id(node.at) if node.at else None
    own_id = w.unique_id(sound(node.id)) if custom_id is None and node.id.strip() else None
    return custom_id or own_id or w.unique_id("input") or "input"


def _label(w: Writing, node: Input, component: Json, number: int = 1, of: int = 1) -> Json:
    count = f" ({number}/{of})" if of > 1 else ""
    room = limits.MODAL_LABEL - len(count)
    name = w.cut(_unlike_others(w, node), room, node.at, "cut_label") if number == 1 else "…"
    body: Json = {"type": schemas.LABEL, "label": f"{name}{count}", "component": component}
    title, hint = plain(node.title) if isinstance(node, Toggle) else "", plain(node.hint)
    if title and plain(node.label):
        hint = f"{title} · {hint}" if hint else title
    if hint and number == 1:
        body["description"] = w.cut(hint, limits.MODAL_HINT, node.at, "cut_hint")
    return body


def _unlike_others(w: Writing, node: Input) -> str:
    """Return the input's name, numbered if it is a derived name that another input has."""
    name = _name(node)
    number = w.labels[name] = w.labels.get(name, 0) + 1
    own = plain(node.label) or (plain(node.title) if isinstance(node, Toggle) else "")
    return name if own or number == 1 else f"{name[: limits.MODAL_LABEL - 8]} ({number})"


def _name(node: Input) -> str:
    """Return the name that Discord requires: label, title, placeholder, or the input's kind."""
    title = plain(node.title) if isinstance(node, Toggle) else ""
    placeholder = _placeholder(node) if _is_named_so(node) else ""
    return plain(node.label) or title or placeholder or kind_of_input(node)


def _is_named_so(node: Input) -> bool:
    return not node.label and 0 < len(_placeholder(node)) <= limits.MODAL_LABEL


def _placeholder(node: Input) -> str:
    return sound(node.placeholder).strip()


def _put_placeholder(w: Writing, node: Input, body: Json, limit: int) -> None:
    if _placeholder(node) and not _is_named_so(node):
        body["placeholder"] = w.cut(_placeholder(node), limit, node.at, "cut_placeholder")


# --- text inputs ----------------------------------------------------------------------------


def _text_input(w: Writing, node: TextInput) -> Json:
    maximum = min(max(limits.INPUT_TEXT if node.max is None else node.max, 1), limits.INPUT_TEXT)
    minimum = min(max(node.min or 0, 0), maximum)
    body = _typed(w, node, "" if node.format == "password" else node.value, maximum)
    if node.multiline:
        body["style"] = _PARAGRAPH
    if minimum and len(str(body.get("value", "x" * minimum))) >= minimum:
        body["min_length"] = minimum
    if maximum < limits.INPUT_TEXT:
        body["max_length"] = maximum
    if node.format not in ("text", "rich"):
        w.lose(node.at, "input_format", node.format, "any text")
    if node.pattern:
        w.lose(node.at, "input_pattern", node.pattern, "any text")
    return body


def _typed(w: Writing, node: Input, value: str, maximum: int = limits.INPUT_TEXT) -> Json:
    body: Json = {"type": schemas.TEXT_INPUT, "custom_id": _id(w, node), "style": _SHORT}
    body["required"] = node.required
    _put_placeholder(w, node, body, limits.INPUT_PLACEHOLDER)
    if text := sound(value).strip():
        text = w.cut(text, maximum, node.at, "cut_value")
        body["value"] = text
        body["style"] = _PARAGRAPH if "\n" in text or len(text) > _LONG_VALUE else _SHORT
    return body


def _number_input(w: Writing, node: NumberInput) -> Json:
    is_number = node.value is not None and isfinite(node.value)
    body = _typed(w, node, number_words(node.value) if is_number and node.value is not None else "")
    bounds = [
        number_words(bound)
        for bound in (node.min, node.max)
        if bound is not None and isfinite(bound)
    ]
    if bounds:
        body.setdefault("placeholder", " – ".join(bounds))
    return body


def _date_input(w: Writing, node: DateInput) -> Json:
    """Return a text input whose placeholder shows the date format: Discord has no calendar."""
    w.lose(node.at, "date_as_text", node.of, _DATES[node.of])
    body = _typed(w, node, _date(node))
    body.setdefault("placeholder", _DATES[node.of])
    return body


def _date(node: DateInput) -> str:
    if node.of != "datetime" or not node.value.isascii() or not node.value.isdigit():
        return node.value
    try:
        return datetime.fromtimestamp(int(node.value[:15]), UTC).strftime("%Y-%m-%d %H:%M")
    except (OverflowError, OSError, ValueError):
        return node.value


# --- chosen ---------------------------------------------------------------------------------


def _checkbox(w: Writing, node: Toggle) -> Json:
    body: Json = {"type": schemas.CHECKBOX, "custom_id": _id(w, node)}
    if node.value:
        body["default"] = True
    if node.required:
        w.lose(node.at, "required_box", "must be ticked", "may be ticked")
    _lose_placeholder(w, node)
    return body


def _choice(w: Writing, node: Choice) -> list[Json]:
    if node.external or not node.options:
        option_texts = [word for option in node.options for word in option_words(option) if word]
        words = " · ".join((node.source or "options found by typing", *option_texts))
        w.lose(node.at, "choice_as_text", words, "any text")
        return [_label(w, node, _typed(w, node, ", ".join(node.values)))]
    places = range(len(node.options))
    if node.form == "list" and len(places) <= limits.GROUP and (node.many or len(places) > 1):
        return [_label(w, node, _boxes(w, node))]
    menu_places = [places[at : at + limits.OPTIONS] for at in range(0, len(places), limits.OPTIONS)]
    if len(menu_places) > 1:
        lost_text = f"{len(places)} options in one menu"
        w.lose(node.at, "split_options", lost_text, f"{len(menu_places)} menus")
    options = Options(w, node)
    menus = (
        _menu(w, node, options, places_of_menu, split=len(menu_places) > 1)
        for places_of_menu in menu_places
    )
    return [_label(w, node, menu, number, len(menu_places)) for number, menu in enumerate(menus, 1)]


def _boxes(w: Writing, node: Choice) -> Json:
    """Return a group of checkboxes or radio buttons."""
    room = len(node.options)
    kind = schemas.CHECKBOX_GROUP if node.many else schemas.RADIO_GROUP
    body: Json = {"type": kind, "custom_id": _id(w, node), "required": node.required}
    maximum = max_chosen(node, room)
    body["options"] = Options(w, node, emoji=False).at(range(room), maximum)
    _lose_placeholder(w, node)
    return body | _bounds(w, node, room) if node.many else body


def _menu(w: Writing, node: Choice, options: Options, places: range, *, split: bool) -> Json:
    body: Json = {"type": schemas.STRING_SELECT, "custom_id": _id(w, node)}
    body["options"] = options.at(places, max_chosen(node, len(places)))
    bounds = _bounds(w, node, len(places))
    return body | bounds | ({"required": False, "min_values": 0} if split else {})


def _bounds(w: Writing, node: Choice | Picker, room: int) -> Json:
    """Return the bounds of a choice; an input that is not required may stay empty."""
    body: Json = {"required": node.required}
    if node.many:
        maximum = max_chosen(node, room)
        body["min_values"] = min(max(node.min or 1, 1), maximum) if node.required else 0
        body["max_values"] = maximum
    if isinstance(node, Choice) and node.form == "list" and room <= limits.GROUP:
        return body
    _put_placeholder(w, node, body, limits.PLACEHOLDER)
    return body


def _lose_placeholder(w: Writing, node: Input) -> None:
    if _placeholder(node) and _name(node) != _placeholder(node):
        w.lose(node.at, "placeholder", node.placeholder)


def _file_upload(w: Writing, node: FileInput) -> Json:
    maximum = min(max(node.max or 1, 1), limits.UPLOADS)
    minimum = min(max(node.min or 0, int(node.required)), maximum)
    if node.kinds:
        w.lose(node.at, "file_kinds", " ".join(node.kinds), "any file")
    _lose_placeholder(w, node)
    return {
        "type": schemas.FILE_UPLOAD,
        "custom_id": _id(w, node),
        "min_values": minimum,
        "max_values": maximum,
        "required": node.required,
    }
