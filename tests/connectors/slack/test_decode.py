"""One payload, one expectation: Slack's JSON and its event."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import orjson
import pytest

from bridge.content.markdown.mentions import mentioned_actors
from bridge.content.messages.metadata import read_bridge_metadata
from bridge.content.messages.parts import message_text
from bridge.errors import UndecodableEvent
from bridge.model import (
    AccountRevoked,
    ActionPressed,
    AnswerStopped,
    ChannelClosed,
    ChannelCreated,
    ChannelRenamed,
    CommandGiven,
    Event,
    Ignored,
    MemberJoined,
    MemberLeft,
    MessageDeleted,
    MessageEdited,
    MessageId,
    MessagePinned,
    MessagePosted,
    MessageUnpinned,
    OperationId,
    Person,
    Place,
    ReactionAdded,
    ReactionRemoved,
    TopicChanged,
    Unknown,
    message_id_of,
)
from bridge.uacs import Actor, Message, TextPart, to_timestamp
from connectors.slack import ids
from connectors.slack.decode import decode
from tests.connectors.slack.payloads import (
    ACCOUNT,
    CHANNEL,
    OWN_IDENTITY,
    TEAM,
    TS,
    Json,
    decoded,
    envelope,
    post,
    raw,
)

CH = ids.channel_ref(TEAM, CHANNEL)
ADA = Person(id=ids.actor_id(TEAM, "UADA"), name="UADA")
LATER = "1700000060.000200"
ROOT = "1699999999.000300"


def at(ts: str = TS, thread: str | None = None, channel: str = CHANNEL) -> Json:
    place = Place(channel=ids.channel_ref(TEAM, channel), thread=thread)
    return {"account": ACCOUNT, "place": place, "time": ids.time_of(ts)}


def posted_text(
    text: str, author: Person = ADA, ts: str = TS, channel: str = CHANNEL, *, own: bool = False
) -> Message:
    return Message(
        message_id=message_id_of(ids.channel_ref(TEAM, channel), ts),
        timestamp=to_timestamp(ids.time_of(ts)),
        actor=Actor(id=author.id, role="assistant" if author.bot else "human", name=author.name),
        content=(TextPart(text=text, format="plain" if own else "markdown"),),
    )


def posted(text: str, author: Person = ADA, thread: str | None = None, **changes: Any) -> Event:
    message = posted_text(text, author, own=bool(changes.get("own")))
    return MessagePosted(
        native_id=TS, message=message, author=author, **at(thread=thread), **changes
    )


def bot(native: str, name: str, picture: str | None = None) -> Person:
    return Person(id=ids.actor_id(TEAM, native), name=name, picture=picture, bot=True)


PROFILE = {
    "id": "B7", "app_id": "A7", "name": "Deploys", "icons": {"image_72": "https://p.test/72.png"}
}  # fmt: skip
METADATA = {
    "event_type": "uacs_bridge_operation", "event_payload": {"operation": "op-1", "slot": 2}
}  # fmt: skip
TYPED = [
    {
        "type": "rich_text",
        "elements": [
            {
                "type": "rich_text_section",
                "elements": [
                    {"type": "text", "text": "see "},
                    {"type": "text", "text": "this", "style": {"bold": True}},
                    {"type": "emoji", "name": "wave", "unicode": "1f44b"},
                ],
            }
        ],
    }
]
SECTION = [{"type": "section", "text": {"type": "mrkdwn", "text": "*Build* done"}}]
FILE = {"id": "F1", "name": "plan.pdf", "permalink": "https://acme.slack.test/files/F1"}

POSTS: dict[str, tuple[Json, Event]] = {
    "a plain post": (post(), posted("hello")),
    "a root has no thread": (post(thread_ts=TS, reply_count=1), posted("hello")),
    "a reply has its thread": (post(thread_ts=ROOT), posted("hello", thread=ROOT)),
    "a broadcast reply": (
        post(subtype="thread_broadcast", thread_ts=ROOT, root={"ts": ROOT}),
        posted("hello", thread=ROOT, broadcast=True),
    ),
    "/me": (post(subtype="me_message"), posted("_hello_")),
    "an ephemeral message has its audience": (
        post(is_ephemeral=True),
        posted("hello", audience=(ids.actor_id(TEAM, "UBOT"),)),
    ),
    "typed text is read from its rich_text": (
        post("see *this*:wave:", blocks=TYPED),
        posted("see **this**👋"),
    ),
    "an empty post gets a placeholder text": (post(""), posted("[message without text]")),
    "the payload may have the profile": (
        post(user_profile={"display_name": "ada", "image_72": "https://p.test/ada.png"}),
        posted(
            "hello", ADA.model_copy(update={"name": "ada", "picture": "https://p.test/ada.png"})
        ),
    ),
    "another app under its own name": (
        post(bot_id="B7", app_id="A7", user="U7", bot_profile=PROFILE),
        posted("hello", bot("U7", "Deploys", "https://p.test/72.png")),
    ),
    "another app under a custom name": (
        {
            **post(subtype="bot_message", bot_id="B7", username="GitHub"),
            "user": None,
            "icons": {"emoji": ":octopus:", "image_48": "https://p.test/g.png"},
        },
        posted("hello", bot("B7@GitHub", "GitHub", "https://p.test/g.png")),
    ),
    "an old webhook without a bot": (
        {**post(subtype="bot_message", username="cron"), "user": None},
        posted("hello", bot("unknown@cron", "cron")),
    ),
    "somebody mentions us": (
        post("<@UBOT> hi"),
        posted("[@UBOT](uacs:actor/slack:T1:UBOT) hi", addresses_us=True),
    ),
    "app_mention is the same post": (
        {**post("<@UBOT> hi"), "type": "app_mention", "channel_type": None},
        posted("[@UBOT](uacs:actor/slack:T1:UBOT) hi", addresses_us=True),
    ),
    "a direct message addresses us": (post(channel_type="im"), posted("hello", addresses_us=True)),
    "our own post by its app": (
        post(app_id="AOURS", bot_id="B1", user="U1"),
        posted("hello", bot("U1", "U1"), own=True),
    ),
    "our own post with its operation id": (
        {
            **post(subtype="bot_message", bot_id="BOURS", username="Ann", metadata=METADATA),
            "user": None,
        },
        posted("hello", bot("BOURS@Ann", "Ann"), own=True, operation=OperationId("op-1"), slot=2),
    ),
    "a post of another account of a bridge is own, but settles nothing": (
        {
            **post(subtype="bot_message", bot_id="B9", username="Ann", metadata=METADATA),
            "user": None,
        },
        posted("hello", bot("B9@Ann", "Ann"), own=True),
    ),
    "a person with a bridge's metadata stays a person": (post(metadata=METADATA), posted("hello")),
}


def payload(kind: str, data: object) -> Json:
    schema_id = f"application/vnd.slack.{kind}+json"
    return {"type": "structured_data", "schema_id": schema_id, "data": data}


def a_file(file: str, media_type: str) -> Json:
    return {"type": "file", "source": {"file_id": f"slack:{file}"}, "media_type": media_type}


ISSUES = [{"fallback": "3 new issues", "color": "#f00"}]
HIDDEN = {"id": "F2", "file_access": "check_file_info"}
TEXT = {"type": "text", "text": "**Build** done"}
PREVIEW = {"from_url": "https://a.test", "title": "A page", "text": "about it"}

RICH: dict[str, tuple[Json, list[Json], Json]] = {
    "blocks replace the text of an app's post": (
        post("in short", blocks=SECTION),
        [payload("blocks", SECTION), TEXT],
        {"fallbacks": {"0": [1]}, "parts": {"0": {"path": "/blocks"}}},
    ),
    "attachments without a text": (
        post("", attachments=ISSUES),
        [payload("attachments", ISSUES), {"type": "text", "text": "3 new issues"}],
        {"fallbacks": {"0": [1]}, "parts": {"0": {"path": "/attachments"}}},
    ),
    "blocks and attachments keep their order": (
        post("", blocks=SECTION, attachments=[PREVIEW, *ISSUES]),
        [
            payload("blocks", SECTION), TEXT, payload("attachments", ISSUES),
            {"type": "text", "text": "3 new issues"},
        ],
        {
            "fallbacks": {"0": [1], "2": [3]},
            "parts": {"0": {"path": "/blocks"}, "2": {"path": "/attachments"}},
        },
    ),
    "a file": (
        post("", subtype="file_share", files=[FILE]),
        [payload("files", [FILE]), a_file("F1", "application/pdf")],
        {"fallbacks": {"0": [1]}, "parts": {"0": {"path": "/files"}, "1": {"name": "plan.pdf"}}},
    ),
    "an inaccessible file has its id": (
        post("", subtype="file_share", files=[HIDDEN]),
        [payload("files", [HIDDEN]), a_file("F2", "application/octet-stream")],
        {"fallbacks": {"0": [1]}, "parts": {"0": {"path": "/files"}}},
    ),
    "text and file": (
        post("the plan", subtype="file_share", files=[FILE]),
        [
            {"type": "text", "text": "the plan"}, payload("files", [FILE]),
            a_file("F1", "application/pdf"),
        ],
        {"fallbacks": {"1": [2]}, "parts": {"1": {"path": "/files"}, "2": {"name": "plan.pdf"}}},
    ),
}  # fmt: skip
ORIGIN = f"https://slack.com/app_redirect?team={TEAM}&channel={CHANNEL}&message_ts={TS}"


@pytest.mark.parametrize("name", RICH)
def test_a_rich_post_keeps_its_payloads_and_has_text_fallbacks(name: str) -> None:
    event, content, additions = RICH[name]

    decoded_event = decoded(event)

    assert isinstance(decoded_event, MessagePosted)
    document = orjson.loads(decoded_event.message.model_dump_json())
    assert document["content"] == content
    assert document["metadata"] == {"uacs_bridge": {"version": 1, "origin": ORIGIN, **additions}}


def test_metadata_of_another_app_is_kept_with_the_message() -> None:
    metadata = {"event_type": "task", "event_payload": {"id": 7}}

    decoded_event = decoded(post("", blocks=SECTION, metadata=metadata))

    assert isinstance(decoded_event, MessagePosted)
    assert (decoded_event.message.metadata or {})["slack"] == metadata


def press(**changes: Any) -> Json:
    return {
        "type": "block_actions", "team": {"id": TEAM}, "user": {"id": "UADA"},
        "channel": {"id": CHANNEL}, "container": {"message_ts": TS},
        "message": {"ts": TS, "thread_ts": ROOT},
        "actions": [{
            "type": "button", "action_id": "tok1", "block_id": "b", "value": "v",
            "action_ts": LATER,
        }],
        "state": {"values": {"b": {
            "tok2": {"type": "plain_text_input", "value": "because"},
            "tok3": {"type": "multi_static_select", "selected_options": [{"value": "x"}]},
            "tok4": {"type": "datepicker", "selected_date": None},
        }}},
        **changes,
    }  # fmt: skip


SPLIT = "t" * 22
FIRST_PART = {"type": "multi_static_select", "selected_options": [{"value": "a"}]}
SECOND_PART = {"type": "multi_static_select", "selected_options": [{"value": "b"}]}
SINGLE = {"type": "static_select", "selected_option": {"value": "c"}}
EMPTY = {"type": "static_select", "selected_option": None}
PRESSES: dict[str, tuple[Json, str, Json]] = {
    "a button beside inputs": (
        press(),
        "tok1",
        {"tok2": "because", "tok3": ["x"], "tok4": None},
    ),
    "a menu": (
        press(
            actions=[{"action_id": "tok9", "action_ts": LATER, **SINGLE}],
            state={},
        ),
        "tok9",
        {"tok9": "c"},
    ),
    "menus in two parts": (
        press(
            actions=[{"action_id": f"{SPLIT}~2", "action_ts": LATER, **SECOND_PART}],
            state={"values": {
                "1": {SPLIT: FIRST_PART}, "2": {f"{SPLIT}~2": SECOND_PART},
                "3": {"u" * 22: SINGLE}, "4": {f"{'u' * 22}~2": EMPTY},
            }},
        ),
        SPLIT,
        {SPLIT: ["a", "b"], "u" * 22: "c"},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("body", "token", "values"), PRESSES.values(), ids=PRESSES)
def test_a_press_has_its_actor_message_token_and_input_values(
    body: Json, token: str, values: Json
) -> None:
    (event,) = decode(raw(body), OWN_IDENTITY)

    assert event == ActionPressed(
        target=TS, actor=ADA.id, token=token, native=body["actions"][0], values=values,
        **at(LATER, thread=ROOT),
    )  # fmt: skip


def test_an_interaction_other_than_a_press_gives_an_unknown_event() -> None:
    (decoded_event,) = decode(raw(press(type="view_submission")), OWN_IDENTITY)

    assert isinstance(decoded_event, Unknown)


@pytest.mark.parametrize("name", POSTS)
def test_a_post_becomes_its_event(name: str) -> None:
    event, expected = POSTS[name]

    assert decoded(event) == expected


def test_a_shared_message_has_the_text_of_the_person_who_shares_it() -> None:
    shared = {
        "is_share": True, "is_msg_unfurl": True, "from_url": "https://acme.slack.com/archives/C2/p1",
        "author_name": "Ben Ortiz", "text": "the *original* words", "ts": TS,
    }  # fmt: skip
    link = {"from_url": "https://example.com", "title": "A page", "text": "its preview"}

    event = decoded(post("look", attachments=[shared, link]))

    assert isinstance(event, MessagePosted)
    posted_text, _ = message_text(event.message)
    assert "look" in posted_text
    assert "the **original** words" in posted_text
    assert "Ben Ortiz" in posted_text
    assert "its preview" not in posted_text
    parts = read_bridge_metadata(event.message)[0].parts
    assert [key for key, part in parts.items() if part.quoted] == ["2"]
    assert event.message.content[2].type == "text"


def change(now: Json, before: Json | None, **changes: Any) -> Json:
    return {
        "type": "message", "subtype": "message_changed", "hidden": True, "channel": CHANNEL,
        "ts": LATER, "event_ts": LATER, "message": now, "previous_message": before, **changes,
    }  # fmt: skip


def edited(text: str, **changes: Any) -> Event:
    return MessageEdited(
        target=TS,
        message=posted_text(text),
        actor=ADA.id,
        edited_at=ids.time_of(LATER),
        **at(LATER),
        **changes,
    )


NO_NEWS = Ignored(reason="the content has not changed (an unfurl, a reply, a pin)", **at(LATER))
EDIT = {"user": "UADA", "ts": "1700000060.000000"}
CHANGES: dict[str, tuple[Json, Event]] = {
    "an edit": (change(post("hullo", edited=EDIT), post()), edited("hullo")),
    "an edit without the previous message": (
        change(post("hullo", edited=EDIT), None),
        edited("hullo"),
    ),
    "an edit in a thread": (
        change(post("hullo", edited=EDIT, thread_ts=ROOT), post(thread_ts=ROOT)),
        edited("hullo").model_copy(update={"place": Place(channel=CH, thread=ROOT)}),
    ),
    "an unfurl": (
        change(post(attachments=[{"from_url": "https://a.test", "title": "A"}]), post()),
        NO_NEWS,
    ),
    "a first reply": (change(post(reply_count=1, thread_ts=TS), post()), NO_NEWS),
    "a change without an edit or the previous message": (
        change(post(), None),
        Ignored(reason="nobody edited it", **at(LATER)),
    ),
    "a deleted parent stays as a tombstone": (
        change({**post("This message was deleted."), "subtype": "tombstone"}, post()),
        MessageDeleted(target=TS, actor=ADA.id, **at(LATER)),
    ),
    "a deletion": (
        {
            "type": "message",
            "subtype": "message_deleted",
            "channel": CHANNEL,
            "ts": LATER,
            "event_ts": LATER,
            "deleted_ts": TS,
            "previous_message": post(thread_ts=ROOT),
        },
        MessageDeleted(target=TS, actor=ADA.id, **at(LATER, thread=ROOT)),
    ),
    "a deletion without the deleted message": (
        {
            "type": "message",
            "subtype": "message_deleted",
            "channel": CHANNEL,
            "ts": LATER,
            "event_ts": LATER,
            "deleted_ts": TS,
        },
        MessageDeleted(target=TS, actor=ids.actor_id(TEAM, "unknown"), **at(LATER)),
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_becomes_its_event(name: str) -> None:
    event, expected = CHANGES[name]

    assert decoded(event) == expected


def test_an_edit_of_our_own_copy_is_marked_as_our_own() -> None:
    ours = {"bot_id": "BOURS", "user": None, "username": "Ann", "subtype": "bot_message"}

    event = decoded(change({**post("b"), **ours}, {**post("a"), **ours}))

    assert isinstance(event, MessageEdited)
    assert event.own


def other(kind: str, **fields: Any) -> Json:
    return {"type": kind, "event_ts": TS, **fields}


ITEM = {"type": "message", "channel": CHANNEL, "ts": ROOT}
OTHERS: dict[str, tuple[Json, Event]] = {
    "a reaction": (
        other("reaction_added", user="UADA", reaction="tada", item=ITEM),
        ReactionAdded(target=ROOT, emoji="🎉", actor=ADA.id, **at()),
    ),
    "a removed reaction": (
        other("reaction_removed", user="UADA", reaction="wave::skin-tone-3", item=ITEM),
        ReactionRemoved(target=ROOT, emoji="👋🏼", actor=ADA.id, **at()),
    ),
    "a reaction with a custom emoji": (
        other("reaction_added", user="UADA", reaction="acme-party", item=ITEM),
        ReactionAdded(target=ROOT, emoji=":acme-party:", actor=ADA.id, **at()),
    ),
    "our own reaction": (
        other("reaction_added", user=OWN_IDENTITY.user, reaction="tada", item=ITEM),
        ReactionAdded(
            target=ROOT, emoji="🎉", actor=ids.actor_id(TEAM, OWN_IDENTITY.user), own=True, **at()
        ),
    ),
    "a reaction to a file": (
        other("reaction_added", user="UADA", reaction="tada", item={"type": "file", "file": "F1"}),
        Ignored(reason="a reaction to something that is no message", **at(channel="")),
    ),
    "a pin": (
        other("pin_added", user="UADA", channel_id=CHANNEL, item={**ITEM, "message": {"ts": ROOT}}),
        MessagePinned(target=ROOT, actor=ADA.id, **at()),
    ),
    "an unpin": (
        other(
            "pin_removed", user="UADA", channel_id=CHANNEL, item={**ITEM, "message": {"ts": ROOT}}
        ),
        MessageUnpinned(target=ROOT, actor=ADA.id, **at()),
    ),
    "somebody joins": (
        other("member_joined_channel", user="UADA", channel=CHANNEL),
        MemberJoined(actor=ADA.id, **at()),
    ),
    "we join": (
        other("member_joined_channel", user="UBOT", channel=CHANNEL),
        Ignored(reason="we joined", **at()),
    ),
    "somebody leaves": (
        other("member_left_channel", user="UADA", channel=CHANNEL),
        MemberLeft(actor=ADA.id, **at()),
    ),
    "we leave": (
        other("member_left_channel", user="UBOT", channel=CHANNEL),
        ChannelClosed(reason="we left", **at()),
    ),
    "we are removed": (
        other("group_left", channel=CHANNEL),
        ChannelClosed(reason="we were removed", **at()),
    ),
    "a channel is archived": (
        other("channel_archive", channel=CHANNEL, user="UADA"),
        ChannelClosed(reason="archived", **at()),
    ),
    "a channel is deleted": (
        other("channel_deleted", channel=CHANNEL),
        ChannelClosed(reason="deleted", **at()),
    ),
    "a channel is renamed": (
        other("channel_rename", channel={"id": CHANNEL, "name": "new"}),
        ChannelRenamed(name="new", **at()),
    ),
    "a channel is created": (
        other("channel_created", channel={"id": CHANNEL, "name": "new", "created": 1}),
        ChannelCreated(name="new", **at()),
    ),
    "a topic": (
        post("<@UADA> set the channel topic: cats", subtype="channel_topic", topic="cats"),
        TopicChanged(topic="cats", **at()),
    ),
    "a topic that mentions": (
        post(
            "<@UADA> set the channel topic",
            subtype="channel_topic",
            topic="*On call*: <@UADA> see <#C0QUIET> <!subteam^S1>",
        ),
        TopicChanged(
            topic=f"**On call**: [@UADA](uacs:actor/slack:{TEAM}:UADA) "
            f"see [#C0QUIET](uacs:channel/slack:{TEAM}:C0QUIET) "
            f"[@S1](uacs:group/slack:{TEAM}:S1)",
            **at(),
        ),
    ),
    "a system message that repeats an event": (
        post("<@UADA> has joined", subtype="channel_join"),
        Ignored(reason="member_joined_channel tells it", **at()),
    ),
    "the app is uninstalled": (
        other("app_uninstalled"),
        AccountRevoked(reason="app_uninstalled", **at(channel="")),
    ),
    "an unknown event": (other("dog_barked", channel=CHANNEL), Unknown(kind="dog_barked", **at())),
    "an unknown subtype": (
        post(subtype="huddle_thread"),
        Unknown(kind="message:huddle_thread", **at()),
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_another_event_becomes_its_event(name: str) -> None:
    event, expected = OTHERS[name]

    assert decoded(event) == expected


def test_a_slash_command_has_its_actor_and_text() -> None:
    body = {
        "token": "v", "command": "/bridge", "text": "status", "user_id": "UADA", "team_id": TEAM,
        "channel_id": CHANNEL, "response_url": "https://hooks.slack.test/1", "trigger_id": "1.2",
    }  # fmt: skip

    (event,) = decode(raw(body), OWN_IDENTITY)

    assert event == CommandGiven(
        command="/bridge", text="status", actor=ADA.id, **at("1700000099.000000")
    )


def test_mentions_in_a_slash_command_are_resolved() -> None:
    body = {
        "command": "/bridge", "text": "block <@U2|ben> &amp; <#C2|random>", "user_id": "UADA",
        "team_id": TEAM, "channel_id": CHANNEL,
    }  # fmt: skip

    (event,) = decode(raw(body), OWN_IDENTITY)

    assert isinstance(event, CommandGiven)
    assert mentioned_actors(event.text) == (f"slack:{TEAM}:U2",)
    assert "random" in event.text
    assert "&amp;" not in event.text


def test_a_press_of_a_foreign_button_gives_an_unknown_event() -> None:
    body = {
        "type": "block_actions", "team": {"id": TEAM}, "channel": {"id": CHANNEL},
        "actions": [{"action_id": "go", "action_ts": TS}],
    }  # fmt: skip

    (event,) = decode(raw(body), OWN_IDENTITY)

    assert event == Unknown(kind="block_actions", **at())


def test_our_own_posts_are_recognised_from_the_envelope_alone() -> None:
    event = decoded(post("<@UBOT> hi", app_id="AOURS", bot_id="B1"), us=None)

    assert isinstance(event, MessagePosted)
    assert event.own
    assert event.place.channel == CH


ELSEWHERE = [{"team_id": "T2", "user_id": "UBOT2", "is_bot": True}]
WORKSPACES: dict[str, tuple[Json, str]] = {
    "a shared channel is in ours": ({"team_id": "TOTHER", "context_team_id": TEAM}, TEAM),
    "another workspace stays its own": ({"team_id": "T2", "authorizations": ELSEWHERE}, "T2"),
}


@pytest.mark.parametrize(("fields", "workspace"), WORKSPACES.values(), ids=WORKSPACES)
def test_an_event_has_its_workspace(fields: Json, workspace: str) -> None:
    event = decoded(post(), **fields)

    assert event.place.channel == ids.channel_ref(workspace, CHANNEL)


def test_the_event_time_is_slacks_timestamp() -> None:
    event = decoded(post())

    assert isinstance(event, MessagePosted)
    assert event.time == datetime.fromisoformat("2023-11-14T22:13:20.000100+00:00")
    assert event.message.timestamp == "2023-11-14T22:13:20.000100Z"
    assert event.message.message_id == MessageId("slack:T1:C1:1700000000.000100")


BROKEN: dict[str, Json] = {
    "an invalid ts": post(ts="yesterday"),
    "a reaction without a message id": other(
        "reaction_added", user="U", reaction="x", item={"type": "message"}
    ),
    "a reaction without a name": other("reaction_added", user="U", item=ITEM),
    "a join without a user": other("member_joined_channel", channel=CHANNEL),
    "an edit without a message": change({"edited": EDIT}, None),
    "a ts beyond the calendar": post(ts="999999999999.000000"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_an_undecodable_payload_raises_an_error_with_a_reason(name: str) -> None:
    with pytest.raises(UndecodableEvent) as caught:
        decoded(BROKEN[name])

    assert "Slack" in str(caught.value)


def test_lone_surrogates_do_not_stop_a_message() -> None:
    body = orjson.dumps(envelope(post("HERE"))).replace(b"HERE", b"half \\ud83d")
    row = raw(envelope(post())).model_copy(update={"payload": body})

    (event,) = decode(row, OWN_IDENTITY)

    assert isinstance(event, MessagePosted)
    assert event.message.content == (TextPart(text="half ?", format="markdown"),)


def test_a_native_stop_has_its_actor_and_messages() -> None:
    event: Json = {
        "type": "agent_session_stopped", "channel": CHANNEL, "user": "UADA", "thread_ts": ROOT,
        "event_ts": TS, "streaming_message_ts": [LATER, 7],
    }  # fmt: skip

    assert decoded(event) == AnswerStopped(actor=ADA.id, targets=(LATER,), **at(thread=ROOT))
    assert decoded({**event, "streaming_message_ts": []}) == AnswerStopped(
        actor=ADA.id, **at(thread=ROOT)
    )
