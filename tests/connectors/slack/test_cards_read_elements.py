"""Block elements of Slack as buttons and inputs: one payload, one expectation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bridge.content.cards.rendering import Payload
from bridge.content.cards.tree import (
    Actions,
    Button,
    Choice,
    Confirm,
    DateInput,
    FileInput,
    NumberInput,
    Option,
    Picker,
    TextInput,
)
from bridge.content.text.tree import Emoji, Strong, Text
from connectors.slack.cards import read_payload
from connectors.slack.cards.schemas import BLOCKS
from tests.connectors.slack import card_payloads

CONFIRM = Confirm(
    title="Sure?",
    text=(Text("It is "), Strong((Text("gone"),)), Text(" then.")),
    ok="Do it",
    cancel="Stop",
    danger=True,
)


def read(element: Any) -> Any:
    """The node of an element in an actions block."""
    block: Any = {"type": "actions", "elements": [element]}
    (node,) = read_payload(Payload(BLOCKS, [block], "/blocks"), "T1").nodes
    assert isinstance(node, Actions)
    (item,) = node.items
    assert item.at == "/blocks/0/elements/0"
    return item


def read_input(element: Any, **members: Any) -> Any:
    """The node of an element in an input block."""
    block: Any = {
        "type": "input",
        "label": card_payloads.plain("What"),
        "element": element,
        **members,
    }
    (node,) = read_payload(Payload(BLOCKS, [block], "/blocks"), "T1").nodes
    assert node.at == "/blocks/0/element"
    return node


def option(value: str, **members: Any) -> Option:
    return Option((Text(f"Option {value}"),), value, **members)


# --- buttons --------------------------------------------------------------------------------


def test_a_button_is_read_with_its_value_hint_and_confirmation() -> None:
    assert read(card_payloads.BUTTON) == Button(
        (Text("Go"),),
        id="go",
        value="v1",
        style="primary",
        hint="Go on",
        confirm=CONFIRM,
    )


def test_a_button_with_an_address_opens_it() -> None:
    assert read(card_payloads.LINK_BUTTON) == Button(
        (Text("Open"),), does="open", id="open", url="https://example.com/a"
    )


@pytest.mark.parametrize("url", ["slack://open", "javascript:alert(1)", "", 7, None])
def test_a_button_with_a_non_web_url_is_a_press_button(url: Any) -> None:
    assert read({**card_payloads.LINK_BUTTON, "url": url}) == Button((Text("Open"),), id="open")


def test_a_button_may_have_emoji_and_be_dangerous() -> None:
    element = {"type": "button", "text": card_payloads.plain("Stop :tada:"), "style": "danger"}

    assert read(element) == Button((Text("Stop "), Emoji("tada", "🎉")), style="danger")


def test_a_workflow_button_opens_its_trigger_link() -> None:
    assert read(card_payloads.WORKFLOW_BUTTON) == Button(
        (Text("Run"),),
        does="open",
        id="flow",
        url="https://slack.com/shortcuts/Ft1/x",
        value={"workflow": {"trigger": {"url": "https://slack.com/shortcuts/Ft1/x"}}},
    )


# --- choices --------------------------------------------------------------------------------


def test_a_select_menu_has_option_groups_and_an_initial_option() -> None:
    menu = read(card_payloads.STATIC_SELECT)

    assert menu == Choice(
        options=(
            option("a", group="First"),
            option("b", group="First"),
            option("c", group="Second"),
        ),
        values=("b",),
        id="one",
        placeholder="Pick one",
        dispatches=True,
        confirm=CONFIRM,
    )
    assert menu.options[2].at == "/blocks/0/elements/0/option_groups/1/options/0"


def test_a_multi_select_menu_allows_several_values() -> None:
    assert read(card_payloads.MULTI_STATIC_SELECT) == Choice(
        options=(option("a"), option("b"), option("c")),
        values=("a", "c"),
        many=True,
        max=2,
        id="many",
        placeholder="Pick some",
        dispatches=True,
    )


@pytest.mark.parametrize("many", [False, True])
def test_an_external_menu_has_its_initial_options(many: bool) -> None:
    element = card_payloads.MULTI_EXTERNAL_SELECT if many else card_payloads.EXTERNAL_SELECT

    assert read(element) == Choice(
        options=(option("z"),), values=("z",), external=True, many=many, id="far", dispatches=True
    )


def test_an_overflow_element_is_an_overflow_choice() -> None:
    assert read(card_payloads.OVERFLOW) == Choice(
        options=(option("a"), option("b", url="https://example.com/b")),
        form="overflow",
        id="more",
        dispatches=True,
    )


def test_radio_buttons_are_a_list_of_one_choice() -> None:
    assert read(card_payloads.RADIO_BUTTONS) == Choice(
        options=(option("a", description=(Text("The first"),)), option("b")),
        values=("a",),
        form="list",
        id="radio",
        dispatches=True,
    )


def test_checkboxes_are_a_list_of_many_choices() -> None:
    assert read(card_payloads.CHECKBOXES) == Choice(
        options=(Option((Strong((Text("Bold"),)), Text(" one")), "a"), option("b")),
        values=("b",),
        many=True,
        form="list",
        id="boxes",
        dispatches=True,
    )


# --- people and places ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("element", "expected"),
    [
        (card_payloads.USERS_SELECT, Picker(of="people", id="who", values=("U1",))),
        (
            card_payloads.MULTI_USERS_SELECT,
            Picker(of="people", id="whos", values=("U1", "U2"), many=True),
        ),
        (card_payloads.CHANNELS_SELECT, Picker(of="channels", id="c", values=("C1",))),
        (card_payloads.MULTI_CHANNELS_SELECT, Picker(of="channels", values=("C1",), many=True)),
        (
            card_payloads.CONVERSATIONS_SELECT,
            Picker(
                of="conversations",
                id="place",
                placeholder="Where",
                values=("D1",),
                among=("people", "groups", "private", "public"),
                without=("bots", "shared"),
                here=True,
            ),
        ),
        (
            card_payloads.MULTI_CONVERSATIONS_SELECT,
            Picker(of="conversations", values=("C1", "D1"), many=True, max=3),
        ),
    ],
)
def test_user_and_conversation_selects_are_pickers(element: Any, expected: Picker) -> None:
    picker = read(element)

    assert picker.dispatches
    assert read_input(element, dispatch_action=True).dispatches
    assert _quiet(picker) == expected


def _quiet(node: Any) -> Any:
    return replace(node, dispatches=False)


# --- dates and texts ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("element", "expected"),
    [
        (
            card_payloads.DATEPICKER,
            DateInput(of="date", id="day", value="2026-11-21", placeholder="Which day"),
        ),
        (card_payloads.TIMEPICKER, DateInput(of="time", id="hour", value="17:30")),
        (card_payloads.DATETIMEPICKER, DateInput(of="datetime", value="1790000000")),
        (
            card_payloads.PLAIN_TEXT_INPUT,
            TextInput(
                id="text",
                placeholder="Write",
                value="So far",
                multiline=True,
                min=2,
                max=100,
            ),
        ),
        (
            card_payloads.RICH_TEXT_INPUT,
            TextInput(id="rich", value="So \\*far\\*", multiline=True, format="rich"),
        ),
        (
            card_payloads.NUMBER_INPUT,
            NumberInput(id="number", value=3.0, min=1.0, max=10.5, decimals=False),
        ),
        (card_payloads.EMAIL_INPUT, TextInput(id="mail", format="email", value="a@b.example")),
        (card_payloads.URL_INPUT, TextInput(id="address", format="url")),
        (card_payloads.FILE_INPUT, FileInput(kinds=("pdf", "png"), max=3)),
    ],
)
def test_date_text_number_and_file_elements_are_inputs(element: Any, expected: Any) -> None:
    assert _quiet(read(element)) == expected


def test_an_input_block_gives_its_element_label_and_hint() -> None:
    node = read_input(card_payloads.URL_INPUT, hint=card_payloads.plain("With https"))

    assert node == TextInput(
        id="address",
        format="url",
        label=(Text("What"),),
        hint=(Text("With https"),),
        required=True,
    )


def test_an_input_block_may_be_optional_and_dispatch_changes() -> None:
    node = read_input(card_payloads.STATIC_SELECT, optional=True, dispatch_action=True)

    assert (node.required, node.dispatches, node.confirm) == (False, True, CONFIRM)


@pytest.mark.parametrize("value", ["nan", "inf", "1e999", "x", None, True, [], {}, 10**400])
def test_an_invalid_initial_number_is_dropped(value: Any) -> None:
    assert read({"type": "number_input", "initial_value": value}).value is None


@pytest.mark.parametrize("element", [*card_payloads.ACTIONS, *card_payloads.INPUTS])
def test_an_element_with_wrong_values_keeps_its_node_type(element: Any) -> None:
    for wrong in (None, 7, "x", [], {}, [None], {"type": "x"}):
        spoilt = {key: wrong for key in element if key != "type"}

        assert type(read({"type": element["type"], **spoilt})) is type(read(element))
