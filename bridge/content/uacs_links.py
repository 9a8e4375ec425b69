"""Mentions, channel links, custom emoji and times as links of the scheme `uacs:`, and back.

`[@Ann](uacs:actor/slack:T0:U1)`, `[@devs](uacs:group/KEY)`, `[@here](uacs:broadcast/here)`,
`[#general](uacs:channel/slack:T0:C1)`, `[:party:](uacs:emoji/party?url=...)`,
`[3 May](uacs:time/1700000000?style=f)`.
"""

from __future__ import annotations

from typing import cast, get_args
from urllib.parse import parse_qs, quote, unquote, urlencode

from bridge.content.text import (
    Broadcast,
    ChannelLink,
    Emoji,
    GroupMention,
    Inline,
    Mention,
    Timestamp,
)
from bridge.model import ActorId

SCHEME = "uacs:"
OwnNode = Mention | GroupMention | Broadcast | ChannelLink | Emoji | Timestamp
_RANGES = ("everyone", "channel", "here")


def own_node_to_link(node: OwnNode) -> tuple[str, str]:
    """One of our nodes -> (label, url)."""
    match node:
        case Mention(actor, name):
            return f"@{name}", _url("actor", actor)
        case GroupMention(group, name):
            return f"@{name}", _url("group", group)
        case Broadcast(range=range_):
            return f"@{range_}", _url("broadcast", range_)
        case ChannelLink(channel, name):
            return f"#{name}", _url("channel", channel)
        case Emoji(name, _, url):
            return f":{name}:", _url("emoji", name, url=url or "")
        case Timestamp(unix, style, fallback):
            return fallback or str(unix), _url("time", str(unix), style=style)


def link_to_own_node(label: str, url: str) -> Inline | None:
    """The inverse; None when the link is not one of ours or is malformed."""
    kind, _, rest = url.removeprefix(SCHEME).partition("/")
    value, _, query = rest.partition("?")
    value = unquote(value)
    extras = {key: values[0] for key, values in parse_qs(query).items()}
    if not url.startswith(SCHEME) or not value:
        return None
    match kind:
        case "actor":
            return Mention(ActorId(value), label.removeprefix("@"))
        case "group":
            return GroupMention(value, label.removeprefix("@"))
        case "broadcast" if value in _RANGES:
            return Broadcast(value)
        case "channel":
            return ChannelLink(value, label.removeprefix("#"))
        case "emoji":
            return Emoji(value, None, extras.get("url") or None)
        case "time" if value.lstrip("-").isascii() and value.lstrip("-").isdigit():
            fallback = "" if label == value else label
            return Timestamp(int(value), extras.get("style", "f"), fallback)
        case _:
            return None


def is_own_node(node: Inline) -> bool:
    return isinstance(node, get_args(OwnNode))


def as_own_node(node: Inline) -> OwnNode:
    return cast("OwnNode", node)


def _url(kind: str, value: str, **extras: str) -> str:
    query = urlencode({key: extra for key, extra in extras.items() if extra}, quote_via=quote)
    return f"{SCHEME}{kind}/{quote(value, safe=':@.!*-_~%')}" + (f"?{query}" if query else "")
