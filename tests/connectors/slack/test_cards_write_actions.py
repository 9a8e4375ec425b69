"""Buttons and inputs as elements; as links and text where presses do not arrive."""

from __future__ import annotations

from typing import Any

import pytest

from bridge.content.cards.rendering import Rendering
from bridge.content.cards.tree import (
    Actions,
    Asset,
    Button,
    Choice,
    Confirm,
    DateInput,
    FileInput,
    Input,
    NumberInput,
    Option,
    Picker,
    Section,
    TextInput,
    Toggle,
)
from bridge.model import Loss
from connectors.slack.cards.write_options import option_values
from tests.connectors.slack.written_cards import (
    FOREIGN,
    Json,
    blocks,
    line_of,
    losses,
    mrkdwn,
    plain,
    prose,
    section,
    token,
)


def button(words: str, at: str, **more: object) -> Json:
    return {
        "type": "button",
        "text": plain(words),
        "action_id": token(at),
        "value": token(at),
        **more,
    }


def row(*elements: Json) -> Json:
    return {"type": "actions", "elements": list(elements)}


def option(words: str, value: str, **more: object) -> Json:
    return {"text": plain(words), "value": value, **more}


def options(count: int) -> tuple[Option, ...]:
    return tuple(Option(line_of(f"o{n}"), f"v{n}") for n in range(count))


# --- buttons --------------------------------------------------------------------------------


def test_buttons_carry_their_tokens() -> None:
    written_blocks = blocks(
        Actions(
            (
                Button(line_of("Yes"), style="good", at="/1"),
                Button(line_of("No"), style="danger", does="submit", at="/2"),
                Button(line_of("Docs"), does="open", url="https://e.example", at="/3"),
                Button(line_of("Bin"), emoji="🗑️", hint="Throws it away", at="/4"),
            )
        )
    )

    assert written_blocks == [
        row(
            button("Yes", "/1", style="primary"),
            button("No", "/2", style="danger"),
            {"type": "button", "text": plain("Docs"), "url": "https://e.example"},
            button("🗑️ Bin", "/4", accessibility_label="Throws it away"),
        )
    ]


def test_an_actions_block_holds_twenty_five_elements() -> None:
    written_blocks = blocks(Actions(tuple(Button(line_of(str(n)), at=f"/{n}") for n in range(30))))

    assert [len(block["elements"]) for block in written_blocks] == [25, 5]


def test_a_confirmation_has_every_text_that_slack_requires() -> None:
    input_block = Confirm(title="Sure?", text=line_of("It is gone then."), ok="Go", danger=True)

    (block,) = blocks(Button(line_of("Delete"), confirm=input_block, at="/b"))

    assert block["elements"][0]["confirm"] == {
        "title": plain("Sure?"),
        "text": plain("It is gone then."),
        "confirm": plain("Go"),
        "deny": plain("Cancel"),
        "style": "danger",
    }


def test_a_long_button_label_is_cut_at_a_word_and_reported_in_full() -> None:
    words = "many words " * 10
    node = Button(line_of(words), at="/b")

    (block,) = blocks(node)

    label = block["elements"][0]["text"]["text"]
    assert label == "many words many words many words many words many words many words many…"
    assert losses(node) == (Loss(path="/b", kind="long_text", what=words.strip(), shown_as=label),)


def test_a_foreign_button_is_a_link_to_the_original_message() -> None:
    node = Button(line_of("Go"), at="/b")

    assert blocks(node, rendering=FOREIGN) == [
        row({"type": "button", "text": plain("Go"), "url": "https://origin.example/1"})
    ]
    assert losses(node, rendering=FOREIGN) == (
        Loss(path="/b", kind="foreign_action", what="Go", shown_as="a link to the original"),
    )


def test_a_foreign_button_without_an_original_url_is_text() -> None:
    node = Button(line_of("Go"), at="/b")

    assert blocks(node, rendering=Rendering()) == [{"type": "context", "elements": [mrkdwn("Go")]}]
    assert losses(node, rendering=Rendering())[0].kind == "foreign_action"


def test_a_disabled_button_is_text_between_two_rows() -> None:
    node = Actions(
        (
            Button(line_of("A"), at="/1"),
            Button(line_of("B"), disabled=True, at="/2"),
            Button(line_of("C"), at="/3"),
        )
    )

    assert blocks(node) == [
        row(button("A", "/1")),
        {"type": "context", "elements": [mrkdwn("B")]},
        row(button("C", "/3")),
    ]
    assert losses(node) == (Loss(path="/2", kind="disabled", what="B", shown_as="its words"),)


def test_a_button_with_an_unsafe_url_is_text_and_a_loss() -> None:
    node = Button(line_of("Go"), does="open", url="javascript:alert(1)", at="/b")

    assert blocks(node) == [{"type": "context", "elements": [mrkdwn("Go")]}]
    assert losses(node) == (
        Loss(
            path="/b",
            kind="unsafe_url",
            what="javascript:alert(1)",
            shown_as="its words, without a link",
        ),
    )


def test_the_content_of_a_reveal_button_is_in_a_collapsible_container() -> None:
    inner = (
        TextInput(label=line_of("Why"), at="/i"),
        Button(line_of("Send"), does="submit", at="/s"),
    )
    node = Button(line_of("More"), does="reveal", nodes=inner, at="/b")

    (block,) = blocks(node)

    assert block == {
        "type": "container",
        "title": plain("More"),
        "child_blocks": [
            {
                "type": "input",
                "label": plain("Why"),
                "element": {"type": "plain_text_input", "action_id": token("/i")},
                "optional": True,
            },
            row(button("Send", "/s")),
        ],
        "is_collapsible": True,
        "default_collapsed": True,
    }
    assert losses(node) == ()


def test_a_reveal_button_without_content_is_written_as_its_label() -> None:
    node = Button(line_of("More"), does="reveal", at="/b")

    assert blocks(node) == [section("*More*")]
    assert losses(node) == (
        Loss(path="/b", kind="reveal_open", what="More", shown_as="what it shows"),
    )


def test_two_actions_with_one_pointer_have_different_action_ids() -> None:
    (block,) = blocks(Actions((Button(line_of("A"), at="/b"), Button(line_of("B"), at="/b"))))

    names = [button_json["action_id"] for button_json in block["elements"]]
    assert names == [token("/b"), f"{token('/b')}~2"]
    assert {button_json["value"] for button_json in block["elements"]} == {token("/b")}


# --- inputs ---------------------------------------------------------------------------------


def input_block(element: Json, label: str = "L", **more: object) -> Json:
    return {"type": "input", "label": plain(label), "element": element, "optional": True, **more}


def named(at: str = "/i") -> Json:
    return {"action_id": token(at)}


def test_a_text_input_keeps_its_limits_and_hints() -> None:
    node = TextInput(
        label=line_of("L"), hint=line_of("H"), placeholder="P", value="v", multiline=True, min=1,
        max=90, dispatches=True, required=True, at="/i",
    )  # fmt: skip

    assert blocks(node) == [
        {
            "type": "input",
            "label": plain("L"),
            "element": {
                "type": "plain_text_input",
                "initial_value": "v",
                "multiline": True,
                "min_length": 1,
                "max_length": 90,
                **named(),
                "placeholder": plain("P"),
            },
            "hint": plain("H"),
            "dispatch_action": True,
        }
    ]


def test_number_and_password_inputs_are_text_inputs() -> None:
    number = NumberInput(label=line_of("L"), value=4.5, min=1, at="/i")
    secret = TextInput(label=line_of("L"), value="hunter2", format="password", at="/j")

    assert blocks(number, secret) == [
        input_block({"type": "plain_text_input", "initial_value": "4.5", **named()}),
        input_block({"type": "plain_text_input", **named("/j")}),
    ]
    assert [(loss.kind, loss.what) for loss in losses(number, secret)] == [
        ("input_rule", "from 1 to …"),
        ("input_format", "password"),
    ]


def test_a_star_rating_input_is_radio_buttons() -> None:
    (block,) = blocks(NumberInput(label=line_of("L"), value=2, max=3, stars=True, at="/i"))

    assert block["element"]["options"] == [
        option("★", "1"), option("★★", "2"), option("★★★", "3")
    ]  # fmt: skip
    assert block["element"]["initial_option"] == option("★★", "2")


def test_date_inputs_and_toggles_are_pickers_and_checkboxes() -> None:
    written_blocks = blocks(
        DateInput(label=line_of("L"), value="2026-11-21", at="/i"),
        DateInput(label=line_of("L"), of="time", value="17:30", at="/i"),
        DateInput(label=line_of("L"), of="datetime", value="1700000000", at="/i"),
        Toggle(label=line_of("L"), title=line_of("I agree"), value=True, on="yes", at="/i"),
    )

    elements = [block["element"] for block in written_blocks]
    assert [{**element, "action_id": ""} for element in elements] == [
        {"type": "datepicker", "initial_date": "2026-11-21", "action_id": ""},
        {"type": "timepicker", "initial_time": "17:30", "action_id": ""},
        {"type": "datetimepicker", "initial_date_time": 1_700_000_000, "action_id": ""},
        {
            "type": "checkboxes",
            "options": [option("I agree", "yes")],
            "initial_options": [option("I agree", "yes")],
            "action_id": "",
        },
    ]


def test_an_invalid_initial_date_is_dropped_and_reported() -> None:
    node = DateInput(label=line_of("L"), value="2026-02-31", at="/i")

    assert blocks(node) == [input_block({"type": "datepicker", **named()})]
    assert losses(node) == (Loss(path="/i", kind="value", what="2026-02-31"),)


def test_choices_are_menus_radio_buttons_or_checkboxes() -> None:
    two = options(2)
    many: dict[str, Any] = {"many": True, "values": ("v1",), "max": 2}
    written_blocks = blocks(
        Choice(label=line_of("L"), options=two, values=("v0",), at="/1"),
        Choice(label=line_of("L"), options=two, **many, at="/2"),
        Choice(label=line_of("L"), options=two, form="list", at="/3"),
        Choice(label=line_of("L"), options=options(11), form="list", at="/4"),
        Choice(label=line_of("L"), external=True, at="/5"),
    )

    elements = [block["element"] for block in written_blocks]
    assert [element["type"] for element in elements] == [
        "static_select", "multi_static_select", "radio_buttons", "static_select",
        "external_select",
    ]  # fmt: skip
    assert elements[0]["initial_option"] == option("o0", "v0")
    assert elements[1]["initial_options"] == [option("o1", "v1")]
    assert elements[1]["max_selected_items"] == 2


def test_options_keep_groups_descriptions_and_emoji() -> None:
    several = (
        Option(line_of("a"), "1", line_of("first"), emoji="🐶", group="G"),
        Option(line_of("b"), "2", group="H"),
    )

    (block,) = blocks(Choice(label=line_of("L"), options=several, at="/i"))

    assert block["element"]["option_groups"] == [
        {"label": plain("G"), "options": [option("🐶 a", "1", description=plain("first"))]},
        {"label": plain("H"), "options": [option("b", "2")]},
    ]


def test_a_list_choice_with_option_groups_is_a_menu() -> None:
    several = (Option(line_of("a"), "1", group="G"),)

    (block,) = blocks(Choice(label=line_of("L"), options=several, form="list", at="/i"))

    assert block["element"]["option_groups"][0]["label"] == plain("G")


def test_more_than_a_hundred_options_are_put_in_option_groups() -> None:
    (block,) = blocks(Choice(label=line_of("L"), options=options(150), at="/i"))

    groups = block["element"]["option_groups"]
    assert [(group["label"]["text"], len(group["options"])) for group in groups] == [
        ("1–100", 100), ("101–150", 50)
    ]  # fmt: skip


def test_a_menu_that_is_too_large_becomes_several_menus() -> None:
    several = tuple(Option(line_of(f"{n} {'o' * 60}"), f"v{n}") for n in range(150))

    written_blocks = blocks(Choice(label=line_of("L"), options=several, at="/i"))

    assert [block["type"] for block in written_blocks] == ["input", "actions", "actions"]
    assert written_blocks[1]["elements"][0]["action_id"] == f"{token('/i')}~2"
    assert losses(Choice(label=line_of("L"), options=several, at="/i"))[0].kind == "options_split"


def test_option_values_that_slack_refuses_are_replaced_by_digests() -> None:
    several = (
        Option(line_of("a"), "v" * 200), Option(line_of("b"), ""), Option(line_of("c"), "same"),
        Option(line_of("d"), "same"),
    )  # fmt: skip

    values = option_values(several)

    assert values[2] == "same"
    assert len({*values}) == 4
    assert all(0 < len(value) <= 75 for value in values)
    assert values == option_values(several)


def test_an_overflow_menu_is_the_accessory_of_its_label() -> None:
    links = (Option(line_of("Docs"), "d", url="https://e.example"),)
    node = Choice(label=line_of("More"), options=links, form="overflow", at="/i")

    assert blocks(node) == [
        section(
            "*More*",
            accessory={
                "type": "overflow",
                "options": [option("Docs", "d", url="https://e.example")],
                **named(),
            },
        )
    ]


def test_pickers_are_written_as_user_channel_and_conversation_selects() -> None:
    written_blocks = blocks(
        Picker(of="people", values=("U0ACME1", "12345"), label=line_of("L"), at="/1"),
        Picker(of="channels", many=True, max=3, label=line_of("L"), at="/2"),
        Picker(of="conversations", among=("private",), here=True, label=line_of("L"), at="/3"),
    )

    assert [block["element"] for block in written_blocks] == [
        {"type": "users_select", "initial_user": "U0ACME1", **named("/1")},
        {"type": "multi_channels_select", "max_selected_items": 3, **named("/2")},
        {
            "type": "conversations_select",
            "filter": {"include": ["private"]},
            "default_to_current_conversation": True,
            **named("/3"),
        },
    ]


def test_the_label_of_a_menu_in_a_row_is_its_placeholder() -> None:
    menu = Choice(label=line_of("Where"), options=options(1), at="/i")

    assert blocks(Actions((menu,))) == [
        row(
            {
                "type": "static_select",
                "options": [option("o0", "v0")],
                **named(),
                "placeholder": plain("Where"),
            }
        )
    ]


def test_a_text_input_in_a_row_is_written_below_it() -> None:
    node = Actions((Button(line_of("A"), at="/b"), TextInput(placeholder="P", at="/i")))

    assert blocks(node) == [
        row(button("A", "/b")),
        input_block({"type": "plain_text_input", **named()}, label="P"),
    ]


@pytest.mark.parametrize(
    ("node", "label"),
    [
        (TextInput(placeholder="Add a comment", at="/i"), "Add a comment"),
        (TextInput(at="/i"), "Text"),
        (NumberInput(at="/i"), "Number"),
        (Picker(of="roles", placeholder="Who may?", at="/i"), "Who may?"),
        (Picker(of="roles", at="/i"), "Roles"),
        (FileInput(at="/i"), "File"),
    ],
)
def test_an_input_without_a_label_is_labelled_by_its_placeholder_or_type(
    node: Input, label: str
) -> None:
    (block,) = blocks(node)

    assert block["label"] == plain(label)


def test_a_text_before_an_input_is_its_label() -> None:
    written_blocks = blocks(prose("Your **name**:"), TextInput(placeholder="Ann", at="/i"))

    assert written_blocks == [
        input_block(
            {"type": "plain_text_input", **named(), "placeholder": plain("Ann")},
            label="Your name:",
        )
    ]


def test_a_picker_may_be_the_accessory_of_a_section() -> None:
    node = Section((prose("text"),), Picker(of="people", at="/i"))

    assert blocks(node) == [section("text", accessory={"type": "users_select", **named()})]


def test_an_error_text_of_an_input_is_not_shown_and_is_reported() -> None:
    node = TextInput(label=line_of("L"), error="Too short", at="/i")

    (block,) = blocks(node)

    assert block["type"] == "input"
    assert [(loss.kind, loss.what, loss.shown_as) for loss in losses(node)] == [
        ("input_error", "Too short", "said when it is wrong")
    ]


def test_foreign_inputs_are_written_as_their_label_and_options() -> None:
    node = Choice(label=line_of("Where"), options=options(2), at="/i")

    (block,) = blocks(node, rendering=FOREIGN)

    assert block["elements"][0]["elements"][0]["text"] == "Where"
    assert [item["elements"][0]["text"] for item in block["elements"][1]["elements"]] == [
        "o0",
        "o1",
    ]
    assert losses(node, rendering=FOREIGN) == (
        Loss(path="/i", kind="foreign_action", what="Where", shown_as="what it asks"),
    )


def test_file_inputs_and_role_pickers_are_text_inputs() -> None:
    """Messages take no files, and Slack has no roles."""
    file = FileInput(label=line_of("File"), kinds=("pdf",), at="/f")
    roles = Picker(of="roles", label=line_of("R"), placeholder="Which?", many=True, at="/r")

    assert blocks(file, roles) == [
        input_block(
            {"type": "plain_text_input", "placeholder": plain("https://…"), **named("/f")},
            label="File",
        ),
        input_block(
            {
                "type": "plain_text_input",
                "multiline": True,
                **named("/r"),
                "placeholder": plain("Which?"),
            },
            label="R",
        ),
    ]
    assert losses(file, roles) == (
        Loss(path="/f", kind="file_input", what="a file (pdf)", shown_as="its address to write"),
        Loss(path="/r", kind="picker", what="roles", shown_as="their names to write"),
    )


def test_a_single_choice_keeps_one_of_several_initial_values() -> None:
    node = Choice(label=line_of("L"), options=options(3), values=("v1", "v2"), at="/i")

    (block,) = blocks(node)

    assert block["element"]["initial_option"] == option("o1", "v1")
    assert losses(node) == (
        Loss(path="/i", kind="chosen", what="o2", shown_as="an option that is not chosen"),
    )


def test_initial_values_are_limited_to_the_maximum() -> None:
    node = Choice(label=line_of("L"), options=options(3), values=("v0", "v2"), many=True, max=1)

    (block,) = blocks(node)

    assert block["element"]["max_selected_items"] == 1
    assert block["element"]["initial_options"] == [option("o0", "v0")]
    assert [loss.what for loss in losses(node)] == ["o2"]


def test_the_limit_of_checkboxes_and_the_value_of_an_overflow_are_reported() -> None:
    boxes = Choice(options=options(3), form="list", many=True, max=2, label=line_of("L"))
    dots = Choice(options=options(2), form="overflow", values=("v1",))

    assert [(loss.kind, loss.what) for loss in losses(boxes, dots)] == [
        ("input_rule", "at most 2"),
        ("chosen", "o1"),
    ]


def test_a_picture_on_a_button_is_a_loss() -> None:
    node = Button(line_of("Go"), icon=Asset(url="https://e.example/i.png", alt="flag"), at="/b")

    assert losses(node) == (Loss(path="/b", kind="icon", what="flag"),)
