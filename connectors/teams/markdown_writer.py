"""The text tree -> Teams' Markdown, a mixture of Markdown and HTML. Pure.

Source: msteams-docs, "Format your bot messages" (2026-09). Only pings mention people. Special
characters become character references, which no parser treats as structure (CommonMark 0.31, 2.5).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import cast

from bridge.content.text.inlines import merge_texts, moment_in_words, plain_inlines
from bridge.content.text.normal import MAX_DEPTH, flat_blocks
from bridge.content.text.tree import (
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
    Ping,
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

# Every character that Markdown, its common extensions or HTML may treat as markup. Teams removes
# plain braces with everything between them (msteams-docs #4956, 2022-01).
_SPECIAL = re.compile(r"[\\`*_~\[\]{}|^=+$#!<>&]")
_NO_TAG = re.compile(r"[\\`*_~\[\]{}|^=+$#!<>&\x00-\x1f]")
_LINE_START = re.compile(r"(?:-|\d{1,9}[.)](?=\s|$))")
_STARTS = frozenset("-0123456789")
# Control, direction and invisible characters, which a name must not have. Joiners are legitimate
# between letters, except beside ASCII.
_INVISIBLE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
    r"|[\u200c\u200d](?:(?<![^\x00-\x7f].)|(?![^\x00-\x7f]))"
)
_SPACES = re.compile(r"[ \t\r\n\f\u00a0]+")
_ALLOWED_URL = re.compile(r"(?:https?://|mailto:)[^\s]+\Z", re.IGNORECASE)
_PLAIN_URL = re.compile(r"https?://[A-Za-z0-9./?=%:@,;-]+\Z")
_UNSAFE_IN_URL = re.compile(r"[\s\\`*_\[\]{}|^<>()\"'~]")
_CODE_REFERENCE = re.compile(r"[<>&`]")
_HTML = re.compile(r"[<>&]")
_LANGUAGE = re.compile(r"[^A-Za-z0-9+#.-]")
_REFERENCES = {
    **{sign: f"&#{ord(sign)};" for sign in "\\`*_~[]{}|^=+$#!-.)"},
    "<": "&lt;",
    ">": "&gt;",
    "&": "&amp;",
}
_STYLES: dict[type[Inline], tuple[str, str]] = {
    Strong: ("**", "b"), Emphasis: ("*", "i"), Strike: ("", "s"), Underline: ("", "u"),
}  # fmt: skip
BOXES = {True: "☑ ", False: "☐ ", None: ""}
_Within = tuple[type[Inline], ...]
_Styled = Strong | Emphasis | Strike | Underline


def text_to_teams(document: Document) -> str:
    """Return the text for textFormat `markdown`.

    Tables become lines, headings bold lines; a spoiler is visible, after the word `spoiler`.
    """
    return "\n\n".join(_blocks(document, 0))


def escape_text(text: str) -> str:
    """Return Markdown that shows exactly these characters."""
    escaped = _references(text)
    if text[:1] in _STARTS and (start := _LINE_START.match(escaped)):
        sign = start[0][-1]
        return f"{start[0][:-1]}{_REFERENCES[sign]}{escaped[start.end() :]}"
    return escaped


def escape_name(name: str, fallback: str = "Unknown") -> str:
    """Return a person's name on one line, without markup and invisible characters."""
    visible = _SPACES.sub(" ", _INVISIBLE.sub(" ", name)).strip() or fallback
    return escape_text(visible)


def at_tag(name: str) -> str:
    """Return the tag of a mention; an entity with the same text names the person."""
    return f"<at>{' '.join(_NO_TAG.sub(' ', name).split()) or 'somebody'}</at>"


def _references(text: str) -> str:
    return _SPECIAL.sub(_reference, text)


def _reference(special: re.Match[str]) -> str:
    return _REFERENCES[special[0]]


# --- blocks ---------------------------------------------------------------------------------


def _blocks(blocks: Sequence[Block], depth: int) -> list[str]:
    written: list[str] = []
    previous: Block | None = None
    flipped = False
    for block in blocks if depth < MAX_DEPTH else flat_blocks(blocks):
        # Consecutive lists merge unless their marks differ.
        flipped = isinstance(block, List) and isinstance(previous, List) and not flipped
        if text := _block(block, depth + 1, flipped=flipped):
            written.append(text)
            previous = block
    return written


def _block(block: Block, depth: int, *, flipped: bool) -> str:
    match block:
        case Paragraph(children):
            return _inlines(children)
        case Heading(_, children):
            return _inlines((Strong(children),))
        case Quote(blocks):
            inner = "\n\n".join(_blocks(blocks, depth))
            lines = inner.split("\n")
            return "\n".join([f"> {line}".rstrip() for line in lines]) if inner else ""
        case CodeBlock(value, language):
            return _fenced(value, language)
        case List():
            return _list(block, depth, flipped=flipped)
        case Table(header, rows):
            lines = [_row([(Strong(cell),) if cell else () for cell in header])]
            return "<br>".join([*lines, *map(_row, rows)])
        case Rule():
            return "<hr>"


def _fenced(value: str, language: str) -> str:
    """Write a code block: as HTML if it contains HTML, because references work there."""
    if "\r" in value:
        value = value.replace("\r\n", "\n").replace("\r", "\n")
    if _HTML.search(value) or not value.strip():
        escaped = _references(value).replace("\n", "<br>")
        named = _LANGUAGE.sub("", language)
        if named:  # the HTML of a fence with a language
            escaped = f'<code class="language-{named}">{escaped}</code>'
        return f"<pre>{escaped}</pre>" if value.strip() else ""
    longest = max(map(len, re.findall(r"`+", value))) if "`" in value else 0
    fence = "`" * max(3, longest + 1)
    return f"{fence}{_LANGUAGE.sub('', language)}\n{value}\n{fence}"


def _list(node: List, depth: int, *, flipped: bool) -> str:
    items: list[str] = []
    for number, item in enumerate(node.items, max(node.start or 0, 0)):
        mark = "*" if flipped else "-"
        if node.start is not None:
            mark = f"{min(number, 999_999_999)}{')' if flipped else '.'}"
        items.append(_item(item, mark, depth))
    return "\n".join(items)


def _item(item: ListItem, mark: str, depth: int) -> str:
    body = BOXES[item.checked]
    previous: Block | None = None
    for block, part in _parts(item, depth):
        close = isinstance(block, List) and block.start in (None, 1)
        body += ("" if previous is None else "\n" if close else "\n\n") + part
        previous = block
    if "\n" not in body:
        return f"{mark} {body}".rstrip()
    indent = " " * (len(mark) + 1)
    first, *other_lines = body.split("\n")
    return "\n".join(
        [f"{mark} {first}".rstrip(), *[indent + line if line else "" for line in other_lines]]
    )


def _parts(item: ListItem, depth: int) -> list[tuple[Block, str]]:
    """Return the blocks of an item with their text, without empty ones."""
    written: list[tuple[Block, str]] = []
    flipped = False
    for block in item.blocks if depth < MAX_DEPTH else flat_blocks(item.blocks):
        previous = written[-1][0] if written else None
        flipped = isinstance(block, List) and isinstance(previous, List) and not flipped
        if text := _block(block, depth + 1, flipped=flipped):
            written.append((block, text))
    return written


def _row(cells: Sequence[tuple[Inline, ...]]) -> str:
    return " &#124; ".join([_inlines(cell) for cell in cells])


# --- inlines --------------------------------------------------------------------------------


def _inlines(nodes: Sequence[Inline], within: _Within = ()) -> str:
    out: list[str] = []
    merged = nodes if len(nodes) == 1 else merge_texts(nodes)
    for index, node in enumerate(merged):
        before = out[-1] if out else ""
        if isinstance(node, Text):
            value = _one_line(node.value)
            # Four spaces at the start of a line would be a code block.
            starts = not within and (not before or before == "<br>")
            piece = escape_text(value.lstrip()) if starts else _references(value)
        elif type(node) in _STYLES:
            piece = _style(cast("_Styled", node), before, within)
        elif isinstance(node, Code):
            piece = _code(_one_line(node.value), before)
        elif isinstance(node, Link):
            piece = _link(node, within, alone=_is_alone(before, merged[index + 1 : index + 2]))
        else:
            piece = _inline(node, within)
        if piece:
            out.append(piece)
    return "".join(out)


def _inline(node: Inline, within: _Within) -> str:
    match node:
        case Break():
            return "<br>"
        case Spoiler(children):
            if Spoiler in within:
                return _inlines(children, within)
            return f"&#91;spoiler: {_inlines(children, (*within, Spoiler))}&#93;"
        case Ping(name=name):
            return at_tag(name)
        case Mention(name=name) | GroupMention(name=name):
            return f"@{escape_name(name)}"
        case Broadcast(range=range_):
            return f"@{range_}"
        case ChannelLink(name=name):
            return f"&#35;{escape_name(name)}"
        case Emoji(name, unicode):
            return escape_text(_one_line(unicode or f":{name}:"))
        case Timestamp():
            return escape_text(_one_line(moment_in_words(node)))
        case _:
            return _references(_one_line(plain_inlines((node,))))


def _one_line(value: str) -> str:
    return _SPACES.sub(" ", value) if "\n" in value or "\r" in value else value


def _style(node: _Styled, before: str, within: _Within) -> str:
    """Write a style: with stars where they are unambiguous, else with the HTML tag.

    A style within itself adds nothing.
    """
    kind = type(node)
    if kind in within:
        return _inlines(node.children, within)
    mark, tag = _STYLES[kind]
    inner = _inlines(node.children, (*within, kind))
    if not inner or inner.isspace():
        return inner
    sure = inner[0].isalnum() and inner[-1].isalnum() and not before.endswith("*")
    return f"{mark}{inner}{mark}" if mark and sure and not within else f"<{tag}>{inner}</{tag}>"


def _code(value: str, before: str) -> str:
    """Write inline code: in backticks, or as HTML if backticks would be ambiguous."""
    if not value or value.isspace():
        return value
    if value[0] == " " or value[-1] == " " or before.endswith("`") or _CODE_REFERENCE.search(value):
        return f"<code>{_references(value)}</code>"
    return f"`{value}`"


def _is_alone(before: str, after: Sequence[Inline]) -> bool:
    """Return whether a bare address would end at the right place."""
    if before and before[-1] != " " and before != "<br>":
        return False
    return (
        not after
        or isinstance(after[0], Break)
        or (isinstance(after[0], Text) and after[0].value.startswith(" "))
    )


def _link(node: Link, within: _Within, *, alone: bool) -> str:
    url, children = node.url, node.children
    if not _ALLOWED_URL.match(url) or Link in within:
        return _inlines(children, within)
    label = plain_inlines(children)
    if alone and label == url and _PLAIN_URL.match(url):
        return url
    target = _UNSAFE_IN_URL.sub(_percent, url).replace("&", "&amp;")
    inside = _inlines(children, (*within, Link)) if label.strip() else escape_text(url)
    return f"[{inside}]({target})"


def _percent(unsafe: re.Match[str]) -> str:
    return "".join([f"%{byte:02X}" for byte in unsafe[0].encode("utf-8", "replace")])
