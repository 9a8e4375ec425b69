"""What Slack can show, its limits and rate limits, and the scopes that the app needs. Data only."""

from __future__ import annotations

from bridge.model import Capabilities, Level, Rate
from bridge.ports.abilities.health import Use

POST_PER_CHANNEL = "post_per_channel"
POST_PER_WORKSPACE = "post_per_workspace"
UPDATE_PER_WORKSPACE = "update_per_workspace"
DELETE_PER_WORKSPACE = "delete_per_workspace"
WHISPER = "chat.postEphemeral"
ADD_REACTION, REMOVE_REACTION = "reactions.add", "reactions.remove"
ADD_PIN, REMOVE_PIN = "pins.add", "pins.remove"
START_STREAM, APPEND_STREAM, STOP_STREAM = (
    "chat.startStream", "chat.appendStream", "chat.stopStream",
)  # fmt: skip
SHARE_FILES = "files.completeUploadExternal"  # the last of the three requests that share files

TEXT_LIMIT = 3900  # encoded characters: chat.update refuses more than 4,000
NAME_LIMIT = 80
SET_STATUS = "assistant.threads.setStatus"
STREAM_TEXT = 11_900  # 12,000
STREAM_FIELD = 250  # 256
STREAM_LIFE = 270.0  # seconds; Slack ends it after 300
STREAM_PACE = 0.7
MAX_STREAMS = 18  # open or ended within a minute: Slack allows 20 starts and 20 stops a minute
EXCERPT_LIMIT = 200
METADATA_TYPE = "uacs_bridge_operation"

# Rate limits of read methods: Tier 2 is 20 a minute, Tier 3 is 50, Tier 4 is 100
# (slackapi/java-slack-sdk `rate_limit_tiers.json`, 2026-08). Our windows are a little longer.
_TIER_2, _TIER_3, _TIER_4 = (Rate(count=count, seconds=61.0) for count in (20, 50, 100))
READS = {
    "bots.info": _TIER_3,
    "conversations.history": _TIER_3,
    "conversations.info": _TIER_3,
    "conversations.list": _TIER_2,
    "conversations.members": _TIER_4,
    "conversations.replies": _TIER_3,
    "files.getUploadURLExternal": _TIER_4,
    "files.info": _TIER_4,
    "pins.list": _TIER_2,
    "reactions.get": _TIER_3,
    "usergroups.list": _TIER_2,
    "users.info": _TIER_4,
    "users.list": _TIER_2,
}

# Fields of a message and of a view that Slack fills in; a sender omits them.
READ_ONLY = frozenset({
    "app_id", "bot_id", "bot_profile", "channel_type", "client_msg_id", "deleted_ts",
    "display_as_bot", "edited", "event_ts", "hidden", "inviter", "is_locked", "is_starred",
    "last_read", "latest_reply", "parent_user_id", "permalink", "pinned_info", "pinned_to",
    "reactions", "replies", "reply_count", "reply_users", "reply_users_count", "root",
    "source_team", "streaming_state", "subscribed", "subtype", "team", "ts", "type", "unread_count",
    "upload", "user", "user_profile", "user_team",
})  # fmt: skip
READ_ONLY_IN_VIEW = frozenset({
    "app_id", "app_installed_team_id", "bot_id", "hash", "id", "previous_view_id", "root_view_id",
    "state", "team_id",
})  # fmt: skip

# What a message of blocks holds (docs.slack.dev "Block Kit", npm @slack/types, 2026-08). Texts are
# a little shorter than Slack allows: Slack does not document whether it counts escaped text.
BLOCKS_PER_MESSAGE = 50
ATTACHMENTS_PER_MESSAGE = 20  # Slack advises this number and refuses 100
FILES_PER_MESSAGE = 10
MESSAGE_CHARACTERS = 12_000  # `msg_blocks_too_long` was observed from about 13,200 characters on
TABLES_PER_MESSAGE = 1
CHARTS_PER_MESSAGE = 2
PLANS_PER_MESSAGE = 1
NOTIFICATION = 150
TEXT_OBJECT = 2_950  # 3,000
FIELD_TEXT = 1_950  # 2,000
FIELDS = 10
HEADER = 150
CONTEXT_ELEMENTS = 10
ACTIONS = 25
BUTTON_TEXT = 75
BUTTON_HINT = 75
URL = 3_000
ALT_TEXT = 2_000
IMAGE_TITLE = 2_000
INPUT_LABEL = 2_000
INPUT_VALUE = 3_000
PLACEHOLDER = 150
OPTION_TEXT = 75
OPTION_VALUE = 75  # most sources say 150
OPTIONS = 100
OPTION_GROUPS = 100
BOXES = 10  # checkboxes, radio buttons
OVERFLOW = 5
CONFIRM_TITLE = 100
CONFIRM_TEXT = 300
CONFIRM_BUTTON = 30
TABLE_ROWS = 100
TABLE_COLUMNS = 20
TABLE_CHARACTERS = 9_500  # 10,000
CARD_TITLE = 150
CARD_BODY = 200
CARD_BUTTONS = 3
CAROUSEL = 10
CONTAINER_TITLE = 150
CONTAINER_BLOCKS = 10
CHART_TITLE = 50
CHART_LABEL = 20
CHART_SERIES = 12
CHART_POINTS = 20
TASK_TITLE = 256
TASKS = 50

# How well each node of a card is shown. PARTIAL: some of its variants take another form that keeps
# all words. Pictures are PNG, JPEG or GIF, without links and without sizes; cards of a carousel are
# short; buttons cannot be disabled and cannot show or hide nodes; there are no roles.
_CARD = {
    Level.FULL: (
        *("prose", "table", "divider", "context", "fields", "section", "container", "tasks"),
        *("chart", "actions", "text_input", "date_input", "toggle", "choice"),
    ),
    Level.PARTIAL: (
        *("image", "player", "gallery", "file", "columns", "carousel", "alert", "badge"),
        *("progress", "rating", "poll", "native", "button", "number_input", "picker"),
        "file_input",
    ),
}

CAPABILITIES = Capabilities(
    platform="slack",
    features={
        "author_name": Level.FULL,
        "author_picture": Level.FULL,
        "threads": Level.FULL,
        "replies": Level.PARTIAL,  # a quoted line: Slack has threads, but no replies
        "edit": Level.FULL,
        "delete": Level.FULL,
        "mentions": Level.FULL,
        "group_mentions": Level.FULL,
        "people_pictures": Level.FULL,
        "broadcast": Level.FULL,
        "reactions": Level.FULL,  # 23 different ones; the archive has remote reactors
        "pins": Level.FULL,
        "typing": Level.DROPPED,  # no events for bots; they show a status of a thread
        "whispers": Level.PARTIAL,  # disappears when the person reloads Slack; cannot be edited
        "delete_others": Level.REJECTED,  # the bot may delete only its own messages
        "underline": Level.DROPPED,
        "spoiler": Level.PARTIAL,
        "heading": Level.PARTIAL,
        "table": Level.PARTIAL,
        "list": Level.PARTIAL,
        **{f"card.{node}": level for level, nodes in _CARD.items() for node in nodes},
    },
    text_limit=TEXT_LIMIT,
    text_unit="characters",
    echo=True,
    history=True,
    # Slack allows 50 chat.update calls a minute in a workspace: one stream leaves 10 of them for
    # final edits. Concurrent streams share this limit, which coalesces their edits.
    stream_pace=1.5,
    link_substrings=(".slack.com/archives/", "slack.com/app_redirect?"),
    # Slack limits by method, workspace and app ("Rate limits", docs.slack.dev, 2026-08): posts
    # about 1/s in a channel with short bursts, several hundred a minute in a workspace; Tier 3
    # (update, delete) 50 a minute. Our windows are a little longer than documented, as our
    # clock is not Slack's.
    rate_limits={
        POST_PER_CHANNEL: (Rate(count=4, seconds=4.2),),
        POST_PER_WORKSPACE: (Rate(count=300, seconds=61.0),),
        UPDATE_PER_WORKSPACE: (Rate(count=50, seconds=61.0),),
        SET_STATUS: (Rate(count=50, seconds=61.0),),
        START_STREAM: (Rate(count=20, seconds=61.0),),
        APPEND_STREAM: (Rate(count=100, seconds=61.0),),
        STOP_STREAM: (Rate(count=20, seconds=61.0),),
        DELETE_PER_WORKSPACE: (Rate(count=50, seconds=61.0),),
        ADD_REACTION: (Rate(count=50, seconds=61.0),),
        REMOVE_REACTION: (Rate(count=20, seconds=61.0),),
        ADD_PIN: (Rate(count=20, seconds=61.0),),
        REMOVE_PIN: (Rate(count=20, seconds=61.0),),
    },
)

# Bot scopes and their purposes; `check` reports missing scopes with these texts.
SCOPES = {
    "app_mentions:read": "hear when it is mentioned",
    "channels:history": "read what is said in public channels",
    "channels:read": "find public channels by their name",
    "chat:write": "post, edit and delete its own messages",
    "chat:write.customize": "post under the author's name and picture",
    "commands": "take the command /bridge",
    "files:read": "fetch files that people share",
    "files:write": "share files of other platforms",
    "groups:history": "read what is said in private channels that it was invited to",
    "groups:read": "find those private channels by their name",
    "im:history": "read direct messages to it",
    "im:read": "find direct messages to it",
    "im:write": "write to people who want direct messages (/bridge dm)",
    "metadata.message:read": "recognise its own messages by the operation id in their metadata",
    "mpim:history": "read group direct messages that it was added to",
    "mpim:read": "find those group direct messages",
    "pins:read": "hear of pins",
    "pins:write": "pin messages that are pinned elsewhere",
    "reactions:read": "hear of reactions",
    "reactions:write": "react as people elsewhere do",
    "users:read": "look up names and pictures of people",
}
# Scopes of optional features that a configuration may use; the manifest omits them.
SCOPES_OF_USES: dict[Use, tuple[str, str]] = {
    "groups": ("usergroups:read", "know user groups and who is in them"),
    "emails": ("users:read.email", "link accounts by e-mail (people.link_by_email)"),
}
# The bridge does not work without these scopes; the others give it more information.
REQUIRED_SCOPES = (
    "channels:history",
    "channels:read",
    "chat:write",
    "chat:write.customize",
    "users:read",
)
APP_SCOPES = {"connections:write": "open the Socket Mode connection"}
EVENTS = (
    "agent_session_stopped",
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
    "pin_added",
    "pin_removed",
    "reaction_added",
    "reaction_removed",
    "tokens_revoked",
)
