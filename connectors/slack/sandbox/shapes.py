"""Workspace state -> Slack's JSON. Pure.

Shapes follow the samples of slackapi/java-slack-sdk `json-logs` and the bolt-python tests
(2026-08). The sandbox itself serves the pictures.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from bridge.content.text.emoji import emoji_of
from bridge.sandbox.feed import LocalMessage
from connectors.slack.sandbox.files import file_json
from connectors.slack.sandbox.state import App, Channel, Message, Person, Workspace, ts_of
from connectors.slack.sandbox.text import read_text

Json = dict[str, Any]
SLACKBOT = "USLACKBOT"
TOMBSTONE_TEXT = "This message was deleted."


def message_json(message: Message, team: str, *, metadata: bool = True) -> Json:
    """A message as in `conversations.history`, `chat.postMessage` and events."""
    if message.removed:
        return _tombstone(message)
    shape: Json = {"type": "message", "ts": message.ts, "text": message.text}
    shape |= _author(message, team)
    if message.subtype:
        shape["subtype"] = message.subtype
    if message.broadcast:
        shape["subtype"] = "thread_broadcast"
    shape |= message.facts or {}
    if message.client_msg_id:
        shape["client_msg_id"] = message.client_msg_id
    shape |= _rich_content(message)
    if message.edited_at is not None:
        shape["edited"] = {"user": message.edited_by, "ts": ts_of(message.edited_at)}
    if message.audience is not None:
        shape["is_ephemeral"] = True
    if metadata and message.metadata is not None:
        shape["metadata"] = message.metadata
    if message.thread is not None:
        shape["thread_ts"] = ts_of(message.thread)
    if message.replies:
        shape |= _thread_facts(message)
    if message.reactions:
        shape["reactions"] = [reaction_json(r.name, r.users) for r in message.reactions.values()]
    return shape


def _rich_content(message: Message) -> Json:
    """Blocks, attachments and files."""
    shape: Json = {}
    if message.blocks is not None:
        shape["blocks"] = message.blocks
    if message.attachments:
        shape["attachments"] = message.attachments
    if message.files:
        shape["files"] = [file_json(file) for file in message.files]
        shape |= {"upload": False, "display_as_bot": False}
    return shape


def _author(message: Message, team: str) -> Json:
    """The author fields; a post of an app under another name has no `user` and is a
    `bot_message`."""
    app = message.app
    if app is None:
        return {"user": message.user, "team": team}
    if message.username is not None or message.icons is not None:
        borrowed: Json = {"subtype": "bot_message", "bot_id": app.bot_id, "app_id": app.id}
        borrowed["username"] = message.username or app.name
        return borrowed | ({"icons": message.icons} if message.icons else {})
    return {
        "user": app.bot_user, "team": team, "bot_id": app.bot_id, "app_id": app.id,
        "bot_profile": bot_profile(app),
    }  # fmt: skip


def _thread_facts(message: Message) -> Json:
    return {
        "reply_count": len(message.replies),
        "reply_users_count": len(message.repliers),
        "latest_reply": ts_of(message.replies[-1]),
        "reply_users": list(message.repliers)[:5],
        "is_locked": message.locked,
        "subscribed": False,
    }


def _tombstone(message: Message) -> Json:
    return {
        "type": "message", "subtype": "tombstone", "user": SLACKBOT, "text": TOMBSTONE_TEXT,
        "hidden": True, "ts": message.ts, "thread_ts": message.ts, **_thread_facts(message),
    }  # fmt: skip


def reaction_json(name: str, users: list[str]) -> Json:
    return {"name": name, "users": list(users), "count": len(users)}


def bot_profile(app: App) -> Json:
    return {
        "id": app.bot_id, "app_id": app.id, "user_id": app.bot_user, "name": app.name,
        "icons": icons_of(app.picture), "deleted": False, "updated": app.updated,
        "team_id": app.team,
    }  # fmt: skip


def bot_json(app: App) -> Json:
    return {
        "id": app.bot_id, "deleted": False, "name": app.name, "updated": app.updated,
        "app_id": app.id, "user_id": app.bot_user, "icons": icons_of(app.picture),
    }  # fmt: skip


def icons_of(picture: str) -> Json:
    return {f"image_{size}": picture for size in (36, 48, 72)}


def person_json(person: Person, team: str, *, email: bool) -> Json:
    app = person.app
    shape: Json = {
        "id": person.id, "team_id": team, "name": person.handle, "deleted": False,
        "color": "4bbe2e", "real_name": person.name, "tz": "Etc/UTC",
        "tz_label": "Coordinated Universal Time", "tz_offset": 0,
        "profile": profile_json(person, team, email=email),
        "is_admin": False, "is_owner": False, "is_primary_owner": False,
        "is_restricted": person.guest, "is_ultra_restricted": False, "is_bot": app is not None,
        "is_app_user": False,
        "updated": person.updated, "is_email_confirmed": app is None,
        "who_can_share_contact_card": "EVERYONE",
    }  # fmt: skip
    return shape


def profile_json(person: Person, team: str, *, email: bool) -> Json:
    first, _, last = person.name.partition(" ")
    shape: Json = {
        "title": "", "phone": "", "skype": "", "real_name": person.name,
        "real_name_normalized": person.name, "display_name": "" if person.app else person.name,
        "display_name_normalized": "" if person.app else person.name, "fields": None,
        "status_text": "", "status_emoji": "", "status_emoji_display_info": [],
        "status_expiration": 0, "avatar_hash": person.id.lower(), "is_custom_image": True,
        "first_name": first, "last_name": last, "status_text_canonical": "", "team": team,
        "image_original": person.picture,
    }  # fmt: skip
    shape |= {f"image_{size}": person.picture for size in (24, 32, 48, 72, 192, 512, 1024)}
    if person.app:
        shape |= {"api_app_id": person.app.id, "bot_id": person.app.bot_id, "always_active": True}
    elif email and person.email:
        shape["email"] = person.email
    return shape


def channel_json(channel: Channel, viewer: App) -> Json:
    """A conversation as the app `viewer` sees it."""
    if channel.kind == "im":
        other = next((m for m in channel.members if m != viewer.bot_user), viewer.bot_user)
        return {
            "id": channel.id, "created": channel.created, "is_archived": channel.archived,
            "is_im": True, "is_org_shared": False, "context_team_id": channel.team,
            "updated": channel.created * 1000, "user": other, "is_user_deleted": False,
            "priority": 0, "is_open": True,
        }  # fmt: skip
    private = channel.kind == "group"
    return {
        "id": channel.id, "name": channel.name, "is_channel": not private, "is_group": private,
        "is_im": False, "is_mpim": False, "is_private": private, "created": channel.created,
        "is_archived": channel.archived, "is_general": channel.general, "unlinked": 0,
        "name_normalized": channel.name, "is_shared": channel.connected, "is_org_shared": False,
        "is_pending_ext_shared": False, "pending_shared": [], "is_ext_shared": channel.connected,
        "context_team_id": channel.team, "updated": channel.created * 1000,
        "parent_conversation": None, "creator": channel.creator,
        "shared_team_ids": [channel.team], "pending_connected_team_ids": [],
        "is_member": viewer.bot_user in channel.members,
        "topic": {"value": channel.topic, "creator": "", "last_set": 0},
        "purpose": {"value": channel.purpose, "creator": "", "last_set": 0},
        "previous_names": [], "num_members": len(channel.members),
    }  # fmt: skip


def to_shown(
    workspace: Workspace, channel: Channel, message: Message, raw: Json | None = None
) -> LocalMessage:
    """A message as a person in the workspace sees it."""
    speaker = workspace.people.get(message.user)
    return LocalMessage(
        platform="slack",
        workspace=workspace.id,
        channel=channel.id,
        thread=None if message.parent is None else ts_of(message.parent),
        id=message.ts,
        author=message.username or (speaker.name if speaker else message.user),
        author_id=message.app.bot_id if message.app else message.user,
        picture=_picture(message, speaker),
        bot=message.app is not None,
        text=TOMBSTONE_TEXT if message.removed else text_as_read(workspace, message.text),
        time=datetime.fromtimestamp(message.at / 1_000_000, UTC).isoformat(timespec="microseconds"),
        edited=message.edited_at is not None,
        reactions={
            _emoji(reaction.name): tuple(reaction.users) for reaction in message.reactions.values()
        },
        pinned=message.pinned_by is not None,
        raw=raw or message_json(message, workspace.id),
    )


def _emoji(name: str) -> str:
    return emoji_of(name) or f":{name}:"


def text_as_read(workspace: Workspace, text: str) -> str:
    """The text as people read it, with the names of people and channels."""

    def person(user: str) -> str | None:
        member = workspace.people.get(user)
        return member.name if member else None

    def channel(channel_id: str) -> str | None:
        place = workspace.channels.get(channel_id)
        return place.name if place else None

    return read_text(text, person, channel)


def _picture(message: Message, speaker: Person | None) -> str | None:
    if message.icons:
        return message.icons.get("image_72")
    return speaker.picture if speaker else None
