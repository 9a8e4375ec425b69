"""Mentions, channel links, custom emoji and times <-> links of the scheme `uacs:`.

`[@Ann](uacs:actor/chat:T0:U1)`, `[@devs](uacs:group/KEY)`, `[@here](uacs:broadcast/here)`,
`[#general](uacs:channel/chat:T0:C1)`, `[:party:](uacs:emoji/party?url=...)`, `[3
May](uacs:time/1700000000?style=f)`.
"""

from __future__ import annotations

import re
from urllib.parse import parse_qs, quote, unquote, urlencode

from bridge.content.text.tree import (
    Broadcast,
    ChannelLink,
    Emoji,
    GroupMention,
    Mention,
    Timestamp,
)
from bridge.content.text.urls import safe_url
from bridge.model import ActorId

SCHEME = "uacs:"
OwnNode = Mention | GroupMention | Broadcast | ChannelLink | Emoji | Timestamp
_RANGES = ("everyone", "channel", "here")
_UNIX = re.compile(r"-?[0-9]{1,15}")
_NO_CHARACTER = re.compile("[\x00\ud800-\udfff]")


def own_node_to_link(node: OwnNode) -> tuple[str, str]:
    """Returns the label and the URL of one of our nodes."""
    match node:
        case Mention(actor, name):
            return _label(f"@{name}"), _url("actor", actor)
        case GroupMention(group, name):
            return _label(f"@{name}"), _url("group", group)
        case Broadcast(range=range_):
            return f"@{range_}", _url("broadcast", range_)
        case ChannelLink(channel, name):
            return _label(f"#{name}"), _url("channel", channel)
        case Emoji(name, _, url):
            return _label(f":{name}:"), _url("emoji", name, url=url or "")
        case Timestamp(unix, style, fallback):
            return _label(fallback) or str(unix), _url("time", str(unix), style=style)


def link_to_own_node(label: str, url: str) -> OwnNode | None:
    """Returns the node of a link; None if the link is not one of ours or is malformed."""
    if not url.startswith(SCHEME):
        return None
    kind, _, rest = url.removeprefix(SCHEME).partition("/")
    value, _, query = rest.partition("?")
    value, label = _encodable(unquote(value)), _label(label)
    if not value:
        return None
    extras = {key: values[0] for key, values in parse_qs(query).items()} if query else {}
    match kind:
        case "actor":
            return Mention(ActorId(value), label.removeprefix("@"))
        case "group":
            return GroupMention(value, label.removeprefix("@"))
        case "broadcast" if value in _RANGES:
            return Broadcast(value)
        case "channel":
            return ChannelLink(value, label.removeprefix("#"))
        case "emoji" if value == _label(value):
            return Emoji(value, None, safe_url(extras.get("url", "")))
        case "time" if _UNIX.fullmatch(value):
            fallback = "" if label in (value, str(int(value))) else label
            return Timestamp(int(value), _encodable(extras.get("style", "")) or "f", fallback)
        case _:
            return None


def readable_own_node(node: OwnNode) -> OwnNode | None:
    """Returns the node as it is read after it was written; None if it cannot be written."""
    return link_to_own_node(*own_node_to_link(node))


def _label(text: str) -> str:
    """One line without white space at its edges: names have no layout."""
    return " ".join(_encodable(text).split())


def _encodable(text: str) -> str:
    """The text with U+FFFD for NUL and lone surrogates."""
    return _NO_CHARACTER.sub("\ufffd", text)


def _url(kind: str, value: str, **extras: str) -> str:
    parameters = {key: _encodable(extra) for key, extra in extras.items() if extra}
    query = urlencode(parameters, quote_via=quote)
    path = f"{SCHEME}{kind}/{quote(_encodable(value), safe=':@.!*-_~')}"
    return f"{path}?{query}" if query else path
