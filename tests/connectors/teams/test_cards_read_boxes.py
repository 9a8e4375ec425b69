"""Layout elements of Adaptive Cards, selectAction, visibility and fallbacks."""

from __future__ import annotations

import pytest
from pydantic import JsonValue

from bridge.content.cards.rendering import Payload
from bridge.content.cards.tree import (
    Actions,
    Asset,
    Button,
    Carousel,
    Column,
    Columns,
    Container,
    Divider,
    Fields,
    Image,
    LabelledValue,
    Native,
    Node,
    Prose,
    Section,
    Table,
)
from bridge.content.cards.walk import walk
from bridge.content.text.tree import Link, Paragraph
from bridge.model import Loss
from connectors.teams.cards import left_out
from tests.connectors.teams.cards import ADAPTIVE, Json, card, line, nodes, prose, read


def text(value: str, **more: JsonValue) -> Json:
    return {"type": "TextBlock", "text": value, **more}


def column(*items: JsonValue, **more: JsonValue) -> Json:
    return {"type": "Column", "items": list(items), **more}


def side_by_side(*columns: JsonValue, **more: JsonValue) -> Json:
    return {"type": "ColumnSet", "columns": list(columns), **more}


PICTURE: Json = {"type": "Image", "url": "https://a.example/p.png", "size": "Small"}
PERSON = Image(Asset(url="https://a.example/p.png"), size="small")
OPEN: Json = {"type": "Action.OpenUrl", "url": "https://a.example", "title": "Look"}
LOOK = Button(line("Look"), does="open", url="https://a.example")


def test_a_container_holds_its_items() -> None:
    read_nodes = nodes({"type": "Container", "style": "Emphasis", "items": [text("a"), text("b")]})

    assert read_nodes == (Container((prose("a"), prose("b")), style="emphasis"),)
    assert [node.at for node in walk(read_nodes)] == [
        "/body/0",
        "/body/0/items/0",
        "/body/0/items/1",
    ]


def test_an_empty_container_gives_no_node() -> None:
    assert nodes({"type": "Container", "items": []}) == ()


def test_a_separator_is_a_divider_except_above_the_first_element() -> None:
    read_nodes = nodes(
        text("a", separator=True),
        text("b", separator=True),
        text("c", separator=True, spacing="ExtraLarge"),
    )

    assert read_nodes == (prose("a"), Divider(), prose("b"), Divider(large=True), prose("c"))


def test_the_select_action_of_a_container_is_a_button_in_it() -> None:
    read_nodes = nodes({"type": "Container", "items": [text("a"), text("b")], "selectAction": OPEN})

    assert read_nodes == (Container((prose("a"), prose("b"), Actions((LOOK,)))),)


def test_an_open_url_select_action_of_one_element_is_a_link() -> None:
    action: Json = {"type": "Action.OpenUrl", "url": "https://a.example"}

    read_nodes = nodes(
        {"type": "Container", "items": [text("a")], "selectAction": action},
        {"type": "Container", "items": [PICTURE], "selectAction": action},
    )

    linked = Prose((Paragraph((Link("https://a.example", line("a")),)),))
    picture = Image(PERSON.asset, size="small", link="https://a.example")
    assert read_nodes == (Container((linked,)), Container((picture,)))


def test_an_open_url_select_action_of_columns_links_the_first_text() -> None:
    action: Json = {"type": "Action.OpenUrl", "url": "https://a.example"}

    (plain, named, titled) = nodes(
        side_by_side(column(PICTURE), column(text("a")), column(text("b")), selectAction=action),
        side_by_side(column(text("c")), column(text("d")), selectAction=OPEN),
        side_by_side(column(text("e")), column(text("Look here")), selectAction=OPEN),
    )

    linked = Prose((Paragraph((Link("https://a.example", line("a")),)),))
    assert isinstance(plain, Columns)
    assert [cell.nodes for cell in plain.columns] == [(PERSON,), (linked,), (prose("b"),)]
    assert isinstance(named, Columns)
    look = Link("https://a.example", line("Look"))
    behind = Prose((Paragraph((*line("c "), look)),))
    assert [cell.nodes for cell in named.columns] == [(behind,), (prose("d"),)]
    linked = Prose((Paragraph((Link("https://a.example", line("e")),)),))
    assert isinstance(titled, Columns)
    assert [cell.nodes for cell in titled.columns] == [(linked,), (prose("Look here"),)]


# --- columns --------------------------------------------------------------------------------


def test_columns_have_their_widths_and_styles() -> None:
    read_nodes = nodes(
        side_by_side(
            column(text("a"), width="auto"),
            column(text("b"), width="2"),
            column(text("c"), width=3, style="good"),
            column(text("d"), width="50px"),
            {"items": [text("e")]},
        )
    )

    assert read_nodes == (
        Columns(
            (
                Column((prose("a"),), width="auto"),
                Column((prose("b"),), width=2),
                Column((prose("c"),), width=3, style="good"),
                Column((prose("d"),), width="auto"),
                Column((prose("e"),), width="stretch"),
            )
        ),
    )


def test_a_text_column_beside_a_small_image_or_one_button_is_a_section() -> None:
    button: Json = {"type": "ActionSet", "actions": [OPEN]}
    read_nodes = nodes(
        side_by_side(column(text("a")), column(PICTURE, width="auto")),
        side_by_side(column(PICTURE, width="auto"), column(text("b"), text("c"))),
        side_by_side(column(text("d")), column(button, width="auto")),
    )

    assert read_nodes == (
        Section((prose("a"),), PERSON),
        Section((prose("b"), prose("c")), PERSON, leading=True),
        Section((prose("d"),), LOOK),
    )


@pytest.mark.parametrize(
    ("width", "kind"),
    [
        (30, "section"),
        ("30", "section"),
        ("30px", "section"),
        (35, "columns"),
        ("200px", "columns"),
    ],
)
def test_a_numeric_column_width_is_a_relative_weight(width: JsonValue, kind: str) -> None:
    picture: Json = {"type": "Image", "url": "https://a.example/p.png"}

    (columns,) = nodes(side_by_side(column(picture, width=width), column(text("a"), width=65)))

    assert columns.type == kind


@pytest.mark.parametrize(
    "second",
    [
        column({**PICTURE, "size": "Large"}),
        column({**PICTURE, "size": "Stretch"}, width="stretch"),
        column(PICTURE, style="good"),
        column(PICTURE, text("below")),
        column(PICTURE, isVisible=False, id="x"),
    ],
)
def test_a_text_column_beside_other_content_stays_columns(second: JsonValue) -> None:
    (columns,) = nodes(side_by_side(column(text("a")), second))

    assert isinstance(columns, Columns)


def test_a_styled_column_set_is_in_a_container() -> None:
    read_nodes = nodes(side_by_side(column(text("a")), column(text("b")), style="warning"))

    both = Columns((Column((prose("a"),)), Column((prose("b"),))))
    assert read_nodes == (Container((both,), style="warning"),)


# --- tables ---------------------------------------------------------------------------------


def test_table_cells_may_have_any_element() -> None:
    def cell(*items: JsonValue) -> Json:
        return {"type": "TableCell", "items": list(items)}

    read_nodes = nodes({
        "type": "Table",
        "columns": [{"width": 1}, {"width": 2, "horizontalCellContentAlignment": "Right"}],
        "rows": [
            {"type": "TableRow", "cells": [cell(text("Name")), cell(text("State"))]},
            {"cells": [cell(PICTURE), {"items": [text("a"), text("b")]}]},
        ],
    })  # fmt: skip

    rows = (((prose("Name"),), (prose("State"),)), ((PERSON,), (prose("a"), prose("b"))))
    assert read_nodes == (Table(rows, header=True, align=(None, "right")),)


@pytest.mark.parametrize("key", ["firstRowAsHeader", "firstRowAsHeaders"])
def test_a_table_may_have_no_header_row(key: str) -> None:
    row: Json = {"cells": [{"items": [text("a")]}]}

    assert nodes({"type": "Table", "rows": [row], key: False}) == (
        Table((((prose("a"),),),), header=False),
    )


# --- one after the other --------------------------------------------------------------------


def test_pages_of_a_carousel_are_cards() -> None:
    pages: JsonValue = [
        {"type": "CarouselPage", "items": [text("one")], "style": "accent"},
        {"type": "CarouselPage", "items": [text("two")], "selectAction": OPEN},
    ]

    assert nodes({"type": "Carousel", "pages": pages}) == (
        Carousel(
            (
                Container((prose("one"),), form="card", style="accent"),
                Container((prose("two"), Actions((LOOK,))), form="card"),
            )
        ),
    )


def test_accordion_pages_are_collapsible_containers() -> None:
    pages: JsonValue = [
        {"type": "AccordionPage", "headerTitle": "One", "isExpanded": True, "items": [text("a")]},
        {"type": "AccordionPage", "headerTitle": "Two", "items": [text("b")]},
    ]

    assert nodes({"type": "Accordion", "pages": pages}) == (
        Container((prose("a"),), title=line("One"), collapsed=False),
        Container((prose("b"),), title=line("Two"), collapsed=True),
    )


def test_tab_pages_are_collapsible_and_the_first_is_open() -> None:
    pages: JsonValue = [
        {"type": "TabPage", "title": "One", "items": [text("a")]},
        {"type": "TabPage", "title": "Two", "items": [text("b")]},
    ]

    assert nodes({"type": "TabSet", "pages": pages}) == (
        Container((prose("a"),), title=line("One"), collapsed=False),
        Container((prose("b"),), title=line("Two"), collapsed=True),
    )


# --- shown and hidden -----------------------------------------------------------------------


def test_hidden_elements_are_hidden_containers() -> None:
    read_nodes = nodes(
        text("more", id="x", isVisible=False),
        {"type": "Container", "id": "y", "isVisible": False, "items": [text("max")]},
    )

    assert read_nodes == (
        Container((prose("more"),), hidden=True, id="x"),
        Container((prose("max"),), hidden=True, id="y"),
    )


def test_a_visible_toggle_target_is_a_container_with_its_id() -> None:
    toggle: Json = {"type": "Action.ToggleVisibility", "title": "t", "targetElements": ["a", "b"]}

    read_nodes = nodes(
        text("A", id="a"),
        text("B", id="b", isVisible=False),
        text("C", id="c"),
        {"type": "ActionSet", "actions": [toggle]},
    )

    assert read_nodes == (
        Container((prose("A"),), id="a"),
        Container((prose("B"),), hidden=True, id="b"),
        prose("C"),
        Actions((Button(line("t"), does="toggle", targets=("a", "b")),)),
    )


# --- fallbacks ------------------------------------------------------------------------------


def test_an_unknown_element_is_read_as_its_fallback() -> None:
    fallback: Json = {"type": "NewerStill", "fallback": text("old")}

    assert nodes({"type": "Newer", "text": "new", "fallback": fallback}) == (prose("old"),)
    assert nodes({"type": "Newer", "text": "new", "fallback": "drop"}) == ()


def test_an_element_with_unmet_requirements_is_read_as_its_fallback() -> None:
    read_nodes = nodes(
        text("a", requires={"adaptiveCards": "1.6"}, fallback=text("x")),
        text("b", requires={"adaptiveCards": "1.7"}, fallback=text("y")),
        text("c", requires={"holograms": "*"}, fallback="drop"),
        text("d", requires={"adaptiveCards": "*"}, fallback="drop"),
    )

    assert read_nodes == (prose("a"), prose("y"), prose("d"))


def test_an_unknown_element_without_a_fallback_triggers_its_parents_fallback() -> None:
    unknown: Json = {"type": "Newer", "text": "new"}
    box: Json = {"type": "Container", "items": [text("a"), unknown]}

    assert nodes({**box, "fallback": text("old")}) == (prose("old"),)
    native = Native(ADAPTIVE, unknown, (prose("new"),))
    assert nodes(box) == (Container((prose("a"), native)),)


def test_a_column_may_have_a_fallback() -> None:
    newer: Json = {"type": "Newer", "fallback": column(text("old"))}

    assert nodes(side_by_side(column(text("a")), newer, column(text("b")))) == (
        Columns((Column((prose("a"),)), Column((prose("old"),)), Column((prose("b"),)))),
    )


def test_an_unknown_element_is_kept_with_its_readable_content() -> None:
    element: Json = {
        "type": "Stage",
        "title": "On **air**",
        "requiresLogin": True,
        "panels": [{"caption": "left", "content": [text("inside"), {"type": "Foo", "text": "x"}]}],
        "facts": [{"title": "t", "value": 5}],
    }

    (node,) = nodes(element)

    assert isinstance(node, Native)
    assert node.payload == element
    words = [fallback.at for fallback in node.fallback]
    assert words == [
        "/body/0/title",
        "/body/0/panels/0/caption",
        "/body/0/panels/0/content/0",
        "/body/0/panels/0/content/1/text",
        "/body/0/facts/0/title",
        "/body/0/facts/0/value",
    ]


@pytest.mark.parametrize(
    ("element", "words"),
    [
        ("just a string", (prose("just a string"),)),
        ({"text": "no type"}, (prose("no type"),)),
        (None, ()),
        (7, (prose("7"),)),
    ],
)
def test_json_that_is_not_an_element_is_read_as_its_text(
    element: JsonValue, words: tuple[Node, ...]
) -> None:
    assert nodes(element) == words


def test_an_element_with_a_text_of_a_wrong_type_is_kept() -> None:
    element: Json = {"type": "TextBlock", "text": {"text": "deep"}}

    assert nodes(element) == (Native(ADAPTIVE, element, (prose("deep"),)),)


# --- the card itself ------------------------------------------------------------------------


def test_the_select_action_of_a_card_follows_its_actions() -> None:
    native = card(text("a"), actions=[OPEN], selectAction={**OPEN, "title": "All"})

    whole = Button(line("All"), does="open", url="https://a.example")
    read_nodes = read(native).nodes

    assert read_nodes == (prose("a"), Actions((LOOK,)), Actions((whole,)))
    assert [node.at for node in read_nodes] == ["/body/0", "/actions", "/selectAction"]


def test_a_card_with_a_style_is_a_box() -> None:
    assert read(card(text("a"), style="emphasis")).nodes == (
        Container((prose("a"),), form="card", style="emphasis"),
    )


def test_fallback_text_is_the_summary_and_shown_only_without_a_body() -> None:
    assert read(card(text("a"), fallbackText="See elsewhere")).summary == "See elsewhere"
    assert read(card(fallbackText="See elsewhere")).nodes == (prose("See elsewhere"),)
    spoken = "<s>It is <emphasis>done</emphasis></s>"
    assert read(card(text("a"), speak=spoken)).summary == "It is done"


def test_a_card_with_unmet_requirements_is_read_as_its_fallback() -> None:
    native = card(text("new"), requires={"holograms": "1"}, fallback=text("old"))

    assert read(native).nodes == (prose("old"),)


def test_a_bare_element_is_read_as_a_card() -> None:
    facts: Json = {"type": "FactSet", "facts": [{"title": "a", "value": "b"}]}

    assert read(facts).nodes == (Fields((LabelledValue(line("a"), (Paragraph(line("b")),)),)),)


def test_unread_card_properties_are_reported_as_losses() -> None:
    native = card(
        {
            "type": "Container",
            "items": [text("a")],
            "backgroundImage": {"url": "https://a.example/b"},
        },
        backgroundImage="https://a.example/c",
        refresh={"action": {"type": "Action.Execute", "verb": "again"}},
        authentication={"text": "Sign in", "buttons": [{"type": "signin", "title": "Go"}]},
    )

    assert left_out(Payload(ADAPTIVE, native, "/x")) == (
        Loss(path="/x/body/0/backgroundImage", kind="background_image", what="https://a.example/b"),
        Loss(path="/x/backgroundImage", kind="background_image", what="https://a.example/c"),
        Loss(path="/x/refresh", kind="card_refresh", what="again"),
        Loss(path="/x/authentication", kind="card_authentication", what="Sign in Go"),
    )
