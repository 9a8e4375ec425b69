"""The normal form of the text tree: one tree for all trees with the same content. Pure.

`markdown_to_text` returns it and `text_to_markdown` can write it: no empty nodes, no white space at
the edges of styles and links, no style within itself, no link within a link, texts without line
breaks, bare URLs as links, quotes and lists at most `MAX_DEPTH` deep.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Literal, cast, get_args

from bridge.content.text.inlines import (
    STYLES,
    Style,
    has_neighbours_of_one_kind,
    plain_inlines,
)
from bridge.content.text.tree import (
    BREAK,
    Block,
    Break,
    Code,
    CodeBlock,
    Document,
    Emoji,
    Heading,
    Inline,
    Link,
    List,
    ListItem,
    Paragraph,
    Quote,
    Rule,
    Table,
    Text,
)
from bridge.content.text.uacs_links import OwnNode, readable_own_node
from bridge.content.text.urls import bare_urls, safe_url

_MAX_PADDING = 10_000  # cells that padding may add to any table
MAX_DEPTH = 24  # quotes and lists at a greater depth are read as their content
_OWN_NODES: frozenset[type[Inline]] = frozenset(get_args(OwnNode))
_BLANK = " \t"
_UNCLEAN = re.compile("[\x00\x0b\x0c\ud800-\udfff]")
_LINE_END = re.compile(r"\r\n?|\n")
_SPECIAL = re.compile("[\x00\x0b\x0c\r\n\ud800-\udfff]|://")  # what a Text node may not contain
_NO_LANGUAGE = re.compile(r"[`\s\\&]")
_NONE: frozenset[type[Inline]] = frozenset()


def cleaned(text: str) -> str:
    """Returns the text with U+FFFD for NUL and lone surrogates (CommonMark 2.3) and a space for
    page breaks."""
    return text if is_clean(text) else _UNCLEAN.sub(_clean, text)


def is_clean(text: str) -> bool:
    """Whether `cleaned` would return the text unchanged."""
    if "\x00" in text or "\x0b" in text or "\x0c" in text:
        return False
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return False
    return True


def _clean(match: re.Match[str]) -> str:
    return " " if match.group() in "\x0b\x0c" else "\ufffd"


# --- blocks ---------------------------------------------------------------------------------


def normal(document: Document) -> Document:
    """Returns the normal form of any tree, however deep or malformed."""
    return tuple(_blocks(document, 0))


def _blocks(blocks: Iterable[Block], depth: int) -> Iterator[Block]:
    for block in blocks if depth < MAX_DEPTH else flat_blocks(blocks):
        yield from _block(block, depth)


def _block(block: Block, depth: int) -> Iterable[Block]:
    match block:
        case Paragraph(children, subtle):
            return paragraphs(tidy(children), subtle=subtle)
        case Heading(level, children):
            return heading(level, tidy(children))
        case Quote(inner):
            return quote(_blocks(inner, depth + 1))
        case CodeBlock(value, language):
            return [code_block(value, language)]
        case List(items, start):
            return bullets(
                [ListItem(tuple(_blocks(item.blocks, depth + 1)), item.checked) for item in items],
                start,
            )
        case Table(header, rows, align):
            tidied = [[tidy(cell) for cell in row] for row in (header, *rows)]
            return table(tidied[0], tidied[1:], align)
        case Rule():
            return [block]


def flat_blocks(blocks: Iterable[Block]) -> Iterator[Block]:
    """Yields the blocks inside quotes and lists, without these; safe for nesting of any depth."""
    stack = [iter(blocks)]
    while stack:
        block = next(stack[-1], None)
        if block is None:
            stack.pop()
        elif isinstance(block, Quote):
            stack.append(iter(block.blocks))
        elif isinstance(block, List):
            stack.append(iter([inner for item in block.items for inner in item.blocks]))
        else:
            yield block


def paragraphs(run: Sequence[Inline], *, subtle: bool = False) -> Iterator[Block]:
    """Yields a tidy run as paragraphs; two or more line breaks separate them."""
    children: list[Inline] = []
    breaks = 0
    for node in _without_end(run):
        if isinstance(node, Break):
            breaks += 1
            continue
        if breaks > 1 and children:
            yield Paragraph(tuple(children), subtle)
            children = []
        elif breaks and children:
            children.append(BREAK)
        breaks = 0
        children.append(node)
    if children:
        yield Paragraph(tuple(children), subtle)


def heading(level: int, run: Sequence[Inline]) -> list[Block]:
    """Returns a heading of one line, its level between 1 and 6; nothing for an empty run."""
    children = one_line(run)
    return [Heading(min(max(level, 1), 6), children)] if children else []


def quote(blocks: Iterable[Block]) -> list[Block]:
    """Returns a quote of the blocks; nothing if there are none."""
    inner = tuple(blocks)
    return [Quote(inner)] if inner else []


def code_block(value: str, language: str) -> CodeBlock:
    """Returns a code block with clean text; its language is the first word of Markdown's info
    string."""
    value = cleaned(value)
    if "\r" in value:
        value = _LINE_END.sub("\n", value)
    if language.isalnum():
        return CodeBlock(value, language)
    words = cleaned(language).split(maxsplit=1)
    return CodeBlock(value, _NO_LANGUAGE.sub("", words[0]) if words else "")


def bullets(items: Sequence[ListItem], start: int | None) -> list[Block]:
    """Returns a list of the items; nothing if there are none.

    Args:
        items: The items, in their normal form.
        start: The first number of an ordered list; None for bullets.
    """
    first = None if start is None else min(max(start, 0), 999_999_999)
    return [List(tuple(items), first)] if items else []


def table(
    header: Sequence[Sequence[Inline]],
    rows: Sequence[Sequence[Sequence[Inline]]],
    align: Sequence[Literal["left", "center", "right"] | None],
) -> list[Block]:
    """Returns a table whose rows all have the width of the longest.

    A table that padding would make far too large becomes paragraphs with bars between the cells.
    """
    lines = [[one_line(cell) for cell in row] for row in (header, *rows)]
    if not any(cell for line in lines for cell in line):
        return []
    width = max(len(line) for line in lines)
    if width * len(lines) > _MAX_PADDING + 10 * sum(len(line) for line in lines):
        return [block for line in lines for block in paragraphs(_as_text(line))]
    padded = [(*line, *[()] * (width - len(line))) for line in lines]
    aligned = (*align[:width], *[None] * (width - len(align)))
    return [Table(padded[0], tuple(padded[1:]), aligned)]


def _as_text(cells: Sequence[Sequence[Inline]]) -> list[Inline]:
    nodes: list[Inline] = []
    for cell in cells:
        nodes += [Text(" | "), *cell] if nodes else cell
    return joined(nodes)


# --- inlines --------------------------------------------------------------------------------


def tidy(
    nodes: Iterable[Inline], active: frozenset[type[Inline]] = _NONE, *, linked: bool = False
) -> list[Inline]:
    """Returns a run in its normal form.

    Args:
        nodes: Any run of inlines.
        active: The styles around the run.
        linked: Whether a link is around the run.
    """
    tidied: list[Inline] = []
    stack = [iter(nodes)]
    while stack:
        node = next(stack[-1], None)
        if node is None:
            stack.pop()
        elif type(node) is Text:
            tidied.append(node)
        elif type(node) in STYLES:
            style = cast("Style", node)
            if type(style) in active:
                stack.append(iter(style.children))
            else:
                inner = tidy(style.children, active | {type(style)}, linked=linked)
                tidied += styled(type(style), inner)
        elif not isinstance(node, Link):
            tidied += _leaf(node, linked=linked)
        elif linked:
            stack.append(iter(node.children))
        else:
            tidied += link(node.url, tidy(node.children, active, linked=True), active)
    return joined(tidied, linked=linked)


def joined(nodes: Iterable[Inline], *, linked: bool = False) -> list[Inline]:
    """Returns a run of tidy nodes with neighbours of one kind joined and bare URLs as links."""
    full = [node for node in nodes if type(node) is not Text or node.value]
    if _is_joined(full):
        return full
    joined_nodes: list[Inline] = []
    for kind, group in groupby(full, type):
        if kind is Text:
            texts = cast("list[Text]", list(group))
            text = (
                texts[0]
                if len(texts) == 1
                else Text("".join([node_text.value for node_text in texts]))
            )
            if _SPECIAL.search(text.value):
                _add_text(joined_nodes, text.value, linked=linked)
            else:
                joined_nodes.append(text)
        elif kind is Code:
            joined_nodes.append(
                Code("".join(node.value for node in group if isinstance(node, Code)))
            )
        elif kind is Break:
            for node in group:
                _add_break(joined_nodes, node)
        elif kind in STYLES:
            joined_nodes.append(_merged_style(cast("list[Style]", list(group)), linked=linked))
        else:
            joined_nodes.extend(group)
    return joined_nodes


def _is_joined(nodes: Sequence[Inline]) -> bool:
    """Whether the run is already joined, as most are."""
    if has_neighbours_of_one_kind(nodes):
        return False
    for node in nodes:
        if type(node) is Break or (type(node) is Text and _SPECIAL.search(node.value)):
            return False
    return True


def _merged_style(styles: Sequence[Style], *, linked: bool) -> Inline:
    if len(styles) == 1:
        return styles[0]
    children = [child for node in styles for child in node.children]
    return type(styles[0])(tuple(joined(children, linked=linked)))


def styled(kind: type[Style], children: Sequence[Inline]) -> list[Inline]:
    """Returns the style around its children, with white space at their edges moved outside."""
    lead, inner, tail = _hoisted(children)
    return [*lead, kind(tuple(inner)), *tail] if inner else [*lead, *tail]


def link(
    url: str, label: Sequence[Inline], active: frozenset[type[Inline]] = _NONE
) -> list[Inline]:
    """Returns a link with a tidy label; text followed by the URL if the URL may not be a link."""
    safe = safe_url(url)
    if safe is None:
        label_nodes = plain_inlines(label).strip(f"{_BLANK}\n")
        rest = [] if not url or label_nodes == url else [Text(f" ({url})")]
        return tidy([*label, *rest], active)
    lead, inner, tail = _hoisted(label)
    label_nodes = inner if plain_inlines(inner).strip(_BLANK) else [Text(safe)]
    return [*lead, Link(safe, tuple(label_nodes)), *tail]


def one_line(run: Sequence[Inline]) -> tuple[Inline, ...]:
    """Returns a tidy run without white space at its edges, for headings and cells."""
    return tuple(_hoisted(run)[1])


def _leaf(node: Inline, *, linked: bool) -> list[Inline]:
    if isinstance(node, Code):
        return [Code(value)] if (value := _LINE_END.sub(" ", cleaned(node.value))) else []
    if isinstance(node, Emoji) and node.unicode:
        return [Text(node.unicode)]
    if type(node) not in _OWN_NODES:
        return [node]
    sound = None if linked else readable_own_node(cast("OwnNode", node))
    return [sound or Text(plain_inlines((node,)))]


def _add_text(nodes: list[Inline], value: str, *, linked: bool) -> None:
    for number, line in enumerate(_LINE_END.split(cleaned(value))):
        if number:
            _add_break(nodes, BREAK)
        end = 0
        for start, stop in () if linked else bare_urls(line):
            if safe := safe_url(line[start:stop]):
                nodes += [Text(line[end:start])] if start > end else []
                nodes.append(Link(safe, (Text(line[start:stop]),)))
                end = stop
        if line[end:]:
            nodes.append(Text(line[end:]))


def _add_break(nodes: list[Inline], node: Inline) -> None:
    """Adds a break; white space before it is invisible and is removed."""
    _strip_end(nodes)
    nodes.append(node)


def _strip_end(nodes: list[Inline]) -> None:
    if nodes and isinstance(last := nodes[-1], Text) and last.value[-1] in _BLANK:
        stripped = last.value.rstrip(_BLANK)
        nodes[-1:] = [Text(stripped)] if stripped else []


def _without_end(run: Sequence[Inline]) -> list[Inline]:
    nodes = list(run)
    _strip_end(nodes)
    while nodes and isinstance(nodes[-1], Break):
        nodes.pop()
        _strip_end(nodes)
    return nodes


def _hoisted(
    children: Sequence[Inline],
) -> tuple[list[Inline], list[Inline], list[Inline]]:
    """White space and breaks before and after the run, and the rest of it."""
    start, end = 0, len(children)
    if (
        end == 1
        and isinstance(only := children[0], Text)
        and only.value.strip(_BLANK) == only.value
    ):
        return [], list(children), []
    while start < end and _is_blank(children[start]):
        start += 1
    while end > start and _is_blank(children[end - 1]):
        end -= 1
    lead, inner, tail = list(children[:start]), list(children[start:end]), list(children[end:])
    if inner and isinstance(first := inner[0], Text) and first.value[0] in _BLANK:
        stripped = first.value.lstrip(_BLANK)
        lead.append(Text(first.value[: -len(stripped)]))
        inner[0] = Text(stripped)
    if inner and isinstance(last := inner[-1], Text) and last.value[-1] in _BLANK:
        stripped = last.value.rstrip(_BLANK)
        tail.insert(0, Text(last.value[len(stripped) :]))
        inner[-1] = Text(stripped)
    return lead, inner, tail


def _is_blank(node: Inline) -> bool:
    return isinstance(node, Break) or (isinstance(node, Text) and not node.value.strip(_BLANK))
