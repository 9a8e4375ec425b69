"""What IRC can show, and how fast it may be spoken to. Data, and what a server adds to it. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from bridge.model import Capabilities, Level, Rate
from connectors.irc import caps
from connectors.irc.isupport import Support
from connectors.irc.wire import LINE_BYTES

LINES = "lines"  # the rule of the rate limit: every line of an account counts

# Bytes of `nick!user@host` until the server sends ours: longest nick, user and host in use.
LONGEST_MASK = 30 + 1 + 11 + 1 + 63
TEXT_LIMIT = LINE_BYTES - 2 - len(": PRIVMSG #channel-name-of-32-characters--- :") - LONGEST_MASK

# Nothing of a native message is filled in by the server but these.
READ_ONLY = frozenset({"source", "id", "time", "account"})

# All nodes become lines of text; what cannot be pressed has a number to answer with.
CARD_NODES = {
    "prose": Level.PARTIAL,
    "table": Level.PARTIAL,
    "divider": Level.PARTIAL,
    "context": Level.PARTIAL,
    "fields": Level.PARTIAL,
    "image": Level.PARTIAL,
    "player": Level.PARTIAL,
    "gallery": Level.PARTIAL,
    "file": Level.PARTIAL,
    "section": Level.PARTIAL,
    "columns": Level.PARTIAL,
    "container": Level.PARTIAL,
    "carousel": Level.PARTIAL,
    "alert": Level.PARTIAL,
    "badge": Level.PARTIAL,
    "progress": Level.PARTIAL,
    "rating": Level.PARTIAL,
    "tasks": Level.PARTIAL,
    "chart": Level.PARTIAL,
    "poll": Level.PARTIAL,
    "native": Level.PARTIAL,
    "actions": Level.PARTIAL,
    "button": Level.PARTIAL,
    "text_input": Level.PARTIAL,
    "number_input": Level.PARTIAL,
    "date_input": Level.PARTIAL,
    "toggle": Level.PARTIAL,
    "choice": Level.PARTIAL,
    "picker": Level.PARTIAL,
    "file_input": Level.DROPPED,
}


def capabilities_of(
    burst: int,
    per_second: float,
    enabled: Mapping[str, str] | None = None,
    support: Support | None = None,
) -> Capabilities:
    """What an account can do: `enabled` are the capabilities of its connection, None before it
    stands, which is what a server of RFC 2812 can."""
    on, server = enabled or {}, support or Support()
    multiline = caps.multiline_of(on)
    reacts = caps.TAGS in on and server.takes_client_tag("draft/react")
    replies = caps.TAGS in on and server.takes_client_tag("reply")
    return Capabilities(
        platform="irc",
        label="IRC",
        features={
            "author_name": Level.PARTIAL,  # in front of the text, unless puppets are on
            "author_picture": Level.DROPPED,
            "threads": Level.DROPPED,
            "replies": Level.FULL if replies else Level.PARTIAL,  # a line that quotes
            "edit": Level.PARTIAL,  # another line has the new text
            "delete": Level.PARTIAL if caps.REDACTION in on else Level.DROPPED,
            "mentions": Level.FULL,
            "group_mentions": Level.DROPPED,
            "people_pictures": Level.DROPPED,
            "broadcast": Level.PARTIAL,
            "reactions": Level.FULL if reacts else Level.DROPPED,
            "pins": Level.DROPPED,
            "typing": Level.DROPPED,
            "whispers": Level.DROPPED,
            "delete_others": Level.DROPPED,
            **{f"card.{node}": level for node, level in CARD_NODES.items()},
        },
        text_limit=multiline.max_bytes if multiline else TEXT_LIMIT,
        text_unit="bytes",
        echo=caps.ECHO in on,
        history=caps.has_history(on),
        stream_pace=60.0,
        rate_limits={LINES: (Rate(count=burst, seconds=burst / per_second),)},
    )


CAPABILITIES = capabilities_of(4, 1.0)
