"""Bot Framework activity JSON -> UACS events. Pure: no network, no clock, no SDK."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import repeat

from bridge.content.cards.reader import is_rich
from bridge.content.messages.metadata import with_bridge_metadata
from bridge.content.text.tree import (
    Block,
    Break,
    ChannelLink,
    Document,
    Inline,
    Mention,
    Paragraph,
    Text,
)
from bridge.errors import InvalidUacs, UndecodableEvent
from bridge.model import (
    ActorId,
    ChannelClosed,
    ChannelCreated,
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
from bridge.uacs import Actor, Message, to_timestamp
from connectors.teams import ids
from connectors.teams.activity import (
    Activity,
    BotIdentity,
    Json,
    is_installation,
    object_of,
    objects,
    parse_activity,
    string,
)
from connectors.teams.content import message_content, origin_of
from connectors.teams.emoji import reaction_to_emoji
from connectors.teams.feedback import feedback_in, is_feedback
from connectors.teams.presses import is_press, press_event
from connectors.teams.text import ReadHtml, html_to_text

_MAX_HTML = 256 * 1024  # characters; of longer HTML the plain text beside it is read


def decode(raw: Raw, identity: BotIdentity) -> Sequence[Event]:
    """Return the events of one activity. Raises only UndecodableEvent."""
    return decode_activity(parse_activity(raw.payload), identity)


def decode_activity(json: Json, identity: BotIdentity) -> Sequence[Event]:
    """Return the events of a parsed activity. Raises only UndecodableEvent."""
    activity = Activity(json, identity)
    try:
        return _DECODERS.get(activity.type, _unknown_event)(activity)
    except InvalidUacs as error:
        raise UndecodableEvent(f"{activity!r}: {error}") from error


# --- messages ---------------------------------------------------
def _decode_post(activity: Activity) -> Sequence[Event]:
    if is_press(activity.json):
        return _decode_press(activity)
    author = activity.person(activity.author)
    text, mentions_bot = _read_message(activity)
    own_id = _needed_id(activity)
    return [
        MessagePosted(
            **activity.event_fields(own_id),
            native_id=own_id,
            message=_message(activity, author, text, own_id),
            author=author,
            reply_to=text.reply_to,
            addresses_us=mentions_bot or _is_personal(activity),
            own=ids.is_own_account(string(activity.author, "id"), activity.identity.app_id),
        )
    ]


def _decode_edit(activity: Activity) -> Sequence[Event]:
    """Decode an edit, or an undone deletion: both carry the whole message."""
    author = activity.person(activity.author)
    text, _mentions_bot = _read_message(activity)
    own_id = _needed_id(activity)
    return [
        MessageEdited(
            **activity.event_fields(own_id),
            actor=author.id,
            target=own_id,
            message=_message(activity, author, text, own_id),
            edited_at=activity.time(),
            own=ids.is_own_account(string(activity.author, "id"), activity.identity.app_id),
        )
    ]


def _decode_deletion(activity: Activity) -> Sequence[Event]:
    own_id = _needed_id(activity)
    return [MessageDeleted(**activity.event_fields(own_id), actor=activity.actor(), target=own_id)]


def _needed_id(activity: Activity) -> str:
    if not activity.id:
        raise UndecodableEvent(f"An activity of type {activity.type!r} has no id")
    return activity.id


def _is_personal(activity: Activity) -> bool:
    return string(object_of(activity.json, "conversation"), "conversationType") == "personal"


def _decode_invoke(activity: Activity) -> Sequence[Event]:
    if is_feedback(activity.json):
        judged = feedback_in(activity)
        return [judged] if judged is not None else _unknown_event(activity)
    return _decode_press(activity) if is_press(activity.json) else _unknown_event(activity)


def _decode_press(activity: Activity) -> Sequence[Event]:
    event = press_event(activity)
    return [event] if event is not None else _unknown_event(activity)


def _message(activity: Activity, author: Person, text: ReadHtml, own_id: str) -> Message:
    posted_at = ids.milliseconds_of(own_id)
    time = datetime.fromtimestamp(posted_at / 1000, UTC) if posted_at else activity.time()
    role = "assistant" if author.bot else "human"
    document = (*text.document, *_missing_files(activity.json))
    content = message_content(activity.json, document, activity.tenant)
    message = Message(
        message_id=message_id_of(activity.place(own_id).channel, own_id),
        timestamp=to_timestamp(time),
        actor=Actor(id=author.id, role=role, name=author.name),
        content=content.parts,
    )
    if not is_rich(message):
        return message
    origin = origin_of(activity.conversation, own_id, activity.tenant)
    return with_bridge_metadata(message, content.additions.model_copy(update={"origin": origin}))


def _missing_files(json: Json) -> Document:
    """Return a line that counts the shared files which Teams does not send to apps.

    Files in a channel are only `<attachment>` tags in the HTML.
    """
    attached = [(string(o, "contentType").lower(), o) for o in objects(json, "attachments")]
    html = [
        string(attachment, "content")[:_MAX_HTML]
        for kind, attachment in attached
        if kind == "text/html"
    ]
    readable = sum(kind != "text/html" and not kind.startswith("image/") for kind, _ in attached)
    missing = sum(map(str.count, html, repeat("<attachment "))) - readable
    if missing < 1:
        return ()
    words = "[a file in Teams]" if missing == 1 else f"[{missing} files in Teams]"
    return (Paragraph((Text(words),)),)


def _read_message(activity: Activity) -> tuple[ReadHtml, bool]:
    """Return the text without a leading mention of the bot, and whether it mentions the bot."""
    mentions = _Mentions(activity)
    read = _read_text(activity, mentions)
    document = _without_first(read.document, mentions.own_actor) or read.document
    reply_to = read.reply_to or _quoted_message(activity)
    return ReadHtml(document, reply_to), mentions.mentions_bot


def _read_text(activity: Activity, mentions: _Mentions) -> ReadHtml:
    """Read the HTML attachment, which alone has the formatting; without one, read `text`."""
    for attachment in objects(activity.json, "attachments"):
        html = string(attachment, "content")
        is_html = string(attachment, "contentType").lower() == "text/html"
        if is_html and html.strip() and len(html) <= _MAX_HTML:
            read = html_to_text(html, mentions.by_number, _pictures(activity.json))
            if read.document or read.reply_to:
                return read
    text = string(activity.json, "text")
    if string(activity.json, "textFormat") == "xml":
        return html_to_text(text, mentions.by_number)
    return ReadHtml(_plain_document(text, mentions))


def _pictures(json: Json) -> int:
    """Return the number of attached pictures."""
    kinds = (
        string(attachment, "contentType").lower() for attachment in objects(json, "attachments")
    )
    return sum(kind.startswith("image/") for kind in kinds)


class _Mentions:
    """The mentions of one activity, found by the name in `<at>` tags or by number."""

    def __init__(self, activity: Activity) -> None:
        self._activity = activity
        entities = objects(activity.json, "entities")
        self._entities = [entity for entity in entities if string(entity, "type") == "mention"]
        self.own_actor = ids.actor_id(activity.tenant, ids.bot_account(activity.identity.app_id))
        self.mentions_bot = any(self._is_own(entity) for entity in self._entities)

    def by_number(self, number: str, name: str) -> Inline:
        if number.isascii() and number.isdigit() and len(number) < 4:
            index = int(number)
            if index < len(self._entities):
                return self._node(self._entities[index], name)
        return self.by_name(name)

    def by_name(self, name: str) -> Inline:
        for entity in self._entities:
            mentioned = string(object_of(entity, "mentioned"), "name")
            if name in (mentioned, _without_at_tag(string(entity, "text"))):
                return self._node(entity, name)
        return Text(f"@{name}")

    def _node(self, entity: Json, name: str) -> Inline:
        account = string(object_of(entity, "mentioned"), "id")
        name = name or string(object_of(entity, "mentioned"), "name") or account
        if not account:
            return Text(f"@{name}")
        if self._is_own(entity):
            return Mention(self.own_actor, name)
        if account.startswith("19:"):  # a channel or a team, by the id of its conversation
            return ChannelLink(ids.channel_ref(self._activity.tenant, account).key, name)
        return Mention(self._activity.actor_of(account), name)

    def _is_own(self, entity: Json) -> bool:
        account = string(object_of(entity, "mentioned"), "id")
        return bool(account) and ids.is_own_account(account, self._activity.identity.app_id)


def _without_at_tag(text: str) -> str:
    return text.removeprefix("<at>").removesuffix("</at>")


def _plain_document(text: str, mentions: _Mentions) -> Document:
    """Read plain text with `<at>Name</at>` tags; empty lines separate paragraphs."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("&nbsp;", " ")
    blocks: list[Block] = []
    for paragraph in text.split("\n\n"):
        inlines: list[Inline] = []
        for line in paragraph.strip("\n").split("\n"):
            inlines += [Break()] if inlines else []
            inlines += _plain_line(line, mentions)
        if any(
            (isinstance(inline, Text) and inline.value.strip())
            or not isinstance(inline, (Text, Break))
            for inline in inlines
        ):
            blocks.append(Paragraph(tuple(inlines)))
    return tuple(blocks)


def _plain_line(line: str, mentions: _Mentions) -> list[Inline]:
    inlines: list[Inline] = []
    while (start := line.find("<at>")) >= 0 and (end := line.find("</at>", start)) >= 0:
        inlines += [Text(line[:start]), mentions.by_name(line[start + 4 : end])]
        line = line[end + 5 :]
    return [inline for inline in (*inlines, Text(line)) if inline != Text("")]


def _without_first(document: Document, own_actor: ActorId) -> Document:
    """Remove mentions of the bot from the beginning: `addresses_us` carries them."""
    if not document or not isinstance(first := document[0], Paragraph):
        return document
    inlines = list(first.children)
    while inlines and isinstance(inlines[0], Mention) and inlines[0].actor == own_actor:
        del inlines[0]
        if inlines and isinstance(after := inlines[0], Text):
            value = after.value.lstrip(" \u00a0\t,:")
            inlines[:1] = [replace(after, value=value)] if value else []
        while inlines and isinstance(inlines[0], Break):
            del inlines[0]
    return (Paragraph(tuple(inlines)), *document[1:]) if inlines else document[1:]


def _quoted_message(activity: Activity) -> str | None:
    """Return the id in a `quotedReply` entity of newer clients (microsoft-teams-api 2.1)."""
    for entity in objects(activity.json, "entities"):
        if string(entity, "type") == "quotedReply":
            return string(object_of(entity, "quotedReply"), "messageId") or None
    return None


# --- reactions, members, channels -------------------------------


def _decode_reactions(activity: Activity) -> Sequence[Event]:
    target = string(activity.json, "replyToId")
    if not target:
        raise UndecodableEvent(f"Reaction {activity.id!r} does not name its message (replyToId)")
    common: Json = {
        **activity.event_fields(target),
        "actor": activity.actor(),
        "target": target,
        "own": ids.is_own_account(string(activity.author, "id"), activity.identity.app_id),
    }
    added = _reactions(activity, "reactionsAdded")
    removed = _reactions(activity, "reactionsRemoved")
    return [
        *(ReactionAdded(**common, emoji=reaction_to_emoji(name)) for name in added),
        *(ReactionRemoved(**common, emoji=reaction_to_emoji(name)) for name in removed),
    ] or _unknown_event(activity)


def _reactions(activity: Activity, key: str) -> list[str]:
    names = [string(reaction, "type") for reaction in objects(activity.json, key)]
    return [name for name in names if name]


def _decode_conversation_update(activity: Activity) -> Sequence[Event]:
    common = activity.event_fields()
    joined = objects(activity.json, "membersAdded")
    departed = objects(activity.json, "membersRemoved")
    events: list[Event] = [
        *(_member_joined(activity, common, member) for member in joined),
        *(_member_left(activity, common, member) for member in departed),
    ]
    return events or _decode_channel_change(activity, common)


def _member_joined(activity: Activity, common: Json, member: Json) -> Event:
    account = string(member, "id")
    if ids.is_own_account(account, activity.identity.app_id):
        return Ignored(**common, reason="our own join")
    person = activity.person(member) if string(member, "name") else None
    return MemberJoined(**common, actor=activity.actor_of(account), person=person)


def _member_left(activity: Activity, common: Json, member: Json) -> Event:
    account = string(member, "id")
    if ids.is_own_account(account, activity.identity.app_id):
        return ChannelClosed(**common, reason="the bot was removed")
    return MemberLeft(**common, actor=activity.actor_of(account))


def _decode_channel_change(activity: Activity, common: Json) -> Sequence[Event]:
    channel = object_of(activity.data, "channel")
    if own_id := string(channel, "id"):
        common = common | {"place": Place(channel=activity.about)}
    name = string(channel, "name")
    match string(activity.data, "eventType"):
        case "channelCreated" | "channelRestored" if own_id:
            return [ChannelCreated(**common, name=name)]
        case "channelRenamed" if own_id:
            return [ChannelRenamed(**common, name=name)]
        case "channelDeleted" if own_id:
            return [ChannelClosed(**common, reason="the channel was deleted")]
        case "teamDeleted" | "teamHardDeleted" | "teamArchived" as happened:
            return [ChannelClosed(**common, reason=f"the team was changed: {happened}")]
        case _:
            return _decode_chat_name(activity, common)


def _decode_chat_name(activity: Activity, common: Json) -> Sequence[Event]:
    """Decode `topicName`, the new name of a group chat."""
    if name := string(activity.json, "topicName"):
        return [ChannelRenamed(**common, name=name)]
    return _unknown_event(activity)


def _decode_typing(activity: Activity) -> Sequence[Event]:
    own = ids.is_own_account(string(activity.author, "id"), activity.identity.app_id)
    return [TypingStarted(**activity.event_fields(), actor=activity.actor(), own=own)]


def _decode_installation(activity: Activity) -> Sequence[Event]:
    """Decode an installation: the channels of its team are new to the bot."""
    if not is_installation(activity.json):
        return [Ignored(**activity.event_fields(), reason="the app was removed or upgraded")]
    conversation = object_of(activity.json, "conversation")
    return [ChannelCreated(**activity.event_fields(), name=string(conversation, "name"))]


def _unknown_event(activity: Activity) -> Sequence[Event]:
    happened = string(activity.json, "name") or string(activity.data, "eventType")
    kind = f"{activity.type or 'activity'}/{happened}" if happened else activity.type or "activity"
    return [Unknown(**activity.event_fields(), kind=kind)]


_DECODERS: dict[str, Callable[[Activity], Sequence[Event]]] = {
    "message": _decode_post,
    "messageUpdate": _decode_edit,
    "messageDelete": _decode_deletion,
    "messageReaction": _decode_reactions,
    "conversationUpdate": _decode_conversation_update,
    "installationUpdate": _decode_installation,
    "invoke": _decode_invoke,
    "typing": _decode_typing,
}
