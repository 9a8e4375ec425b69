"""The first answers to presses: forms to fill in, and confirmations."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from bridge.content.cards.interactions import Interaction
from bridge.content.cards.rendering import Payload
from bridge.content.cards.tree import (
    Button,
    Card,
    Choice,
    Confirm,
    Input,
    Option,
    Prose,
    TextInput,
    Toggle,
)
from bridge.content.text.tree import Paragraph, Text
from connectors.discord.form_pages import Step, form_pages
from connectors.discord.native_press import native_press
from connectors.discord.presses import (
    first_answer,
    last_answer,
    press_target,
    values_in,
    with_own_values,
)
from tests.connectors.discord.discord_rules import faults, modal_faults
from tests.content.card_strategies import INPUTS
from tests.examples import examples

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


def test_a_submit_button_opens_a_modal_with_its_inputs() -> None:
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
                    "component": {"type": 23, "custom_id": "tok/coffee"},
                },
            ],
        },
    }  # fmt: skip


def submitted(custom_id: str, values: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A submitted form in Discord's format."""
    fields = [
        {
            "type": 18,
            "component": {"custom_id": name, "values" if isinstance(it, list) else "value": it},
        }
        for name, it in values.items()
    ]
    data = {"custom_id": custom_id, "components": fields}
    return {"type": 5, "message": {"id": "130"}, "data": data, **more}


def input_ids(answer: Any) -> list[str]:
    assert answer["type"] == 9
    assert modal_faults(answer["data"]) == []
    return [component["component"]["custom_id"] for component in answer["data"]["components"]]


def next_button(answer: Any) -> str:
    (row,) = answer["data"]["components"]
    (button,) = row["components"]
    return button["custom_id"]


def private(answer: Any) -> dict[str, Any]:
    """The ephemeral message as Discord sends it with a press on it."""
    return {"id": "999", **answer["data"]}


LONG_FORM = Card((
    TextInput(id="comment", label=(Text("Comment"),), multiline=True, at="/comment"),
    *(TextInput(id=f"f{n}", label=(Text(f"Field {n}"),), required=n == 3, at=f"/{n}")
      for n in range(4)),
    replace(SIZE, many=True),
    COFFEE,
    SEND,
))  # fmt: skip


def test_a_long_form_has_pages_and_long_texts_come_last() -> None:
    first = first_answer(LONG_FORM, token, pressed("tok/send"))
    assert first is not None
    assert first["data"]["title"] == "Send (1/2)"
    assert input_ids(first) == ["tok/0", "tok/1", "tok/2", "tok/3", "tok/size"]

    values = {"tok/0": "Ann", "tok/1": "", "tok/2": "two\nlines", "tok/3": "x", "tok/size": ["s"]}
    sent = submitted(first["data"]["custom_id"], values)
    between = first_answer(LONG_FORM, token, sent)
    assert between is not None
    assert (between["type"], between["data"]["flags"]) == (4, 64)
    assert between["data"]["content"] == "Page 1 of 2 is filled in."
    assert press_target(sent) == ("", "130", False)

    opened = pressed(next_button(between), message=private(between))
    second = first_answer(LONG_FORM, token, opened)
    assert second is not None
    assert second["data"]["title"] == "Send (2/2)"
    assert input_ids(second) == ["tok/coffee", "tok/comment"]
    assert press_target(opened) == ("", "130", False)

    done = submitted(
        second["data"]["custom_id"],
        {"tok/coffee": True, "tok/comment": "Thanks"},
        message=private(between),
    )
    assert first_answer(LONG_FORM, token, done) is None
    assert press_target(done) == ("tok/send", "130", False)
    assert values_in(done) == {**values, "tok/coffee": True, "tok/comment": "Thanks"}
    assert last_answer(done)["type"] == 7


def test_entered_values_are_kept_over_all_pages_within_the_limits() -> None:
    fields = [
        TextInput(id=str(n), label=(Text(f"Field {n}"),), max=3000, min=900, at=f"/{n}")
        for n in range(18)
    ]
    card = Card((*fields, SEND))
    press: dict[str, Any] = pressed("tok/send")
    written: dict[str, Any] = {}
    sent: dict[str, Any] = {}

    for _ in range(4):
        form = first_answer(card, token, press)
        assert form is not None
        limits = [
            component["component"].get("max_length") for component in form["data"]["components"]
        ]
        values = {
            name: "x" * maximum for name, maximum in zip(input_ids(form), limits, strict=True)
        }
        written |= values
        sent = submitted(form["data"]["custom_id"], values, message=press["message"])
        between = first_answer(card, token, sent)
        if between is None:
            break
        assert faults(message_in(between)) == []
        press = pressed(next_button(between), message=private(between))

    assert len(written) == 18
    assert values_in(sent) == written


def test_the_texts_of_a_revealed_form_are_above_the_inputs_of_page_one() -> None:
    text = Prose((Paragraph((Text("Be polite."),)),))
    many = tuple(TextInput(id=str(n), placeholder=f"f{n}", at=f"/{n}") for n in range(5))
    card = Card((Button((Text("Comment"),), does="reveal", nodes=(text, *many, SEND)),))

    first = first_answer(card, token, pressed("tok/send"))
    assert first is not None
    between = first_answer(card, token, submitted(first["data"]["custom_id"], {"tok/0": "a"}))

    assert first["data"]["title"] == "Comment (1/2)"
    assert first["data"]["components"][0] == {"type": 10, "content": "Be polite."}
    assert between is not None
    assert between["data"]["embeds"][0]["fields"] == [{"name": "f0", "value": "a"}]


def test_more_values_than_one_embed_holds_are_kept_between_pages() -> None:
    card = Card((*(TextInput(id=str(n), at=f"/{n}") for n in range(40)), SEND))
    press: dict[str, Any] = pressed("tok/send")
    written: dict[str, Any] = {}
    sent: dict[str, Any] = {}

    for _ in range(8):
        form = first_answer(card, token, press)
        values = {name: f"value of {name}" for name in input_ids(form)}
        written |= values
        assert form is not None
        sent = submitted(form["data"]["custom_id"], values, message=press["message"])
        if (between := first_answer(card, token, sent)) is None:
            break
        assert faults(message_in(between)) == []
        press = pressed(next_button(between), message=private(between))

    assert len(written) == 40
    assert values_in(sent) == written


def message_in(answer: Any) -> dict[str, Any]:
    body = {key: value for key, value in answer["data"].items() if key != "flags"}
    return {"allowed_mentions": {"parse": []}, **body}


def test_a_form_of_more_than_nine_pages_has_the_required_inputs() -> None:
    many = tuple(TextInput(id=str(n), at=f"/{n}", required=n == 59) for n in range(60))
    last = Step("tok/send", 9, 9, "130", opens=True)

    answer = first_answer(Card((*many, SEND)), token, pressed(last.custom_id))

    assert input_ids(answer) == ["tok/40", "tok/41", "tok/42", "tok/43", "tok/59"]


def test_values_that_are_too_long_to_keep_are_reported() -> None:
    options = tuple(Option((Text(str(n)),), f"{n:02}" + "v" * 98) for n in range(25))
    menus = tuple(
        Choice(id=str(n), options=options, many=True, at=f"/{n}") for n in range(6)
    )  # fmt: skip
    card = Card((*menus, SEND))
    first = first_answer(card, token, pressed("tok/send"))
    assert first is not None
    all_values: Any = {name: [option.value for option in options] for name in input_ids(first)}

    first_lists = {name: all_values[name] for name in ("tok/0", "tok/1")}
    next_answer = first_answer(card, token, submitted(first["data"]["custom_id"], first_lists))
    answer = first_answer(card, token, submitted(first["data"]["custom_id"], all_values))

    assert next_answer is not None
    assert answer is not None
    sent = submitted("tok/send#form2-2:130", {}, message=private(next_answer))
    assert values_in(sent) == first_lists
    assert answer["data"]["components"] == []
    assert "more than fits" in answer["data"]["content"]


def test_a_form_whose_token_is_too_long_for_pages_has_one_page() -> None:
    many = tuple(TextInput(id=str(n), at=f"/{n}", required=n == 8) for n in range(9))
    send = replace(SEND, id="s" * 90)

    answer = first_answer(Card((*many, send)), token, pressed("s" * 90))

    assert input_ids(answer) == ["tok/0", "tok/1", "tok/2", "tok/3", "tok/8"]


def test_discords_option_values_are_mapped_to_the_authors_values() -> None:
    same = tuple(Option((Text(label),), value) for label, value in (("A", "x"), ("B", "x" * 200)))
    menu = Choice(id="m", options=(*same, *same), many=True, at="/m")
    card = Card((menu, SIZE))
    chosen = pressed("tok/m", data={"custom_id": "tok/m", "values": ["1", "2"]})
    sent = submitted("tok/send", {"tok/m": ["3"], "tok/size": ["l"]})

    assert values_in(with_own_values(card, token, chosen)) == {"tok/m": ["x" * 200, "x"]}
    assert values_in(with_own_values(card, token, sent)) == {
        "tok/m": ["x" * 200], "tok/size": ["l"]
    }  # fmt: skip
    assert with_own_values(card, token, pressed("tok/size")) == pressed("tok/size")


@settings(
    max_examples=examples(40),
)
@given(st.lists(INPUTS, min_size=1, max_size=24))
def test_every_form_page_obeys_discords_rules(nodes: list[Input]) -> None:
    inputs = [replace(node, at=f"/{number}") for number, node in enumerate(nodes)]

    pages = form_pages(inputs, "Send", "t" * 22, "1" * 20, lambda at: f"token-{at[1:]}")

    assert 1 <= len(pages) <= 9
    for page in pages:
        assert modal_faults(page) == []


def test_the_values_of_a_split_menu_are_merged() -> None:
    split = submitted("tok/send", {"tok/c": ["a"], "tok/c#2": ["b"]})

    assert values_in(split) == {"tok/c": ["a", "b"]}


def test_a_button_with_a_confirmation_asks_in_an_ephemeral_message() -> None:
    answer = first_answer(CARD, token, pressed("tok/delete"))

    assert answer is not None
    assert (answer["type"], answer["data"]["flags"]) == (4, 64)
    assert answer["data"]["content"] == "Sure?\nIt is gone for good."
    (row,) = answer["data"]["components"]
    (button,) = row["components"]
    assert (button["label"], button["style"]) == ("Delete it", 4)
    sure = pressed(button["custom_id"], message={"id": "999"})
    assert first_answer(CARD, token, sure) is None
    assert last_answer(sure) == {
        "type": 7, "data": {"content": "✓", "embeds": [], "components": []}
    }  # fmt: skip
    assert last_answer(pressed("tok/delete")) == {"type": 6}


def test_a_submitted_form_and_a_forged_press_need_no_first_answer() -> None:
    assert first_answer(CARD, token, pressed("tok/send") | {"type": 5}) is None
    assert first_answer(CARD, token, pressed("forged")) is None


def test_a_press_is_forwarded_in_discords_format() -> None:
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
