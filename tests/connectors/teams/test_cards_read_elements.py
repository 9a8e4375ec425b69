"""Elements of Adaptive Cards with text, images, icons and numbers, one by one."""

from __future__ import annotations

import pytest
from pydantic import JsonValue

from bridge.content.cards.tree import (
    Actions,
    Asset,
    Badge,
    Button,
    Container,
    Fields,
    File,
    Gallery,
    Image,
    LabelledValue,
    Native,
    Player,
    Progress,
    Prose,
    Rating,
)
from bridge.content.text.tree import (
    Break,
    ChannelLink,
    Code,
    CodeBlock,
    Emoji,
    Emphasis,
    GroupMention,
    Heading,
    Inline,
    Link,
    List,
    ListItem,
    Mention,
    Paragraph,
    Strike,
    Strong,
    Text,
    Timestamp,
    Underline,
)
from bridge.model import ActorId
from tests.connectors.teams.cards import card, line, nodes, prose, read


def text(value: JsonValue, **more: JsonValue) -> dict[str, JsonValue]:
    return {"type": "TextBlock", "text": value, **more}


def paragraph(*inlines: Inline) -> tuple[Prose]:
    return (Prose((Paragraph(inlines),)),)


# --- TextBlock ------------------------------------------------------------------------------


def test_a_text_block_is_prose() -> None:
    assert nodes(text("Hello, world.")) == (prose("Hello, world."),)


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("**big** _slanted_", (Strong(line("big")), Text(" "), Emphasis(line("slanted")))),
        ("__big__ *slanted*", (Strong(line("big")), Text(" "), Emphasis(line("slanted")))),
        ("***both***", (Strong((Emphasis(line("both")),)),)),
        ("**a _b_ c**", (Strong((Text("a "), Emphasis(line("b")), Text(" c"))),)),
        ("snake_case_name and 5 * 3 * 2", line("snake_case_name and 5 * 3 * 2")),
        ("** not bold ** and *open", line("** not bold ** and *open")),
        (r"\*as it is\*", line("*as it is*")),
        ("[site](https://a.example/x_(y))", (Link("https://a.example/x_(y)", line("site")),)),
        ("[**site**](https://a.example)", (Link("https://a.example", (Strong(line("site")),)),)),
        ("[call](tel:555)", line("call (tel:555)")),
        ("[x](javascript:alert)", line("x (javascript:alert)")),
        ("https://a.example.", (Link("https://a.example", line("https://a.example")), Text("."))),
        ("Foo &amp; Bar &lt;b&gt; `x` ~~y~~", line("Foo & Bar <b> `x` ~~y~~")),
        ("one\ntwo\rthree", (Text("one"), Break(), Text("two"), Break(), Text("three"))),
    ],
)  # fmt: skip
def test_a_text_block_reads_only_the_markdown_of_adaptive_cards(
    markdown: str, expected: tuple[Inline, ...]
) -> None:
    assert nodes(text(markdown)) == paragraph(*expected)


def test_an_empty_line_separates_paragraphs() -> None:
    assert nodes(text("one\n\ntwo")) == (Prose((Paragraph(line("one")), Paragraph(line("two")))),)


def item(*inlines: Inline) -> ListItem:
    return ListItem((Paragraph(inlines),))


def test_lines_with_list_markers_are_lists() -> None:
    bullets = List((item(Text("a")), item(Strong(line("b")))))
    numbers = List((item(Text("c")), item(Text("d"))), 3)

    assert nodes(text("- a\n- **b**\n3. c\r4. d")) == (Prose((bullets, numbers)),)


@pytest.mark.parametrize("blank", ["", "   ", "&nbsp;", "\n\n", None])
def test_a_blank_text_block_gives_no_node(blank: JsonValue) -> None:
    assert nodes(text(blank)) == ()


def test_a_number_is_read_as_text() -> None:
    assert nodes(text(42)) == (prose("42"),)


@pytest.mark.parametrize(
    ("style", "level"),
    [
        ({"style": "heading"}, 2),
        ({"style": "Heading", "size": "ExtraLarge"}, 1),
        ({"size": "Large", "weight": "Bolder"}, 2),
        ({"size": "medium", "weight": "bolder"}, 3),
    ],
)
def test_heading_style_or_large_bold_text_is_a_heading(
    style: dict[str, JsonValue], level: int
) -> None:
    assert nodes(text("The **news**", **style)) == (Prose((Heading(level, line("The news")),)),)


def test_a_text_block_keeps_its_size_colour_and_alignment() -> None:
    read_nodes = nodes(
        text("a", size="Small", isSubtle=True),
        text("b", size="ExtraLarge", color="Attention", horizontalAlignment="Right"),
        text("c", weight="Bolder"),
        text("C", style="columnHeader"),
        text("d = 1", fontType="Monospace"),
        text("e\nf", fontType="Monospace"),
    )

    assert read_nodes == (
        Prose((Paragraph(line("a")),), size="small", subtle=True),
        Prose((Paragraph(line("b")),), size="huge", style="attention", align="right"),
        Prose((Paragraph((Strong(line("c")),)),)),
        Prose((Paragraph((Strong(line("C")),)),)),
        Prose((Paragraph((Code("d = 1"),)),)),
        Prose((CodeBlock("e\nf"),)),
    )


def test_date_and_time_functions_are_timestamps() -> None:
    read_nodes = nodes(
        text("{{DATE(2024-03-01T08:00:00Z, SHORT)}} at {{TIME(2024-03-01T08:00:00+00:00)}}"),
        text("{{DATE(yesterday)}}"),
    )

    assert read_nodes == (
        *paragraph(
            Timestamp(1709280000, "D", "2024-03-01"),
            Text(" at "),
            Timestamp(1709280000, "t", "08:00 UTC"),
        ),
        prose("{{DATE(yesterday)}}"),
    )


def test_date_functions_in_runs_and_titles_are_timestamps() -> None:
    moment = "2024-03-01T08:00:00Z"
    runs: JsonValue = [f"at {{{{TIME({moment})}}}}", {"type": "TextRun", "text": "{{DATE(x)}}"}]
    button: dict[str, JsonValue] = {
        "type": "ActionSet",
        "actions": [
            {
                "type": "Action.OpenUrl",
                "title": f"By {{{{DATE({moment}, SHORT)}}}} {{{{TIME({moment})}}}}",
                "url": "https://a.example",
            }
        ],
    }

    sentence, row = nodes({"type": "RichTextBlock", "inlines": runs}, button)

    (written,) = paragraph(
        Text("at "), Timestamp(1709280000, "t", "08:00 UTC"), Text("{{DATE(x)}}")
    )
    assert sentence == written
    assert isinstance(row, Actions)
    assert isinstance(opens := row.items[0], Button)
    assert opens.label == (Text("By "), Timestamp(1709280000, "f", "2024-03-01 08:00 UTC"))


def test_at_tags_mention_the_people_in_the_cards_entities() -> None:
    people: JsonValue = [
        {"type": "mention", "text": "<at>Ann</at>", "mentioned": {"id": "29:1", "name": "Ann"}},
        {"type": "mention", "text": "<at>devs</at>",
         "mentioned": {"id": "tag-1", "name": "devs", "mentionType": "Tag"}},
        {"type": "mention", "text": "<at>General</at>",
         "mentioned": {"id": "19:abc@thread.tacv2", "name": "General"}},
    ]  # fmt: skip
    native = card(
        text("Hi <at>Ann</at>, <at>devs</at>, <at>General</at>, <at>Eve</at>"),
        msteams={"entities": people},
    )

    assert read(native).nodes == paragraph(
        Text("Hi "),
        Mention(ActorId("teams:T0:29%3A1"), "Ann"),
        Text(", "),
        GroupMention("teams:T0:tag-1", "devs"),
        Text(", "),
        ChannelLink("teams:T0:19%3Aabc@thread.tacv2", "General"),
        Text(", @Eve"),
    )


def test_string_resource_references_are_replaced_by_their_text() -> None:
    resources: JsonValue = {
        "strings": {
            "hi": {"defaultValue": "Hello", "localizedValues": {"de": "Hallo"}},
            "you": {"defaultValue": "you"},
        }
    }

    assert read(card(text("${rs:hi} ${rs:you} ${rs:no}"), resources=resources)).nodes == (
        prose("Hello you ${rs:no}"),
    )
    assert read(card(text("${rs:hi}"), resources=resources, lang="DE")).nodes == (prose("Hallo"),)


# --- RichTextBlock --------------------------------------------------------------------------


def run(value: str, **more: JsonValue) -> dict[str, JsonValue]:
    return {"type": "TextRun", "text": value, **more}


def test_text_runs_have_styles_and_no_markdown() -> None:
    read_nodes = nodes({
        "type": "RichTextBlock",
        "inlines": [
            "plain *x* ",
            run("bold", weight="Bolder"), run(" "),
            run("slanted", italic=True), run(" "),
            run("struck", strikethrough=True), run(" "),
            run("under", underline=True), run(" "),
            run("marked", highlight=True), run(" "),
            run("code", fontType="Monospace"), run(" "),
            run("link", selectAction={"type": "Action.OpenUrl", "url": "https://a.example"}),
        ],
    })  # fmt: skip

    assert read_nodes == paragraph(
        Text("plain *x* "),
        Strong(line("bold")),
        Text(" "),
        Emphasis(line("slanted")),
        Text(" "),
        Strike(line("struck")),
        Text(" "),
        Underline(line("under")),
        Text(" "),
        Strong(line("marked")),
        Text(" "),
        Code("code"),
        Text(" "),
        Link("https://a.example", line("link")),
    )


def test_the_common_style_of_all_runs_is_the_style_of_the_prose() -> None:
    read_nodes = nodes({
        "type": "RichTextBlock",
        "horizontalAlignment": "center",
        "inlines": [
            run("a ", color="Good", size="Large", isSubtle=True),
            run("b", color="good", size="large", isSubtle=True),
        ],
    })  # fmt: skip

    expected = Prose(
        (Paragraph(line("a b")),), size="large", style="good", subtle=True, align="center"
    )
    assert read_nodes == (expected,)


def test_a_run_with_a_submit_action_gives_a_button_below_the_text() -> None:
    action: JsonValue = {"type": "Action.Submit", "title": "Tell", "data": {"a": 1}}

    read_nodes = nodes({"type": "RichTextBlock", "inlines": [run("press me", selectAction=action)]})

    assert read_nodes == (prose("press me"), Actions((Button(line("Tell"), value={"a": 1}),)))
    assert isinstance(row := read_nodes[1], Actions)
    assert row.items[0].at == "/body/0/inlines/0/selectAction"


def test_icon_image_and_citation_runs_are_read_among_text_runs() -> None:
    native = card(
        {
            "type": "RichTextBlock",
            "inlines": [
                {"type": "IconRun", "name": "Calendar"},
                {"type": "ImageRun", "url": "https://a.example/x.png", "altText": "logo"},
                {"type": "CitationRun", "text": "a source", "referenceIndex": 1},
                {"type": "CitationRun", "text": " another", "referenceIndex": 2},
            ],
        },
        references=[
            {"type": "DocumentReference", "title": "Doc", "url": "https://a.example/doc",
             "abstract": "About it.", "keywords": ["k1", "k2"]},
        ],
    )  # fmt: skip

    document = (
        Paragraph(
            (
                Emoji("Calendar"),
                Emoji("logo", None, "https://a.example/x.png"),
                Link("https://a.example/doc", line("a source")),
                Text(" another[2]"),
            )
        ),
    )
    source = (
        Text("[1] "),
        Link("https://a.example/doc", line("Doc")),
        Text(": About it. (k1, k2)"),
    )
    assert read(native).nodes == (Prose(document), Prose((Paragraph(source),), subtle=True))


def test_a_cite_link_points_to_its_reference() -> None:
    native = card(text("[this](cite:1)"), references=[{"title": "D", "url": "https://a.example"}])

    assert read(native).nodes[0] == Prose((Paragraph((Link("https://a.example", line("this")),)),))


# --- code, facts ----------------------------------------------------------------------------


def test_a_code_block_keeps_its_language() -> None:
    read_nodes = nodes(
        {"type": "CodeBlock", "codeSnippet": "x = 1\n", "language": "Python"},
        {"type": "CodeBlock", "codeSnippet": "words", "language": "PlainText"},
    )

    assert read_nodes == (Prose((CodeBlock("x = 1", "python"),)), Prose((CodeBlock("words"),)))


def test_a_fact_set_is_fields() -> None:
    read_nodes = nodes({
        "type": "FactSet",
        "facts": [
            {"title": "State", "value": "**done**"},
            {"title": "Text", "value": "x" * 61},
            {"title": "", "value": ""},
            "no fact",
        ],
    })  # fmt: skip

    assert read_nodes == (
        Fields(
            (
                LabelledValue(line("State"), (Paragraph((Strong(line("done")),)),)),
                LabelledValue(line("Text"), (Paragraph(line("x" * 61)),), short=False),
            )
        ),
    )
    assert isinstance(fields := read_nodes[0], Fields)
    assert [fact.at for fact in fields.items] == ["/body/0/facts/0", "/body/0/facts/1"]


# --- pictures and films ---------------------------------------------------------------------


def picture(**more: JsonValue) -> dict[str, JsonValue]:
    return {"type": "Image", "url": "https://a.example/p.png", **more}


def test_an_image_keeps_its_alt_text_size_and_shape() -> None:
    asset = Asset(url="https://a.example/p.png", alt="a cat")

    assert nodes(
        picture(altText="a cat"),
        picture(altText="a cat", size="Medium", style="Person"),
        picture(width="50px", height="40px"),
    ) == (
        Image(asset),
        Image(asset, size="medium", round=True),
        Image(Asset(url=asset.url, width=50, height=40), size="small"),
    )


def test_an_image_with_an_open_url_action_has_a_link() -> None:
    action: JsonValue = {"type": "Action.OpenUrl", "url": "https://a.example"}

    assert nodes(picture(selectAction=action)) == (
        Image(Asset(url="https://a.example/p.png"), link="https://a.example"),
    )


def test_an_image_with_a_titled_action_has_a_button_below() -> None:
    action: JsonValue = {"type": "Action.OpenUrl", "url": "https://a.example", "title": "Map"}

    read_nodes = nodes(picture(altText="a hill", selectAction=action))

    assert read_nodes == (
        Image(Asset(url="https://a.example/p.png", alt="a hill")),
        Actions((Button(line("Map"), does="open", url="https://a.example"),)),
    )


def test_an_image_set_is_a_gallery_of_one_image_size() -> None:
    read_nodes = nodes(
        {"type": "ImageSet", "imageSize": "Small", "images": [picture(), picture(altText="b")]}
    )

    assert read_nodes == (
        Gallery(
            (
                Image(Asset(url="https://a.example/p.png"), size="small"),
                Image(Asset(url="https://a.example/p.png", alt="b"), size="small"),
            )
        ),
    )


def test_a_media_element_is_a_player_of_its_first_source() -> None:
    read_nodes = nodes({
        "type": "Media",
        "poster": "https://a.example/p.png",
        "altText": "the film",
        "sources": [
            {"mimeType": "video/mp4", "url": "https://a.example/f.mp4"},
            {"mimeType": "video/webm", "url": "https://a.example/f.webm"},
        ],
        "captionSources": [
            {"label": "English", "url": "https://a.example/en.vtt", "mimeType": "vtt"},
        ],
    })  # fmt: skip

    assert read_nodes == (
        Player(
            "video",
            Asset(url="https://a.example/f.mp4", alt="the film", media_type="video/mp4"),
            description=(Link("https://a.example/en.vtt", line("English")),),
            poster=Asset(url="https://a.example/p.png"),
        ),
    )


def test_a_video_page_url_is_the_players_link() -> None:
    url = "https://www.youtube.com/watch?v=x"

    assert nodes({"type": "Media", "sources": [{"url": url}]}) == (
        Player("video", Asset(), link=url),
    )
    assert nodes(
        {"type": "Media", "sources": [{"url": "https://a.example/s.mp3", "mimeType": "audio/mp3"}]}
    ) == (Player("audio", Asset(url="https://a.example/s.mp3", media_type="audio/mp3")),)


def test_graph_components_for_people_files_and_meetings_become_text() -> None:
    people: dict[str, JsonValue] = {
        "type": "Component",
        "name": "graph.microsoft.com/users",
        "properties": {
            "users": [
                {"displayName": "Ann", "userPrincipalName": "ann@a.example"},
                {"displayName": "Bob"},
            ]
        },
    }
    file: dict[str, JsonValue] = {
        "type": "Component",
        "name": "graph.microsoft.com/file",
        "properties": {"name": "a.docx", "url": "https://a.example/a.docx"},
    }

    assert nodes(people, file) == (
        Native(
            "application/vnd.microsoft.card.adaptive+json",
            people,
            (
                Prose((Paragraph((Strong(line("Ann")), Text(" (ann@a.example)"))),)),
                Prose((Paragraph((Strong(line("Bob")),)),)),
            ),
        ),
        File(Asset(url="https://a.example/a.docx", name="a.docx")),
    )


# --- signs and measures ---------------------------------------------------------------------


def test_badges_icons_ratings_and_progress_elements_are_read() -> None:
    read_nodes = nodes(
        {"type": "Badge", "text": "New", "icon": "Star", "style": "Good", "tooltip": "since May"},
        {"type": "Badge", "text": "Note", "style": "Informative"},
        {"type": "Icon", "name": "Calendar", "color": "Accent"},
        {"type": "Rating", "value": 3.5, "max": 10, "count": 20},
        {"type": "ProgressBar", "value": 40, "color": "Warning"},
        {"type": "ProgressBar"},
        {"type": "ProgressRing", "label": "Loading"},
    )

    assert read_nodes == (
        Badge(line("New"), icon="Star", hint=line("since May"), style="good"),
        Badge(line("Note"), style="accent"),
        Badge(icon="Calendar", style="accent"),
        Rating(3.5, max=10, count=20),
        Progress(40, style="warning"),
        Progress(None),
        Progress(None, label=line("Loading")),
    )


def test_a_compound_button_becomes_a_button_and_its_description_below_it() -> None:
    read_nodes = nodes({
        "type": "CompoundButton",
        "title": "Summarize",
        "description": "In a few words",
        "badge": "New",
        "icon": {"name": "List"},
        "selectAction": {"type": "Action.Submit", "data": {"x": 1}, "tooltip": "press"},
    })  # fmt: skip

    button = Button(line("Summarize"), value={"x": 1}, hint="press", icon=Asset(name="icon:List"))
    below = Prose((Paragraph(line("In a few words")),), subtle=True)
    assert read_nodes == (Container((Actions((button,)), below, Badge(line("New")))),)
