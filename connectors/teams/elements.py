"""HTML of Teams -> a tree of elements, for any string, in linear time.

The tokenizer is our own: html.parser needs 30 s for 60 KB of `<a <a <a` (CPython 3.11).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape

MAX_DEPTH = 40  # deeper elements become siblings
_VOID = frozenset({"br", "hr", "img", "input", "meta", "link", "wbr", "col"})
_UNSEEN = frozenset({"script", "style", "title", "head"})
_CLOSED_BY_THE_NEXT = frozenset({"p", "li", "tr", "td", "th"})
_CONTAINERS = frozenset(
    {"p", "div", "section", "article", "li", "tr", "td", "th", "tbody", "thead", "figure"}
)
_BLOCKS = _CONTAINERS | {
    "blockquote", "pre", "codeblock", "ul", "ol", "table", "hr", "h1", "h2", "h3", "h4", "h5", "h6",
}  # fmt: skip

# A tag ends before the next `<`, unless that is in a short quoted value: matches do not overlap,
# and the possessive `*+` does not backtrack.
_MARKUP = re.compile(
    r"<(?P<end>/)?(?P<tag>[A-Za-z][^\s/<>\"']*)"
    r"(?P<attributes>(?:[^<>\"']|\"[^\"<]*\"|'[^'<]*'|\"[^\"]{0,300}\"|'[^']{0,300}')*+)>"
    r"|<!--[^<]*?-->|<[!?][^<>]*>"
)
_ATTRIBUTE = re.compile(r"([^\s\"'<>/=]+)(?:\s*+=\s*+(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'<>]+)))?")


@dataclass(slots=True)
class Element:
    """An element: `tag` is lower case; attributes without a value are empty strings.

    `block`: the element is a block, or has a block among its descendants.
    """

    tag: str
    attributes: dict[str, str] = field(default_factory=dict[str, str])
    children: list[Element | str] = field(default_factory=lambda: list[Element | str]())
    block: bool = False

    def elements(self) -> Iterator[Element]:
        return (child for child in self.children if isinstance(child, Element))

    def text(self) -> str:
        """Return all characters with line breaks; white space is not collapsed."""
        return "".join(
            child if isinstance(child, str) else "\n" if child.tag == "br" else child.text()
            for child in self.children
        )


def parse_html(html: str) -> Element:
    """Return a root element without a name; anything that is no valid tag is text."""
    root = Element("")
    stack = [root]
    end = 0
    for markup in _MARKUP.finditer(html):
        _add_text(stack[-1], html[end : markup.start()])
        end = markup.end()
        if markup["tag"]:
            _take_tag(stack, markup)
    _add_text(stack[-1], html[end:])
    return root


def _add_text(element: Element, text: str) -> None:
    if text and element.tag not in _UNSEEN:
        element.children.append(unescape(text))


def _take_tag(stack: list[Element], markup: re.Match[str]) -> None:
    tag, attributes = markup["tag"].lower(), markup["attributes"]
    if markup["end"]:
        _close(stack, tag)
        return
    if tag in _CLOSED_BY_THE_NEXT and stack[-1].tag == tag:
        stack.pop()
    element = Element(tag, _attributes(attributes))
    stack[-1].children.append(element)
    if tag in _BLOCKS:
        for ancestor in (*stack, element):
            ancestor.block = True
    if tag not in _VOID and not attributes.endswith("/") and len(stack) < MAX_DEPTH:
        stack.append(element)


def _close(stack: list[Element], tag: str) -> None:
    for index in range(len(stack) - 1, 0, -1):
        if stack[index].tag == tag:
            del stack[index:]
            return


def _attributes(text: str) -> dict[str, str]:
    return {
        attribute[1].lower(): unescape(attribute[2] or attribute[3] or attribute[4] or "")
        for attribute in _ATTRIBUTE.finditer(text)
    }
