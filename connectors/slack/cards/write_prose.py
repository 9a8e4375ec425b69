"""Prose -> header, section, rich_text, divider and table blocks, whichever loses nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bridge.content.cards.tree import Prose
from bridge.content.text.inlines import STYLES, leaves, plain_inlines
from bridge.content.text.plain import hidden_in, labels_in
from bridge.content.text.tree import (
    Block,
    Code,
    CodeBlock,
    Document,
    Emphasis,
    Heading,
    Inline,
    Link,
    List,
    Paragraph,
    Quote,
    Rule,
    Spoiler,
    Strike,
    Strong,
    Table,
    Text,
    Timestamp,
    Underline,
)
from bridge.model import Loss
from connectors.slack.capabilities import HEADER, TEXT_OBJECT
from connectors.slack.cards.write_pieces import Piece, Writing
from connectors.slack.cards.write_split import split_rich_text, without_long_links
from connectors.slack.cards.write_table import write_text_table
from connectors.slack.cards.write_texts import (
    document_to_mrkdwn,
    length,
    mrkdwn,
    plain,
    section,
    words,
)
from connectors.slack.mrkdwn import LITERAL_FORM
from connectors.slack.rich_text_writer import rich_text_length, text_to_rich_text

_MAX_HEADER_LEVEL = 2  # deeper headings are bold text, since a header block is large
_RICH = (List, Quote, CodeBlock, Paragraph, Heading)


def write_prose(writing: Writing, node: Prose) -> None:
    lose_marks(writing, node.text, node.at)
    small = node.subtle or node.size == "small"
    if small and (text := _small(node.text)):
        writing.pieces.append(Piece({"type": "context", "elements": [mrkdwn(text)]}))
    elif node.size in ("large", "huge") and _is_line(node.text):
        _write_header(writing, node.text[0], node.at)
    else:
        write_document(writing, node.text, node.at)


def write_document(writing: Writing, document: Document, at: str) -> None:
    """The blocks of a document, in order; runs between headings, tables and rules share a block."""
    run: list[Block] = []
    for block in document:
        kind = type(block)
        if kind is Paragraph or (kind in _RICH and not _is_head(block)):
            if run and _is_subtle(run[0]) is not _is_subtle(block):
                _write_run(writing, run, at)
                run = []
            run.append(block)
            continue
        _write_run(writing, run, at)
        run = []
        match block:
            case Table():
                write_text_table(writing, block, at)
            case Rule():
                writing.pieces.append(Piece({"type": "divider"}))
            case _:
                _write_header(writing, block, at)
    _write_run(writing, run, at)


def lose_marks(writing: Writing, document: Document, at: str) -> None:
    writing.losses += marks_lost(document, at)


def marks_lost(document: Document, at: str) -> Iterator[Loss]:
    """The losses of a document: hidden text is shown between bars; a link has one style."""
    match document:
        case (Paragraph((Text(),)) | Heading(_, (Text(),)),):
            return
        case _:
            pass
    for words_ in hidden_in(document):
        yield Loss(path=at, kind="spoiler_shown", what=words_, shown_as="||…||")
    for label in labels_in(document):
        if _has_styles(label):
            lost_text = plain_inlines(label)
            yield Loss(path=at, kind="label_style", what=lost_text, shown_as="without styles")


def _has_styles(label: tuple[Inline, ...]) -> bool:
    """Whether only parts of the line have styles."""
    while len(label) == 1 and isinstance(only := label[0], Strong | Emphasis | Strike):
        label = only.children
    styles = (Strong, Emphasis, Strike, Underline, Code)
    return len(label) > 1 and any(isinstance(inline, styles) for inline in label)


def _write_run(writing: Writing, run: Sequence[Block], at: str) -> None:
    if not run:
        return
    document = tuple(run)
    if _is_subtle(run[0]) and (text := _small(document)):
        writing.pieces.append(Piece({"type": "context", "elements": [mrkdwn(text)]}))
        return
    if not any(_needs_rich_text(block) for block in run):
        text = document_to_mrkdwn(document)
        if not text:
            return
        if length(text) <= TEXT_OBJECT and LITERAL_FORM not in text:
            writing.pieces.append(Piece(section(text)))
            return
    elements = text_to_rich_text(document)
    if rich_text_length(elements) > TEXT_OBJECT:
        whole = without_long_links(writing, document, at)
        parts = split_rich_text(whole, TEXT_OBJECT)
        writing.pieces += [Piece({"type": "rich_text", "elements": part}) for part in parts if part]
    elif elements:
        writing.pieces.append(Piece({"type": "rich_text", "elements": elements}))


def _write_header(writing: Writing, block: Block, at: str) -> None:
    """A header block, which has only plain text; else a bold line."""
    children = block.children if isinstance(block, Heading | Paragraph) else ()
    text = words(children)
    if text and length(text) <= HEADER and not _holds(children, _NOT_PLAIN):
        named = any(type(inline) not in (Text,) for inline in children)
        writing.pieces.append(Piece({"type": "header", "text": plain(text, named=named)}))
    else:
        _write_run(writing, (Heading(3, children),), at)


def _small(document: Document) -> str:
    """Small print as mrkdwn for a context block; "" if the block cannot show everything."""
    if not all(type(block) is Paragraph for block in document):
        return ""
    if any(_needs_rich_text(block) for block in document):
        return ""
    text = document_to_mrkdwn(document)
    return text if length(text) <= TEXT_OBJECT else ""


def is_plain_prose(node: Prose) -> bool:
    """Whether mrkdwn loses nothing of it."""
    if node.subtle or node.size != "normal":
        return False
    return not any(
        _is_head(block) or _is_subtle(block) or _needs_rich_text(block) for block in node.text
    )


# --- choice of the form ---------------------------------------------------------------------

_NOT_PLAIN: frozenset[type[Inline]] = frozenset((Link, Code, Timestamp, Spoiler))
_NOT_MRKDWN: frozenset[type[Inline]] = frozenset((Underline,))


def _is_head(block: Block) -> bool:
    return isinstance(block, Heading) and block.level <= _MAX_HEADER_LEVEL


def _is_subtle(block: Block) -> bool:
    return isinstance(block, Paragraph) and block.subtle


def _is_line(document: Document) -> bool:
    return len(document) == 1 and isinstance(document[0], Paragraph | Heading)


def _needs_rich_text(block: Block) -> bool:
    """Whether mrkdwn would lose something."""
    match block:
        case Paragraph(children) | Heading(_, children):
            return _holds(children, _NOT_MRKDWN) or _holds_tick(children)
        case CodeBlock(value, language):
            return bool(language) or "```" in value
        case Quote(blocks):
            return any(type(block) is not Paragraph or _needs_rich_text(block) for block in blocks)
        case _:
            return True


def _holds_tick(run: Sequence[Inline]) -> bool:
    """Whether code has a backtick, which would end it in mrkdwn."""
    return any(isinstance(leaf, Code) and "`" in leaf.value for leaf in leaves(run))


def _holds(run: Sequence[Inline], kinds: frozenset[type[Inline]]) -> bool:
    """Whether the run has a node of one of these types."""
    if len(run) == 1 and type(run[0]) is Text:
        return Text in kinds
    stack = [iter(run)]
    while stack:
        node = next(stack[-1], None)
        if node is None:
            stack.pop()
        elif type(node) in kinds:
            return True
        elif type(node) in STYLES:
            stack.append(iter(node.children))  # pyright: ignore[reportAttributeAccessIssue]  # a style
    return False
