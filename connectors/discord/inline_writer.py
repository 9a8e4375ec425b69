"""Inline nodes -> Discord's markdown, with markup in texts escaped; only pings ping. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import cast

from bridge.content.text.inlines import leaves, plain_inlines
from bridge.content.text.tree import (
    Break,
    Broadcast,
    BroadcastPing,
    ChannelLink,
    ChannelThere,
    Code,
    Emoji,
    Emphasis,
    GroupMention,
    GroupPing,
    Inline,
    Link,
    Mention,
    Ping,
    Spoiler,
    Strike,
    Strong,
    Text,
    Timestamp,
    Underline,
)
from bridge.model import channel_of_key
from connectors.discord import ids
from connectors.discord.emoji import native_emoji
from connectors.discord.styles import APART, LAST_SECOND, URL_END, Styled, is_word, tidy

# The pattern begins with one set of characters, so the search compares before it matches.
_SPECIAL = re.compile(
    r"[\\*~`|<\[\]_@](?:(?<=[\\*~`|<\[\]])|(?<=_)(?:(?<![0-9A-Za-z]_)|(?![0-9A-Za-z]))"
    r"|(?<=@)(?=everyone|here))"
)
_SCHEME = re.compile(r"(https?)(://)", re.IGNORECASE)
_LINE_START = re.compile(
    r"(?P<space> *)(?:(?P<mark>[-#>])(?=[\s#>]|$)|(?P<number>[0-9]+)(?=\.(?:\s|$))|(?P<rule>─{3}))"
)
_STARTS = frozenset(" -#>0123456789─")
_SIGNS: dict[type[Inline], str] = {Strong: "**", Strike: "~~", Underline: "__", Spoiler: "||"}
_FIRST: Mapping[type[Inline], str] = {
    Strong: "*",
    Strike: "~",
    Underline: "_",
    Spoiler: "|",
    Code: "`",
    Break: "\n",
}
_MARKS = "*_~|`"
_STOPS = (".", ",", ":", ";", "!", "?")
_PAIRED = re.compile(r"(?:[^()]|\([^()]*\))*")
_UNSAFE = re.compile(r"[\s<>\"\\*`|\x00-\x1f]")
_Within = frozenset[type[Inline]]
_NOTHING: _Within = frozenset()


def escape(text: str, *, starts_line: bool = False) -> str:
    """Return the text escaped, so that Discord shows its characters unchanged."""
    escaped = _SPECIAL.sub(r"\\\g<0>", text)
    if "://" in escaped:
        escaped = _SCHEME.sub(r"\1\\\2", escaped)
    if starts_line and escaped[:1] in _STARTS and (match := _LINE_START.match(escaped)):
        at = match.end("number") if match["number"] else match.end("space")
        return f"{escaped[:at]}{APART if match['rule'] else chr(92)}{escaped[at:]}"
    return escaped


def write_inline(
    children: Sequence[Inline], before: str = "\n", after: str = "\n", within: _Within = _NOTHING
) -> str:
    """Return the nodes as Discord's markdown.

    `before` and `after` are the adjacent characters: they decide which marks are possible.
    `within` are the enclosing styles: a style nested in itself is dropped, because its mark would
    end the outer one.
    """
    nodes = tidy(leaves(children, within) if within else children)
    out: list[str] = []
    last = before
    for index, node in enumerate(nodes):
        if isinstance(node, Text):
            value = node.value.replace("\n", " ") if "\n" in node.value else node.value
            piece = escape(value, starts_line=last[-1] == "\n")
        elif isinstance(node, (Emphasis, Link)):
            next_text = (
                "".join(
                    [_first_of(following_node) for following_node in nodes[index + 1 : index + 3]]
                )
                + after
            )
            piece = _depending(node, last[-1], next_text[:2], within)
        else:
            piece = _write(node, within)
        if piece:
            out.append(piece)
            last = piece
    return "".join(out)


def _first_of(node: Inline) -> str:
    match node:
        case Text(value):
            return escape(value)[:2]
        case Link(url, children):
            return "h" if _is_bare(url, children) else "["
        case Emoji(_, unicode):
            return unicode[:1] if unicode else "<"
        case _:
            return _FIRST.get(type(node), "@")


def _depending(node: Emphasis | Link, before: str, after: str, within: _Within) -> str:
    """Return an emphasis or link, whose form depends on the adjacent characters."""
    if isinstance(node, Emphasis):
        return _emphasis(node.children, before, after, within | {Emphasis})
    return _link_of(node.url, node.children, after, within)


def _write(node: Inline, within: _Within) -> str:
    if mark := _SIGNS.get(type(node)):
        styled = cast("Styled", node)
        inner = write_inline(styled.children, mark[-1], mark[0], within | {type(node)})
        return f"{mark}{inner}{mark}" if inner else ""
    match node:
        case Break():
            return "\n"
        case Code(value):
            return _code_of(value)
        case Ping() | GroupPing() | BroadcastPing() | ChannelThere():
            return ids.reference_of(node)
        case Mention(name=name) | GroupMention(name=name):
            return _at(name)
        case Broadcast(range=range_):
            return _at(range_)
        case ChannelLink(channel, name):
            return _channel_of(channel, name)
        case Emoji(name, unicode):
            return unicode or native_emoji(node) or f":{escape(name.strip(':'))}:"
        case Timestamp(unix, style, fallback):
            valid = 0 <= unix <= LAST_SECOND and style in "tTdDfFR"
            return f"<t:{unix}:{style or 'f'}>" if valid else escape(fallback or str(unix))
        case _:
            return escape(plain_inlines((node,)))


def _at(name: str) -> str:
    """Readable and harmless: a space of no width breaks what Discord would take for a ping."""
    broken = f"@{APART}" if name.startswith(("everyone", "here")) else "@"
    return broken + escape(name.removeprefix("@"))


def _channel_of(key: str, name: str) -> str:
    try:
        channel = channel_of_key(key)
    except ValueError:
        channel = None
    if channel and channel.platform == ids.PLATFORM and channel.channel.isdecimal():
        return f"<#{channel.channel}>"
    return "#" + escape(name.removeprefix("#"))


# --- styles and code ------------------------------------------------------------------------


def _emphasis(children: Sequence[Inline], before: str, after: str, within: _Within) -> str:
    """Return the text in `*` or `_`, whichever forms no longer run here, else without a mark."""
    for mark in "*_":
        inner = write_inline(children, mark, mark, within)
        if not inner or mark in (before, after[:1], inner[0]) or _ends_with(inner, mark):
            continue
        if mark == "*" and not inner[0].isspace() and not inner[-1].isspace():
            return f"*{inner}*"
        if mark == "_" and not is_word(before) and not is_word(after[:1]):
            return f"_{inner}_"
    plain = write_inline(children, before, after, within)
    # Without a mark between them, marks of neighbours would run into one another.
    first = APART if plain and plain[0] == before and before in _MARKS else ""
    last = APART if plain and plain[-1] == after[:1] and after[:1] in _MARKS else ""
    return f"{first}{plain}{last}"


def _ends_with(inner: str, mark: str) -> bool:
    return inner.endswith(mark) and not inner.endswith(f"\\{mark}")


def _code_of(value: str) -> str:
    text = value.strip() if "\n" not in value else " ".join(value.split("\n")).strip()
    if "`" not in text:
        return f"`{text}`" if text else ""
    runs = {len(run) for run in re.findall("`+", text)}
    if runs not in ({1}, {2}):
        # Three ticks begin a block, and the border needs one length that the text does not use.
        text = re.sub("`(?=`)", f"`{APART}", text)
        runs = {1}
    ticks = "``" if runs == {1} else "`"
    pad = " " if "`" in (text[0], text[-1]) else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


# --- links ----------------------------------------------------------------------------------


def _is_bare(url: str, children: Sequence[Inline]) -> bool:
    return len(children) == 1 and isinstance(child := children[0], Text) and child.value == url


def _link_of(url: str, children: Sequence[Inline], after: str, within: _Within) -> str:
    safe = _safe_url(url)
    label = tuple([Text(" ") if isinstance(child, Break) else child for child in children])
    if not url.startswith(("http://", "https://")) or len(safe) < len("http://x"):
        address = escape(url.removeprefix("mailto:"))
        label_text = write_inline(label, " ", " ", within | {Link})
        return address if label_text in ("", address) else f"{label_text} ({address})"
    if _is_bare(url, children):
        whole = safe[-1] not in URL_END and safe.count("(") == safe.count(")")
        ends = after[:1].isspace() or (after[:1] in _STOPS and after[1:].isspace())
        return safe if whole and ends else f"<{safe}>"
    label_text = write_inline(label, "[", "]", within | {Link})
    # Discord shows a masked link as plain text when its label looks like an address.
    if not label_text.strip() or "://" in label_text.replace("\\", "") or len(label_text) > 900:
        return f"{label_text} (<{safe}>)" if label_text.strip() else f"<{safe}>"
    return f"[{label_text}]({safe if _PAIRED.fullmatch(safe) else _no_brackets(safe)})"


def _no_brackets(url: str) -> str:
    return url.replace("(", "%28").replace(")", "%29")


def _safe_url(url: str) -> str:
    """Return the URL with characters that end the link or begin markup percent-encoded."""
    return _UNSAFE.sub(lambda match: "".join([f"%{b:02X}" for b in match[0].encode()]), url)
