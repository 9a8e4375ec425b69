"""Buttons, menus, inputs and forms -> rows of components, links, texts and modals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bridge.content.cards.rendering import Rendering
from bridge.content.cards.tree import (
    Actions,
    Asset,
    Button,
    Card,
    Choice,
    Column,
    Columns,
    Confirm,
    Container,
    DateInput,
    FileInput,
    Form,
    Image,
    Input,
    Node,
    NumberInput,
    Option,
    Picker,
    TextInput,
    Toggle,
)
from bridge.content.cards.walk import walk
from bridge.content.text.tree import Emoji, Text
from bridge.model import Loss
from connectors.discord.cards import (
    chosen_values,
    form_behind,
    option_values,
    read_form,
    token_of,
    write_components,
    write_form,
)
from tests.connectors.discord.card_words import bold, line, picture, prose
from tests.connectors.discord.discord_rules import faults, modal_faults

TOKENS = Rendering(token=lambda at: f"token{at.replace('/', '-')}")
ORIGIN = "https://slack.example/archives/C1/p1"
FOREIGN = Rendering(origin=ORIGIN)
UNHEARD = Rendering()


def write(*nodes: Node, rendering: Rendering = TOKENS) -> tuple[list[Any], list[Loss]]:
    written = write_components(Card(nodes), rendering)
    (message,) = written.messages
    assert faults(message.body) == []
    components: Any = message.body["components"]
    return components, list(written.losses)


def shown_components(*nodes: Node, rendering: Rendering = TOKENS) -> list[Any]:
    return write(*nodes, rendering=rendering)[0]


def only(node: Node, rendering: Rendering = TOKENS) -> Any:
    """Return the single component of the single row."""
    (row,) = shown_components(node, rendering=rendering)
    assert row["type"] == 1
    (component,) = row["components"]
    return component


def lost(node: Node, rendering: Rendering = TOKENS) -> list[tuple[str, str]]:
    return [(loss.kind, loss.what) for loss in write(node, rendering=rendering)[1]]


def button(label: str = "Go", at: str = "/b", **more: Any) -> Button:
    return Button(line(label), at=at, **more)


SEND = button("Send", "/s", does="submit")


def options(number: int) -> tuple[Option, ...]:
    return tuple(Option(line(f"Option {n}"), f"v{n}") for n in range(number))


# --- buttons --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("style", "number"), [("primary", 1), ("default", 2), ("good", 3), ("danger", 4)]
)
def test_a_button_carries_the_token_of_its_action(style: Any, number: int) -> None:
    assert only(button(style=style, disabled=True)) == {
        "type": 2, "style": number, "custom_id": "token-b", "label": "Go", "disabled": True,
    }  # fmt: skip


def test_a_row_holds_five_buttons_and_neighbouring_buttons_share_rows() -> None:
    many = tuple(button(str(n)) for n in range(7))

    assert [len(row["components"]) for row in shown_components(Actions(many))] == [5, 2]
    assert [len(row["components"]) for row in shown_components(*many[:3])] == [3]


def test_a_link_button_opens_its_address() -> None:
    assert only(button(does="open", url="https://x.example/<a b>")) == {
        "type": 2, "style": 5, "url": "https://x.example/%3Ca%20b%3E", "label": "Go",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("url", "content"),
    [
        ("https://x.example/" + "u" * 600, f"[Go](https://x.example/{'u' * 600})"),
        ("http://intranet/x", "[Go](http://intranet/x)"),
        ("mailto:ann@x.example", "Go (ann\\@x.example)"),
    ],
)
def test_a_url_that_a_link_button_refuses_becomes_a_link_in_text(url: str, content: str) -> None:
    (text,) = shown_components(button(does="open", url=url))

    assert text["content"].replace("\\", "") == content.replace("\\", "")
    assert lost(button(does="open", url=url)) == [("button_as_link", "Go")]


def test_a_url_with_a_non_web_scheme_is_not_linked() -> None:
    node = button(does="open", url="javascript:alert(1)")

    assert shown_components(node) == [{"type": 10, "content": "**Go**"}]
    assert lost(node) == [("unsafe_link", "javascript:alert(1)")]


def test_a_foreign_button_links_to_the_original_message() -> None:
    assert only(button(), FOREIGN) == {"type": 2, "style": 5, "url": ORIGIN, "label": "Go"}
    assert write(button(), rendering=FOREIGN)[1] == [
        Loss(path="/b", kind="foreign_action", what="Go", shown_as=ORIGIN)
    ]


def test_a_foreign_button_without_an_original_url_is_text_in_its_place() -> None:
    buttons = (
        button("A"),
        button("B", emoji="👍"),
        button("C", does="open", url="https://x.example"),
    )

    assert shown_components(Actions(buttons), rendering=UNHEARD) == [
        {"type": 10, "content": "**A** · 👍 **B**"},
        {
            "type": 1,
            "components": [{"type": 2, "style": 5, "url": "https://x.example", "label": "C"}],
        },
    ]


def test_a_unicode_emoji_is_the_buttons_emoji_and_any_other_is_in_the_label() -> None:
    own = (Emoji("party", url="https://cdn.discordapp.com/emojis/5.webp"), Text(" Go"))

    assert only(button(emoji="👍"))["emoji"] == {"name": "👍"}
    assert only(button(emoji=":party:"))["label"] == ":party: Go"
    assert only(Button(own, at="/b"))["label"] == ":party: Go"


def test_a_long_button_label_is_cut_and_reported() -> None:
    label = "word " * 30

    assert len(only(button(label))["label"]) <= 80
    assert lost(button(label)) == [("cut_label", label.strip())]


def test_the_icon_hint_and_confirmation_of_a_button_are_reported_as_losses() -> None:
    node = button(
        icon=Asset(url="https://x.example/i.png", alt="a sign"),
        hint="press me",
        confirm=Confirm(title="Sure?", text=line("Really."), ok="Yes", cancel="No"),
    )

    assert lost(node) == [
        ("button_icon", "a sign"),
        ("button_hint", "press me"),
        ("confirm_dialog", "Sure? · Really. · Yes · No"),
    ]


def test_a_button_without_a_label_or_emoji_is_labelled_with_an_ellipsis() -> None:
    assert only(Button((), at="/b"))["label"] == "…"


def test_a_premium_button_is_written_as_premium_unless_it_is_foreign() -> None:
    node = button("Premium", value={"sku_id": "77"}, emoji="🛒")

    assert only(node) == {"type": 2, "style": 6, "sku_id": "77"}
    assert only(node, FOREIGN)["style"] == 5


def test_the_content_of_a_reveal_button_is_shown_below_its_label() -> None:
    node = button("More", does="reveal", nodes=(prose("inner"), picture("https://x.example/a.png")))

    components = shown_components(Actions((button("A"), node, button("B"))))

    assert [component["type"] for component in components] == [1, 10, 10, 12, 1]
    assert [component.get("content") for component in components][1:3] == ["**More**", "inner"]
    assert lost(node) == [("reveal_shown", "More")]


def test_a_toggle_button_is_reported_because_its_target_is_shown() -> None:
    components, losses = write(prose("x"), button("Details", does="toggle", targets=("box",)))

    assert components == [{"type": 10, "content": "x"}]
    assert [(loss.kind, loss.what) for loss in losses] == [("toggle_shown", "Details")]


# --- menus ----------------------------------------------------------------------------------


def test_a_choice_is_a_menu_in_a_row_of_its_own() -> None:
    node = Choice(
        label=line("Pick *one*"),
        hint=line("any"),
        placeholder="Colour",
        options=(
            Option(line("Red"), "r", line("like fire"), "🔥"),
            Option(line("Blue"), "b", (), ":sea:"),
        ),
        values=("b",),
        disabled=True,
        at="/c",
    )

    assert shown_components(node) == [
        {"type": 10, "content": "**Pick \\*one\\***"},
        {
            "type": 1,
            "components": [
                {
                    "type": 3,
                    "custom_id": "token-c",
                    "options": [
                        {
                            "label": "Red",
                            "value": "r",
                            "description": "like fire",
                            "emoji": {"name": "🔥"},
                        },
                        {"label": ":sea: Blue", "value": "b", "default": True},
                    ],
                    "placeholder": "Colour",
                    "disabled": True,
                }
            ],
        },
        {"type": 10, "content": "-# any"},
    ]


def test_the_label_of_a_menu_without_a_placeholder_is_its_placeholder() -> None:
    assert only(Choice(label=line("Pick"), options=options(2), at="/c"))["placeholder"] == "Pick"


@pytest.mark.parametrize(
    ("more", "minimum", "maximum"),
    [
        ({}, None, None),
        ({"min": 0}, 0, None),
        ({"many": True}, 0, 3),
        ({"many": True, "required": True}, 1, 3),
        ({"many": True, "min": 2, "max": 99}, 2, 3),
        ({"many": True, "min": 9, "max": 2}, 2, 2),
    ],
)
def test_the_selection_limits_of_a_menu_stay_within_its_options(
    more: Any, minimum: Any, maximum: Any
) -> None:
    menu = only(Choice(options=options(3), at="/c", **more))

    assert (menu.get("min_values"), menu.get("max_values")) == (minimum, maximum)


def test_more_than_twenty_five_options_are_split_over_several_menus() -> None:
    node = Choice(placeholder="Pick", options=options(60), at="/c")

    rows = shown_components(node)

    menus = [row["components"][0] for row in rows]
    assert [len(menu["options"]) for menu in menus] == [25, 25, 10]
    assert [menu["placeholder"] for menu in menus] == ["Pick (1/3)", "… (2/3)", "… (3/3)"]
    assert {token_of(menu["custom_id"]) for menu in menus} == {"token-c"}
    assert lost(node) == [("split_options", "60 options in one menu")]


def test_options_that_are_links_are_buttons_in_their_place() -> None:
    node = Choice(
        options=(
            Option(line("A"), "a"),
            Option(line("Docs"), "d", url="https://x.example"),
            Option(line("B"), "b"),
        ),
        form="overflow",
        at="/c",
    )

    kinds = [row["components"][0]["type"] for row in shown_components(node)]

    assert kinds == [3, 2, 3]


@pytest.mark.parametrize("values", [("", "b"), ("a", "a"), ("x" * 200, "b")])
def test_invalid_option_values_are_numbered_and_mapped_back(
    values: tuple[str, str],
) -> None:
    node = Choice(options=tuple(Option(line("o"), value) for value in values), at="/c")

    written = [option["value"] for option in only(node)["options"]]

    assert written == list(option_values(node)) == ["0", "1"]
    assert chosen_values(node, ("1",)) == (values[1],)
    assert chosen_values(node, ("other",)) == ("other",)


def test_an_option_group_is_in_the_description_where_it_fits() -> None:
    long = "d" * 99
    node = Choice(
        options=(
            Option(line("P1"), "1", group="High"),
            Option(line("P2"), "2", line("soon"), group="High"),
            Option(line("P3"), "3", line(long), group="Low"),
        ),
        at="/c",
    )

    described = [option["description"] for option in only(node)["options"]]
    assert described == ["High", "High · soon", long]
    assert lost(node) == [("option_group", "Low")]


def test_the_groups_of_link_options_are_reported_as_losses() -> None:
    url = "https://x.example/"
    node = Choice(options=tuple(Option(line(n), n, url=url, group="G") for n in "ab"), at="/c")

    assert lost(node) == [("option_group", "G")]


def test_a_cut_option_label_is_reported_as_a_loss() -> None:
    long = "l" * 150

    assert lost(Choice(options=(Option(line(long), "a"),), at="/c")) == [("cut_option", long)]


@pytest.mark.parametrize(
    ("of", "kind", "value", "default"),
    [
        ("people", 5, "12", {"id": "12", "type": "user"}),
        ("roles", 6, "12", {"id": "12", "type": "role"}),
        ("mentionables", 7, "&12", {"id": "12", "type": "role"}),
        ("channels", 8, "12", {"id": "12", "type": "channel"}),
        ("conversations", 8, "12", {"id": "12", "type": "channel"}),
    ],
)
def test_pickers_are_written_as_discords_entity_selects(
    of: Any, kind: int, value: str, default: Any
) -> None:
    node = Picker(of=of, placeholder="Who?", values=(value, "U0ACME1"), at="/p")

    assert only(node) == {
        "type": kind,
        "custom_id": "token-p",
        "placeholder": "Who?",
        "default_values": [default],
    }
    assert lost(node) == [("picked_before", "U0ACME1")]


def test_a_foreign_menu_is_written_as_a_list() -> None:
    node = Choice(label=line("Pick"), options=options(2), at="/c")

    assert shown_components(node, rendering=UNHEARD) == [
        {"type": 10, "content": "**Pick**\n\n- Option 0\n- Option 1"}
    ]
    assert lost(node, UNHEARD) == [("foreign_action", "Pick · Option 0 · Option 1")]


@pytest.mark.parametrize("rendering", [TOKENS, UNHEARD])
def test_a_menu_of_links_becomes_link_buttons_with_the_text_of_the_menu(
    rendering: Rendering,
) -> None:
    links = [Option(line(name), name, url=f"https://x.example/{name}") for name in ("a", "b")]
    node = Choice(
        label=line("Where to"), placeholder="Choose a page", options=tuple(links), disabled=True,
        at="/c",
    )  # fmt: skip

    assert shown_components(node, rendering=rendering) == [
        {"type": 10, "content": "**Where to**"},
        {"type": 10, "content": "-# Choose a page"},
        {
            "type": 1,
            "components": [
                {"type": 2, "style": 5, "url": f"https://x.example/{name}", "label": name,
                 "disabled": True}
                for name in ("a", "b")
            ],
        },
    ]  # fmt: skip


def test_an_unsafe_option_url_is_reported_as_a_loss() -> None:
    node = Choice(options=(Option(line("Call"), "c", url="javascript:x", at="/o"),), at="/c")

    assert lost(node) == [("unsafe_link", "javascript:x")]


# --- inputs ---------------------------------------------------------------------------------


def test_neighbouring_inputs_form_one_modal_behind_one_button() -> None:
    name = TextInput(label=line("Name"), placeholder="Ann", hint=line("first"), at="/n")
    day = DateInput(label=line("Day"), at="/d")

    components, losses = write(prose("x"), name, day, prose("y"))

    assert components == [
        {"type": 10, "content": "x"},
        {"type": 10, "content": "-# Name (Ann) · first\n-# Day"},
        {
            "type": 1,
            "components": [{"type": 2, "style": 2, "label": "Fill in", "custom_id": "token-n"}],
        },
        {"type": 10, "content": "y"},
    ]
    assert [(loss.path, loss.kind, loss.what) for loss in losses] == [
        ("/n", "input_in_form", "Name · Ann · first"),
        ("/d", "input_in_form", "Day"),
    ]


def test_input_labels_without_other_text_share_one_line() -> None:
    nodes = (TextInput(label=line("Name"), at="/n"), DateInput(label=line("Day"), at="/d"))

    assert shown_components(*nodes, SEND)[0] == {"type": 10, "content": "-# Name · Day"}


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (TextInput(placeholder="Your name", at="/i"), "Your name"),
        (TextInput(label=line("Name"), placeholder="Ann", at="/i"), "Name (Ann)"),
        (TextInput(placeholder="Your name", value="Ann", at="/i"), "Ann"),
        (DateInput(at="/i"), "Date"),
        (DateInput(of="time", at="/i"), "Time"),
    ],
)
def test_an_input_without_a_label_is_described_above_its_submit_button(
    node: Input, expected: str
) -> None:
    assert shown_components(node, SEND)[0] == {"type": 10, "content": f"-# {expected}"}


def test_a_text_before_an_input_is_its_label_and_is_not_repeated() -> None:
    components = shown_components(prose("Your name:"), TextInput(at="/n"), SEND)

    assert [component.get("content") for component in components] == ["Your name:", None]


@pytest.mark.parametrize(
    ("node", "label"),
    [
        (TextInput(placeholder="Your name", at="/i"), "Your name"),
        (TextInput(label=line("Name"), placeholder="Ann", at="/i"), "Name"),
        (Toggle(title=line("Every day"), at="/i"), "☐ Every day"),
        (TextInput(at="/i"), "Text"),
        (NumberInput(stars=True, at="/i"), "Rating"),
        (FileInput(at="/i"), "File"),
    ],
)
def test_a_form_without_a_submit_button_gets_one_named_after_its_input(
    node: Input, label: str
) -> None:
    (*_, row) = shown_components(node)

    assert row["components"][0]["label"] == label


def test_the_form_buttons_of_one_message_have_different_labels() -> None:
    nodes = [TextInput(placeholder="Comment", at=f"/{number}") for number in range(2)]

    components = shown_components(nodes[0], prose("x"), nodes[1])

    labels = [
        component["components"][0]["label"] for component in components if component["type"] == 1
    ]
    assert labels == ["Comment", "Comment (2)"]


def test_the_label_of_a_form_button_differs_from_the_messages_other_buttons() -> None:
    components = shown_components(
        TextInput(placeholder="Comment", at="/i"), prose("x"), button("Comment", "/b")
    )

    labels = [
        component["components"][0]["label"] for component in components if component["type"] == 1
    ]
    assert labels == ["Comment (2)", "Comment"]


def test_an_input_that_dispatches_changes_has_its_own_form() -> None:
    days = [DateInput(placeholder=word, dispatches=True, at=f"/{word}") for word in ("a", "b")]
    card = Card((Actions((days[0], days[1])),))

    (row,) = shown_components(*card.nodes)

    assert [component["label"] for component in row["components"]] == ["a", "b"]
    assert form_behind(card, days[1]) == Form("b", (days[1],), at="/b")


def test_disabled_inputs_have_no_form_button() -> None:
    components, losses = write(TextInput(label=line("Name"), disabled=True, at="/n"))

    assert components == [{"type": 10, "content": "-# Name"}]
    assert [(loss.kind, loss.what) for loss in losses] == [("disabled_input", "Name")]


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (DateInput(value="2026-11-21", at="/i"), "When: 2026-11-21"),
        (DateInput(of="time", value="17:30", at="/i"), "When: 17:30"),
        (DateInput(of="datetime", value="1700000000", at="/i"), "When: <t:1700000000:f>"),
        (NumberInput(value=4.5, at="/i"), "When: 4.5"),
        (NumberInput(value=1200.0, at="/i"), "When: 1200"),
        (TextInput(value="soon\nor later", at="/i"), "When: soon\n-# or later"),
        (TextInput(value="hunter2", format="password", at="/i"), "When"),
        (Toggle(title=line("Every day"), value=True, at="/i"), "When: ☑ Every day"),
        (Toggle(title=line("Every day"), at="/i"), "When: ☐ Every day"),
        (
            Choice(external=True, options=options(3), values=("v1", "v2"), at="/i"),
            "When: Option 1, Option 2",
        ),
    ],
)
def test_the_initial_value_of_an_input_is_shown_above_the_button(
    node: Input, expected: str
) -> None:
    components, losses = write(replace(node, label=line("When")), SEND)

    assert components[0] == {"type": 10, "content": f"-# {expected}"}
    assert [loss.kind for loss in losses] == ["input_in_form"]


def test_surplus_optional_inputs_are_reported_and_required_ones_are_kept() -> None:
    nodes = [
        TextInput(label=line(str(n)), required=n == 46, at=f"/{n}") for n in range(47)
    ]  # fmt: skip

    losses = write(*nodes, SEND)[1]

    lost_ones = [loss.path for loss in losses if loss.kind == "input_without_room"]
    assert lost_ones == ["/44", "/45"]


def test_the_submit_button_of_the_inputs_opens_the_form() -> None:
    name = TextInput(label=line("Name"), at="/n")

    components = shown_components(name, Actions((button("Send", does="submit"),)))

    assert components == [
        {"type": 10, "content": "-# Name"},
        {
            "type": 1,
            "components": [{"type": 2, "style": 2, "custom_id": "token-b", "label": "Send"}],
        },
    ]


@pytest.mark.parametrize(
    ("node", "label"),
    [
        (Choice(external=True, at="/c"), "Choice"),
        (Choice(at="/c"), "Choice"),
        (Toggle(at="/c"), "Yes or no"),
    ],
)
def test_a_choice_without_options_is_asked_in_a_form(node: Input, label: str) -> None:
    assert only(node)["label"] == label
    assert form_behind(Card((node,)), node) == Form(label, (node,), at="/c")


def test_foreign_inputs_are_written_as_text() -> None:
    node = TextInput(label=line("Name"), value="Ann", at="/n")

    assert shown_components(node, rendering=FOREIGN) == [{"type": 10, "content": "**Name** Ann"}]
    assert lost(node, FOREIGN) == [("foreign_action", "Name · Ann")]


def test_a_password_value_appears_in_no_loss() -> None:
    node = TextInput(label=line("Key"), value="hunter2", format="password", at="/n")

    written = write_components(Card((node,)), TOKENS)

    assert "hunter2" not in str(written)


# --- the form behind a button ---------------------------------------------------------------


def test_the_form_behind_a_submit_button_has_all_inputs_of_its_card() -> None:
    name, menu = TextInput(label=line("Name"), at="/n"), Choice(options=options(2), at="/c")
    day = DateInput(label=line("Day"), at="/d")
    dispatching = TextInput(label=line("Told"), dispatches=True, at="/t")
    locked = TextInput(label=line("Locked"), disabled=True, at="/l")
    send = button("Send", does="submit", id="send")
    card = Card((name, menu, dispatching, locked, Container((day, Actions((send,))))))

    assert form_behind(card, send) == Form("Send", (name, menu, day), id="send")


def test_a_text_before_an_input_is_its_label_in_the_form() -> None:
    day = DateInput(at="/d")
    card = Card((Columns((Column((prose("Day:"),)), Column((day,)))), SEND))

    assert form_behind(card, SEND) == Form("Send", (replace(day, label=line("Day:")),))


def test_a_submit_buttons_form_has_the_inputs_of_its_card_and_the_enclosing_cards() -> None:
    outer, comment = TextInput(label=line("A"), at="/a"), TextInput(label=line("B"), at="/b")
    date = DateInput(label=line("C"), at="/c")
    ok, done = (button(does="submit", at=at) for at in ("/ok", "/done"))
    reveals = (
        button("Comment", does="reveal", nodes=(comment, Actions((ok,)))),
        button("Set date", does="reveal", nodes=(date, Actions((done,)))),
    )
    card = Card((outer, Actions((*reveals, SEND))))

    forms_by_button = {submit.at: form_behind(card, submit) for submit in (ok, done, SEND)}

    assert forms_by_button == {
        "/ok": Form("Comment", (outer, comment)),
        "/done": Form("Set date", (outer, date)),
        "/s": Form("Send", (outer,)),
    }


def test_a_submit_buttons_form_has_no_inputs_of_sibling_cards() -> None:
    cards = [
        Container((TextInput(label=line(name), at=f"/{name}"), button(does="submit", at=name)),
                  form="card")
        for name in ("a", "b")
    ]  # fmt: skip
    card = Card(tuple(cards))
    _, second = cards[1].nodes

    assert isinstance(second, Button)
    assert form_behind(card, second) == Form("Go", (TextInput(label=line("b"), at="/b"),))


def test_the_generated_form_button_has_the_neighbouring_inputs() -> None:
    first, second = TextInput(label=line("A"), at="/1"), DateInput(label=line("B"), at="/2")
    third = Toggle(label=line("C"), at="/3")
    card = Card((first, second, prose("x"), third))

    assert form_behind(card, first) == Form("A, B", (first, second))
    assert form_behind(card, third) == Form("C", (third,))


def test_a_press_button_has_no_form() -> None:
    other = button()

    assert form_behind(Card((TextInput(at="/n"), other)), other) is None


# --- reveal buttons --------------------------------------------------------------------------


def revealing(*nodes: Node, **more: Any) -> Button:
    return button("Comment", does="reveal", at="/r", nodes=nodes, **more)


def test_a_reveal_button_with_inputs_opens_a_modal_titled_after_it() -> None:
    comment = TextInput(placeholder="Say it", at="/c")
    reveals = revealing(prose("Be polite."), comment, Actions((button("OK", does="submit"),)))

    components, losses = write(Actions((reveals, button("Approve", at="/y"))))

    assert components == [
        {"type": 10, "content": "-# **Comment**: Be polite. · Say it → OK"},
        {
            "type": 1,
            "components": [
                {"type": 2, "style": 2, "custom_id": "token-b", "label": "Comment"},
                {"type": 2, "style": 2, "custom_id": "token-y", "label": "Approve"},
            ],
        },
    ]
    assert [(loss.path, loss.kind, loss.what) for loss in losses] == [
        ("/c", "input_in_form", "Say it"),
        ("/r", "reveal_in_form", "OK"),
    ]
    send = next(node for node in walk((reveals,)) if isinstance(node, Button) and node.at == "/b")
    assert form_behind(Card((Actions((reveals,)),)), send) == Form(
        "Comment", (prose("Be polite."), comment)
    )


def test_the_small_print_of_a_form_names_its_button_and_options() -> None:
    merge_method = Choice(options=(Option(line("Squash"), "s"), Option(line("Rebase"), "r")),
                 values=("r",), placeholder="How?", at="/h")  # fmt: skip
    box = Toggle(title=line("Delete branch"), value=True, at="/d")
    merge = button(
        "Merge", does="reveal", nodes=(merge_method, box, button("Confirm merge", does="submit"))
    )
    same = button("Ask", does="reveal", at="/a", nodes=(
        prose("Who:"), TextInput(at="/w"), button("Ask", does="submit", at="/s")))  # fmt: skip

    components = shown_components(merge, same)

    assert [component["content"] for component in components[:-1]] == [
        "-# **Merge**: How? Squash / ☑ Rebase · ☑ Delete branch → Confirm merge",
        "-# **Ask**: Who:",
    ]


def test_a_menu_of_more_than_ten_options_is_not_listed() -> None:
    choice = Choice(options=options(11), label=line("Which"), at="/c")

    (text, _) = shown_components(revealing(choice, button("OK", does="submit")))

    assert text["content"] == "-# **Comment**: Which → OK"


def test_the_small_print_of_a_form_is_directly_above_its_own_button() -> None:
    reveals = revealing(TextInput(label=line("Why"), at="/c"), button("Comment", does="submit"))

    components = shown_components(Actions((button("Approve", at="/y"), reveals)))

    assert [
        component.get("content") or [it["label"] for it in component["components"]]
        for component in components
    ] == [["Approve"], "-# **Comment**: Why", ["Comment"]]


def test_a_long_text_of_a_revealed_form_is_only_in_the_modal_and_reported() -> None:
    reveals = revealing(prose("x" * 300), TextInput(placeholder="Say it", at="/c"), SEND)

    components, losses = write(reveals)

    assert components[0]["content"] == "-# **Comment**: Say it → Send"
    assert ("text_in_form", "x" * 300) in [(loss.kind, loss.what) for loss in losses]


def test_every_submit_button_of_a_revealed_form_opens_the_modal() -> None:
    comment = TextInput(label=line("Why"), at="/c")
    sends = (button("Yes", does="submit", at="/y"), button("No", does="submit", at="/n"))
    link = button("Help", does="open", url="https://acme.example/help")
    reveals = revealing(comment, Actions((*sends, link)))

    (text, row) = shown_components(reveals)

    assert text["content"] == "-# **Comment**: Why"
    labels = [component["label"] for component in row["components"]]
    assert labels == ["Comment: Yes", "Comment: No", "Help"]
    form = form_behind(Card((reveals,)), sends[1])
    assert form == Form("Comment: No", (comment,))


def test_revealed_content_that_a_modal_cannot_hold_is_shown_in_the_message() -> None:
    picture = Image(Asset(url="https://files.acme.example/a.png"))
    reveals = revealing(TextInput(label=line("Why"), at="/c"), picture, button(does="submit"))

    assert [component["type"] for component in shown_components(reveals)] == [10, 1, 12]


def test_a_reveal_button_without_a_submit_button_shows_its_content() -> None:
    reveals = revealing(TextInput(label=line("Why"), at="/c"))

    assert shown_components(reveals)[0] == {"type": 10, "content": "**Comment**"}


def test_a_toggle_button_becomes_the_title_of_its_opened_part() -> None:
    hidden = Container((prose("Because."),), hidden=True, id="part")
    toggles = [button("Why?", does="toggle", targets=("part",), at=f"/{n}") for n in range(2)]

    assert shown_components(Actions(tuple(toggles)), hidden) == [
        {"type": 10, "content": "-# ▾ Why?"},
        {"type": 10, "content": "Because."},
    ]
    assert shown_components(hidden, Actions(tuple(toggles))) == [
        {"type": 10, "content": "Because."}
    ]
    unnamed = Button((), does="toggle", targets=("part",), at="/t")
    assert shown_components(unnamed, hidden) == [{"type": 10, "content": "Because."}]


# --- modals ---------------------------------------------------------------------------------


def modals(*nodes: Node, rendering: Rendering = TOKENS, **more: Any) -> list[Any]:
    written = write_form(Form("Form", nodes, at="/f", **more), rendering)
    assert [modal_faults(message.body) for message in written.messages] == [[]] * len(
        written.messages
    )
    return [message.body for message in written.messages]


def label_and_losses(node: Input) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Return the label of the single input, and the losses."""
    (modal,) = modals(node)
    (label,) = modal["components"]
    written = write_form(Form("Form", (node,), at="/f"), TOKENS)
    return label, [(loss.kind, loss.what) for loss in written.losses]


def test_a_form_is_a_modal_with_labels() -> None:
    name = TextInput(
        label=line("Name"), hint=line("yours"), placeholder="Ann", value="Bob", required=True,
        min=1, max=20, at="/n",
    )  # fmt: skip

    assert modals(prose("Please"), name) == [
        {
            "title": "Form",
            "custom_id": "token-f",
            "components": [
                {"type": 10, "content": "Please"},
                {
                    "type": 18,
                    "label": "Name",
                    "description": "yours",
                    "component": {
                        "type": 4,
                        "custom_id": "token-n",
                        "style": 1,
                        "required": True,
                        "placeholder": "Ann",
                        "value": "Bob",
                        "min_length": 1,
                        "max_length": 20,
                    },
                },
            ],
        }
    ]


def test_more_than_five_inputs_are_several_pages() -> None:
    many = tuple(TextInput(label=line(str(n)), at=f"/{n}") for n in range(12))

    pages = modals(*many)

    assert [len(page["components"]) for page in pages] == [5, 5, 2]
    assert [page["title"] for page in pages] == ["Form (1/3)", "Form (2/3)", "Form (3/3)"]
    assert {token_of(page["custom_id"]) for page in pages} == {"token-f"}


@pytest.mark.parametrize(
    ("node", "component", "losses"),
    [
        (TextInput(multiline=True), {"type": 4, "style": 2, "required": False}, []),
        (
            TextInput(format="password", value="x"),
            {"type": 4, "style": 1, "required": False},
            [("input_format", "password")],
        ),
        (
            TextInput(pattern="^a"),
            {"type": 4, "style": 1, "required": False},
            [("input_pattern", "^a")],
        ),
        (
            NumberInput(value=3.0, min=1, max=9.5),
            {"type": 4, "style": 1, "required": False, "value": "3", "placeholder": "1 – 9.5"},
            [],
        ),
        (
            DateInput(of="datetime", value="1700000000"),
            {"type": 4, "style": 1, "required": False, "value": "2023-11-14 22:13",
             "placeholder": "YYYY-MM-DD HH:MM"},
            [("date_as_text", "datetime")],
        ),
        (Toggle(value=True), {"type": 23, "default": True}, []),
        (
            Choice(form="list", options=options(2), values=("v1",), required=True),
            {"type": 21, "required": True, "options": [
                {"label": "Option 0", "value": "v0"},
                {"label": "Option 1", "value": "v1", "default": True}]},
            [],
        ),
        (
            Choice(form="list", many=True, options=options(1)),
            {"type": 22, "required": False, "min_values": 0, "max_values": 1, "options": [
                {"label": "Option 0", "value": "v0"}]},
            [],
        ),
        (
            Choice(options=options(1), placeholder="p", required=True),
            {"type": 3, "required": True, "placeholder": "p", "options": [
                {"label": "Option 0", "value": "v0"}]},
            [],
        ),
        (
            Choice(external=True, source="cities"),
            {"type": 4, "style": 1, "required": False},
            [("choice_as_text", "cities")],
        ),
        (Picker(of="roles"), {"type": 6, "required": False}, []),
        (
            FileInput(min=1, max=99, kinds=("pdf",)),
            {"type": 19, "required": False, "min_values": 1, "max_values": 10},
            [("file_kinds", "pdf")],
        ),
    ],
)  # fmt: skip
def test_every_input_is_written_as_its_modal_component(
    node: Any, component: Any, losses: Any
) -> None:
    label, named = label_and_losses(replace(node, label=line("L"), at="/i"))

    assert label["component"] == {**component, "custom_id": "token-i"}
    assert named == losses


def test_a_choice_of_many_options_is_several_menus() -> None:
    (modal,) = modals(Choice(label=line("L"), options=options(60), at="/c"))

    assert [label["label"] for label in modal["components"]] == ["L (1/3)", "… (2/3)", "… (3/3)"]
    assert [len(label["component"]["options"]) for label in modal["components"]] == [25, 25, 10]


def test_an_input_without_a_label_is_labelled_with_its_placeholder() -> None:
    label, _ = label_and_losses(TextInput(placeholder="Your name", at="/i"))

    assert label["label"] == "Your name"
    assert "placeholder" not in label["component"]


def test_labels_of_unlabelled_inputs_are_unique_in_a_modal() -> None:
    (modal,) = modals(
        TextInput(label=line("Text"), at="/1"), TextInput(at="/2"), TextInput(at="/3"),
        TextInput(label=line("Text"), at="/4"),
    )  # fmt: skip

    assert [label["label"] for label in modal["components"]] == [
        "Text", "Text (2)", "Text (3)", "Text",
    ]  # fmt: skip


def test_modal_texts_that_are_cut_are_reported_as_losses() -> None:
    long = "w" * 300

    label, named = label_and_losses(
        TextInput(label=line(long), hint=line(long), placeholder=long, at="/i")
    )

    assert (len(label["label"]), len(label["description"])) == (45, 100)
    assert sorted(named) == [("cut_hint", long), ("cut_label", long), ("cut_placeholder", long)]


def test_buttons_and_pictures_inside_a_form_are_reported_as_losses() -> None:
    form = Form(
        "F",
        (picture("https://x.example/a.png", alt="seen"), button("Extra"), TextInput(at="/n")),
        submit="Send",
        close="Leave",
    )

    written = write_form(form, TOKENS)

    assert [(loss.kind, loss.what) for loss in written.losses] == [
        ("not_in_form", "seen https://x.example/a.png"),
        ("form_button", "Extra"),
        ("form_buttons", "Send · Leave"),
    ]
    assert modal_faults(written.messages[0].body) == []


def test_a_written_modal_is_read_back_unchanged() -> None:
    nodes = (
        TextInput(id="", label=line("Name"), required=True, at="/1"),
        Toggle(label=line("Sure"), at="/2"),
        Choice(label=line("One"), form="list", options=options(3), required=True, at="/3"),
    )

    (modal,) = modals(*nodes)
    again = read_form(modal).nodes

    assert [replace(node, id="") for node in again if isinstance(node, Input)] == list(nodes)


def test_a_form_without_nodes_gives_no_modal() -> None:
    assert modals() == []


def test_styles_in_a_modal_label_are_removed() -> None:
    assert label_and_losses(TextInput(label=(bold("Name"),), at="/i"))[0]["label"] == "Name"
