"""Texts of a card -> Discord's markdown, split to fit, with losses for unsupported forms."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from bridge.content.cards.tree import Context, Prose
from bridge.content.text.inlines import plain_inlines
from bridge.content.text.split import split_text
from bridge.content.text.tree import (
    Block,
    Break,
    Document,
    Heading,
    Inline,
    Paragraph,
    Rule,
    Strong,
    Text,
)
from connectors.discord.cards import limits, schemas
from connectors.discord.cards.write_blocks import (
    has_long_link,
    supported_blocks,
    without_long_links,
)
from connectors.discord.cards.write_state import Json, Piece, Writing, sound
from connectors.discord.text import text_to_discord

Line = tuple[Inline, ...]

# A text without any sign of Discord's markup: it needs no escaping.
_PLAIN = re.compile(r"[^\W\d_](?:[^\W_]|[ ,.;?!'\"()%+=&$€/-])*")
_INNER = re.compile(r"[^\W_](?:[^\W_]|[ ,.;?!'\"()%+=&$€/-])*")  # the same, within a line
_SMALL = "-# "


def markdown(document: Document) -> str:
    """Return the blocks as Discord's markdown; mentions become readable names."""
    match document:
        case (Paragraph((Text(value),), False),) if _PLAIN.fullmatch(value):
            return value
        case (Heading(level, (Text(value),)),) if _PLAIN.fullmatch(value):
            return f"{'#' * min(level, 3)} {value.rstrip()}"
        case _:
            return sound(text_to_discord(document)).strip("\n")


def supported_markdown(w: Writing, document: Document, at: str) -> str:
    """Return the blocks as Discord's markdown; unsupported forms become losses."""
    blocks = supported_blocks(w, document, at)
    text = markdown(blocks)
    if len(text) > limits.LINK and has_long_link(blocks):
        return markdown(without_long_links(w, blocks, at))
    return text


def supported_line(w: Writing, line: Line, at: str) -> str:
    return supported_markdown(w, (Paragraph(line),), at) if line else ""


def plain(line: Line) -> str:
    """Return a line without markup, as labels need it."""
    if len(line) == 1 and isinstance(first := line[0], Text) and first.value.isprintable():
        text = first.value
    else:
        text = sound(plain_inlines(line))
    return " ".join(text.split()) if "\n" in text or "  " in text else text.strip()


def as_it_is(line: Line) -> str:
    """Return a line that is text without any sign of markup; empty for all others."""
    if len(line) == 1 and isinstance(first := line[0], Text) and _INNER.fullmatch(first.value):
        return first.value.strip()
    return ""


def line_in(document: Document) -> Line:
    """Return the only paragraph of a document, or an empty line."""
    match document:
        case (Paragraph(children, False),):
            return children
        case _:
            return ()


def say(w: Writing, text: str, *, leads: bool = False) -> None:
    """Write the text as text displays; an empty text writes nothing."""
    text = text.strip("\n").rstrip()
    if not text:
        return
    if len(text) <= limits.TEXT:
        body: Json = {"type": schemas.TEXT_DISPLAY, "content": text}
        w.pieces.append(Piece(body, w.box, 1, len(text), (), leads))
        return
    for piece in split_text(text, limits.TEXT):
        say(w, piece)


def say_line(w: Writing, line: Line, at: str) -> None:
    say(w, supported_line(w, line, at))


def small(text: str) -> str:
    """Return the text as small print, line by line."""
    lines = (line.removeprefix(_SMALL) for line in text.split("\n"))
    return "\n".join(f"{_SMALL}{line}" for line in lines if line.strip())


def say_small(w: Writing, line: Line, at: str) -> None:
    text = supported_line(w, line, at)
    if len(text) <= limits.TEXT - 200:
        say(w, small(text))
        return
    for piece in split_text(text, limits.TEXT, lambda part: len(small(part))):
        say(w, small(piece))


# --- prose ----------------------------------------------------------------------------------


def write_prose(w: Writing, node: Prose) -> None:
    """Write prose; rules become separators between the texts."""
    lose_manner(w, node)
    if len(node.text) == 1 and not isinstance(first := node.text[0], Rule):
        say(w, prose_markdown(w, node), leads=isinstance(first, Heading))
        return
    for part in _between_rules(node.text):
        if part is None:
            w.add({"type": schemas.SEPARATOR})
        else:
            text = prose_markdown(w, node, part)
            say(w, text, leads=len(part) == 1 and isinstance(part[0], Heading))


def prose_markdown(w: Writing, node: Prose, document: Document | None = None) -> str:
    """Return the markdown of prose or a part of it, as small print or a heading by its size."""
    blocks = node.text if document is None else document
    if node.subtle or node.size == "small":
        if all(isinstance(block, Paragraph) for block in blocks):
            return small(supported_markdown(w, blocks, node.at))
    elif node.size in ("large", "huge"):
        blocks = _as_heading(blocks, 2 if node.size == "large" else 1)
    return supported_markdown(w, blocks, node.at)


def lose_manner(w: Writing, node: Prose) -> None:
    """Record colour and alignment, which Discord's text lacks."""
    if node.style != "default":
        w.lose(node.at, "text_style", node.style)
    if node.align in ("center", "right"):
        w.lose(node.at, "text_align", node.align)


def _as_heading(blocks: Document, level: int) -> Document:
    match blocks:
        case (Paragraph(children),) if not any(isinstance(inline, Break) for inline in children):
            return (Heading(level, children),)
        case _:
            return blocks


def _between_rules(document: Document) -> Iterator[Document | None]:
    if not any(isinstance(block, Rule) for block in document):
        yield document
        return
    blocks: list[Block] = []
    for block in document:
        if isinstance(block, Rule):
            yield from (tuple(blocks),) if blocks else ()
            yield None
            blocks = []
        else:
            blocks.append(block)
    yield from (tuple(blocks),) if blocks else ()


# --- small print ----------------------------------------------------------------------------


def is_small_print(node: Context) -> bool:
    """Return whether the context has only lines of text."""
    return all(
        isinstance(item, Prose) and all(isinstance(block, Paragraph) for block in item.text)
        for item in node.items
    )


def context_markdown(w: Writing, node: Context) -> str:
    lines = [lines_of(item) for item in node.items if isinstance(item, Prose)]
    return small(supported_line(w, joined(lines), node.at))


def lines_of(node: Prose) -> Line:
    """Return the paragraphs as lines of one text."""
    inlines: list[Inline] = []
    for block in node.text:
        if isinstance(block, Paragraph):
            inlines += [Break(), *block.children] if inlines else block.children
    return tuple(inlines)


def joined(lines: Iterable[Line]) -> Line:
    """Return the lines joined by dots."""
    inlines: list[Inline] = []
    for line in lines:
        if line:
            inlines += [Text(" · "), *line] if inlines else line
    return tuple(inlines)


def bold(line: Line) -> Line:
    return (Strong(line),) if line else ()
