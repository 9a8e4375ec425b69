"""Whole messages: their payloads in display order, and their single card."""

from __future__ import annotations

import json

import pytest
from pydantic import JsonValue

from bridge.content.cards.native_home import at_place
from bridge.content.cards.rendering import Payload
from bridge.content.cards.tree import (
    Actions,
    Asset,
    Badge,
    Button,
    Card,
    Carousel,
    Container,
    Credit,
    File,
    Image,
    Native,
    Node,
    Player,
    Prose,
)
from bridge.content.text.tree import (
    Break,
    ChannelLink,
    Code,
    Emphasis,
    GroupMention,
    Heading,
    Inline,
    Link,
    Mention,
    Paragraph,
    Rule,
    Strike,
    Strong,
    Text,
    Underline,
)
from bridge.errors import CodecError
from bridge.model import ActorId
from connectors.teams.cards import SCHEMA_IDS, payloads, read_message, read_payload
from tests.connectors.teams.cards import ADAPTIVE, TENANT, Json, card, line, prose

HERO = "application/vnd.microsoft.card.hero"
HELLO: Json = card({"type": "TextBlock", "text": "hello"})


def activity(text: str = "", **more: JsonValue) -> Json:
    return {"type": "message", **({"text": text} if text else {}), **more}


def attached(content: JsonValue, kind: str = "application/vnd.microsoft.card.adaptive") -> Json:
    return {"contentType": kind, "content": content}


def read(native: JsonValue) -> tuple[Node, ...]:
    return read_message(native, TENANT).nodes


# --- payloads -------------------------------------------------------------------------------


def test_the_text_payload_comes_before_the_attachments() -> None:
    hero: Json = {"title": "T"}
    native = activity("*Hi*", attachments=[attached(HELLO), attached(hero, HERO)])

    attached_payloads = payloads(native)

    assert attached_payloads == (
        Payload("", "*Hi*", "/text"),
        Payload(ADAPTIVE, HELLO, "/attachments/0/content"),
        Payload(HERO, hero, "/attachments/1/content"),
    )
    assert all(at_place(native, payload.at) == payload.data for payload in attached_payloads)
    assert {payload.schema_id for payload in attached_payloads[1:]} <= SCHEMA_IDS


@pytest.mark.parametrize(
    ("native", "expected"),
    [
        (HELLO, Payload(ADAPTIVE, HELLO)),
        (attached(HELLO), Payload(ADAPTIVE, HELLO, "/content")),
        ({"body": []}, Payload(ADAPTIVE, {"body": []})),
        ({"type": "TextBlock", "text": "a"}, Payload(ADAPTIVE, {"type": "TextBlock", "text": "a"})),
        ({"@type": "MessageCard", "text": "a"},
         Payload("application/vnd.microsoft.teams.card.o365connector",
                 {"@type": "MessageCard", "text": "a"})),
    ],
)  # fmt: skip
def test_a_bare_card_or_attachment_is_one_payload(native: JsonValue, expected: Payload) -> None:
    assert payloads(native) == (expected,)


@pytest.mark.parametrize("native", [{}, {"type": "typing"}, {"type": "message", "text": " "}])
def test_an_empty_activity_has_no_payloads(native: JsonValue) -> None:
    assert payloads(native) == ()
    assert read_message(native) == Card(())


@pytest.mark.parametrize("native", [[], [{"type": "message"}], "text", 7, None, True])
def test_json_that_is_not_an_object_is_refused(native: JsonValue) -> None:
    with pytest.raises(CodecError, match="no message"):
        payloads(native)


def test_a_payload_of_another_platform_is_refused() -> None:
    with pytest.raises(CodecError, match="must be an object"):
        read_payload(Payload("application/vnd.slack.blocks+json", []))


def test_nodes_have_their_json_pointers_in_the_message() -> None:
    (_, read_card) = (
        read_payload(payload) for payload in payloads(activity("a", attachments=[attached(HELLO)]))
    )

    assert [node.at for node in read_card.nodes] == ["/attachments/0/content/body/0"]


# --- text -----------------------------------------------------------------------------------


def prose_blocks(*inlines: Inline) -> tuple[Prose]:
    return (Prose((Paragraph(inlines),)),)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("**a** _b_`c`", (Strong(line("a")), Text(" "), Emphasis(line("b")), Code("c"))),
        ("<b>a</b><br><i>b</i>", (Strong(line("a")), Break(), Emphasis(line("b")))),
        ("<u>a</u> <s>b</s> <strike>c</strike>",
         (Underline(line("a")), Text(" "), Strike(line("b")), Text(" "), Strike(line("c")))),
        ('<a href="https://a.example?x=1&amp;y=2">t</a>',
         (Link("https://a.example?x=1&y=2", line("t")),)),
        ("<a href='javascript:x'>t</a> &lt;b&gt;", line("t <b>")),
        ("<span style='x'>a</span>", line("a")),
        ("||no spoiler|| [@x](uacs:actor/teams:T0:29)", line("||no spoiler|| @x")),
    ],
)  # fmt: skip
def test_text_is_markdown_with_some_html(text: str, expected: tuple[Inline, ...]) -> None:
    assert read(activity(text)) == prose_blocks(*expected)


def test_rules_and_images_split_the_text() -> None:
    read_nodes = read(activity('a<hr>b <img src="https://a.example/p.png" alt="p"> c'))

    assert read_nodes == (
        Prose((Paragraph(line("a")), Rule(), Paragraph(line("b")))),
        Image(Asset(url="https://a.example/p.png", alt="p")),
        prose("c"),
    )


def test_the_text_format_may_be_plain_or_html() -> None:
    assert read(activity("**a** <b>", textFormat="plain")) == (prose("**a** <b>"),)
    assert read(activity("**a** <b>b</b>", textFormat="xml")) == prose_blocks(
        Text("**a** "), Strong(line("b"))
    )


ENTITIES: JsonValue = [
    {"type": "clientInfo"},
    {"type": "mention", "text": "<at>Ann</at>", "mentioned": {"id": "29:1", "name": "Ann"}},
]
ANN = Mention(ActorId("teams:T0:29%3A1"), "Ann")


@pytest.mark.parametrize("form", [{}, {"textFormat": "plain"}, {"textFormat": "xml"}])
def test_only_at_tags_with_an_entity_are_mentions(form: Json) -> None:
    native = activity("<at>Ann</at> and <at>Eve</at>", entities=ENTITIES, **form)

    assert read(native) == prose_blocks(ANN, Text(" and @Eve"))


def test_mentions_may_be_bold_or_in_code() -> None:
    assert read(activity("**<at>Ann</at>** `<at>Ann</at>`", entities=ENTITIES)) == prose_blocks(
        Strong((ANN,)), Text(" "), Code("<at>Ann</at>")
    )


# --- HTML beside the text -------------------------------------------------------------------


def html(content: str) -> Json:
    return {"contentType": "text/html", "content": content}


def test_an_html_attachment_with_the_same_words_formats_the_text() -> None:
    mention = '<span itemtype="http://schema.skype.com/Mention" itemid="0">Ann</span>'
    native = activity(
        "<at>Ann</at> big\n",
        textFormat="plain",
        entities=ENTITIES,
        attachments=[html(f"<div>{mention}&nbsp;<strong>big</strong></div>")],
    )

    assert [payload.at for payload in payloads(native)] == ["/attachments/0/content"]
    assert read(native) == prose_blocks(ANN, Text(" "), Strong(line("big")))


def test_an_html_attachment_with_other_words_is_below_the_text() -> None:
    assert read(activity("one", attachments=[html("<p>two</p>")])) == (prose("one"), prose("two"))


def test_html_that_repeats_part_of_the_text_is_dropped() -> None:
    assert read(activity("one two", attachments=[html("<p>one</p>")])) == (prose("one two"),)


def test_images_are_in_the_places_of_their_html_tags() -> None:
    sign = '<img itemtype="http://schema.skype.com/AMSImage" src="https://x.asm.skype.com/1">'
    picture: Json = {"contentType": "image/png", "contentUrl": "https://a.example/p.png"}
    native = activity("a b", attachments=[html(f"<p>a {sign} b</p>"), picture])

    assert payloads(native) == (
        Payload("", {"html": "<p>a ", "entities": []}, "/attachments/0/content"),
        Payload("image/png", picture, "/attachments/1"),
        Payload("", {"html": " b</p>", "entities": []}, "/attachments/0/content"),
    )
    assert read(native) == (
        prose("a"),
        Image(Asset(url="https://a.example/p.png", media_type="image/png")),
        prose("b"),
    )


def test_an_image_that_only_the_html_names_is_private() -> None:
    url = "https://x.asm.skype.com/1"
    sign = f'<img itemtype="http://schema.skype.com/AMSImage" alt="plan" src="{url}">'

    assert read(activity(attachments=[html(f"<p>{sign}</p>")])) == (
        Image(Asset(url=url, alt="plan", private=True)),
    )


def test_a_reply_quotes_the_message_that_it_answers() -> None:
    quote = (
        '<blockquote itemtype="http://schema.skype.com/Reply" itemid="17">'
        '<strong itemprop="mri">Ann</strong><span itemprop="time"></span>'
        '<p itemprop="preview">Coming?</p></blockquote>'
    )
    native = activity("Yes", attachments=[html(f"{quote}<p>Yes</p>")])

    assert [payload.schema_id for payload in payloads(native)] == ["messageReference", ""]
    assert read(native) == (
        Container((prose("Coming?"),), form="panel", author=Credit(line("Ann"))),
        prose("Yes"),
    )


def test_a_reply_may_quote_its_message_in_an_entity() -> None:
    quoted: Json = {"messageId": "17", "senderName": "Ann", "preview": "Coming?"}
    native = activity("Yes", entities=[{"type": "quotedReply", "quotedReply": quoted}])

    assert payloads(native)[0] == Payload("messageReference", quoted, "/entities/0/quotedReply")
    assert read(native)[0] == Container(
        (prose("Coming?"),), form="panel", author=Credit(line("Ann"))
    )


# --- several cards --------------------------------------------------------------------------


def test_several_cards_are_containers_in_order() -> None:
    native = activity("a", attachments=[attached(HELLO), attached({"title": "T"}, HERO)])

    assert read(native) == (
        prose("a"),
        Container((prose("hello"),), form="card"),
        Container((), form="card", title=line("T")),
    )


def test_attachments_in_carousel_layout_are_a_carousel() -> None:
    native = activity(
        attachmentLayout="carousel", attachments=[attached(HELLO), attached({"title": "T"}, HERO)]
    )

    cards = (
        Container((prose("hello"),), form="card"),
        Container((), form="card", title=line("T")),
    )
    assert read(native) == (Carousel(cards),)


# --- files ----------------------------------------------------------------------------------


def test_media_attachments_are_classified_by_their_content_type() -> None:
    def media(kind: str, name: str) -> Json:
        return {"contentType": kind, "contentUrl": f"https://a.example/{name}", "name": name}

    several = [
        media("image/png", "a.png"), media("video/mp4", "b.mp4"), media("audio/mpeg", "c.mp3"),
        media("application/pdf", "d.pdf"),
    ]  # fmt: skip

    def asset(kind: str, name: str) -> Asset:
        return Asset(url=f"https://a.example/{name}", media_type=kind, name=name)

    assert read(activity(attachments=[*several])) == (
        Image(asset("image/png", "a.png")),
        Player("video", asset("video/mp4", "b.mp4")),
        Player("audio", asset("audio/mpeg", "c.mp3")),
        File(asset("application/pdf", "d.pdf")),
    )


def test_an_image_stored_by_teams_is_private() -> None:
    url = "https://smba.trafficmanager.net/amer/v3/attachments/0/views/original"

    assert read(activity(attachments=[{"contentType": "image/png", "contentUrl": url}])) == (
        Image(Asset(url=url, private=True, media_type="image/png")),
    )


def test_a_file_download_attachment_is_private_and_has_a_page() -> None:
    info: Json = {
        "contentType": "application/vnd.microsoft.teams.file.download.info",
        "contentUrl": "https://a.sharepoint.com/a.txt",
        "name": "a.txt",
        "content": {"downloadUrl": "https://signed.example/a", "fileType": "txt"},
    }

    assert read(activity(attachments=[info])) == (
        File(
            Asset(
                url="https://signed.example/a",
                private=True,
                page="https://a.sharepoint.com/a.txt",
                name="a.txt",
            )
        ),
    )


def test_a_file_consent_card_is_read_with_its_buttons() -> None:
    consent: Json = {
        "contentType": "application/vnd.microsoft.teams.card.file.consent",
        "name": "a.txt",
        "content": {"description": "Your report", "sizeInBytes": 10, "acceptContext": {"n": 1}},
    }

    assert read(activity(attachments=[consent])) == (
        Container(
            (
                prose("Your report"),
                File(Asset(name="a.txt", size=10)),
                Actions(
                    (
                        Button(line("Allow"), id="accept", value={"n": 1}),
                        Button(line("Decline"), id="decline"),
                    )
                ),
            ),
            form="card",
        ),
    )


def test_an_unknown_attachment_is_kept_with_its_text() -> None:
    unknown = attached({"title": "Poll", "other": 1}, "application/vnd.acme.poll")

    assert payloads(activity(attachments=[unknown])) == (
        Payload("application/vnd.acme.poll", unknown, "/attachments/0"),
    )
    assert read(activity(attachments=[unknown])) == (
        Native("application/vnd.acme.poll", unknown, (prose("Poll"),)),
    )


def test_a_card_without_content_does_not_stop_the_rest() -> None:
    native = activity("a", attachments=[attached(5), attached("no json"), None])

    assert read(native)[0] == prose("a")


# --- around a message -----------------------------------------------------------------------


def test_suggested_actions_are_buttons() -> None:
    native = activity(
        "Well?",
        suggestedActions={
            "to": ["29:1"],
            "actions": [{"type": "imBack", "title": "Yes", "value": "yes"}],
        },
    )

    yes = Button(line("Yes"), value={"msteams": {"type": "imBack", "value": "yes"}})
    read_nodes = read(native)
    assert read_nodes == (prose("Well?"), Actions((yes,)))
    assert read_nodes[1].at == "/suggestedActions/actions"


def test_ai_generated_messages_are_labelled_and_cite_their_sources() -> None:
    entity: Json = {
        "type": "https://schema.org/Message",
        "@type": "Message",
        "additionalType": ["AIGeneratedContent"],
        "usageInfo": {"name": "Confidential", "description": "Not outside"},
        "citation": [
            {"@type": "Claim", "position": 1,
             "appearance": {"name": "Doc", "url": "https://a.example", "abstract": "About"}},
        ],
    }  # fmt: skip

    source = (
        Text("[1] "),
        Link("https://a.example", line("Doc")),
        Text(": About"),
    )
    assert read(activity("It is so [1].", entities=[entity])) == (
        prose("It is so [1]."),
        Badge(line("AI generated")),
        Badge(line("Confidential"), hint=line("Not outside"), style="warning"),
        Prose((Paragraph(source),), subtle=True),
    )


def test_importance_and_on_behalf_of_are_shown_above_the_text() -> None:
    native = activity(
        "a",
        importance="urgent",
        channelData={"onBehalfOf": [{"itemId": 0, "displayName": "Ann"}]},
    )

    assert read(native) == (
        Badge(line("Urgent!"), style="attention"),
        Prose((Paragraph(line("on behalf of Ann")),), subtle=True),
        prose("a"),
    )


def test_the_summary_comes_from_the_message_or_its_card() -> None:
    summed = card({"type": "TextBlock", "text": "a"}, fallbackText="In short")

    assert read_message(activity(attachments=[attached(summed)])).summary == "In short"
    assert read_message(activity("text", attachments=[attached(summed)])).summary == ""
    assert read_message(activity(summary="S", attachments=[attached(summed)])).summary == "S"


# --- answers to invokes ---------------------------------------------------------------------


def test_the_cards_of_task_dialogs_and_results_are_read() -> None:
    dialog: Json = {"title": "Ask", "card": attached(HELLO)}
    results: Json = {"type": "result", "attachments": [attached({"title": "T"}, HERO)]}

    assert read({"task": {"type": "continue", "value": dialog}}) == (
        Prose((Heading(3, line("Ask")),)),
        prose("hello"),
    )
    assert read({"task": {"type": "message", "value": "*done*"}}) == prose_blocks(
        Emphasis(line("done"))
    )
    assert read({"composeExtension": results}) == (Container((), form="card", title=line("T")),)


def test_the_card_of_an_invoke_response_is_read() -> None:
    answer: Json = {"statusCode": 200, "type": "application/vnd.microsoft.card.adaptive"}

    assert payloads({**answer, "value": HELLO}) == (Payload(ADAPTIVE, HELLO, "/value"),)
    text: Json = {"statusCode": 200, "type": "application/vnd.microsoft.activity.message"}
    assert read({**text, "value": "done"}) == (prose("done"),)


# --- Microsoft Graph ------------------------------------------------------------------------


def graph(content: str, kind: str = "html", **more: JsonValue) -> Json:
    return {"messageType": "message", "body": {"contentType": kind, "content": content}, **more}


def placed(own_id: str) -> str:
    return f'<attachment id="{own_id}"></attachment>'


def test_graph_attachments_are_in_the_places_of_their_tags() -> None:
    content = json.dumps(HELLO)
    native = graph(
        f"<p>above</p>{placed('b')}<p>below</p>",
        attachments=[
            {"id": "a", "contentType": "reference", "contentUrl": "https://a.sharepoint.com/x",
             "name": "x.docx"},
            {"id": "b", "contentType": "application/vnd.microsoft.card.adaptive",
             "content": content},
        ],
    )  # fmt: skip

    attached_payloads = payloads(native)

    assert [(payload.schema_id, payload.at) for payload in attached_payloads] == [
        ("", "/body/content"),
        (ADAPTIVE, "/attachments/1/content"),
        ("", "/body/content"),
        ("reference", "/attachments/0"),
    ]
    assert attached_payloads[1].data == content
    assert read(native) == (
        prose("above"),
        prose("hello"),
        prose("below"),
        File(Asset(page="https://a.sharepoint.com/x", name="x.docx")),
    )


def test_graph_mentions_are_matched_by_number() -> None:
    mentions: JsonValue = [
        {"id": 0, "mentionText": "Ann",
         "mentioned": {"user": {"id": "u1", "displayName": "Ann"}, "tag": None}},
        {"id": 1, "mentionText": "General",
         "mentioned": {"conversation": {"id": "19:x@thread.tacv2", "displayName": "General"}}},
        {"id": 2, "mentionText": "devs", "mentioned": {"tag": {"id": "t", "displayName": "devs"}}},
    ]  # fmt: skip
    text = '<at id="0">Ann</at> <at id="1">General</at> <at id="2">devs</at> <at id="3">No</at>'

    assert read(graph(text, mentions=mentions)) == prose_blocks(
        Mention(ActorId("teams:T0:u1"), "Ann"),
        Text(" "),
        ChannelLink("teams:T0:19%3Ax@thread.tacv2", "General"),
        Text(" "),
        GroupMention("teams:T0:t", "devs"),
        Text(" @No"),
    )


def test_a_post_has_a_subject_and_may_be_plain() -> None:
    assert read(graph("a <b>", "text", subject="News")) == (
        Prose((Heading(3, line("News")),)),
        prose("a <b>"),
    )


def test_forwarded_messages_are_panels() -> None:
    content: Json = {
        "originalMessageId": "1",
        "originalMessageContent": "<p>old <b>news</b></p>",
        "originalMessageSender": {"user": {"displayName": "Ann"}},
        "originalSentDateTime": "2024-03-01T08:00:00Z",
    }
    forwarded: Json = {
        "id": "f",
        "contentType": "forwardedMessageReference",
        "content": json.dumps(content),
    }

    assert read(graph(placed("f"), attachments=[forwarded])) == (
        Container(
            (Prose((Paragraph((Text("old "), Strong(line("news")))),)),),
            form="panel",
            author=Credit(line("Ann")),
            time=1709280000,
        ),
    )
