"""A plain run of inlines, as most messages have, -> UACS Markdown in one pass.

The output equals that of `inline_writer` for the run's normal form; any doubt raises NotPlain.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import cast

from bridge.content.markdown.inline_writer import (
    DELIMITERS,
    FREE,
    SIMPLE_URL,
    escape,
    own_node_to_markdown,
)
from bridge.content.text.tree import (
    Break,
    Code,
    Emoji,
    Emphasis,
    Inline,
    Link,
    Strike,
    Strong,
    Text,
)
from bridge.content.text.uacs_links import OwnNode, readable_own_node

_odd = re.compile(r"[\x00-\x1f\x7f-\x9f\\`*_\[\]~|<&!\ud800-\udfff]").search
_unclean = re.compile(r"[\x00\x0b\x0c\r\n\ud800-\udfff]").search
_plain_url = re.compile(r"https?://[A-Za-z0-9][A-Za-z0-9./?=%+#,:;@!$&_~-]*").fullmatch
_BLANK = " \t"
_AFTER_URL = frozenset(" \n")
_SIGNS: dict[type[Inline], str] = {Strong: "**", Emphasis: "_", Strike: "~~"}
_AFTER = {sign: FREE - {sign} for sign in "*_~"}


class NotPlain(Exception):
    """The run needs the complete writer, `inline_writer`."""


def plain_run_to_markdown(  # noqa: C901 - one branch a kind of node
    nodes: Sequence[Inline], before: str = "", after: str = "", *, line: bool = False,
    cell: bool = False, within: tuple[type[Inline], ...] = (),
) -> str:  # fmt: skip
    """Writes a plain run of inlines.

    Args:
        nodes: Any run.
        before: The character before the run.
        after: The character after the run.
        line: Whether the run is on one line.
        cell: Whether the run is in a cell of a table.
        within: The styles around the run.

    Raises:
        NotPlain: The run needs the complete writer.
    """
    out: list[str] = []
    last: type[Inline] | None = None
    may_follow: frozenset[str] | None = None  # the characters that may follow the last piece
    edge = before
    for node in nodes:
        kind = type(node)
        if kind is last or kind in within:
            raise NotPlain
        free = None
        if isinstance(node, Text):
            piece = _text(node.value)
        elif isinstance(node, Code):
            piece = _code(node.value)
        elif kind in _SIGNS:
            style = cast("Strong | Emphasis | Strike", node)
            piece, free = _styled(style, edge, line=line, cell=cell, within=within)
        elif isinstance(node, Break):
            if line or not out or edge in _BLANK:
                raise NotPlain
            piece = "\n"
        elif isinstance(node, Link):
            piece = _link(node, edge)
            free = _AFTER_URL if piece[0] == "h" else None
        else:
            piece = _own_node(node)
        if may_follow is not None and piece[0] not in may_follow:
            raise NotPlain
        if piece[0] == "[" and edge == "!":
            raise NotPlain
        may_follow = free
        edge = piece[-1]
        out.append(piece)
        last = kind
    if not out or last is Break or edge in _BLANK or (line and out[0][0] in _BLANK):
        raise NotPlain
    if may_follow is not None and after and after not in may_follow:
        raise NotPlain
    return "".join(out)


def _text(value: str) -> str:
    if not value or "://" in value:
        raise NotPlain
    if not _odd(value):
        return value
    if _unclean(value):
        raise NotPlain
    return escape(value)


def _styled(
    node: Strong | Emphasis | Strike,
    before: str,
    *,
    line: bool,
    cell: bool,
    within: tuple[type[Inline], ...],
) -> tuple[str, frozenset[str] | None]:
    """The style, and the characters that may follow it: beside a letter its signs always count."""
    kind = type(node)
    sign = _SIGNS[kind]
    edge = sign[0]
    body = plain_run_to_markdown(
        node.children, edge, edge, line=line, cell=cell, within=(*within, kind)
    )
    first, last = body[0], body[-1]
    if edge in (first, last, before) or first.isspace() or last.isspace():
        raise NotPlain
    if (edge == "_" or not first.isalnum()) and before and before not in FREE:
        raise NotPlain
    return f"{sign}{body}{sign}", _AFTER[edge] if edge == "_" or not last.isalnum() else None


def _code(value: str) -> str:
    if not value or not value.isprintable() or "`" in value or "|" in value:
        raise NotPlain
    if value[0] == " " or value[-1] == " ":
        raise NotPlain
    return f"`{value}`"


def _link(node: Link, before: str) -> str:
    label = node.children[0] if len(node.children) == 1 else None
    if not isinstance(label, Text):
        raise NotPlain
    url = node.url
    if label.value == url:
        if before not in ("", " ", "\n") or not SIMPLE_URL.fullmatch(url) or url[8:9] in "/":
            raise NotPlain
        return url
    if not _plain_url(url) or not label.value.strip():
        raise NotPlain
    words = _text(label.value)
    if words[0] in _BLANK or words[-1] in _BLANK or words[-1] == "!":
        raise NotPlain
    return f"[{words}]({url.replace('&', chr(92) + '&')})"


def _own_node(node: Inline) -> str:
    """An emoji as its characters, another node of ours as a link."""
    if isinstance(node, Emoji) and node.unicode:
        if node.unicode.isascii() or any(map(str.isalnum, node.unicode)) or _unclean(node.unicode):
            raise NotPlain
        return node.unicode
    sound = readable_own_node(cast("OwnNode", node)) if type(node) not in DELIMITERS else None
    if sound is None:
        raise NotPlain
    return own_node_to_markdown(sound)
