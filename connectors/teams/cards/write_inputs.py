"""Inputs of a card -> Input elements; an input's id is its token. Unsupported inputs become text.

`values_of` parses the value of an input with several choices (the press lists these as `many`),
`typed_values_of` that of several typed values (`typed`); a date with a time returns two values, the
time under the token with `TIME`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from math import isfinite

from bridge.content.cards.input_text import input_as_blocks
from bridge.content.cards.tree import (
    Choice,
    Confirm,
    DateInput,
    FileInput,
    Input,
    NumberInput,
    Option,
    Picker,
    TextInput,
    Toggle,
)
from bridge.content.text.inlines import plain_inlines
from bridge.content.text.tree import Document
from connectors.teams.cards.write_presses import action_set, press_action, with_confirmation
from connectors.teams.cards.write_state import (
    LABEL_LIMIT,
    TITLE_LIMIT,
    VALUE_LIMIT,
    Element,
    Writing,
    plain,
    with_rules,
)
from connectors.teams.cards.write_text import document_elements, line_element

TIME = ":time"
PEOPLE = "graph.microsoft.com/users"
_KINDS = {
    "text_input": "Text", "number_input": "Number", "date_input": "Date", "choice": "Choice",
    "picker": "Names", "file_input": "File",
}  # fmt: skip
_MISSING = "Please fill this in"
_FILTERED = 20  # options; longer menus get a search field
_MAX_CHOSEN = 100
_MAX_CHOICES = 8000  # characters of JSON: a card has room for about 12,000
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}\Z")
_TIME = re.compile(r"\d{2}:\d{2}\Z")
_BETWEEN = re.compile(r"[,\n]")
_UNIX = re.compile(r"-?\d{1,12}\Z")
_NAMED = {
    "channels": ("channels", "#channel"),
    "conversations": ("conversations", "#channel"),
    "roles": ("roles", "@role"),
}
_NATIVE_ID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")


def values_of(text: str) -> list[str]:
    """Return the chosen values of an input with several choices."""
    return (
        [word.replace("%2C", ",").replace("%25", "%") for word in text.split(",")] if text else []
    )


def typed_values_of(text: str) -> list[str]:
    """Return typed values, which commas or line ends separate."""
    return [word for part in _BETWEEN.split(text) if (word := part.strip())]


def _escape_value(value: str) -> str:
    """Escape commas in a value: clients join chosen values with commas."""
    return value.replace("%", "%25").replace(",", "%2C")


def input_elements(writing: Writing, node: Input) -> list[Element]:
    """Return the input, its hint below, and a button beside it if it dispatches at once."""
    if not writing.accepts_presses:
        return _foreign(writing, node)
    if node.disabled:
        return _as_text(writing, node, "input_disabled", "what it holds")
    token = writing.token(node.at)
    elements = _input_elements(writing, node, writing.own_id(token or "input"))
    writing.inputs += 1
    _note_several(writing, node, token, elements[0])
    if node.dispatches:
        elements = _with_button(writing, node, token, elements)
    else:
        writing.waiting_inputs += 1
        lose_confirm(writing, node.confirm, node.at)
    hint = line_element(node.hint, writing, {"isSubtle": True, "size": "small"}, node.at)
    return [*elements, *([] if hint is None else [hint])]


def _note_several(writing: Writing, node: Input, token: str, element: Element) -> None:
    """Note inputs whose value is a list, of choices or of typed values."""
    several = node.many if isinstance(node, Choice | Picker) else isinstance(node, FileInput)
    if several and element["type"] == "Input.Text":
        writing.typed.append(token)
    elif several:
        writing.many.append(token)


def lose_confirm(writing: Writing, confirm: Confirm | None, at: str) -> None:
    """Report a confirmation that cannot be written at this place."""
    if confirm is not None and (words := _confirm_words(confirm)):
        writing.lose(at, "confirm_dialog", words)


def _confirm_words(confirm: Confirm) -> str:
    return _join_words(confirm.title, plain_inlines(confirm.text), confirm.ok, confirm.cancel)


def _join_words(*words: str) -> str:
    return " / ".join(word for word in words if word.strip())


# --- unsupported inputs ------------------------------------------------------------------


def foreign(writing: Writing, lost_text: str, at: str) -> str:
    """Report an action that nobody would receive, and return the link to the original."""
    url = writing.origin
    writing.lose(at, "foreign_action", lost_text, "a link to the original" if url else "text")
    return url


def _foreign(writing: Writing, node: Input) -> list[Element]:
    """Return the question as text, and a link to the original message."""
    url = foreign(writing, _all_words(node), node.at)
    blocks = _blocks(writing, node, input_as_blocks(node))
    if not url:
        return blocks
    title = "Open" if blocks else _name(node)
    return [*blocks, action_set([{"type": "Action.OpenUrl", "title": title, "url": url}])]


def _as_text(writing: Writing, node: Input, kind: str, shown_as: str) -> list[Element]:
    writing.lose(node.at, kind, _all_words(node), shown_as)
    return _blocks(writing, node, input_as_blocks(node))


def _blocks(writing: Writing, node: Input, blocks: Document) -> list[Element]:
    return with_rules(document_elements(blocks, writing, None, node.at))


def _all_words(node: Input) -> str:
    """Return the words of an input without options and hint."""
    confirm = "" if node.confirm is None else _confirm_words(node.confirm)
    placeholder = "" if _name(node) == node.placeholder else node.placeholder
    return _join_words(_name(node), placeholder, node.error, confirm)


def _name(node: Input) -> str:
    return plain(node.label) or node.placeholder or node.type.replace("_", " ")


# --- one input ----------------------------------------------------------------------------------


def _input_elements(writing: Writing, node: Input, token: str) -> list[Element]:
    match node:
        case TextInput():
            return [_text(writing, node, token)]
        case NumberInput():
            return [_number(writing, node, token)]
        case DateInput(of="datetime"):
            return _moment(writing, node, token)
        case DateInput():
            return [_date(writing, node, token)]
        case Toggle():
            return [_toggle(writing, node, token)]
        case Choice():
            return [_choice(writing, node, token)]
        case Picker(of="people" | "mentionables") | Picker(among=("people",)):
            return [_people(writing, node, token)]
        case Picker():
            return [_named(writing, node, token)]
        case FileInput():
            return [_file(writing, node, token)]


def _common(
    writing: Writing, kind: str, node: Input, token: str, *, placeholder: bool = True
) -> Element:
    element: Element = {"type": kind, "id": token}
    if label := plain(node.label):
        element["label"] = writing.short(label, node.at, "label_cut", LABEL_LIMIT)
    if node.placeholder and placeholder:
        element["placeholder"] = writing.short(node.placeholder, node.at, "placeholder_cut")
    if node.required:
        element["isRequired"] = True
        if "label" not in element and node.type != "toggle":  # Teams requires a label here
            element["label"] = element.pop("placeholder", _KINDS[node.type])
    if node.error or node.required:
        error = node.error or _MISSING
        element["errorMessage"] = writing.short(error, node.at, "error_cut")
    return element


def _text(writing: Writing, node: TextInput, token: str) -> Element:
    element = _common(writing, "Input.Text", node, token)
    if node.value:
        element["value"] = writing.short(node.value, node.at, "value_cut", VALUE_LIMIT)
    if node.multiline or node.format == "rich":
        element["isMultiline"] = True
    if node.format not in ("text", "rich"):
        element["style"] = node.format
    if node.max is not None and node.max > 0:
        element["maxLength"] = node.max
    if 0 < len(node.pattern) <= LABEL_LIMIT:
        element["regex"] = node.pattern
    elif node.min:
        element["regex"] = rf"^[\s\S]{{{node.min},}}$"
    return element


def _number(writing: Writing, node: NumberInput, token: str) -> Element:
    element = _common(writing, "Input.Number", node, token)
    for name, value in (("min", node.min), ("max", node.max), ("value", node.value)):
        if value is not None and isfinite(value):
            element[name] = _short_number(value)
    if not node.stars:
        return element
    if "placeholder" in element:
        writing.lose(node.at, "placeholder_dropped", node.placeholder, "stars")
    return _stars(node, element)


def _stars(node: NumberInput, plain_: Element) -> Element:
    """Return a rating input; other clients ask for a number."""
    element: Element = {
        name: plain_[name]
        for name in ("id", "label", "isRequired", "errorMessage", "value", "max")
        if name in plain_
    }
    return {"type": "Input.Rating", **element, "allowHalfSteps": node.decimals, "fallback": plain_}


def _short_number(value: float) -> float:
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) < 2**53
    return int(value) if is_whole else value


def _date(writing: Writing, node: DateInput, token: str) -> Element:
    kind, form = ("Input.Date", _DATE) if node.of == "date" else ("Input.Time", _TIME)
    element = _common(writing, kind, node, token)
    for name, value in (("value", node.value), ("min", node.min), ("max", node.max)):
        if form.match(value):
            element[name] = value
        elif value:
            writing.lose(node.at, "value_dropped", value)
    return element


def _moment(writing: Writing, node: DateInput, token: str) -> list[Element]:
    """Return a date and a time input side by side, in UTC."""
    date = _common(writing, "Input.Date", node, token)
    time: Element = {"type": "Input.Time", "id": writing.own_id(token + TIME)}
    if node.required:
        time["isRequired"] = True
        time["label"] = "Time"
        time["errorMessage"] = _MISSING
    for name, value in (("value", node.value), ("min", node.min), ("max", node.max)):
        if (moment := _utc(value)) is not None:
            date[name] = f"{moment:%Y-%m-%d}"
            if name == "value":
                time[name] = f"{moment:%H:%M}"
        elif value:
            writing.lose(node.at, "value_dropped", value)
    return [_side_by_side([date], "stretch", [time], "auto")]


def _utc(unix: str) -> datetime | None:
    if not _UNIX.match(unix):
        return None
    try:
        moment = datetime.fromtimestamp(int(unix), UTC)
    except (OverflowError, OSError, ValueError):
        return None
    return moment if moment.year >= 1000 else None


def _toggle(writing: Writing, node: Toggle, token: str) -> Element:
    element = _common(writing, "Input.Toggle", node, token, placeholder=False)
    title = plain(node.title) or element.pop("label", "")
    if node.placeholder and title:
        writing.lose(node.at, "placeholder_dropped", node.placeholder, "the title")
    title = title or node.placeholder
    element["title"] = writing.short(title, node.at, "title_cut", LABEL_LIMIT)
    element["wrap"] = True
    element["valueOn"] = on = node.on[:VALUE_LIMIT]
    element["valueOff"] = off = node.off[:VALUE_LIMIT]
    element["value"] = on if node.value else off
    return element


# --- choices ------------------------------------------------------------------------------------


def _choice(writing: Writing, node: Choice, token: str) -> Element:
    element = _common(writing, "Input.ChoiceSet", node, token)
    options = _options(writing, node)
    element["choices"] = [_choice_json(node, option, title) for option, title in options]
    is_cut = len(options) < len(node.options)
    if node.form == "list" and not is_cut:
        element["style"] = "expanded"
    elif node.external or len(options) > _FILTERED:
        element["style"] = "filtered"
    if node.external or is_cut:
        teams = node.source.startswith("graph.microsoft.com/")
        element["choices.data"] = {"type": "Data.Query", "dataset": node.source if teams else token}
    if node.many:
        element["isMultiSelect"] = True
    values = None if node.external else {option.value for option, _ in options}
    chosen = [value for value in node.values if values is None or value in values][:_MAX_CHOSEN]
    if chosen:
        element["value"] = ",".join(map(_escape_value, chosen)) if node.many else chosen[0]
    element["wrap"] = True
    return element


def _choice_json(node: Choice, option: Option, title: str) -> Element:
    return {"title": title, "value": _escape_value(option.value) if node.many else option.value}


def options_with(node: Choice, typed: str) -> Iterator[Element]:
    """Yield the options whose title contains all typed words."""
    words = typed.casefold().split()
    for option, title in zip(node.options, _titles(node), strict=True):
        if all(word in title.casefold() for word in words):
            yield _choice_json(node, option, title[:TITLE_LIMIT])


def _options(writing: Writing, node: Choice) -> list[tuple[Option, str]]:
    """Return the options with their titles, as many as fit a card."""
    fitting: list[tuple[Option, str]] = []
    room = _MAX_CHOICES
    titles = _titles(node)
    for index, (option, whole) in enumerate(zip(node.options, titles, strict=True)):
        title = writing.short(whole, option.at or node.at, "title_cut")
        room -= _room_of(option, title)
        if room < 0:
            others = titles[index:]
            shown_as = f"the first {index} options; the others are found by typing"
            writing.lose(node.at, "options_cut", "\n".join(others), shown_as)
            break
        fitting.append((option, title))
    groups = dict.fromkeys(option.group for option in node.options if option.group.strip())
    if groups and not _has_room_for_groups(node):
        writing.lose(node.at, "option_group", "\n".join(groups), "options without headings")
    for option in node.options:
        if option.url:
            writing.lose(option.at or node.at, "address", option.url)
    return fitting


def _titles(node: Choice) -> list[str]:
    """Return the title of each option, with its group as prefix if the card has room.

    Menus in Teams have no headings.
    """
    if _has_room_for_groups(node):
        return [_grouped_title(option) for option in node.options]
    return [_title(option) for option in node.options]


def _has_room_for_groups(node: Choice) -> bool:
    titles = [_grouped_title(option) for option in node.options]
    room = sum(_room_of(option, title) for option, title in zip(node.options, titles, strict=True))
    return room <= _MAX_CHOICES and all(len(title) <= TITLE_LIMIT for title in titles)


def _room_of(option: Option, title: str) -> int:
    return len(title) + len(option.value) + 26


def _grouped_title(option: Option) -> str:
    group = " ".join(option.group.split())
    return f"{group.removesuffix(':')}: {_title(option)}" if group else _title(option)


def _title(option: Option) -> str:
    title = plain(option.label) or option.value
    if option.emoji:
        title = f"{option.emoji} {title}"
    return f"{title}: {plain(option.description)}" if option.description else title


def _people(writing: Writing, node: Picker, token: str) -> Element:
    """Return a people picker; only native ids can be preselected."""
    if node.of == "mentionables":
        writing.lose(node.at, "picker_of_people", "roles", "people alone")
    element = _common(writing, "Input.ChoiceSet", node, token)
    element["choices"] = []
    element["choices.data"] = {"type": "Data.Query", "dataset": PEOPLE}
    if node.many:
        element["isMultiSelect"] = True
    native_ids = [value for value in node.values[:50] if _NATIVE_ID.match(value)]
    if native_ids:
        element["value"] = ",".join(native_ids if node.many else native_ids[:1])
    return element


# --- inputs as text fields ----------------------------------------------------------------------


def _named(writing: Writing, node: Picker, token: str) -> Element:
    """Return a text input for names of channels, chats or roles, which cards cannot pick.

    Initial values are prefilled as their author wrote them, and replace the placeholder.
    """
    names, example = _NAMED[node.of]
    writing.lose(node.at, "picker_as_text", names, "their names to write")
    element = _common(writing, "Input.Text", node, token)
    if "label" not in element and "placeholder" in element:
        element["label"] = element.pop("placeholder")
    if not node.values:
        element.setdefault("placeholder", example)
        return element
    if "placeholder" in element:
        writing.lose(node.at, "placeholder_dropped", node.placeholder, "what is filled in")
    element.pop("placeholder", None)
    chosen = ", ".join(node.values if node.many else node.values[:1])
    return {**element, "value": writing.short(chosen, node.at, "value_cut", VALUE_LIMIT)}


def _file(writing: Writing, node: FileInput, token: str) -> Element:
    """Return a text input for the address of a file: cards accept no files."""
    kinds = f" ({', '.join(node.kinds)})" if node.kinds else ""
    writing.lose(node.at, "file_as_text", f"a file{kinds}", "its address to write")
    element = _common(writing, "Input.Text", node, token)
    element.setdefault("placeholder", "https://…")
    return element | ({"isMultiline": True} if (node.max or 1) > 1 else {"style": "url"})


# --- a button beside the input ------------------------------------------------------------------


def _with_button(
    writing: Writing, node: Input, token: str, elements: list[Element]
) -> list[Element]:
    """Add a Send button: clients send nothing when a value is chosen."""
    look: Element = {"title": "Send"}
    action = press_action(writing, look, {"token": token})
    writing.sends.append(writing.presses.pop())  # it sends the inputs
    below: list[Element] = []
    if node.confirm is not None:
        action, below = with_confirmation(writing, node.confirm, look, action, below, node.at)
    row = _side_by_side(elements, "stretch", [action_set([action])], "auto")
    return [row, *below]


def _side_by_side(left: Sequence[Element], width: str, right: Sequence[Element], other: str
) -> Element:  # fmt: skip
    return {
        "type": "ColumnSet",
        "columns": [
            {"type": "Column", "width": width, "items": list(left)},
            {
                "type": "Column", "width": other, "verticalContentAlignment": "bottom",
                "items": list(right),
            },
        ],
    }  # fmt: skip
