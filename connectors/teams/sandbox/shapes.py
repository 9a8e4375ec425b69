"""The tenant's state -> JSON: activities for bots, responses of the connector, views of people."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from hashlib import sha256
from html import escape
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import orjson

from bridge.sandbox.feed import LocalMessage
from connectors.teams.sandbox.cards.checks import ADAPTIVE, DOWNLOAD_INFO
from connectors.teams.sandbox.reactions import reaction_emoji
from connectors.teams.sandbox.state import (
    THREAD_MARK,
    Bot,
    Conversation,
    Json,
    Message,
    Person,
    SharedFile,
    Team,
    Tenant,
    rfc3339,
)
from connectors.teams.sandbox.text import Typed, readable

if TYPE_CHECKING:
    from connectors.teams.sandbox.drive import Drive

_PAGE_SECONDS = 24 * 3600  # seconds of validity of addresses in views of people
_PICTURE_KIND = "http://schema.skype.com/AMSImage"
_CLIENT = {"locale": "en-US", "country": "US", "platform": "Web", "timezone": "Etc/UTC"}


def message_activity(
    tenant: Tenant, message: Message, typed_text: Typed, bot: Bot, service_url: str, drive: Drive
) -> Json:
    """Return a person's message as Teams posts it to a bot."""
    activity = _activity("message", message.id, _time(message), tenant, bot, service_url)
    conversation = message.conversation
    activity |= {
        "text": typed_text.text,
        "textFormat": "plain",
        "attachments": [{"contentType": "text/html", "content": typed_text.html}],
        "from": _account(message.author),
        "conversation": _conversation(tenant, conversation, message.root or message.id),
        "entities": [*typed_text.mentions, {"type": "clientInfo", **_CLIENT}],
        "channelData": _channel_data(tenant, conversation),
        "locale": "en-US",
        "localTimezone": "Etc/UTC",
    }
    if message.files:
        activity["attachments"] = _files(message, typed_text, service_url, drive)
        if not message.text:
            del activity["text"]
    # The documentation does not guarantee it; `conversation.id` names the reply chain.
    return activity | ({"replyToId": message.root} if message.root else {})


def message_edited(activity: Json, now: float) -> Json:
    """Return messageUpdate: the message after an edit of its author."""
    data = activity["channelData"] | {"eventType": "editMessage"}
    return activity | {"type": "messageUpdate", **_times(rfc3339(now)), "channelData": data}


def message_deleted(
    tenant: Tenant, message: Message, bot: Bot, service_url: str, now: float
) -> Json:
    """Return messageDelete: a deleted message, without its text."""
    activity = _activity("messageDelete", message.id, rfc3339(now), tenant, bot, service_url)
    conversation = message.conversation
    activity |= {
        "from": _account(message.author),
        "conversation": _conversation(tenant, conversation, message.root or message.id),
        "entities": [{"type": "clientInfo", **_CLIENT}],
        "channelData": _channel_data(tenant, conversation) | {"eventType": "softDeleteMessage"},
        "locale": "en-US",
        "localTimezone": "Etc/UTC",
    }
    return activity | ({"replyToId": message.root} if message.root else {})


def message_reaction(
    tenant: Tenant, message: Message, by: Person, bot: Bot, url: str, now: float, kind: str,
    *, added: bool,
) -> Json:  # fmt: skip
    """Return messageReaction: a person added or removed a reaction to a message of the bot."""
    activity = _activity("messageReaction", f"f:{uuid4()}", rfc3339(now), tenant, bot, url)
    return activity | {
        "from": {"id": by.id, "aadObjectId": by.aad_id},
        "conversation": _conversation(tenant, message.conversation, message.root or message.id),
        "channelData": _channel_data(tenant, message.conversation)
        | {"legacy": {"replyToId": _legacy_id(message.id)}},
        "replyToId": message.id,
        ("reactionsAdded" if added else "reactionsRemoved"): [{"type": kind}],
    }


def typing(
    tenant: Tenant, conversation: Conversation, by: Person, bot: Bot, url: str, now: float
) -> Json:
    """Return typing: a person types in the chat with the bot."""
    activity = _activity("typing", f"f:{uuid4()}", rfc3339(now), tenant, bot, url)
    return activity | {
        "from": _account(by),
        "conversation": _conversation(tenant, conversation, None),
        "channelData": {"tenant": {"id": tenant.id}},
    }


def card_pressed(
    tenant: Tenant, card: Message, by: Person, bot: Bot, url: str, now: float, more: Json
) -> Json:
    """Return the activity of a press on a card: a message without text, or an invoke."""
    own_id = f"f:{uuid4()}"
    activity = _activity("message", own_id, rfc3339(now), tenant, bot, url) | {
        "from": _account(by),
        "conversation": _conversation(tenant, card.conversation, card.root or card.id),
        "entities": [{"type": "clientInfo", **_CLIENT}],
        "channelData": _channel_data(tenant, card.conversation)
        | {"source": {"name": "message"}, "legacy": {"replyToId": _legacy_id(card.id)}},
        "replyToId": card.id,
        "locale": "en-US",
        "localTimezone": "Etc/UTC",
    }
    return activity | more


def members_added(
    tenant: Tenant, where: Conversation, by: Person, bot: Bot, url: str, now: float
) -> Json:
    """Return conversationUpdate: the bot was added to a team (`where`: its General) or chat."""
    return _event(tenant, "conversationUpdate", where, by, bot, url, now) | {
        "membersAdded": [{"id": bot.id}],
        "channelData": _team_data(tenant, where) | {"eventType": "teamMemberAdded"},
    }


def people_changed(
    tenant: Tenant, where: Conversation, by: Person, bot: Bot, url: str, now: float, joined: bool
) -> Json:
    """Return conversationUpdate: a person joined or left; for a team, in its General channel."""
    place = where.team.channels[0] if where.team else where
    data = _team_data(tenant, place)
    if where.team:
        data["eventType"] = "teamMemberAdded" if joined else "teamMemberRemoved"
    accounts = [{"id": by.id, "aadObjectId": by.aad_id}]
    return _event(tenant, "conversationUpdate", place, by, bot, url, now) | {
        "membersAdded" if joined else "membersRemoved": accounts, "channelData": data,
    }  # fmt: skip


def conversation_renamed(
    tenant: Tenant, where: Conversation, by: Person, bot: Bot, url: str, now: float
) -> Json:
    """Return conversationUpdate: a channel (in its team's General) or group chat was renamed."""
    if where.team is None:
        event = _event(tenant, "conversationUpdate", where, by, bot, url, now)
        return event | {"topicName": where.name, "channelData": _team_data(tenant, where)}
    general = where.team.channels[0]
    changed = {"channel": {"id": where.id, "name": where.name}, "eventType": "channelRenamed"}
    event = _event(tenant, "conversationUpdate", general, by, bot, url, now)
    return event | {"channelData": _team_data(tenant, general) | changed}


def channel_created(
    tenant: Tenant, channel: Conversation, by: Person, bot: Bot, url: str, now: float
) -> Json:
    """Return conversationUpdate: a channel was created in a team of the bot."""
    team = channel.team
    general = team.channels[0] if team else channel
    created = {"id": channel.id, "name": channel.name}
    return _event(tenant, "conversationUpdate", general, by, bot, url, now) | {
        "channelData": _team_data(tenant, general)
        | {"channel": created, "eventType": "channelCreated"},
    }


def installation_update(
    tenant: Tenant, where: Conversation, by: Person, bot: Bot, url: str, now: float, action: str
) -> Json:
    """Return installationUpdate: the app was installed (`add`) or removed (`remove`)."""
    data = _team_data(tenant, where)
    if where.kind == "channel":
        data |= {"settings": {"selectedChannel": {"id": where.id}}, "channel": {"id": where.id}}
    event = _event(tenant, "installationUpdate", where, by, bot, url, now)
    return event | {"action": action, "channelData": data | {"source": {"name": "message"}}}


def member(tenant: Tenant, person: Person) -> Json:
    given_name, _, surname = person.name.partition(" ")
    return {
        "id": person.id,
        "name": person.name,
        "aadObjectId": person.aad_id,
        "givenName": given_name,
        "surname": surname,
        "email": person.email,
        "userPrincipalName": person.email,
        "tenantId": tenant.id,
        "userRole": "guest" if person.guest else "user",
    }


def team_details(tenant: Tenant, team: Team) -> Json:
    return {
        "id": team.id,
        "name": team.name,
        "aadGroupId": team.aad_group_id,
        "tenantId": tenant.id,
        "type": "standard",
        "channelCount": len(team.channels),
        "memberCount": len(team.people),
    }


def team_channels(team: Team) -> Json:
    # Teams names General null, so that clients can translate the word (docs, get-teams-context).
    return {
        "conversations": [
            {"id": c.id, "name": None if c.id == team.id else c.name, "type": c.membership}
            for c in team.channels
        ]
    }


def to_shown(tenant: Tenant, message: Message, drive: Drive, viewer: str = "") -> LocalMessage:
    """Return a message as people see it; `viewer` is the id of a person who may see own cards."""
    author = message.author
    raw: Json = (
        seen_activity(message, viewer)
        if message.sent
        else {"type": "message", "text": message.text}
    )
    if message.files:
        raw["attachments"] = [_open_file(file, drive) for file in message.files]
    return LocalMessage(
        platform="teams",
        workspace=tenant.id,
        channel=message.conversation.id,
        thread=message.root,
        id=message.id,
        author=author.name,
        author_id=author.id,
        bot=isinstance(author, Bot),
        text=readable(message.text, message.text_format) if message.sent else message.text,
        time=_time(message),
        edited=message.edited,
        reactions={
            reaction_emoji(kind): tuple(actor.id for actor in reactors)
            for kind, reactors in message.reactions.items()
        },
        pinned=message.pinned,
        raw=raw | {"id": message.id},
    )


def seen_activity(message: Message, viewer: str = "") -> Json:
    """Return a bot's activity as one person sees it."""
    activity: Json = orjson.loads(message.sent) if message.sent else {}
    for (person, number), card in message.views.items():
        if person == viewer and number < len(activity.get("attachments") or []):
            activity["attachments"][number] = {"contentType": ADAPTIVE, "content": card}
    return activity


def _files(message: Message, typed_text: Typed, service_url: str, drive: Drive) -> list[Json]:
    """Return the attachments: pictures, documents in personal chats, and the HTML.

    Elsewhere documents are only tags in the HTML.
    """
    pictures = [file for file in message.files if file.is_picture]
    documents = [file for file in message.files if not file.is_picture]
    personal = message.conversation.kind == "personal"
    html = typed_text.html.removesuffix("\n</div>") if message.text else "<div>"
    html += "".join(f"<div>{_picture_html(file)}</div>" for file in pictures) + "\n</div>"
    if not personal:
        html += "".join(f'<attachment id="{file.id.lower()}"></attachment>' for file in documents)
    attachments: list[Json] = [
        {
            "contentType": "image/*",
            "contentUrl": f"{service_url}v3/attachments/{file.id}/views/original",
        }
        for file in pictures
    ]
    attachments += [_download_info(file, drive) for file in documents if personal]
    return [*attachments, {"contentType": "text/html", "content": html}]


def _picture_html(file: SharedFile) -> str:
    width, height = file.dimensions or (0, 0)
    source = f"https://us-api.asm.skype.com/v1/objects/{file.id}/views/imgo"
    size = f' style="width:{width}px; height:{height}px"' if width else ""
    words = escape(file.alt or "image")
    return (
        f'<img alt="{words}" itemscope="image" itemtype="{_PICTURE_KIND}" src="{source}"'
        f' id="x_{file.id}"{size}>'
    )


def _download_info(file: SharedFile, drive: Drive) -> Json:
    return {
        "contentType": DOWNLOAD_INFO,
        "contentUrl": drive.content_url(file),
        "name": file.name,
        "content": {
            "downloadUrl": drive.download_url(file),
            "uniqueId": file.id,
            "fileType": file.file_type,
        },
    }


def _open_file(file: SharedFile, drive: Drive) -> Json:
    """Return a file for the view of people; its address needs no sign-in."""
    url = drive.download_url(file, _PAGE_SECONDS)
    shape: dict[str, Any] = {
        "contentType": file.content_type, "contentUrl": url, "name": file.name,
    }  # fmt: skip
    return shape | ({"alt": file.alt} if file.alt else {})


def _activity(kind: str, own_id: str, time: str, tenant: Tenant, bot: Bot, url: str) -> Json:
    return {
        "type": kind,
        "id": own_id,
        **_times(time),
        "serviceUrl": url,
        "channelId": "msteams",
        "recipient": {"id": bot.id, "name": bot.name},
    }


def _event(
    tenant: Tenant, kind: str, where: Conversation, by: Person, bot: Bot, url: str, now: float
) -> Json:
    return _activity(kind, f"f:{uuid4()}", rfc3339(now), tenant, bot, url) | {
        "from": {"id": by.id, "aadObjectId": by.aad_id},
        "conversation": _conversation(tenant, where, None),
        "entities": [{"type": "clientInfo", "locale": "en-US"}],
        "locale": "en-US",
    }


def _times(time: str) -> Json:
    return {"timestamp": time, "localTimestamp": time.removesuffix("Z") + "+00:00"}


def _legacy_id(own_id: str) -> str:
    digest = sha256(f"legacy {own_id}".encode()).digest()
    return "1:1" + urlsafe_b64encode(digest).decode().rstrip("=")


def _account(author: Person | Bot) -> Json:
    account = {"id": author.id, "name": author.name}
    return account | ({"aadObjectId": author.aad_id} if isinstance(author, Person) else {})


def _conversation(tenant: Tenant, conversation: Conversation, root: str | None) -> Json:
    shape: Json = {"conversationType": conversation.kind, "tenantId": tenant.id}
    if conversation.kind == "personal":
        return shape | {"id": conversation.id}
    chain = f"{THREAD_MARK}{root}" if root and conversation.kind == "channel" else ""
    return {"isGroup": True, "id": conversation.id + chain} | shape


def _channel_data(tenant: Tenant, conversation: Conversation) -> Json:
    if not (team := conversation.team):
        return {"tenant": {"id": tenant.id}}
    return {
        "teamsChannelId": conversation.id,
        "teamsTeamId": team.id,
        "channel": {"id": conversation.id, "name": conversation.name},
        "team": {"id": team.id, "name": team.name, "aadGroupId": team.aad_group_id},
        "tenant": {"id": tenant.id},
    }


def _team_data(tenant: Tenant, where: Conversation) -> Json:
    if not (team := where.team):
        return {"tenant": {"id": tenant.id}}
    named = {"id": team.id, "name": team.name, "aadGroupId": team.aad_group_id}
    return {"team": named, "tenant": {"id": tenant.id}}


def _time(message: Message) -> str:
    return rfc3339(int(message.id) / 1000)
