"""The actions of Adaptive Cards as buttons."""

from __future__ import annotations

import pytest
from pydantic import JsonValue

from bridge.content.cards.tree import Actions, Asset, Button, Container, Native, Node, TextInput
from tests.connectors.teams.cards import ADAPTIVE, Json, card, line, prose, read


def actions(*several: JsonValue) -> tuple[Node, ...]:
    return read(card(actions=list(several))).nodes


def button(native: JsonValue) -> Button:
    (row,) = actions(native)
    assert isinstance(row, Actions)
    (only,) = row.items
    assert isinstance(only, Button)
    return only


def test_actions_of_a_card_form_a_single_row() -> None:
    (row,) = actions(
        {"type": "Action.OpenUrl", "title": "Open", "url": "https://a.example"},
        {"type": "Action.Execute", "title": "Go", "id": "i", "verb": "go", "data": {"n": 1}},
    )

    assert row == Actions(
        (
            Button(line("Open"), does="open", url="https://a.example"),
            Button(line("Go"), id="go", value={"n": 1}),
        )
    )
    assert row.at == "/actions"
    assert isinstance(row, Actions)
    assert [item.at for item in row.items] == ["/actions/0", "/actions/1"]


def test_an_action_of_a_card_with_inputs_submits_them() -> None:
    text_input: Json = {"type": "Input.Text", "id": "x"}
    submit: Json = {"type": "Action.Submit", "title": "Send", "id": "s", "data": "d"}

    read_nodes = read(
        card(text_input, actions=[submit, {**submit, "associatedInputs": "None"}])
    ).nodes

    assert read_nodes == (
        TextInput(id="x"),
        Actions(
            (
                Button(line("Send"), does="submit", id="s", value="d"),
                Button(line("Send"), does="press", id="s", value="d"),
            )
        ),
    )


def test_a_button_keeps_its_style_tooltip_and_icon() -> None:
    assert button({
        "type": "Action.Submit",
        "title": "Delete",
        "style": "Destructive",
        "tooltip": "for ever",
        "iconUrl": "https://a.example/i.png",
        "isEnabled": False,
        "mode": "secondary",
    }) == Button(
        line("Delete"),
        style="danger",
        hint="for ever",
        icon=Asset(url="https://a.example/i.png"),
        disabled=True,
        secondary=True,
    )  # fmt: skip


def test_fluent_icons_are_read_by_name() -> None:
    native: Json = {"type": "Action.Submit", "title": "Send", "iconUrl": "icon:Send,Filled"}

    assert button({**native, "style": "positive"}) == Button(
        line("Send"), icon=Asset(name="icon:Send,Filled"), style="good"
    )


@pytest.mark.parametrize(
    ("native", "label"),
    [
        ({"type": "Action.Submit", "tooltip": "Tell us"}, "Tell us"),
        ({"type": "Action.Submit"}, "Select"),
        ({"type": "Action.OpenUrl", "url": "https://a.example"}, "Open"),
    ],
)
def test_a_button_without_a_title_has_a_default_label(native: JsonValue, label: str) -> None:
    assert button(native).label == line(label)


def test_a_toggle_button_without_a_title_has_an_empty_label() -> None:
    assert button({"type": "Action.ToggleVisibility", "targetElements": ["x"]}).label == ()


def test_a_sign_in_action_opens_its_page() -> None:
    data: JsonValue = {"msteams": {"type": "signin", "value": "https://a.example/in"}}

    assert button({"type": "Action.Submit", "title": "Sign in", "data": data}) == Button(
        line("Sign in"), does="open", url="https://a.example/in", value=data
    )


def test_an_im_back_action_keeps_its_message_in_the_value() -> None:
    data: JsonValue = {"msteams": {"type": "imBack", "value": "yes"}}

    assert button({"type": "Action.Submit", "title": "Yes", "data": data}) == Button(
        line("Yes"), value=data
    )


def test_a_show_card_action_is_a_reveal_button() -> None:
    inner = card(
        {"type": "TextBlock", "text": "more"},
        {"type": "Input.Text", "id": "c", "label": "Comment"},
        actions=[{"type": "Action.Submit", "title": "Send", "data": 1}],
    )

    assert button({"type": "Action.ShowCard", "title": "Comment", "card": inner}) == Button(
        line("Comment"),
        does="reveal",
        nodes=(
            prose("more"),
            TextInput(id="c", label=line("Comment")),
            Actions((Button(line("Send"), does="submit", value=1),)),
        ),
    )


def test_a_popover_action_is_a_reveal_button() -> None:
    content: Json = {"type": "Container", "items": [{"type": "TextBlock", "text": "a"}]}

    assert button({"type": "Action.Popover", "title": "More", "content": content}) == Button(
        line("More"), does="reveal", nodes=(Container((prose("a"),)),)
    )


def test_toggle_targets_may_be_ids_or_objects() -> None:
    targets: JsonValue = ["a", {"elementId": "b", "isVisible": True}, {"elementId": 7}, None]

    toggle = button({"type": "Action.ToggleVisibility", "title": "t", "targetElements": targets})

    assert toggle == Button(line("t"), does="toggle", targets=("a", "b", "7"), value=targets)


def test_a_dialog_action_opens_its_url() -> None:
    native: Json = {
        "type": "Action.OpenUrlDialog",
        "title": "Ask",
        "dialogTitle": "A question",
        "url": "https://a.example",
    }

    assert button(native) == Button(
        line("Ask"), does="open", url="https://a.example", hint="A question"
    )


def test_the_menu_of_a_split_button_follows_the_button() -> None:
    (row,) = actions({
        "type": "Action.Submit",
        "title": "Send",
        "menuActions": [{"type": "Action.Submit", "title": "Send later", "data": 2}],
    })  # fmt: skip

    later = Button(line("Send later"), value=2, secondary=True)
    assert row == Actions((Button(line("Send")), later))


def test_teams_only_actions_are_kept_with_fallback_buttons() -> None:
    reset: Json = {"type": "Action.ResetInputs", "title": "Clear", "targetInputIds": ["x"]}
    insert: Json = {"type": "Action.InsertImage", "title": "Insert", "url": "https://a.example/i"}

    assert actions(reset, insert) == (
        Native(ADAPTIVE, reset, (Actions((Button(line("Clear"), disabled=True),)),)),
        Native(
            ADAPTIVE,
            insert,
            (Actions((Button(line("Insert"), does="open", url="https://a.example/i"),)),),
        ),
    )


def test_an_unknown_action_is_read_as_its_fallback_or_kept_with_its_title() -> None:
    newer: Json = {"type": "Action.Teleport", "title": "Beam"}
    submit: Json = {"type": "Action.Submit", "title": "Walk"}

    assert actions({**newer, "fallback": submit}) == (Actions((Button(line("Walk")),)),)
    assert actions({**newer, "fallback": "drop"}) == ()
    assert actions(submit, newer, submit) == (
        Actions((Button(line("Walk")),)),
        Native(ADAPTIVE, newer, (prose("Beam"),)),
        Actions((Button(line("Walk")),)),
    )
