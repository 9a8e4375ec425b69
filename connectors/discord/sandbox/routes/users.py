"""REST: the bot, other users, its application and guilds, DMs, the gateway's address."""

from __future__ import annotations

from connectors.discord.sandbox.call import Answer, Call, Route
from connectors.discord.sandbox.errors import cannot_message_user, unknown_user
from connectors.discord.sandbox.shapes import (
    Json,
    application_json,
    channel_json,
    own_guild_json,
    own_user_json,
    user_json,
)


def _gateway_url(call: Call) -> str:
    return call.changes.base_url.replace("http", "ws", 1) + "/discord/gateway"


def get_me(call: Call) -> Answer:
    return own_user_json(call.app)


def get_user(call: Call) -> Answer:
    user = call.state.users.get(call.id("user_id"))
    if user is None:
        raise unknown_user()
    return user_json(user)


def get_application(call: Call) -> Answer:
    return application_json(call.app)


def get_gateway(call: Call) -> Answer:
    return {"url": _gateway_url(call)}


def get_gateway_bot(call: Call) -> Answer:
    limit: Json = {"total": 1000, "remaining": 1000, "reset_after": 0, "max_concurrency": 1}
    return {"url": _gateway_url(call), "shards": 1, "session_start_limit": limit}


def list_own_guilds(call: Call) -> Answer:
    own = [g for g in call.state.guilds.values() if call.app.user.id in g.members]
    return [own_guild_json(guild, call.app) for guild in own]


def leave_guild(call: Call) -> Answer:
    call.changes.left_guild(call.app, call.guild())
    return None


def open_dm(call: Call) -> Answer:
    form = call.form()
    user_id = form.snowflake("recipient_id")
    form.done()
    user = call.state.users.get(user_id) if user_id is not None else None
    if user is None:
        raise unknown_user()
    if user.bot or not call.state.share_a_guild(user.id, call.app.user.id):
        raise cannot_message_user()
    return channel_json(call.state.dm_of(user, call.app.user), call.app.user.id)


USER_ROUTES = [
    Route("GET", "/users/@me", "user.me", get_me),
    Route("GET", "/users/{user_id}", "user.get", get_user),
    Route("GET", "/users/@me/guilds", "user.guilds", list_own_guilds),
    Route("DELETE", "/users/@me/guilds/{guild_id}", "guild.leave", leave_guild),
    Route("POST", "/users/@me/channels", "dm.open", open_dm),
    Route("GET", "/oauth2/applications/@me", "application.get", get_application),
    Route("GET", "/applications/@me", "application.get", get_application),
    Route("GET", "/gateway", "gateway.get", get_gateway, needs_bot=False),
    Route("GET", "/gateway/bot", "gateway.bot", get_gateway_bot),
]
