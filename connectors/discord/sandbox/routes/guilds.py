"""REST: guilds, their members, channels, active threads and webhooks."""

from __future__ import annotations

from connectors.discord.sandbox.call import Answer, Call, Created, Route
from connectors.discord.sandbox.checks import Form, read_anchor, read_limit
from connectors.discord.sandbox.errors import missing_access, missing_permissions, unknown_member
from connectors.discord.sandbox.events import Intent
from connectors.discord.sandbox.permissions import Permission, guild_permissions, permissions_in
from connectors.discord.sandbox.routes.webhooks import visible_webhook
from connectors.discord.sandbox.shapes import (
    channel_json,
    guild_json,
    member_json,
    role_json,
    thread_json,
    thread_member_json,
)
from connectors.discord.sandbox.state import Channel, ChannelType, Guild

_CREATABLE = (ChannelType.TEXT, ChannelType.CATEGORY, ChannelType.ANNOUNCEMENT, ChannelType.FORUM)


def get_guild(call: Call) -> Answer:
    guild = call.guild()
    shape = guild_json(guild)
    if call.query.get("with_counts", "").lower() in ("1", "true"):
        count = len(guild.members)
        shape |= {"approximate_member_count": count, "approximate_presence_count": count}
    return shape


def list_channels(call: Call) -> Answer:
    return [channel_json(channel) for channel in call.guild().channels.values()]


def create_channel(call: Call) -> Answer:
    guild = call.guild()
    _need(call, guild, Permission.MANAGE_CHANNELS)
    form = call.form()
    name = form.text("name", min_length=1, max_length=100, required=True) or ""
    kind = form.choice("type", _CREATABLE, ChannelType.TEXT)
    topic = form.text("topic", max_length=1024)
    parent = _category(form, guild)
    form.done()
    if kind != ChannelType.CATEGORY:
        name = name.lower().replace(" ", "-")
    channel = Channel(call.state.ids.next(), kind, name, guild, parent)
    channel.topic = topic
    channel.position = len(guild.channels)
    return Created(call.changes.add_channel(channel))


def _category(form: Form, guild: Guild) -> Channel | None:
    category_id = form.snowflake("parent_id")
    if category_id is None:
        return None
    category = guild.channels.get(category_id)
    if category is None:
        form.fail("parent_id", "CHANNEL_PARENT_INVALID", "Category does not exist")
    elif category.type != ChannelType.CATEGORY:
        form.fail("parent_id", "CHANNEL_PARENT_INVALID_TYPE", "Not a category")
    return category


def get_member(call: Call) -> Answer:
    member = call.guild().members.get(call.id("user_id"))
    if member is None:
        raise unknown_member()
    return member_json(member)


def list_members(call: Call) -> Answer:
    guild = call.guild()
    if not call.app.granted & Intent.GUILD_MEMBERS:
        raise missing_access()
    limit = read_limit(call.query, 1, 1000)
    after = read_anchor(call.query, "after") or 0
    ids = sorted(user_id for user_id in guild.members if user_id > after)
    return [member_json(guild.members[user_id]) for user_id in ids[:limit]]


def list_roles(call: Call) -> Answer:
    return [role_json(role) for role in call.guild().roles.values()]


def list_active_threads(call: Call) -> Answer:
    guild = call.guild()
    viewer = call.app.user.id
    threads = [
        thread
        for thread in guild.threads.values()
        if thread.thread
        and not thread.thread.archived
        and permissions_in(thread, viewer) & Permission.VIEW_CHANNEL
    ]
    threads.sort(key=lambda thread: thread.id, reverse=True)
    joined = [t for t in threads if t.thread and viewer in t.thread.members]
    return {
        "threads": [thread_json(thread, viewer) for thread in threads],
        "members": [thread_member_json(thread, viewer) for thread in joined],
        "has_more": False,
    }


def list_guild_webhooks(call: Call) -> Answer:
    guild = call.guild()
    _need(call, guild, Permission.MANAGE_WEBHOOKS)
    own = [w for w in call.state.webhooks.values() if w.channel.guild is guild]
    return [visible_webhook(call, webhook) for webhook in own]


def _need(call: Call, guild: Guild, permission: Permission) -> None:
    if not guild_permissions(guild, guild.members[call.app.user.id]) & permission:
        raise missing_permissions()


def list_emojis(call: Call) -> Answer:
    return call.guild().emojis


GUILD_ROUTES = [
    Route("GET", "/guilds/{guild_id}/emojis", "guild.emojis", list_emojis),
    Route("GET", "/guilds/{guild_id}", "guild.get", get_guild),
    Route("GET", "/guilds/{guild_id}/channels", "guild.channels", list_channels),
    Route("POST", "/guilds/{guild_id}/channels", "channel.create", create_channel),
    Route("GET", "/guilds/{guild_id}/members", "guild.members", list_members),
    Route("GET", "/guilds/{guild_id}/members/{user_id}", "guild.member", get_member),
    Route("GET", "/guilds/{guild_id}/roles", "guild.roles", list_roles),
    Route("GET", "/guilds/{guild_id}/threads/active", "guild.threads", list_active_threads),
    Route("GET", "/guilds/{guild_id}/webhooks", "guild.webhooks", list_guild_webhooks),
]
