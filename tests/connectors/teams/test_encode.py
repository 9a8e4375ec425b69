"""A delivery becomes calls in Teams' format, without accidental markup."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.content.cards.json import SCHEMA_ID, card_to_json
from bridge.content.cards.reader import Cards
from bridge.content.cards.tree import Card, Container, Prose
from bridge.content.messages.metadata import BridgeMetadata, with_bridge_metadata
from bridge.content.text.tree import CodeBlock, Paragraph, Text
from bridge.model import (
    AccountId,
    AddReaction,
    Byline,
    Call,
    ChannelRef,
    DeleteMessage,
    Delivery,
    EditMessage,
    Encoded,
    Loss,
    MessageId,
    OperationId,
    PinMessage,
    PostMessage,
    QuotedMessage,
    RateLimitKey,
    Receipt,
    RoomId,
)
from bridge.model.operations import CITED, Source
from bridge.uacs import Actor, FilePart, MediaSource, Message, StructuredDataPart, TextPart
from connectors.teams import cards as codec
from connectors.teams.above import Above
from connectors.teams.capabilities import TEXT_LIMIT
from connectors.teams.encode import encode
from connectors.teams.text import teams_to_text
from tests.connectors.teams.payloads import APP_ID, CHANNEL, TENANT
from tests.connectors.teams.test_text import read_back

CHANNEL_REF = ChannelRef(platform="teams", workspace=TENANT, channel=CHANNEL)
RATE_LIMITS = (
    RateLimitKey(rule="conversation", of=f"{APP_ID} {CHANNEL_REF.key}"),
    RateLimitKey(rule="app_and_tenant", of=f"{APP_ID} {TENANT}"),
)
COMMON: dict[str, Any] = {
    "id": OperationId("op"),
    "account": AccountId("teams"),
    "channel": CHANNEL_REF,
    "room": RoomId("lobby"),
    "message": MessageId("slack:T:C:1"),
}


def delivery(text: str, kind: str = "post", name: str = "Ann", **fields: Any) -> Delivery:
    message = Message(
        message_id="slack:T:C:1",
        timestamp="2026-01-01T00:00:00Z",
        actor=Actor(id="slack:T:U", role="human", name=name),
        content=(TextPart(text=text),),
    )
    byline = Byline(name=name)
    operation = {
        "post": lambda: PostMessage(**COMMON, byline=byline),
        "edit": lambda: EditMessage(**COMMON, byline=byline),
        "delete": lambda: DeleteMessage(**COMMON),
        "react": lambda: AddReaction(**COMMON, emoji="👍"),
        "react oddly": lambda: AddReaction(**COMMON, emoji=":x:"),
        "pin": lambda: PinMessage(**COMMON),
    }[kind]()
    return Delivery(operation=operation, message=message, **fields)


def texts(base: Delivery) -> list[str]:
    return [str(call.body["text"]) for call in encode(base, APP_ID).calls]


def test_a_post_has_its_author_in_bold_and_counts_against_both_rate_limits() -> None:
    assert encode(delivery("hello **you**", thread="17"), APP_ID).calls == (
        Call(
            kind="post",
            method="POST",
            operation=OperationId("op"),
            channel=CHANNEL_REF,
            thread="17",
            rate_limits=RATE_LIMITS,
            body={"type": "message", "textFormat": "markdown", "text": "**Ann**\n\nhello **you**"},
        ),
    )


@pytest.mark.parametrize("kind", ["post", "edit"])
def test_an_agents_message_is_labelled_as_ai_generated(kind: str) -> None:
    base = delivery("hello", kind, copies=(Receipt(slot=0, native_id="1"),) * (kind == "edit"))
    operation = base.operation.model_copy(update={"byline": Byline(name="helper", agent=True)})
    (call,) = encode(base.model_copy(update={"operation": operation}), APP_ID).calls

    assert call.body["entities"] == [
        {
            "type": "https://schema.org/Message",
            "@type": "Message",
            "@context": "https://schema.org",
            "additionalType": ["AIGeneratedContent"],
        }
    ]
    (of_a_person,) = encode(delivery("hello"), APP_ID).calls
    assert "entities" not in of_a_person.body


def test_a_reply_quotes_the_message_that_it_answers() -> None:
    quoted = QuotedMessage(author="Bo", excerpt="shall we\n> *meet*?")

    assert texts(delivery("yes", quoted=quoted)) == [
        "**Ann**\n\n> **Bo**: shall we &gt; &#42;meet&#42;?\n\nyes"
    ]


def test_a_long_quote_is_shortened() -> None:
    (text,) = texts(delivery("yes", quoted=QuotedMessage(author="Bo", excerpt="word " * 100)))

    assert "…" in text
    assert len(text) < 200


def test_an_edit_edits_adds_and_deletes_parts_as_needed() -> None:
    copies = tuple(Receipt(slot=slot, native_id=str(slot), thread="17") for slot in range(3))
    long = "word " * (TEXT_LIMIT // 5 + 100)

    short = encode(delivery("now", "edit", copies=copies, thread="17"), APP_ID).calls
    longer = encode(delivery(long, "edit", copies=copies[:1], thread="17"), APP_ID).calls

    assert [(call.kind, call.method, call.native_id) for call in short] == [
        ("edit", "PUT", "0"), ("delete", "DELETE", "1"), ("delete", "DELETE", "2"),
    ]  # fmt: skip
    assert [(call.kind, call.slot, call.native_id) for call in longer] == [
        ("edit", 0, "0"), ("post", 1, None),
    ]  # fmt: skip
    assert {call.thread for call in (*short, *longer)} == {"17"}


def test_deleted_copies_are_not_edited_or_deleted_again() -> None:
    copies = (Receipt(native_id="0", deleted=True),)

    assert encode(delivery("x", "delete", copies=copies), APP_ID).calls == ()
    assert [call.kind for call in encode(delivery("x", "edit", copies=copies), APP_ID).calls] == [
        "post"
    ]


def test_reactions_go_to_the_first_copy() -> None:
    copies = (Receipt(slot=0, native_id="17", thread="16"), Receipt(slot=1, native_id="18"))

    (call,) = encode(delivery("x", "react", copies=copies), APP_ID).calls

    assert (call.kind, call.method, call.native_id, call.thread) == ("other", "PUT", "17", "16")
    assert call.body == {"reaction": "like"}


@pytest.mark.parametrize(
    ("kind", "loss"),
    [
        ("react oddly", Loss(path="", kind="reaction_unknown", what=":x:", shown_as="a note")),
        ("pin", Loss(path="", kind="pin_unknown", what="a pin", shown_as="a note")),
    ],
)
def test_an_operation_that_teams_bots_lack_is_a_loss(kind: str, loss: Loss) -> None:
    base = delivery("x", kind, copies=(Receipt(slot=0, native_id="17"),))

    assert encode(base, APP_ID) == Encoded(calls=(), losses=(loss,))


def test_text_nodes_shown_in_another_form_are_losses() -> None:
    text = "# Title\n\n<spoiler>secret</spoiler>"

    kinds = {loss.kind for loss in encode(delivery(text), APP_ID).losses}

    assert kinds == {"heading_as_bold", "spoiler_shown"}


def test_a_file_with_a_url_is_a_link_below_the_author() -> None:
    part = FilePart(
        source=MediaSource(url="https://x.example/plan.pdf"), media_type="application/pdf"
    )
    base = delivery("see")
    base = base.model_copy(
        update={
            "message": base.message.model_copy(update={"content": (*base.message.content, part)})
        }
    )

    encoded = encode(base, APP_ID)

    (call,) = encoded.calls
    assert "https://x.example/plan.pdf" in str(call.body)
    attachments: Any = call.body["attachments"]
    assert "text" not in call.body  # Teams edits a text or a card, never both
    assert attachments[0]["content"]["body"][0]["inlines"][0] == {
        "type": "TextRun", "text": "Ann", "weight": "Bolder",
    }  # fmt: skip


def test_a_card_reply_quotes_its_target_above_the_card() -> None:
    above = Above("Ann\nExample", QuotedMessage(author="Bo", excerpt="shall we\n> *meet*?"))

    first, second = above.elements()
    assert first == {
        "type": "RichTextBlock",
        "inlines": [{"type": "TextRun", "text": "Ann Example", "weight": "Bolder"}],
    }
    runs: Any = second
    assert [run["text"] for run in runs["inlines"]] == ["↪ Bo: ", "shall we > *meet*?"]
    assert len(list(above.without_quote().elements())) == 1


def test_long_text_is_split_and_every_part_names_the_author() -> None:
    words = [f"w{n}" for n in range(20_000)]

    parts = texts(delivery(" ".join(words)))

    assert len(parts) > 3
    assert all(part.startswith("**Ann**\n\n") for part in parts)
    assert all(len(part.encode("utf-16-le")) // 2 <= TEXT_LIMIT for part in parts)
    assert " ".join(part.removeprefix("**Ann**\n\n") for part in parts).split() == words


def test_escaped_text_still_fits_the_limit() -> None:
    parts = texts(delivery("<*_> " * 6000))

    assert len(parts) > 1
    assert all(len(part.encode("utf-16-le")) // 2 <= TEXT_LIMIT for part in parts)


def test_split_code_stays_code() -> None:
    parts = texts(delivery("```py\n" + "a = 1\n" * 8000 + "```"))

    assert len(parts) > 1
    assert all(part.count("```") == 2 for part in parts)


@given(st.text(), st.text())
def test_no_text_or_name_becomes_a_mention_or_html(text: str, name: str) -> None:
    for call in encode(delivery(text, name=name), APP_ID).calls:
        written = str(call.body["text"])
        assert set(call.body) == {"type", "textFormat", "text"}
        assert "<at" not in written.lower()
        assert "<img" not in written.lower()
        assert "<script" not in written.lower()
        first = read_back(written.split("\n\n", 1)[0])
        assert len(first) == 1


def test_hostile_names_and_texts_are_shown_literally() -> None:
    name = '<at>Boss</at> **Admin** <img src="x">'

    (text,) = texts(
        delivery("<at>everyone</at> @everyone [x](y) ![z](https://z.example)", name=name)
    )

    assert "<" not in text.replace("<br>", "")
    assert "&lt;at&gt;Boss&lt;/at&gt;" in text


def test_the_notification_text_is_the_summary_of_the_message() -> None:
    base = delivery("A long story. " * 20)
    failed = with_bridge_metadata(base.message, BridgeMetadata(summary="⚠️ bot failed"))

    (call,) = encode(base.model_copy(update={"message": failed}), APP_ID).calls

    assert call.body["summary"] == "⚠️ bot failed"
    assert "A long story." in str(call.body["text"])


CARDS = Cards.over([codec], bytes(32))  # type: ignore[list-item]
BOX = Container((Prose((Paragraph((Text("sunny"),)),)),), form="panel", title=(Text("Look up"),))
CALL = StructuredDataPart(schema_id=SCHEMA_ID, data=cast("Any", card_to_json(Card((BOX,)))))
ADAPTIVE_CARD = StructuredDataPart(
    schema_id="application/vnd.microsoft.card.adaptive+json",
    data={"type": "AdaptiveCard", "version": "1.5", "body": [{"type": "TextBlock", "text": "A"}]},
)
HERO = StructuredDataPart(
    schema_id="application/vnd.microsoft.card.hero+json", data={"title": "A", "text": "B"}
)
TEXT_PART = TextPart(text="Let me look.")


def test_an_empty_message_has_no_feedback_loop() -> None:
    base = delivery("", feedback=True)
    empty = StructuredDataPart(schema_id=SCHEMA_ID, data=cast("Any", card_to_json(Card(()))))
    message = base.message.model_copy(update={"content": (empty,)})

    encoded = encode(base.model_copy(update={"message": message}), APP_ID, CARDS)

    assert encoded.calls == ()
    assert [loss.kind for loss in encoded.losses] == ["feedback_not_asked"]


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("content", [
    pytest.param((TEXT_PART, CALL), id="text and a box"),
    pytest.param((TEXT_PART, CALL, CALL, TEXT_PART), id="boxes between texts"),
    pytest.param((TEXT_PART, ADAPTIVE_CARD), id="text and a card of Teams"),
    pytest.param((ADAPTIVE_CARD, ADAPTIVE_CARD), id="two cards"),
    pytest.param((TEXT_PART, ADAPTIVE_CARD, ADAPTIVE_CARD), id="text and two cards"),
    pytest.param((HERO,), id="a card of the Bot Framework"),
])  # fmt: skip
def test_an_edit_has_text_or_attachments_but_not_both(
    content: tuple[Any, ...], stream: bool
) -> None:
    """Teams refuses those ("Activity resulted into multiple skype activities")."""
    base = delivery("", "edit", copies=(Receipt(slot=0, native_id="1"),))
    message = base.message.model_copy(update={"content": content})
    operation = base.operation.model_copy(update={"stream": stream})
    base = base.model_copy(update={"message": message, "operation": operation})

    calls = encode(base, APP_ID, CARDS).calls

    assert calls[0].kind == "edit"
    assert not [call for call in calls if call.body.get("text") and call.body.get("attachments")]
    assert "Ann" in json.dumps(calls[0].body)
    words = json.dumps([call.body for call in calls])
    assert ("Let me look." in words) == (TEXT_PART in content)


TABLE = "Costs, ~~old~~:\n\n| Name | Cost |\n|---|--:|\n| A | 3 |\n\n```python\na < b\n```"


def test_a_table_is_a_card_table_that_keeps_styles_and_code_languages() -> None:
    encoded = encode(delivery(TABLE), APP_ID, CARDS)

    (call,) = encoded.calls
    (attached,) = cast("Any", call.body["attachments"])
    body = attached["content"]["body"]
    assert "text" not in call.body
    assert [element["type"] for element in body] == [
        "RichTextBlock",
        "RichTextBlock",
        "Table",
        "CodeBlock",
    ]
    assert {"type": "TextRun", "text": "old", "strikethrough": True} in body[1]["inlines"]
    assert len(body[2]["rows"]) == 2
    assert body[3]["language"] == "Python"
    assert encoded.losses == ()


def test_the_sources_of_a_message_with_a_table_are_links_in_its_card() -> None:
    text = f"It costs 3.{CITED.format(1)} All of it:{CITED.format(2)}\n\n| Name |\n|---|\n| A |"
    sources = tuple(
        Source(number=n, title=f"Page {n}", url=f"https://x.example/{n}", quote=quote)
        for n, quote in ((1, "three"), (2, ""))
    )
    base = delivery(text, sources=sources)
    later = TextPart(text="3. [Page 3](https://x.example/3)")  # beyond what Teams would cite
    message = base.message.model_copy(update={"content": (*base.message.content, later)})

    encoded = encode(base.model_copy(update={"message": message}), APP_ID, CARDS)

    (call,) = encoded.calls
    (attached,) = cast("Any", call.body["attachments"])
    body = attached["content"]["body"]
    written = json.dumps(body, ensure_ascii=False)
    assert body[1]["text"] == r"It costs 3.\[1\] All of it:\[2\]"
    assert [element["type"] for element in body].count("Table") == 1
    places = [written.index(f"https://x.example/{n}") for n in (1, 2, 3)]
    assert places == sorted(places)
    assert places[0] > written.index('"Table"')
    assert [loss.kind for loss in encoded.losses] == ["citation_quote"]


@pytest.mark.parametrize("base", [
    pytest.param(delivery(TABLE.replace("python", "rust")), id="a language that no card knows"),
    pytest.param(delivery(TABLE, "edit").model_copy(update={"operation": EditMessage(
        **COMMON, byline=Byline(name="Ann"), stream=True)}), id="a text that grows"),
    pytest.param(delivery(TABLE + "\n\n" + "word " * 6000), id="more than a card holds"),
])  # fmt: skip
def test_a_table_is_written_as_lines_when_a_card_would_lose_content(base: Delivery) -> None:
    encoded = encode(base, APP_ID, CARDS)

    assert all("attachments" not in call.body for call in encoded.calls)
    assert "table_as_lines" in [loss.kind for loss in encoded.losses]


def test_code_with_html_characters_keeps_its_language() -> None:
    (text,) = texts(delivery('```python\nif a < b: print("x")\n```'))

    assert text.endswith('<pre><code class="language-python">if a &lt; b: print("x")</code></pre>')
    (_, block) = teams_to_text(text)
    assert block == CodeBlock('if a < b: print("x")', "python")
