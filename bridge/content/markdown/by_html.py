"""Markdown -> the text tree by way of the parser's HTML, which is several times as fast as its
events.

It returns None if the HTML is ambiguous: raw HTML, spoilers, styles that touch.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import pyromark

from bridge.content.markdown.simple_html import NotSimple, SimpleHtml
from bridge.content.text import normal
from bridge.content.text.inlines import plain_inlines
from bridge.content.text.tree import Document, Inline, Link
from bridge.content.text.uacs_links import SCHEME, link_to_own_node

MARKDOWN_OPTIONS = (
    pyromark.Options.ENABLE_TABLES
    | pyromark.Options.ENABLE_STRIKETHROUGH
    | pyromark.Options.ENABLE_TASKLISTS
)
# The HTML does not show these: raw HTML, spelled-out white space, spoilers, pictures.
_RAW_HTML = re.compile(r"<(?!https?://[^\s<>]*>)[A-Za-z/!?]")
_SPELLED_OUT = ("&#", "&Tab;", "&NewLine;")
_ENCODED = re.compile(r"%(?:2[02]|3[CE]|5[B-E]|60|7[B-DF]|[0189A-F])")  # perhaps by the parser


def read_by_html(clean: str) -> Document | None:
    """Returns the document that the parser's events give, too; None if the HTML is ambiguous.

    Args:
        clean: Markdown as `normal.cleaned` returns it.
    """
    if "||" in clean or "![" in clean or ("<" in clean and _RAW_HTML.search(clean)):
        return None
    if "&" in clean and any(sign in clean for sign in _SPELLED_OUT):
        return None
    try:
        return _HTML.read(pyromark.html(clean, options=MARKDOWN_OPTIONS))
    except NotSimple:
        return None


def _link(url: str, label: tuple[Inline, ...]) -> Sequence[Inline]:
    if url.startswith(SCHEME) and (own_node := link_to_own_node(plain_inlines(label), url)):
        return (own_node,)
    link = normal.link(url, label)
    if len(link) != 1 or type(link[0]) is not Link or _ENCODED.search(url):
        raise NotSimple
    return link


_HTML = SimpleHtml(_link, bare_links=True)
