"""Inputs of cards in Teams, and the losses of unsupported inputs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bridge.content.cards.rendering import Rendering
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
    Toggle,
)
from connectors.teams.cards.write_inputs import options_with, typed_values_of, values_of
from tests.connectors.teams.teams_rules import objects
from tests.connectors.teams.written import (
    FOREIGN,
    Json,
    cards,
    elements,
    kinds,
    line,
    press,
    text,
    write,
)

ANN = Option(line("Ann"), "u1")
BOB = Option(line("Bob"), "u2", line("from sales"), "🙂")


def single_element(node: Input) -> Json:
    (element,) = elements(node)
    return element


@pytest.mark.parametrize(
    ("node", "element"),
    [
        (
            TextInput(
                label=line("Name"), placeholder="yours", value="Ann", required=True, max=80,
                error="Who?", at="/t",
            ),
            {
                "type": "Input.Text", "id": "token/t", "label": "Name", "placeholder": "yours",
                "isRequired": True, "errorMessage": "Who?", "value": "Ann", "maxLength": 80,
            },
        ),
        (
            TextInput(multiline=True, format="email", pattern="^a+$", min=3, at="/t"),
            {
                "type": "Input.Text", "id": "token/t", "isMultiline": True, "style": "email",
                "regex": "^a+$",
            },
        ),
        (
            TextInput(format="rich", min=3, at="/t"),
            {
                "type": "Input.Text", "id": "token/t", "isMultiline": True,
                "regex": r"^[\s\S]{3,}$",
            },
        ),
        (
            NumberInput(label=line("How many"), value=3.0, min=0.5, max=1e300, at="/n"),
            {
                "type": "Input.Number", "id": "token/n", "label": "How many", "min": 0.5,
                "max": 1e300, "value": 3,
            },
        ),
        (
            DateInput(value="2026-11-21", min="2026-11-01", at="/d"),
            {
                "type": "Input.Date", "id": "token/d", "value": "2026-11-21", "min": "2026-11-01",
            },
        ),
        (
            DateInput(of="time", value="17:30", at="/d"),
            {"type": "Input.Time", "id": "token/d", "value": "17:30"},
        ),
        (
            Toggle(label=line("Mail"), title=line("Send me news"), value=True, on="yes", at="/o"),
            {
                "type": "Input.Toggle", "id": "token/o", "label": "Mail", "title": "Send me news",
                "wrap": True, "valueOn": "yes", "valueOff": "false", "value": "yes",
            },
        ),
        (
            Choice(options=(ANN, BOB), values=("u2",), placeholder="Who", at="/c"),
            {
                "type": "Input.ChoiceSet", "id": "token/c", "placeholder": "Who",
                "choices": [
                    {"title": "Ann", "value": "u1"},
                    {"title": "🙂 Bob: from sales", "value": "u2"},
                ],
                "value": "u2", "wrap": True,
            },
        ),
        (
            Choice(options=(ANN,), form="list", many=True, values=("u1", "gone"), at="/c"),
            {
                "type": "Input.ChoiceSet", "id": "token/c",
                "choices": [{"title": "Ann", "value": "u1"}],
                "style": "expanded", "isMultiSelect": True, "value": "u1", "wrap": True,
            },
        ),
        (
            Choice(external=True, source="customers", at="/c"),
            {
                "type": "Input.ChoiceSet", "id": "token/c", "choices": [], "style": "filtered",
                "choices.data": {"type": "Data.Query", "dataset": "token/c"}, "wrap": True,
            },
        ),
        (
            Picker(of="people", many=True, values=("U0ACME1",), at="/p"),
            {
                "type": "Input.ChoiceSet", "id": "token/p", "choices": [],
                "choices.data": {"type": "Data.Query", "dataset": "graph.microsoft.com/users"},
                "isMultiSelect": True,
            },
        ),
    ],
    ids=lambda value: getattr(value, "type", "") if not isinstance(value, dict) else "",
)  # fmt: skip
def test_every_input_node_is_written_as_its_input_element(node: Input, element: Json) -> None:
    assert single_element(node) == element


def test_a_required_input_has_an_error_message() -> None:
    assert (
        single_element(TextInput(required=True, at="/t"))["errorMessage"] == "Please fill this in"
    )


def test_a_hint_is_small_text_below_the_input() -> None:
    assert elements(TextInput(hint=line("no *secrets*"), at="/t"))[1] == text(
        "no \\*secrets\\*", isSubtle=True, size="small"
    )


@pytest.mark.parametrize(
    ("node", "label", "placeholder"),
    [
        (TextInput(required=True, placeholder="Your name", at="/t"), "Your name", None),
        (TextInput(required=True, at="/t"), "Text", None),
        (TextInput(required=True, label=line("L"), placeholder="P", at="/t"), "L", "P"),
        (TextInput(placeholder="Your name", at="/t"), None, "Your name"),
        (Picker(of="roles", placeholder="Who decides", at="/t"), "Who decides", "@role"),
    ],
)
def test_required_inputs_and_role_pickers_have_a_label(
    node: Input, label: str | None, placeholder: str | None
) -> None:
    element = single_element(node)

    assert (element.get("label"), element.get("placeholder")) == (label, placeholder)


def test_a_date_with_a_time_is_two_inputs() -> None:
    node = DateInput(of="datetime", value="1700000000", label=line("When"), required=True, at="/d")

    assert single_element(node)["columns"] == [
        {
            "type": "Column",
            "width": "stretch",
            "items": [
                {
                    "type": "Input.Date",
                    "id": "token/d",
                    "label": "When",
                    "isRequired": True,
                    "errorMessage": "Please fill this in",
                    "value": "2023-11-14",
                }
            ],
        },
        {
            "type": "Column",
            "width": "auto",
            "verticalContentAlignment": "bottom",
            "items": [
                {
                    "type": "Input.Time",
                    "id": "token/d:time",
                    "isRequired": True,
                    "label": "Time",
                    "errorMessage": "Please fill this in",
                    "value": "22:13",
                }
            ],
        },
    ]


def test_a_star_rating_input_has_a_number_input_as_its_fallback() -> None:
    number: Json = {"type": "Input.Number", "id": "token/n", "label": "How was it", "max": 5}

    assert single_element(NumberInput(label=line("How was it"), max=5, stars=True, at="/n")) == {
        "type": "Input.Rating",
        "id": "token/n",
        "label": "How was it",
        "max": 5,
        "allowHalfSteps": True,
        "fallback": number,
    }


def test_a_menu_that_dispatches_changes_has_a_button_beside_it() -> None:
    node = Choice(options=(ANN,), dispatches=True, at="/c")

    (element,) = elements(node)

    menu, button = element["columns"]
    assert menu["items"][0]["id"] == "token/c"
    assert button["items"] == [{"type": "ActionSet", "actions": [press("Send", "token/c")]}]


def test_the_confirmation_of_a_dispatching_menu_is_on_its_button() -> None:
    node = Choice(options=(ANN,), dispatches=True, confirm=Confirm("Sure?"), at="/c")

    (element,) = elements(node)

    (action,) = element["columns"][1]["items"][0]["actions"]
    assert (action["type"], action["title"]) == ("Action.ShowCard", "Send")
    assert "Sure?" in str(action["card"])


def test_commas_in_multi_select_values_are_escaped() -> None:
    options = (Option(line("a"), "1,5"), Option(line("b"), "100%"))

    element = single_element(Choice(options=options, many=True, values=("1,5", "100%"), at="/c"))

    assert [choice["value"] for choice in element["choices"]] == ["1%2C5", "100%25"]
    assert values_of(element["value"]) == ["1,5", "100%"]
    assert values_of("") == []


def test_a_menu_with_many_options_is_filterable() -> None:
    options = tuple(Option(line(f"o{n}"), f"{n}") for n in range(30))

    assert single_element(Choice(options=options, at="/c"))["style"] == "filtered"


def test_options_that_do_not_fit_in_a_card_are_reported() -> None:
    options = tuple(Option(line(f"option number {n}"), f"{n}") for n in range(2000))

    written = write(Choice(options=options, at="/c"))

    (loss,) = written.losses
    written_choices = elements(Choice(options=options, at="/c"))[0]["choices"]
    assert loss.kind == "options_cut"
    assert [choice["title"] for choice in written_choices] + loss.what.split("\n") == [
        f"option number {n}" for n in range(2000)
    ]


def test_option_groups_prefix_their_options_or_are_reported() -> None:
    options = (Option(line("P1"), "a", group="High"), Option(line("P2"), "b", group="Low:"))
    long = tuple(replace(option, group="g" * 300) for option in options)

    node = Choice(options=options, at="/c")

    element = single_element(node)
    assert [choice["title"] for choice in element["choices"]] == ["High: P1", "Low: P2"]
    assert kinds(write(node)) == []
    assert [option["title"] for option in options_with(node, "high")] == ["High: P1"]
    assert kinds(write(Choice(options=long, at="/c"))) == [("/c", "option_group", "g" * 300)]


def test_option_urls_that_a_menu_cannot_open_are_reported() -> None:
    options = (Option(line("Ann"), "a", url="https://a.example/", at="/o"), BOB)

    assert kinds(write(Choice(options=options, at="/c"))) == [
        ("/o", "address", "https://a.example/")
    ]


def test_an_invalid_initial_date_is_dropped_and_reported() -> None:
    assert kinds(write(DateInput(value="tomorrow", at="/d"))) == [
        ("/d", "value_dropped", "tomorrow")
    ]


# --- invalid values and disabled inputs ---------------------------------------------------------


def test_a_disabled_input_is_written_as_text() -> None:
    node = TextInput(label=line("Your CV"), disabled=True, at="/x")

    assert elements(node) == [text("**Your CV**")]
    assert kinds(write(node)) == [("/x", "input_disabled", "Your CV")]


# --- text inputs in place of pickers ------------------------------------------------------------


@pytest.mark.parametrize(
    ("of", "what", "example"),
    [
        ("channels", "channels", "#channel"),
        ("conversations", "conversations", "#channel"),
        ("roles", "roles", "@role"),
    ],
)
def test_pickers_that_teams_lacks_are_text_inputs(of: Any, what: str, example: str) -> None:
    node = Picker(of=of, label=line("Where"), at="/x")

    assert elements(node) == [
        {"type": "Input.Text", "id": "token/x", "label": "Where", "placeholder": example}
    ]
    assert kinds(write(node)) == [("/x", "picker_as_text", what)]


@pytest.mark.parametrize(
    ("label", "expected_label", "lost"),
    [("", "Pick one", []), ("Where", "Where", [("/x", "placeholder_dropped", "Pick one")])],
)
def test_the_initial_values_of_a_text_picker_are_filled_in(
    label: str, expected_label: str, lost: Any
) -> None:
    node = Picker(
        of="channels", many=True, label=line(label) if label else (), placeholder="Pick one",
        values=("C1", "C2"), at="/x",
    )  # fmt: skip

    assert elements(node) == [
        {"type": "Input.Text", "id": "token/x", "label": expected_label, "value": "C1, C2"}
    ]
    assert kinds(write(node)) == [("/x", "picker_as_text", "channels"), *lost]


def test_a_picker_of_people_and_roles_is_a_people_picker() -> None:
    node = Picker(of="mentionables", at="/x")

    (element,) = elements(node)

    assert element["choices.data"] == {"type": "Data.Query", "dataset": "graph.microsoft.com/users"}
    assert kinds(write(node)) == [("/x", "picker_of_people", "roles")]


def test_a_picker_of_direct_conversations_is_a_people_picker() -> None:
    (element,) = elements(Picker(of="conversations", among=("people",), at="/x"))

    assert element["type"] == "Input.ChoiceSet"


def test_a_file_input_is_a_url_input() -> None:
    node = FileInput(label=line("Your CV"), kinds=("pdf", "odt"), at="/x")

    assert elements(node) == [
        {
            "type": "Input.Text", "id": "token/x", "label": "Your CV", "placeholder": "https://…",
            "style": "url",
        }
    ]  # fmt: skip
    assert kinds(write(node)) == [("/x", "file_as_text", "a file (pdf, odt)")]


def test_a_text_picker_with_many_values_is_listed_as_multi_value() -> None:
    node = Picker(of="roles", many=True, at="/x")
    send = Button(line("Send"), does="submit", at="/s")

    written = write(node, send)

    (action,) = [
        element for element in objects(cards(written)) if element.get("type") == "Action.Execute"
    ]
    assert action["data"] == {"token": "token/s", "typed": ["token/x"]}
    assert typed_values_of("admins, the crew,\nBob\n") == ["admins", "the crew", "Bob"]


def test_a_foreign_input_is_text_and_a_link_to_the_original() -> None:
    node = Choice(label=line("Who"), placeholder="Pick", options=(ANN, BOB), at="/c")

    assert elements(node, rendering=FOREIGN) == [
        text("**Who** _Pick_\n\n- Ann\n- 🙂 Bob: from sales"),
        {
            "type": "ActionSet",
            "actions": [
                {"type": "Action.OpenUrl", "title": "Open", "url": "https://origin.example/1"}
            ],
        },
    ]
    assert kinds(write(node, rendering=FOREIGN)) == [("/c", "foreign_action", "Who / Pick")]


def test_a_foreign_input_without_a_link_to_the_original_is_text() -> None:
    node = TextInput(label=line("Name"), at="/t")

    assert elements(node, rendering=Rendering()) == [text("**Name**")]


# --- ids ----------------------------------------------------------------------------------------


def test_input_ids_are_unique_even_when_pointers_repeat() -> None:
    first, second = elements(TextInput(at=""), TextInput(at=""))

    assert (first["id"], second["id"]) == ("token", "token-2")
