"""The features that Teams offers to bots, and its limits and rate limits, as data."""

from __future__ import annotations

from bridge.model import Capabilities, Level, Rate

TEXT_LIMIT = 28_000  # UTF-16 units; the service takes about 100 KB a message and advises 80 KB

# Bytes of a card's activity in UTF-16: the oldest documented limit (28 KB, incoming webhooks);
# newer pages name 40 KB and 100 KB.
CARD_LIMIT = 28_000
CARDS_PER_MESSAGE = 10

# How completely Adaptive Cards 1.5 in Teams show each node of a card.
CARD_NODES = {
    "prose": Level.FULL,
    "table": Level.FULL,
    "divider": Level.FULL,
    "context": Level.FULL,
    "fields": Level.FULL,
    "image": Level.PARTIAL,  # a link if Teams cannot fetch it, or if it is an SVG
    "player": Level.PARTIAL,  # videos of a few sites; otherwise a picture and a link
    "gallery": Level.FULL,
    "file": Level.PARTIAL,  # a link
    "section": Level.FULL,
    "columns": Level.FULL,
    "container": Level.PARTIAL,  # five styles replace all colours
    "carousel": Level.PARTIAL,  # no videos on pages within a card
    "alert": Level.FULL,
    "badge": Level.FULL,
    "progress": Level.FULL,
    "rating": Level.FULL,
    "tasks": Level.PARTIAL,  # a list with status emoji
    "chart": Level.FULL,
    "poll": Level.PARTIAL,  # without voting
    "native": Level.PARTIAL,  # Adaptive Card elements; a fallback for others
    "actions": Level.FULL,
    "button": Level.FULL,
    "text_input": Level.FULL,
    "number_input": Level.FULL,
    "date_input": Level.FULL,
    "toggle": Level.FULL,
    "choice": Level.PARTIAL,  # no headings; a selection alone sends nothing
    "picker": Level.PARTIAL,  # people; people type the names of channels and roles
    "file_input": Level.PARTIAL,  # people type its address
}

CONVERSATION = "conversation"
CITATIONS, CITATION_NAME, CITATION_QUOTE = 20, 80, 160  # characters of each
STREAM = "stream"  # steps of a stream in one chat
STREAM_INFORMATIVE = 1000  # characters
STREAM_LIFE = 105.0  # seconds; Teams ends a stream after 120
APP_AND_TENANT = "app_and_tenant"

# Fields of an activity that the service fills in; senders leave them out.
READ_ONLY = frozenset({
    "callerId", "channelId", "conversation", "from", "id", "localTimestamp", "localTimezone",
    "rawLocalTimestamp", "rawTimestamp", "recipient", "serviceUrl", "timestamp",
})  # fmt: skip

CAPABILITIES = Capabilities(
    platform="teams",
    features={
        # A bot has one name and one picture: the author is written in bold before the text.
        "author_name": Level.PARTIAL,
        "author_picture": Level.DROPPED,
        "threads": Level.FULL,
        "replies": Level.PARTIAL,
        "edit": Level.FULL,
        "delete": Level.FULL,
        "mentions": Level.PARTIAL,  # in texts and TextBlocks, not in runs of rich text
        "group_mentions": Level.DROPPED,  # bots mention people only
        "people_pictures": Level.DROPPED,  # they need Microsoft Graph
        "broadcast": Level.PARTIAL,  # posted in the channel only, with a quote of the root
        "reactions": Level.PARTIAL,  # if the service lets bots react; otherwise a note
        "pins": Level.DROPPED,  # a note says who pinned; Teams sends bots no events about pins
        "typing": Level.PARTIAL,  # in chats, not in channels
        "whispers": Level.DROPPED,  # Teams has them only as an answer to an action
        "delete_others": Level.REJECTED,  # the bot may delete only its own messages
        **{f"card.{node}": level for node, level in CARD_NODES.items()},
    },
    text_limit=TEXT_LIMIT,
    citations=CITATIONS,
    text_unit="utf16",
    echo=False,
    history=False,  # reading back needs Microsoft Graph
    stream_pace=1.5,
    link_substrings=("teams.microsoft.com/l/message/",),
    # msteams-docs, "Optimize your bot with rate limiting", 2026-10; edits count as sends.
    rate_limits={
        CONVERSATION: (
            Rate(count=7, seconds=1),
            Rate(count=8, seconds=2),
            Rate(count=60, seconds=30),
            Rate(count=1800, seconds=3600),
        ),
        APP_AND_TENANT: (Rate(count=50, seconds=1),),
        STREAM: (Rate(count=1, seconds=1.1),),
    },
)
