"""The text tree -> HTML that Teams accepts: textFormat `xml`, the texts of hero cards. Pure.

It uses the tags that Teams writes (`p strong em u s a code pre ul ol li blockquote h1-h3 table hr
br`), and mentions nobody.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from bridge.content.text.inlines import moment_in_words, plain_inlines
from bridge.content.text.normal import normal
from bridge.content.text.tree import (
    Block,
    Break,
    Code,
    CodeBlock,
    Document,
    Emphasis,
    Heading,
    Inline,
    Link,
    List,
    ListItem,
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
from connectors.teams.markdown_writer import BOXES

_TAGS: dict[type[Inline], str] = {
    Strong: "strong", Emphasis: "em", Underline: "u", Strike: "s",
}  # fmt: skip


def text_to_html(document: Document) -> str:
    """Return the HTML of a document; a spoiler is visible, after the word `spoiler`."""
    return "".join(map(_block, normal(document)))


def _block(block: Block) -> str:
    match block:
        case Paragraph(children):
            return f"<p>{_line(children)}</p>"
        case Heading(level, children):
            return f"<h{min(level, 3)}>{_line(children)}</h{min(level, 3)}>"
        case Quote(blocks):
            return f"<blockquote>{''.join(map(_block, blocks))}</blockquote>"
        case CodeBlock(value, language):
            kind = f' class="language-{escape(language)}"' if language else ""
            return f"<pre><code{kind}>{escape(value)}\n</code></pre>"
        case List(items, start):
            tag = "ul" if start is None else "ol" if start == 1 else f'ol start="{start}"'
            return f"<{tag}>{''.join(map(_item, items))}</{tag[:2]}>"
        case Table(header, rows):
            lines = [_row(header, "th"), *[_row(row, "td") for row in rows]]
            return f"<table>{''.join(lines)}</table>"
        case Rule():
            return "<hr>"


def _item(item: ListItem) -> str:
    """Write an item; its first paragraph needs no `p` element."""
    match item.blocks:
        case (Paragraph(children), *below):
            return f"<li>{BOXES[item.checked]}{_line(children)}{''.join(map(_block, below))}</li>"
        case blocks:
            return f"<li>{BOXES[item.checked].strip()}{''.join(map(_block, blocks))}</li>"


def _row(cells: Sequence[Sequence[Inline]], tag: str) -> str:
    return f"<tr>{''.join([f'<{tag}>{_line(cell)}</{tag}>' for cell in cells])}</tr>"


def _line(nodes: Sequence[Inline]) -> str:
    return "".join(map(_inline, nodes))


def _inline(node: Inline) -> str:
    match node:
        case Text(value):
            return escape(value)
        case Break():
            return "<br>"
        case Strong(children) | Emphasis(children) | Underline(children) | Strike(children):
            tag = _TAGS[type(node)]
            return f"<{tag}>{_line(children)}</{tag}>"
        case Spoiler(children):
            return f"[spoiler: {_line(children)}]"
        case Code(value):
            return f"<code>{escape(value)}</code>"
        case Link(url, children):
            return f'<a href="{escape(url)}">{_line(children)}</a>'
        case Timestamp():
            return escape(moment_in_words(node))
        case _:
            return escape(plain_inlines((node,)))
