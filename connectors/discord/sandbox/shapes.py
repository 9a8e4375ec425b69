"""State -> the JSON objects of Discord's API v10. Pure."""

from __future__ import annotations

from typing import Any

from connectors.discord.sandbox.permissions import guild_permissions
from connectors.discord.sandbox.rich.polls import poll_json
from connectors.discord.sandbox.rich_shapes import rich_json
from connectors.discord.sandbox.snowflakes import made_at
from connectors.discord.sandbox.state import (
    App,
    Channel,
    ChannelType,
    Guild,
    Member,
    Message,
    MessageType,
    Role,
    State,
    User,
    Webhook,
)

Json = dict[str, Any]

HAS_THREAD = 1 << 5
_PLAIN: Json = {"attachments": [], "embeds": [], "components": []}
_LIMITED_FLAGS = {1 << 8: 1 << 13, 1 << 1: 1 << 15, 1 << 15: 1 << 19}  # intent -> app flag


def user_json(user: User) -> Json:
    return {
        "id": str(user.id),
        "username": user.username,
        "global_name": user.global_name,
        "discriminator": "0",
        "avatar": user.avatar,
        "bot": user.bot,
        "system": False,
        "public_flags": 0,
        "flags": 0,
        "avatar_decoration_data": None,
        "collectibles": None,
        "clan": None,
        "primary_guild": None,
    }


def own_user_json(app: App) -> Json:
    return user_json(app.user) | {
        "mfa_enabled": False, "verified": True, "email": None, "locale": "en-US",
    }  # fmt: skip


def member_json(member: Member, *, user: bool = True) -> Json:
    shape: Json = {
        "nick": member.nick,
        "avatar": None,
        "banner": None,
        "roles": [str(role) for role in member.roles],
        "joined_at": member.joined_at,
        "premium_since": None,
        "deaf": False,
        "mute": False,
        "flags": 0,
        "pending": False,
        "communication_disabled_until": None,
    }
    return shape | {"user": user_json(member.user)} if user else shape


def application_json(app: App) -> Json:
    return {
        "id": str(app.id),
        "name": app.name,
        "description": "",
        "icon": None,
        "summary": "",
        "type": None,
        "bot": user_json(app.user),
        "bot_public": True,
        "bot_require_code_grant": False,
        "owner": user_json(app.owner),
        "team": None,
        "verify_key": f"{app.id:064x}",
        "flags": app_flags(app),
        "flags_new": str(app_flags(app)),
        "interactions_endpoint_url": None,
        "role_connections_verification_url": None,
        "redirect_uris": [],
        "tags": [],
        "approximate_guild_count": 2,
        "approximate_user_install_count": 0,
        "approximate_user_authorization_count": 0,
        "explicit_content_filter": 0,
        "eligible_oauth2_scopes": [],
    }


def app_flags(app: App) -> int:
    """Return the privileged intents of an app in fewer than 100 guilds as application flags."""
    return sum(flag for intent, flag in _LIMITED_FLAGS.items() if app.granted & intent)


def role_json(role: Role) -> Json:
    return {
        "id": str(role.id),
        "name": role.name,
        "description": None,
        "permissions": str(int(role.permissions)),
        "position": role.position,
        "color": role.color,
        "colors": {"primary_color": role.color, "secondary_color": None, "tertiary_color": None},
        "hoist": False,
        "managed": role.bot_id is not None,
        "mentionable": False,
        "icon": None,
        "unicode_emoji": None,
        "flags": 0,
        **({"tags": {"bot_id": str(role.bot_id)}} if role.bot_id else {}),
    }


def channel_json(channel: Channel, viewer: int | None = None) -> Json:
    """Return any channel; `viewer` is the bot that sees it (adds its membership of a thread)."""
    if channel.thread is not None:
        return thread_json(channel, viewer)
    if channel.guild is None:
        return _dm_json(channel, viewer)
    shape: Json = {
        "id": str(channel.id),
        "type": int(channel.type),
        "guild_id": str(channel.guild.id),
        "name": channel.name,
        "position": channel.position,
        "parent_id": str(channel.parent.id) if channel.parent else None,
        "topic": channel.topic,
        "nsfw": False,
        "rate_limit_per_user": 0,
        "last_message_id": _id(channel.last_message_id),
        "flags": 0,
        "permission_overwrites": [
            {"id": str(o.id), "type": o.kind, "allow": str(int(o.allow)), "deny": str(int(o.deny))}
            for o in channel.overwrites.values()
        ],
    }
    if channel.type == ChannelType.FORUM:
        shape |= {
            "available_tags": channel.tags,
            "default_reaction_emoji": None,
            "default_sort_order": None,
            "default_forum_layout": 0,
            "default_thread_rate_limit_per_user": 0,
            "template": "",
        }
    return shape


def thread_json(channel: Channel, viewer: int | None = None) -> Json:
    thread = channel.thread
    if thread is None or channel.guild is None or channel.parent is None:
        raise ValueError(f"Channel {channel.id} is not a thread; use channel_json")
    shape: Json = {
        "id": str(channel.id),
        "type": int(channel.type),
        "guild_id": str(channel.guild.id),
        "parent_id": str(channel.parent.id),
        "owner_id": str(thread.owner_id),
        "name": channel.name,
        "last_message_id": _id(channel.last_message_id),
        "rate_limit_per_user": 0,
        "message_count": thread.message_count,
        "total_message_sent": thread.total_sent,
        "member_count": min(len(thread.members), 50),
        "flags": 0,
        "thread_metadata": {
            "archived": thread.archived,
            "archive_timestamp": thread.archive_time,
            "auto_archive_duration": thread.auto_archive_minutes,
            "locked": thread.locked,
            "create_timestamp": made_at(channel.id),
            **({"invitable": thread.invitable} if channel.is_private_thread else {}),
        },
    }
    if channel.parent.type == ChannelType.FORUM:
        shape["applied_tags"] = thread.applied_tags
    if viewer in thread.members:
        shape["member"] = thread_member_json(channel, viewer)
    return shape


def thread_member_json(channel: Channel, user_id: int) -> Json:
    joined = channel.thread.members[user_id] if channel.thread else ""
    return {
        "id": str(channel.id), "user_id": str(user_id), "join_timestamp": joined, "flags": 1,
        "muted": False, "mute_config": None,
    }  # fmt: skip


def guild_json(guild: Guild) -> Json:
    """Return a guild as REST does, without channels, members and threads."""
    return {
        "id": str(guild.id),
        "name": guild.name,
        "icon": None,
        "splash": None,
        "discovery_splash": None,
        "banner": None,
        "description": None,
        "owner_id": str(guild.owner_id),
        "region": "local",
        "afk_channel_id": None,
        "afk_timeout": 300,
        "verification_level": 0,
        "default_message_notifications": 1,
        "explicit_content_filter": 0,
        "roles": [role_json(role) for role in guild.roles.values()],
        "emojis": guild.emojis,
        "stickers": [],
        "features": [],
        "mfa_level": 0,
        "application_id": None,
        "system_channel_id": _id(guild.system_channel),
        "system_channel_flags": 0,
        "rules_channel_id": None,
        "public_updates_channel_id": None,
        "safety_alerts_channel_id": None,
        "vanity_url_code": None,
        "premium_tier": guild.premium_tier,
        "premium_subscription_count": 0,
        "premium_progress_bar_enabled": False,
        "preferred_locale": "en-US",
        "nsfw": False,
        "nsfw_level": 0,
        "max_members": 500000,
        "max_presences": None,
        "max_video_channel_users": 25,
        "max_stage_video_channel_users": 50,
        "incidents_data": None,
        "home_header": None,
        "widget_enabled": False,
        "widget_channel_id": None,
    }


def own_guild_json(guild: Guild, app: App) -> Json:
    """Return a guild as `/users/@me/guilds` lists it."""
    permissions = guild_permissions(guild, guild.members[app.user.id])
    return {
        "id": str(guild.id), "name": guild.name, "icon": None, "banner": None,
        "owner": guild.owner_id == app.user.id, "permissions": str(int(permissions)),
        "features": [],
    }  # fmt: skip


def message_json(message: Message, state: State) -> Json:
    """Return a message as REST does, with the message that it replies to unless deleted."""
    shape = _plain_message_json(message, state)
    if message.type in (MessageType.REPLY, MessageType.THREAD_STARTER) and message.reference:
        target = _referenced(message.reference, state)
        shape["referenced_message"] = _plain_message_json(target, state) if target else None
    return shape


def gateway_message_json(message: Message, shape: Json) -> Json:
    """Return a message as the gateway sends it: with guild, author's member and mentions."""
    guild = message.channel.guild
    gateway_fields: Json = {"channel_type": int(message.channel.type)}
    if guild is not None:
        gateway_fields["guild_id"] = str(guild.id)
        member = None if message.webhook_id else guild.members.get(message.author.id)
        if member is not None:
            gateway_fields["member"] = member_json(member, user=False)
        if message.mentions:
            gateway_fields["mentions"] = [_mention(user, guild) for user in message.mentions]
    return shape | gateway_fields


def without_content(shape: Json) -> Json:
    """Return a message as an app without the intent MESSAGE_CONTENT gets it."""
    bare: Json = shape | {"content": "", "embeds": [], "attachments": [], "components": []}
    for name in ("poll", "sticker_items", "message_snapshots"):
        bare.pop(name, None)
    if bare.get("referenced_message"):
        bare["referenced_message"] = without_content(bare["referenced_message"])
    return bare


def webhook_json(webhook: Webhook, base_url: str, *, token: bool = True, user: bool = True) -> Json:
    shape: Json = {
        "id": str(webhook.id),
        "type": 1,
        "guild_id": str(webhook.channel.guild.id) if webhook.channel.guild else None,
        "channel_id": str(webhook.channel.id),
        "name": webhook.name,
        "avatar": webhook.avatar,
        "application_id": _id(webhook.application_id),
    }
    if user:
        shape["user"] = user_json(webhook.user)
    if token:
        shape["token"] = webhook.token
        shape["url"] = f"{base_url}/discord/api/webhooks/{webhook.id}/{webhook.token}"
    return shape


def _plain_message_json(message: Message, state: State) -> Json:
    is_rich = message.embeds or message.components or message.attachments
    shape: Json = {
        "id": str(message.id),
        "channel_id": str(message.channel.id),
        "type": int(message.type),
        "content": message.content,
        "author": _author(message),
        "timestamp": made_at(message.id),
        "edited_timestamp": message.edited,
        "tts": message.tts,
        "mention_everyone": message.mention_everyone,
        "mentions": [user_json(user) for user in message.mentions],
        "mention_roles": [str(role) for role in message.mention_roles],
        **(rich_json(message, state) if is_rich else _PLAIN),
        "pinned": message.pinned_at is not None,
        "flags": message.flags | (HAS_THREAD if message.thread else 0),
    }
    if message.webhook_id is not None:
        shape["webhook_id"] = str(message.webhook_id)
    if message.application_id is not None:
        shape["application_id"] = str(message.application_id)
    if message.reference is not None:
        shape["message_reference"] = message.reference
    if message.poll is not None:
        shape["poll"] = poll_json(message.poll)
    if message.stickers:
        shape["sticker_items"] = message.stickers
    if message.snapshots:
        shape["message_snapshots"] = message.snapshots
    if message.interaction is not None:
        shape["interaction_metadata"] = message.interaction
    if message.thread is not None:
        shape["thread"] = thread_json(message.thread)
    if message.reactions:
        shape["reactions"] = [
            {
                "emoji": reaction.emoji, "count": len(reaction.users), "me": False,
                "me_burst": False, "burst_colors": [],
                "count_details": {"normal": len(reaction.users), "burst": 0},
            }
            for reaction in message.reactions.values()
        ]  # fmt: skip
    return shape


def _author(message: Message) -> Json:
    user = message.author
    if message.webhook_id is None or message.interaction is not None:
        return user_json(user)
    # A webhook's author is the webhook under the name of the post; it has no account.
    return {
        "id": str(user.id), "username": user.username, "global_name": None, "avatar": user.avatar,
        "discriminator": "0000", "public_flags": 0, "flags": 0, "bot": True,
        "primary_guild": None, "clan": None,
    }  # fmt: skip


def _mention(user: User, guild: Guild) -> Json:
    member = guild.members.get(user.id)
    shape = user_json(user)
    return shape | {"member": member_json(member, user=False)} if member else shape


def _referenced(reference: Json, state: State) -> Message | None:
    channel = state.channels.get(int(reference["channel_id"]))
    return channel.messages.get(int(reference["message_id"])) if channel else None


def _dm_json(channel: Channel, viewer: int | None) -> Json:
    return {
        "id": str(channel.id),
        "type": int(ChannelType.DM),
        "last_message_id": _id(channel.last_message_id),
        "flags": 0,
        "recipients": [user_json(u) for u in channel.recipients.values() if u.id != viewer],
    }


def _id(value: int | None) -> str | None:
    return None if value is None else str(value)
