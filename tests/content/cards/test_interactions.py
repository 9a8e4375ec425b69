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
WHY = TextInput(id="why", at="/nodes/1")
SIZE = Choice(
    id="size",
    label=(Text("Size"),),
    options=(Option((Text("Small"),), "s"), Option((Text("Large"),), "l")),
    dispatches=True,
    at="/nodes/0/items/1",
)
CARD = Card((Actions((APPROVE, SIZE)), WHY, SEND))


def token(path: str) -> str:
    return action_token(KEY, "m1", path)


def test_a_token_is_short_and_of_its_message_path_and_key() -> None:
    tokens = {
        action_token(key, message, path)
        for key in (KEY, bytes(31) + b"1")
        for message in ("m1", "m2")
        for path in ("/a", "/b")
    }

    assert len(tokens) == 8
    assert {len(one) for one in tokens} == {TOKEN_LENGTH}
    assert action_token(KEY, "m1", "/a") == action_token(KEY, "m1", "/a")


def test_the_action_of_a_token_is_found_and_a_forged_one_is_not() -> None:
    assert find_action(CARD, token, token(SEND.at)) is SEND
    assert find_action(CARD, token, action_token(bytes(31) + b"1", "m1", SEND.at)) is None
    assert find_action(CARD, token, "ünfug") is None


def test_where_a_payload_went_home_as_it_was_its_own_ids_are_known() -> None:
    assert find_action(CARD, token, "send") is SEND
    sent = interaction_with(CARD, SEND, {"why": "x"}, token, "m1")
    assert sent.inputs == {"why": "x"}


def test_a_press_gives_the_authors_id_and_value() -> None:
    assert interaction_with(CARD, APPROVE, {}, token, "m1") == Interaction(
        kind="pressed", id="approve", value={"ticket": 7}, label="Approve", message="m1",
        path=APPROVE.at,
    )  # fmt: skip


def test_a_submission_gives_every_input_by_the_authors_names() -> None:
    values: dict[str, JsonValue] = {token(WHY.at): "because", "of another card": "no"}

    assert interaction_with(CARD, SEND, values, token, "m1") == Interaction(
        kind="submitted", id="send", label="Send", inputs={"why": "because"}, message="m1",
        path=SEND.at,
    )  # fmt: skip


def test_a_choice_gives_what_was_chosen() -> None:
    values: dict[str, JsonValue] = {token(SIZE.at): ["l"], token(WHY.at): ""}

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
def test_what_is_filled_in_is_told_as_its_author_expects_it(
    field: Input, value: JsonValue, expected: JsonValue
) -> None:
    assert typed_value(field, value) == expected
