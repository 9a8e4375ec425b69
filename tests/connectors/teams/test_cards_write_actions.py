"""Buttons, confirmations and overflow menus in Adaptive Cards."""

from __future__ import annotations

import pytest

from bridge.content.cards.rendering import Rendering
from bridge.content.cards.tree import (
    Actions,
    Asset,
    Button,
    Choice,
    Confirm,
    Container,
    Option,
    Section,
    TextInput,
)
from bridge.content.text.tree import Emphasis, Text
from tests.connectors.teams.written import (
    FOREIGN,
    Json,
    elements,
    kinds,
    line,
    press,
    prose,
    text,
    write,
)


def actions(*buttons: Button | Choice, **rendering: Rendering) -> list[Json]:
    (row,) = elements(Actions(buttons), **rendering)
    assert row["type"] == "ActionSet"
    return row["actions"]


def toggle(title: str, *targets: str, **more: str) -> Json:
    look = {"title": title, **more}
    return {"type": "Action.ToggleVisibility", **look, "targetElements": list(targets)}


# --- actions of buttons -------------------------------------------------------------------------


def test_a_button_carries_the_token_of_its_action() -> None:
    assert actions(Button(line("Approve"), id="a", value={"n": 1}, at="/b")) == [
        press("Approve", "token/b")
    ]


def test_a_button_keeps_its_style_icon_and_tooltip() -> None:
    icon = Asset(url="https://a.example/i.png")

    assert actions(
        Button(line("Yes"), style="good", emoji="👍", hint="do it", disabled=True, at="/a"),
        Button(line("No"), style="danger", secondary=True, icon=icon, at="/b"),
        Button(line("Maybe"), style="primary", at="/c"),
    ) == [
        press("👍 Yes", "token/a", style="positive", tooltip="do it", isEnabled=False),
        press(
            "No",
            "token/b",
            style="destructive",
            mode="secondary",
            iconUrl="https://a.example/i.png",
        ),
        press("Maybe", "token/c", style="positive"),
    ]


@pytest.mark.parametrize(
    ("button", "title"),
    [
        (Button((Text("a "), Emphasis(line("b")))), "a b"),
        (Button((), emoji="👍"), "👍"),
        (Button((), hint="what it does"), "what it does"),
        (Button(()), "…"),
        (Button(line(" "), hint="what it does"), "what it does"),
        (Button(line(" "), hint=" "), "…"),
    ],
)
def test_a_button_always_has_a_title(button: Button, title: str) -> None:
    assert actions(button)[0]["title"] == title


def test_a_link_button_with_an_unsafe_url_is_written_as_text() -> None:
    good = Button(line("Open"), does="open", url="https://a.example/ä b")
    bad = Button(line("*Run*"), does="open", url="javascript:alert(1)", at="/b")

    written = write(Actions((good, bad)))

    assert elements(Actions((good, bad))) == [
        {
            "type": "ActionSet",
            "actions": [
                {
                    "type": "Action.OpenUrl",
                    "title": "Open",
                    "url": "https://a.example/%C3%A4%20b",
                }
            ],
        },
        text("\\*Run\\*"),
    ]
    assert kinds(written) == [("/b", "unsafe_link", "javascript:alert(1)")]


def test_a_reveal_button_is_a_show_card_action() -> None:
    inner = Actions((Button(line("Go"), at="/in"),))
    reveal = Button(line("More"), does="reveal", nodes=(prose("x"), inner), secondary=True)

    assert actions(reveal) == [
        {
            "type": "Action.ShowCard",
            "title": "More",
            "card": {
                "type": "AdaptiveCard",
                "body": [
                    text("x"),
                    {"type": "ActionSet", "actions": [press("Go", "token/in")]},
                ],
            },
        }
    ]


def test_a_reveal_button_inside_a_show_card_toggles_a_container() -> None:
    inner = Button(line("Even more"), does="reveal", nodes=(prose("y"),))
    reveal = Button(line("More"), does="reveal", nodes=(inner, prose("x")))

    assert actions(reveal)[0]["card"]["body"] == [
        {"type": "ActionSet", "actions": [toggle("Even more", "part")]},
        {"type": "Container", "id": "part", "isVisible": False, "items": [text("y")]},
        text("x"),
    ]


def test_a_toggle_button_toggles_its_targets() -> None:
    box = Container((prose("x"),), id="box", hidden=True)

    assert elements(Button(line("Show"), does="toggle", targets=("box",)), box) == [
        {"type": "ActionSet", "actions": [toggle("Show", "box")]},
        {"type": "Container", "items": [text("x")], "id": "box", "isVisible": False},
    ]


def test_a_toggle_button_without_a_target_is_reported() -> None:
    written = write(Button(line("Show"), does="toggle", targets=("box",)))

    assert kinds(written) == [("", "toggle_without_target", "Show")]


# --- rows ---------------------------------------------------------------------------------------


def test_neighbouring_buttons_share_a_row() -> None:
    assert [
        element["type"] for element in elements(Button(line("a")), Button(line("b")), prose("x"))
    ] == [
        "ActionSet",
        "TextBlock",
    ]


def test_buttons_after_the_sixth_are_in_the_overflow_menu() -> None:
    row = actions(*(Button(line(str(n)), at=f"/{n}") for n in range(8)))

    assert [action.get("mode") for action in row] == [None] * 6 + ["secondary"] * 2
    assert row[7] == press("7", "token/7", mode="secondary")


def test_a_show_card_action_is_never_in_the_overflow_menu() -> None:
    buttons = tuple(Button(line(str(n))) for n in range(6))
    reveal = Button(line("More"), does="reveal", nodes=(prose("x"),))

    first, second = elements(Actions((*buttons, reveal)))

    assert len(first["actions"]) == 6
    assert "mode" not in second["actions"][0]


def test_an_overflow_choice_is_the_overflow_menu_of_its_row() -> None:
    menu = Choice(
        form="overflow",
        options=(
            Option(line("Edit"), "edit", line("change it"), "✏️"),
            Option(line("Help"), "help", url="https://a.example/help"),
        ),
        at="/menu",
    )
    data = {"token": "token/menu", "value": "edit"}
    edit: Json = {"title": "✏️ Edit", "tooltip": "change it", "mode": "secondary"}

    assert actions(Button(line("Go"), at="/b"), menu) == [
        press("Go", "token/b"),
        {
            "type": "Action.Execute",
            **edit,
            "verb": "press",
            "data": data,
            "fallback": {"type": "Action.Submit", **edit, "data": data},
        },
        {
            "type": "Action.OpenUrl",
            "title": "Help",
            "mode": "secondary",
            "url": "https://a.example/help",
        },
    ]


def test_an_overflow_choice_beside_text_opens_its_urls() -> None:
    menu = Choice(
        form="overflow",
        options=(
            Option(line("Edit"), "edit"), Option(line("View"), "v", url="https://a.example/1"),
        ),
        dispatches=True,
        at="/menu",
    )  # fmt: skip

    section = Section((prose("x"),), menu)

    (row,) = elements(section)
    (_, aside) = row["columns"]
    (dots,) = aside["items"]
    assert aside["width"] == "auto"
    assert [(dot["type"], dot["title"]) for dot in dots["actions"]] == [
        ("Action.Execute", "Edit"), ("Action.OpenUrl", "View"),
    ]  # fmt: skip
    assert kinds(write(section)) == []


def test_one_button_after_one_text_input_is_its_inline_action() -> None:
    (element,) = elements(
        Actions(
            (TextInput(placeholder="Say", at="/t"), Button(line("Send"), does="submit", at="/b"))
        )
    )

    assert element == {
        "type": "Input.Text",
        "id": "token/t",
        "placeholder": "Say",
        "inlineAction": press("Send", "token/b"),
    }


# --- questions first ----------------------------------------------------------------------------

SURE = Confirm("Sure?", line("It is gone then."), "Delete it", "Keep it", danger=True)


def test_a_confirmation_is_a_show_card_with_two_buttons() -> None:
    button = Button(line("Delete"), style="danger", hint="for good", confirm=SURE, at="/b")

    assert actions(button) == [
        {
            "type": "Action.ShowCard",
            "title": "Delete",
            "style": "destructive",
            "tooltip": "for good",
            "card": {
                "type": "AdaptiveCard",
                "body": [
                    {
                        "type": "Container",
                        "id": "question",
                        "items": [
                            text("Sure?", weight="bolder"),
                            text("It is gone then."),
                            {
                                "type": "ActionSet",
                                "actions": [
                                    press("Delete it", "token/b", style="destructive"),
                                    toggle("Keep it", "question", "again"),
                                ],
                            },
                        ],
                    },
                    {
                        "type": "ActionSet",
                        "id": "again",
                        "isVisible": False,
                        "actions": [toggle("↩", "question", "again")],
                    },
                ],
            },
        }
    ]


def test_a_confirmation_inside_a_show_card_toggles_a_container() -> None:
    inner = Button(line("Delete"), confirm=SURE, at="/b")
    reveal = Button(line("More"), does="reveal", nodes=(inner,))

    assert actions(reveal)[0]["card"]["body"] == [
        {"type": "ActionSet", "actions": [toggle("Delete", "part")]},
        {
            "type": "Container",
            "id": "part",
            "isVisible": False,
            "items": [
                text("Sure?", weight="bolder"),
                text("It is gone then."),
                {
                    "type": "ActionSet",
                    "actions": [
                        press("Delete it", "token/b", style="destructive"),
                        toggle("Keep it", "part"),
                    ],
                },
            ],
        },
    ]


def test_the_confirmation_of_a_reveal_button_toggles_its_content() -> None:
    question = Confirm(text=line("Really?"))
    button = Button(line("More"), does="reveal", nodes=(prose("x"),), confirm=question)

    body = actions(button)[0]["card"]["body"]

    assert body[0]["items"][1:] == [
        {
            "type": "ActionSet",
            "actions": [toggle("OK", "part"), toggle("Cancel", "question", "again")],
        },
        {"type": "Container", "id": "part", "isVisible": False, "items": [text("x")]},
    ]


# --- inputs and presses -------------------------------------------------------------------------


def test_a_submit_button_sends_all_inputs_and_a_press_button_none() -> None:
    _, row = elements(
        TextInput(label=line("Name"), at="/t"),
        Actions((Button(line("Send"), does="submit", at="/s"), Button(line("Later"), at="/l"))),
    )

    sends, later = row["actions"]
    assert sends == press("Send", "token/s")
    assert (later["associatedInputs"], later["fallback"]["associatedInputs"]) == ("none", "none")


def test_a_press_button_sends_the_inputs_when_no_submit_button_does() -> None:
    _, row = elements(TextInput(label=line("Name"), at="/t"), Button(line("Go"), at="/g"))

    assert row["actions"][0]["associatedInputs"] == "auto"


def test_the_data_of_a_submit_button_lists_multi_value_inputs() -> None:
    menu = Choice(many=True, options=(Option(line("a"), "a"),), label=line("Which"), at="/m")

    _, row = elements(menu, Button(line("Send"), does="submit", at="/s"))

    assert row["actions"][0]["data"] == {"token": "token/s", "many": ["token/m"]}
    assert row["actions"][0]["fallback"]["data"] == {"token": "token/s", "many": ["token/m"]}


# --- foreign actions ----------------------------------------------------------------------------


def test_a_foreign_button_links_to_the_original_message() -> None:
    button = Button(line("Approve"), style="primary", confirm=SURE, at="/b")

    written = write(button, rendering=FOREIGN)

    assert elements(button, rendering=FOREIGN) == [
        {
            "type": "ActionSet",
            "actions": [
                {
                    "type": "Action.OpenUrl",
                    "title": "Approve",
                    "style": "positive",
                    "url": "https://origin.example/1",
                }
            ],
        }
    ]
    assert kinds(written) == [
        ("/b", "foreign_action", "Approve"),
        ("/b", "confirm_dialog", "Sure? / It is gone then. / Delete it / Keep it"),
    ]


def test_a_foreign_button_without_an_original_url_is_text() -> None:
    button = Button(line("Approve"), hint="the plan", at="/b")

    written = write(button, rendering=Rendering())

    assert elements(button, rendering=Rendering()) == [text("Approve")]
    assert [(loss.kind, loss.what, loss.shown_as) for loss in written.losses] == [
        ("foreign_action", "Approve", "text"),
        ("hint_dropped", "the plan", ""),
    ]


def test_link_and_reveal_buttons_work_in_foreign_cards() -> None:
    opens = Button(line("Open"), does="open", url="https://a.example")
    reveal = Button(line("More"), does="reveal", nodes=(prose("x"),))

    row = actions(opens, reveal, rendering=FOREIGN)

    assert [action["type"] for action in row] == ["Action.OpenUrl", "Action.ShowCard"]
    assert write(opens, reveal, rendering=FOREIGN).losses == ()


def test_the_cut_title_of_a_button_is_reported_in_full() -> None:
    words = " ".join(f"word{n}" for n in range(60))

    written = write(Button(line(words), at="/b"))

    (row,) = elements(Button(line(words), at="/b"))
    title = row["actions"][0]["title"]
    (loss,) = written.losses
    assert (len(title) <= 200, loss.kind) == (True, "title_cut")
    assert f"{title.removesuffix('…')} {loss.what}" == words
