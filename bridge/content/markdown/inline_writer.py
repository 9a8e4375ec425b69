"""A run of inlines in its normal form -> UACS Markdown.

Text that looks like markup is escaped. Where Markdown's delimiters would be read otherwise, the
writer uses HTML tags that our reader knows.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from typing import cast

from bridge.content.text.inlines import STYLES, Style
from bridge.content.text.tree import (
    Break,
    Code,
    Emphasis,
    Inline,
    Link,
    Spoiler,
    Strike,
    Strong,
    Text,
    Underline,
)
from bridge.content.text.uacs_links import OwnNode, own_node_to_link

DELIMITERS: dict[type[Inline], tuple[str, str]] = {
    Strong: ("**", "strong"),
    Emphasis: ("_", "em"),
    Strike: ("~~", "del"),
    Underline: ("", "u"),
    Spoiler: ("||", "spoiler"),
}
# A `_` within a word is text in Markdown, too, and so is a `<` or `&` without a tag or entity.
# With one set of characters in front, the search for the next sign compares and does not match.
_SIGNS = re.compile(
    r"[\\`*\[\]~|_<&!](?:(?<=[\\`*\[\]~|])|(?<=_)_*|(?<=<)(?=[A-Za-z/!?])|(?<=&)(?=#?\w+;)|(?<=!)\Z)"
)
SIMPLE_URL = re.compile(r"https?://[A-Za-z0-9./?=%+#,:;@!$-]*[A-Za-z0-9/]")
FREE = frozenset(f"{string.punctuation} \t\n")


def run_to_markdown(
    nodes: Sequence[Inline], before: str = "", after: str = "", *, line: bool = False,
    cell: bool = False,
) -> str:  # fmt: skip
    """Writes a run of inlines.

    Args:
        nodes: A run in its normal form.
        before: The character before the run.
        after: The character after the run.
        line: Whether the run is on one line.
        cell: Whether the run is in a cell of a table.
    """
    written: list[str] = []
    last = before
    for index, node in enumerate(nodes):
        next_char = _edge(nodes[index + 1]) if index + 1 < len(nodes) else after
        if isinstance(node, Break):
            is_repeated = index + 1 < len(nodes) and isinstance(nodes[index + 1], Break)
            text = "<br>" if line or is_repeated else "\n"
        elif isinstance(node, Text):
            text = escape(node.value, next_char)
        elif isinstance(node, Code):
            text = _code(node.value, cell=cell)
        elif isinstance(node, Link):
            text = _link(node, last, next_char, cell=cell)
        elif type(node) in STYLES:
            text = _styled(cast("Style", node), last, next_char, line=line, cell=cell)
        else:
            text = own_node_to_markdown(cast("OwnNode", node))
        written.append(text)
        last = text[-1]
    return "".join(written)


def own_node_to_markdown(node: OwnNode) -> str:
    """Writes a mention, channel link, custom emoji or time as a link of the scheme `uacs:`."""
    label, url = own_node_to_link(node)
    return f"[{escape(label, ']')}]({url})"


def escape(text: str, after: str = "") -> str:
    """Escapes text so that nothing in it is read as markup.

    Args:
        text: Plain text without line breaks.
        after: The character after the text.
    """
    if not _SIGNS.search(text):
        return text
    return _SIGNS.sub(lambda match: _escaped(match, after), text)


def _escaped(match: re.Match[str], after: str) -> str:
    signs = match.group()
    if signs == "!" and after not in ("[", "<"):  # "<": perhaps a link that is spelled out
        return signs
    if signs[0] == "_" and _is_within_word(match):
        return signs
    return "".join([f"\\{sign}" for sign in signs])


def _is_within_word(match: re.Match[str]) -> bool:
    text, start, end = match.string, match.start(), match.end()
    return start > 0 and end < len(text) and text[start - 1].isalnum() and text[end].isalnum()


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
        if alone and SIMPLE_URL.fullmatch(node.url):
            return node.url
        if not node.url.lower().startswith("mailto:"):
            return f"<{node.url}>"
    label = run_to_markdown(node.children, "[", "]", line=True, cell=cell)
    url = re.sub(r"[&|]", r"\\\g<0>", node.url)
    return f"[{label}](<{url}>)" if re.search(r"[()]", url) else f"[{label}]({url})"


def _styled(node: Style, before: str, after: str, *, line: bool, cell: bool) -> str:
    delimiter, tag = DELIMITERS[type(node)]
    if delimiter == "||" and cell:
        delimiter = ""
    if delimiter:
        edge = delimiter[0]
        body = run_to_markdown(node.children, edge, edge, line=line, cell=cell)
        if _reads_back(delimiter, body, before, after):
            return f"{delimiter}{body}{delimiter}"
    body = run_to_markdown(node.children, ">", "<", line=line, cell=cell)
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
    """Whether CommonMark allows delimiters beside this character: white space, punctuation, or
    nothing."""
    return not char or char in FREE


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
    return DELIMITERS[type(node)][0][:1] or "<" if type(node) in STYLES else "["
