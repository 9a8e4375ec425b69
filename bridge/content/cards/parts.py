"""Nodes of a card -> UACS parts with the same content, for a model or a place that shows text only.

The output has Text (UACS Markdown), Image, Video, Audio and File parts, in the order of reading,
each with its details. Pure, and safe for nesting of any depth.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from math import isfinite
from typing import Any, Literal
from urllib.parse import quote

from bridge.content.cards import degrade
from bridge.content.cards.input_text import input_as_blocks, words
from bridge.content.cards.rendering import public_url
from bridge.content.cards.tree import (
    Actions,
    Alert,
    Asset,
    Badge,
    Button,
    Carousel,
    Chart,
    Column,
    Columns,
    Container,
    Context,
    Divider,
    Fields,
    File,
    Gallery,
    Image,
    Input,
    Native,
    Node,
    Player,
    Poll,
    Progress,
    Prose,
    Rating,
    Section,
    Table,
    Tasks,
)
from bridge.content.markdown import text_to_markdown
from bridge.content.messages.metadata import PartDetails
from bridge.content.text.inlines import linked, plain_inlines
from bridge.content.text.plain import blocks_as_line
from bridge.content.text.tree import (
    Block,
    Document,
    Heading,
    Inline,
    Link,
    Paragraph,
    Rule,
    Spoiler,
    Strong,
    Text,
)
from bridge.content.text.urls import safe_url
from bridge.errors import InvalidUacs
from bridge.uacs import (
    AudioPart,
    ContentPart,
    FilePart,
    ImagePart,
    MediaSource,
    TextPart,
    VideoPart,
)

Line = tuple[Inline, ...]
Nodes = tuple[Node, ...]
MediaKind = Literal["image", "video", "audio", "file"]

_DATA_URL = re.compile(r"data:([a-z]+/[\w.+-]+)?(?:;[\w=.-]+)*;base64,", re.IGNORECASE)
_RESERVED = "%:/?#[]@!$&'()*+,;=~"
_PARTS = {"image": ImagePart, "video": VideoPart, "audio": AudioPart, "file": FilePart}
# By file name extension: the mimetypes module reads the machine's configuration, which differs.
_TYPES = {
    "gif": "image/gif",
    "jpeg": "image/jpeg",
    "jpg": "image/jpeg",
    "m4a": "audio/mp4",
    "mov": "video/quicktime",
    "mp3": "audio/mpeg",
    "mp4": "video/mp4",
    "ogg": "audio/ogg",
    "pdf": "application/pdf",
    "png": "image/png",
    "svg": "image/svg+xml",
    "wav": "audio/wav",
    "webm": "video/webm",
    "webp": "image/webp",
}


@dataclass(frozen=True, slots=True)
class DetailedPart:
    """A part, and the details for which the seed has no field."""

    part: ContentPart
    details: PartDetails | None = None


class _EndOfSpoiler:
    """Marks the end of a spoiler on the stack: the nodes before it are hidden until a reader opens
    them."""


def card_parts(nodes: Iterable[Node]) -> tuple[DetailedPart, ...]:
    """Returns the content of the nodes as parts, in order; none if the nodes have no content."""
    return _PartWriter(nodes).parts()


class _PartWriter:
    """One walk. `_waiting` is a stack: a node is replaced by simpler ones until it is text."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self._waiting: list[Node | _EndOfSpoiler] = []
        self._blocks: list[Block] = []
        self._buttons: list[Inline] = []
        self._parts: list[DetailedPart] = []
        self._spoilers = 0
        self._push(nodes)

    def parts(self) -> tuple[DetailedPart, ...]:
        while self._waiting:
            node = self._waiting.pop()
            if isinstance(node, _EndOfSpoiler):
                self._end_buttons()
                self._spoilers -= 1
                continue
            if not isinstance(node, Button | Actions):
                self._end_buttons()
            self._write(node)
        self._end_text()
        return tuple(self._parts)

    def _push(self, nodes: Iterable[Node]) -> None:
        self._waiting.extend(reversed(tuple(nodes)))

    def _write(self, node: Node) -> None:  # noqa: C901  # one flat match over the kinds
        match node:
            case Prose() | Fields() | Alert() | Badge() | Progress() | Rating():
                self._add_text(*_prose(node).text)
            case Divider(line=line):
                self._add_text(*((Rule(),) if line else ()))
            case Context(items):
                self._context(items)
            case Button():
                self._button(node)
            case Actions(items) | Gallery(items):
                self._push(items)
            case Container():
                self._container(node)
            case Section():
                self._push(degrade.stack_section(node))
            case Columns():
                self._push(inner for column in node.columns for inner in _with_address(column))
            case Carousel():
                self._push(degrade.stack_carousel(node))
            case Tasks():
                self._push(degrade.tasks_as_nodes(node))
            case Poll():
                self._push(degrade.poll_as_nodes(node))
            case Chart():
                self._push((degrade.chart_as_table(node),))
            case Table():
                self._table(node)
            case Image():
                self._image(node)
            case Player():
                self._player(node)
            case File():
                self._file(node)
            case Native(fallback=fallback):
                self._push(fallback)
            case _:
                self._input(node)

    # --- text -------------------------------------------------------------------------------

    def _add_text(self, *blocks: Block) -> None:
        self._end_buttons()
        self._blocks += map(_hidden, blocks) if self._spoilers else blocks

    def _end_text(self) -> None:
        self._end_buttons()
        if markdown := text_to_markdown(tuple(self._blocks)):
            self._parts.append(DetailedPart(TextPart(text=markdown)))
        self._blocks = []

    def _context(self, items: Iterable[Prose | Image]) -> None:
        """Texts between pictures become one line."""
        line: list[Inline] = []
        for item in items:
            if isinstance(item, Prose):
                inlines = blocks_as_line(item.text)
                line += [Text(" "), *inlines] if line and inlines else inlines
            else:
                self._add_text(*_paragraph(tuple(line)))
                line = []
                self._image(item)
        self._add_text(*_paragraph(tuple(line)))

    def _container(self, node: Container) -> None:
        if node.spoiler:
            self._spoilers += 1
            self._waiting.append(_EndOfSpoiler())
        self._push((*degrade.open_container(node), *(() if node.title else _address(node.link))))

    def _table(self, node: Table) -> None:
        """Text if all cells are text or pictures, else the nodes of the cells, row by row."""
        self._add_text(*_paragraph((Strong(node.title),) if node.title else ()))
        rows = tuple(tuple(tuple(map(_in_cell, cell)) for cell in row) for row in node.rows)
        table, rest = degrade.text_table(Table(rows, header=node.header, align=node.align))
        if rest:
            self._push(inner for row in node.rows for cell in row for inner in cell)
        elif table.header:
            self._add_text(table)

    # --- actions ----------------------------------------------------------------------------

    def _button(self, node: Button) -> None:
        """`[label]`, or a link; neighbours share a line, and revealed nodes follow below it."""
        sign: Line = (Text(f"{node.emoji} "),) if node.emoji else ()
        label = (*sign, *node.label) if node.label else (*sign, *words(node.hint))
        url = safe_url(node.url) if node.does == "open" else None
        inlines: Line = (
            (Link(url, label or (Text(url),)),) if url else (Text("["), *label, Text("]"))
        )
        if node.url and not url:
            inlines = linked(inlines, node.url)
        if node.confirm is not None:
            question = (*words(node.confirm.title), Text(" "), *node.confirm.text)
            inlines = (*inlines, Text(" ("), *question, Text(")"))
        self._buttons += [Text(" "), *inlines] if self._buttons else inlines
        self._push(node.nodes)

    def _end_buttons(self) -> None:
        line, self._buttons = tuple(self._buttons), []
        if line:
            self._add_text(Paragraph(line))

    def _input(self, node: Input) -> None:
        self._add_text(*input_as_blocks(node))

    # --- media ------------------------------------------------------------------------------

    def _image(self, node: Image) -> None:
        url = safe_url(node.link) if node.link else None
        title: Line = (Link(url, node.title or words(url)),) if url else node.title
        if (source := _source(node.asset)) is None:
            self._add_text(*degrade.image_as_prose(node, url or "").text)
        else:
            self._add_text(*_paragraph(title))
            self._media("image", node.asset, source)

    def _player(self, node: Player) -> None:
        if (source := _source(node.asset)) is None:
            self._push(degrade.player_as_nodes(node, public_url(node.asset)))
            return
        url = safe_url(node.link) if node.link else None
        title: Line = (Link(url, node.title or words(url)),) if url else node.title
        for line in (title, node.author, node.description):
            self._add_text(*_paragraph(line))
        self._media(node.kind, node.asset, source)

    def _file(self, node: File) -> None:
        if (source := _source(node.asset)) is None:
            self._add_text(*degrade.file_as_prose(node, public_url(node.asset)).text)
            name = node.asset.name if node.title else ""
            self._add_text(*_paragraph(words(name) if plain_inlines(node.title) != name else ()))
        else:
            self._add_text(*_paragraph(node.title))
            self._media("file", node.asset, source)

    def _media(self, kind: MediaKind, asset: Asset, source: MediaSource) -> None:
        self._end_text()
        part = _PARTS[kind](source=source, media_type=_media_type(kind, asset))
        self._parts.append(DetailedPart(part, _details(asset, hidden=self._spoilers > 0)))
        if asset.alt.strip():
            self._parts.append(_alt_part(kind, asset, hidden=self._spoilers > 0))


# --- small ----------------------------------------------------------------------------------


def _with_address(column: Column) -> Nodes:
    return (*column.nodes, *_address(column.link))


def _address(link: str) -> Nodes:
    """The link of a part without a title, as a line of its own."""
    return (degrade.line_prose(linked((), link), ""),) if link else ()


def _prose(node: Prose | Fields | Alert | Badge | Progress | Rating) -> Prose:
    match node:
        case Prose():
            return node
        case Fields():
            return degrade.fields_as_prose(node)
        case Alert():
            return degrade.alert_as_prose(node)
        case Badge():
            return degrade.badge_as_prose(node)
        case Progress():
            return degrade.progress_as_prose(node)
        case Rating():
            return degrade.rating_as_prose(node)


def _in_cell(node: Node) -> Node:
    if not isinstance(node, Image):
        return node
    return degrade.image_as_prose(node, node.link or public_url(node.asset))


def _hidden(block: Block) -> Block:
    match block:
        case Heading(level, children):
            return Heading(level, (Spoiler(children),))
        case Rule():
            return block
        case _:
            line = blocks_as_line((block,))
            return Paragraph((Spoiler(line),) if line else ())


def _paragraph(line: Line) -> Document:
    return (Paragraph(line),) if line else ()


def _source(asset: Asset) -> MediaSource | None:
    """The source from which a reader may take the bytes; None if only text can describe the
    asset."""
    if asset.file_id:
        return MediaSource(file_id=asset.file_id)
    if data := _DATA_URL.match(asset.url):
        return MediaSource(base64=asset.url[data.end() :])
    url = safe_url(public_url(asset))
    try:
        return MediaSource(url=quote(url, safe=_RESERVED)) if url else None
    except InvalidUacs:  # no URI of RFC 3986
        return None


def _alt_part(kind: MediaKind, asset: Asset, *, hidden: bool) -> DetailedPart:
    """`[image: description]`, for readers that do not know the bridge's details of parts."""
    text_node = Text(f"[{kind}: {' '.join(asset.alt.split())}]")
    line: Inline = Spoiler((text_node,)) if asset.spoiler or hidden else text_node
    text = text_to_markdown((Paragraph((line,)),))
    return DetailedPart(TextPart(text=text), PartDetails(repeats_alt=True))


def _media_type(kind: MediaKind, asset: Asset) -> str:
    data = _DATA_URL.match(asset.url)
    name = asset.name or asset.url.partition("?")[0].partition("#")[0]
    guessed = _TYPES.get(name.rpartition(".")[2].lower(), "")
    for candidate in (asset.media_type, (data and data[1]) or "", guessed):
        if candidate.startswith(f"{kind}/") or (kind == "file" and candidate):
            return candidate
    return "application/octet-stream" if kind == "file" else f"{kind}/*"


def _details(asset: Asset, *, hidden: bool) -> PartDetails | None:
    details: dict[str, Any] = {}
    if asset.name:
        details["name"] = asset.name
    if asset.alt:
        details["alt"] = asset.alt
    if asset.size is not None and asset.size >= 0:
        details["size"] = asset.size
    if asset.seconds is not None and isfinite(asset.seconds) and asset.seconds >= 0:
        details["duration_s"] = asset.seconds
    if asset.spoiler or hidden:
        details["spoiler"] = True
    return PartDetails(**details) if details else None
