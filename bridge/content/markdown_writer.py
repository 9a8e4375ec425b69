"""The text tree -> UACS Markdown. What looks like markup and is none is escaped; where Markdown's
own delimiters would not be read as meant, HTML tags that our reader knows are written."""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from typing import cast, get_args

from bridge.content.inlines import STYLES, Style
from bridge.content.normal import normal
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
from bridge.content.uacs_links import OwnNode, own_node_to_link

_DELIMITERS: dict[type[Inline], tuple[str, str]] = {
    Strong: ("**", "strong"),
    Emphasis: ("_", "em"),
    Strike: ("~~", "del"),
    Underline: ("", "u"),
    Spoiler: ("||", "spoiler"),
}
_OWN = get_args(OwnNode)
# A `_` within a word is text in Markdown too, a `<` or `&` is unless a tag or entity follows.
_SIGNS = re.compile(
    r"[\\`*\[\]~|]|<(?=[A-Za-z/!?])|&(?=#?\w+;)|(?<![^\W_])(?<!_)_+|_+(?![^\W_]|_)|!\Z"
)
_LINE_START = re.compile(r"(?:[#+=:>-]|[0-9]{1,9}[.)](?=[\s<&]|$)|[ \t])")
_SIMPLE_URL = re.compile(r"https?://[A-Za-z0-9./?=%+#,:;@!$-]*[A-Za-z0-9/]")
_FREE = frozenset(f"{string.punctuation} \t\n")
_NOTHING = "&#32;"  # a paragraph that is empty when it is read
_ENTITY = {" ": "&#32;", "\t": "&#9;"}


def text_to_markdown(document: Document) -> str:
    """Write UACS Markdown; `markdown_to_text` reads `normal(document)` from it again."""
    return "\n\n".join(_blocks(normal(document)))


def _blocks(blocks: Sequence[Block], bullet: str = "") -> list[str]:
    """`bullet` is that of the item whose blocks these are."""
    written: list[str] = []
    previous = bullet
    for block in blocks:
        if isinstance(block, List):
            previous = _other_mark(block, previous)
            written.append(_list(block, previous))
        else:
            previous = ""
            written.append(_block(block, in_item=bool(bullet)))
    return written


def _other_mark(node: List, previous: str) -> str:
    """A mark that tells this list from the one before it or around it."""
    marks = ("-", "*") if node.start is None else (".", ")")
    return marks[1] if previous == marks[0] else marks[0]


def _block(block: Block, *, in_item: bool) -> str:
    match block:
        case Paragraph(children):
            return "\n".join(map(_escape_start, _inlines(children).split("\n")))
        case Heading(level, children):
            return f"{'#' * level} {_escape_end(_inlines(children, line=True))}"
        case Quote(blocks):
            lines = "\n\n".join(_blocks(blocks)).split("\n")
            return "\n".join(f"> {line}" if line else ">" for line in lines)
        case CodeBlock(value, language):
            return _fenced(value, language)
        case Table():
            return _table(block)
        case Rule():
            return "___" if in_item else "---"  # "- ---" would be one rule
        case List():
            return _list(block, "-")


def _fenced(value: str, language: str) -> str:
    longest = max((len(run) for run in re.findall(r"`+", value)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{value}\n{fence}" if value else f"{fence}{language}\n{fence}"


def _list(node: List, mark: str) -> str:
    written: list[str] = []
    for number, item in enumerate(node.items):
        if node.start is None:
            written.append(_item(item, mark, mark))
        else:
            count = min(node.start + number, 999_999_999)
            written.append(_item(item, f"{count}{mark}", mark))
    return "\n".join(written)


def _item(item: ListItem, bullet: str, mark: str) -> str:
    body = ""
    if item.checked is not None:
        body = "[x] " if item.checked else "[ ] "
        if item.blocks and not isinstance(item.blocks[0], Paragraph):
            body += f"{_NOTHING}\n\n"  # a box stands before a paragraph only
    if not item.blocks:
        body += _NOTHING  # pulldown-cmark 0.13 loses quotes and code after items without text
    for index, part in enumerate(_blocks(item.blocks, mark)):
        if index:
            body += "\n" if _is_close(item.blocks[index - 1], item.blocks[index]) else "\n\n"
        body += part
    indent = " " * (len(bullet) + 1)
    first, *rest = body.split("\n")
    lines = [indent + line if line else "" for line in rest]
    return "\n".join(
        [f"{bullet} {first}".rstrip(" ") if not first else f"{bullet} {first}", *lines]
    )


def _is_close(before: Block, block: Block) -> bool:
    """Whether a block may stand on the next line: after a paragraph a list that starts at 1."""
    follows = isinstance(before, Paragraph)
    return follows and isinstance(block, List) and block.start in (None, 1)


def _table(node: Table) -> str:
    marks = {"left": ":--", "center": ":-:", "right": "--:", None: "---"}
    lines = [
        "| " + " | ".join(_inlines(cell, line=True, cell=True) for cell in row) + " |"
        for row in (node.header, *node.rows)
    ]
    lines.insert(1, "| " + " | ".join(marks[mark] for mark in node.align) + " |")
    return "\n".join(lines)


# --- inlines --------------------------------------------------------------------------------


def _inlines(
    nodes: Sequence[Inline], before: str = "", after: str = "", *, line: bool = False,
    cell: bool = False,
) -> str:  # fmt: skip
    """A run between the characters `before` and `after`; on one `line`, in a table's `cell`."""
    written: list[str] = []
    last = before
    for index, node in enumerate(nodes):
        following = _edge(nodes[index + 1]) if index + 1 < len(nodes) else after
        if isinstance(node, Break):
            more = index + 1 < len(nodes) and isinstance(nodes[index + 1], Break)
            text = "<br>" if line or more else "\n"
        elif isinstance(node, Text):
            text = escape(node.value, following)
        elif isinstance(node, Code):
            text = _code(node.value, cell=cell)
        elif isinstance(node, Link):
            text = _link(node, last, following, cell=cell)
        elif type(node) in STYLES:
            text = _styled(cast("Style", node), last, following, line=line, cell=cell)
        else:
            text = own_node_to_markdown(cast("OwnNode", node))
        written.append(text)
        last = text[-1]
    return "".join(written)


def own_node_to_markdown(node: OwnNode) -> str:
    """A mention, channel link, custom emoji or time as a link of the scheme `uacs:`."""
    label, url = own_node_to_link(node)
    return f"[{escape(label, ']')}]({url})"


def escape(text: str, after: str = "") -> str:
    """Text so that nothing in it is read as markup, before the character `after`."""
    if not _SIGNS.search(text):
        return text
    return _SIGNS.sub(lambda found: _escaped(found.group(), after), text)


def _escaped(signs: str, after: str) -> str:
    if signs == "!" and after not in ("[", "<"):  # "<": perhaps a link that is spelled out
        return signs
    return "".join(f"\\{sign}" for sign in signs)


def _code(value: str, *, cell: bool) -> str:
    longest = max((len(run) for run in re.findall(r"`+", value)), default=0)
    tick = "`" * (longest + 1)
    edges = value[0] + value[-1]
    pad = " " if value.strip(" ") and ("`" in edges or edges == "  ") else ""
    text = f"{tick}{pad}{value}{pad}{tick}"
    return text.replace("|", "\\|") if cell else text


def _link(node: Link, before: str, after: str, *, cell: bool) -> str:
    if node.children == (Text(node.url),) and not (cell and "|" in node.url):
        alone = before in ("", " ", "\n") and after in ("", " ", "\n")
        if alone and _SIMPLE_URL.fullmatch(node.url):
            return node.url
        if not node.url.lower().startswith("mailto:"):
            return f"<{node.url}>"
    label = _inlines(node.children, "[", "]", line=True, cell=cell)
    url = re.sub(r"[&|]", r"\\\g<0>", node.url)
    return f"[{label}](<{url}>)" if re.search(r"[()]", url) else f"[{label}]({url})"


def _styled(node: Style, before: str, after: str, *, line: bool, cell: bool) -> str:
    delimiter, tag = _DELIMITERS[type(node)]
    if delimiter == "||" and cell:
        delimiter = ""
    if delimiter:
        edge = delimiter[0]
        body = _inlines(node.children, edge, edge, line=line, cell=cell)
        if _reads_back(delimiter, body, before, after):
            return f"{delimiter}{body}{delimiter}"
    body = _inlines(node.children, ">", "<", line=line, cell=cell)
    return f"<{tag}>{body}</{tag}>"


def _reads_back(delimiter: str, body: str, before: str, after: str) -> bool:
    """Whether the reader takes these delimiters as meant (CommonMark 6.2, flanking rules)."""
    first, last, sign = body[0], body[-1], delimiter[0]
    if sign in (first, last, before, after) or first.isspace() or last.isspace():
        return False
    if delimiter == "||":
        return before != "\\" and after != "\\"
    opens = _is_free(before) or (sign != "_" and first.isalnum())
    closes = _is_free(after) or (sign != "_" and last.isalnum())
    return opens and closes


def _is_free(char: str) -> bool:
    """White space, punctuation, or nothing: what CommonMark wants outside of delimiters."""
    return (
        not char
        or char in " \t\n"
        or (char.isascii() and char.isprintable() and not char.isalnum())
    )


def _edge(node: Inline) -> str:
    """A character of the kind of the first one that this node will write."""
    if isinstance(node, Text):
        return "\\" if _SIGNS.match(node.value) else node.value[0]
    if isinstance(node, Break):
        return "\n"
    if isinstance(node, Code):
        return "`"
    if isinstance(node, Link) and node.children == (Text(node.url),):
        return "<"
    return _DELIMITERS[type(node)][0][:1] or "<" if type(node) in STYLES else "["


def _escape_start(line: str) -> str:
    """A paragraph's line must not begin as another block does."""
    found = _LINE_START.match(line)
    if not found:
        return line
    sign = found.group()
    if sign in _ENTITY:
        return _ENTITY[sign] + line[1:]
    return f"{sign[:-1]}\\{sign[-1]}{line[len(sign) :]}"


def _escape_end(line: str) -> str:
    """A heading's last `#` would be taken for its closing sequence."""
    return f"{line[:-1]}\\#" if line.endswith("#") else line
