"""The text tree -> UACS Markdown. What looks like markup and is none is escaped; where Markdown's
own delimiters would not be read as meant, HTML tags that our reader knows are written."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bridge.content.inlines import merge_texts, plain_inlines
from bridge.content.text import (
    Block,
    Break,
    Code,
    CodeBlock,
    Document,
    Emphasis,
    Heading,
    Inline,
    Link,
    List,
    ListItem,
    Paragraph,
    Quote,
    Rule,
    Spoiler,
    Strike,
    Strong,
    Table,
    Text,
    Underline,
)
from bridge.content.uacs_links import as_own_node, is_own_node, own_node_to_link

_DELIMITERS: dict[type[Inline], tuple[str, str]] = {
    Strong: ("**", "strong"),
    Emphasis: ("_", "em"),
    Strike: ("~~", "del"),
    Underline: ("", "u"),
    Spoiler: ("", "spoiler"),
}
_ALWAYS = re.compile(r"[\\`*\[\]<>~]|&(?=#?\w+;)|(?<!\w)_|_(?!\w)|\|")
_LINE_START = re.compile(r"^(\s*)(#{1,6}(?=\s|$)|[-+=](?=[-+=\s]|$)|\d{1,9}(?=[.)](?:\s|$)))")
_SIMPLE_URL = re.compile(r"^https?://[^\s<>()\[\]*_`~\\|&]+$")


def text_to_markdown(document: Document) -> str:
    """Write UACS Markdown; `markdown_to_text` reads the same tree from it again, less empty nodes,
    spaces at the edges of styles, and texts that are split in two."""
    return "\n\n".join(_blocks(document))


def _blocks(blocks: Sequence[Block]) -> list[str]:
    written: list[str] = []
    previous: Block | None = None
    flip = False
    for block in blocks:
        same_list = isinstance(block, List) and isinstance(previous, List)
        flip = same_list and not flip
        if text := _block(block, flip=flip):
            written.append(text)
            previous = block
    return written


def _block(block: Block, *, flip: bool) -> str:
    match block:
        case Paragraph(children):
            return "\n".join(_escape_start(line) for line in _inlines(children).split("\n"))
        case Heading(level, children):
            return f"{'#' * min(max(level, 1), 6)} {_one_line(children)}".rstrip()
        case Quote(blocks):
            return _prefixed("> ", "\n\n".join(_blocks(blocks)))
        case CodeBlock(value, language):
            return _fenced(value, language)
        case List():
            return _list(block, flip=flip)
        case Table():
            return _table(block)
        case Rule():
            return "---"


def _fenced(value: str, language: str) -> str:
    longest = max((len(run) for run in re.findall(r"`+", value)), default=0)
    fence = "`" * max(3, longest + 1)
    info = re.sub(r"[`\s\\&]", "", language)
    return f"{fence}{info}\n{value}\n{fence}" if value else f"{fence}{info}\n{fence}"


def _list(node: List, *, flip: bool) -> str:
    written: list[str] = []
    for number, item in enumerate(node.items):
        bullet = "*" if flip else "-"
        if node.start is not None:
            bullet = f"{min(node.start + number, 999_999_999)}{')' if flip else '.'}"
        written.append(_item(item, bullet))
    return "\n".join(written)


def _item(item: ListItem, bullet: str) -> str:
    box = {None: "", True: "[x] ", False: "[ ] "}[item.checked]
    parts = _blocks(item.blocks)
    body = ""
    for index, part in enumerate(parts):
        tight = index < len(item.blocks) and _may_follow_closely(item.blocks[index])
        body += part if not body else f"{chr(10) if tight else chr(10) * 2}{part}"
    indent = " " * (len(bullet) + 1)
    lines = (box + body).split("\n")
    rest = [indent + line if line else "" for line in lines[1:]]
    return "\n".join([f"{bullet} {lines[0]}".rstrip(), *rest])


def _may_follow_closely(block: Block) -> bool:
    """Whether it may stand on the next line: a numbered list does only when it starts at 1."""
    return isinstance(block, List) and block.start in (None, 1)


def _table(node: Table) -> str:
    marks = {"left": ":--", "center": ":-:", "right": "--:", None: "---"}
    width = len(node.header)
    align = [*node.align, *[None] * width][:width]
    rows = [node.header, *(tuple([*row, *[()] * width][:width]) for row in node.rows)]
    lines = ["| " + " | ".join(_one_line(cell) for cell in row) + " |" for row in rows]
    lines.insert(1, "| " + " | ".join(marks[mark] for mark in align) + " |")
    return "\n".join(lines)


def _prefixed(prefix: str, text: str) -> str:
    return "\n".join((prefix + line).rstrip() for line in text.split("\n"))


def _one_line(children: Sequence[Inline]) -> str:
    return _inlines(children).replace("\n", "<br>")


def _inlines(nodes: Sequence[Inline]) -> str:
    nodes = [node for node in merge_texts(nodes) if not _is_empty(node)]
    written = ""
    for index, node in enumerate(nodes):
        after = _edge(nodes[index + 1]) if index + 1 < len(nodes) else ""
        written += _inline(node, written[-1:], after)
    return written


def _inline(node: Inline, before: str, after: str) -> str:
    if isinstance(node, Text):
        return _ALWAYS.sub(lambda found: "\\" + found.group(), node.value.replace("\n", " "))
    if isinstance(node, Break):
        return "\n"
    if isinstance(node, Code):
        return _code(node.value)
    if is_own_node(node):
        return _own_node(node)
    if isinstance(node, Link):
        return _link(node)
    return _styled(node, before, after)


def _own_node(node: Inline) -> str:
    own = as_own_node(node)
    unicode = getattr(own, "unicode", None)
    if unicode:
        return unicode
    label, url = own_node_to_link(own)
    return f"[{_inline(Text(label), '', '')}]({url})"


def _code(value: str) -> str:
    value = value.replace("\n", " ")
    longest = max((len(run) for run in re.findall(r"`+", value)), default=0)
    tick = "`" * (longest + 1)
    pad = " " if value[:1] in ("`", " ") or value[-1:] in ("`", " ") else ""
    pad = "" if value.strip() == "" else pad
    return f"{tick}{pad}{value}{pad}{tick}"


def _link(node: Link) -> str:
    label = plain_inlines(node.children)
    if label == node.url and _SIMPLE_URL.match(node.url):
        return f"<{node.url}>"
    url = re.sub(r"[\s<>\\]", lambda found: f"%{ord(found.group()):02X}", node.url)
    target = f"<{url}>" if re.search(r"[()&*_`|]", url) else url
    return f"[{_inlines(node.children).replace(chr(10), ' ')}]({target})"


def _styled(node: Inline, before: str, after: str) -> str:
    delimiter, tag = _DELIMITERS[type(node)]
    children = getattr(node, "children", ())
    inner = _inlines(children)
    body = inner.strip(" \n")
    lead, tail = inner[: len(inner) - len(inner.lstrip(" \n"))], inner[len(inner.rstrip(" \n")) :]
    outer = (lead[-1:] or before, tail[:1] or after)
    if delimiter and _reads_back(delimiter, body, *outer):
        return f"{lead}{delimiter}{body}{delimiter}{tail}"
    return f"{lead}<{tag}>{body}</{tag}>{tail}"


def _reads_back(delimiter: str, body: str, before: str, after: str) -> bool:
    """Whether CommonMark's flanking rules read these delimiters as meant."""
    if (before in ("*", "_", "~") and before) or (after in ("*", "_", "~") and after):
        return False
    if delimiter[0] in (body[0], body[-1]) or "\n" in body:
        return False
    free = _is_free(before) and _is_free(after)
    return free or (delimiter != "_" and body[0].isalnum() and body[-1].isalnum())


def _is_free(char: str) -> bool:
    return not char or char.isspace() or (char.isascii() and not char.isalnum())


def _edge(node: Inline) -> str:
    """A character that stands for the first one that this node will write."""
    if isinstance(node, Text):
        return "\\" if _ALWAYS.match(node.value) else node.value[0]
    if isinstance(node, Break):
        return "\n"
    if type(node) in _DELIMITERS:
        return _DELIMITERS[type(node)][0][:1] or "<"
    return "["


def _is_empty(node: Inline) -> bool:
    if isinstance(node, Text | Code):
        return not node.value
    children = getattr(node, "children", None)
    return children is not None and all(_is_blank(child) for child in children)


def _is_blank(node: Inline) -> bool:
    if isinstance(node, Text):
        return not node.value.strip(" \n")
    return isinstance(node, Break) or _is_empty(node)


def _escape_start(line: str) -> str:
    return _LINE_START.sub(_escaped_start, line)


def _escaped_start(found: re.Match[str]) -> str:
    space, mark = found.group(1), found.group(2)
    return f"{space}{mark}\\" if mark[0].isdigit() else f"{space}\\{mark}"
