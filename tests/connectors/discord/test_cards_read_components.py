"""Components of messages and modals, old and new ones -> nodes."""

from __future__ import annotations

from typing import Any

import pytest

from bridge.content.cards.tree import (
    Actions,
    Asset,
    Button,
    Card,
    Choice,
    Container,
    Divider,
    File,
    FileInput,
    Form,
    Gallery,
    Image,
    Native,
    Node,
    Option,
    Picker,
    Player,
    Prose,
    Section,
    TextInput,
    Toggle,
)
from bridge.content.cards.walk import walk
from bridge.content.text.tree import Emoji, Heading, Paragraph, Text
from bridge.errors import CodecError
from connectors.discord.cards import read_form, read_message
from connectors.discord.cards.schemas import COMPONENTS
from tests.connectors.discord.card_words import card, line, picture, prose, small

PICTURE = {"media": {"url": "https://x.example/a.png"}}


def read(*components: Any, **message: Any) -> Card:
    return read_message({"flags": 32768, "components": list(components), **message})


def row(*components: Any) -> dict[str, Any]:
    return {"type": 1, "components": list(components)}


def only(component: Any) -> Node:
    (node,) = read(row(component)).nodes
    assert isinstance(node, Actions)
    (action,) = node.items
    return action


# --- buttons --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("style", "named"), [(1, "primary"), (2, "default"), (3, "good"), (4, "danger")]
)
def test_a_button_keeps_its_custom_id_style_and_disabled_state(style: int, named: Any) -> None:
    native = {"type": 2, "style": style, "label": "Go", "custom_id": "go", "disabled": True}

    assert only(native) == Button(line("Go"), id="go", style=named, disabled=True)


def test_a_link_button_opens_its_address() -> None:
    native = {"type": 2, "style": 5, "label": "Docs", "url": "https://x.example"}

    assert only(native) == Button(line("Docs"), does="open", url="https://x.example")


def test_a_premium_button_keeps_its_sku_id() -> None:
    assert only({"type": 2, "style": 6, "sku_id": "77"}) == Button(
        line("Premium"), value={"sku_id": "77"}, style="primary", emoji="🛒"
    )


def test_the_emoji_of_a_button_precedes_its_label() -> None:
    plain = {"type": 2, "style": 2, "label": "Yes", "custom_id": "y", "emoji": {"name": "👍"}}
    own = {**plain, "emoji": {"id": "5", "name": "party", "animated": True}}
    party = Emoji("party", url="https://cdn.discordapp.com/emojis/5.gif")

    assert only(plain) == Button(line("Yes"), id="y", emoji="👍")
    assert only(own) == Button((party, Text(" "), Text("Yes")), id="y")


def test_buttons_of_a_row_share_one_actions_node_and_have_pointers() -> None:
    buttons = [{"type": 2, "style": 1, "label": str(n), "custom_id": str(n)} for n in range(3)]

    (actions,) = read_message({"content": "", "components": [row(*buttons)]}).nodes

    assert isinstance(actions, Actions)
    assert actions.at == "/components/0"
    assert [item.at for item in actions.items] == [
        f"/components/0/components/{n}" for n in range(3)
    ]


# --- menus ----------------------------------------------------------------------------------


def test_a_select_menu_has_its_options_default_values_and_limits() -> None:
    native = {
        "type": 3,
        "custom_id": "bugs",
        "placeholder": "Bugs?",
        "min_values": 0,
        "max_values": 2,
        "options": [
            {"label": "Ant", "value": "a", "description": "small", "emoji": {"name": "🐜"}},
            {"label": "Bee", "value": "b", "default": True},
        ],
    }

    assert only(native) == Choice(
        id="bugs",
        placeholder="Bugs?",
        options=(
            Option(line("Ant"), "a", line("small"), "🐜"),
            Option(line("Bee"), "b"),
        ),
        values=("b",),
        many=True,
        min=0,
        max=2,
    )


@pytest.mark.parametrize(
    ("kind", "of"), [(5, "people"), (6, "roles"), (7, "mentionables"), (8, "channels")]
)
def test_menus_of_people_roles_and_channels_are_pickers(kind: int, of: Any) -> None:
    native = {"type": kind, "custom_id": "who", "placeholder": "Who?", "max_values": 1}

    assert only(native) == Picker(id="who", of=of, placeholder="Who?", max=1)


def test_a_default_role_of_a_mentionable_select_is_marked_with_an_ampersand() -> None:
    chosen = [{"id": "1", "type": "user"}, {"id": "2", "type": "role"}]
    native = {"type": 7, "custom_id": "who", "max_values": 3, "default_values": chosen}

    assert only(native) == Picker(id="who", of="mentionables", values=("1", "&2"), many=True, max=3)


# --- content --------------------------------------------------------------------------------


def test_text_displays_are_prose_with_headings() -> None:
    assert read({"type": 10, "content": "## Title"}, {"type": 10, "content": "a\n-# b"}) == card(
        Prose((Heading(2, line("Title")),)), prose("a"), small("b")
    )


def test_a_section_has_texts_and_an_image_or_button_accessory() -> None:
    texts = [{"type": 10, "content": "one"}, {"type": 10, "content": "two"}]
    thumbnail = {"type": 11, **PICTURE, "description": "seen", "spoiler": True}
    button = {"type": 2, "style": 5, "label": "Open", "url": "https://x.example"}
    picture = Image(Asset(url="https://x.example/a.png", alt="seen", spoiler=True), size="small")

    assert read(
        {"type": 9, "components": texts, "accessory": thumbnail},
        {"type": 9, "components": texts[:1], "accessory": button},
    ) == card(
        Section((prose("one"), prose("two")), picture),
        Section((prose("one"),), Button(line("Open"), does="open", url="https://x.example")),
    )


def test_a_gallery_has_pictures_and_films() -> None:
    items = [
        {**PICTURE, "description": "a"},
        {"media": {"url": "https://x.example/b.mp4"}, "spoiler": True},
    ]

    assert read({"type": 12, "items": items}) == card(
        Gallery((
            picture("https://x.example/a.png", alt="a"),
            Player("video", Asset(url="https://x.example/b.mp4", spoiler=True)),
        ))
    )  # fmt: skip


def test_a_gallery_of_one_is_the_picture() -> None:
    assert read({"type": 12, "items": [PICTURE]}) == card(picture("https://x.example/a.png"))


def test_files_of_the_message_are_found_by_their_names() -> None:
    attachment = {
        "filename": "a.pdf", "url": "https://cdn.example/a.pdf?ex=1",
        "content_type": "application/pdf", "size": 7,
    }  # fmt: skip
    file = {"type": 13, "file": {"url": "attachment://a.pdf"}, "spoiler": True}

    assert read(file, attachments=[attachment]) == card(
        File(
            Asset(
                url="https://cdn.example/a.pdf?ex=1",
                media_type="application/pdf",
                name="a.pdf",
                size=7,
                spoiler=True,
            )
        )
    )


def test_a_file_without_an_attachment_keeps_its_attachment_reference() -> None:
    assert read({"type": 13, "file": {"url": "attachment://a.pdf"}}) == card(
        File(Asset(file_id="attachment://a.pdf", name="a.pdf"))
    )


@pytest.mark.parametrize(
    ("native", "divider"),
    [
        ({}, Divider()),
        ({"divider": False, "spacing": 2}, Divider(line=False, large=True)),
        ({"divider": True, "spacing": 1}, Divider()),
    ],
)
def test_a_separator_is_a_divider_or_spacing(native: dict[str, Any], divider: Divider) -> None:
    assert read({"type": 14, **native}) == card(divider)


def test_a_container_keeps_its_colour_and_spoiler_flag() -> None:
    inner = {"type": 10, "content": "x"}

    assert read(
        {"type": 17, "accent_color": 0x123456, "spoiler": True, "components": [inner]},
        {"type": 17, "accent_color": 0x2EB67D, "components": [inner]},
        {"type": 17, "accent_color": None, "components": []},
    ) == card(
        Container((prose("x"),), form="card", color=0x123456, spoiler=True),
        Container((prose("x"),), form="card", style="good"),
        Container((), form="card"),
    )


# --- modals ---------------------------------------------------------------------------------


def label(component: dict[str, Any], **more: str) -> dict[str, Any]:
    return {"type": 18, "label": "L", **more, "component": component}


INPUTS: list[tuple[dict[str, Any], Node]] = [
    (
        {"type": 4, "custom_id": "t", "style": 2, "min_length": 1, "max_length": 9, "value": "v",
         "placeholder": "p", "required": False},
        TextInput(id="t", label=line("L"), placeholder="p", value="v", multiline=True, min=1,
                  max=9),
    ),
    (
        {"type": 19, "custom_id": "f", "min_values": 0, "max_values": 3, "file_types": [".pdf"]},
        FileInput(id="f", label=line("L"), required=True, min=0, max=3, kinds=("pdf",)),
    ),
    (
        {"type": 21, "custom_id": "r", "options": [{"label": "A", "value": "a", "default": True},
                                                   {"label": "B", "value": "b"}]},
        Choice(id="r", label=line("L"), required=True, form="list", values=("a",),
               options=(Option(line("A"), "a"), Option(line("B"), "b"))),
    ),
    (
        {"type": 22, "custom_id": "c", "required": False, "max_values": 2,
         "options": [{"label": "A", "value": "a", "description": "d"}]},
        Choice(id="c", label=line("L"), form="list", many=True, max=2,
               options=(Option(line("A"), "a", line("d")),)),
    ),
    (
        {"type": 23, "custom_id": "b", "default": True},
        Toggle(id="b", label=line("L"), value=True),
    ),
    (
        {"type": 6, "custom_id": "p", "required": True},
        Picker(id="p", label=line("L"), required=True, of="roles"),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("native", "node"), INPUTS)
def test_an_input_of_a_modal_has_its_label(native: dict[str, Any], node: Node) -> None:
    modal: dict[str, Any] = {"title": "Form", "custom_id": "m", "components": [label(native)]}

    assert read_form(modal) == Form("Form", (node,), id="m")


def test_a_label_has_a_hint() -> None:
    modal: dict[str, Any] = {
        "components": [label({"type": 23, "custom_id": "b"}, description="why")]
    }

    assert read_form(modal).nodes == (Toggle(id="b", label=line("L"), hint=line("why")),)


def test_a_modal_definition_and_a_modal_submission_are_read() -> None:
    modal: dict[str, Any] = {
        "title": "F",
        "custom_id": "m",
        "components": [{"type": 10, "content": "Hello"}],
    }
    sent: dict[str, Any] = {
        "custom_id": "m",
        "components": [
            {"type": 18, "id": 1, "component": {"type": 4, "custom_id": "t", "value": "said"}},
            {"type": 18, "id": 2, "component": {"type": 3, "custom_id": "s", "values": ["x"]}},
            row({"type": 4, "custom_id": "old", "value": "way"}),
        ],
    }

    assert read_form({"type": 9, "data": modal}) == Form("F", (prose("Hello"),), id="m")
    assert read_form({"type": 5, "data": sent}).nodes == (
        TextInput(id="t", value="said", required=True),
        Choice(id="s", values=("x",)),
        Actions((TextInput(id="old", value="way", required=True),)),
    )


def test_a_modal_response_is_read_as_a_container_card() -> None:
    modal: dict[str, Any] = {"type": 9, "data": {"title": "F", "custom_id": "m", "components": []}}

    assert read_message(modal) == card(Container((), form="card", title=line("F"), id="m"))


@pytest.mark.parametrize("native", [None, [], {}, {"components": {}}, {"data": {"x": 1}}])
def test_json_that_is_not_a_modal_is_refused(native: Any) -> None:
    with pytest.raises(CodecError):
        read_form(native)


# --- unknown components ---------------------------------------------------------------------


def test_an_unknown_component_is_kept_with_its_texts_as_fallback() -> None:
    native: dict[str, Any] = {
        "type": 99,
        "label": "new",
        "components": [{"type": 10, "content": "known"}],
    }

    assert read(native) == card(Native(COMPONENTS, native, (prose("new"), prose("known"))))


@pytest.mark.parametrize(
    "native",
    [
        {"type": 2, "style": 1},
        {"type": 11},
        {"type": 12, "items": []},
        {"type": 13, "file": {}},
        {"type": 3, "options": "none"},
        {"type": True},
        7,
    ],
)
def test_a_component_without_required_fields_is_kept_as_native(native: Any) -> None:
    assert read(native) == card(Native(COMPONENTS, native))


def test_the_valid_pictures_of_a_broken_gallery_are_its_fallback() -> None:
    native: dict[str, Any] = {"type": 12, "items": [PICTURE, {"description": "lost"}, 7]}

    assert read(native) == card(
        Native(COMPONENTS, native, (picture("https://x.example/a.png"), prose("lost")))
    )


def test_a_text_in_an_action_row_splits_the_row() -> None:
    button = {"type": 2, "style": 1, "label": "x", "custom_id": "x"}

    nodes = read(row(button, {"type": 10, "content": "text"}, button)).nodes

    assert [node.type for node in nodes] == ["actions", "prose", "actions"]


def test_deeply_nested_containers_are_flattened() -> None:
    inner: dict[str, Any] = {"type": 10, "content": "innermost"}
    for _ in range(490):
        inner = {"type": 17, "components": [inner]}

    nodes = list(walk(read(inner).nodes))

    assert nodes[-1] == Prose((Paragraph(line("innermost")),))
    assert len(nodes) < 40
