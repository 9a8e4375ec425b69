"""The text tree -> Discord's markdown. Pure.

What is written reads back as the same tree: what looks like markup is escaped, and what Discord
has no form for (tables, rules, nested quotes) takes the nearest one that it has.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from bridge.content.inlines import plain_inlines
from bridge.content.text import (
    Block,
    Break,
    Broadcast,
    ChannelLink,
    Code,
    CodeBlock,
    Document,
    Emoji,
    Emphasis,
    GroupMention,
    Heading,
    Inline,
    Link,
    List,
    Mention,
    Paragraph,
    Quote,
    Rule,
    Spoiler,
    Strike,
    Strong,
    Table,
    Text,
    Timestamp,
    Underline,
)
from bridge.model import channel_of_key
from connectors.discord import ids
from connectors.discord.styles import FENCE, LANGUAGE, LAST_SECOND, URL_END, Styled, is_word, tidy


def text_to_discord(document: Document) -> str:
    """The text as Discord shows it. Mentions become readable names that ping nobody."""
    return _join_blocks(document, "\n\n")


_SPECIAL = re.compile(r"[\\*~`|<\[\]]|(?<![0-9A-Za-z])_|_(?![0-9A-Za-z])|@(?=everyone|here)")
_SCHEME = re.compile(r"(?i)(https?)(://)")
_LINE_START = re.compile(
    r"(?P<space> *)(?:(?P<mark>[-#>])(?=[\s#>]|$)|(?P<number>\d+)(?=\.(?:\s|$)))"
)
_FIRST: Mapping[type[Inline], str] = {
    Strong: "*",
    Strike: "~",
    Underline: "_",
    Spoiler: "|",
    Code: "`",
    Break: "\n",
}
_NATIVE_EMOJI = re.compile(
    r"https://cdn\.discordapp\.com/emojis/(\d{1,20})\.(webp|png|gif)(?:\?.*)?"
)
_NAME = re.compile(r"\w{2,32}")
_MARKS = "*_~|`"
_STOPS = (".", ",", ":", ";", "!", "?")
_PAIRED = re.compile(r"(?:[^()]|\([^()]*\))*")
_ALIGN = {"left": str.ljust, "center": str.center, "right": str.rjust, None: str.ljust}


def escape(text: str, *, starts_line: bool = False) -> str:
    """Characters that Discord shows as they are."""
    escaped = _SCHEME.sub(r"\1\\\2", _SPECIAL.sub(r"\\\g<0>", text))
    if starts_line and (found := _LINE_START.match(escaped)):
        at = found.end("space") if found["mark"] else found.end("number")
        return f"{escaped[:at]}\\{escaped[at:]}"
    return escaped


def write_inline(children: Sequence[Inline], before: str = "\n", after: str = "\n") -> str:
    """`before` and `after` are the characters around: they decide which mark can stand there."""
    nodes = tidy(children)
    out = ""
    for index, node in enumerate(nodes):
        following = "".join(_first_of(one) for one in nodes[index + 1 : index + 3]) + after
        out += _write(node, (out or before)[-1], following[:2])
    return out


def _first_of(node: Inline) -> str:
    match node:
        case Text(value=value):
            return escape(value)[:2]
        case Link(url=url, children=children):
            return "h" if _is_bare(url, children) else "["
        case Emoji(unicode=unicode):
            return unicode[:1] if unicode else "<"
        case _:
            return _FIRST.get(type(node), "@")


def _write(node: Inline, before: str, after: str) -> str:
    match node:
        case Text(value=value):
            return escape(value.replace("\n", " "), starts_line=before == "\n")
        case Break():
            return "\n"
        case Strong(children=children):
            return _wrap("**", children)
        case Emphasis(children=children):
            return _emphasis(children, before, after)
        case Strike(children=children):
            return _wrap("~~", children)
        case Underline(children=children):
            return _wrap("__", children)
        case Spoiler(children=children):
            return _wrap("||", children)
        case Code(value=value):
            return _code_of(value)
        case Link(url=url, children=children):
            return _link_of(url, children, after)
        case _:
            return _named(node)


def _named(node: Inline) -> str:
    match node:
        case Mention(name=name) | GroupMention(name=name):
            return _at(name)
        case Broadcast(range=range_):
            return _at("everyone" if range_ == "everyone" else range_)
        case ChannelLink(channel=channel, name=name):
            return _channel_of(channel, name)
        case Emoji():
            return _emoji_of(node)
        case Timestamp(unix=unix, style=style, fallback=fallback):
            known = 0 <= unix <= LAST_SECOND and style in "tTdDfFR"
            return f"<t:{unix}:{style}>" if known else escape(fallback or str(unix))
        case _:
            return ""


def _at(name: str) -> str:
    """Readable and harmless: a zero-width space breaks what Discord would take for a ping."""
    broken = "@\u200b" if name.startswith(("everyone", "here")) else "@"
    return broken + escape(name.removeprefix("@"))


def _channel_of(key: str, name: str) -> str:
    try:
        channel = channel_of_key(key)
    except ValueError:
        channel = None
    if channel and channel.platform == ids.PLATFORM and channel.channel.isdecimal():
        return f"<#{channel.channel}>"
    return "#" + escape(name.removeprefix("#"))


def _emoji_of(emoji: Emoji) -> str:
    if emoji.unicode:
        return emoji.unicode
    native = _NATIVE_EMOJI.fullmatch(emoji.url or "")
    if native and _NAME.fullmatch(emoji.name):
        return f"<{'a' if native[2] == 'gif' else ''}:{emoji.name}:{native[1]}>"
    return f":{escape(emoji.name.strip(':'))}:"


def _wrap(mark: str, children: Sequence[Inline]) -> str:
    inner = write_inline(children, mark[-1], mark[0])
    return f"{mark}{inner}{mark}" if inner else ""


def _emphasis(children: Sequence[Inline], before: str, after: str) -> str:
    """`*` or `_`, whichever is no part of a longer run here; neither where both would be."""
    for mark, clash in (("*", "*"), ("_", "_")):
        inner = write_inline(children, mark, mark)
        if not inner or clash in (before, after[:1], inner[0]) or _ends_with(inner, clash):
            continue
        if mark == "*" and not inner[0].isspace() and not inner[-1].isspace():
            return f"*{inner}*"
        if mark == "_" and not is_word(before) and not is_word(after[:1]):
            return f"_{inner}_"
    plain = write_inline(children, before, after)
    # Without a mark between them, marks of neighbours would run into one another.
    first = "\u200b" if plain and plain[0] == before and before in _MARKS else ""
    last = "\u200b" if plain and plain[-1] == after[:1] and after[:1] in _MARKS else ""
    return f"{first}{plain}{last}"


def _ends_with(inner: str, mark: str) -> bool:
    return inner.endswith(mark) and not inner.endswith(f"\\{mark}")


def _code_of(value: str) -> str:
    text = " ".join(value.split("\n")).strip()
    if not text:
        return ""
    runs = {len(run) for run in re.findall("`+", text)}
    if runs and runs not in ({1}, {2}):
        # Three ticks would begin a block, and one of two lengths has to be free for the border.
        text = re.sub("`(?=`)", "`\u200b", text)
        runs = {1}
    ticks = "``" if runs == {1} else "`"
    pad = " " if "`" in (text[0], text[-1]) else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def _is_bare(url: str, children: Sequence[Inline]) -> bool:
    return tuple(children) == (Text(url),)


def _link_of(url: str, children: Sequence[Inline], after: str) -> str:
    safe = _safe_url(url)
    label = _plain_breaks(children)
    if not url.startswith(("http://", "https://")) or len(safe) < len("http://x"):
        address = escape(url.removeprefix("mailto:"))
        said = write_inline(label, " ", " ")
        return address if said in ("", address) else f"{said} ({address})"
    if _is_bare(url, children):
        whole = safe == safe.rstrip(URL_END) and safe.count("(") == safe.count(")")
        ends = after[:1].isspace() or (after[:1] in _STOPS and after[1:].isspace())
        return safe if whole and ends else f"<{safe}>"
    said = write_inline(label, "[", "]")
    # Discord shows a masked link as plain text when its label looks like an address.
    if not said.strip() or "://" in said.replace("\\", "") or len(said) > 900:
        return f"{said} (<{safe}>)" if said.strip() else f"<{safe}>"
    return f"[{said}]({safe if _PAIRED.fullmatch(safe) else _no_brackets(safe)})"


def _plain_breaks(children: Sequence[Inline]) -> tuple[Inline, ...]:
    return tuple(Text(" ") if isinstance(child, Break) else child for child in children)


def _no_brackets(url: str) -> str:
    return url.replace("(", "%28").replace(")", "%29")


def _safe_url(url: str) -> str:
    """What would end the link or begin markup, percent-encoded."""
    return re.sub(
        r"[\s<>\"\\*`|\x00-\x1f]", lambda f: "".join(f"%{b:02X}" for b in f[0].encode()), url
    )


def _unnested(children: Sequence[Inline], within: tuple[type[Inline], ...]) -> Iterator[Inline]:
    """A style within itself says nothing, and its mark would end the outer one."""
    for child in children:
        if isinstance(child, Styled):
            kind = type(child)
            inner = tuple(_unnested(child.children, (*within, kind)))
            if kind in within:
                yield from inner
            else:
                yield kind(inner)
        elif isinstance(child, Link):
            yield Link(child.url, tuple(_unnested(child.children, within)))
        else:
            yield child


def _join_blocks(blocks: Sequence[Block], gap: str) -> str:
    out = ""
    after_heading = False
    for block in blocks:
        text = _write_block(block)
        if text.strip():
            out += ("\n" if after_heading else gap) * bool(out) + text
            after_heading = isinstance(block, Heading)
    return out


def _write_block(block: Block) -> str:
    match block:
        case Paragraph(children=children):
            return write_inline(tuple(_unnested(children, ())))
        case Heading(level=level, children=children):
            line = write_inline(tuple(_unnested(_plain_breaks(children), ())), " ").strip()
            return f"{'#' * min(level, 3)} {line}" if line else ""
        case Quote(blocks=blocks):
            lines = _join_blocks(tuple(_unquoted(blocks)), "\n\n").split("\n")
            return "\n".join(f"> {line}" for line in lines) if any(lines) else ""
        case CodeBlock():
            return _code_block_of(block)
        case List():
            return _list_of(block)
        case Table():
            return _code_block_of(CodeBlock(_table_of(block)))
        case Rule():
            return "─" * 12


def _unquoted(blocks: Sequence[Block]) -> Iterator[Block]:
    """Discord has no quote within a quote: the inner one is said on the same level."""
    for block in blocks:
        if isinstance(block, Quote):
            yield from _unquoted(block.blocks)
        else:
            yield block


def _code_block_of(block: CodeBlock) -> str:
    """Nothing escapes a fence within code: a zero-width space keeps its ticks apart."""
    value = block.value.replace(FENCE, "`\u200b`\u200b`").strip("\n")
    language = block.language if LANGUAGE.fullmatch(block.language + "\n") else ""
    apart = "\u200b" if value.endswith("`") else ""
    return f"{FENCE}{language}\n{value or ' '}{apart}\n{FENCE}"


def _list_of(block: List) -> str:
    lines: list[str] = []
    for number, item in enumerate(block.items, block.start or 0):
        mark = "- " if block.start is None else f"{number}. "
        box = {True: "☑ ", False: "☐ ", None: ""}[item.checked]
        body = box + _join_blocks(item.blocks, "\n")
        first, *rest = body.split("\n")
        lines.append(mark + (first or "\u200b"))
        lines += [" " * len(mark) + line for line in rest if line.strip()]
    return "\n".join(lines)


def _table_of(table: Table) -> str:
    rows = [[_cell(cell) for cell in row] for row in (table.header, *table.rows)]
    columns = max((len(row) for row in rows), default=0)
    padded = [row + [""] * (columns - len(row)) for row in rows]
    widths = [max(len(row[column]) for row in padded) for column in range(columns)]
    aligns = [*table.align, *[None] * columns][:columns]
    lines = [
        " | ".join(
            _ALIGN[align](cell, width)
            for cell, width, align in zip(row, widths, aligns, strict=True)
        ).rstrip()
        for row in padded
    ]
    lines.insert(1, "-+-".join("-" * width for width in widths))
    return "\n".join(lines)


def _cell(children: Sequence[Inline]) -> str:
    return plain_inlines(children).replace("\n", " ")
