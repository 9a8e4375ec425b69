"""Discord's features and limits, its rate limits, and the bot's permissions. Data only."""

from __future__ import annotations

from bridge.model import Capabilities, Level, Rate

# Names of the rate limits. Discord's limits are per bucket and sent in headers; these are rates
# observed by the community (the docs forbid hard-coding, 2026-08), and headers override them.
GLOBAL = "global"
WEBHOOK_EXECUTE = "webhook_execute"
MESSAGE_CREATE = "message_create"
MESSAGE_EDIT = "message_edit"
REACTION = "reaction"
PIN = "pin"
TYPING = "typing"

TEXT_LIMIT = 2000
NAME_LIMIT = 80
THREAD_NAME_LIMIT = 100

# Fields of a message that Discord fills in itself; a sender leaves them out.
READ_ONLY = frozenset({
    "activity", "application", "application_id", "author", "call", "channel_id", "channel_type",
    "edited_timestamp", "guild_id", "id", "interaction", "interaction_metadata", "member",
    "mention_channels", "mention_everyone", "mention_roles", "mentions", "message_snapshots",
    "pinned", "position", "reactions", "referenced_message", "resolved",
    "role_subscription_data", "thread", "timestamp", "type", "webhook_id",
})  # fmt: skip

# How completely messages show each node of a card; `cards/limits.py` has the numbers. PARTIAL:
# some are shown in another form or place, with all their words, and a Loss names each.
CARD_NODES = {
    "prose": Level.PARTIAL,  # in full, but neither coloured nor centred
    "table": Level.PARTIAL,  # a block of code, or a list of its rows
    "divider": Level.FULL,
    "context": Level.FULL,
    "fields": Level.PARTIAL,  # side by side in embeds alone
    "image": Level.PARTIAL,  # words where Discord cannot get it, and in small print
    "player": Level.PARTIAL,  # films in components; a link in embeds, and where it is a page
    "gallery": Level.FULL,
    "file": Level.PARTIAL,  # a link where it cannot be sent along
    "section": Level.PARTIAL,  # a button or a picture beside texts; other accessories stand below
    "columns": Level.PARTIAL,  # one below the other
    "container": Level.PARTIAL,  # not within one another, never folded, never hidden
    "carousel": Level.PARTIAL,  # its cards one below the other
    "alert": Level.FULL,
    "badge": Level.PARTIAL,
    "progress": Level.PARTIAL,
    "rating": Level.PARTIAL,
    "tasks": Level.PARTIAL,
    "chart": Level.PARTIAL,  # a table of its numbers
    "poll": Level.PARTIAL,  # its question and answers: votes are counted where it came from
    "native": Level.PARTIAL,
    "actions": Level.FULL,
    "button": Level.PARTIAL,  # no icons, no hints; confirmations are separate
    "text_input": Level.PARTIAL,  # all inputs: in a form behind a button, with their values as text
    "number_input": Level.PARTIAL,
    "date_input": Level.PARTIAL,
    "toggle": Level.PARTIAL,
    "choice": Level.PARTIAL,  # menus of 25 without headings; options found by typing in a form
    "picker": Level.PARTIAL,  # only ids of Discord can be default values
    "file_input": Level.PARTIAL,
}

CAPABILITIES = Capabilities(
    platform="discord",
    features={
        "author_name": Level.FULL,
        "author_picture": Level.FULL,
        "threads": Level.FULL,
        "replies": Level.PARTIAL,  # webhooks cannot reply: a small line with a jump link
        "edit": Level.FULL,
        "delete": Level.FULL,
        "mentions": Level.FULL,
        "group_mentions": Level.FULL,
        "people_pictures": Level.FULL,
        "broadcast": Level.PARTIAL,  # in the channel alone, with a line that names the root
        "reactions": Level.FULL,  # 20 different ones; custom ones where the server has that name
        "pins": Level.FULL,
        "typing": Level.FULL,  # without a name: the bot types
        "whispers": Level.DROPPED,  # possible only as the answer to an interaction
        "delete_others": Level.FULL,  # with Manage Messages
        **{f"card.{node}": level for node, level in CARD_NODES.items()},
    },
    text_limit=TEXT_LIMIT,
    text_unit="characters",
    echo=True,
    history=True,
    stream_pace=1.2,
    link_substrings=("discord.com/channels/", "discordapp.com/channels/"),
    rate_limits={
        GLOBAL: (Rate(count=50, seconds=1),),
        WEBHOOK_EXECUTE: (Rate(count=5, seconds=2),),
        MESSAGE_CREATE: (Rate(count=5, seconds=5),),
        MESSAGE_EDIT: (Rate(count=5, seconds=5),),
        REACTION: (Rate(count=1, seconds=0.25),),
        PIN: (Rate(count=5, seconds=5),),
        TYPING: (Rate(count=5, seconds=5),),
    },
)

# Gateway intents by their bits (docs: events/gateway). Only MESSAGE_CONTENT is privileged.
INTENTS = {
    "GUILDS": 1 << 0,
    "GUILD_WEBHOOKS": 1 << 5,
    "GUILD_MESSAGES": 1 << 9,
    "GUILD_MESSAGE_REACTIONS": 1 << 10,
    "GUILD_MESSAGE_TYPING": 1 << 11,
    "DIRECT_MESSAGES": 1 << 12,
    "DIRECT_MESSAGE_REACTIONS": 1 << 13,
    "DIRECT_MESSAGE_TYPING": 1 << 14,
    "MESSAGE_CONTENT": 1 << 15,
}
# An application has either flag when its developer may ask for MESSAGE_CONTENT.
MESSAGE_CONTENT_FLAGS = 1 << 18 | 1 << 19

ADMINISTRATOR = 1 << 3
# Permissions by the names that Discord's client shows (docs: topics/permissions).
PERMISSIONS = {
    "View Channels": 1 << 10,
    "Send Messages": 1 << 11,
    "Embed Links": 1 << 14,
    "Attach Files": 1 << 15,
    "Read Message History": 1 << 16,
    "Add Reactions": 1 << 6,
    "Use External Emoji": 1 << 18,
    "Manage Messages": 1 << 13,
    "Pin Messages": 1 << 51,
    "Manage Webhooks": 1 << 29,
    "Create Public Threads": 1 << 35,
    "Manage Threads": 1 << 34,
    "Send Messages in Threads": 1 << 38,
}
# Without these the bridge does not work; the others add features.
REQUIRED_PERMISSIONS = (
    "View Channels",
    "Send Messages",
    "Read Message History",
    "Manage Webhooks",
    "Create Public Threads",
    "Send Messages in Threads",
)
SCOPES = ("bot", "applications.commands")

# Channel types (docs: resources/channel).
THREAD_TYPES = frozenset({10, 11, 12})
DIRECT_TYPES = frozenset({1, 3})
FORUM_TYPES = frozenset({15, 16})
CHANNEL_KINDS = {0: "text", 2: "voice", 5: "announcement", 13: "stage", 15: "forum", 16: "media"}

EPHEMERAL = 1 << 6  # a flag
# Message types that a user or bot wrote (docs: resources/message); 21 points to a thread's root.
SPOKEN_TYPES = frozenset({0, 19, 20, 23})
PINNED = 6
JOINED = 7  # in the server's system channel; departures need a privileged intent
SYSTEM_TYPES = frozenset({*range(1, 19), 21, 22, *range(24, 33), *range(36, 40), 44, 46})
