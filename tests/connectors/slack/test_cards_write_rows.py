"""Nodes side by side, and in containers."""

from __future__ import annotations

from bridge.content.cards.tree import (
    Actions,
    Asset,
    Button,
    Carousel,
    Column,
    Columns,
    Container,
    Context,
    Credit,
    Divider,
    Fields,
    Image,
    LabelledValue,
    Node,
    Section,
)
from bridge.content.markdown import markdown_to_text
from bridge.model import Loss
from tests.connectors.slack.written_cards import (
    PICTURE,
    PICTURE_ELEMENT,
    blocks,
    bodies,
    line_of,
    losses,
    mrkdwn,
    plain,
    prose,
    section,
    token,
    write,
)

# --- rows -------------------------------------------------------------------------------------


def field(label: str, value: str, *, short: bool = True) -> LabelledValue:
    return LabelledValue(line_of(label), markdown_to_text(value), short)


def test_a_section_holds_ten_short_fields_and_long_fields_are_separate() -> None:
    several = [field(f"l{number}", "v") for number in range(11)]

    written_blocks = blocks(Fields((*several, field("Long", "**v**", short=False))))

    assert [len(block.get("fields", ())) for block in written_blocks] == [10, 1, 0]
    assert written_blocks[0]["fields"][0] == mrkdwn("*l0*\nv")
    assert written_blocks[2] == section("*Long*\n*v*")


def test_an_image_or_button_is_the_accessory_of_its_section() -> None:
    picture, button = Image(PICTURE), Button(line_of("Go"), at="/b")

    assert blocks(Section((prose("text"),), picture), Section((prose("- a\n- b"),), button)) == [
        section("text", accessory=PICTURE_ELEMENT),
        section(
            "• a\n• b",
            accessory={
                "type": "button",
                "text": plain("Go"),
                "action_id": token("/b"),
                "value": token("/b"),
            },
        ),
    ]


def test_text_fields_and_a_picture_are_one_section() -> None:
    node = Section((prose("text"), Fields((field("l", "v"),))), Image(PICTURE))

    assert blocks(node) == [section("text", fields=[mrkdwn("*l*\nv")], accessory=PICTURE_ELEMENT)]


def test_a_node_that_cannot_be_an_accessory_is_below_the_section() -> None:
    node = Section((prose("text"),), prose("more"), at="/s")

    assert blocks(node) == [section("text"), section("more")]
    assert losses(node) == (
        Loss(path="/s", kind="stack_section", what="a prose at the side", shown_as="below"),
    )


def test_columns_of_text_and_a_picture_are_a_section() -> None:
    text_column, picture = Column((prose("text"),)), Column((Image(PICTURE),), "auto")

    expected = [section("text", accessory=PICTURE_ELEMENT)]
    assert blocks(Columns((text_column, picture))) == expected
    assert blocks(Columns((picture, text_column))) == expected


def test_columns_of_short_texts_are_fields() -> None:
    node = Columns((Column((prose("**a**"), prose("1"))), Column((prose("b"),))))

    assert blocks(node) == [{"type": "section", "fields": [mrkdwn("*a*\n1"), mrkdwn("b")]}]


def test_a_row_of_texts_with_an_icon_is_fields_without_the_icon() -> None:
    icon = Image(Asset(url="https://a.example/down.png"), size="icon", at="/icon")
    toggle = Actions((Button(line_of("More"), does="toggle", targets=("x",), at="/b"),))
    texts = [Column((prose(cell),)) for cell in ("06/19", "Air travel", "$300")]
    row = Columns((*texts, Column((icon, toggle))))
    more = Container((prose("Leg 1"),), hidden=True, id="x")

    written_blocks = blocks(row, more)

    assert written_blocks[0] == {
        "type": "section",
        "fields": [mrkdwn("06/19"), mrkdwn("Air travel"), mrkdwn("$300")],
    }
    assert [cell["type"] for cell in written_blocks] == ["section", "container"]
    assert [(loss.path, loss.kind) for loss in losses(row, more)] == [
        ("/icon", "small_picture"),
        ("/b", "toggle"),
    ]


def test_an_image_column_is_the_accessory_of_the_first_text() -> None:
    group = Container((prose("a"), Divider()))

    assert blocks(Columns((Column((Image(PICTURE),)), Column((group,))))) == [
        section("a", accessory=PICTURE_ELEMENT),
        {"type": "divider"},
    ]


def test_other_columns_are_stacked() -> None:
    node = Columns(
        (Column((prose("- a"),)), Column((Divider(),), link="https://e.example")), at="/c"
    )

    assert [block["type"] for block in blocks(node)] == ["rich_text", "divider", "context"]
    assert losses(node)[0].kind == "stack_columns"


def test_a_context_block_holds_ten_elements() -> None:
    written_blocks = blocks(Context((Image(PICTURE), *(prose(str(n)) for n in range(12)))))

    assert [len(block["elements"]) for block in written_blocks] == [10, 3]
    assert written_blocks[0]["elements"][:2] == [PICTURE_ELEMENT, mrkdwn("0")]


# --- boxes ------------------------------------------------------------------------------------


def test_a_panel_is_an_attachment_with_its_colour() -> None:
    panel = Container(
        (prose("body"),),
        form="panel",
        color=0x2EB67D,
        title=line_of("Title"),
        link="https://e.example",
        author=Credit(line_of("Ada"), Asset(url="https://e.example/i.png", alt="face")),
        thumbnail=Image(PICTURE),
        footer=Credit(line_of("foot")),
        time=1_700_000_000,
    )

    (body,) = bodies(prose("# above"), panel)

    assert body["blocks"] == [{"type": "header", "text": plain("above")}]
    assert body["attachments"] == [
        {
            "color": "#2EB67D",
            "blocks": [
                {
                    "type": "context",
                    "elements": [
                        {
                            "type": "image",
                            "image_url": "https://e.example/i.png",
                            "alt_text": "face",
                        },
                        mrkdwn("Ada"),
                    ],
                },
                section("*<https://e.example|Title>*", accessory=PICTURE_ELEMENT),
                section("body"),
                {
                    "type": "context",
                    "elements": [
                        mrkdwn("foot"),
                        mrkdwn("<!date^1700000000^{date} {time}|2023-11-14 22:13 UTC>"),
                    ],
                },
            ],
        }
    ]


def test_the_summary_of_a_lone_panel_is_the_attachments_fallback() -> None:
    (message,) = write(Container((prose("x"),), form="panel", style="good")).messages

    assert message.body == {
        "text": "",
        "attachments": [{"color": "good", "blocks": [section("x")], "fallback": "s"}],
    }


def test_nodes_after_a_panel_are_in_an_attachment_without_a_colour() -> None:
    panel = Container((prose("x"),), form="panel", color=0xFF)

    (body,) = bodies(panel, Button(line_of("Go"), at="/b"))

    assert [attachment.get("color") for attachment in body["attachments"]] == ["#0000FF", None]


def test_a_coloured_group_is_an_attachment_only_at_the_end_of_a_card() -> None:
    group = Container((prose("x"),), style="warning", at="/g")

    (last,) = write(prose("# a"), group).messages
    followed = write(group, prose("# b"))

    assert last.body["attachments"] == [{"color": "warning", "blocks": [section("x")]}]
    assert followed.messages[0].body["blocks"] == [
        section("x"),
        {"type": "header", "text": plain("b")},
    ]
    assert followed.losses == (Loss(path="/g", kind="color", what="warning"),)


def test_a_card_that_fits_is_a_card_block() -> None:
    node = Container(
        (prose("body"), Actions((Button(line_of("Go"), at="/b"),))),
        form="card",
        title=line_of("T"),
        subtitle=line_of("S"),
        hero=Image(PICTURE),
    )

    assert blocks(node) == [
        {
            "type": "card",
            "hero_image": PICTURE_ELEMENT,
            "title": mrkdwn("T"),
            "subtitle": mrkdwn("S"),
            "body": mrkdwn("body"),
            "actions": [
                {
                    "type": "button",
                    "text": plain("Go"),
                    "action_id": token("/b"),
                    "value": token("/b"),
                }
            ],
        }
    ]


def test_a_card_that_holds_more_is_a_container() -> None:
    node = Container((prose("- a\n- b"), Divider()), form="card", title=line_of("T"))

    (block,) = blocks(node)

    assert block["title"] == plain("T")
    assert [child["type"] for child in block["child_blocks"]] == ["rich_text", "divider"]


def test_collapsed_and_hidden_containers_are_collapsible() -> None:
    node = Container((prose("x"),), title=line_of("More"), collapsed=True)
    hidden = Container((prose("y"),), hidden=True, id="box")
    toggle = Button(line_of("Show"), does="toggle", targets=("box",), at="/b")

    written = write(node, hidden, toggle)

    assert written.messages[0].body["blocks"] == [
        {
            "type": "container",
            "title": plain("More"),
            "child_blocks": [section("x")],
            "is_collapsible": True,
            "default_collapsed": True,
        },
        {
            "type": "container",
            "title": plain("Show"),
            "child_blocks": [section("y")],
            "is_collapsible": True,
            "default_collapsed": True,
        },
    ]
    assert written.losses == (
        Loss(path="/b", kind="toggle", what="Show", shown_as="a container that opens"),
    )


def test_a_container_toggled_by_an_unlabelled_button_has_a_title() -> None:
    toggle = Button((), does="toggle", targets=("x",), at="/b")

    (container,) = blocks(toggle, Container((prose("x"),), hidden=True, id="x"))

    assert container["title"] == plain("Show more")


def test_neighbouring_targets_of_one_toggle_are_in_one_container() -> None:
    boxes = [Container((prose(name),), hidden=True, id=name) for name in "xy"]
    toggle = Button(line_of("Show both"), does="toggle", targets=("x", "y"), at="/b")

    written = write(toggle, *boxes)

    assert written.messages[0].body["blocks"] == [
        {
            "type": "container",
            "title": plain("Show both"),
            "is_collapsible": True,
            "default_collapsed": True,
            "child_blocks": [section("x"), section("y")],
        }
    ]
    assert written.losses == (
        Loss(path="/b", kind="toggle", what="Show both", shown_as="a container that opens"),
    )


def test_a_toggle_button_with_separate_targets_titles_only_the_first() -> None:
    first, second = (Container((prose(name),), hidden=True, id=name) for name in "xy")
    toggle = Button(line_of("Show both"), does="toggle", targets=("x", "y"), at="/b")

    written = write(toggle, first, Divider(), second)

    titles = [name.get("title") for name in written.messages[0].body["blocks"]]  # pyright: ignore
    assert titles == [plain("Show both"), None, plain("…")]
    assert written.losses == (
        Loss(path="/b", kind="toggle", what="Show both", shown_as="a container that opens"),
    )


def test_surplus_blocks_of_a_container_continue_in_a_second_titled_one() -> None:
    boxes = [Container((prose(f"# {n}"),), hidden=True, id=f"{n}") for n in range(12)]
    toggle = Button(line_of("All"), does="toggle", targets=tuple(f"{n}" for n in range(12)))

    first, second = blocks(toggle, *boxes)

    assert (first["title"], second["title"]) == (plain("All"), plain("Continued (2)"))
    assert (len(first["child_blocks"]), len(second["child_blocks"])) == (10, 2)


def test_a_toggle_button_whose_target_is_already_shown_is_reported() -> None:
    inner = Container((prose("x"),), id="x")
    outer = Container((inner,), form="panel", color=1)
    toggle = Button(line_of("Show"), does="toggle", targets=("x",), at="/b")

    assert losses(toggle, outer) == (
        Loss(path="/b", kind="toggle", what="Show", shown_as="what it shows"),
    )


def test_a_coloured_container_inside_a_panel_keeps_its_colour() -> None:
    inner = Container((prose("b"),), style="good")
    node = Container((prose("a"), inner, prose("c")), form="panel", color=1)

    (body,) = bodies(node)

    assert [(attachment["color"], attachment["blocks"]) for attachment in body["attachments"]] == [
        ("#000001", [section("a")]),
        ("good", [section("b")]),
        ("#000001", [section("c")]),
    ]
    assert losses(node) == ()


def test_the_emphasis_style_is_not_written_as_a_colour() -> None:
    node = Container((Container((prose("x"),), style="emphasis"),), title=line_of("T"))

    assert losses(node) == ()


def test_a_spoiler_image_is_in_a_collapsed_container() -> None:
    (block,) = blocks(Image(Asset(url="https://e.example/p.png", alt="A cat", spoiler=True)))

    assert block == {
        "type": "container",
        "title": plain("Spoiler"),
        "child_blocks": [PICTURE_ELEMENT],
        "is_collapsible": True,
        "default_collapsed": True,
    }


def test_more_than_ten_child_blocks_continue_in_a_second_container() -> None:
    node = Container(tuple(prose(f"# {n}") for n in range(12)), title=line_of("T"), collapsed=False)

    first, second = blocks(node)

    assert (len(first["child_blocks"]), len(second["child_blocks"])) == (10, 2)
    assert (first["title"], second["title"]) == (plain("T"), plain("Continued (2)"))


def test_a_carousel_of_cards_is_carousel_blocks_of_ten() -> None:
    card = Container((prose("b"),), form="card", title=line_of("T"))

    first, second = blocks(Carousel((card,) * 12))

    assert (len(first["elements"]), len(second["elements"])) == (10, 2)
    assert first["elements"][0] == {"type": "card", "title": mrkdwn("T"), "body": mrkdwn("b")}


def test_cards_that_a_carousel_cannot_hold_are_stacked() -> None:
    card = Container((prose("- b"),), form="card", title=line_of("T"))

    assert [block["type"] for block in blocks(Carousel((card, card)))] == ["container"] * 2
    assert losses(Carousel((card, card), at="/c"))[0].kind == "stack_carousel"


def test_deeply_nested_containers_are_written() -> None:
    node: Node = prose("deep")
    for _ in range(600):
        node = Container((node,), form="panel", color=1)

    (message,) = write(node).messages

    assert message.body["attachments"] == [
        {"color": "#000001", "blocks": [section("deep")], "fallback": "s"}
    ]
