"""Plain text nodes -> messages with text only, in Teams' Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from bridge.content.cards.tree import File, Image, Node, Player, Prose
from bridge.content.markdown import markdown_to_text, text_to_markdown
from bridge.content.text.inlines import plain_inlines
from bridge.content.text.normal import normal
from bridge.content.text.split import split_text, utf16_length
from bridge.content.text.tree import (
    Block,
    Document,
    Heading,
    Inline,
    List,
    Paragraph,
    Quote,
    Spoiler,
    Table,
)
from connectors.teams.cards.write_media import named_file
from connectors.teams.cards.write_state import Writing
from connectors.teams.text import text_to_teams

_GROWING = frozenset("\\`*_~[]{}|^=+$#!<>&\n-")


def is_plain(writing: Writing, node: Node) -> bool:
    """Return whether a node needs no card: text without look, headings, tables and spoilers, or a
    file that is sent with the message."""
    match node:
        case Prose(text, size="normal", style="default", subtle=False, align=None):
            return not any(map(_needs_a_card, text))
        case Image(asset) | File(asset) | Player(_, asset, author=(), description=(), poster=None):
            return not asset.spoiler and not asset.url and writing.travels(asset)
        case _:
            return False


def _needs_a_card(block: Block) -> bool:
    match block:
        case Table() | Heading() | Paragraph((Spoiler(),)):
            return True
        case _:
            return False


def texts_of(writing: Writing, nodes: Sequence[Node], room: int) -> list[str]:
    """Return the text of each message, at most `room` UTF-16 units; files go to `writing.files`."""
    document: list[Block] = []
    for node in nodes:
        match node:
            case Prose(text):
                read = normal(text)
                _lose(writing, read, node.at)
                document += read
            case File(asset):
                writing.files.append((None, asset))
                document += named_file(node, "")
            case Image(asset) | Player(_, asset):
                writing.files.append((None, asset))
                document += [Paragraph(node.title)] if node.title else []
            case _:
                pass
    return list(_pieces(tuple(document), room)) if document else []


def _pieces(document: Document, room: int) -> Iterator[str]:
    """Yield the text, divided between blocks, and within blocks that are too long."""
    whole = text_to_teams(document)
    if weight(whole) <= room:
        if whole.strip():
            yield whole
        return
    group: list[Block] = []
    remaining = room
    for block in document:
        size = weight(text_to_teams((block,))) + 4
        if size > remaining and group:
            yield text_to_teams(tuple(group))
            group, remaining = [], room
        if size > room:
            yield from _cut(block, room)
        else:
            group.append(block)
            remaining -= size
    if group:
        yield text_to_teams(tuple(group))


def _cut(block: Block, room: int) -> Iterator[str]:
    """Divide a block by written size; the first cut estimates it, because writing is slower."""
    for piece in split_text(text_to_markdown((block,)), room, _guess):
        written = text_to_teams(markdown_to_text(piece))
        if weight(written) <= room:
            yield from _full(written)
            continue
        for part in split_text(piece, room, _exact):
            yield from _full(text_to_teams(markdown_to_text(part)))


def _full(text: str) -> Iterator[str]:
    if text.strip():
        yield text


def _exact(markdown: str) -> int:
    return weight(text_to_teams(markdown_to_text(markdown)))


def _guess(markdown: str) -> int:
    return weight(markdown) + 5 * sum(map(markdown.count, _GROWING))


def weight(text: str) -> int:
    """Return UTF-16 units with JSON escapes: the service measures the payload."""
    return utf16_length(text) + text.count('"') + text.count("\\") + text.count("\n")


# --- losses --------------------------------------------------------------------


def _lose(writing: Writing, document: Document, at: str) -> None:
    headings = [plain_inlines(block.children) for block in document if isinstance(block, Heading)]
    if headings:
        writing.lose(at, "heading_as_bold", "\n".join(headings), "a bold line")
    for spoiler in _spoilers(document):
        writing.lose(at, "spoiler_shown", plain_inlines(spoiler.children), "[spoiler: …]")


def _spoilers(document: Document) -> Iterator[Spoiler]:
    for line in _lines(document):
        stack: list[Iterator[Inline]] = [iter(line)]
        while stack:
            node = next(stack[-1], None)
            if node is None:
                stack.pop()
            elif isinstance(node, Spoiler):
                yield node
            else:
                stack.append(iter(getattr(node, "children", ())))


def _lines(document: Iterable[Block]) -> Iterator[tuple[Inline, ...]]:
    for block in document:
        match block:
            case Paragraph(children) | Heading(_, children):
                yield children
            case Quote(blocks):
                yield from _lines(blocks)
            case List(items):
                for item in items:
                    yield from _lines(item.blocks)
            case Table(header, rows):
                for row in (header, *rows):
                    yield from row
            case _:
                pass
