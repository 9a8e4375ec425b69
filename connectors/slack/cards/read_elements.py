"""Slack's block elements -> buttons and inputs of the card; other JSON gives none.

Source: npm @slack/types 3.2.0 and docs.slack.dev "Block elements" (2026-08).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Literal, TypedDict, cast

from pydantic import JsonValue

from bridge.content.cards.tree import (
    Button,
    Choice,
    Confirm,
    DateInput,
    FileInput,
    Input,
    NumberInput,
    Option,
    Picker,
    TextInput,
)
from bridge.content.markdown import text_to_markdown
from connectors.slack.cards.read_json import count_at, items_at, number_at, string_at, url_at
from connectors.slack.cards.read_texts import document, line, words
from connectors.slack.json_values import Json

Actionable = Button | Input
Reader = Callable[[Json, str, str], Sequence[Actionable]]


_Kind = Literal["people", "groups", "private", "public"]
_KINDS: dict[str, _Kind] = {
    "im": "people",
    "mpim": "groups",
    "private": "private",
    "public": "public",
}
_WITHOUT: tuple[tuple[str, Literal["bots", "shared"]], ...] = (
    ("exclude_bot_users", "bots"),
    ("exclude_external_shared_channels", "shared"),
)


class _InputMembers(TypedDict):
    at: str
    id: str
    placeholder: str
    dispatches: bool
    confirm: Confirm | None


def read_element(element: object, at: str, team: str) -> Sequence[Actionable]:
    """The actions of an element (two for a pair of feedback buttons); none when it is not an
    element.

    Inputs dispatch every change, as Slack does outside of forms.
    """
    if not isinstance(element, dict):
        return ()
    members = cast("Json", element)
    kind = members.get("type")
    reader = _READERS.get(kind) if isinstance(kind, str) else None
    return reader(members, at, team) if reader else ()


def is_element(value: object) -> bool:
    """Whether the JSON is an element of a known type."""
    kind = cast("Json", value).get("type") if isinstance(value, dict) else None
    return isinstance(kind, str) and kind in _READERS


# --- buttons --------------------------------------------------------------------------------


def _button(element: Json, at: str, team: str) -> Sequence[Button]:
    url = url_at(element, "url") if "url" in element else ""
    style, confirm = element.get("style"), element.get("confirm")
    value = element.get("value")
    node = Button(
        line(element.get("text"), team),
        does="open" if url else "press",
        id=string_at(element, "action_id"),
        value=value if isinstance(value, str) else None,
        url=url,
        style="primary" if style == "primary" else "danger" if style == "danger" else "default",
        hint=string_at(element, "accessibility_label"),
        confirm=confirm_of(confirm, team) if confirm is not None else None,
        at=at,
    )
    return (node,)


def _workflow_button(element: Json, at: str, team: str) -> Sequence[Button]:
    """A button that links to the workflow's trigger; `value` has its other members."""
    workflow = element.get("workflow")
    trigger = cast("Json", workflow).get("trigger") if isinstance(workflow, dict) else None
    url = url_at(cast("Json", trigger), "url") if isinstance(trigger, dict) else ""
    (plain,) = _button({**element, "url": url}, at, team)
    workflow_value = cast("JsonValue", {"workflow": workflow} if workflow is not None else None)
    return (replace(plain, value=workflow_value),)


def _icon_button(element: Json, at: str, team: str) -> Sequence[Button]:
    (plain,) = _button(element, at, team)
    emoji = _ICONS.get(string_at(element, "icon"), "")
    return (replace(plain, emoji=emoji, secondary=True),)


_ICONS = {"trash": "🗑️"}
_FEEDBACK = ("positive_button", "negative_button")


def _feedback_buttons(element: Json, at: str, team: str) -> Sequence[Button]:
    buttons: list[Button] = []
    for key in _FEEDBACK:
        half = element.get(key)
        if isinstance(half, dict):
            members = {**cast("Json", half), "action_id": element.get("action_id")}
            buttons += (
                replace(button, secondary=True) for button in _button(members, f"{at}/{key}", team)
            )
    return buttons


def confirm_of(value: object, team: str) -> Confirm | None:
    """The confirmation dialog of an action; legacy dialogs name their buttons `..._text`."""
    if not isinstance(value, dict):
        return None
    members = cast("Json", value)
    return Confirm(
        title=words(members.get("title")),
        text=line(members.get("text"), team),
        ok=words(members.get("confirm")) or words(members.get("ok_text")),
        cancel=words(members.get("deny")) or words(members.get("dismiss_text")),
        danger=members.get("style") == "danger",
    )


# --- choices --------------------------------------------------------------------------------


def _input_members(element: Json, at: str, team: str) -> _InputMembers:
    return {
        "at": at,
        "id": string_at(element, "action_id"),
        "placeholder": words(element.get("placeholder")),
        "dispatches": True,
        "confirm": confirm_of(element.get("confirm"), team),
    }


def option(value: object, at: str, team: str, group: str = "") -> Option | None:
    """One option; None when the value is not an object."""
    if not isinstance(value, dict):
        return None
    members = cast("Json", value)
    return Option(
        line(members.get("text"), team),
        string_at(members, "value"),
        line(members.get("description"), team),
        url=url_at(members, "url"),
        group=group,
        at=at,
    )


def _options(element: Json, at: str, team: str) -> list[Option]:
    options = _each(element, "options", at, team)
    for index, group in enumerate(items_at(element, "option_groups")):
        if isinstance(group, dict):
            inner = cast("Json", group)
            place = f"{at}/option_groups/{index}"
            options += _each(inner, "options", place, team, words(inner.get("label")))
    return options


def _each(value: Json, key: str, at: str, team: str, group: str = "") -> list[Option]:
    read = (
        option(item, f"{at}/{key}/{index}", team, group)
        for index, item in enumerate(items_at(value, key))
    )
    return [item for item in read if item is not None]


def _choice(
    form: Literal["menu", "list", "overflow"] = "menu",
    *,
    many: bool = False,
    external: bool = False,
) -> Reader:
    def read(element: Json, at: str, team: str) -> Sequence[Choice]:
        options = _options(element, at, team)
        chosen = _each(element, "initial_options", at, team)
        first = option(element.get("initial_option"), f"{at}/initial_option", team)
        chosen += [first] if first is not None else []
        node = Choice(
            options=(*options, *_missing(chosen, options)),
            values=tuple(selected.value for selected in chosen),
            many=many,
            form=form,
            external=external,
            max=count_at(element, "max_selected_items"),
            **_input_members(element, at, team),
        )
        return (node,)

    return read


def _missing(chosen: Iterable[Option], options: Iterable[Option]) -> list[Option]:
    """The preselected options that are not offered, which external menus list nowhere else."""
    offered = {selected.value for selected in options}
    return [selected for selected in chosen if selected.value not in offered]


def _picker(
    of: Literal["people", "channels", "conversations"], name: str, *, many: bool = False
) -> Reader:
    def read(element: Json, at: str, team: str) -> Sequence[Picker]:
        chosen = items_at(element, f"initial_{name}s") if many else [element.get(f"initial_{name}")]
        filtered = element.get("filter")
        offered = cast("Json", filtered) if isinstance(filtered, dict) else {}
        node = Picker(
            of=of,
            values=tuple(item for item in chosen if isinstance(item, str) and item),
            many=many,
            among=_among(offered),
            without=tuple(name for key, name in _WITHOUT if offered.get(key) is True),
            here=element.get("default_to_current_conversation") is True,
            max=count_at(element, "max_selected_items"),
            **_input_members(element, at, team),
        )
        return (node,)

    return read


def _among(offered: Json) -> tuple[_Kind, ...]:
    kinds = items_at(offered, "include")
    return tuple(_KINDS[kind] for kind in kinds if isinstance(kind, str) and kind in _KINDS)


# --- inputs ---------------------------------------------------------------------------------


def _date(of: Literal["date", "time", "datetime"], key: str) -> Reader:
    def read(element: Json, at: str, team: str) -> Sequence[DateInput]:
        moment = count_at(element, key) if of == "datetime" else None
        value = string_at(element, key) if moment is None else str(moment)
        return (DateInput(of=of, value=value, **_input_members(element, at, team)),)

    return read


def _text(kind: Literal["text", "email", "url"] = "text") -> Reader:
    def read(element: Json, at: str, team: str) -> Sequence[TextInput]:
        node = TextInput(
            value=string_at(element, "initial_value"),
            multiline=element.get("multiline") is True,
            format=kind,
            min=count_at(element, "min_length"),
            max=count_at(element, "max_length"),
            **_input_members(element, at, team),
        )
        return (node,)

    return read


def _rich_text(element: Json, at: str, team: str) -> Sequence[TextInput]:
    value = text_to_markdown(document(element.get("initial_value"), team))
    node = TextInput(
        value=value, multiline=True, format="rich", **_input_members(element, at, team)
    )
    return (node,)


def _number(element: Json, at: str, team: str) -> Sequence[NumberInput]:
    node = NumberInput(
        value=number_at(element, "initial_value"),
        min=number_at(element, "min_value"),
        max=number_at(element, "max_value"),
        decimals=element.get("is_decimal_allowed") is not False,
        **_input_members(element, at, team),
    )
    return (node,)


def _files(element: Json, at: str, team: str) -> Sequence[FileInput]:
    kinds = tuple(
        item.lstrip(".") for item in items_at(element, "filetypes") if isinstance(item, str)
    )
    max_files = count_at(element, "max_files")
    return (FileInput(kinds=kinds, max=max_files, **_input_members(element, at, team)),)


_READERS: dict[str, Reader] = {
    "button": _button,
    "workflow_button": _workflow_button,
    "icon_button": _icon_button,
    "feedback_buttons": _feedback_buttons,
    "overflow": _choice("overflow"),
    "static_select": _choice(),
    "multi_static_select": _choice(many=True),
    "external_select": _choice(external=True),
    "multi_external_select": _choice(many=True, external=True),
    "radio_buttons": _choice("list"),
    "checkboxes": _choice("list", many=True),
    "users_select": _picker("people", "user"),
    "multi_users_select": _picker("people", "user", many=True),
    "channels_select": _picker("channels", "channel"),
    "multi_channels_select": _picker("channels", "channel", many=True),
    "conversations_select": _picker("conversations", "conversation"),
    "multi_conversations_select": _picker("conversations", "conversation", many=True),
    "datepicker": _date("date", "initial_date"),
    "timepicker": _date("time", "initial_time"),
    "datetimepicker": _date("datetime", "initial_date_time"),
    "plain_text_input": _text(),
    "email_text_input": _text("email"),
    "url_text_input": _text("url"),
    "rich_text_input": _rich_text,
    "number_input": _number,
    "file_input": _files,
}
