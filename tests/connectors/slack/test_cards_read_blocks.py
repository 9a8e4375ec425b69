"""Slack blocks as nodes of a card: one payload, one expectation."""

from __future__ import annotations

from typing import Any

import pytest

from bridge.content.cards.rendering import Payload
from bridge.content.cards.tree import (
    Actions,
    Alert,
    Asset,
    Badge,
    Button,
    Carousel,
    Chart,
    Container,
    Context,
    Divider,
    Fields,
    File,
    Image,
    LabelledValue,
    Native,
    Node,
    Nodes,
    Player,
    Point,
    Prose,
    Section,
    Series,
    Table,
    Task,
    Tasks,
)
from bridge.content.cards.walk import walk
from bridge.content.text.tree import (
    Break,
    Broadcast,
    Code,
    CodeBlock,
    Emoji,
    Emphasis,
    Heading,
    Link,
    ListItem,
    Mention,
    Paragraph,
    Quote,
    Strong,
    Text,
)
from bridge.content.text.tree import List as TextList
from connectors.slack import ids
from connectors.slack.cards import read_payload
from connectors.slack.cards.schemas import BLOCKS, PART
from tests.connectors.slack.card_payloads import (
    BUTTON,
    CARD,
    DATA_TABLE,
    FEEDBACK_BUTTONS,
    ICON_BUTTON,
    LINE_CHART,
    LINK_BUTTON,
    PIE_CHART,
    SECTION,
    TABLE,
    TASK,
    VIDEO,
    mrkdwn,
    option,
    picture,
    plain,
    rich,
)


def read(*blocks: Any) -> Nodes:
    return read_payload(Payload(BLOCKS, list(blocks), "/blocks"), "T1").nodes


def prose_of(*line: Any) -> Prose:
    return Prose(
        (Paragraph(tuple(Text(part) if isinstance(part, str) else part for part in line)),)
    )


def image(name: str, **members: Any) -> Image:
    return Image(Asset(url=f"https://example.com/{name}.png", alt=f"A {name}"), **members)


MENTION = Mention(ids.actor_id("T1", "U1"), "U1")
OPEN = Button((Text("Open"),), does="open", id="open", url="https://example.com/a")


# --- section --------------------------------------------------------------------------------


def test_a_section_is_its_text() -> None:
    assert read({"type": "section", "text": mrkdwn("Hello *you* & <@U1>")}) == (
        prose_of("Hello ", Strong((Text("you"),)), " & ", MENTION),
    )


def test_a_section_keeps_its_fields_and_its_image_accessory() -> None:
    (node,) = read(SECTION)

    assert node == Section(
        (
            prose_of("Hello ", Strong((Text("you"),))),
            Fields(
                (
                    LabelledValue((Text("Label"),), prose_of("value").text),
                    LabelledValue((), prose_of("no label").text),
                )
            ),
        ),
        image("dog", size="small"),
    )
    assert [inner.at for inner in walk((node,))] == [
        *("/blocks/0", "/blocks/0/text", "/blocks/0/fields", "/blocks/0/accessory")
    ]


def test_every_field_has_its_json_pointer() -> None:
    (node,) = read({"type": "section", "fields": [mrkdwn("a"), mrkdwn(" "), mrkdwn("b")]})

    assert isinstance(node, Fields)
    assert [item.at for item in node.items] == ["/blocks/0/fields/0", "/blocks/0/fields/2"]


@pytest.mark.parametrize(
    ("text", "label", "value"),
    [
        ("*Label:*\nvalue", (Text("Label:"),), prose_of("value").text),
        ("*Label*", (Text("Label"),), ()),
        ("*Label* \r\nvalue", (Text("Label"),), prose_of("value").text),
        ("*Label*\n\nvalue", (Text("Label"),), prose_of("value").text),
        ("*A _b_*\nvalue", (Text("A "), Emphasis((Text("b"),))), prose_of("value").text),
        ("*A* b\nvalue", (), prose_of(Strong((Text("A"),)), " b", Break(), "value").text),
        (
            "*A* *b*\nc",
            (),
            prose_of(Strong((Text("A"),)), " ", Strong((Text("b"),)), Break(), "c").text,
        ),
        ("A\n*b*", (), prose_of("A", Break(), Strong((Text("b"),))).text),
        ("*a```b*\n```", (), (*prose_of("*a").text, CodeBlock("b*"))),
        ("* a *\nb", (), prose_of("* a *", Break(), "b").text),
    ],
)
def test_a_first_line_that_is_bold_is_a_label(text: str, label: Any, value: Any) -> None:
    (node,) = read({"type": "section", "fields": [mrkdwn(text)]})

    assert node == Fields((LabelledValue(label, value),))


@pytest.mark.parametrize(
    ("accessory", "expected"),
    [
        (LINK_BUTTON, OPEN),
        (picture("cat"), image("cat", size="small")),
        ({"type": "unheard_of", "text": plain("Hm")}, None),
    ],
)
def test_any_accessory_becomes_the_accessory_of_the_section(
    accessory: Any, expected: Node | None
) -> None:
    (node,) = read({"type": "section", "text": plain("Hi"), "accessory": accessory})

    accessory_node = expected or Native(BLOCKS, accessory, (prose_of("Hm"),))
    assert node == Section((prose_of("Hi"),), accessory_node)
    assert isinstance(node, Section)
    assert node.accessory.at == "/blocks/0/accessory"


def test_an_accessory_without_a_text_is_a_node_of_its_own() -> None:
    assert read({"type": "section", "accessory": LINK_BUTTON}) == (OPEN,)


def test_plain_text_has_no_markup_except_emoji_names() -> None:
    text = {"type": "plain_text", "text": "*a* <b> at 10:30:45 :our-own:\n:tada::+1:"}

    assert read({"type": "section", "text": text}) == (
        prose_of(
            *("*a* <b> at 10:30:45 :our-own:", Break()),
            *(Emoji("tada", "🎉"), Emoji("+1", "👍")),
        ),
    )


def test_bullet_characters_in_fields_are_read_as_lists() -> None:
    (node,) = read({"type": "section", "fields": [mrkdwn("*To do*\n• one\n• two")]})

    assert node == Fields(
        (LabelledValue((Text("To do"),), (TextList((_item(Text("one")), _item(Text("two")))),)),)
    )


def test_standard_emoji_are_read_as_unicode_characters() -> None:
    text = plain("Done :tada: :wave::skin-tone-3:")

    assert read({"type": "header", "text": text}) == (
        Prose(
            (
                Heading(
                    2,
                    (
                        Text("Done "),
                        Emoji("tada", "🎉"),
                        Text(" "),
                        Emoji("wave::skin-tone-3", "👋🏼"),
                    ),
                ),
            )
        ),
    )


def test_plain_text_with_emoji_false_keeps_the_emoji_names() -> None:
    text = {"type": "plain_text", "text": "a :tada:", "emoji": False}

    assert read({"type": "section", "text": text}) == (prose_of("a :tada:"),)


def test_a_url_with_a_non_web_scheme_is_text() -> None:
    text = mrkdwn("<slack://channel?id=C1|Go there> <javascript:alert(1)>")

    assert read({"type": "section", "text": text}) == (
        prose_of("Go there (slack://channel?id=C1) javascript:alert(1)"),
    )


def test_an_empty_section_gives_no_node() -> None:
    assert read({"type": "section", "text": mrkdwn(" ")}, {"type": "section"}) == ()


# --- simple blocks --------------------------------------------------------------------------


def test_a_header_is_a_heading() -> None:
    assert read({"type": "header", "text": plain("News")}) == (
        Prose((Heading(2, (Text("News"),)),)),
    )
    assert read({"type": "header", "text": plain("News"), "level": 1}) == (
        Prose((Heading(1, (Text("News"),)),)),
    )


def test_a_divider_is_a_divider() -> None:
    (node,) = read({"type": "divider"})

    assert node == Divider()
    assert node.at == "/blocks/0"


def test_an_image_block_has_its_title_alt_text_and_size() -> None:
    members = {"title": plain("The cat"), "image_width": 10, "image_height": 20, "image_bytes": 300}

    assert read({**picture("cat"), **members}) == (
        Image(
            Asset(url="https://example.com/cat.png", alt="A cat", width=10, height=20, size=300),
            title=(Text("The cat"),),
        ),
    )


@pytest.mark.parametrize(
    ("source", "asset"),
    [
        ({"slack_file": {"id": "F1"}}, Asset(file_id="slack:F1", private=True)),
        (
            {"slack_file": {"url": "https://files.slack.com/files-pri/T1-F1/a.png"}},
            Asset(url="https://files.slack.com/files-pri/T1-F1/a.png", private=True),
        ),
        (
            {"image_url": "https://files.slack.com/files-pri/T1-F1/a.png"},
            Asset(url="https://files.slack.com/files-pri/T1-F1/a.png", private=True),
        ),
        ({"image_url": "data:image/png;base64,AA==", "alt_text": "A"}, Asset(alt="A")),
    ],
)
def test_images_that_slack_stores_are_private(source: Any, asset: Asset) -> None:
    assert read({"type": "image", **source}) == (Image(asset),)


def test_a_context_is_one_line_of_texts_and_icons() -> None:
    (node,) = read({"type": "context", "elements": [picture("icon"), mrkdwn("by <!here>")]})

    assert node == Context((image("icon", size="icon"), prose_of("by ", Broadcast("here"))))
    assert [inner.at for inner in walk((node,))] == [
        *("/blocks/0", "/blocks/0/elements/0", "/blocks/0/elements/1")
    ]


def test_an_unsupported_element_splits_a_context() -> None:
    nodes = read({"type": "context", "elements": [mrkdwn("a"), BUTTON, mrkdwn("b")]})

    assert nodes[0] == Context((prose_of("a"),))
    assert isinstance(nodes[1], Native)
    assert isinstance(nodes[1].fallback[0], Actions)
    assert nodes[2] == Context((prose_of("b"),))


@pytest.mark.parametrize("level", ["info", "success", "warning", "error", "default", "else"])
def test_an_alert_has_its_level(level: str) -> None:
    (node,) = read({"type": "alert", "level": level, "text": plain("Mind")})

    expected = level if level in ("info", "success", "warning", "error") else "info"
    assert isinstance(node, Alert)
    assert (node.level, node.text) == (expected, prose_of("Mind").text)


def test_rich_text_is_text() -> None:
    quote = {"type": "rich_text_quote", "elements": [{"type": "user", "user_id": "U1"}]}

    assert read({**rich("a"), "elements": [*rich("a")["elements"], quote]}) == (
        Prose((Paragraph((Text("a"),)), Quote((Paragraph((MENTION,)),)))),
    )


# --- markdown -------------------------------------------------------------------------------


def markdown(text: str) -> Any:
    (node,) = read({"type": "markdown", "text": text})
    assert isinstance(node, Prose)
    return node.text


def test_a_markdown_block_is_standard_markdown() -> None:
    assert markdown("# T\n\n- **a** `:x:`\n- [b](https://example.com)\n\n```py\nx\n```") == (
        Heading(1, (Text("T"),)),
        TextList(
            (
                _item(Strong((Text("a"),)), Text(" "), Code(":x:")),
                _item(Link("https://example.com", (Text("b"),))),
            )
        ),
        CodeBlock("x", "py"),
    )


def _item(*line: Any) -> Any:
    return ListItem((Paragraph(line),))


def test_a_markdown_block_mentions_as_slack_writes_it() -> None:
    assert markdown("Hi <@U1>, <!here> :tada:") == (
        Paragraph(
            (Text("Hi "), MENTION, Text(", "), Broadcast("here"), Text(" "), Emoji("tada", "🎉"))
        ),
    )


def test_a_uacs_link_in_a_markdown_block_mentions_nobody() -> None:
    assert markdown("[@Ada](uacs:actor/slack:T1:U1) ||hidden||") == (
        Paragraph((Text("@Ada ||hidden||"),)),
    )


# --- actions and inputs ---------------------------------------------------------------------


def test_an_actions_block_is_one_row_with_json_pointers() -> None:
    (node,) = read({"type": "actions", "block_id": "b", "elements": [LINK_BUTTON, LINK_BUTTON]})

    assert node == Actions((OPEN, OPEN))
    assert [inner.at for inner in walk((node,))] == [
        *("/blocks/0", "/blocks/0/elements/0", "/blocks/0/elements/1")
    ]


def test_an_unknown_action_splits_an_actions_block() -> None:
    unknown: Any = {"type": "unheard_of", "action_id": "x", "placeholder": plain("Do it")}

    assert read({"type": "actions", "elements": [LINK_BUTTON, unknown, LINK_BUTTON]}) == (
        Actions((OPEN,)),
        Native(BLOCKS, unknown, (prose_of("Do it"),)),
        Actions((OPEN,)),
    )


def test_context_actions_are_read_as_secondary_buttons() -> None:
    (node,) = read({"type": "context_actions", "elements": [FEEDBACK_BUTTONS, ICON_BUTTON]})

    assert isinstance(node, Actions)
    assert [
        (item.at, item.label, item.id, item.value, item.emoji, item.hint, item.secondary)
        for item in node.items
        if isinstance(item, Button)
    ] == [
        (
            *("/blocks/0/elements/0/positive_button", (Text("Good"),), "rate", "+", ""),
            *("Mark as good", True),
        ),
        ("/blocks/0/elements/0/negative_button", (Text("Bad"),), "rate", "-", "", "", True),
        ("/blocks/0/elements/1", (Text("Delete"),), "drop", "all", "🗑️", "", True),
    ]


def test_buttons_of_a_message_with_inputs_submit_the_inputs() -> None:
    input_block: Any = {
        "type": "input",
        "label": plain("Why"),
        "element": {"type": "plain_text_input", "action_id": "why"},
    }
    row: Any = {"type": "actions", "elements": [BUTTON, LINK_BUTTON]}
    side: Any = {"type": "section", "text": plain("x"), "accessory": BUTTON}
    quiet: Any = {"type": "context_actions", "elements": [ICON_BUTTON]}

    def done(*blocks: Any) -> list[str]:
        return [inner.does for inner in walk(read(*blocks)) if isinstance(inner, Button)]

    assert done(row, side, quiet) == ["press", "open", "press", "press"]
    assert done(input_block, row, side, quiet) == ["submit", "open", "submit", "press"]


def test_an_input_with_an_unknown_element_is_kept_with_its_text() -> None:
    block: Any = {
        "type": "input",
        "label": plain("What"),
        "element": {"type": "unheard_of", "placeholder": plain("Say it")},
        "hint": plain("A hint"),
    }

    assert read(block) == (
        Native(BLOCKS, block, (prose_of("What"), prose_of("Say it"), prose_of("A hint"))),
    )


# --- films and files ------------------------------------------------------------------------


def test_a_video_block_is_a_player_with_its_embed_page() -> None:
    assert read(VIDEO) == (
        Player(
            "video",
            Asset(page="https://example.com/embed/1", alt="A film"),
            title=(Text("How to"),),
            description=(Text("In two minutes"),),
            author=(Text("Ada · Tube"),),
            poster=Asset(url="https://example.com/thumb.png"),
            link="https://example.com/watch",
        ),
    )


def test_a_video_block_with_a_media_file_url_has_that_url() -> None:
    (node,) = read({**VIDEO, "video_url": "https://example.com/a.mp4?x=1"})

    assert isinstance(node, Player)
    assert node.asset == Asset(url="https://example.com/a.mp4?x=1", alt="A film")


def test_a_remote_file_without_details_is_kept_with_its_id() -> None:
    block: Any = {"type": "file", "source": "remote", "external_id": "X1", "file_id": "F1"}

    assert read(block) == (Native(BLOCKS, block, (File(Asset(file_id="slack:F1", name="X1")),)),)


def test_a_remote_file_with_details_is_a_file() -> None:
    file = {"id": "F1", "name": "a.pdf", "mimetype": "application/pdf"}

    (node,) = read({"type": "file", "source": "remote", "external_id": "X1", "file": file})

    asset = Asset(file_id="slack:F1", private=True, name="a.pdf", media_type="application/pdf")
    assert node == File(asset)
    assert node.at == "/blocks/0/file"


def test_a_call_is_a_link_to_join_it() -> None:
    block: Any = {
        "type": "call",
        "call": {"v1": {"name": "Stand-up", "join_url": "https://example.com/call"}},
    }

    link = Link("https://example.com/call", (Text("Stand-up"),))
    assert read(block) == (Native(BLOCKS, block, (prose_of(link),)),)
    assert read({"type": "call"}) == (Native(BLOCKS, {"type": "call"}, (prose_of("Call"),)),)


def test_a_shared_workflow_is_its_name_and_a_start_button() -> None:
    block: Any = {
        "type": "share_shortcut",
        "title": "Onboard",
        "description": "For new people",
        "url": "https://slack.com/shortcuts/Ft2/y",
        "button_label": "Begin",
    }

    url = "https://slack.com/shortcuts/Ft2/y"
    assert read(block) == (
        Native(
            BLOCKS,
            block,
            (
                prose_of(Link(url, (Text("Onboard"),))),
                prose_of("For new people"),
                Actions((Button((Text("Begin"),), does="open", url=url),)),
            ),
        ),
    )


# --- data -----------------------------------------------------------------------------------


def cell(text: str) -> Nodes:
    return (prose_of(text),) if text else ()


def test_a_table_has_its_cells_and_their_alignment() -> None:
    (node,) = read(TABLE)

    assert node == Table(
        ((cell("Name"), cell("Score")), (cell("Ada"), cell("10"))), align=("left", "right")
    )
    assert [inner.at for inner in walk((node,))][-1] == "/blocks/0/rows/1/1"


def test_a_data_table_has_its_caption() -> None:
    assert read(DATA_TABLE) == (
        Table(
            ((cell("Name"), cell("Score")), (cell("Ada"), cell("10½"))),
            title=(Text("Results"),),
        ),
    )


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"type": "raw_text", "text": "*a* :b:"}, cell("*a* :b:")),
        ({"type": "raw_text", "text": " "}, ()),
        ({"type": "raw_number", "value": 2.5}, cell("2.5")),
        ({"type": "raw_number", "value": 3.0}, cell("3")),
        ({"type": "raw_boolean", "value": True}, cell("true")),
        ({"type": "user", "user_id": "U1"}, (prose_of(MENTION),)),
        (mrkdwn("<@U1>"), (prose_of(MENTION),)),
        ("bare", cell("bare")),
        (7, cell("7")),
        (None, ()),
        ([plain("a")], (Native(PART, [plain("a")], cell("a")),)),
    ],
)
def test_a_table_cell_may_have_any_element(value: Any, expected: Nodes) -> None:
    (node,) = read({"type": "table", "rows": [[{"type": "raw_text", "text": "H"}, value]]})

    assert isinstance(node, Table)
    assert node.rows[0][1] == expected


def test_a_line_chart_has_its_axes() -> None:
    assert read(LINE_CHART) == (
        Chart(
            "line",
            (Series("Web", (Point("Mon", 3.0),)),),
            title="Visits",
            x_title="Day",
            y_title="People",
        ),
    )


def test_a_pie_has_one_series() -> None:
    (node,) = read(PIE_CHART)

    assert node == Chart("pie", (Series("", (Point("A", 1.0), Point("B", 2.5))),), title="Shares")


def test_a_chart_of_an_unknown_type_is_kept_with_its_text() -> None:
    block: Any = {
        "type": "data_visualization",
        "title": "Clouds",
        "chart": {"type": "scatter", "series": [{"label": "here"}]},
    }

    assert read(block) == (Native(BLOCKS, block, (prose_of("Clouds"), prose_of("here"))),)


# --- boxes ----------------------------------------------------------------------------------


CARD_NODE = Container(
    (prose_of("What it is"), Prose(prose_of("Small print").text, subtle=True), Actions((OPEN,))),
    form="card",
    title=(Text("The "), Strong((Text("title"),))),
    subtitle=(Text("Below it"),),
    hero=image("hero"),
    thumbnail=image("icon", size="small"),
)


def test_a_card_block_is_one_container() -> None:
    assert read(CARD) == (CARD_NODE,)


def test_a_card_with_a_slack_icon_has_a_badge() -> None:
    card = {"type": "card", "title": plain("A"), "slack_icon": {"type": "icon", "name": "rocket"}}

    assert read(card) == (Container((Badge(icon="rocket"),), form="card", title=(Text("A"),)),)


def test_other_blocks_in_a_carousel_are_wrapped_in_cards() -> None:
    odd: Any = {"type": "section", "text": plain("odd")}

    assert read({"type": "carousel", "elements": [CARD, odd]}) == (
        Carousel((CARD_NODE, Container((Native(BLOCKS, odd, (prose_of("odd"),)),), form="card"))),
    )


TASK_NODE = Task(
    (Text("Look it up"),),
    "running",
    (prose_of("Asking"),),
    (prose_of("Found"),),
    (Link("https://example.com/s", (Text("A source"),)),),
)


def test_a_task_is_a_list_of_one() -> None:
    assert read(TASK) == (Tasks((TASK_NODE,)),)


def test_a_plan_has_tasks_in_every_state() -> None:
    states = ("pending", "in_progress", "complete", "error", "unheard_of")
    tasks = [{"task_id": state, "title": state, "status": state} for state in states]

    (node,) = read({"type": "plan", "title": "The plan", "tasks": tasks})

    assert isinstance(node, Tasks)
    assert node.title == (Text("The plan"),)
    assert [(task.status, task.at) for task in node.tasks] == [
        ("pending", "/blocks/0/tasks/0"),
        ("running", "/blocks/0/tasks/1"),
        ("done", "/blocks/0/tasks/2"),
        ("failed", "/blocks/0/tasks/3"),
        ("pending", "/blocks/0/tasks/4"),
    ]


def test_a_collapsible_container_keeps_its_collapsed_state() -> None:
    block: Any = {
        "type": "container",
        "title": plain("A box"),
        "subtitle": plain("of things"),
        "icon": picture("box"),
        "is_collapsible": True,
        "default_collapsed": True,
        "child_blocks": [{"type": "divider"}],
    }

    (node,) = read(block)

    assert node == Container(
        (Divider(),),
        title=(Text("A box"),),
        subtitle=(Text("of things"),),
        thumbnail=image("box", size="small"),
        collapsed=True,
    )
    assert [inner.at for inner in walk((node,))][-1] == "/blocks/0/child_blocks/0"


def test_a_container_that_is_not_collapsible_has_no_collapsed_state() -> None:
    (node,) = read({"type": "container", "rich_text_title": rich("A *box*"), "child_blocks": []})

    assert node == Container((), title=(Text("A *box*"),), collapsed=None)


# --- unknown blocks -------------------------------------------------------------------------


def test_an_unknown_block_keeps_its_text_images_and_actions_in_order() -> None:
    block: Any = {
        "type": "unheard_of",
        "title": "New",
        "url": "https://example.com/new",
        "deep": {"list": [mrkdwn("said *so*"), picture("cat"), LINK_BUTTON, option("a")]},
        "secret": "not shown",
    }

    (node,) = read(block)

    assert node == Native(
        BLOCKS,
        block,
        (
            prose_of(Link("https://example.com/new", (Text("New"),))),
            prose_of("said ", Strong((Text("so"),))),
            image("cat"),
            Actions((OPEN,)),
            prose_of("Option a"),
        ),
    )


def test_an_unknown_block_without_text_is_shown_as_its_type() -> None:
    assert read({"type": "unheard_of", "id": 7}) == (
        Native(BLOCKS, {"type": "unheard_of", "id": 7}, (prose_of("[unheard_of]"),)),
    )


@pytest.mark.parametrize("value", [None, 7, True, [], {}])
def test_json_that_is_not_a_block_is_kept_unchanged(value: Any) -> None:
    (node,) = read(value)

    assert node == Native(PART, value)
    assert node.at == "/blocks/0"


def test_a_bare_string_among_blocks_is_shown() -> None:
    assert read("*hi*") == (Native(PART, "*hi*", (prose_of("*hi*"),)),)


@pytest.mark.parametrize(
    "kind",
    [
        *("section", "header", "image", "context", "actions", "input", "rich_text", "markdown"),
        *("video", "table", "data_visualization", "card", "carousel", "plan", "container"),
    ],
)
def test_a_malformed_block_is_kept_with_its_text(kind: str) -> None:
    block: Any = {"type": kind, "stuff": [{"label": plain("Some words")}]}

    nodes = read(block)

    assert nodes == (Native(BLOCKS, block, (prose_of("Some words"),)),)
