"""Discord's markdown <-> the text tree. Pure.

Reading follows what Discord's clients show (docs: reference#message-formatting, 2026-08).
Writing gives text that reads back as the same tree: what looks like markup is escaped, and what
Discord has no form for (tables, rules, nested quotes) takes the nearest one that it has.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

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
    ListItem,
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
from bridge.model import ChannelRef, channel_of_key
from connectors.discord import ids

_DEEPEST = 12  # lists within lists; what is deeper is read as plain lines
_EMOJI_URL = "https://cdn.discordapp.com/emojis/{id}.{kind}"
_LAST_SECOND = 253_402_300_799  # of the year 9999

_Styled = Strong | Emphasis | Strike | Underline | Spoiler
_STYLES: Mapping[str, type[_Styled]] = {
    "**": Strong, "*": Emphasis, "_": Emphasis, "__": Underline, "~~": Strike, "||": Spoiler,
}  # fmt: skip


@dataclass(frozen=True)
class Names:
    """Where a text was said, and what the ids in it are called (id -> name)."""

    channel: ChannelRef
    people: Mapping[str, str] = field(default_factory=dict[str, str])
    others: Mapping[str, str] = field(default_factory=dict[str, str])  # roles and channels


def discord_to_text(native: str, names: Names) -> Document:
    """Total: any string in, a tree out. Subtext is read as plain text; it has no node."""
    lines = native.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return tuple(_Blocks(names).read(lines))


def text_to_discord(document: Document) -> str:
    """The text as Discord shows it. Mentions become readable names that ping nobody."""
    return _join_blocks(document, "\n\n")


# --- reading blocks -------------------------------------------------------------------------

_FENCE = "```"
_LANGUAGE = re.compile(r"([A-Za-z0-9_+\-.#]+)\n")
_HEADING = re.compile(r"(#{1,3}) +(\S.*)")
_SUBTEXT = re.compile(r"-# +(\S.*)")
_ITEM = re.compile(r"( *)(?:[-*]|(\d{1,9})\.) +(\S.*)")
_QUOTE = re.compile(r"> (.*)|>$")
_LONG_QUOTE = re.compile(r">>> ?(.*)")


class _Blocks:
    """Reads lines one after the other; a fence without an end is text."""

    def __init__(self, names: Names, depth: int = 0, *, quoted: bool = False) -> None:
        self._names = names
        self._depth = depth
        self._quoted = quoted

    def read(self, lines: list[str]) -> Iterator[Block]:
        pending: list[str] = []
        open_fences = True
        at = 0
        while at < len(lines):
            line = lines[at]
            if self._begins_block(line):
                yield from self._paragraph(pending)
                block, at = self._block(lines, at)
                yield block
            elif open_fences and (column := _find_fence(line)) is not None:
                code = _read_fence(lines, at, column)
                open_fences = code is not None
                if code is None:
                    continue
                pending.append(line[:column])
                if code.block.value:
                    yield from self._paragraph(pending)
                    yield code.block
                else:  # an empty fence is shown as its ticks
                    pending[-1] += _FENCE * 2
                at = code.line
                lines[at] = code.rest
                at += not code.rest.strip()
            elif line.strip():
                subtext = _SUBTEXT.fullmatch(line)
                pending.append(subtext[1] if subtext else line)
                at += 1
            else:
                yield from self._paragraph(pending)
                at += 1
        yield from self._paragraph(pending)

    def _begins_block(self, line: str) -> bool:
        if self._depth >= _DEEPEST:
            return False
        if not self._quoted and line.startswith(">") and (_QUOTE.match(line) or ">>>" in line[:3]):
            return True
        return bool(_HEADING.match(line) or _ITEM.match(line))

    def _block(self, lines: list[str], at: int) -> tuple[Block, int]:
        line = lines[at]
        if line.startswith(">") and not self._quoted:
            return self._quote(lines, at)
        if heading := _HEADING.match(line):
            children = read_inline(heading[2], self._names)
            return Heading(len(heading[1]), children), at + 1
        return self._list(lines, at)

    def _quote(self, lines: list[str], at: int) -> tuple[Block, int]:
        end = at
        inner: list[str] = []
        if rest := _LONG_QUOTE.match(lines[at]):
            inner, end = [rest[1], *lines[at + 1 :]], len(lines)
        else:
            while end < len(lines) and (quoted := _QUOTE.match(lines[end])):
                inner.append(quoted[1] or "")
                end += 1
        blocks = _Blocks(self._names, self._depth + 1, quoted=True).read(inner)
        return Quote(tuple(blocks)), end

    def _list(self, lines: list[str], at: int) -> tuple[Block, int]:
        first = _ITEM.match(lines[at])
        base = len(first[1]) if first else 0
        ordered = bool(first and first[2])
        items: list[list[str]] = []
        width = 2
        while at < len(lines):
            line = lines[at]
            item = _ITEM.match(line)
            indent = len(line) - len(line.lstrip(" "))
            if item and base <= indent < base + 2 and bool(item[2]) == ordered:
                items.append([item[3]])
                width = item.start(3) - indent
            elif items and line.strip() and indent >= base + 2:
                items[-1].append(line[min(indent, base + width) :])
            else:
                break
            at += 1
        inside = _Blocks(self._names, self._depth + 1, quoted=True)
        start = int(first[2]) if first and first[2] else None
        return List(tuple(ListItem(tuple(inside.read(item))) for item in items), start), at

    def _paragraph(self, pending: list[str]) -> Iterator[Block]:
        text = "\n".join(pending).strip()
        pending.clear()
        if text and (children := read_inline(text, self._names)):
            yield Paragraph(children)


@dataclass(frozen=True)
class _Fenced:
    block: CodeBlock
    line: int  # on which the fence ends
    rest: str  # what follows on that line


def _find_fence(line: str) -> int | None:
    column = line.find(_FENCE)
    return None if column < 0 or line[:column].endswith("\\") else column


def _read_fence(lines: Sequence[str], at: int, column: int) -> _Fenced | None:
    inside = [lines[at][column + 3 :]]
    last = at
    while _FENCE not in inside[-1]:
        last += 1
        if last == len(lines):
            return None
        inside.append(lines[last])
    inside[-1], rest = inside[-1].split(_FENCE, 1)
    text = "\n".join(inside)
    language = _LANGUAGE.match(text)
    value = text[language.end() :] if language else text
    return _Fenced(CodeBlock(value.strip("\n"), language[1] if language else ""), last, rest)


# --- reading lines --------------------------------------------------------------------------

_TOKEN = re.compile(
    r"""
      \\(?P<escaped>[^0-9A-Za-z\s])
    | (?P<ticks>`+)
    | <(?P<auto>https?://[^\s<>]+)>
    | <@!?(?P<user>\d{1,20})>
    | <@&(?P<role>\d{1,20})>
    | <\#(?P<channel>\d{1,20})>
    | <(?P<moving>a?):(?P<emoji>\w{1,64}):(?P<emoji_id>\d{1,20})>
    | <t:(?P<unix>-?\d{1,15})(?::(?P<style>[tTdDfFRsS]))?>
    | </(?P<command>[^<>:\n]{1,100}):\d{1,20}>
    | <id:(?P<guide>[a-z-]{1,40})>
    | \[(?P<label>(?:\\.|[^\[\]\\\n]|\[[^\[\]\\\n]{0,200}\]){1,1000})\]
      \(\s*(?P<target><https?://[^\s<>]+>|https?://(?:[^\s()<>]|\([^\s()<>]{0,500}\))+)
      (?:\s+"[^"\n]{0,500}")?\s*\)
    | (?P<url>https?://[^\s<]+)
    | @(?P<broadcast>everyone|here)\b
    | (?P<run>\*+|_+|~~|\|\|)
    | (?P<line>\n)
    """,
    re.VERBOSE,
)
_URL_END = ".,:;\"'!?]}*_~|"


def read_inline(text: str, names: Names, *, links: bool = True) -> tuple[Inline, ...]:
    """The inline nodes of a few lines; a line break is a `Break`."""
    return _Reader(text, names, links=links).read()


class _Frame:
    """A style that began and did not end yet (the outermost has no mark)."""

    def __init__(self, mark: str) -> None:
        self.mark = mark
        self.children: list[Inline] = []


class _Reader:
    """One pass; each style is open at most once, so the stack is never deep."""

    def __init__(self, text: str, names: Names, *, links: bool) -> None:
        self._text = text
        self._names = names
        self._links = links
        self._stack = [_Frame("")]
        self._ticks: dict[int, list[int]] = {}
        for run in re.finditer("`+", text):
            self._ticks.setdefault(len(run[0]), []).append(run.start())

    def read(self) -> tuple[Inline, ...]:
        at = 0
        while found := _TOKEN.search(self._text, at):
            self._say(self._text[at : found.start()])
            at = self._take(found)
        self._say(self._text[at:])
        while len(self._stack) > 1:
            self._give_up()
        return tidy(self._stack[0].children)

    def _take(self, found: re.Match[str]) -> int:
        kind = found.lastgroup or ""
        match kind:
            case "ticks":
                return self._code(found)
            case "run":
                self._marks(found[0], found.start(), found.end())
            case "line":
                self._add(Break())
            case "url":
                return self._bare_link(found)
            case "target":
                self._masked_link(found)
            case _:
                self._add(self._node(kind, found))
        return found.end()

    def _node(self, kind: str, found: re.Match[str]) -> Inline:
        where, names = self._names.channel, self._names
        match kind:
            case "escaped":
                return Text(found["escaped"])
            case "auto":
                return Link(found["auto"], (Text(found["auto"]),))
            case "user":
                user = found["user"]
                return Mention(ids.actor_id(where, user), names.people.get(user, user))
            case "role":
                role = found["role"]
                return GroupMention(ids.group_key(where, role), names.others.get(role, role))
            case "channel":
                channel = found["channel"]
                key = ids.channel_ref(where.workspace, channel).key
                return ChannelLink(key, names.others.get(channel, channel))
            case "emoji_id":
                url = _EMOJI_URL.format(id=found["emoji_id"], kind=_kind(found["moving"]))
                return Emoji(found["emoji"], url=url)
            case "unix" | "style":
                return _timestamp(found)
            case "broadcast":
                return Broadcast("here" if found["broadcast"] == "here" else "everyone")
            case "command":
                return Text(f"/{found['command']}")
            case _:
                return Text(f"#{found['guide']}")

    def _code(self, found: re.Match[str]) -> int:
        ticks = self._ticks.get(len(found[0]), [])
        closing = bisect_left(ticks, found.end())
        value = self._text[found.end() : ticks[closing]].strip() if closing < len(ticks) else ""
        if not value:
            self._say(found[0])
            return found.end()
        self._add(Code(value.replace("\n", " ")))
        return ticks[closing] + len(found[0])

    def _bare_link(self, found: re.Match[str]) -> int:
        url = found["url"].rstrip(_URL_END)
        while url.endswith(")") and url.count(")") > url.count("("):
            url = url[:-1].rstrip(_URL_END)
        if len(url) <= len("https://"):
            self._say(found["url"])
            return found.end()
        self._add(Link(url, (Text(url),)) if self._links else Text(url))
        return found.start() + len(url)

    def _masked_link(self, found: re.Match[str]) -> None:
        label = read_inline(found["label"], self._names, links=False)
        if not self._links or not label:
            self._say(found[0])
        else:
            self._add(Link(found["target"].strip("<>"), label))

    def _marks(self, run: str, start: int, end: int) -> None:
        before = self._text[start - 1] if start else " "
        after = self._text[end] if end < len(self._text) else " "
        mark = run[0]
        if mark in "~|":
            self._toggle(run)
            return
        left = len(run)
        while left:
            left -= self._mark(mark, left, before, after)

    def _mark(self, mark: str, left: int, before: str, after: str) -> int:
        """Open or close with one or two characters of a run; says how many were used."""
        double = mark * 2
        opened = next((f.mark for f in reversed(self._stack) if f.mark in (mark, double)), None)
        closes, opens = not before.isspace(), not after.isspace()
        if mark == "_":
            closes, opens = not _is_word(after), not _is_word(before)
        if opened == mark and closes and left != 2:
            return self._toggle(mark)
        if left >= 2 and (opened == double or self._is_open(double)):
            return self._toggle(double)
        if left >= 3 and opens and opened is None:
            return self._toggle(mark)
        if left >= 2:
            return self._toggle(double)
        if opens and not self._is_open(mark):
            return self._toggle(mark)
        self._say(mark)
        return 1

    def _is_open(self, mark: str) -> bool:
        return any(frame.mark == mark for frame in self._stack)

    def _toggle(self, mark: str) -> int:
        if not self._is_open(mark):
            self._stack.append(_Frame(mark))
            return len(mark)
        while self._stack[-1].mark != mark:
            self._give_up()
        if not self._stack[-1].children:
            self._give_up()
            self._say(mark)
        else:
            frame = self._stack.pop()
            self._add(_STYLES[mark](tidy(frame.children)))
        return len(mark)

    def _give_up(self) -> None:
        """The innermost style never ended: its mark was text."""
        frame = self._stack.pop()
        self._say(frame.mark)
        self._stack[-1].children.extend(frame.children)

    def _say(self, text: str) -> None:
        if text:
            self._add(Text(text))

    def _add(self, node: Inline) -> None:
        self._stack[-1].children.append(node)


def _kind(moving: str | None) -> str:
    return "gif" if moving else "webp"


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _timestamp(found: re.Match[str]) -> Inline:
    unix = int(found["unix"])
    if not 0 <= unix <= _LAST_SECOND:
        return Text(found[0])
    style = found["style"] or "f"
    return Timestamp(unix, "f" if style in "sS" else style)


def tidy(children: Sequence[Inline]) -> tuple[Inline, ...]:
    """Neighbours of one kind become one; what is empty goes; a style within itself is one."""
    out: list[Inline] = []
    for child in children:
        last = out[-1] if out else None
        if isinstance(child, Text) and not child.value:
            continue
        if isinstance(child, Text) and isinstance(last, Text):
            out[-1] = Text(last.value + child.value)
        elif isinstance(child, Code) and isinstance(last, Code):
            out[-1] = Code(last.value + child.value)
        elif isinstance(child, _Styled) and not child.children:
            continue
        elif isinstance(child, _Styled) and isinstance(last, _Styled) and type(child) is type(last):
            out[-1] = type(child)(tidy((*last.children, *child.children)))
        else:
            out.append(child)
    return tuple(out)


# --- writing --------------------------------------------------------------------------------

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
            known = 0 <= unix <= _LAST_SECOND and style in "tTdDfFR"
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
        if mark == "_" and not _is_word(before) and not _is_word(after[:1]):
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
        whole = safe == safe.rstrip(_URL_END) and safe.count("(") == safe.count(")")
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
        if isinstance(child, _Styled):
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
    value = block.value.replace(_FENCE, "`\u200b`\u200b`").strip("\n")
    language = block.language if _LANGUAGE.fullmatch(block.language + "\n") else ""
    apart = "\u200b" if value.endswith("`") else ""
    return f"{_FENCE}{language}\n{value or ' '}{apart}\n{_FENCE}"


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
