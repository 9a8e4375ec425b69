"""Nodes with child nodes in Adaptive Cards: containers, columns, fields, tables, context."""

from __future__ import annotations

import orjson
import pytest

from bridge.content.cards.tree import (
    Asset,
    Button,
    Carousel,
    Choice,
    Column,
    Columns,
    Container,
    Context,
    Credit,
    Divider,
    Fields,
    Image,
    LabelledValue,
    Option,
    Player,
    Prose,
    Section,
    Table,
)
from bridge.content.text.tree import Break, Code, List, ListItem, Paragraph, Spoiler, Text
from connectors.teams.cards.write_structure import nearest_style
from tests.connectors.teams.written import (
    Json,
    cards,
    elements,
    kinds,
    line,
    press,
    prose,
    text,
    write,
)

PICTURE = Asset(url="https://a.example/p.png", alt="a cat")


def column(width: str | int, *items: Json, **more: str) -> Json:
    return {"type": "Column", "width": width, "items": list(items), **more}


def columns(*several: Json) -> Json:
    return {"type": "ColumnSet", "columns": list(several)}


def picture(**more: str) -> Json:
    return {"type": "Image", "url": "https://a.example/p.png", "altText": "a cat", **more}


# --- boxes --------------------------------------------------------------------------------------


def test_a_group_is_a_container() -> None:
    assert elements(Container((prose("x"),))) == [{"type": "Container", "items": [text("x")]}]


def test_a_panel_has_its_header_and_footer() -> None:
    panel = Container(
        (prose("x"),),
        form="panel",
        style="good",
        author=Credit(line("Ann"), icon=PICTURE, link="https://a.example/ann"),
        title=line("Title"),
        subtitle=line("Subtitle"),
        link="https://a.example/t",
        thumbnail=Image(PICTURE, size="small"),
        hero=Image(PICTURE),
        footer=Credit(line("Source")),
        time=0,
    )
    small = {"size": "small", "isSubtle": True}
    centred = {"verticalContentAlignment": "center", "spacing": "small"}

    assert elements(panel) == [
        {
            "type": "Container",
            "style": "good",
            "items": [
                picture(),
                columns(
                    column("auto", picture(width="24px"), **centred),
                    column("stretch", text("[Ann](https://a.example/ann)", **small), **centred),
                ),
                columns(
                    column(
                        "stretch",
                        text(
                            "[Title](https://a.example/t)",
                            style="heading",
                            weight="bolder",
                            size="medium",
                        ),
                        text("Subtitle", isSubtle=True),
                    ),
                    column("auto", picture(size="small")),
                ),
                text("x"),
                columns(
                    column("auto", text("Source", **small), **centred),
                    column(
                        "stretch",
                        text(
                            "{{DATE(1970-01-01T00:00:00Z, SHORT)}} {{TIME(1970-01-01T00:00:00Z)}}",
                            **small,
                        ),
                        **centred,
                    ),
                ),
            ],
        }
    ]


def test_a_panel_without_colour_has_the_emphasis_style_and_keeps_its_link() -> None:
    panel = Container((prose("x"),), form="panel", link="https://a.example")

    assert elements(panel) == [
        {
            "type": "Container",
            "style": "emphasis",
            "items": [text("x")],
            "selectAction": {"type": "Action.OpenUrl", "url": "https://a.example"},
        }
    ]


@pytest.mark.parametrize(
    ("color", "style"),
    [
        (0x2EB67D, "good"),
        (0x36C5F0, "accent"),
        (0xECB22E, "warning"),
        (0xE01E5A, "attention"),
        (0x99AAB5, "emphasis"),
        (0x00FF00, "good"),
        (0x0000FF, "accent"),
        (0xFF8800, "warning"),
        (0xFF0000, "attention"),
        (0xFF00AA, "attention"),
        (0x000000, "emphasis"),
        (0xFFFFFF, "emphasis"),
    ],
)
def test_a_colour_becomes_the_nearest_style(color: int, style: str) -> None:
    assert nearest_style(color) == style


def test_a_colour_without_a_matching_style_is_reported() -> None:
    assert kinds(write(Container((prose("x"),), color=0x123456, at="/c"))) == [
        ("/c", "color_as_style", "#123456")
    ]
    assert kinds(write(Container((prose("x"),), color=0x2EB67D, at="/c"))) == []


def test_a_collapsed_container_has_a_toggle_button_in_its_header() -> None:
    folded = Container((prose("x"),), title=line("Title"), collapsed=True)

    assert elements(folded) == [
        {
            "type": "Container",
            "items": [
                columns(
                    column(
                        "stretch", text("Title", style="heading", weight="bolder", size="medium")
                    ),
                    column(
                        "auto",
                        {
                            "type": "ActionSet",
                            "actions": [
                                {
                                    "type": "Action.ToggleVisibility",
                                    "targetElements": ["part"],
                                    "title": "▾",
                                    "tooltip": "Show or hide",
                                }
                            ],
                        },
                    ),
                ),
                {"type": "Container", "id": "part", "isVisible": False, "items": [text("x")]},
            ],
        }
    ]


def test_an_open_collapsible_container_is_shown() -> None:
    (box,) = elements(Container((prose("x"),), collapsed=False))

    assert "isVisible" not in box["items"][1]


def test_a_spoiler_container_is_hidden_behind_a_toggle_button() -> None:
    button, box = elements(Container((prose("x"),), spoiler=True))

    assert button["actions"][0]["title"] == "Spoiler"
    assert box == {
        "type": "Container",
        "id": "hidden",
        "isVisible": False,
        "items": [{"type": "Container", "items": [text("x")]}],
    }


# --- side by side -------------------------------------------------------------------------------


def test_a_section_has_its_accessory_beside_the_text() -> None:
    assert elements(Section((prose("x"),), Image(PICTURE))) == [
        columns(column("stretch", text("x")), column("auto", picture(size="medium")))
    ]
    assert elements(Section((prose("x"),), Button(line("Go"), at="/b"), leading=True)) == [
        columns(
            column("auto", {"type": "ActionSet", "actions": [press("Go", "token/b")]}),
            column("stretch", text("x")),
        )
    ]


def test_a_menu_accessory_has_a_stretched_column() -> None:
    menu = Choice(options=(Option(line("a"), "a"),), at="/m")

    (element,) = elements(Section((prose("x"),), menu))

    assert element["columns"][1]["width"] == "stretch"


def test_columns_keep_their_widths_styles_and_links() -> None:
    several = Columns(
        (
            Column((prose("a"),), "auto"),
            Column((prose("b"),), 2, "good", "https://a.example"),
            Column(()),
        )
    )

    assert elements(several) == [
        columns(
            column("auto", text("a")),
            {
                **column(2, text("b"), style="good"),
                "selectAction": {"type": "Action.OpenUrl", "url": "https://a.example"},
            },
            column("stretch"),
        )
    ]


def test_a_context_is_one_line_of_small_text() -> None:
    centred = {"verticalContentAlignment": "center", "spacing": "small"}

    assert elements(Context((prose("a"),))) == [text("a", size="small", isSubtle=True)]
    assert elements(Context((Image(PICTURE, round=True), prose("a")))) == [
        columns(
            column("auto", picture(width="24px", style="person"), **centred),
            column("stretch", text("a", size="small", isSubtle=True), **centred),
        )
    ]


# --- fields -------------------------------------------------------------------------------------


def field(label: str, *value: object, short: bool = True) -> LabelledValue:
    return LabelledValue(line(label), (Paragraph(value),), short)  # type: ignore[arg-type]


def test_single_line_fields_are_a_fact_set() -> None:
    several = Fields((field("*A*", Text("1")), field("B", Text("2"), short=False)))

    facts = [{"title": "\\*A\\*", "value": "1"}, {"title": "B", "value": "2"}]
    assert elements(several) == [{"type": "FactSet", "facts": facts}]


def test_fields_with_longer_values_are_columns() -> None:
    long = field("C", Text("a"), Break(), Text("b"), short=False)

    first, *others = elements(Fields((field("A", Code("1")), field("B", Text("2")), long)))

    assert [column["items"][0] for column in first["columns"]] == [
        text("A", weight="bolder"),
        text("B", weight="bolder"),
    ]
    assert [column["width"] for column in first["columns"]] == [1, 1]
    assert others == [text("C", weight="bolder"), text("a\n\nb")]


def test_at_most_three_fields_share_a_row() -> None:
    several = tuple(field(str(n), Code("x")) for n in range(5))

    assert [len(element["columns"]) for element in elements(Fields(several))] == [3, 2]


def test_fields_without_labels_are_columns_of_values() -> None:
    values = tuple(LabelledValue((), prose(words).text) for words in ("a", "b"))

    assert elements(Fields(values)) == [columns(column(1, text("a")), column(1, text("b")))]


# --- tables and carousels -----------------------------------------------------------------------


def test_a_table_has_cells_of_any_nodes() -> None:
    table = Table(
        (((prose("a"),), (prose("b"),)), ((Image(PICTURE),), ())),
        align=("center", None),
        title=line("T"),
    )

    assert elements(table) == [
        text("T", weight="bolder"),
        {
            "type": "Table",
            "columns": [{"width": 1, "horizontalCellContentAlignment": "center"}, {"width": 1}],
            "rows": [
                {
                    "type": "TableRow",
                    "cells": [
                        {"type": "TableCell", "items": [text("a")]},
                        {"type": "TableCell", "items": [text("b")]},
                    ],
                },
                {
                    "type": "TableRow",
                    "cells": [
                        {"type": "TableCell", "items": [picture()]},
                        {"type": "TableCell", "items": []},
                    ],
                },
            ],
        },
    ]


def test_a_table_without_a_header_is_not_styled_as_having_one() -> None:
    (table,) = elements(Table((((prose("a"),),),), header=False))

    assert table["firstRowAsHeader"] is False
    assert table["rows"][0]["cells"][0]["items"] == [text("a", weight="default")]


def test_an_empty_table_gives_no_element() -> None:
    assert elements(prose("x", subtle=True), Table(())) == [text("x", isSubtle=True)]


def test_carousel_pages_with_videos_are_stacked() -> None:
    film = Player("video", Asset(url="https://www.youtube.com/watch?v=1", name="f"))
    pages = Carousel((Container((film,)), Container((prose("x"),))), at="/c")

    written = write(Divider(), pages, prose("y"))

    assert kinds(written) == [("/c", "carousel_stacked", "2 pages")]


def test_deeply_nested_containers_are_flattened() -> None:
    node: Container | Section | Columns = Container((prose("deep"), Button(line("Go"), at="/b")))
    for n in range(300):
        nestings = [
            Container((node,)),
            Section((node,), prose(f"s{n}")),
            Columns((Column((node,)),)),
        ]
        node = nestings[n % 3]

    written_text = str(elements(node))

    assert "'deep'" in written_text
    assert written_text.count("'s") > 90
    assert "token/b" in written_text


def test_deeply_nested_reveal_buttons_are_opened() -> None:
    button = Button(line("deepest"), at="/b")
    for n in range(300):
        button = Button(line(f"s{n}"), does="reveal", nodes=(button,), hint=f"h{n}", at=f"/{n}")

    written = write(button)

    written_text, losses = str(cards(written)), str(written.losses)
    assert "'deepest'" in written_text
    assert all(f"'s{n}'" in written_text for n in range(300))
    assert all(f"'h{n}'" in written_text + losses for n in range(300))


def test_a_list_in_a_box_stays_a_list() -> None:
    items = Prose((List((ListItem(prose("a").text), ListItem(prose("b").text))),))

    assert elements(Container((items,))) == [{"type": "Container", "items": [text("- a\n- b")]}]


def test_a_spoiler_in_a_fact_is_hidden_or_named_as_a_loss() -> None:
    hidden = Spoiler(line("secret"))
    alone, within, label = (
        LabelledValue(line("L"), (Paragraph((hidden,)),)),
        LabelledValue(line("L"), (Paragraph((Text("a "), hidden)),)),
        LabelledValue((hidden,), (Paragraph(line("v")),)),
    )

    assert kinds(write(Fields((alone,)))) == []
    assert '"isVisible":false' in orjson.dumps(cards(write(Fields((alone,))))).decode()
    assert kinds(write(Fields((within,)))) == [("", "spoiler_shown", "secret")]
    assert kinds(write(Fields((label,)))) == [("", "spoiler_shown", "secret")]
