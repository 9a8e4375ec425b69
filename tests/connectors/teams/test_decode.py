"""One payload, one expectation: an activity and its event."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.content.markdown import markdown_to_text
from bridge.content.markdown.mentions import mention_markdown
from bridge.content.messages.metadata import read_bridge_metadata
from bridge.content.text.tree import Paragraph, Text
from bridge.errors import UndecodableEvent
from bridge.model import (
    AccountId,
    ActionPressed,
    ChannelClosed,
    ChannelCreated,
    ChannelRef,
    ChannelRenamed,
    Event,
    Ignored,
    MemberJoined,
    MemberLeft,
    MessageDeleted,
    MessageEdited,
    MessagePosted,
    Person,
    Place,
    Raw,
    ReactionAdded,
    ReactionRemoved,
    TypingStarted,
    Unknown,
    message_id_of,
)
from bridge.uacs import Actor, Message, StructuredDataPart, TextPart, to_datetime
from connectors.teams import ids
from connectors.teams.activity import BotIdentity, raw_of
from connectors.teams.decode import decode
from tests.connectors.teams.payloads import (
    ANN,
    APP_ID,
    BO,
    BOT,
    CHANNEL,
    CHAT,
    ID,
    TENANT,
    TIME,
    activity,
    conversation,
    html,
    mention,
    span,
)

IDENTITY = BotIdentity(AccountId("teams"), APP_ID, TENANT)
CHANNEL_REF = ChannelRef(platform="teams", workspace=TENANT, channel=CHANNEL)
PERSON = Person(id=ids.actor_id(TENANT, ANN), name="Ann Lee")


def events_of(payload: Any) -> list[Event]:
    return list(decode(raw_of(payload, IDENTITY), IDENTITY))


def text_message(text: str, payload_id: str = ID, channel: ChannelRef = CHANNEL_REF) -> Message:
    return Message(
        message_id=message_id_of(channel, payload_id),
        timestamp="2023-11-14T22:13:20.123000Z",
        actor=Actor(id=PERSON.id, role="human", name="Ann Lee"),
        content=(TextPart(text=text, format="markdown"),),
    )


def text_of(payload: Any) -> str:
    (event,) = events_of(payload)
    assert isinstance(event, MessagePosted | MessageEdited)
    (part,) = event.message.content
    assert isinstance(part, TextPart)
    return part.text


def posted(text: str, **fields: Any) -> MessagePosted:
    common: dict[str, Any] = {
        "account": IDENTITY.account,
        "place": Place(channel=CHANNEL_REF),
        "time": to_datetime(TIME),
        "native_id": ID,
        "message": text_message(text),
        "author": PERSON,
    }
    return MessagePosted(**(common | fields))


FORMATTED = html("<div><div>Sending <strong>bold</strong> and <em>more</em>.</div>\n</div>")
QUESTION = html(f"<p>{span(0, 'Bridge')}&nbsp;what time is it?</p>")
IN_THREAD = conversation(f"{CHANNEL};messageid=1699999999000", "channel")
IN_CHAT = conversation(CHAT, "groupChat")
IN_PERSONAL_CHAT = conversation("a:1personal", "personal")
CHAT_REF = ChannelRef(platform="teams", workspace=TENANT, channel=CHAT)
PERSONAL_REF = ChannelRef(platform="teams", workspace=TENANT, channel="a:1personal")
QUOTE = (
    '<blockquote itemscope itemtype="http://schema.skype.com/Reply" itemid="1699999999001">'
    '<strong itemprop="mri" itemid="8:orgid:x">Bo</strong><span itemprop="time"></span>'
    '<p itemprop="preview">the plan</p></blockquote><p>agreed</p>'
)
POSTS: dict[str, tuple[Any, MessagePosted]] = {
    "a root post has no thread": (activity(text="good morning"), posted("good morning")),
    "a reply has the thread of its root": (
        activity(text="me too", conversation=IN_THREAD),
        posted("me too", place=Place(channel=CHANNEL_REF, thread="1699999999000")),
    ),
    "a leading mention of us is removed and addresses us": (
        activity(
            text="<at>Bridge</at> what time is it?",
            attachments=[QUESTION],
            entities=[mention(BOT, "Bridge"), {"type": "clientInfo", "locale": "en-US"}],
        ),
        posted("what time is it?", addresses_us=True),
    ),
    "a message in a personal chat addresses us": (
        activity(text="psst", conversation=IN_PERSONAL_CHAT),
        posted(
            "psst", place=Place(channel=PERSONAL_REF),
            message=text_message("psst", channel=PERSONAL_REF), addresses_us=True,
        ),
    ),
    "a quoted message is the reply's target and not in its text": (
        activity(text="agreed", attachments=[html(QUOTE)], conversation=IN_CHAT),
        posted(
            "agreed", place=Place(channel=CHAT_REF),
            message=text_message("agreed", channel=CHAT_REF), reply_to="1699999999001",
        ),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("payload", "event"), POSTS.values(), ids=POSTS)
def test_a_post_becomes_its_event(payload: Any, event: MessagePosted) -> None:
    assert events_of(payload) == [event]


OUR_MENTION = mention_markdown(ids.actor_id(TENANT, BOT), "Bridge")
TEXTS: dict[str, tuple[Any, str]] = {
    "formatting comes from the HTML attachment": (
        activity(text="Sending bold and more.", attachments=[FORMATTED]),
        "Sending **bold** and _more_.",
    ),
    "a later mention of us is kept": (
        activity(text="ask <at>Bridge</at>", entities=[mention(BOT, "Bridge")], attachments=[]),
        f"ask {OUR_MENTION}",
    ),
    "a lone mention of us is kept": (
        activity(text="<at>Bridge</at>", entities=[mention(BOT, "Bridge")]),
        OUR_MENTION,
    ),
    "a mention tag without an entity is text": (
        activity(text="<at>Ghost</at> hello"),
        "@Ghost hello",
    ),
    "a post without content gets a placeholder": (activity(text=" "), "\\[empty message\\]"),
}


@pytest.mark.parametrize(("payload", "text"), TEXTS.values(), ids=TEXTS)
def test_a_post_has_its_text_as_markdown(payload: Any, text: str) -> None:
    assert text_of(payload) == text


def test_mentions_of_other_people_are_mention_nodes() -> None:
    payload = activity(
        text="<at>Bo</at> look",
        attachments=[html(f"<p>{span(0, 'Bo')} look</p>")],
        entities=[mention(BO, "Bo")],
    )

    (event,) = events_of(payload)

    assert isinstance(event, MessagePosted)
    assert not event.addresses_us
    assert text_of(payload) == f"{mention_markdown(ids.actor_id(TENANT, BO), 'Bo')} look"


CONTENT = "application/vnd.microsoft.teams.file.download.info"
PLAN = {
    "contentType": CONTENT,
    "name": "plan.pdf",
    "content": {"downloadUrl": "https://files.example/secret", "fileType": "pdf"},
}
PICTURE = {"contentType": "image/png", "contentUrl": "https://x.example/1"}
BODY = {"type": "AdaptiveCard", "version": "1.5", "body": [{"type": "TextBlock", "text": "Hi"}]}
ADAPTIVE = {"contentType": "application/vnd.microsoft.card.adaptive", "content": BODY}
HERO = {"contentType": "application/vnd.microsoft.card.hero", "content": {"title": "Lunch"}}


def rich(payload: Any) -> Message:
    (event,) = events_of(payload)
    assert isinstance(event, MessagePosted)
    return event.message


def test_a_forwarded_message_is_marked_as_quoted() -> None:
    content = {
        "originalMessageContent": "<p>old <b>news</b></p>",
        "originalMessageSender": {"user": {"displayName": "Ann"}},
    }
    forwarded = {"contentType": "forwardedMessageReference", "content": json.dumps(content)}

    message = rich(activity(text="look", attachments=[forwarded]))

    parts = read_bridge_metadata(message)[0].parts
    (index,) = (int(key) for key, part in parts.items() if part.quoted)
    quoted = message.content[index]
    assert isinstance(quoted, TextPart)
    assert "old **news**" in quoted.text
    assert "Ann" in quoted.text


@pytest.mark.parametrize(
    ("attachment", "schema_id", "fallback"),
    [
        (PLAN, CONTENT, "text"),
        (PICTURE, "image/png", "image"),
        (ADAPTIVE, "application/vnd.microsoft.card.adaptive+json", "text"),
        (HERO, "application/vnd.microsoft.card.hero", "text"),
    ],
    ids=["a file", "an image", "an Adaptive Card", "a hero card"],
)
def test_an_attachment_is_kept_with_a_text_fallback(
    attachment: Any, schema_id: str, fallback: str
) -> None:
    message = rich(activity(text="", attachments=[attachment]))

    payload_part, text_part = message.content
    assert isinstance(payload_part, StructuredDataPart)
    assert (payload_part.schema_id, text_part.type) == (schema_id, fallback)
    additions, _ = read_bridge_metadata(message)
    assert additions.fallbacks == {"0": (1,)}
    assert (additions.origin or "").startswith("https://teams.microsoft.com/l/message/")


def sign(alt: str = "image") -> str:
    """The HTML tag of an image that may be attached, too."""
    return f'<img alt="{alt}" itemtype="http://schema.skype.com/AMSImage" src="https://a.example">'


SEE = [html("<p>see</p>"), ADAPTIVE, PLAN]
SEE_IMAGE = [html(f"<p>see {sign()}</p>"), PICTURE]
SEE_PLAN = [html(f"<p>see {sign('a plan')}</p>"), PICTURE]
IMAGE_ALONE = [html(f"<p>{sign()}</p>"), PICTURE]
TWO_IMAGES = [html(f"<p>{sign()} and {sign('two')}</p>"), PICTURE]
_WITH_IMAGE = ["text", "structured_data", "image"]
PARTS: dict[str, tuple[Any, list[str], str | None]] = {
    "the text precedes its attachments": (
        activity(text="see", attachments=SEE),
        ["text", "structured_data", "text", "structured_data", "text"],
        "see",
    ),
    "an attached inline image appears once": (
        activity(text="see", attachments=SEE_IMAGE),
        _WITH_IMAGE,
        "see",
    ),
    "the alt text of an inline image is in the text": (
        activity(text="see", attachments=SEE_PLAN),
        _WITH_IMAGE,
        "see [image: a plan]",
    ),
    "an inline image without text is the only content": (
        activity(text="", attachments=IMAGE_ALONE),
        ["structured_data", "image"],
        None,
    ),
    "an inline image that is not attached is text": (
        activity(text="", attachments=TWO_IMAGES),
        _WITH_IMAGE,
        "and [image: two]",
    ),
}


@pytest.mark.parametrize(("payload", "types", "text"), PARTS.values(), ids=PARTS)
def test_text_and_attachments_become_parts_in_order(
    payload: Any, types: list[str], text: str | None
) -> None:
    message = rich(payload)

    assert [part.type for part in message.content] == types
    if text is not None:
        assert isinstance(first := message.content[0], TextPart)
        assert markdown_to_text(first.text) == (Paragraph((Text(text),)),)


def test_the_download_url_of_a_file_is_not_in_the_message() -> None:
    message = rich(activity(text="", attachments=[PLAN]))

    assert "files.example" not in message.model_dump_json()


@pytest.mark.parametrize("text", ["*not* bold & <b>", "<b>x</b>", "# a", "[a](b)", "- a"])
def test_text_that_looks_like_markup_stays_text(text: str) -> None:
    assert markdown_to_text(text_of(activity(text=text))) == (Paragraph((Text(text),)),)


def test_a_press_on_a_card_is_not_a_message() -> None:
    payload = activity(value={"choice": "1"}, replyToId="1")

    assert events_of(payload) == [
        Unknown(
            account=IDENTITY.account,
            place=Place(channel=CHANNEL_REF),
            time=to_datetime(TIME),
            kind="message",
        )
    ]


@pytest.mark.parametrize(
    "payload",
    [
        activity(
            value={"token": "tok1", "tok2": "because", "tok3": "a,b", "many": ["tok3"]},
            replyToId="1699",
        ),
        activity(
            "invoke",
            name="adaptiveCard/action",
            replyToId="1699",
            value={
                "action": {
                    "type": "Action.Execute",
                    "verb": "press",
                    "data": {"token": "tok1", "tok2": "because", "tok3": "a,b", "many": ["tok3"]},
                }
            },
        ),
    ],
    ids=["submit", "execute"],
)
def test_a_press_has_its_actor_action_target_and_input_values(payload: Any) -> None:
    (event,) = events_of(payload)

    assert isinstance(event, ActionPressed)
    assert (event.target, event.token, event.actor) == ("1699", "tok1", PERSON.id)
    assert event.values == {"tok2": "because", "tok3": ["a", "b"]}


def test_typed_names_are_split_into_values() -> None:
    value = {"token": "tok1", "tok2": "admins,\nthe crew", "typed": ["tok2", 7]}

    (event,) = events_of(activity(value=value, replyToId="1699"))

    assert isinstance(event, ActionPressed)
    assert event.values == {"tok2": ["admins", "the crew"]}


def test_an_edit_has_the_whole_new_message() -> None:
    edited_at = "2023-11-14T22:15:00Z"
    payload = activity(
        "messageUpdate",
        text="better",
        timestamp=edited_at,
        channelData={"eventType": "editMessage"},
    )

    assert events_of(payload) == [
        MessageEdited(
            account=IDENTITY.account,
            place=Place(channel=CHANNEL_REF),
            time=to_datetime(edited_at),
            actor=PERSON.id,
            target=ID,
            message=text_message("better"),
            edited_at=to_datetime(edited_at),
        )
    ]


def test_a_deletion_has_the_message_id() -> None:
    payload = activity("messageDelete", channelData={"eventType": "softDeleteMessage"})

    assert events_of(payload) == [
        MessageDeleted(
            account=IDENTITY.account, place=Place(channel=CHANNEL_REF), time=to_datetime(TIME),
            actor=PERSON.id, target=ID,
        )
    ]  # fmt: skip


def test_added_and_removed_reactions_target_their_message() -> None:
    payload = activity(
        "messageReaction",
        id="f:1",
        replyToId="1699999999002",
        conversation=conversation(f"{CHANNEL};messageid=1699999999000", "channel"),
        reactionsAdded=[{"type": "like"}, {"type": "1f44b_wavinghand"}],
        reactionsRemoved=[{"type": "party_own"}],
    )
    common: dict[str, Any] = {
        "account": IDENTITY.account,
        "place": Place(channel=CHANNEL_REF, thread="1699999999000"),
        "time": to_datetime(TIME),
        "actor": PERSON.id,
        "target": "1699999999002",
    }

    assert events_of(payload) == [
        ReactionAdded(**common, emoji="👍"),
        ReactionAdded(**common, emoji="👋"),
        ReactionRemoved(**common, emoji=":party_own:"),
    ]


def test_joins_and_departures_are_events_except_our_own_join() -> None:
    payload = activity(
        "conversationUpdate",
        id="f:2",
        conversation=conversation(CHANNEL, "channel"),
        membersAdded=[{"id": BO}, {"id": BOT}],
        membersRemoved=[{"id": ANN}],
    )
    common: dict[str, Any] = {
        "account": IDENTITY.account, "place": Place(channel=CHANNEL_REF), "time": to_datetime(TIME),
    }  # fmt: skip

    assert events_of(payload) == [
        MemberJoined(**common, actor=ids.actor_id(TENANT, BO)),
        Ignored(**common, reason="our own join"),
        MemberLeft(**common, actor=PERSON.id),
    ]


@pytest.mark.parametrize(
    ("event_type", "expected"),
    [
        ("channelCreated", (ChannelCreated, {"name": "plans"})),
        ("channelRenamed", (ChannelRenamed, {"name": "plans"})),
        ("channelDeleted", (ChannelClosed, {"reason": "the channel was deleted"})),
        ("channelMoved", (Unknown, {"kind": "conversationUpdate/channelMoved"})),
    ],
    ids=["created", "renamed", "deleted", "moved, which is unknown"],
)
def test_a_channel_event_belongs_to_the_changed_channel(event_type: str, expected: Any) -> None:
    other = "19:other@thread.tacv2"
    data = {
        "eventType": event_type,
        "channel": {"id": other, "name": "plans"},
        "tenant": {"id": TENANT},
    }
    payload = activity(
        "conversationUpdate", conversation={"id": CHANNEL}, channelData=data, id="f:3"
    )
    kind, fields = expected
    place = Place(channel=CHANNEL_REF.model_copy(update={"channel": other}))
    place = Place(channel=CHANNEL_REF) if kind is Unknown else place

    assert events_of(payload) == [
        kind(account=IDENTITY.account, place=place, time=to_datetime(TIME), **fields)
    ]


@pytest.mark.parametrize(
    ("payload", "event"),
    [
        (activity("typing"), TypingStarted),
        (activity("installationUpdate", action="add"), ChannelCreated),
        (activity("installationUpdate", action="remove"), Ignored),
        (activity("invoke", name="adaptiveCard/action", value={}), Unknown),
        (activity("something new"), Unknown),
    ],
    ids=[
        "typing",
        "an installation",
        "a removal",
        "an invoke of a foreign button",
        "an unknown type",
    ],
)
def test_activities_other_than_messages_give_ignored_or_unknown_events(
    payload: Any, event: type[Event]
) -> None:  # pyright: ignore[reportGeneralTypeIssues]  # a union of classes
    assert [type(decoded) for decoded in events_of(payload)] == [event]


def test_a_message_by_the_bot_is_marked_as_our_own() -> None:
    (event,) = events_of(activity(text="hi", author={"id": BOT, "name": "Bridge"}))

    assert isinstance(event, MessagePosted)
    assert event.own
    assert event.author.bot
    assert event.message.actor.role == "assistant"


def test_credentials_are_removed_from_the_payload() -> None:
    payload = activity(
        attachments=[
            html("<p>x</p>"),
            {
                "contentType": "application/vnd.microsoft.teams.file.download.info",
                "name": "plan.pdf",
                "content": {"downloadUrl": "https://files.example/secret", "uniqueId": "1"},
            },
        ],
        type="invoke",
        name="signin/verifyState",
        value={"state": "sign-in-code"},
    )

    raw = raw_of(payload, IDENTITY)

    assert raw.credentials == {
        "/attachments/1/content/downloadUrl": "https://files.example/secret",
        "/value/state": "sign-in-code",
    }
    assert b"secret" not in raw.payload
    assert b"sign-in-code" not in raw.payload
    assert payload["value"] == {"state": "sign-in-code"}


def test_the_row_of_a_post_has_a_dedupe_key_and_an_order_key() -> None:
    first, again = raw_of(activity(text="a"), IDENTITY), raw_of(activity(text="a"), IDENTITY)
    elsewhere = raw_of(activity(conversation=conversation(CHAT, "groupChat")), IDENTITY)
    edits = [
        raw_of(activity("messageUpdate", timestamp=f"2023-11-14T22:1{n}:00Z"), IDENTITY)
        for n in (4, 5)
    ]

    assert first.dedupe_key == again.dedupe_key
    assert first.order_key == "00000001700000000123"
    assert first.channel == CHANNEL_REF
    assert len({first.dedupe_key, elsewhere.dedupe_key, *(raw.dedupe_key for raw in edits)}) == 4
    assert first.order_key < edits[0].order_key < edits[1].order_key


def test_activities_without_an_id_are_deduplicated_by_their_payload() -> None:
    first, second = (raw_of(activity("event", id=None, value=n), IDENTITY) for n in (1, 2))

    assert first.dedupe_key != second.dedupe_key


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (activity(conversation={}), "has no conversation"),
        (activity(id=None), "has no id"),
        (activity(timestamp="yesterday", id="x"), "no readable timestamp"),
        (activity(author={}), "has no account id"),
        (activity("messageReaction"), "replyToId"),
    ],
    ids=["no conversation", "no id", "an invalid time", "no author", "a reaction without a target"],
)
def test_an_undecodable_activity_raises_an_error_with_a_reason(payload: Any, reason: str) -> None:
    with pytest.raises(UndecodableEvent, match=reason):
        events_of(payload)


def test_a_multi_tenant_bot_needs_the_tenant_in_the_payload() -> None:
    identity = BotIdentity(IDENTITY.account, APP_ID, None)
    payload = activity(conversation={"id": CHANNEL}, channelData={})

    assert raw_of(payload, identity).channel is None
    with pytest.raises(UndecodableEvent, match="set tenant_id"):
        decode(raw_of(payload, identity), identity)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
_FIELDS = sorted([*activity(), "text", "attachments", "entities", "value", "replyToId",
    "reactionsAdded", "reactionsRemoved", "membersAdded", "membersRemoved", "name"])  # fmt: skip
_TYPES = ["message", "messageUpdate", "messageDelete", "messageReaction", "conversationUpdate",
    "installationUpdate", "typing", "invoke", "event"]  # fmt: skip


@given(st.sampled_from(_TYPES), st.dictionaries(st.sampled_from(_FIELDS), _JSON, max_size=4))
def test_a_damaged_activity_gives_events_or_is_undecodable(
    kind: str, damage: dict[str, Any]
) -> None:
    payload = activity(kind, text="hello") | damage
    with contextlib.suppress(UndecodableEvent):  # anything else fails the test
        assert events_of(payload)


@given(st.text(), st.text())
def test_any_text_and_any_html_are_read(text: str, content: str) -> None:
    assert text_of(activity(text=text, attachments=[html(content)])).strip()


def test_every_corpus_activity_is_decoded() -> None:
    folder = os.environ.get("UACS_CORPUS")
    if not folder:
        pytest.skip("set UACS_CORPUS to a folder of payloads")
    decoded = 0
    for path in sorted(Path(folder, "teams").rglob("*.json")):
        raw = Raw(
            account=IDENTITY.account, kind="activity", dedupe_key="d", order_key="o",
            payload=path.read_bytes(),
        )  # fmt: skip
        try:
            decoded += bool(decode(raw, IDENTITY))
            raw_of(orjson.loads(raw.payload), IDENTITY)
        except UndecodableEvent:
            continue  # anything else fails the test
    assert decoded > 25
