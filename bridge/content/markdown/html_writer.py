"""The text tree -> HTML that loads nothing from elsewhere. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from html import escape

from bridge.content.text.tree import (
    Block,
    Break,
    Broadcast,
    ChannelLink,
    Code,
    CodeBlock,
    Document,
    Emoji,
    Emphasis,
    GroupMention,
    Heading,
    Inline,
    Link,
    List,
    Mention,
    Paragraph,
    Quote,
    Spoiler,
    Strike,
    Strong,
    Table,
    Text,
    Timestamp,
    Underline,
)
from bridge.content.text.urls import safe_url

_STYLES: dict[type[Inline], str] = {
    Strong: "strong", Emphasis: "em", Strike: "s", Underline: "u",
}  # fmt: skip
_SCHEMES = ("http://", "https://", "mailto:")
_LATEST = 253_402_300_799  # seconds: the last moment of the year 9999


def document_html(document: Document) -> str:
    """Return the blocks as HTML. Text that is nested too deeply for a page is shown plainly."""
    try:
        return "".join(map(_block, document))
    except RecursionError:
        return '<p class="subtle">[text that is nested too deeply]</p>'


def inlines_html(inlines: Iterable[Inline]) -> str:
    """Return a line of text as HTML."""
    return "".join(map(_inline, inlines))


def link_html(url: str, inner: str) -> str:
    """Return a link, or `inner` alone if a page may not link there."""
    safe = safe_url(url)
    if safe is None or not safe.lower().startswith(_SCHEMES):
        return inner
    return f'<a href="{escape(safe)}" rel="noreferrer nofollow">{inner}</a>'


def _block(block: Block) -> str:
    match block:
        case Paragraph(children, subtle):
            return f"<p{' class=subtle' if subtle else ''}>{inlines_html(children)}</p>"
        case Heading(level, children):
            # Below the headings of the page itself.
            name = f"h{min(level + 3, 6)}"
            return f"<{name}>{inlines_html(children)}</{name}>"
        case Quote(blocks):
            return f"<blockquote>{''.join(map(_block, blocks))}</blockquote>"
        case CodeBlock(value, _):
            return f'<pre tabindex="0"><code>{escape(value)}</code></pre>'
        case List():
            return _list(block)
        case Table():
            return _table(block)
        case _:
            return "<hr>"


def _list(block: List) -> str:
    items: list[str] = []
    for item in block.items:
        box = "" if item.checked is None else ("☑ " if item.checked else "☐ ")
        items.append(f"<li>{box}{''.join(map(_block, item.blocks))}</li>")
    if block.start is None:
        return f"<ul>{''.join(items)}</ul>"
    return f'<ol start="{block.start}">{"".join(items)}</ol>'


def _table(block: Table) -> str:
    def row(cells: Sequence[tuple[Inline, ...]], name: str) -> str:
        inner = "".join(
            f"<{name}{_aligned(block, number)}>{inlines_html(cell)}</{name}>"
            for number, cell in enumerate(cells)
        )
        return f"<tr>{inner}</tr>"

    head = row(block.header, "th") if block.header else ""
    rows = "".join(row(cells, "td") for cells in block.rows)
    return (
        f'<div class="wide" tabindex="0" role="group" aria-label="Table">'
        f"<table><thead>{head}</thead><tbody>{rows}</tbody></table></div>"
    )


def _aligned(block: Table, number: int) -> str:
    align = block.align[number] if number < len(block.align) else None
    return f' class="{align}"' if align else ""


def _inline(node: Inline) -> str:
    match node:
        case Text(value):
            return escape(value)
        case Break():
            return "<br>"
        case Code(value):
            return f"<code>{escape(value)}</code>"
        case Spoiler(children):
            return f'<span class="spoiler" tabindex="0">{inlines_html(children)}</span>'
        case Link(url, children):
            inner = inlines_html(children) or escape(url)
            return link_html(url, inner)
        case Mention(_, name) | GroupMention(_, name):
            return f'<span class="mention">@{escape(name)}</span>'
        case Broadcast(name):
            return f'<span class="mention">@{escape(name)}</span>'
        case ChannelLink(_, name):
            return f'<span class="mention">#{escape(name)}</span>'
        case Emoji(name, unicode, _):
            return escape(unicode or f":{name}:")
        case Timestamp(unix, _, fallback):
            return _time(unix, fallback)
        case Strong(children) | Emphasis(children) | Strike(children) | Underline(children):
            name = _STYLES[type(node)]
            return f"<{name}>{inlines_html(children)}</{name}>"


def _time(unix: int, fallback: str) -> str:
    if not 0 <= unix <= _LATEST:
        return escape(fallback or str(unix))
    at = datetime.fromtimestamp(unix, UTC)
    words = at.strftime("%Y-%m-%d %H:%M UTC")
    return f'<time datetime="{at.isoformat()}">{words}</time>'
