"""What Teams can show of a bot and how fast it may be spoken to, as data."""

from __future__ import annotations

from bridge.model import Capabilities, Level, Rate

TEXT_LIMIT = 28_000  # UTF-16 units; the service takes about 100 KB a message and advises 80 KB

# A card's activity in bytes of UTF-16: what the oldest documented limit (28 KB, incoming webhooks)
# still takes; newer pages say 40 KB and 100 KB.
CARD_LIMIT = 28_000
CARDS_PER_MESSAGE = 10

# How far Adaptive Cards 1.5, as Teams draws them, show each node of a card.
CARD_NODES = {
    "prose": Level.FULL,
    "table": Level.FULL,
    "divider": Level.FULL,
    "context": Level.FULL,
    "fields": Level.FULL,
    "image": Level.PARTIAL,  # a link where Teams may not fetch it, or where it is an SVG
    "player": Level.PARTIAL,  # films of a few houses; else a picture and a link
    "gallery": Level.FULL,
    "file": Level.PARTIAL,  # a link
    "section": Level.FULL,
    "columns": Level.FULL,
    "container": Level.PARTIAL,  # five styles stand for all colours
    "carousel": Level.PARTIAL,  # as a whole; within a card only pages with nothing to press
    "alert": Level.FULL,
    "badge": Level.FULL,
    "progress": Level.FULL,
    "rating": Level.FULL,
    "tasks": Level.PARTIAL,  # a list behind signs
    "chart": Level.FULL,
    "poll": Level.PARTIAL,  # nobody can vote
    "native": Level.PARTIAL,  # elements of Adaptive Cards go home; others are their fallback
    "actions": Level.FULL,
    "button": Level.FULL,
    "text_input": Level.FULL,
    "number_input": Level.FULL,
    "date_input": Level.FULL,
    "toggle": Level.FULL,
    "choice": Level.PARTIAL,  # no headings; it tells nothing by itself
    "picker": Level.PARTIAL,  # people; the names of others are written
    "file_input": Level.PARTIAL,  # its address is written
}

CONVERSATION = "conversation"
CITATIONS, CITATION_NAME, CITATION_QUOTE = 20, 80, 160  # characters of each
STREAM = "stream"  # steps of what is streamed in one chat
STREAM_INFORMATIVE = 1000  # characters
STREAM_LIFE = 105.0  # seconds; Teams ends it after 120
APP_AND_TENANT = "app_and_tenant"

# Fields of an activity that the service fills in itself; whoever sends does not.
READ_ONLY = frozenset({
    "callerId", "channelId", "conversation", "from", "id", "localTimestamp", "localTimezone",
    "rawLocalTimestamp", "rawTimestamp", "recipient", "serviceUrl", "timestamp",
})  # fmt: skip

CAPABILITIES = Capabilities(
    platform="teams",
    features={
        # A bot has one name and one picture: the author stands in bold before the text.
        "author_name": Level.PARTIAL,
        "author_picture": Level.DROPPED,
        "threads": Level.FULL,
        "replies": Level.PARTIAL,
        "edit": Level.FULL,
        "delete": Level.FULL,
        "mentions": Level.PARTIAL,  # in texts and TextBlocks, not in runs of rich text
        "group_mentions": Level.DROPPED,  # bots mention people only
        "people_pictures": Level.DROPPED,  # those of its people: they need Microsoft Graph
        "broadcast": Level.PARTIAL,  # in the channel alone, with a quote of the root
        "reactions": Level.PARTIAL,  # where the service lets bots react; else a note
        "pins": Level.DROPPED,  # a note says who pinned; what people pin here is not told
        "typing": Level.PARTIAL,  # in chats, not in channels
        "whispers": Level.DROPPED,  # only as the answer to what somebody just did
        "delete_others": Level.REJECTED,  # the bot may delete only its own messages
        **{f"card.{node}": level for node, level in CARD_NODES.items()},
    },
    text_limit=TEXT_LIMIT,
    citations=CITATIONS,
    text_unit="utf16",
    echo=False,
    history=False,  # reading back needs Microsoft Graph
    stream_pace=1.5,
    link_marks=("teams.microsoft.com/l/message/",),
    # msteams-docs, "Optimize your bot with rate limiting", 2026-10; edits count as sends.
    budgets={
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
