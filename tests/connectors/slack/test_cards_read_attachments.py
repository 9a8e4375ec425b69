"""Legacy attachments, link previews and files: one payload, one expectation."""

from __future__ import annotations

from typing import Any

import pytest

from bridge.content.cards.rendering import Payload
from bridge.content.cards.tree import (
    Actions,
    Asset,
    Button,
    Card,
    Choice,
    Confirm,
    Container,
    Credit,
    Divider,
    Fields,
    File,
    Image,
    LabelledValue,
    Native,
    Nodes,
    Option,
    Picker,
    Player,
    Prose,
    Section,
)
from bridge.content.cards.walk import walk
from bridge.content.text.tree import (
    CodeBlock,
    Emphasis,
    Link,
    Mention,
    Paragraph,
    Strong,
    Text,
)
from connectors.slack import ids
from connectors.slack.cards import read_payload
from connectors.slack.cards.schemas import ATTACHMENTS, FILES
from tests.connectors.slack import card_payloads


def read(*attachments: Any) -> Card:
    return read_payload(Payload(ATTACHMENTS, list(attachments), "/attachments"), "T1")


def read_file(file: Any) -> Nodes:
    return read_payload(Payload(FILES, [file], "/files")).nodes


def prose_of(*line: Any) -> Prose:
    return Prose(
        (Paragraph(tuple(Text(part) if isinstance(part, str) else part for part in line)),)
    )


def asset(name: str) -> Asset:
    return Asset(url=f"https://example.com/{name}")


# --- attachments of authors -----------------------------------------------------------------


def test_an_attachment_is_a_panel_with_its_header_fields_and_footer() -> None:
    card = read(card_payloads.ATTACHMENT)

    above, panel = card.nodes
    assert above == prose_of("Above *all*")
    assert panel == Container(
        (
            prose_of("All ", Strong((Text("good"),))),
            Fields(
                (
                    LabelledValue(
                        (Text("Priority"),), prose_of(Emphasis((Text("High"),))).text, short=True
                    ),
                    LabelledValue((Text("Why"),), prose_of("Because").text, short=False),
                )
            ),
            Image(asset("chart.png")),
        ),
        form="panel",
        color=0x36A64F,
        title=(Text("Report & more"),),
        link="https://example.com/report",
        author=Credit((Text("Ada"),), asset("ada.png"), "https://example.com/ada"),
        thumbnail=Image(asset("thumb.png"), size="small"),
        footer=Credit((Text("The app"),), asset("app.png")),
        time=1700000000,
    )
    assert card.summary == "In short"
    assert [node.at for node in walk(card.nodes)] == [
        "/attachments/0/pretext",
        "/attachments/0",
        "/attachments/0/thumb_url",
        "/attachments/0/text",
        "/attachments/0/fields",
        "/attachments/0/image_url",
    ]


def test_every_field_has_its_json_pointer() -> None:
    (panel,) = read({"fields": [{"title": "a"}, {}, {"value": "b"}]}).nodes

    assert isinstance(panel, Container)
    (fields,) = panel.nodes
    assert isinstance(fields, Fields)
    assert [(item.label, item.short, item.at) for item in fields.items] == [
        ((Text("a"),), False, "/attachments/0/fields/0"),
        ((), False, "/attachments/0/fields/2"),
    ]


def test_the_text_is_mrkdwn_unless_mrkdwn_in_omits_it() -> None:
    attachment = {"text": "*a* <@U1> &amp; <https://example.com|b>"}

    styled, *others = (
        read({**attachment, **more}).nodes[0]
        for more in ({}, {"mrkdwn_in": ["pretext"]}, {"mrkdwn_in": []})
    )

    link = Link("https://example.com", (Text("b"),))
    mention = Mention(ids.actor_id("T1", "U1"), "U1")
    assert styled == Container(
        (prose_of(Strong((Text("a"),)), " ", mention, " & ", link),), form="panel"
    )
    assert others == 2 * [Container((prose_of("*a* ", mention, " & ", link),), form="panel")]


@pytest.mark.parametrize(
    ("color", "style", "rgb"),
    [
        ("good", "good", None),
        ("warning", "warning", None),
        ("danger", "attention", None),
        ("#36A64F", "default", 0x36A64F),
        ("36a64f", "default", 0x36A64F),
        ("#f80", "default", 0xFF8800),
        ("red", "default", None),
        ("#12345", "default", None),
        (7, "default", None),
    ],
)
def test_attachment_colours_become_styles_or_numbers(
    color: Any, style: str, rgb: int | None
) -> None:
    (panel,) = read({"color": color, "text": "a"}).nodes

    assert isinstance(panel, Container)
    assert (panel.style, panel.color) == (style, rgb)


@pytest.mark.parametrize(
    ("ts", "time"),
    [
        (1700000000, 1700000000),
        ("1700000000.000100", 1700000000),
        (0, None),
        ("", None),
        ("x", None),
        (True, None),
        (-1, None),
        ("1e999", None),
    ],
)
def test_an_attachment_timestamp_may_be_a_number_or_a_string(ts: Any, time: int | None) -> None:
    (panel,) = read({"ts": ts, "text": "a"}).nodes

    assert isinstance(panel, Container)
    assert panel.time == time


def test_blocks_in_an_attachment_are_in_its_panel() -> None:
    (panel,) = read(
        {"color": "danger", "blocks": [card_payloads.SECTION, {"type": "divider"}]}
    ).nodes

    assert isinstance(panel, Container)
    assert [type(node) for node in panel.nodes] == [Section, Divider]
    assert [node.at for node in walk((panel,))][1:3] == [
        "/attachments/0/blocks/0",
        "/attachments/0/blocks/0/text",
    ]


def test_a_fallback_is_shown_only_when_the_attachment_has_no_other_content() -> None:
    assert read({"fallback": "Only *this*"}).nodes == (
        Container((prose_of("Only *this*"),), form="panel"),
    )
    assert read({"fallback": "a"}, {"fallback": "b", "text": "c"}) == Card(
        (Container((prose_of("a"),), form="panel"), Container((prose_of("c"),), form="panel")),
        summary="a\nb",
    )


def test_an_unknown_attachment_is_kept_with_its_text() -> None:
    attachment: Any = {"id": 1, "list": {"title": "To do", "id": "F1"}}

    assert read(attachment, {"id": 2}).nodes == (
        Native(ATTACHMENTS, attachment, (prose_of("To do"),)),
    )


def test_legacy_actions_are_buttons_and_menus() -> None:
    (panel,) = read(card_payloads.LEGACY_ACTIONS).nodes

    assert isinstance(panel, Container)
    go = Option((Text("Go"),), "go")
    assert panel.nodes == (
        prose_of("Choose"),
        Actions(
            (
                Button(
                    (Text("Chess"),),
                    id="game",
                    value="chess",
                    style="danger",
                    confirm=Confirm(title="Sure?", text=(Text("Really"),), ok="Yes", cancel="No"),
                ),
                Button((Text("Site"),), does="open", url="https://example.com/"),
                Choice(
                    options=(Option((Text("Go"),), "go", (Text("Old"),)),),
                    values=("go",),
                    id="list",
                    placeholder="Pick a game",
                    dispatches=True,
                ),
                Choice(
                    options=(Option(go.label, "go", group="Board"),), id="groups", dispatches=True
                ),
                Picker(of="people", id="who", placeholder="Who", dispatches=True),
                Choice(external=True, id="far", placeholder="Far", dispatches=True),
            )
        ),
    )
    assert [node.at for node in walk(panel.nodes)][2:4] == [
        "/attachments/0/actions/0",
        "/attachments/0/actions/1",
    ]


# --- attachments by Slack -------------------------------------------------------------------


def test_a_video_unfurl_is_a_player_with_its_embed_page_and_poster() -> None:
    (panel,) = read(card_payloads.FILM).nodes

    page = "https://example.com/watch"
    assert panel == Container(
        (
            Player(
                "video",
                Asset(page="https://example.com/embed/1?a=1&b=2", width=400, height=225),
                poster=asset("thumb.png"),
                link=page,
            ),
        ),
        form="panel",
        title=(Text("How to"),),
        link=page,
        author=Credit(
            (
                Link("https://example.com/", (Text("Tube"),)),
                Text(" | "),
                Link("https://example.com/ada", (Text("Ada"),)),
            ),
            asset("tube.png"),
        ),
    )


def test_a_shared_message_with_blocks_shows_its_text_once() -> None:
    (panel,) = read(card_payloads.SHARED).nodes

    assert panel == Container(
        (prose_of("said in blocks"),),
        form="panel",
        link="https://acme.slack.com/archives/C1/p1",
        author=Credit((Text("Ada Ada Lovelace"),)),
        footer=Credit((Text("Posted in #general"),)),
        time=1700000000,
    )
    assert [node.at for node in walk((panel,))][1] == (
        "/attachments/0/message_blocks/0/message/blocks/0"
    )


def test_files_of_a_shared_message_and_of_an_email_are_read() -> None:
    shared = {"text": "look", "files": [card_payloads.PICTURE_FILE]}
    mailed = {
        "filename": "a.pdf",
        "mimetype": "application/pdf",
        "size": 9,
        "url": "https://a.example",
    }

    first, second = read(shared, mailed).nodes

    assert isinstance(first, Container)
    assert isinstance(first.nodes[1], Image)
    assert first.nodes[1].at == "/attachments/0/files/0"
    asset = Asset(
        url="https://a.example",
        private=True,
        media_type="application/pdf",
        name="a.pdf",
        size=9,
    )
    assert second == Container((File(asset),), form="panel")


# --- files ----------------------------------------------------------------------------------


def test_an_image_file_of_slack_is_private_and_has_its_permalink() -> None:
    (node,) = read_file(card_payloads.PICTURE_FILE)

    assert node == Image(
        Asset(
            url="https://files.slack.com/files-pri/T1-F1/cat.png",
            file_id="slack:F1",
            private=True,
            page="https://acme.slack.com/files/U1/F1/cat.png",
            media_type="image/png",
            name="cat.png",
            alt="A black cat",
            size=1000,
            width=800,
            height=600,
        ),
        title=(Text("My cat"),),
    )
    assert node.at == "/files/0"


def test_a_snippet_shows_its_text_as_code() -> None:
    file, code = read_file(card_payloads.SNIPPET)

    assert isinstance(file, File)
    assert (file.asset.name, file.title) == ("main.py", ())
    assert code == Prose((CodeBlock("print(1)\nprint(2)", "python"),))
    assert code.at == "/files/0/preview"


def test_an_email_file_shows_its_plain_text_preview() -> None:
    mail = {
        "id": "F1",
        "mode": "email",
        "subject": "Hello",
        "preview": "<b>Hi</b>",
        "preview_plain_text": "Hi",
    }

    file, words = read_file(mail)

    assert isinstance(file, File)
    assert file.title == (Text("Hello"),)
    assert words == prose_of("Hi")


def test_video_and_audio_files_are_players() -> None:
    film, sound = (read_file(file)[0] for file in card_payloads.EVERY_FILE[2:4])

    private: Any = {"private": True}
    assert film == Player(
        "video",
        Asset(file_id="slack:F3", media_type="video/mp4", name="clip.mp4", seconds=1.5, **private),
        description=(Text("Hello there"),),
        poster=Asset(url="https://files.slack.com/files-tmb/T1-F3/thumb.png", private=True),
    )
    assert sound == Player(
        "audio",
        Asset(file_id="slack:F4", media_type="audio/mp4", name="note.m4a", seconds=2.0, **private),
    )


def test_any_other_file_is_a_file() -> None:
    (node,) = read_file(card_payloads.EVERY_FILE[4])

    assert isinstance(node, File)
    assert (node.asset.name, node.title) == ("a.pdf", (Text("The paper"),))


def test_an_external_file_links_to_its_external_url() -> None:
    remote = {
        "id": "F1",
        "name": "Plan",
        "is_external": True,
        "url_private": "https://docs.example/1",
        "permalink": "https://acme.slack.com/files/U1/F1/plan",
    }

    (node,) = read_file(remote)

    assert isinstance(node, File)
    assert (node.asset.url, node.asset.page) == ("", "https://docs.example/1")


def test_a_deleted_file_is_shown_as_deleted() -> None:
    deleted_file: Any = {"id": "F6", "mode": "tombstone"}

    assert read_file(deleted_file) == (Native(FILES, deleted_file, (prose_of("[deleted file]"),)),)


def test_a_file_of_another_workspace_has_only_its_id() -> None:
    assert read_file({"id": "F7", "file_access": "check_file_info"}) == (
        File(Asset(file_id="slack:F7", private=True)),
    )
