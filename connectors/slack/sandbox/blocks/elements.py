"""Documented shapes and limits of text objects, options and block elements. Mostly data."""

from __future__ import annotations

import re
from typing import Any

from connectors.slack.sandbox.blocks.checks import (
    Check,
    Checks,
    Faults,
    Json,
    anything,
    boolean,
    checked_by_type,
    exactly_one,
    integer,
    items,
    one_of,
    shape,
    string,
)
from connectors.slack.sandbox.blocks.rich_text import RICH_TEXT

_ID = string(255, 1)
_KIND: Checks = {"type": anything}
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_TIME = re.compile(r"([01]\d|2[0-3]):[0-5]\d")


def plain(maximum: int, minimum: int = 1) -> Check:
    return checked_by_type(
        {"plain_text": shape({**_KIND, "text": string(maximum, minimum)}, {"emoji": boolean})}
    )


def text(maximum: int, minimum: int = 1) -> Check:
    """A plain_text or mrkdwn object."""
    long = string(maximum, minimum)
    return checked_by_type(
        {
            "plain_text": shape({**_KIND, "text": long}, {"emoji": boolean}),
            "mrkdwn": shape({**_KIND, "text": long}, {"verbatim": boolean}),
        }
    )


def web_address(value: Any, at: str, faults: Faults) -> None:
    string(3000, 1)(value, at, faults)
    if isinstance(value, str) and not value.lower().startswith(("http://", "https://")):
        faults.say("invalid url", at)


def _pattern(pattern: re.Pattern[str]) -> Check:
    def check(value: Any, at: str, faults: Faults) -> None:
        if not isinstance(value, str) or not pattern.fullmatch(value):
            faults.say(f"input must match regex pattern: ^{pattern.pattern}$", at)

    return check


_FILE = shape({}, {"id": string(255, 1), "url": string(3000, 1)}, exactly_one("id", "url"))


def slack_file(value: Any, at: str, faults: Faults) -> None:
    """An image that was uploaded to Slack, by its id or URL."""
    _FILE(value, at, faults)
    if isinstance(value, dict) and not faults.knows_file(value):
        faults.say("invalid slack file", at)


def option(max_text: int = 75, *, marked: bool = False, link: bool = False) -> Check:
    """`marked`: its texts may be mrkdwn; `link`: it may have a URL (overflow menus)."""
    some = text if marked else plain
    more: Json = {"value": string(150), "description": some(75)}
    return shape({"text": some(max_text)}, more | ({"url": web_address} if link else {}))


CONFIRM = shape(
    {"text": text(300)},
    {
        "title": plain(100), "confirm": plain(30), "deny": plain(30),
        "style": one_of("primary", "danger"),
    },
)  # fmt: skip
_DISPATCH = shape(
    {"trigger_actions_on": items(one_of("on_enter_pressed", "on_character_entered"), 2)}
)
_FILTER = shape(
    {},
    {
        "include": items(one_of("im", "mpim", "private", "public"), 4),
        "exclude_external_shared_channels": boolean,
        "exclude_bot_users": boolean,
    },
)


def _element(needed: Checks, allowed: Checks, also: Check | None = None) -> Check:
    return shape({**_KIND, **needed}, {"action_id": _ID, **allowed}, also)


def _menu(allowed: Checks, also: Check | None = None, *, several: bool = False) -> Check:
    more: Checks = {"confirm": CONFIRM, "placeholder": plain(150), "focus_on_load": boolean}
    count: Checks = {"max_selected_items": integer(1, 100)} if several else {}
    return _element({}, {**more, **count, **allowed}, also)


def _options_of(value: Json, at: str, faults: Faults) -> None:
    exactly_one("options", "option_groups")(value, at, faults)


_OPTIONS = items(option(), 100)
_GROUP = shape({"label": plain(75), "options": _OPTIONS})
_STATIC: Checks = {"options": _OPTIONS, "option_groups": items(_GROUP, 100)}
_STRINGS = items(string(255, 1), 100)
_CONVERSATION_OPTIONS: Checks = {"default_to_current_conversation": boolean, "filter": _FILTER}
_ANSWERS: Checks = {"response_url_enabled": boolean}

MENUS: Checks = {
    "static_select": _menu({**_STATIC, "initial_option": option()}, _options_of),
    "external_select": _menu({"min_query_length": integer(0, 100), "initial_option": option()}),
    "users_select": _menu({"initial_user": string(255, 1)}),
    "conversations_select": _menu(
        {"initial_conversation": string(255, 1), **_CONVERSATION_OPTIONS, **_ANSWERS}
    ),
    "channels_select": _menu({"initial_channel": string(255, 1), **_ANSWERS}),
    "multi_static_select": _menu(
        {**_STATIC, "initial_options": _OPTIONS}, _options_of, several=True
    ),
    "multi_external_select": _menu(
        {"min_query_length": integer(0, 100), "initial_options": _OPTIONS}, several=True
    ),
    "multi_users_select": _menu({"initial_users": _STRINGS}, several=True),
    "multi_conversations_select": _menu(
        {"initial_conversations": _STRINGS, **_CONVERSATION_OPTIONS}, several=True
    ),
    "multi_channels_select": _menu({"initial_channels": _STRINGS}, several=True),
}  # fmt: skip
_MARKED = items(option(marked=True), 10)
_CHOICES: Checks = {"confirm": CONFIRM, "focus_on_load": boolean}
BOXES: Checks = {
    "checkboxes": _element({"options": _MARKED}, {**_CHOICES, "initial_options": _MARKED}),
    "radio_buttons": _element(
        {"options": _MARKED}, {**_CHOICES, "initial_option": option(marked=True)}
    ),
}
_CLOCK: Checks = {**_CHOICES, "placeholder": plain(150)}
CLOCKS: Checks = {
    "datepicker": _element({}, {**_CLOCK, "initial_date": _pattern(_DATE)}),
    "timepicker": _element(
        {}, {**_CLOCK, "initial_time": _pattern(_TIME), "timezone": string(255, 1)}
    ),
}
_DATETIME: Checks = {
    "datetimepicker": _element(
        {}, {**_CHOICES, "initial_date_time": integer(1_000_000_000, 9_999_999_999)}
    )
}
_BUTTON_MORE: Checks = {
    "url": string(3000), "value": string(2000), "style": one_of("primary", "danger"),
    "confirm": CONFIRM, "accessibility_label": string(75), "agent_prompt": string(4000),
    "visible_to_user_ids": _STRINGS,
}  # fmt: skip
BUTTON = _element({"text": plain(75)}, _BUTTON_MORE)
_TRIGGER = shape({"url": web_address}, {"customizable_input_parameters": items(anything, 100, 0)})
BUTTONS: Checks = {
    "button": BUTTON,
    "workflow_button": _element(
        {"text": plain(75), "workflow": shape({"trigger": _TRIGGER})},
        {"style": one_of("primary", "danger"), "accessibility_label": string(75)},
    ),
    "overflow": _element({"options": items(option(link=True), 5)}, {"confirm": CONFIRM}),
}
_TYPED: Checks = {
    "placeholder": plain(150), "focus_on_load": boolean, "dispatch_action_config": _DISPATCH,
}  # fmt: skip
RICH_INPUT = _element(
    {},
    {
        **_TYPED, "initial_value": RICH_TEXT, "min_lines": integer(1, 100),
        "max_lines": integer(1, 100),
    },
)  # fmt: skip
_NUMBERS: Checks = {name: string(255) for name in ("min_value", "max_value", "initial_value")}
INPUTS: Checks = {
    "plain_text_input": _element(
        {},
        {
            **_TYPED, "initial_value": string(3000), "multiline": boolean,
            "min_length": integer(0, 3000), "max_length": integer(1, 3000),
        },
    ),
    "rich_text_input": RICH_INPUT,
}  # fmt: skip
_MODAL_INPUTS: Checks = {
    "number_input": _element({"is_decimal_allowed": boolean}, {**_TYPED, **_NUMBERS}),
    "email_text_input": _element({}, {**_TYPED, "initial_value": string(3000)}),
    "url_text_input": _element({}, {**_TYPED, "initial_value": string(3000)}),
    "file_input": _element(
        {}, {"filetypes": items(string(255, 1), 100), "max_files": integer(1, 10)}
    ),
}
_FEEDBACK = shape({"text": plain(75), "value": string(2000)}, {"accessibility_label": string(75)})
CONTEXT_ACTIONS = checked_by_type(
    {
        "feedback_buttons": _element(
            {"positive_button": _FEEDBACK, "negative_button": _FEEDBACK}, {}
        ),
        "icon_button": _element(
            {"icon": string(255, 1), "text": plain(75)},
            {
                "value": string(2000), "confirm": CONFIRM, "accessibility_label": string(75),
                "visible_to_user_ids": _STRINGS,
            },
        ),
    }
)  # fmt: skip
IMAGE = shape(
    {**_KIND, "alt_text": string(2000)},
    {"image_url": web_address, "slack_file": slack_file},
    exactly_one("image_url", "slack_file"),
)
ACCESSORY = checked_by_type({**BUTTONS, **MENUS, **BOXES, **CLOCKS, "image": IMAGE})
ACTION = checked_by_type(
    {**BUTTONS, **MENUS, **BOXES, **CLOCKS, **_DATETIME, "rich_text_input": RICH_INPUT}
)
_IN_MESSAGES = checked_by_type({**MENUS, **BOXES, **CLOCKS, **_DATETIME, **INPUTS})
_IN_MODALS = checked_by_type({**MENUS, **BOXES, **CLOCKS, **_DATETIME, **INPUTS, **_MODAL_INPUTS})


def input_element(value: Any, at: str, faults: Faults) -> None:
    """The element of an input block; number, URL and file inputs only in modals."""
    (_IN_MODALS if faults.surface == "modal" else _IN_MESSAGES)(value, at, faults)
