"""Every node of a card as components, and its losses."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from bridge.content.cards.rendering import Rendering
from bridge.content.cards.tree import (
    Actions,
    Alert,
    Asset,
    Badge,
    Button,
    Card,
    Carousel,
    Chart,
    Column,
    Columns,
    Container,
    Context,
    Credit,
    Divider,
    Fields,
    File,
    Gallery,
    Image,
    LabelledValue,
    Native,
    Node,
    Picker,
    Player,
    Point,
    Poll,
    PollAnswer,
    Progress,
    Prose,
    Rating,
    Section,
    Series,
    Table,
    Task,
    Tasks,
)
from bridge.content.text.tree import (
    Code,
    CodeBlock,
    Heading,
    Link,
    List,
    ListItem,
    Paragraph,
    Quote,
    Rule,
    Text,
)
from bridge.content.text.tree import Spoiler as Hidden
from bridge.content.text.tree import Table as TextTable
from bridge.model import Loss
from connectors.discord.capabilities import CAPABILITIES
from connectors.discord.cards import write_card, write_components
from tests.connectors.discord.card_words import bold, line, link, picture, prose, small
from tests.connectors.discord.discord_rules import faults, read_aloud
from tests.content.card_strategies import node_types

TOKENS = Rendering(token=lambda at: f"token{at.replace('/', '-')}")
HELD = Rendering(uploads=True)
BLOB = "blob:sha256-" + "0" * 64
URL = "https://x.example/a.png"


def write(*nodes: Node, rendering: Rendering = TOKENS) -> tuple[list[Any], list[Loss]]:
    """Return the components of the single message, and the losses."""
    written = write_components(Card(nodes), rendering)
    (message,) = written.messages
    assert faults(message.body, [file.name for file in message.files]) == []
    components: Any = message.body["components"]
    return components, list(written.losses)


def shown_components(*nodes: Node, rendering: Rendering = TOKENS) -> list[Any]:
    return write(*nodes, rendering=rendering)[0]


def kinds(*nodes: Node, rendering: Rendering = TOKENS) -> list[str]:
    return [loss.kind for loss in write(*nodes, rendering=rendering)[1]]


def text(content: str) -> dict[str, Any]:
    return {"type": 10, "content": content}


def gallery(*urls: str, **more: Any) -> dict[str, Any]:
    return {"type": 12, "items": [{"media": {"url": url}, **more} for url in urls]}


def box(*inner: Any, **attributes: Any) -> dict[str, Any]:
    return {"type": 17, "components": list(inner), **attributes}


def test_the_capabilities_list_every_node_type() -> None:
    named = {key.removeprefix("card.") for key in CAPABILITIES.features if key[:5] == "card."}

    assert named == node_types()


# --- text -----------------------------------------------------------------------------------


def test_prose_is_a_text_display_with_separators_for_its_rules() -> None:
    node = Prose((Heading(1, line("T")), Paragraph(line("a")), Rule(), Paragraph(line("b"))))

    assert shown_components(node) == [text("# T\na"), {"type": 14}, text("b")]


@pytest.mark.parametrize(
    ("node", "content"),
    [
        (replace(prose("x"), size="huge"), "# x"),
        (replace(prose("x"), size="large"), "## x"),
        (replace(prose("x"), size="small"), "-# x"),
        (replace(prose("x"), subtle=True), "-# x"),
        (Prose((CodeBlock("x", "sh"),), subtle=True), "```sh\nx\n```"),
    ],
)
def test_prose_sizes_become_headings_or_small_print(node: Prose, content: str) -> None:
    assert shown_components(node) == [text(content)]


def test_text_colour_and_alignment_are_reported_as_losses() -> None:
    assert kinds(replace(prose("x"), style="good", align="center")) == ["text_style", "text_align"]


def test_deep_headings_and_rules_in_quotes_are_reported_as_losses() -> None:
    node = Prose((Quote((Heading(5, line("h")), Rule())),))

    assert kinds(node) == ["heading_level", "rule_as_text"]


def test_a_link_longer_than_a_message_is_written_as_its_text() -> None:
    url = "https://x.example/" + "u" * 5000
    node = Prose((List((ListItem((Paragraph((bold("a"), link(url, "here"))),)),)),))

    components, losses = write(node)

    assert components == [text("- **a**here")]
    assert losses == [Loss(path="", kind="long_link", what=url)]


@pytest.mark.parametrize(
    ("node", "body"),
    [
        (Divider(), {"type": 14}),
        (Divider(line=False, large=True), {"type": 14, "divider": False, "spacing": 2}),
    ],
)
def test_a_divider_is_a_separator(node: Divider, body: dict[str, Any]) -> None:
    assert shown_components(node) == [body]


def test_a_context_is_one_line_of_small_print_and_loses_its_icons() -> None:
    face = Image(Asset(url=URL, alt="Ann's face"), size="icon")

    components, losses = write(Context((face, prose("Ann"), prose("2 days ago"))))

    assert components == [text("-# Ann · 2 days ago")]
    assert losses == [Loss(path="", kind="small_picture", what="Ann's face")]


def test_a_context_of_only_pictures_is_a_gallery() -> None:
    assert shown_components(Context((picture(URL), picture(URL)))) == [gallery(URL, URL)]


def test_a_context_with_a_list_is_several_texts() -> None:
    list_ = Prose((List((ListItem((Paragraph(line("a")),)),)),))

    assert shown_components(Context((prose("x"), list_))) == [text("-# x"), text("- a")]


def test_fields_are_lines_that_start_with_their_labels() -> None:
    items = (
        LabelledValue(line("A"), (Paragraph(line("1")),)),
        LabelledValue(line("B *"), (Paragraph((link("https://x.example", "two"),)),)),
        LabelledValue(line("C"), (CodeBlock("3"),)),
        LabelledValue((), (Paragraph(line("4")),)),
        LabelledValue(line("E"), ()),
    )

    components, losses = write(Fields(items))

    assert components == [
        text("**A** 1\n**B \\*** [two](https://x.example)\n**C**\n\n```\n3\n```\n4\n**E**")
    ]
    assert [loss.kind for loss in losses] == ["fields_as_prose"]


# --- tables and charts ----------------------------------------------------------------------


def cell(cell_text: str) -> tuple[Node, ...]:
    return (prose(cell_text),) if cell_text else ()


def table(*rows: tuple[str, ...], **more: Any) -> Table:
    return Table(tuple(tuple(cell(text) for text in row) for row in rows), **more)


def test_a_narrow_table_is_code_below_its_title() -> None:
    components, losses = write(table(("Day", "Sum"), ("Mon", "7"), title=line("Week")))

    assert components == [text("**Week**"), text("```\nDay │ Sum\n────┼────\nMon │ 7\n```")]
    assert [loss.kind for loss in losses] == ["table_as_code"]


def test_a_wide_table_is_a_list_of_its_rows() -> None:
    wide = "w" * 40

    components, losses = write(table(("Day", "Sum"), (wide, wide)))

    assert components == [text("**Day** \\| **Sum**"), text(f"- {wide} \\| {wide}")]
    assert [loss.kind for loss in losses] == ["table_as_prose"]


def test_a_long_table_repeats_its_header_in_every_part() -> None:
    rows = tuple((f"row {n}", "x" * 20) for n in range(300))

    written = write_components(Card((table(("Name", "Word"), *rows),)), TOKENS)

    bodies: list[Any] = [message.body for message in written.messages]
    parts: Any = [component for body in bodies for component in body["components"]]
    assert len(parts) > 1
    assert all(part["content"].startswith("```\nName") for part in parts)
    assert "row 299" in parts[-1]["content"]


def test_a_code_table_reports_its_links_and_keeps_spoilers_hidden() -> None:
    linked = Table((((Prose((Paragraph((link("https://x.example", "docs"),)),)),),),), header=False)
    hidden = Table((((Prose((Paragraph((Hidden(line("s")),)),)),),),), header=False)

    _, losses = write(linked)

    assert losses[0].what.endswith("https://x.example")
    assert shown_components(hidden) == [text("- ||s||")]


def test_a_table_with_buttons_is_written_row_by_row() -> None:
    button = Button(line("Go"), at="/b")
    rows = (((prose("a"),), (prose("b"),)), ((prose("c"),), (button, prose("d"))))

    components, losses = write(Table(rows))

    assert [component["type"] for component in components] == [10, 10, 1, 10]
    assert [component.get("content") for component in components] == [
        "**a** │ **b**",
        "c",
        None,
        "d",
    ]
    assert [loss.kind for loss in losses] == ["table_as_rows"]


def test_tables_in_prose_are_code_as_well() -> None:
    inner = TextTable((line("A"),), ((line("1"),),))

    assert shown_components(Prose((inner,))) == [text("```\nA\n─\n1\n```")]


def test_a_chart_is_a_table_of_its_numbers() -> None:
    chart = Chart(
        "bar",
        (Series("North", (Point("Mon", 1), Point("Tue", 2.5), Point("Tue", 3))),),
        title="Sales",
        x_title="Day",
        y_title="Sum",
    )

    components, losses = write(chart)

    code = "```\nDay │ North\n────┼──────\nMon │ 1\nTue │ 3\n```"
    assert components == [text("**Sales**"), text(code)]
    assert [(loss.kind, loss.what) for loss in losses][:2] == [
        ("chart_as_table", "bar chart Sum"),
        ("chart_points", "North Tue: 2.5"),
    ]


# --- pictures and files ---------------------------------------------------------------------


def test_a_picture_is_a_gallery_of_one_with_its_title_below() -> None:
    node = Image(
        Asset(url=URL, alt="seen", spoiler=True), title=line("T"), link="https://x.example"
    )

    assert shown_components(node) == [
        gallery(URL, description="seen", spoiler=True),
        text("-# [T](https://x.example)"),
    ]


@pytest.mark.parametrize(
    ("asset", "content", "what"),
    [
        (
            Asset(url="https://slack.example/f.png", private=True, page="https://p.example"),
            "🖼 [image](https://p.example)",
            "picture",
        ),
        (Asset(file_id=BLOB, alt="seen", name="a.png"), "🖼 seen", "a.png"),
        (Asset(url="http://intranet/a.png", alt="seen"), "🖼 seen", "http://intranet/a.png"),
    ],
)
def test_an_image_that_discord_cannot_fetch_is_a_line_of_text(
    asset: Asset, content: str, what: str
) -> None:
    components, losses = write(Image(asset))

    assert components == [text(content)]
    assert losses == [
        Loss(path="", kind="picture_as_text", what=what, shown_as="a line of text")
    ]  # fmt: skip


def test_a_spoiler_image_that_discord_cannot_fetch_is_a_spoiler_text() -> None:
    assert shown_components(Image(Asset(alt="x", spoiler=True))) == [text("||🖼 x||")]


def test_a_long_alt_text_is_cut_and_reported() -> None:
    alt = "a" * 2000

    components, losses = write(Image(Asset(url=URL, alt=alt)))

    assert len(components[0]["items"][0]["description"]) == 1024
    assert (losses[0].kind, losses[0].what) == ("cut_description", alt)


def test_a_gallery_holds_ten_images_and_ends_at_an_image_with_a_title() -> None:
    many = Gallery(tuple(picture(URL) for _ in range(12)))
    titled = Gallery((picture(URL), Image(Asset(url=URL), title=line("T")), picture(URL)))

    assert [len(component["items"]) for component in shown_components(many)] == [10, 2]
    assert shown_components(titled) == [gallery(URL, URL), text("-# T"), gallery(URL)]


def test_the_unlinked_url_of_a_video_is_reported_once() -> None:
    url = "https://embed.example/1"
    film = Player("video", Asset(url=url, page=url), title=line("F"), link="https://x.example/p")

    assert [loss.what for loss in write(film)[1]] == [url]


def test_a_video_is_in_a_gallery_below_its_title() -> None:
    film = Player(
        "video",
        Asset(url="https://x.example/v.mp4", alt="seen"),
        title=line("Film"),
        author=line("Ann"),
        description=line("long"),
        poster=Asset(url=URL, alt="first"),
        link="https://x.example/page",
    )

    components, losses = write(film)

    assert components == [
        text("[**Film**](https://x.example/page)"),
        gallery("https://x.example/v.mp4", description="seen"),
        text("Ann"),
        text("long"),
    ]
    assert losses == [Loss(path="", kind="poster", what="first")]


def test_a_video_page_is_a_link_below_its_poster() -> None:
    film = Player(
        "video", Asset(url="https://tube.example/w"), title=line("F"), poster=Asset(url=URL)
    )

    components, losses = write(film)

    assert components == [gallery(URL), text("🎬 [F](https://tube.example/w)")]
    assert [loss.kind for loss in losses] == ["player_as_link"]


def test_a_stored_audio_is_uploaded_and_any_other_is_a_link() -> None:
    stored = Player("audio", Asset(file_id=BLOB, name="s.ogg"))
    linked_sound = Player("audio", Asset(url="https://x.example/s.ogg"), title=line("S"))

    assert shown_components(stored, rendering=HELD) == [
        {"type": 13, "file": {"url": "attachment://s.ogg"}}
    ]
    assert shown_components(linked_sound) == [text("🔊 [S](https://x.example/s.ogg)")]


def test_a_stored_file_is_uploaded_and_any_other_is_a_link() -> None:
    stored = File(Asset(file_id=BLOB, name="my report.pdf", spoiler=True), title=line("Report"))
    linked_file = File(Asset(url="https://x.example/f.pdf", name="f.pdf"))

    components, losses = write(stored, rendering=HELD)

    assert components == [
        text("**Report**"),
        {"type": 13, "file": {"url": "attachment://my_report.pdf"}, "spoiler": True},
    ]
    assert [(loss.kind, loss.what) for loss in losses] == [("file_name", "my report.pdf")]
    assert shown_components(linked_file) == [text("📎 [f.pdf](https://x.example/f.pdf)")]
    assert kinds(linked_file) == ["file_as_link"]


# --- structure ------------------------------------------------------------------------------


def test_a_section_has_texts_and_a_thumbnail_accessory() -> None:
    beside = Image(Asset(url=URL, alt="seen"))
    texts = tuple(prose(str(n)) for n in range(5))

    assert shown_components(Section(texts, beside)) == [
        {
            "type": 9,
            "components": [text("0"), text("1"), text("2\n3\n4")],
            "accessory": {"type": 11, "media": {"url": URL}, "description": "seen"},
        }
    ]


def test_a_section_may_have_a_button_accessory() -> None:
    (section,) = shown_components(Section((prose("x"),), Button(line("Go"), at="/b")))

    assert section["accessory"] == {
        "type": 2,
        "style": 2,
        "custom_id": "token-b",
        "label": "Go",
    }


def test_a_node_that_cannot_be_an_accessory_is_below_the_text() -> None:
    menu = Section((prose("x"),), Picker(of="people", at="/p"))
    pictures = Section((picture(URL),), Button(line("Go"), at="/b"))
    titled = Section((prose("x"),), Image(Asset(url=URL), title=line("T")))

    assert [component["type"] for component in shown_components(menu)] == [10, 1]
    assert kinds(menu) == ["stack_section"]
    assert [component["type"] for component in shown_components(pictures)] == [12, 1]
    assert [component["type"] for component in shown_components(titled)] == [10, 12, 10]


def test_a_leading_button_is_above_the_text() -> None:
    section = Section((prose("x"),), Button(line("Go"), at="/b"), leading=True)

    assert [component["type"] for component in shown_components(section)] == [1, 10]


def columns(*several: Node | tuple[Node, ...]) -> Columns:
    groups = ((item,) if not isinstance(item, tuple) else item for item in several)
    return Columns(tuple(Column(nodes) for nodes in groups))


ICON = replace(picture("https://files.acme.example/icon.png"), size="icon")


def test_columns_are_written_one_below_the_other() -> None:
    node = Columns((Column((prose("l"),)), Column((prose("r"),), link="https://x.example")))

    assert shown_components(node) == [text("l"), text("r"), text("-# https://x.example")]
    assert kinds(node) == ["stack_columns"]


def test_short_texts_side_by_side_are_one_line() -> None:
    total = columns(prose("Total"), prose("$4,032.54"))
    bold_one = columns(prose("Total"), Prose((Paragraph((bold("$4"),)),)))
    three = columns(prose("Mon"), prose("Tue"), prose("Wed"))

    assert shown_components(total) == [text("**Total** $4,032.54")]
    assert shown_components(bold_one) == [text("Total **$4**")]
    assert shown_components(three) == [text("Mon · Tue · Wed")]
    assert kinds(total) == ["columns_as_line"]


def test_texts_of_one_size_side_by_side_are_one_bold_line() -> None:
    large = [Prose((Paragraph(line(code)),), size="huge") for code in ("SFO", "AMS")]
    medium = Prose((Heading(3, line("$4,032.54")),))

    assert shown_components(columns(*large)) == [text("**SFO** **AMS**")]
    assert shown_components(columns(prose("Total"), medium)) == [text("Total **$4,032.54**")]


def test_small_texts_side_by_side_are_small_print() -> None:
    small_ones = (replace(prose(letter), subtle=True) for letter in ("a", "b"))

    assert shown_components(columns(*small_ones)) == [text("-# **a** b")]


def test_long_texts_and_headings_in_columns_are_stacked() -> None:
    headline = Prose((Heading(2, line("News")),))

    assert shown_components(columns(prose("w " * 40), prose("b"))) == [
        text("w " * 39 + "w"),
        text("b"),
    ]
    assert shown_components(columns(headline, prose("b"))) == [text("## News"), text("b")]


def test_neighbouring_rows_of_short_texts_are_a_table() -> None:
    head = columns(*(Prose((Paragraph((bold(heading),)),)) for heading in ("Item", "Price")))
    rows = [columns(prose(item), prose(price)) for item, price in (("Tea", "3"), ("Scone", "4"))]

    components, losses = write(head, Divider(), *rows, prose("x"))

    assert components == [
        text("```\nItem  │ Price\n──────┼──────\nTea   │ 3\nScone │ 4\n```"),
        text("x"),
    ]
    assert [(loss.kind, loss.what) for loss in losses] == [
        ("columns_as_table", "3 rows of columns"),
        ("table_as_code", "table of 2 rows, 2 columns"),
    ]


def test_rows_with_links_or_of_another_width_are_no_table() -> None:
    linked = columns(prose("Docs"), Prose((Paragraph((link("https://x.example", "read"),)),)))
    other = columns(prose("a"), prose("b"), prose("c"))

    assert [component["content"] for component in shown_components(linked, linked, other)] == [
        "Docs [read](https://x.example)", "Docs [read](https://x.example)", "a · b · c"
    ]  # fmt: skip


def test_a_decorative_icon_is_the_accessory_of_the_next_text() -> None:
    components, losses = write(ICON, prose("Deployed"))

    assert [component["type"] for component in components] == [9]
    assert losses == []


@pytest.mark.parametrize(
    "node",
    [ICON, Context((ICON,)), columns(ICON, (ICON, Divider()))],
    ids=["alone", "small", "col"],
)
def test_a_decorative_icon_without_a_text_is_dropped_and_reported(node: Node) -> None:
    components, losses = write(prose("a"), node)

    assert {component["type"] for component in components} <= {10, 14}
    assert {(loss.kind, loss.what) for loss in losses} >= {
        ("small_picture", "https://files.acme.example/icon.png")
    }


def test_an_icon_with_alt_text_or_without_other_nodes_is_kept() -> None:
    described = replace(ICON, asset=replace(ICON.asset, alt="Rainy"))

    assert [component["type"] for component in shown_components(prose("a"), described)] == [10, 12]
    assert [component["type"] for component in shown_components(ICON)] == [12]


def test_texts_in_columns_with_a_decorative_picture_are_a_section() -> None:
    node = columns(ICON, prose("Build 17"), prose("failed"))

    (section,) = shown_components(node)

    assert section["components"] == [text("**Build 17** failed")]
    assert section["accessory"]["media"] == {"url": "https://files.acme.example/icon.png"}


def test_a_gallery_of_decorative_pictures_is_not_written_full_width() -> None:
    pair = Gallery((ICON, replace(ICON, at="/2")))

    (section,) = shown_components(pair, prose("text"))
    assert section["components"] == [text("text")]
    assert section["accessory"]["type"] == 11
    components, losses = write(prose("text"), pair)
    assert components == [text("text")]
    assert [loss.kind for loss in losses] == ["small_picture", "small_picture"]
    assert [component["type"] for component in shown_components(pair)] == [12]


def test_a_column_of_text_and_a_small_picture_are_a_section() -> None:
    beside = Image(Asset(url=URL), size="small")

    (section,) = shown_components(Columns((Column((prose("l"),)), Column((beside,)))))

    assert section["type"] == 9


def test_a_card_is_a_coloured_container_with_header_and_footer() -> None:
    card = Container(
        (prose("in"),),
        form="card",
        color=0x123456,
        title=line("T"),
        subtitle=line("S"),
        link="https://x.example",
        author=Credit(line("Ann"), Asset(url=URL, alt="Ann's face"), "https://ann.example"),
        hero=picture(URL),
        footer=Credit(line("F")),
        time=1_700_000_000,
    )

    components, losses = write(card)

    assert components == [
        box(
            gallery(URL),
            text("-# [Ann](https://ann.example)"),
            text("### [T](https://x.example)"),
            text("-# S"),
            text("in"),
            text("-# F · <t:1700000000:f>"),
            accent_color=0x123456,
        )
    ]
    assert losses == [Loss(path="", kind="small_picture", what="Ann's face")]


@pytest.mark.parametrize("title", [(), line("T")])
def test_a_thumbnail_is_the_accessory_of_the_title_or_the_first_text(title: Any) -> None:
    card = Container((prose("in"),), form="card", title=title, thumbnail=picture(URL))

    (inner,) = shown_components(card)

    assert inner["components"][0]["type"] == 9
    assert inner["components"][0]["accessory"] == {"type": 11, "media": {"url": URL}}


def test_the_link_of_a_card_without_a_title_is_shown_as_text() -> None:
    assert shown_components(Container((prose("x"),), form="card", link="https://x.example")) == [
        box(text("https://x.example"), text("x"))
    ]


@pytest.mark.parametrize(
    ("style", "color"),
    [
        ("accent", 0x36C5F0), ("good", 0x2EB67D), ("warning", 0xECB22E), ("attention", 0xE01E5A),
        ("emphasis", 0x99AAB5),
    ],
)  # fmt: skip
def test_container_styles_are_written_as_accent_colours(style: Any, color: int) -> None:
    assert shown_components(Container((prose("x"),), style=style)) == [
        box(text("x"), accent_color=color)
    ]


def test_a_spoiler_container_inside_another_splits_it() -> None:
    inner = Container((prose("b"),), spoiler=True)

    assert shown_components(Container((prose("a"), inner, prose("c")), form="card", color=7)) == [
        box(text("a"), accent_color=7),
        box(text("b"), accent_color=7, spoiler=True),
        box(text("c"), accent_color=7),
    ]


def test_a_coloured_container_inside_another_is_merged_into_it() -> None:
    node = Container((Container((prose("b"),), style="good"),), form="card", color=7)

    components, losses = write(node)

    assert components == [box(text("b"), accent_color=7)]
    assert [(loss.kind, loss.what) for loss in losses] == [("nested_container", "colour #2EB67D")]


def test_collapsed_and_hidden_containers_are_shown_open_and_reported() -> None:
    node = Container((prose("x"),), collapsed=True, hidden=True, id="box")

    assert shown_components(node) == [text("x")]
    assert kinds(node) == ["collapsed_shown", "hidden_shown"]


def test_the_cards_of_a_carousel_are_stacked_containers() -> None:
    cards = (Container((prose("1"),), form="card"), Container((prose("2"),), form="card"))

    assert shown_components(Carousel(cards)) == [box(text("1")), box(text("2"))]
    assert kinds(Carousel(cards)) == ["stack_carousel"]


def test_deeply_nested_nodes_are_written_flat() -> None:
    node: Node = prose("innermost")
    for _ in range(150):
        node = Container((node,), title=line("t"), spoiler=True)

    written = write_components(Card((node,)), TOKENS)

    assert "innermost" in str(written.messages[-1].body)
    assert {loss.kind for loss in written.losses} == {"nested_container"}


# --- nodes written as text ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("level", "sign", "color"),
    [
        ("info", "ℹ️", 0x36C5F0), ("success", "✅", 0x2EB67D), ("warning", "⚠️", 0xECB22E),
        ("error", "⛔", 0xE01E5A),
    ],
)  # fmt: skip
def test_an_alert_is_a_coloured_container_that_starts_with_its_sign(
    level: Any, sign: str, color: int
) -> None:
    assert shown_components(Alert(level, (Paragraph(line("x")),))) == [
        box(text(f"{sign} x"), accent_color=color)
    ]


def test_an_alert_within_a_container_is_a_quote() -> None:
    node = Container((Alert("error", (Paragraph(line("x")),)),), form="card")

    assert shown_components(node) == [box(text("> ⛔ x"))]
    assert kinds(node) == ["alert_as_prose"]


@pytest.mark.parametrize(
    ("node", "expected", "kind"),
    [
        (Badge(line("New"), hint=line("hint")), "**New** (hint)", "badge_as_prose"),
        (Progress(30, label=line("Done")), "Done ▓▓▓░░░░░░░ 30 %", "progress_as_prose"),
        (Progress(None), "⏳", "progress_as_prose"),
        (Progress(float("nan")), "⏳", "progress_as_prose"),
        (Rating(4.2, count=7), "★★★★☆ 4.2/5 (7)", "rating_as_prose"),
        (
            Tasks((Task(line("a"), "done"), Task(line("b"), "running")), title=line("P")),
            "**P**\n✅ a\n🔄 b",
            "tasks_as_nodes",
        ),
        (
            Poll(line("Q"), (PollAnswer(line("x"), "🐶", 3), PollAnswer(line("y"))), multiple=True),
            "📊 **Q**\n\n- 🐶 x: 3\n- y",
            "poll_as_prose",
        ),
    ],
)  # fmt: skip
def test_nodes_that_discord_cannot_show_are_written_as_text(
    node: Node, expected: str, kind: str
) -> None:
    components, losses = write(node)

    assert components == [text(expected)]
    assert [loss.kind for loss in losses] == [kind]


def test_a_badge_with_only_an_icon_is_reported_as_a_loss() -> None:
    written = write_components(Card((Badge(icon="Calendar"),)), TOKENS)

    assert written.messages == ()
    assert written.losses[0].what == "Calendar"


def test_task_details_are_below_the_task() -> None:
    tasks = Tasks((Task(line("a"), "done", (picture(URL),), (prose("out"),), line("src")),))

    assert shown_components(tasks) == [text("✅ a"), gallery(URL), text("out"), text("-# src")]


def test_a_foreign_native_node_is_written_as_its_fallback() -> None:
    node = Native("application/x", {"a": 1}, (prose("x"), small("y")))

    components, losses = write(node)

    assert components == [text("x"), text("-# y")]
    assert losses == [
        Loss(path="", kind="native", what="application/x", shown_as="what it says")
    ]  # fmt: skip


def test_links_with_non_web_schemes_are_reported_as_losses() -> None:
    node = Image(Asset(url=URL), title=line("T"), link="javascript:alert(1)")

    components, losses = write(node)

    assert components == [gallery(URL), text("-# T")]
    assert losses == [Loss(path="", kind="unsafe_link", what="javascript:alert(1)")]


def test_markup_characters_in_text_are_escaped() -> None:
    assert shown_components(prose("*a* `b` ||c|| # d"), Actions((Button(line("*x*"), at="/x"),)))[
        0
    ] == text("\\*a\\* \\`b\\` \\|\\|c\\|\\| # d")


def test_a_container_title_keeps_its_link() -> None:
    node = Container((), form="card", title=(Link("https://y.example", line("T")),))

    assert shown_components(node) == [box(text("### [T](https://y.example)"))]


@pytest.mark.parametrize("code", ["word " * 1500, "wo`rd " * 1500])
def test_code_split_over_several_texts_stays_code_in_each(code: str) -> None:
    line = Paragraph((Text("see "), Code(code), Text(" there")))
    prose = Prose((line,))
    panel = Container((Prose((line,)),), form="panel", title=(Text("Log"),))

    for nodes in ((prose,), (prose, panel), (Container((prose, prose)),)):
        written = write_card(Card(nodes), TOKENS)
        for message in written.messages:
            assert faults(message.body, []) == []
            for text_line in re.split("\n", read_aloud(message.body)):
                bare = re.sub(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", "", text_line)
                assert "rd" not in bare, text_line[:40]
