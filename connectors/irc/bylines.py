"""Names of authors before their messages: `<nick> text`; the nick notifies nobody. Pure."""

from __future__ import annotations

import re
import unicodedata

from bridge.content.text.graphemes import cluster_start
from bridge.content.text.names import cut_name
from connectors.irc.formatting import clean

GAP = "\u200b"  # a zero-width space: clients look for nicks as whole words
_MAX_NAME = 32  # characters
_BRIDGED = re.compile(rf"(?:<|\x01ACTION )[^\s<>]{{1,16}}{GAP}")
_NOT_IN_NICKS = re.compile(r"[^A-Za-z0-9\[\]\\`_^{|}-]+")


def byline(name: str, *, quiet: bool = True) -> str:
    """`<A​nn> `, with the gap behind the first character unless `quiet` is off."""
    readable = shown_name(name)
    return f"<{quieted(readable) if quiet else readable}> "


def shown_name(name: str) -> str:
    """One line without codes, `?` where nothing is left; angle brackets would end the byline."""
    one_line = " ".join(clean(name).replace("<", "‹").replace(">", "›").split())
    return cut_name(one_line, _MAX_NAME) or "?"


def quieted(name: str) -> str:
    """The name with a gap behind its first character as people see it."""
    if len(name) < 2:
        return name + GAP
    first = 1
    while first < len(name) and cluster_start(name, first) != first:
        first += 1
    while first < len(name) and unicodedata.category(name[first])[0] == "M":
        first += 1
    return name[:first] + GAP + name[first:]


def is_bridged(text: str) -> bool:
    """Whether a message begins with the quiet name of its author, as only bridges write it."""
    return _BRIDGED.match(text) is not None


def without_gaps(text: str) -> str:
    """What people copied from a byline, as it would be typed."""
    return text.replace(GAP, "")


def nick_from(name: str, suffix: str, limit: int) -> str:
    """A nick that a server takes for this name: `Zoë Müller` -> `Zoe_Muller[b]`."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    nick = _NOT_IN_NICKS.sub("_", plain).strip("_") or "someone"
    if nick[0].isdigit() or nick[0] == "-":
        nick = f"_{nick}"
    return nick[: max(1, limit - len(suffix))] + suffix
