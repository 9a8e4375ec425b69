"""What must happen before a press counts: a form that asks, a question that makes sure."""

from __future__ import annotations

from typing import Any

from bridge.content.card import Button, Card, Choice, Confirm, Option, TextInput, Toggle
from bridge.content.interactions import Interaction
from bridge.content.rendering import Payload
from bridge.content.text import Text
from connectors.discord.native_press import native_press
from connectors.discord.presses import first_answer

NAME = TextInput(id="name", label=(Text("Name"),), required=True, placeholder="Ann", at="/name")
SIZE = Choice(
    id="size", label=(Text("Size"),), at="/size",
    options=(Option((Text("Small"),), "s"), Option((Text("Large"),), "l")), values=("l",),
)  # fmt: skip
COFFEE = Toggle(id="coffee", title=(Text("Coffee"),), at="/coffee")
SEND = Button((Text("Send"),), does="submit", id="send", at="/send")
DELETE = Button(
    (Text("Delete"),), id="delete", at="/delete",
    confirm=Confirm("Sure?", (Text("It is gone for good."),), "Delete it", danger=True),
)  # fmt: skip
CARD = Card((NAME, SIZE, COFFEE, SEND, DELETE))


def token(path: str) -> str:
    return f"tok{path}"


def pressed(custom_id: str, **more: Any) -> dict[str, Any]:
    return {"type": 3, "message": {"id": "130"}, "data": {"custom_id": custom_id}, **more}


def test_a_button_that_sends_inputs_opens_a_form_with_them() -> None:
    assert first_answer(CARD, token, pressed("tok/send")) == {
        "type": 9,
        "data": {
            "custom_id": "tok/send",
            "title": "Send",
            "components": [
                {
                    "type": 18,
                    "label": "Name",
                    "component": {
                        "type": 4, "custom_id": "tok/name", "style": 1, "required": True,
                        "placeholder": "Ann",
                    },
                },
                {
                    "type": 18,
                    "label": "Size",
                    "component": {
                        "type": 3, "custom_id": "tok/size", "required": False,
                        "options": [
                            {"label": "Small", "value": "s"},
                            {"label": "Large", "value": "l", "default": True},
                        ],
                    },
                },
                {
                    "type": 18,
                    "label": "Coffee",
                    "component": {"type": 23, "custom_id": "tok/coffee", "default": False},
                },
            ],
        },
    }  # fmt: skip


def test_a_form_asks_what_is_required_even_where_there_is_no_room_for_all() -> None:
    many = tuple(TextInput(id=str(n), at=f"/{n}", required=n == 8) for n in range(9))

    answer = first_answer(Card((*many, SEND)), token, pressed("tok/send"))

    assert answer is not None
    asked = [one["component"]["custom_id"] for one in answer["data"]["components"]]
    assert asked == ["tok/0", "tok/1", "tok/2", "tok/3", "tok/8"]


def test_a_button_that_must_be_sure_asks_privately_and_then_counts() -> None:
    answer = first_answer(CARD, token, pressed("tok/delete"))

    assert answer is not None
    assert (answer["type"], answer["data"]["flags"]) == (4, 64)
    assert answer["data"]["content"] == "Sure?\nIt is gone for good."
    (row,) = answer["data"]["components"]
    (button,) = row["components"]
    assert (button["label"], button["style"]) == ("Delete it", 4)
    sure = pressed(button["custom_id"], message={"id": "999"})
    assert first_answer(CARD, token, sure) is None


def test_a_form_that_was_sent_and_a_forged_press_need_nothing_first() -> None:
    assert first_answer(CARD, token, pressed("tok/send") | {"type": 5}) is None
    assert first_answer(CARD, token, pressed("forged")) is None


def test_its_author_hears_a_press_as_discord_would_tell_it() -> None:
    payload = Payload("application/vnd.discord.components+json", [])
    pressed_one = Interaction(kind="pressed", id="go", message="m", path="/x")
    sent = Interaction(kind="submitted", id="go", inputs={"name": "Ann"}, message="m", path="/x")

    assert native_press(payload, pressed_one) == {
        "type": 3, "data": {"custom_id": "go", "component_type": 2}
    }  # fmt: skip
    assert native_press(payload, sent) == {
        "type": 5,
        "data": {
            "custom_id": "go",
            "components": [
                {"type": 18, "component": {"type": 4, "custom_id": "name", "value": "Ann"}}
            ],
        },
    }
