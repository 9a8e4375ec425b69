"""A press anywhere becomes one interaction in the words of the card's author."""

from __future__ import annotations

import pytest
from pydantic import JsonValue

from bridge.content.cards.interactions import (
    TOKEN_LENGTH,
    Interaction,
    action_token,
    describe_interaction,
    find_action,
    interaction_with,
    typed_value,
)
from bridge.content.cards.tree import (
    Actions,
    Button,
    Card,
    Choice,
    Input,
    NumberInput,
    Option,
    Picker,
    TextInput,
    Toggle,
)
from bridge.content.text.tree import Text

KEY = bytes(32)
APPROVE = Button((Text("Approve"),), id="approve", value={"ticket": 7}, at="/nodes/0/items/0")
SEND = Button((Text("Send"),), id="send", does="submit", at="/nodes/2")
COMMENT = TextInput(id="why", at="/nodes/1")
SIZE = Choice(
    id="size",
    label=(Text("Size"),),
    options=(Option((Text("Small"),), "s"), Option((Text("Large"),), "l")),
    dispatches=True,
    at="/nodes/0/items/1",
)
CARD = Card((Actions((APPROVE, SIZE)), COMMENT, SEND))


def token(path: str) -> str:
    return action_token(KEY, "m1", path)


def test_a_token_depends_on_message_path_and_key() -> None:
    tokens = {
        action_token(key, message, path)
        for key in (KEY, bytes(31) + b"1")
        for message in ("m1", "m2")
        for path in ("/a", "/b")
    }

    assert len(tokens) == 8
    assert {len(one) for one in tokens} == {TOKEN_LENGTH}
    assert action_token(KEY, "m1", "/a") == action_token(KEY, "m1", "/a")


def test_an_action_is_found_by_its_token_but_not_by_a_forged_one() -> None:
    assert find_action(CARD, token, token(SEND.at)) is SEND
    assert find_action(CARD, token, action_token(bytes(31) + b"1", "m1", SEND.at)) is None
    assert find_action(CARD, token, "ünfug") is None


def test_an_action_of_an_unchanged_payload_is_found_by_its_own_id() -> None:
    assert find_action(CARD, token, "send") is SEND
    sent = interaction_with(CARD, SEND, {"why": "x"}, token, "m1")
    assert sent.inputs == {"why": "x"}


def test_a_press_reports_the_authors_id_and_value() -> None:
    assert interaction_with(CARD, APPROVE, {}, token, "m1") == Interaction(
        kind="pressed", id="approve", value={"ticket": 7}, label="Approve", message="m1",
        path=APPROVE.at,
    )  # fmt: skip


def test_a_submission_reports_every_input_under_the_authors_id() -> None:
    values: dict[str, JsonValue] = {token(COMMENT.at): "because", "of another card": "no"}

    assert interaction_with(CARD, SEND, values, token, "m1") == Interaction(
        kind="submitted", id="send", label="Send", inputs={"why": "because"}, message="m1",
        path=SEND.at,
    )  # fmt: skip


def test_a_choice_reports_the_chosen_value() -> None:
    values: dict[str, JsonValue] = {token(SIZE.at): ["l"], token(COMMENT.at): ""}

    chosen = interaction_with(CARD, SIZE, values, token, "m1")

    assert (chosen.kind, chosen.id, chosen.value) == ("chosen", "size", "l")
    assert chosen.inputs == {"why": ""}
    assert describe_interaction(chosen) == "“Size”: l, why: "


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        (TextInput(), "x", "x"),
        (NumberInput(), "7", 7),
        (NumberInput(), "7.5", 7.5),
        (NumberInput(), "seven", "seven"),
        (NumberInput(), "nan", "nan"),
        (NumberInput(), "", ""),
        (Toggle(on="y", off="n"), ["y"], True),
        (Toggle(on="y", off="n"), [], False),
        (Toggle(on="y", off="n"), "n", False),
        (Toggle(), "true", True),
        (Choice(), ["a"], "a"),
        (Choice(), [], None),
        (Choice(many=True), ["a", "b"], ["a", "b"]),
        (Choice(many=True), "a", ["a"]),
        (Choice(many=True), "", []),
        (Picker(of="people"), ["U1"], "U1"),
    ],
)
def test_reported_values_get_the_type_of_their_input(
    field: Input, value: JsonValue, expected: JsonValue
) -> None:
    assert typed_value(field, value) == expected
