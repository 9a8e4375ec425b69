"""Simple, well-formed HTML -> the text tree, fast: what a Markdown parser writes, and most chat
messages.

A line break in text is a line break. HTML that is not simple raises NotSimple.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import unescape
from typing import Any, Literal, cast

from bridge.content.text import normal
from bridge.content.text.inlines import Style
from bridge.content.text.tree import (
    BREAK,
    Block,
    Code,
    Document,
    Emphasis,
    Inline,
    ListItem,
    Paragraph,
    Rule,
    Strike,
    Strong,
    Text,
    Underline,
)

# Tags of blocks (a table as a whole); everything between them is inline.
_block_tags = re.compile(
    r"<(table>[^<]*(?:<(?!/?table>)[^<]*)*+</table"
    r"|/?(?:p|div|li|ul|ol|h[1-6]|blockquote|pre|hr|input)\b[^>]*)>"
).split
# An element that contains only text, as most do, or a single tag.
_inline_tags = re.compile(r"<((?:strong|em|del|code|a [^>]*|[bisu])>[^<]*</[a-z]+|[^>]*)>").split
_STYLES: dict[str, type[Style]] = {
    "strong": Strong, "b": Strong, "em": Emphasis, "i": Emphasis, "u": Underline,
    "ins": Underline, "del": Strike, "s": Strike, "strike": Strike,
}  # fmt: skip
_ENDS = frozenset(f"/{tag}" for tag in (*_STYLES, "a"))
_CODE = re.compile(r'\s*<code(?: class="language-([^"]*)")?>([^<]*)</code>\s*')
_CELL = re.compile(r'<t[dh](?: style="text-align: ([a-z]+)")?>(.*?)</t[dh]>', re.DOTALL)
_ROWS = re.compile(r"table>(?:\s|</?t(?:head|body)>|<tr>[\0\s]*</tr>)*</table")  # \0: a cell
_START = re.compile(r'ol start="([0-9]{1,9})"')
_BLANK = " \t"
_SPECIAL = re.compile(r"[<&\n\t]|://")  # a paragraph without these is literal text
_Align = Literal["left", "center", "right"]


class NotSimple(Exception):
    """The HTML needs another reader."""


@dataclass(frozen=True, slots=True)
class SimpleHtml:
    """A reader of simple HTML.

    Args:
        link: Returns the nodes of a link with this address and label.
        bare_links: Whether addresses in text become links.
    """

    link: Callable[[str, tuple[Inline, ...]], Sequence[Inline]]
    bare_links: bool

    def read(self, html: str) -> Document:  # noqa: C901 - one loop, one branch a kind of tag
        """Reads a whole document.

        Raises:
            NotSimple: The HTML needs another reader.
        """
        blocks: list[Any] = []
        open_tags: list[Any] = []  # the tag of each list or the box of each item, after its blocks
        checked: bool | None = None
        expected_end = ""  # the end tag of a heading or paragraph, which contains no block
        pieces = iter(_block_tags(html))
        blocks += self._paragraphs(next(pieces))
        for tag, piece in zip(pieces, pieces, strict=True):
            name = tag[:2]
            if expected_end and name != "in":
                if tag != expected_end:
                    raise NotSimple
                expected_end = ""
                if piece == "\n":
                    continue
            if name == "li":
                if not open_tags or type(open_tags[-1]) is not str or open_tags[-1][0] == "b":
                    raise NotSimple
                open_tags += (blocks, checked)
                blocks, checked = [], None
            elif name == "/l":
                item = ListItem(tuple(blocks), checked)
                checked = _popped(open_tags, bool)
                blocks = open_tags.pop()
                blocks.append(item)
            elif tag == "p":
                expected_end = "/p"
            elif tag[0] == "h":
                blocks += self._heading(tag, piece)
                expected_end = f"/{tag}" if tag[1] != "r" else ""
                continue
            elif name == "pr":
                blocks.append(_code_block(piece))
                continue
            elif name in _LISTS:
                if len(open_tags) >= 2 * normal.MAX_DEPTH:
                    raise NotSimple
                open_tags += (blocks, tag)
                blocks = []
            elif name in _LIST_ENDS:
                container = _container(_popped(open_tags, str), tag, blocks)
                blocks = open_tags.pop()
                blocks += container
            elif name == "in":
                checked = "checked=" in tag
            elif name == "ta":
                blocks += self._table(tag)
            if piece and piece != "\n":
                blocks += self._paragraphs(piece)
        if open_tags or expected_end:
            raise NotSimple
        return tuple(blocks)

    # --- blocks -----------------------------------------------------------------------------

    def _paragraphs(self, piece: str) -> Sequence[Block]:
        """A run with white space at its start or end is a special case."""
        html = piece.strip(" \n")
        if html and _SPECIAL.search(html) is None:
            return (Paragraph((Text(html),)),)
        run = self.run(html)
        if not run:
            return ()
        first, last = run[0], run[-1]
        if first is BREAK or last is BREAK or (type(last) is Text and last.value[-1] in _BLANK):
            return tuple(normal.paragraphs(run))
        return (Paragraph(run),)

    def _heading(self, tag: str, piece: str) -> Sequence[Block]:
        if tag[:2] == "hr":
            return (Rule(), *self._paragraphs(piece))
        if not piece:
            raise NotSimple
        return normal.heading(int(tag[1]), self.run(piece))

    def _table(self, html: str) -> Sequence[Block]:
        rows = [_CELL.findall(row) for row in html.split("</tr>")[:-1]]
        if not rows or not _ROWS.fullmatch(_CELL.sub("\0", html)):
            raise NotSimple
        if any(len(row) != len(rows[0]) for row in rows):
            raise NotSimple
        if any("\n" in cell for row in rows for _, cell in row):
            raise NotSimple
        align = cast("list[_Align | None]", [style or None for style, _ in rows[0]])
        cells = [[self.run(cell) for _, cell in row] for row in rows]
        return normal.table(cells[0], cells[1:], align)

    # --- inlines ----------------------------------------------------------------------------

    def run(  # noqa: C901 - one loop, one branch a kind of tag
        self, html: str, *, linked: bool = False
    ) -> tuple[Inline, ...]:
        """Reads the inlines of one block.

        Args:
            html: The HTML within the block.
            linked: Whether a link is around it.

        Raises:
            NotSimple: The HTML needs another reader.
        """
        if "<" not in html:
            return self._text(html, linked=linked)
        run: list[Inline] = []
        open_tags: list[Any] = []
        pieces = iter(_inline_tags(html))
        run += self._text(next(pieces), linked=linked)
        for token, after in zip(pieces, pieces, strict=True):
            head, _, inner = token.partition(">")
            if inner:
                inner, _, end = inner.rpartition("</")
                if end != head and (end != "a" or head[:2] != "a "):
                    raise NotSimple
                if head in _STYLES:
                    if head in open_tags or not inner:
                        raise NotSimple
                    _add(run, _STYLES[head](self._text(inner, linked=linked)))
                elif head == "code":
                    _add(run, Code(unescape(inner) if "&" in inner else inner))
                elif linked:
                    raise NotSimple
                else:
                    run += self.link(_address(head), self._text(inner, linked=True))
            elif head in _STYLES or (head[:2] == "a " and not linked):
                open_tags += (run, head)
                run, linked = [], linked or head[:2] == "a "
            elif head in _ENDS:
                run, linked = self._ended(run, _popped(open_tags, str), open_tags, linked=linked)
            elif head != "br /" or not run or not _may_end_a_line(run[-1]):
                raise NotSimple
            if after:
                if "&" in after or "\n" in after or "://" in after:
                    run += self._text(after, linked=linked)
                else:
                    run.append(Text(after))
        if open_tags:
            raise NotSimple
        return tuple(run)

    def _ended(
        self, run: list[Inline], head: str, open_tags: list[Any], *, linked: bool
    ) -> tuple[list[Inline], bool]:
        """Adds the closed element to the run before it."""
        before = cast("list[Inline]", open_tags.pop())
        if head[:2] == "a ":
            before += self.link(_address(head), tuple(run))
            return before, False
        if head in open_tags or not run:
            raise NotSimple
        _add(before, _STYLES[head](tuple(run)))
        return before, linked

    def _text(self, text: str, *, linked: bool) -> tuple[Inline, ...]:
        if "&" in text:
            text = unescape(text)
        if "://" in text and self.bare_links and not linked:
            return tuple(normal.joined((Text(text),)))
        if "\n" not in text:
            return (Text(text),) if text else ()
        nodes: list[Inline] = []
        *lines, last = text.split("\n")
        for line in lines:
            if visible := line.rstrip(_BLANK):
                nodes.append(Text(visible))
            nodes.append(BREAK)
        if last:
            nodes.append(Text(last))
        return tuple(nodes)


_LISTS = frozenset(("ul", "ol", "bl"))
_LIST_ENDS = frozenset(("/u", "/o", "/b"))


def _popped(open_tags: list[Any], kind: type) -> Any:
    """The element that was opened last, which must be of the kind that is closed."""
    if len(open_tags) < 2 or isinstance(open_tags[-1], str) is not (kind is str):
        raise NotSimple
    return open_tags.pop()


def _container(opened: str, closed: str, blocks: list[Any]) -> Sequence[Block]:
    if opened[:2] != closed[1:3]:
        raise NotSimple
    if opened[0] == "b":
        return normal.quote(blocks)
    if not all(type(block) is ListItem for block in blocks):
        raise NotSimple
    return normal.bullets(blocks, _start(opened))


def _start(tag: str) -> int | None:
    if tag in ("ul", "ol"):
        return None if tag == "ul" else 1
    match = _START.fullmatch(tag)
    if not match:
        raise NotSimple
    return int(match[1])


def _code_block(html: str) -> Block:
    match = _CODE.fullmatch(html)
    if not match or not (match[1] or "").isascii():
        raise NotSimple
    return normal.code_block(unescape(match[2]).removesuffix("\n"), unescape(match[1] or ""))


def _address(tag: str) -> str:
    start = tag.find('href="') + 6
    end = tag.find('"', start)
    if start < 6 or end < 0:
        raise NotSimple
    return unescape(tag[start:end])


def _add(run: list[Inline], node: Inline) -> None:
    """Adds a node; neighbours of one kind would be one node."""
    if run and type(run[-1]) is type(node):
        raise NotSimple
    run.append(node)


def _may_end_a_line(node: Inline) -> bool:
    return node is not BREAK and not (isinstance(node, Text) and node.value[-1] in _BLANK)
