"""Teams' HTML (in) and Teams' Markdown (out) <-> the text tree. Pure.

A bot hears formatted text as HTML and writes a mixture of Markdown and HTML (msteams-docs,
"Format your bot messages", 2026-09).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from bridge.content.inlines import merge_texts, plain_inlines
from bridge.content.text import (
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
    ListItem,
    Mention,
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
from connectors.teams.elements import Element, parse_html

Mentioned = Callable[[str, str], Inline]
"""(itemid or "", the name shown) -> the node for it."""

_SPACES = re.compile(r"[ \t\r\n\f\u00a0]+")
_ALLOWED_URL = re.compile(r"(?:https?://|mailto:)[^\s]+\Z", re.IGNORECASE)

# --- HTML -> text tree ------------------------------------------------------------------------


@dataclass(frozen=True)
class ReadHtml:
    """`reply_to` is the id of the message that the HTML quotes as the one it answers; `pictures`
    are those kept by Teams, which come as attachments too."""

    document: Document
    reply_to: str | None = None
    pictures: int = 0


def html_to_text(html: str, mentioned: Mentioned | None = None) -> ReadHtml:
    """Read HTML as Teams sends it. Links keep http, https and mailto; others become their text."""
    reader = _Reader(mentioned or (lambda _id, name: Text(f"@{name}")))
    document = tuple(reader.blocks(parse_html(html).children))
    return ReadHtml(document, reader.reply_to, reader.pictures)


_STYLES: dict[str, Callable[[tuple[Inline, ...]], Inline]] = {
    "b": Strong, "strong": Strong, "i": Emphasis, "em": Emphasis, "u": Underline,
    "ins": Underline, "s": Strike, "strike": Strike, "del": Strike,
}  # fmt: skip
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_REPLY = "http://schema.skype.com/reply"
_MENTION = "http://schema.skype.com/mention"


class _Reader:
    def __init__(self, mentioned: Mentioned) -> None:
        self._mentioned = mentioned
        self.reply_to: str | None = None
        self.pictures = 0

    def blocks(self, children: Sequence[Element | str]) -> list[Block]:
        blocks: list[Block] = []
        run: list[Inline] = []
        for child in children:
            if isinstance(child, Element) and child.block:
                blocks += _paragraphs(run)
                run = []
                blocks += self._block(child)
            else:
                run += self._inline(child)
        return blocks + _paragraphs(run)

    def _block(self, element: Element) -> list[Block]:
        match element.tag:
            case "blockquote":
                return self._quote(element)
            case "pre" | "codeblock":
                return _code_block(element)
            case "ul" | "ol":
                return self._list(element)
            case "table":
                return self._table(element)
            case "hr":
                return [Rule()]
            case tag if tag in _HEADINGS:
                inlines = _trimmed(self._inlines(element))
                return [Heading(_HEADINGS[tag], inlines)] if inlines else []
            case _:
                return self.blocks(element.children)

    def _quote(self, element: Element) -> list[Block]:
        if element.attributes.get("itemtype", "").lower() == _REPLY:
            self.reply_to = element.attributes.get("itemid") or self.reply_to
            return []
        quoted = tuple(self.blocks(element.children))
        return [Quote(quoted)] if quoted else []

    def _list(self, element: Element) -> list[Block]:
        items = [
            ListItem(tuple(self.blocks([child] if child.tag != "li" else child.children)))
            for child in element.elements()
        ]
        if not items:
            return self.blocks([child for child in element.children if isinstance(child, str)])
        start = element.attributes.get("start", "1")
        number = int(start) if start.isascii() and start.isdigit() and len(start) < 10 else 1
        return [List(tuple(items), number if element.tag == "ol" else None)]

    def _table(self, element: Element) -> list[Block]:
        rows = [
            tuple(_on_one_line(self._inlines(cell)) for cell in row.elements())
            for row in _rows(element)
        ]
        rows = [row for row in rows if row]
        if not rows:
            return self.blocks([child for child in element.children if isinstance(child, str)])
        width = max(len(row) for row in rows)
        header, *body = (row + ((),) * (width - len(row)) for row in rows)
        return [Table(header, tuple(body), (None,) * width)]

    def _inlines(self, element: Element) -> list[Inline]:
        return [inline for child in element.children for inline in self._inline(child)]

    def _inline(self, child: Element | str) -> list[Inline]:
        if isinstance(child, str):
            return [Text(_SPACES.sub(" ", child))] if child else []
        tag, attributes = child.tag, child.attributes
        if tag == "br":
            return [Break()]
        if tag == "at" or attributes.get("itemtype", "").lower() == _MENTION:
            name = _SPACES.sub(" ", child.text()).strip()
            return [self._mentioned(attributes.get("itemid") or attributes.get("id", ""), name)]
        if tag == "code":
            code = _SPACES.sub(" ", child.text())
            return [Code(code)] if code.strip() else []
        if tag in ("img", "emoji"):
            self.pictures += _is_kept_by_teams(child)
            return _picture(child)
        inner = self._inlines(child)
        if tag == "a":
            return _link(attributes.get("href", ""), inner)
        return _styled(_STYLES[tag], inner) if tag in _STYLES else inner


def _paragraphs(run: list[Inline]) -> list[Block]:
    """Two line breaks after one another part paragraphs."""
    paragraphs: list[list[Inline]] = [[]]
    for inline in run:
        current = paragraphs[-1]
        if isinstance(inline, Break) and current and isinstance(current[-1], Break):
            paragraphs.append([])
        else:
            current.append(inline)
    trimmed = [_trimmed(paragraph) for paragraph in paragraphs]
    return [Paragraph(paragraph) for paragraph in trimmed if paragraph]


def _trimmed(run: Sequence[Inline]) -> tuple[Inline, ...]:
    """No spaces or breaks at the ends, none around breaks, and single ones between."""
    inlines: list[Inline] = []
    for inline in merge_texts(run):
        last = inlines[-1] if inlines else Break()
        if isinstance(inline, Text):
            value = _SPACES.sub(" ", inline.value)
            if isinstance(last, Break) or _ends_with_space(last):
                value = value.lstrip(" ")
            inline = Text(value)
        elif isinstance(inline, Break):
            _strip_end(inlines)
        if inline != Text(""):
            inlines.append(inline)
    while inlines and (inlines[-1] == Break() or _strip_end(inlines)):
        if isinstance(inlines[-1], Break):
            inlines.pop()
    while inlines and isinstance(inlines[0], Break):
        inlines.pop(0)
    return merge_texts(inlines)


def _strip_end(inlines: list[Inline]) -> bool:
    """Take spaces from the end; whether something was taken."""
    if not inlines or not isinstance(last := inlines[-1], Text) or not last.value.endswith(" "):
        return False
    stripped = last.value.rstrip(" ")
    inlines[-1:] = [Text(stripped)] if stripped else []
    return True


def _ends_with_space(inline: Inline) -> bool:
    return isinstance(inline, Text) and inline.value.endswith(" ")


def _styled(style: Callable[[tuple[Inline, ...]], Inline], inner: Sequence[Inline]) -> list[Inline]:
    """Spaces and breaks at the edges go outside, so that Markdown can say the same."""
    inlines = list(merge_texts(inner))
    before: list[Inline] = []
    after: list[Inline] = []
    while inlines and (edge := _edge(inlines[0], first=True)):
        before.append(edge[0])
        inlines[:1] = edge[1]
    while inlines and (edge := _edge(inlines[-1], first=False)):
        after.insert(0, edge[0])
        inlines[-1:] = edge[1]
    return [*before, *([style(tuple(inlines))] if inlines else []), *after]


def _edge(inline: Inline, *, first: bool) -> tuple[Inline, list[Inline]] | None:
    """The break or space at this end and what is left of the node; None: nothing to take off."""
    if isinstance(inline, Break):
        return inline, []
    if not isinstance(inline, Text):
        return None
    left = inline.value.lstrip(" ") if first else inline.value.rstrip(" ")
    if left == inline.value:
        return None
    return Text(" "), [Text(left)] if left else []


def _link(url: str, inner: Sequence[Inline]) -> list[Inline]:
    url = url.strip()
    if not _ALLOWED_URL.match(url):
        return list(inner)
    if not plain_inlines(inner).strip():
        return [Link(url, (Text(url),))]
    return _styled(lambda children: Link(url, children), inner)


def _picture(element: Element) -> list[Inline]:
    """Emoji are pictures with the character as `alt`; other pictures become words or a link."""
    attributes = element.attributes
    alt = _SPACES.sub(" ", attributes.get("alt", "")).strip()
    kind = attributes.get("itemtype", "").lower()
    if element.tag == "emoji" or kind.endswith("/emoji"):
        shown = alt or _SPACES.sub(" ", element.text()).strip()
        return _emoji(shown or attributes.get("title", "emoji"))
    label = Text(f"[image: {alt}]" if alt and alt.lower() != "image" else "[image]")
    url = attributes.get("src", "")
    if _is_kept_by_teams(element) or not _ALLOWED_URL.match(url):
        return [label]
    return [Link(url, (label,))]


def _is_kept_by_teams(element: Element) -> bool:
    """Such pictures open only with a token."""
    return element.attributes.get("itemtype", "").lower().endswith("/amsimage")


def _emoji(shown: str) -> list[Inline]:
    if shown.isascii():
        return [Emoji(shown.strip(":() ") or "emoji")]
    return [Emoji(shown, unicode=shown)]


def _code_block(element: Element) -> list[Block]:
    classes = [element.attributes.get("class", "")]
    classes += [child.attributes.get("class", "") for child in element.elements()]
    named = next((name for name in classes if name), "").split(" ")[0]
    language = re.sub(r"[^A-Za-z0-9+#.-]", "", named.removeprefix("language-")).lower()
    value = element.text().replace("\r\n", "\n").replace("\u00a0", " ").strip("\n")
    return [CodeBlock(value, language)] if value.strip() else []


def _rows(element: Element) -> list[Element]:
    rows: list[Element] = []
    for child in element.elements():
        rows += [child] if child.tag == "tr" else _rows(child)
    return rows


def _on_one_line(run: Sequence[Inline]) -> tuple[Inline, ...]:
    return _trimmed([Text(" ") if isinstance(inline, Break) else inline for inline in run])


# --- text tree -> Teams Markdown ----------------------------------------------------------------

# Every character that Markdown, its common extensions or HTML may take for markup is written as a
# character reference: these are never structure (CommonMark 0.31, 2.5), whichever parser reads
# them. Braces and all between them vanish when sent as they are (msteams-docs #4956, 2022-01).
_SPECIAL = re.compile(r"[\\`*_~\[\]{}|^=+$#!<>&]")
_LINE_START = re.compile(r"^(?:-|\d{1,9}[.)](?=\s|$))")
# Controls, and what turns the reading direction or hides: nothing of it in one line of a name.
_INVISIBLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
_PLAIN_URL = re.compile(r"https?://[A-Za-z0-9./?=%:@,;-]+\Z")
_UNSAFE_IN_URL = re.compile(r"[\s\\`*_\[\]{}|^<>()\"'~]")


def text_to_teams(document: Document) -> str:
    """Write what a bot sends with textFormat `markdown`. It mentions nobody; tables and headings
    become lines and bold lines, a spoiler is shown behind its name."""
    return "\n\n".join(_written_blocks(document))


def escape_text(text: str) -> str:
    """Characters -> Markdown and HTML that show just these characters."""
    escaped = _SPECIAL.sub(_reference, text)
    return _LINE_START.sub(lambda found: _start(found[0]), escaped)


def escape_name(name: str, fallback: str = "Unknown") -> str:
    """A person's name on one line, nothing in it markup or invisible."""
    shown = _SPACES.sub(" ", _INVISIBLE.sub(" ", name)).strip() or fallback
    return escape_text(shown)


def _reference(found: re.Match[str]) -> str:
    return {"<": "&lt;", ">": "&gt;", "&": "&amp;"}.get(found[0], f"&#{ord(found[0])};")


def _start(found: str) -> str:
    return f"{found[:-1]}&#{ord(found[-1])};"


def _written_blocks(blocks: Sequence[Block]) -> list[str]:
    written: list[str] = []
    previous: Block | None = None
    flipped = False
    for block in blocks:
        # Two lists side by side are one list unless their marks differ.
        flipped = isinstance(block, List) and isinstance(previous, List) and not flipped
        if text := _written_block(block, flipped=flipped):
            written.append(text)
            previous = block
    return written


def _written_block(block: Block, *, flipped: bool) -> str:
    match block:
        case Paragraph(children):
            return _written(children)
        case Heading(children=children):
            return _written((Strong(children),))
        case Quote(blocks):
            inner = "\n\n".join(_written_blocks(blocks))
            return "\n".join(f"> {line}".rstrip() for line in inner.split("\n")) if inner else ""
        case CodeBlock(value, language):
            return _fenced(value, language)
        case List():
            return _written_list(block, flipped=flipped)
        case Table(header, rows):
            lines = [_row([(Strong(cell),) if cell else () for cell in header])]
            return "<br>".join([*lines, *(_row(row) for row in rows)])
        case Rule():
            return "<hr>"


def _fenced(value: str, language: str) -> str:
    """Code with HTML in it is written as HTML, where a reference shows the character for sure."""
    value = value.replace("\r\n", "\n").replace("\r", "\n")
    if _HTML_OR_BRACE.search(value) or not value.strip():
        escaped = _SPECIAL.sub(_reference, value).replace("\n", "<br>")
        return f"<pre>{escaped}</pre>" if value.strip() else ""
    longest = max((len(run) for run in re.findall(r"`+", value)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{re.sub(r'[^A-Za-z0-9+#.-]', '', language)}\n{value}\n{fence}"


_HTML_OR_BRACE = re.compile(r"[<>&]")


def _written_list(node: List, *, flipped: bool) -> str:
    items: list[str] = []
    for number, item in enumerate(node.items):
        mark = "*" if flipped else "-"
        if node.start is not None:
            mark = f"{min(node.start + number, 999_999_999)}{')' if flipped else '.'}"
        items.append(_written_item(item, mark))
    return "\n".join(items)


def _written_item(item: ListItem, mark: str) -> str:
    box = {None: "", True: "☑ ", False: "☐ "}[item.checked]
    parts = _written_blocks(item.blocks)
    body = parts[0] if parts else ""
    for block, part in zip(item.blocks[1:], parts[1:], strict=False):
        body += ("\n" if isinstance(block, List) and block.start in (None, 1) else "\n\n") + part
    indent = " " * (len(mark) + 1)
    first, *rest = (box + body).split("\n")
    return "\n".join(
        [f"{mark} {first}".rstrip(), *(indent + line if line else "" for line in rest)]
    )


def _row(cells: Sequence[tuple[Inline, ...]]) -> str:
    return " &#124; ".join(_written(cell) for cell in cells)


def _written(nodes: Sequence[Inline], *, styled: bool = False) -> str:
    out = ""
    for node in merge_texts(nodes):
        at_line_start = not out or out.endswith("<br>")
        out += _written_inline(node, out, at_line_start=at_line_start, styled=styled)
    return out


def _written_inline(node: Inline, before: str, *, at_line_start: bool, styled: bool) -> str:  # noqa: C901 - one line a kind
    match node:
        case Text(value):
            value = _one_line(value)
            # Four spaces at the start of a line would be a code block.
            starts = at_line_start and not styled
            return escape_text(value.lstrip()) if starts else _SPECIAL.sub(_reference, value)
        case Break():
            return "<br>"
        case Strong(children):
            return _style("**", "b", children, before, styled=styled)
        case Emphasis(children):
            return _style("*", "i", children, before, styled=styled)
        case Strike(children):
            return _style("", "s", children, before, styled=styled)
        case Underline(children):
            return _style("", "u", children, before, styled=styled)
        case Spoiler(children):
            return f"&#91;spoiler: {_written(children, styled=styled)}&#93;"
        case Code(value):
            return _written_code(_one_line(value))
        case Link(url, children):
            return _written_link(url, children, styled=styled)
        case Mention(name=name) | GroupMention(name=name):
            return f"@{escape_name(name)}"
        case Broadcast(range=range_):
            return f"@{range_}"
        case ChannelLink(name=name):
            return f"&#35;{escape_name(name)}"
        case Emoji(name, unicode):
            return escape_text(_one_line(unicode or f":{name}:"))
        case Timestamp(unix, _, fallback):
            return escape_text(_one_line(fallback or _moment(unix)))


def _one_line(value: str) -> str:
    return _SPACES.sub(" ", value) if "\n" in value or "\r" in value else value


def _style(
    mark: Literal["**", "*", ""],
    tag: str,
    children: tuple[Inline, ...],
    before: str,
    *,
    styled: bool,
) -> str:
    """Markdown's stars where they are sure to be read as meant, else the HTML tag."""
    inner = _written(children, styled=True)
    if not inner.strip():
        return inner
    sure = inner[0].isalnum() and inner[-1].isalnum() and not before.endswith("*")
    return f"{mark}{inner}{mark}" if mark and sure and not styled else f"<{tag}>{inner}</{tag}>"


def _written_code(value: str) -> str:
    if not value.strip():
        return value
    if re.search(r"[<>&`]", value) or value != value.strip():
        return f"<code>{_SPECIAL.sub(_reference, value)}</code>"
    return f"`{value}`"


def _written_link(url: str, children: tuple[Inline, ...], *, styled: bool) -> str:
    label = plain_inlines(children)
    if not _ALLOWED_URL.match(url):
        return _written(children, styled=styled)
    if label == url and _PLAIN_URL.match(url):
        return url
    target = _UNSAFE_IN_URL.sub(_percent, url).replace("&", "&amp;")
    text = _written(children, styled=True) if label.strip() else escape_text(url)
    return f"[{text}]({target})"


def _percent(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "replace"))


def _moment(unix: int) -> str:
    try:
        return f"{datetime.fromtimestamp(unix, UTC):%Y-%m-%d %H:%M} UTC"
    except (OverflowError, OSError, ValueError):
        return str(unix)
