"""Discord's markdown -> the text tree, as Discord's clients show it. Pure; total.

Source: docs, reference#message-formatting (2026-08), and the clients where the docs are silent.
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
    Spoiler,
    Strike,
    Strong,
    Text,
    Timestamp,
    Underline,
)
from bridge.model import ChannelRef
from connectors.discord import ids
from connectors.discord.styles import FENCE, LANGUAGE, LAST_SECOND, URL_END, Styled, is_word, tidy

_DEEPEST = 12  # lists within lists; what is deeper is read as plain lines
_EMOJI_URL = "https://cdn.discordapp.com/emojis/{id}.{kind}"

_STYLES: Mapping[str, type[Styled]] = {
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


# --- reading blocks -------------------------------------------------------------------------

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
                    pending[-1] += FENCE * 2
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
    column = line.find(FENCE)
    return None if column < 0 or line[:column].endswith("\\") else column


def _read_fence(lines: Sequence[str], at: int, column: int) -> _Fenced | None:
    inside = [lines[at][column + 3 :]]
    last = at
    while FENCE not in inside[-1]:
        last += 1
        if last == len(lines):
            return None
        inside.append(lines[last])
    inside[-1], rest = inside[-1].split(FENCE, 1)
    text = "\n".join(inside)
    language = LANGUAGE.match(text)
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
        url = found["url"].rstrip(URL_END)
        while url.endswith(")") and url.count(")") > url.count("("):
            url = url[:-1].rstrip(URL_END)
        if len(url) <= len("https://"):
            self._say(found["url"])
            return found.end()
        self._add(Link(url, (Text(url),)) if self._links else Text(url))
        return found.start() + len(url)

    def _masked_link(self, found: re.Match[str]) -> None:
        label = read_inline(found["label"], self._names, links=False)
        # Discord shows a label that looks like an address as plain text: nobody is to be misled.
        if not self._links or not label or "://" in plain_inlines(label):
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
            closes, opens = not is_word(after), not is_word(before)
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


def _timestamp(found: re.Match[str]) -> Inline:
    unix = int(found["unix"])
    if not 0 <= unix <= LAST_SECOND:
        return Text(found[0])
    style = found["style"] or "f"
    return Timestamp(unix, "f" if style in "sS" else style)
