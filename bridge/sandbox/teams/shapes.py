"""The tenant's state -> JSON: activities for bots, answers of the connector, what people see."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

import orjson

from bridge.sandbox.feed import Shown
from bridge.sandbox.teams.state import (
    THREAD_MARK,
    Bot,
    Conversation,
    Json,
    Message,
    Person,
    Team,
    Tenant,
)
from bridge.sandbox.teams.text import Typed, readable

_CLIENT = {"locale": "en-US", "country": "US", "platform": "Web", "timezone": "Etc/UTC"}


def message_activity(
    tenant: Tenant, message: Message, said: Typed, bot: Bot, service_url: str
) -> Json:
    """A person's message as Teams posts it to a bot."""
    activity = _activity("message", message.id, _time(message), tenant, bot, service_url)
    conversation = message.conversation
    activity |= {
        "text": said.text,
        "textFormat": "plain",
        "attachments": [{"contentType": "text/html", "content": said.html}],
        "from": _account(message.author),
        "conversation": _conversation(tenant, conversation, message.root or message.id),
        "entities": [*said.mentions, {"type": "clientInfo", **_CLIENT}],
        "channelData": _channel_data(tenant, conversation),
        "locale": "en-US",
        "localTimezone": "Etc/UTC",
    }
    # Documented as not guaranteed; the chain is named by `conversation.id`.
    return activity | ({"replyToId": message.root} if message.root else {})


def members_added(
    tenant: Tenant, where: Conversation, by: Person, bot: Bot, url: str, now: float
) -> Json:
    """conversationUpdate: the bot was added to the team or chat (`where`: General for a team)."""
    return _event(tenant, "conversationUpdate", where, by, bot, url, now) | {
        "membersAdded": [{"id": bot.id}],
        "channelData": _team_data(tenant, where) | {"eventType": "teamMemberAdded"},
    }


def channel_created(
    tenant: Tenant, channel: Conversation, by: Person, bot: Bot, url: str, now: float
) -> Json:
    """conversationUpdate: a channel was created in a team that the bot is in."""
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
    """installationUpdate: the app was installed (`add`) or removed (`remove`)."""
    data = _team_data(tenant, where)
    if where.kind == "channel":
        data |= {"settings": {"selectedChannel": {"id": where.id}}, "channel": {"id": where.id}}
    event = _event(tenant, "installationUpdate", where, by, bot, url, now)
    return event | {"action": action, "channelData": data | {"source": {"name": "message"}}}


def member(tenant: Tenant, person: Person) -> Json:
    given, _, surname = person.name.partition(" ")
    return {
        "id": person.id,
        "name": person.name,
        "aadObjectId": person.aad_id,
        "givenName": given,
        "surname": surname,
        "email": person.email,
        "userPrincipalName": person.email,
        "tenantId": tenant.id,
        "userRole": "user",
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
            {"id": c.id, "name": None if c.id == team.id else c.name, "type": "standard"}
            for c in team.channels
        ]
    }


def shown(tenant: Tenant, message: Message) -> Shown:
    author = message.author
    sent = orjson.loads(message.sent) if message.sent else {"type": "message", "text": message.text}
    return Shown(
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
        raw=sent | {"id": message.id},
    )


def _activity(kind: str, own_id: str, time: str, tenant: Tenant, bot: Bot, url: str) -> Json:
    return {
        "type": kind,
        "id": own_id,
        "timestamp": time,
        "localTimestamp": time.removesuffix("Z") + "+00:00",
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


def rfc3339(seconds: float) -> str:
    moment = datetime.fromtimestamp(seconds, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"
