"""What an input takes, and why it does not."""

from __future__ import annotations

import pytest
from pydantic import JsonValue

from bridge.content.cards.input_rules import missing_reason, refusal_reason
from bridge.content.cards.interactions import typed_value, wrong_inputs
from bridge.content.cards.tree import (
    Actions,
    Button,
    Card,
    Choice,
    Container,
    DateInput,
    Input,
    NumberInput,
    Option,
    Picker,
    TextInput,
    Toggle,
)
from bridge.content.text.tree import Text

LATER = "1800000000"  # 2027-01-15 08:00 UTC


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        (TextInput(min=3), "ab", "must have 3 or more characters"),
        (TextInput(min=2), "🎉", ""),  # two UTF-16 units
        (TextInput(max=2), "🎉🎉", ""),
        (TextInput(max=2), "abc", "must have 2 or fewer characters"),
        (TextInput(pattern="^[0-9]{4}$"), "12345", "has not the form that is asked for"),
        (TextInput(pattern="[0-9]"), "room 7", ""),
        (TextInput(pattern="(?=x)"), "y", ""),  # no pattern in linear time
        (TextInput(pattern="("), "y", ""),
        (TextInput(pattern="(a+)+$"), f"{'a' * 50_000}!", "has not the form that is asked for"),
        (TextInput(format="email"), "ann", "must be an e-mail address"),
        (TextInput(format="email"), "ann@example.org", ""),
        (TextInput(format="url"), "example", "must be an address of the web"),
        (TextInput(format="url"), "example.org/x", ""),
        (TextInput(format="url"), "https://example.org", ""),
        (TextInput(format="tel"), "none", "must be a telephone number"),
        (TextInput(format="tel"), "+49 (228) 12-34", ""),
        (TextInput(format="password"), "x", ""),
        (NumberInput(), "seven", "must be a number"),
        (NumberInput(), "inf", "must be a number"),
        (NumberInput(), "7.5", ""),
        (NumberInput(decimals=False), "7.5", "must be a whole number"),
        (NumberInput(decimals=False), "7.0", ""),
        (NumberInput(min=1), "0.5", "must be 1 or more"),
        (NumberInput(max=5), "6", "must be 5 or less"),
        (DateInput(), "tomorrow", "must be a date (YYYY-MM-DD)"),
        (DateInput(min="2026-02-01"), "2026-01-31", "must be 2026-02-01 or later"),
        (DateInput(max="2026-02-01"), "2026-02-01", ""),
        (DateInput(of="time"), "25:00", "must be a time (HH:MM)"),
        (DateInput(of="time", max="17:30"), "17:31", "must be 17:30 or earlier"),
        (DateInput(of="datetime"), LATER, ""),
        (DateInput(of="datetime", max=LATER), "2027-01-15 08:00", ""),
        (DateInput(of="datetime", max=LATER), "2027-01-15 08:01",
         "must be 2027-01-15 08:00 UTC or earlier"),
        (DateInput(of="datetime"), "soon", "must be a date and time (YYYY-MM-DD HH:MM)"),
        (Choice(many=True, min=2), ["a"], "takes 2 or more"),
        (Choice(many=True, max=1), ["a", "b"], "takes 1 or fewer"),
        (Choice(), "a", ""),
        (Picker(of="people", many=True, max=1), ["a", "b"], "takes 1 or fewer"),
    ],
)  # fmt: skip
def test_an_input_accepts_a_value_or_gives_a_reason(
    field: Input, value: JsonValue, reason: str
) -> None:
    assert refusal_reason(field, typed_value(field, value)) == reason


def test_the_message_for_a_missing_value_fits_the_kind_of_input() -> None:
    fields: tuple[Input, ...] = (TextInput(), Toggle(), Choice(), Picker(of="people"))

    assert [missing_reason(field) for field in fields] == [
        "must be filled in", "must be ticked", "must be chosen", "must be chosen",
    ]  # fmt: skip


SEND = Button((Text("Send"),), does="submit", at="/send")


def wrong(
    *nodes: Input | Button | Container, all_present: bool = False, **values: JsonValue
) -> list[str]:
    card = Card((*nodes, SEND))
    refused = wrong_inputs(card, SEND, values, lambda path: path, all_present=all_present)
    return [f"{field.label}: {field.error}" for field in refused]


def required(name: str, **fields: object) -> TextInput:
    return TextInput(id=name, label=(Text(name.upper()),), required=True, **fields)  # pyright: ignore[reportArgumentType]


def test_unreported_required_inputs_are_wrong_only_when_all_are_present() -> None:
    assert wrong(required("a")) == []
    assert wrong(required("a"), a=None) == ["A: must be filled in"]
    assert wrong(required("a", error="Say it"), a="") == ["A: Say it"]
    assert wrong(required("a"), required("b"), all_present=True, a="x") == ["B: must be filled in"]


def test_disabled_inputs_and_empty_choices_are_not_required() -> None:
    assert wrong(required("a", disabled=True), all_present=True) == []
    assert wrong(Choice(id="c", required=True), all_present=True) == []
    assert wrong(Container((required("a"),), hidden=True, id="x"), all_present=True) == []
    assert wrong(required("a", dispatches=True), all_present=True) == []


def test_only_the_inputs_that_a_button_sends_are_checked() -> None:
    other = Button((Text("More"),), does="reveal", nodes=(required("a"),), at="/more")
    press = Button((Text("Cancel"),), does="press", at="/cancel")
    card = Card((Actions((press,)), required("a")))

    assert wrong(other, all_present=True) == []
    assert wrong_inputs(card, press, {}, lambda path: path, all_present=True) == []


def test_required_toggles_and_choices_must_have_a_value() -> None:
    box = Toggle(id="ok", title=(Text("I agree"),), required=True)
    size = Choice(
        id="size", required=True, placeholder="Size", options=(Option((Text("S"),), "s"),)
    )

    assert wrong(box, size, ok=[], size=None) == ["I agree: must be ticked", "Size: must be chosen"]
    assert wrong(box, size, ok=["true"], size="s") == []
