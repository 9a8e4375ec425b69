"""One payload, one expectation: Discord's JSON and its event."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from bridge.content.markdown import markdown_to_text
from bridge.content.markdown.mentions import mentioned_actors
from bridge.content.messages.metadata import read_bridge_metadata
from bridge.content.text.tree import Link, Paragraph, Text
from bridge.errors import UndecodableEvent
from bridge.model import (
    AccountId,
    ActionPressed,
    ActorId,
    ChannelClosed,
    ChannelCreated,
    ChannelRenamed,
    CommandGiven,
    Event,
    Ignored,
    MemberJoined,
    MessageDeleted,
    MessageEdited,
    MessagePosted,
    MessagesBulkDeleted,
    Person,
    Place,
    PollEnded,
    Raw,
    ReactionAdded,
    ReactionRemoved,
    ReactionsCleared,
    ThreadDeleted,
    ThreadStarted,
    TopicChanged,
    Unknown,
    message_id_of,
)
from bridge.uacs import Actor, Message, StructuredDataPart, TextPart
from connectors.discord.content import HIDDEN
from connectors.discord.decode import KINDS, decode
from connectors.discord.ids import channel_ref
from tests.connectors.discord.payloads import (
    ANN,
    APP,
    CHANNEL,
    GUILD,
    HOOK,
    THREAD,
    US,
    WHERE,
    message,
    raw,
    user,
)

ACCOUNT = AccountId("discord")
HERE = Place(channel=WHERE)
AT = datetime.fromtimestamp(1_730_030_400, UTC)
SAID = datetime(2024, 10, 27, 12, 0, 0, 123000, UTC)
ANN_ID = ActorId(f"discord:{GUILD}:{ANN}")
NOBODY = ActorId(f"discord:{GUILD}:unknown")
ON_MESSAGE: dict[str, Any] = {"account": ACCOUNT, "place": HERE, "time": AT}
DEFAULT_PICTURE = f"https://cdn.discordapp.com/embed/avatars/{(int(ANN) >> 22) % 6}.png"


def posted(data: Any, **changed: Any) -> MessagePosted:
    (event,) = decode(raw(data, **changed))
    assert isinstance(event, MessagePosted)
    return event


def text(event: MessagePosted | MessageEdited) -> str:
    (part,) = event.message.content
    assert isinstance(part, TextPart)
    return part.text


def test_a_post_has_its_author_time_place_and_text() -> None:
    author = Person(id=ANN_ID, name="Annie", picture=DEFAULT_PICTURE)

    assert decode(raw(message("**hi** all"))) == [
        MessagePosted(
            account=ACCOUNT,
            place=HERE,
            time=SAID,
            native_id="1300000000000000000",
            message=Message(
                message_id=message_id_of(WHERE, "1300000000000000000"),
                timestamp="2024-10-27T12:00:00.123+00:00",
                actor=Actor(id=ANN_ID, role="human", name="Annie"),
                content=(TextPart(text="**hi** all", format="markdown"),),
            ),
            author=author,
        )
    ]


def test_a_post_in_a_thread_names_the_thread_below_its_channel() -> None:
    event = posted(message(channel_id=THREAD))

    assert event.place == Place(channel=WHERE, thread=THREAD)
    assert event.message.message_id == message_id_of(WHERE, "1300000000000000000")


REFERENCE = {"message_id": "12", "channel_id": CHANNEL}
ELSEWHERE = {"message_id": "12", "channel_id": "13", "guild_id": "14"}
REFERENCES: dict[str, tuple[dict[str, Any], str | None]] = {
    "a reply": ({"type": 19, "message_reference": REFERENCE | {"type": 0}}, "12"),
    "a forward": ({"message_reference": REFERENCE | {"type": 1}}, None),
    "a crosspost": ({"message_reference": ELSEWHERE | {"type": 0}}, None),
}


@pytest.mark.parametrize(("fields", "reply_to"), REFERENCES.values(), ids=REFERENCES)
def test_only_a_reply_names_its_target(fields: dict[str, Any], reply_to: str | None) -> None:
    assert posted(message(**fields)).reply_to == reply_to


def test_the_first_message_of_a_forum_post_is_a_root() -> None:
    assert posted(message(id=THREAD, channel_id=THREAD)).place == HERE


NAMES: dict[str, tuple[dict[str, Any], str]] = {
    "the nickname in the guild": ({}, "Annie"),
    "the display name": ({"member": {"nick": None}}, "Ann B."),
    "the username": ({"member": None, "author": user(global_name=None)}, "ann"),
    "the id": ({"member": None, "author": user(global_name=None, username="")}, ANN),
}


@pytest.mark.parametrize(("fields", "name"), NAMES.values(), ids=NAMES)
def test_an_author_has_the_best_known_name(fields: dict[str, Any], name: str) -> None:
    assert posted(message(**fields)).author.name == name


PICTURES: dict[str, tuple[dict[str, Any], str]] = {
    "the user's avatar": ({"author": user(avatar="abc")}, f"/avatars/{ANN}/abc.png?size=128"),
    "the avatar in the guild": (
        {"member": {"avatar": "xyz"}},
        f"/guilds/{GUILD}/users/{ANN}/avatars/xyz.png?size=128",
    ),
}


@pytest.mark.parametrize(("fields", "path"), PICTURES.values(), ids=PICTURES)
def test_an_author_picture_is_a_public_url(fields: dict[str, Any], path: str) -> None:
    assert posted(message(**fields)).author.picture == f"https://cdn.discordapp.com{path}"


def test_bots_and_webhooks_are_assistants() -> None:
    bot = posted(message(author=user(bot=True)))
    hook = posted(message(webhook_id=HOOK, author=user(HOOK, username="CI", bot=True), member=None))

    assert (bot.message.actor.role, bot.author.bot) == ("assistant", True)
    assert hook.author == Person(
        id=ActorId(f"discord:{GUILD}:{HOOK}/CI"),
        name="CI",
        picture=f"https://cdn.discordapp.com/embed/avatars/{(int(HOOK) >> 22) % 6}.png",
        bot=True,
    )


OWN_POSTS: dict[str, tuple[dict[str, Any], dict[str, Any], bool]] = {
    "our webhook, by its application": ({"webhook_id": HOOK, "application_id": APP}, {}, True),
    "our webhook, by its id": ({"webhook_id": HOOK}, {"webhook": True}, True),
    "another app's webhook": ({"webhook_id": HOOK, "application_id": "1"}, {}, False),
    "our bot": ({"author": user(US)}, {}, True),
    "a person who used our command": ({"application_id": APP}, {}, False),
    "a person": ({}, {}, False),
}


@pytest.mark.parametrize(("fields", "own", "expected"), OWN_POSTS.values(), ids=OWN_POSTS)
def test_our_own_posts_are_recognised(
    fields: dict[str, Any], own: dict[str, Any], expected: bool
) -> None:
    assert posted(message(**fields), own=own).own is expected


DIRECT = channel_ref(None, CHANNEL)
ADDRESSES: dict[str, tuple[dict[str, Any], dict[str, Any], bool]] = {
    "a mention": (message(f"<@{US}> help", mentions=[user(US, username="bridge")]), {}, True),
    "a direct message": (message(guild_id=None), {"channel": DIRECT}, True),
    "any other post": (message(), {}, False),
}


@pytest.mark.parametrize(("data", "place", "expected"), ADDRESSES.values(), ids=ADDRESSES)
def test_a_mention_or_a_direct_message_addresses_us(
    data: dict[str, Any], place: dict[str, Any], expected: bool
) -> None:
    assert posted(data, **place).addresses_us is expected


def test_ids_in_the_text_are_replaced_by_known_names() -> None:
    content = f"<@{ANN}> <@77> <#{CHANNEL}> <@&88>"
    data = message(content, mentions=[user(member={"nick": "Nan"})], mention_roles=["88"])

    event = posted(data, names={CHANNEL: "general", "88": "devs"})

    assert text(event) == (
        f"[@Nan](uacs:actor/discord:{GUILD}:{ANN}) [@77](uacs:actor/discord:{GUILD}:77)"
        f" [#general](uacs:channel/discord:{GUILD}:{CHANNEL})"
        f" [@devs](uacs:group/discord:{GUILD}:88)"
    )


PDF = {"id": "1", "filename": "a_b.pdf", "url": "https://cdn.yz/a.pdf?ex=1"}
EMBED = {"type": "rich", "title": "T", "description": "**d**"}
V2 = {"type": 17, "components": [{"type": 10, "content": "# V2"}]}
POLL = {"question": {"text": "Tea?"}, "answers": [{"poll_media": {"text": "yes"}}]}
STICKER = {"id": "9", "name": "wave", "format_type": 1}
SNAPSHOT = {"message": {"content": "**old** news", "embeds": [], "attachments": []}}
RICH: list[tuple[dict[str, Any], str, str]] = [
    ({"attachments": [PDF]}, "attachments", "file"),
    ({"embeds": [EMBED]}, "embeds", "text"),
    ({"components": [V2], "flags": 1 << 15}, "components", "text"),
    ({"poll": POLL}, "poll", "text"),
    ({"sticker_items": [STICKER]}, "stickers", "image"),
    ({"message_snapshots": [SNAPSHOT]}, "forwards", "text"),
]


@pytest.mark.parametrize(
    ("fields", "payload", "fallback"), RICH, ids=[payload for _, payload, _ in RICH]
)
def test_a_rich_post_has_its_payload_and_a_text_fallback(
    fields: dict[str, Any], payload: str, fallback: str
) -> None:
    event = posted(message("", **fields))

    payload_part, text_part, *_ = event.message.content
    assert isinstance(payload_part, StructuredDataPart)
    assert payload_part.schema_id == f"application/vnd.discord.{payload}+json"
    assert text_part.type == fallback
    additions, _ = read_bridge_metadata(event.message)
    assert additions.origin == (
        f"https://discord.com/channels/{GUILD}/{CHANNEL}/1300000000000000000"
    )


def test_only_the_forwarded_text_is_marked_as_quoted() -> None:
    event = posted(message("look", message_snapshots=[SNAPSHOT], embeds=[EMBED]))

    parts = read_bridge_metadata(event.message)[0].parts
    texts = [
        (part.text, parts[str(index)].quoted if str(index) in parts else None)
        for index, part in enumerate(event.message.content)
        if isinstance(part, TextPart)
    ]
    assert texts[0] == ("look", None)
    assert [quoted for text, quoted in texts if "**old** news" in text] == [True]
    assert [quoted for text, quoted in texts if "**d**" in text] == [None]


def test_the_text_precedes_the_embeds_and_keeps_its_names() -> None:
    event = posted(message("**see**", embeds=[EMBED]))

    assert [part.type for part in event.message.content] == ["text", "structured_data", "text"]
    assert isinstance(event.message.content[0], TextPart)
    assert event.message.content[0].text == "**see**"


def test_an_empty_text_reports_a_missing_content_intent() -> None:
    assert text(posted(message(""))) == HIDDEN
    assert "Message Content intent" in HIDDEN


def test_a_blank_post_gets_a_placeholder_text() -> None:
    assert text(posted(message(" "))) == "[message without text]"


def interaction(**changed: Any) -> dict[str, Any]:
    return {
        "id": "77", "application_id": "5", "type": 3, "guild_id": GUILD, "channel_id": CHANNEL,
        "member": {"user": user()}, "message": {"id": "1300000000000000000"},
        "data": {"custom_id": "tok1", "component_type": 2},
        **changed,
    }  # fmt: skip


FIELDS = [
    {"type": 18, "component": {"type": 4, "custom_id": "tok2", "value": "because"}},
    {"type": 18, "component": {"type": 3, "custom_id": "tok3", "values": ["x"]}},
    {"type": 18, "component": {"type": 23, "custom_id": "tok4", "value": True}},
]
PRESSES: dict[str, tuple[dict[str, Any], str, dict[str, Any]]] = {
    "a button": (interaction(), "1300000000000000000", {}),
    "a menu": (
        interaction(data={"custom_id": "tok1#2", "component_type": 3, "values": ["a", "b"]}),
        "1300000000000000000",
        {"tok1": ["a", "b"]},
    ),
    "a form": (
        interaction(type=5, data={"custom_id": "tok1", "components": FIELDS}),
        "1300000000000000000",
        {"tok2": "because", "tok3": ["x"], "tok4": True},
    ),
    "a confirmation, which counts for the original message": (
        interaction(message={"id": "999"}, data={"custom_id": "tok1#ok:130"}),
        "130",
        {},
    ),
}


@pytest.mark.parametrize(("data", "target", "values"), PRESSES.values(), ids=PRESSES)
def test_a_press_has_its_user_token_message_and_values(
    data: dict[str, Any], target: str, values: dict[str, Any]
) -> None:
    (event,) = decode(raw(data, "INTERACTION_CREATE"))

    assert isinstance(event, ActionPressed)
    assert (event.target, event.token, event.actor) == (target, "tok1", ANN_ID)
    assert event.values == values


def test_a_command_has_its_user_text_and_interaction_id() -> None:
    options = [{"type": 3, "name": "command", "value": "block <@42>"}]
    data = {"id": "9", "name": "bridge", "type": 1, "options": options}

    (event,) = decode(raw(interaction(type=2, data=data), "INTERACTION_CREATE"))

    assert isinstance(event, CommandGiven)
    assert (event.command, event.actor, event.answers) == ("/bridge", ANN_ID, "77")
    assert event.place.channel.channel == CHANNEL
    assert mentioned_actors(event.text) == (f"discord:{GUILD}:42",)


@pytest.mark.parametrize(
    "options",
    [None, [], ["x"], [{"value": 7}], {"a": 1}],
    ids=["none", "an empty list", "a string", "a number", "an object"],
)
def test_a_command_without_text_has_an_empty_text(options: object) -> None:
    command = interaction(type=2, data={"id": "9", "name": "bridge", "options": options})

    (event,) = decode(raw(command, "INTERACTION_CREATE"))

    assert isinstance(event, CommandGiven)
    assert event.text == ""


def test_an_interaction_of_another_type_is_kept_unknown() -> None:
    (event,) = decode(raw(interaction(type=4), "INTERACTION_CREATE"))

    assert isinstance(event, Unknown)


def test_link_previews_are_not_repeated() -> None:
    preview = {"type": "link", "title": "X", "url": "https://x.yz"}

    event = posted(message("https://x.yz", embeds=[preview]))

    link = Link("https://x.yz", (Text("https://x.yz"),))
    assert markdown_to_text(text(event)) == (Paragraph((link,)),)


def test_an_edit_has_the_whole_new_message() -> None:
    edited = message("new", edited_timestamp="2024-10-27T12:05:00+00:00")

    (event,) = decode(raw(edited, "MESSAGE_UPDATE"))

    assert isinstance(event, MessageEdited)
    assert (event.target, event.actor, text(event)) == ("1300000000000000000", ANN_ID, "new")
    assert event.edited_at == event.time == datetime(2024, 10, 27, 12, 5, tzinfo=UTC)


IGNORED: dict[str, tuple[str, dict[str, Any]]] = {
    "an unfurl": ("MESSAGE_UPDATE", message("same, unfurled")),
    "an update of embeds alone": (
        "MESSAGE_UPDATE",
        {"id": "1", "channel_id": CHANNEL, "embeds": []},
    ),
    "a thread starter": ("MESSAGE_CREATE", message("", type=21)),
    "the note of a new thread": ("MESSAGE_CREATE", message("", type=18)),
    "the note of a boost": ("MESSAGE_CREATE", message("", type=8)),
    "an old thread that became visible": (
        "THREAD_CREATE",
        {"id": THREAD, "parent_id": CHANNEL, "name": "t"},
    ),
}


@pytest.mark.parametrize(("kind", "data"), IGNORED.values(), ids=IGNORED)
def test_irrelevant_dispatches_are_ignored(kind: str, data: dict[str, Any]) -> None:
    (event,) = decode(raw(data, kind))

    assert isinstance(event, Ignored)


def test_an_unknown_message_type_gives_an_unknown_event() -> None:
    (event,) = decode(raw(message("?", type=99)))

    assert event == Unknown(account=ACCOUNT, place=HERE, time=SAID, kind="message type 99")


IN_CHANNEL = {"channel_id": CHANNEL, "guild_id": GUILD}
THUMB = {"message_id": "12", "user_id": ANN, "emoji": {"id": None, "name": "👍"}} | IN_CHANNEL
OTHERS: list[tuple[str, dict[str, Any], Event]] = [
    ("MESSAGE_DELETE", {"id": "12"} | IN_CHANNEL,
     MessageDeleted(**ON_MESSAGE, actor=NOBODY, target="12")),
    ("MESSAGE_DELETE_BULK", {"ids": ["12", "13"]} | IN_CHANNEL,
     MessagesBulkDeleted(**ON_MESSAGE, actor=NOBODY, targets=("12", "13"))),
    ("THREAD_DELETE", {"id": "77", "parent_id": CHANNEL, "guild_id": GUILD, "type": 11},
     ThreadDeleted(account=ACCOUNT, place=Place(channel=HERE.channel, thread="77"), time=AT,
                   actor=NOBODY)),
    ("MESSAGE_REACTION_ADD", THUMB,
     ReactionAdded(**ON_MESSAGE, actor=ANN_ID, target="12", emoji="👍")),
    ("MESSAGE_REACTION_REMOVE", THUMB | {"emoji": {"id": "9", "name": "party"}},
     ReactionRemoved(**ON_MESSAGE, actor=ANN_ID, target="12", emoji=":party:")),
    ("MESSAGE_REACTION_REMOVE_ALL", {"message_id": "12"} | IN_CHANNEL,
     ReactionsCleared(**ON_MESSAGE, actor=NOBODY, target="12")),
    ("MESSAGE_REACTION_REMOVE_EMOJI",
     {"message_id": "12", "emoji": {"id": None, "name": "👍"}} | IN_CHANNEL,
     ReactionsCleared(**ON_MESSAGE, actor=NOBODY, target="12", emoji="👍")),
    ("CHANNEL_CREATE", {"id": CHANNEL, "name": "new"}, ChannelCreated(**ON_MESSAGE, name="new")),
    ("CHANNEL_UPDATE", {"id": CHANNEL, "name": "new"},
     Ignored(**ON_MESSAGE, reason="neither its name nor its topic changed")),
    ("CHANNEL_DELETE", {"id": CHANNEL, "name": "old"},
     ChannelClosed(**ON_MESSAGE, reason="the channel was deleted")),
    ("GUILD_BAN_ADD", {"user": user()}, Unknown(**ON_MESSAGE, kind="GUILD_BAN_ADD")),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "data", "event"), OTHERS, ids=[kind for kind, _, _ in OTHERS])
def test_each_dispatch_becomes_its_event(kind: str, data: dict[str, Any], event: Event) -> None:
    assert decode(raw(data, kind)) == [event]


def test_an_update_gives_the_changed_name_and_topic() -> None:
    channel = {"id": CHANNEL, "name": "plans", "topic": f"**Friday** with <@&{THREAD}>"}
    changed: dict[str, Any] = {"changed": ["name", "topic"], "names": {THREAD: "crew"}}
    thread = {"id": THREAD, "parent_id": CHANNEL, "name": "Where?"}

    assert decode(raw(channel, "CHANNEL_UPDATE", **changed)) == [
        ChannelRenamed(**ON_MESSAGE, name="plans"),
        TopicChanged(
            **ON_MESSAGE,
            topic=f"**Friday** with [@crew](uacs:group/discord:{GUILD}:{THREAD})",
        ),
    ]
    (renamed,) = decode(raw(thread, "THREAD_UPDATE", changed=["name"]))
    assert isinstance(renamed, ChannelRenamed)
    assert (renamed.place, renamed.name) == (Place(channel=WHERE, thread=THREAD), "Where?")


def test_a_closed_poll_gives_its_counts_in_answer_order() -> None:
    answers = [("Pizza", "🍕"), ("Soup", None), ("Salad", None)]
    poll = {
        "question": {"text": "Lunch?"},
        "answers": [
            {"answer_id": n, "poll_media": {"text": text, "emoji": emoji and {"name": emoji}}}
            for n, (text, emoji) in enumerate(answers, 1)
        ],
        "results": {"is_finalized": True, "answer_counts": [
            {"id": 3, "count": 4, "me_voted": False}, {"id": 1, "count": 1, "me_voted": False},
        ]},
    }  # fmt: skip

    (event,) = decode(raw(message("", poll=poll), "MESSAGE_UPDATE"))

    assert isinstance(event, PollEnded)
    assert (event.target, event.counts) == (
        "1300000000000000000",
        (("🍕 Pizza", 1), ("Soup", 0), ("Salad", 4)),
    )


def test_an_ephemeral_message_has_its_requester_as_audience() -> None:
    metadata = {"interaction_metadata": {"id": "1", "type": 2, "user": user("77")}, "flags": 64}

    assert posted(message("psst", **metadata)).audience == (ActorId(f"discord:{GUILD}:77"),)
    assert posted(message("aloud")).audience is None


def test_a_server_join_is_a_join_of_the_system_channel() -> None:
    (event,) = decode(raw(message("", type=7)))

    assert isinstance(event, MemberJoined)
    assert event.person is not None
    assert (event.actor, event.person.name) == (event.person.id, "Annie")


def test_a_forum_post_has_its_title_and_its_thread_event_is_ignored() -> None:
    first = message("the first words", id=THREAD, channel_id=THREAD)
    thread_data = {
        "id": THREAD,
        "parent_id": CHANNEL,
        "name": "t",
        "owner_id": ANN,
        "newly_created": True,
    }

    (event,) = decode(raw(first, title="Ideas *for* lunch"))
    (thread,) = decode(raw(thread_data, "THREAD_CREATE", forum=True))

    assert isinstance(event, MessagePosted)
    (text,) = event.message.content
    assert isinstance(text, TextPart)
    assert text.text == "## Ideas \\*for\\* lunch\n\nthe first words"
    assert event.place == Place(channel=WHERE)
    assert isinstance(thread, Ignored)


@pytest.mark.parametrize(("owner", "own"), [(ANN, False), (US, True)], ids=["a person", "us"])
def test_a_new_thread_has_its_root_and_may_be_our_own(owner: str, own: bool) -> None:
    data = {"id": THREAD, "parent_id": CHANNEL, "name": "t", "newly_created": True}

    (event,) = decode(raw(data | {"owner_id": owner}, "THREAD_CREATE"))

    assert isinstance(event, ThreadStarted)
    assert (event.place, event.root, event.name, event.own) == (
        Place(channel=WHERE, thread=THREAD), THREAD, "t", own,
    )  # fmt: skip


BROKEN: dict[str, Any] = {
    "null": None,
    "a number": 3,
    "a list": [],
    "an empty object": {},
    "an empty dispatch": {"d": {}},
    "an id of letters": message(id="x"),
    "an id that is a number": message(id=5),
    "an id that is too long": message(id="9" * 40),
    "no author": message(author=None),
    "an author with a negative id": message(author=user("-1")),
    "an invalid time": message(timestamp="yesterday"),
    "content in a list": message(content=["a"]),
    "mentions in an object": message(mentions={"a": 1}),
    "embed fields that are a number": message(embeds=[{"fields": 3}]),
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN)
def test_malformed_payloads_are_undecodable(data: Any) -> None:
    with pytest.raises(UndecodableEvent, match="MESSAGE_CREATE"):
        decode(raw(data))


def test_a_payload_without_a_channel_is_undecodable() -> None:
    with pytest.raises(UndecodableEvent, match="names no channel"):
        decode(raw(message(), channel=None))


def test_every_corpus_payload_is_decoded_or_undecodable() -> None:
    corpus = os.environ.get("UACS_CORPUS")
    if not corpus:
        pytest.skip("UACS_CORPUS names no folder of recorded payloads")
    folders = [Path(corpus) / "discord" / name for name in ("events", "messages")]
    files = [file for folder in folders for file in sorted(folder.glob("*.json"))]
    outcomes: dict[str, int] = {}

    for file in files:
        payload = orjson.loads(file.read_bytes())
        inner = payload.get("d", payload) if isinstance(payload, dict) else payload
        for kind in KINDS:
            outcome = _outcome(raw(inner, kind))
            outcomes[outcome] = outcomes.get(outcome, 0) + 1

    assert len(files) > 100
    assert outcomes["MessagePosted"] >= 3, outcomes


def _outcome(raw_event: Raw) -> str:
    try:
        (event,) = decode(raw_event)
    except UndecodableEvent:
        return "undecodable"
    return type(event).__name__
