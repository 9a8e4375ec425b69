"""The text tree -> Discord's markdown: its blocks. Pure.

The output reads back as the same tree: text that looks like markup is escaped, and blocks that
Discord lacks (tables, rules, nested quotes) take the nearest form that it has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bridge.content.text.inlines import plain_inlines
from bridge.content.text.normal import MAX_DEPTH, flat_blocks
from bridge.content.text.plain import aligned_table
from bridge.content.text.tree import (
    Block,
    Break,
    CodeBlock,
    Document,
    Heading,
    Inline,
    List,
    ListItem,
    Paragraph,
    Quote,
    Rule,
    Table,
    Text,
)
from connectors.discord.inline_writer import escape, write_inline
from connectors.discord.styles import APART, BOXES, FENCE, LANGUAGE, REPLY_SIGN, RULE

__all__ = ["escape", "text_to_discord", "write_inline"]


def text_to_discord(document: Document) -> str:
    """Return the document as Discord's markdown; mentions become names that ping nobody."""
    return _blocks(document, "\n\n", 0)


def _blocks(blocks: Sequence[Block], gap: str, depth: int) -> str:
    out = ""
    previous: Block | None = None
    for block in blocks if depth < MAX_DEPTH else flat_blocks(blocks):
        text = _block(block, depth + 1)
        if not text or text.isspace():
            continue
        if previous is not None:
            out += "\n" if _is_tight(previous, block) else gap
        out += text
        previous = block
    return out


def _is_tight(block: Block, other: Block) -> bool:
    """Return whether no empty line stands between: below a heading, and beside small print."""
    if isinstance(block, Heading):
        return True
    return (
        isinstance(block, Paragraph)
        and isinstance(other, Paragraph)
        and block.subtle != other.subtle
    )


def _block(block: Block, depth: int) -> str:
    match block:
        case Paragraph(children, subtle):
            return _small(children) if subtle else write_inline(children)
        case Heading(level, children):
            line = write_inline(_on_one_line(children), " ").strip()
            return f"{'#' * min(max(level, 1), 3)} {line}" if line else ""
        case Quote(blocks):
            lines = _blocks(tuple(_unquoted(blocks)), "\n\n", depth).split("\n")
            return "\n".join([f"> {line}" for line in lines]) if any(lines) else ""
        case CodeBlock():
            return _code(block)
        case List():
            return _list(block, depth)
        case Table():
            return _code(CodeBlock(aligned_table(block, "+")))
        case Rule():
            return RULE


def _small(children: Sequence[Inline]) -> str:
    """Return small print, or normal text if it looks like the line that we put above a reply."""
    if REPLY_SIGN in plain_inlines(children):
        return write_inline(children)
    lines = write_inline(children, " ").split("\n")
    return "\n".join([f"-# {line.strip()}" for line in lines if line.strip()])


def _on_one_line(children: Sequence[Inline]) -> tuple[Inline, ...]:
    return tuple([Text(" ") if isinstance(child, Break) else child for child in children])


def _unquoted(blocks: Sequence[Block]) -> Iterator[Block]:
    """Yield the blocks with nested quotes flattened: Discord has no quote within a quote."""
    stack = [iter(blocks)]
    while stack:
        block = next(stack[-1], None)
        if block is None:
            stack.pop()
        elif isinstance(block, Quote):
            stack.append(iter(block.blocks))
        else:
            yield block


def _code(block: CodeBlock) -> str:
    """Return a code block; a zero-width space breaks up a fence in it, which nothing escapes."""
    value = block.value.strip("\n")
    if FENCE in value:
        value = value.replace(FENCE, f"`{APART}`{APART}`")
    language = block.language if LANGUAGE.fullmatch(block.language + "\n") else ""
    return f"{FENCE}{language}\n{value or ' '}\n{FENCE}"


def _list(node: List, depth: int) -> str:
    lines: list[str] = []
    for number, item in enumerate(node.items, max(node.start or 0, 0)):
        mark = "- " if node.start is None else f"{number}. "
        first, *continuation = _item(item, depth).split("\n")
        lines.append(mark + (first or APART))
        lines += [" " * len(mark) + line for line in continuation]
    return "\n".join(lines)


def _item(item: ListItem, depth: int) -> str:
    """Return an item; an empty line would end the list, so it gets a zero-width space."""
    body = _blocks(item.blocks, "\n", depth).rstrip("\n")
    if "\n\n" in body:
        body = "\n".join([line or APART for line in body.split("\n")])
    if item.checked is None and body[:2] in ("☑ ", "☐ "):
        return APART + body
    return BOXES[item.checked] + body
