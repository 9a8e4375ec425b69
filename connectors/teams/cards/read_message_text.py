"""Text of messages -> nodes: plain text, Markdown with some HTML, or HTML with pictures. Pure.

Mention links and spoilers of the bridge's own Markdown have no effect: they are text here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from html import unescape
from typing import cast

from bridge.content.cards.tree import Asset, Image, Node, Prose
from bridge.content.markdown import markdown_to_text
from bridge.content.text import normal
from bridge.content.text.inlines import STYLES, Style, merge_texts, plain_inlines
from bridge.content.text.tree import (
    Block,
    Break,
    Code,
    CodeBlock,
    Document,
    Heading,
    Inline,
    Link,
    List,
    Paragraph,
    Quote,
    Spoiler,
    Table,
    Text,
)
from bridge.content.text.urls import safe_url
from connectors.teams.cards.json_values import pixels
from connectors.teams.cards.read_mentions import Mentions
from connectors.teams.cards.read_text import plain_text
from connectors.teams.elements import Element, parse_html
from connectors.teams.text import html_to_text

LONGEST = 256 * 1024  # characters; of longer markup only the text without tags is read

_AT = re.compile(r"<at(?:\s[^<>]*)?>(?P<at>[^<]*)</at>")
_BLOCK_TAG = re.compile(
    r"<(?:p|div|ul|ol|li|table|pre|blockquote|codeblock|h[1-6])(?:\s[^<>]*)?/?>", re.IGNORECASE
)
_TAG = re.compile(r"<[^<>]*>")
_PICTURE = re.compile(r"<img\b(?:[^<>\"']|\"[^\"<]*\"|'[^'<]*')*+>", re.IGNORECASE)
_EXTRACTED = re.compile(
    r"<at(?:\s[^<>]*)?>(?P<at>[^<]*)</at>"
    r"|<a\s(?P<attributes>[^<>]*)>(?P<label>[^<]*)</a>"
    r"|(?P<rule><hr\s*/?>)",
    re.IGNORECASE,
)
_HREF = re.compile(r"\bhref\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.IGNORECASE)
# Tags without a Markdown equivalent, and `strike`, which is `s` in Markdown.
_DROPPED = re.compile(r"</?(?:span|font|sub|sup|small|big)\b[^<>]*>|</img>", re.IGNORECASE)
_STRIKE = re.compile(r"<(/?)strike>", re.IGNORECASE)
# Private characters are placeholders of extracted tags while Markdown is parsed.
_STAND_IN = re.compile("\ue000([0-9]+)\ue001")
_PRIVATE = re.compile("[\ue000\ue001]")


def plain_message(text: str, mentions: Mentions, at: str) -> list[Node]:
    """Return the nodes of plain text with `<at>Name</at>` tags."""
    extracted = _Extracted(mentions)
    return _prose(extracted.put_back(plain_text(extracted.take_out(text, _AT))), at)


# --- Markdown -------------------------------------------------------------------------------


def marked_message(text: str, mentions: Mentions, at: str) -> list[Node]:
    """Return the nodes of Markdown with some HTML; text with block tags is HTML."""
    if len(text) > LONGEST:
        return plain_message(_TAG.sub(" ", text), mentions, at)
    if "<" not in text:
        return _prose(_marked(text, mentions), at)
    if _BLOCK_TAG.search(text):
        return html_message(text, mentions, at)
    nodes: list[Node] = []
    for piece in _pieces(text):
        if isinstance(piece, Element):
            nodes.append(_picture(piece, at))
        else:
            nodes += _prose(_marked(piece, mentions), at)
    return nodes


def _marked(text: str, mentions: Mentions) -> Document:
    if "<" in text:
        text = _STRIKE.sub(r"<\1s>", _DROPPED.sub("", text))
    extracted = _Extracted(mentions)
    return extracted.put_back(markdown_to_text(extracted.take_out(text, _EXTRACTED)))


# --- HTML -----------------------------------------------------------------------------------


def html_message(html: str, mentions: Mentions, at: str) -> list[Node]:
    """Return the nodes of HTML, with pictures at their places."""
    if len(html) > LONGEST:
        return _prose(plain_text(unescape(_TAG.sub(" ", html))), at)
    nodes: list[Node] = []
    for piece in _pieces(html):
        if isinstance(piece, Element):
            nodes.append(_picture(piece, at))
        elif document := html_to_text(piece, mentions.numbered).document:
            nodes += _prose(normal.normal(document), at)
    return nodes


def html_line(html: str) -> tuple[Inline, ...]:
    """Return a title that may contain tags."""
    document = html_to_text(html).document if len(html) <= LONGEST else plain_text(html)
    line: list[Inline] = []
    for block in normal.normal(document):
        if isinstance(block, Paragraph | Heading):
            line += [Text(" ")] if line else []
            line += block.children
    return tuple(line)


def _pieces(html: str) -> Iterator[str | Element]:
    """Yield text and pictures in order; emoji stay in the text."""
    end = 0
    for tag in _PICTURE.finditer(html):
        element = next(parse_html(tag[0]).elements(), None)
        if element is None or _is_emoji(element):
            continue
        if piece := html[end : tag.start()]:
            yield piece
        yield element
        end = tag.end()
    if html[end:]:
        yield html[end:]


def _is_emoji(picture: Element) -> bool:
    return picture.attributes.get("itemtype", "").lower().endswith("/emoji")


def _picture(element: Element, at: str) -> Image:
    attributes = element.attributes
    url, kind = attributes.get("src", "").strip(), attributes.get("itemtype", "").lower()
    alt = " ".join(attributes.get("alt", "").split())
    width, height = (_length(attributes.get(side, "")) for side in ("width", "height"))
    asset = Asset(
        url=url,
        alt="" if alt.lower() == "image" else alt,
        width=width,
        height=height,
        private=kind.endswith("/amsimage") or is_hosted_by_teams(url),
    )
    return Image(asset, at=at)


def _length(text: str) -> int | None:
    whole = text.strip().partition(".")[0].removesuffix("px")
    return pixels(int(whole)) if whole.isascii() and whole.isdigit() and len(whole) < 6 else None


_OURS = re.compile(
    r"https?://(?:[\w-]+\.)*(?:graph\.microsoft\.com|trafficmanager\.net|asm\.skype\.com"
    r"|botframework\.com|sharepoint\.com)/",
    re.IGNORECASE,
)


def is_hosted_by_teams(url: str) -> bool:
    """Return whether a request for the file needs a token."""
    return bool(_OURS.match(url)) or "hostedContents/" in url


# --- tags extracted while Markdown is parsed -----------------------------------------------


@dataclass(slots=True)
class _Extracted:
    mentions: Mentions
    nodes: list[tuple[Inline, str]] = field(default_factory=list[tuple[Inline, str]])

    def take_out(self, text: str, pattern: re.Pattern[str]) -> str:
        return pattern.sub(self._stand_in, _PRIVATE.sub("\ufffd", text))

    def _stand_in(self, match: re.Match[str]) -> str:
        parts = match.groupdict()
        if parts.get("rule"):
            return "\n\n---\n\n"
        if (name := parts.get("at")) is not None:
            self.nodes.append((self.mentions.by_text(unescape(name)), match[0]))
        else:
            self.nodes.append((_anchor(parts["attributes"] or "", parts["label"] or ""), match[0]))
        return f"\ue000{len(self.nodes) - 1}\ue001"

    def put_back(self, document: Document) -> Document:
        return tuple(self._block(block) for block in document)

    def _block(self, block: Block) -> Block:
        match block:
            case Paragraph(children) | Heading(_, children):
                return replace(block, children=self._run(children))
            case Quote(blocks):
                return Quote(self.put_back(blocks))
            case List(items):
                restored = (replace(item, blocks=self.put_back(item.blocks)) for item in items)
                return replace(block, items=tuple(restored))
            case Table(header, rows):
                lines = [tuple(map(self._run, row)) for row in (header, *rows)]
                return replace(block, header=lines[0], rows=tuple(lines[1:]))
            case CodeBlock(value):
                return replace(block, value=self._source(value))
            case _:
                return block

    def _run(self, nodes: Iterable[Inline]) -> tuple[Inline, ...]:
        return merge_texts(inline for node in nodes for inline in self._inline(node))

    def _inline(self, node: Inline) -> Iterable[Inline]:
        """Restore an inline; the Markdown reader does not nest a style in itself."""
        if isinstance(node, Text):
            return self._text(node.value)
        if isinstance(node, Spoiler):
            return (Text("||"), *self._run(node.children), Text("||"))
        if type(node) in STYLES:
            style = cast("Style", node)
            return (type(style)(self._run(style.children)),)
        if isinstance(node, Link):
            return (self._link(node),)
        if isinstance(node, Code):
            return (Code(self._source(node.value)),)
        return (node,) if isinstance(node, Break) else (Text(plain_inlines((node,))),)

    def _link(self, node: Link) -> Inline:
        url = safe_url(self._source(unescape(node.url))) if "\ue000" in node.url else node.url
        label = tuple(Text(plain_inlines((inline,))) for inline in self._run(node.children))
        children = label if self.nodes else node.children
        return Link(url or "", merge_texts(children)) if url else Text(plain_inlines(children))

    def _text(self, value: str) -> Iterator[Inline]:
        pieces = _STAND_IN.split(value)  # texts and numbers alternate
        for index, piece in enumerate(pieces):
            if not index % 2:
                yield Text(piece)
            elif int(piece) < len(self.nodes):
                yield self.nodes[int(piece)][0]

    def _source(self, value: str) -> str:
        return _STAND_IN.sub(lambda stand_in: self.nodes[int(stand_in[1])][1], value)


def _anchor(attributes: str, label: str) -> Inline:
    href = _HREF.search(attributes)
    url = safe_url(unescape(href[1] or href[2] or href[3] or "").strip()) if href else None
    words = " ".join(unescape(label).split())
    if url is None:
        return Text(words)
    return Link(url, (Text(words or url),))


def _prose(document: Document, at: str) -> list[Node]:
    return [Prose(document, at=at)] if document else []
