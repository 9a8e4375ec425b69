"""Lines of Discord's markdown -> inline nodes: styles, links, mentions, emoji, times. Pure."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import cast

from bridge.content.text.inlines import has_neighbours_of_one_kind, plain_inlines
from bridge.content.text.tree import (
    BREAK,
    Broadcast,
    ChannelLink,
    Code,
    Emphasis,
    GroupMention,
    Inline,
    Link,
    Mention,
    Spoiler,
    Strike,
    Strong,
    Text,
    Timestamp,
    Underline,
)
from bridge.model import ChannelRef
from connectors.discord import ids
from connectors.discord.emoji import custom_emoji
from connectors.discord.styles import LAST_SECOND, URL_END, Styled, is_word, tidy

_STYLES: Mapping[str, type[Styled]] = {
    "**": Strong, "*": Emphasis, "_": Emphasis, "__": Underline, "~~": Strike, "||": Spoiler,
}  # fmt: skip
_MARKS = frozenset("*_~|")

# The pattern begins with one set of characters, so the search compares before it matches. Two
# single ticks with text between are one token; `_paired` pairs other runs of ticks.
_SIGN = r"""([\\`<\[h@*_~|\n](?:
      (?<=\\)[^0-9A-Za-z\s]
    | (?<=`)(?<!``)[^`]+`(?!`)
    | (?<=`)`*
    | (?<=<)(?:
          https?://[^\s<>]+> | @[!&]?[0-9]{1,20}> | \#[0-9]{1,20}>
        | a?:\w{1,64}:[0-9]{1,20}> | t:-?[0-9]{1,15}(?::[tTdDfFRsS])?>
        | /[^<>:\n]{1,100}:[0-9]{1,20}> | id:[a-z-]{1,40}> )
    | (?<=\[)(?:\\.|[^\[\]\\\n]|\[[^\[\]\\\n]{0,200}\]){1,1000}\]
      \(\s*(?:<https?://[^\s<>]+>|https?://(?:[^\s()<>]|\([^\s()<>]{0,500}\))+)
      (?:\s+"[^"\n]{0,500}")?\s*\)
    | (?<=h)(?:ttps?://[^\s<]+)
    | (?<=@)(?:everyone|here)\b
    | (?<=\*)\** | (?<=_)_* | (?<=~)~ | (?<=\|)\|
    | (?<=\n)
))"""
_tokens = re.compile(_SIGN, re.VERBOSE).split
_token = re.compile(_SIGN, re.VERBOSE).search
_TICKS = re.compile("`+")
_ANGLE = re.compile(
    r"""<(?:
      (?P<auto>https?://[^\s<>]+)
    | @!?(?P<user>[0-9]+) | @&(?P<role>[0-9]+) | \#(?P<channel>[0-9]+)
    | (?P<moving>a?):(?P<emoji>\w+):(?P<emoji_id>[0-9]+)
    | t:(?P<unix>-?[0-9]+)(?::(?P<style>[tTdDfFRsS]))?
    | /(?P<command>[^<>:\n]+):[0-9]+
    | id:(?P<guide>[a-z-]+)
    )>""",
    re.VERBOSE,
)
_MASKED = re.compile(
    r"""\[(?P<label>.*)\]\(\s*(?P<target><[^\s<>]+>|[^\s<>]+?)(?:\s+"[^"\n]*")?\s*\)""", re.DOTALL
)


@dataclass(frozen=True)
class Names:
    """The channel of a text, and the names of the ids in it (id -> name)."""

    channel: ChannelRef
    people: Mapping[str, str] = field(default_factory=dict[str, str])
    others: Mapping[str, str] = field(default_factory=dict[str, str])  # roles and channels


def read_inline(text: str, names: Names, *, links: bool = True) -> tuple[Inline, ...]:
    """Return the inline nodes of a few lines; a line break is a `Break`."""
    pieces = _tokens(text)
    if len(pieces) == 1:
        return (Text(text),) if text else ()
    if "`" in text and any(_are_ticks(token) for token in pieces[1::2]):
        pieces = list(_paired(text))
    return _Reader(names, links=links).read(pieces)


def _are_ticks(token: str) -> bool:
    return token[0] == "`" and not token.strip("`").strip()


def _paired(text: str) -> Iterator[str]:
    """Yield text and tokens in turns; a run of ticks pairs with the next run of its length."""
    ticks: dict[int, list[int]] = {}
    for run in _TICKS.finditer(text):
        ticks.setdefault(len(run[0]), []).append(run.start())
    pending, at = "", 0
    while sign := _token(text, at):
        pending += text[at : sign.start()]
        at = sign.end()
        if sign[1][0] != "`":
            yield pending
            yield sign[1]
            pending = ""
            continue
        run = _TICKS.match(text, sign.start())
        length = len(run[0]) if run else 1
        places = ticks.get(length, [])
        closing = bisect_left(places, sign.start() + length)
        inner = text[sign.start() + length : places[closing]] if closing < len(places) else ""
        if inner.strip():
            at = places[closing] + length
            yield pending
            yield text[sign.start() : at]
            pending = ""
        else:
            pending += "`" * length
            at = sign.start() + length
    yield pending + text[at:]


class _Frame:
    """A style that is still open (the outermost frame has no mark)."""

    def __init__(self, mark: str) -> None:
        self.mark = mark
        self.children: list[Inline | str] = []


class _Reader:
    """Reads tokens in one pass; each style is open at most once, which bounds the stack."""

    def __init__(self, names: Names, *, links: bool) -> None:
        self._names = names
        self._links = links
        self._stack = [_Frame("")]
        self._open_marks: list[str] = []  # of the frames, in order
        self._children = self._stack[0].children

    def read(self, pieces: Sequence[str]) -> tuple[Inline, ...]:
        last = pieces[0][-1:]
        if pieces[0]:
            self._children.append(pieces[0])
        for at in range(1, len(pieces), 2):
            token, after = pieces[at], pieces[at + 1]
            first = token[0]
            if first in _MARKS:
                self._marks(token, last or " ", _first(pieces, at))
            elif first == "\n":
                self._children.append(BREAK)
            elif first == "`":
                self._children.append(_code(token))
            elif first == "\\":
                self._children.append(token[1])
            elif first == "h":
                self._bare_link(token, _first(pieces, at))
            else:
                self._named(first, token)
            if after:
                self._children.append(after)
            last = after[-1:] or token[-1]
        while len(self._stack) > 1:
            self._give_up()
        return _joined(self._children)

    # --- mentions and links -----------------------------------------------------------------

    def _named(self, first: str, token: str) -> None:
        if first == "[":
            self._masked_link(token)
        elif first == "@":
            self._children.append(Broadcast("everyone" if token[1] == "e" else "here"))
        else:
            match = _ANGLE.fullmatch(token)
            self._children.append(self._angle(match) if match else token)

    def _angle(self, match: re.Match[str]) -> Inline | str:
        channel_ref, names = self._names.channel, self._names
        match match.lastgroup:
            case "auto":
                return Link(match["auto"], (Text(match["auto"]),))
            case "user":
                user = match["user"]
                return Mention(ids.actor_id(channel_ref, user), names.people.get(user, user))
            case "role":
                role = match["role"]
                return GroupMention(ids.group_key(channel_ref, role), names.others.get(role, role))
            case "channel":
                channel = match["channel"]
                key = ids.channel_ref(channel_ref.workspace, channel).key
                return ChannelLink(key, names.others.get(channel, channel))
            case "emoji_id":
                moving = match["moving"] == "a"
                return custom_emoji(match["emoji"], match["emoji_id"], moving=moving)
            case "unix" | "style":
                return _timestamp(match)
            case "command":
                return f"/{match['command']}"
            case _:
                return f"#{match['guide']}"

    def _bare_link(self, token: str, follows: str) -> None:
        """Read a bare URL; it ends before a sentence's punctuation, which may hold style signs."""
        url = token.rstrip(URL_END)
        while url.endswith(")") and url.count(")") > url.count("("):
            url = url[:-1].rstrip(URL_END)
        if len(url) <= len("https://"):
            self._children.append(token)
            return
        self._children.append(Link(url, (Text(url),)) if self._links else url)
        last = url[-1]
        pieces = _tokens(token[len(url) :])
        for at, piece in enumerate(pieces):
            if at % 2:
                behind = (pieces[at + 1] or "".join(pieces[at + 2 : at + 3]) or follows)[0]
                self._marks(piece, last, behind)
            elif piece:
                self._children.append(piece)
            last = piece[-1:] or last

    def _masked_link(self, token: str) -> None:
        match = _MASKED.fullmatch(token)
        label = read_inline(match["label"], self._names, links=False) if match else ()
        # Discord shows a masked link as plain text when its label looks like an address.
        if not match or not self._links or not label or "://" in plain_inlines(label):
            self._children.append(token)
        else:
            self._children.append(Link(match["target"].strip("<>"), label))

    # --- styles -----------------------------------------------------------------------------

    def _marks(self, run: str, before: str, after: str) -> None:
        mark = run[0]
        if mark in "~|":
            self._toggle(run)
            return
        remaining = len(run)
        while remaining:
            remaining -= self._mark(mark, remaining, before, after)

    def _mark(self, mark: str, remaining: int, before: str, after: str) -> int:
        """Open or close a style with one or two characters of a run; returns how many it used."""
        double = mark * 2
        opened = next(
            (candidate for candidate in reversed(self._open_marks) if candidate in (mark, double)),
            None,
        )
        closes, opens = not before.isspace(), not after.isspace()
        if mark == "_":
            closes, opens = not is_word(after), not is_word(before)
        if opened == mark and closes and remaining != 2:
            return self._toggle(mark)
        if remaining >= 2 and (opened == double or double in self._open_marks):
            return self._toggle(double)
        if remaining >= 3 and opens and opened is None:
            return self._toggle(mark)
        if remaining >= 2:
            return self._toggle(double)
        if opens and mark not in self._open_marks:
            return self._toggle(mark)
        self._children.append(mark)
        return 1

    def _toggle(self, mark: str) -> int:
        if mark not in self._open_marks:
            self._open(mark)
            return len(mark)
        while self._stack[-1].mark != mark:
            self._give_up()
        if not self._children:
            self._give_up()
            self._children.append(mark)
        else:
            frame = self._close()
            self._children.append(_STYLES[mark](_joined(frame.children)))
        return len(mark)

    def _open(self, mark: str) -> None:
        self._stack.append(_Frame(mark))
        self._open_marks.append(mark)
        self._children = self._stack[-1].children

    def _close(self) -> _Frame:
        frame = self._stack.pop()
        self._open_marks.pop()
        self._children = self._stack[-1].children
        return frame

    def _give_up(self) -> None:
        """Turn the mark of the innermost style into text: the style never ended."""
        frame = self._close()
        self._children.append(frame.mark)
        self._children += frame.children


def _first(pieces: Sequence[str], at: int) -> str:
    """Return the character after this token."""
    return (pieces[at + 1] or "".join(pieces[at + 2 : at + 3]) or " ")[0]


def _joined(pieces: Sequence[Inline | str]) -> tuple[Inline, ...]:
    """Return the nodes with adjacent texts and adjacent styles of one kind merged."""
    if len(pieces) == 1:
        only = pieces[0]
        return (Text(only) if isinstance(only, str) else only,)
    if not has_neighbours_of_one_kind(pieces):
        return tidy([Text(piece) if isinstance(piece, str) else piece for piece in pieces])
    nodes: list[Inline] = []
    for kind, group in groupby(pieces, type):
        if kind is str:
            nodes.append(Text("".join(cast("list[str]", list(group)))))
        else:
            nodes += cast("list[Inline]", list(group))
    return tidy(nodes)


def _code(token: str) -> Inline:
    width = len(token) - len(token.lstrip("`"))
    return Code(token[width:-width].strip().replace("\n", " "))


def _timestamp(match: re.Match[str]) -> Inline | str:
    unix = int(match["unix"])
    if not 0 <= unix <= LAST_SECOND:
        return match[0]
    style = match["style"] or "f"
    return Timestamp(unix, "f" if style in "sS" else style)
