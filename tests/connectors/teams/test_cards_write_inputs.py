"""Inputs of cards in Teams: what can be asked, and what is said of the rest."""

from __future__ import annotations

import pytest

from bridge.content.card import (
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
from bridge.content.rendering import Rendering
from connectors.teams.cards.write_inputs import values_of
from tests.connectors.teams.written import (
    FOREIGN,
    Json,
    elements,
    kinds,
    line,
    press,
    text,
    write,
)

ANN = Option(line("Ann"), "u1")
BOB = Option(line("Bob"), "u2", line("from sales"), "🙂")


def asked(node: Input) -> Json:
    (found,) = elements(node)
    return found


@pytest.mark.parametrize(
    ("node", "element"),
    [
        (
            TextInput(
                label=line("Name"), placeholder="yours", value="Ann", required=True, most=80,
                error="Who?", at="/t",
            ),
            {
                "type": "Input.Text", "id": "token/t", "label": "Name", "placeholder": "yours",
                "isRequired": True, "errorMessage": "Who?", "value": "Ann", "maxLength": 80,
            },
        ),
        (
            TextInput(multiline=True, format="email", pattern="^a+$", least=3, at="/t"),
            {
                "type": "Input.Text", "id": "token/t", "isMultiline": True, "style": "email",
                "regex": "^a+$",
            },
        ),
        (
            TextInput(format="rich", least=3, at="/t"),
            {
                "type": "Input.Text", "id": "token/t", "isMultiline": True,
                "regex": r"^[\s\S]{3,}$",
            },
        ),
        (
            NumberInput(label=line("How many"), value=3.0, least=0.5, most=1e300, at="/n"),
            {
                "type": "Input.Number", "id": "token/n", "label": "How many", "min": 0.5,
                "max": 1e300, "value": 3,
            },
        ),
        (
            DateInput(value="2026-11-21", least="2026-11-01", at="/d"),
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
    ids=lambda one: getattr(one, "type", "") if not isinstance(one, dict) else "",
)  # fmt: skip
def test_each_input_is_an_input(node: Input, element: Json) -> None:
    assert asked(node) == element


def test_what_is_required_says_so_when_it_is_missing() -> None:
    assert asked(TextInput(required=True, at="/t"))["errorMessage"] == "Please fill this in"


def test_a_hint_stands_small_below() -> None:
    assert elements(TextInput(hint=line("no *secrets*"), at="/t"))[1] == text(
        "no \\*secrets\\*", isSubtle=True, size="small"
    )


def test_a_date_with_a_time_is_two_inputs() -> None:
    node = DateInput(of="datetime", value="1700000000", label=line("When"), required=True, at="/d")

    assert asked(node)["columns"] == [
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
                    "errorMessage": "Please fill this in",
                    "value": "22:13",
                }
            ],
        },
    ]


def test_stars_are_stars_and_a_number_elsewhere() -> None:
    number: Json = {"type": "Input.Number", "id": "token/n", "label": "How was it", "max": 5}

    assert asked(NumberInput(label=line("How was it"), most=5, stars=True, at="/n")) == {
        "type": "Input.Rating",
        "id": "token/n",
        "label": "How was it",
        "max": 5,
        "allowHalfSteps": True,
        "fallback": number,
    }


def test_a_menu_that_tells_at_once_has_a_small_button_beside_it() -> None:
    node = Choice(options=(ANN,), dispatches=True, at="/c")

    (found,) = elements(node)

    menu, button = found["columns"]
    assert menu["items"][0]["id"] == "token/c"
    assert button["items"] == [{"type": "ActionSet", "actions": [press("Send", "token/c")]}]


def test_a_menu_that_asks_first_asks_when_it_is_sent() -> None:
    node = Choice(options=(ANN,), dispatches=True, confirm=Confirm("Sure?"), at="/c")

    (found,) = elements(node)

    (action,) = found["columns"][1]["items"][0]["actions"]
    assert (action["type"], action["title"]) == ("Action.ShowCard", "Send")
    assert "Sure?" in str(action["card"])


def test_the_values_of_several_options_may_have_commas() -> None:
    options = (Option(line("a"), "1,5"), Option(line("b"), "100%"))

    found = asked(Choice(options=options, many=True, values=("1,5", "100%"), at="/c"))

    assert [one["value"] for one in found["choices"]] == ["1%2C5", "100%25"]
    assert values_of(found["value"]) == ["1,5", "100%"]
    assert values_of("") == []


def test_many_options_are_found_by_typing() -> None:
    options = tuple(Option(line(f"o{n}"), f"{n}") for n in range(30))

    assert asked(Choice(options=options, at="/c"))["style"] == "filtered"


def test_options_beyond_what_a_card_holds_are_named() -> None:
    options = tuple(Option(line(f"option number {n}"), f"{n}") for n in range(2000))

    written = write(Choice(options=options, at="/c"))

    (loss,) = written.losses
    shown = elements(Choice(options=options, at="/c"))[0]["choices"]
    assert loss.kind == "options_cut"
    assert [one["title"] for one in shown] + loss.what.split("\n") == [
        f"option number {n}" for n in range(2000)
    ]


def test_headings_of_options_are_named() -> None:
    options = (Option(line("a"), "a", group="First"), Option(line("b"), "b", group="Second"))

    assert kinds(write(Choice(options=options, at="/c"))) == [
        ("/c", "option_group", "First\nSecond")
    ]


def test_what_is_no_date_is_named() -> None:
    assert kinds(write(DateInput(value="tomorrow", at="/d"))) == [
        ("/d", "value_dropped", "tomorrow")
    ]


# --- what cannot be asked -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("node", "kind"),
    [
        (FileInput(label=line("Your CV"), at="/x"), "no_file_input"),
        (Picker(of="channels", label=line("Your CV"), at="/x"), "no_picker"),
        (TextInput(label=line("Your CV"), disabled=True, at="/x"), "input_disabled"),
    ],
)
def test_what_teams_cannot_ask_is_text(node: Input, kind: str) -> None:
    assert elements(node) == [text("**Your CV**")]
    assert kinds(write(node)) == [("/x", kind, "Your CV")]


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


def test_ids_are_unique_even_where_places_are_not() -> None:
    first, second = elements(TextInput(at=""), TextInput(at=""))

    assert (first["id"], second["id"]) == ("token", "token-2")
