"""The Web API's methods by name. A new method: one function, one line here.

Requests per minute: the documented tiers (1: 1+, 2: 20+, 3: 50+, 4: 100+; slackapi/java-slack-sdk
`rate_limit_tiers.json`, 2026-08). `apps.connections.open` is tier 1 there and tier 3 on its docs
page; the local Slack follows the docs page. The "several hundred a minute" of chat.postMessage are
600 here.
"""

from __future__ import annotations

from connectors.slack.sandbox.methods import (
    assistant,
    chat,
    conversations,
    files,
    people,
    pins,
    reactions,
    streams,
    views,
)
from connectors.slack.sandbox.methods.call import Method

TIER_2, TIER_3, TIER_4, SPECIAL = 20, 50, 100, 600

METHODS: dict[str, Method] = {
    "api.test": Method(people.api_test, TIER_4),
    "apps.connections.open": Method(people.open_connection, TIER_3),
    "assistant.threads.setStatus": Method(assistant.set_status, SPECIAL, "chat:write"),
    "auth.test": Method(people.auth_test, SPECIAL),
    "bots.info": Method(people.bot_info, TIER_3, "users:read"),
    "chat.appendStream": Method(streams.append_stream, TIER_4, "chat:write"),
    "chat.delete": Method(chat.delete, TIER_3, "chat:write"),
    "chat.getPermalink": Method(chat.get_permalink, SPECIAL),
    "chat.meMessage": Method(chat.me_message, TIER_3, "chat:write"),
    "chat.postEphemeral": Method(chat.post_ephemeral, TIER_4, "chat:write"),
    "chat.postMessage": Method(chat.post_message, SPECIAL, "chat:write"),
    "chat.startStream": Method(streams.start_stream, TIER_2, "chat:write"),
    "chat.stopStream": Method(streams.stop_stream, TIER_2, "chat:write"),
    "chat.update": Method(chat.update, TIER_3, "chat:write"),
    "conversations.history": Method(conversations.history, TIER_3),
    "conversations.info": Method(conversations.info, TIER_3),
    "conversations.join": Method(conversations.join, TIER_3),
    "conversations.leave": Method(conversations.leave, TIER_3),
    "conversations.list": Method(conversations.list_channels, TIER_2),
    "conversations.members": Method(conversations.members, TIER_4),
    "conversations.open": Method(conversations.open_direct, TIER_3),
    "conversations.replies": Method(conversations.replies, TIER_3),
    "files.completeUploadExternal": Method(files.complete_upload, TIER_4, "files:write"),
    "files.delete": Method(files.delete, TIER_3, "files:write"),
    "files.getUploadURLExternal": Method(files.get_upload_url, TIER_4, "files:write"),
    "files.info": Method(files.info, TIER_4, "files:read"),
    "pins.add": Method(pins.add, TIER_2, "pins:write"),
    "pins.list": Method(pins.list_pins, TIER_2, "pins:read"),
    "pins.remove": Method(pins.remove, TIER_2, "pins:write"),
    "reactions.add": Method(reactions.add, TIER_3, "reactions:write"),
    "reactions.get": Method(reactions.get, TIER_3, "reactions:read"),
    "reactions.remove": Method(reactions.remove, TIER_2, "reactions:write"),
    "team.info": Method(people.team_info, TIER_3, "team:read"),
    "usergroups.list": Method(people.list_groups, TIER_2, "usergroups:read"),
    "users.conversations": Method(conversations.of_user, TIER_2),
    "users.info": Method(people.user_info, TIER_4, "users:read"),
    "users.list": Method(people.list_users, TIER_2, "users:read"),
    "users.lookupByEmail": Method(people.lookup_by_email, TIER_3, "users:read.email"),
    "users.profile.get": Method(people.user_profile, TIER_4, "users:read"),
    "views.open": Method(views.open_view, TIER_4),
    "views.push": Method(views.push, TIER_4),
    "views.update": Method(views.update, TIER_4),
}
