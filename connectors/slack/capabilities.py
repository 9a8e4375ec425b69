"""What Slack can show, how fast it may be spoken to, and what the app needs. Data only."""

from __future__ import annotations

from bridge.model import Capabilities, Level, Rate

POST_PER_CHANNEL = "post_per_channel"
POST_PER_WORKSPACE = "post_per_workspace"
UPDATE_PER_WORKSPACE = "update_per_workspace"
DELETE_PER_WORKSPACE = "delete_per_workspace"

TEXT_LIMIT = 3900  # encoded characters: chat.update refuses more than 4,000, posting advises so
NAME_LIMIT = 80
EXCERPT_LIMIT = 200
METADATA_TYPE = "uacs_bridge_operation"

CAPABILITIES = Capabilities(
    platform="slack",
    features={
        "author_name": Level.FULL,
        "author_picture": Level.FULL,
        "threads": Level.FULL,
        "replies": Level.PARTIAL,  # a quoted line: Slack has threads, but no replies
        "edit": Level.FULL,
        "delete": Level.FULL,
        "underline": Level.DROPPED,
        "spoiler": Level.PARTIAL,
        "heading": Level.PARTIAL,
        "table": Level.PARTIAL,
        "list": Level.PARTIAL,
    },
    text_limit=TEXT_LIMIT,
    text_unit="characters",
    echo=True,
    history=True,
    # chat.update may be called 50 times a minute in a workspace: one stream leaves 10 of them for
    # final edits. Several streams at once share the budget and are coalesced by it.
    stream_pace=1.5,
    # Slack counts per method, workspace and app ("Rate limits", docs.slack.dev, 2026-08): posts
    # about 1/s and channel with short bursts, several hundred a minute and workspace; Tier 3
    # (update, delete) 50 a minute. Windows are a little longer than published: our clock is not
    # Slack's.
    budgets={
        POST_PER_CHANNEL: (Rate(count=4, seconds=4.2),),
        POST_PER_WORKSPACE: (Rate(count=300, seconds=61.0),),
        UPDATE_PER_WORKSPACE: (Rate(count=50, seconds=61.0),),
        DELETE_PER_WORKSPACE: (Rate(count=50, seconds=61.0),),
    },
)

# Bot scopes and what each is for; `check` names the missing ones with these words.
SCOPES = {
    "app_mentions:read": "hear when it is mentioned",
    "channels:history": "read what is said in public channels",
    "channels:read": "find public channels by their name",
    "chat:write": "post, edit and delete its own messages",
    "chat:write.customize": "post under the author's name and picture",
    "groups:history": "read what is said in private channels that it was invited to",
    "groups:read": "find those private channels by their name",
    "im:history": "read direct messages to it",
    "im:read": "find direct messages to it",
    "metadata.message:read": "recognise its own messages by the operation id in their metadata",
    "mpim:history": "read group direct messages that it was added to",
    "mpim:read": "find those group direct messages",
    "reactions:read": "hear of reactions",
    "users:read": "look up names and pictures of people",
}
# Without these the bridge cannot do its work; the others only make it know more.
REQUIRED_SCOPES = (
    "channels:history",
    "channels:read",
    "chat:write",
    "chat:write.customize",
    "users:read",
)
APP_SCOPES = {"connections:write": "open the Socket Mode connection"}
EVENTS = (
    "app_mention",
    "app_uninstalled",
    "channel_archive",
    "channel_created",
    "channel_deleted",
    "channel_left",
    "channel_rename",
    "channel_unarchive",
    "group_archive",
    "group_deleted",
    "group_left",
    "group_rename",
    "group_unarchive",
    "member_joined_channel",
    "member_left_channel",
    "message.channels",
    "message.groups",
    "message.im",
    "message.mpim",
    "reaction_added",
    "reaction_removed",
    "tokens_revoked",
)
