"""HTML of Teams -> the text tree, for any string, in linear time. Pure.

A fast reader takes simple HTML in one pass; all other HTML is parsed into elements first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from html import unescape

from bridge.content.markdown.simple_html import NotSimple, SimpleHtml
from bridge.content.text.inlines import linked, merge_texts, plain_inlines
from bridge.content.text.tree import (
    BREAK,
    Block,
    Break,
    Code,
    CodeBlock,
    Document,
    Emoji,
    Emphasis,
    Heading,
    Inline,
    Link,
    List,
    ListItem,
    Paragraph,
    Quote,
    Rule,
    Strike,
    Strong,
    Table,
    Text,
    Underline,
)
from connectors.teams.elements import Element, parse_html
from connectors.teams.emoji import reaction_to_emoji

Mentioned = Callable[[str, str], Inline]
"""(itemid or "", the displayed name) -> the node of the mention."""

_SPACES = re.compile(r"[ \t\r\n\f\u00a0]+")
_BOXES = {"☑ ": True, "☐ ": False}
_NO_LANGUAGE = re.compile(r"[^A-Za-z0-9+#.-]")
_ALLOWED_URL = re.compile(r"(?:https?://|mailto:)[^\s]+\Z", re.IGNORECASE)


@dataclass(frozen=True)
class ReadHtml:
    """The text of HTML; `reply_to` is the id of the message that it quotes as a reply."""

    document: Document
    reply_to: str | None = None


def html_to_text(html: str, mentioned: Mentioned | None = None, attached: int = 0) -> ReadHtml:
    """Return the text of HTML as Teams sends it.

    Links keep http, https and mailto; other links become their text. The first `attached` pictures
    hosted by Teams are attachments of the message, so the text has only their descriptions.
    """
    document = read_simply(html)
    read = read_elements(html, mentioned, attached) if document is None else ReadHtml(document)
    if "☑" in html or "☐" in html:
        return replace(read, document=tuple(map(_read_tasks, read.document)))
    return read


def _read_tasks(block: Block) -> Block:
    """Return the block with list items that begin with a box as tasks."""
    match block:
        case Quote(blocks):
            return Quote(tuple(map(_read_tasks, blocks)))
        case List(items, start):
            return List(tuple(map(_read_task, items)), start)
        case _:
            return block


def _read_task(item: ListItem) -> ListItem:
    match item.blocks:
        case (Paragraph((Text(value), *inlines)), *below) if value[:2] in _BOXES:
            children = (Text(value[2:]), *inlines) if value[2:] else tuple(inlines)
            first = (Paragraph(children),) if children else ()
            return ListItem((*first, *map(_read_tasks, below)), _BOXES[value[:2]])
        case (Paragraph((Text("☑" | "☐" as box),)), *below):
            return ListItem(tuple(map(_read_tasks, below)), _BOXES[f"{box} "])
        case blocks:
            return ListItem(tuple(map(_read_tasks, blocks)), item.checked)


# --- simple HTML -------------------------------------------------------------------------

_BLOCK = r"(?:p|div|ul|ol|li|blockquote|h[1-6]|table|thead|tbody|tr|t[hd])"
_STYLE = r"(?:strong|b|em|i|u|ins|s|strike|del)"
_CODE = r"(?:[^<]++|<br ?/?>)*+"
_code_blocks = re.compile(
    rf"(<pre>{_CODE}</pre>|<pre><code[^<>]*>{_CODE}</code></pre>"
    rf"|<codeblock[^<>]*><code>{_CODE}</code></codeblock>)"
).split
# Each pattern begins with a literal character, which makes the search fast. Not simple: other tags,
# white space as a reference, or white space at the edges of a style.
_NOT_SIMPLE = re.compile(
    rf"[<&](?:(?<=<)(?:(?!/?{_BLOCK}>|/?{_STYLE}>|/?code>|/a>|[bh]r ?/?>"
    r"|a href=\"[^\"<>]*\"(?: [a-z]+=\"[^\"<>]*\")*>|ol start=\"[0-9]{1,9}\">)"
    rf"|{_STYLE}>\s)|(?<=&)#(?!(?:3[3-9]|[4-9][0-9]|1[01][0-9]|12[0-6]);))"
)
_SPACE_BEFORE_END = re.compile(rf"</(?<=\s</){_STYLE}>")
_MANY_SPACES = re.compile("  +")
_BREAK = re.compile(r"<br ?/?>")
_BREAK_IN_TEXT = re.compile(r" ?<br ?/?> ?")
_CODE_PARTS = re.compile(rf"<[a-z]+([^<>]*)>(?:<code([^<>]*)>)?({_CODE})(?:</code>)?</[a-z]+>")
_CLASS = re.compile(r"""\sclass\s*=\s*["']([^"']*)["']""")
# A line break at the edge of an element, or in code.
_BREAK_BEFORE = re.compile(rf"\n<(?:/|{_BLOCK}[> ])")
_BREAK_BEHIND = re.compile(rf"<(?:[a-z][^>]*|/{_BLOCK})>\n")
_ODD_CODE = re.compile(r"<code>(?:[^<]*\n|\s*<)")


def read_simply(html: str) -> Document | None:
    """Return what `read_elements` would read; None if the HTML is not simple."""
    blocks: list[Block] = []
    try:
        for index, part in enumerate(
            _code_blocks(html) if "</code" in html or "<pre" in html else (html,)
        ):
            if index % 2:
                blocks += _simple_code(part)
            elif part:
                blocks += _SIMPLE.read(_collapse_spaces(part))
    except NotSimple:
        return None
    return tuple(blocks)


def _collapse_spaces(html: str) -> str:
    """Collapse white space as browsers do; `<br>` becomes a line end. Raises NotSimple."""
    html = html.replace("&nbsp;", " ")
    if not html.isprintable():
        for space in "\t\r\n\f\u00a0":
            html = html.replace(space, " ")
    if _NOT_SIMPLE.search(html) or _SPACE_BEFORE_END.search(html):
        raise NotSimple
    if "  " in html:
        html = _MANY_SPACES.sub(" ", html)
    if "<br" in html:
        html = _BREAK_IN_TEXT.sub("\n", html)
        if "\n\n" in html or _BREAK_BEFORE.search(html) or _BREAK_BEHIND.search(html):
            raise NotSimple
    if "<code" in html and _ODD_CODE.search(html):
        raise NotSimple
    return html


def _simple_code(html: str) -> list[Block]:
    code = _CODE_PARTS.fullmatch(html)
    if not code:
        raise NotSimple
    named = _CLASS.search(code[1]) or _CLASS.search(code[2] or "")
    value = unescape(_BREAK.sub("\n", code[3]))
    return _code_of(value, unescape(named[1]) if named else "")


def _simple_link(url: str, label: tuple[Inline, ...]) -> Sequence[Inline]:
    if label and isinstance(first := label[0], Text) and first.value[0] == " ":
        raise NotSimple
    if label and isinstance(last := label[-1], Text) and last.value[-1] == " ":
        raise NotSimple
    if not _ALLOWED_URL.match(url.strip()):
        raise NotSimple
    return _link(url, label)


_SIMPLE = SimpleHtml(_simple_link, bare_links=False)

# --- any HTML ------------------------------------------------------------------------------

_STYLES: dict[str, Callable[[tuple[Inline, ...]], Inline]] = {
    "b": Strong, "strong": Strong, "i": Emphasis, "em": Emphasis, "u": Underline,
    "ins": Underline, "s": Strike, "strike": Strike, "del": Strike,
}  # fmt: skip
_CSS: tuple[tuple[re.Pattern[str], Callable[[tuple[Inline, ...]], Inline]], ...] = (
    (re.compile(r"text-decoration[a-z-]*\s*:[^;]*\bline-through", re.IGNORECASE), Strike),
    (re.compile(r"text-decoration[a-z-]*\s*:[^;]*\bunderline", re.IGNORECASE), Underline),
    (re.compile(r"font-style\s*:\s*(?:italic|oblique)", re.IGNORECASE), Emphasis),
    (re.compile(r"font-weight\s*:\s*(?:bold|bolder|[6-9]00)\b", re.IGNORECASE), Strong),
)


def _styles_of(css: str) -> Iterator[Callable[[tuple[Inline, ...]], Inline]]:
    """Yield the text styles of a `style` attribute, the innermost first."""
    return (style for pattern, style in _CSS if pattern.search(css))


_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_REPLY = "http://schema.skype.com/reply"
_MENTION = "http://schema.skype.com/mention"


def read_elements(html: str, mentioned: Mentioned | None = None, attached: int = 0) -> ReadHtml:
    """Return the text of any HTML, roughly as browsers show it."""
    reader = _Reader(mentioned or (lambda _id, name: Text(f"@{name}")), attached)
    document = tuple(reader.blocks(parse_html(html).children))
    return ReadHtml(document, reader.reply_to)


class _Reader:
    def __init__(self, mentioned: Mentioned, attached: int) -> None:
        self._mentioned = mentioned
        self._attached = attached  # attached pictures that were not met yet
        self.reply_to: str | None = None

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
                inlines = _trim(self._inlines(element))
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
        """Read a table; text outside its cells comes before it, as in browsers."""
        rows: list[tuple[tuple[Inline, ...], ...]] = []
        strays: list[str] = []
        for child in _rows(element):
            if isinstance(child, Element):
                rows.append(tuple(_on_one_line(self._inlines(cell)) for cell in child.elements()))
                strays += [text for text in child.children if isinstance(text, str)]
            else:
                strays.append(child)
        before = [block for text in strays for block in self.blocks([text])]
        width = max(map(len, rows), default=0)
        if not any(map(any, rows)):
            return before
        header, *body = (row + ((),) * (width - len(row)) for row in rows if row)
        return [*before, Table(header, tuple(body), (None,) * width)]

    def _inlines(self, element: Element) -> list[Inline]:
        return [inline for child in element.children for inline in self._inline(child)]

    def _inline(self, child: Element | str) -> list[Inline]:
        if isinstance(child, str):
            return [Text(_SPACES.sub(" ", child))] if child else []
        tag, attributes = child.tag, child.attributes
        if tag == "br":
            return [BREAK]
        if tag == "at" or attributes.get("itemtype", "").lower() == _MENTION:
            name = _SPACES.sub(" ", child.text()).strip()
            return [self._mentioned(attributes.get("itemid") or attributes.get("id", ""), name)]
        if tag == "code":
            code = _SPACES.sub(" ", child.text())
            return [Code(code)] if code.strip() else []
        if tag in ("img", "emoji") or attributes.get("itemtype", "").lower().endswith("/emoji"):
            return self._picture(child)
        inner = self._inlines(child)
        if tag == "a":
            return _link(attributes.get("href", ""), inner)
        if tag in _STYLES:
            inner = _apply_style(_STYLES[tag], inner)
        for style in _styles_of(attributes.get("style", "")) if "style" in attributes else ():
            if style is not _STYLES.get(tag):
                inner = _apply_style(style, inner)
        return inner

    def _picture(self, element: Element) -> list[Inline]:
        if not self._attached or not _is_teams_hosted(element):
            return _picture(element)
        self._attached -= 1
        return _picture(element) if _words_for(element) else []


def _paragraphs(run: list[Inline]) -> list[Block]:
    """Return the paragraphs of a run; two consecutive line breaks separate them."""
    if not run:
        return []
    paragraphs: list[list[Inline]] = [[]]
    for inline in run:
        current = paragraphs[-1]
        if isinstance(inline, Break) and current and isinstance(current[-1], Break):
            paragraphs.append([])
        else:
            current.append(inline)
    trimmed = [_trim(paragraph) for paragraph in paragraphs]
    return [Paragraph(paragraph) for paragraph in trimmed if paragraph]


def _trim(run: Sequence[Inline]) -> tuple[Inline, ...]:
    """Remove spaces and breaks at the ends, spaces around breaks, and repeated spaces."""
    inlines = _collapse_run(run)
    while inlines:
        if isinstance(inlines[-1], Break):
            inlines.pop()
        elif not _strip_end(inlines):
            break
    first = 0
    while first < len(inlines) and _is_empty_start(inlines[first]):
        first += 1
    inlines = inlines[first:]
    if inlines and isinstance(text := inlines[0], Text):
        inlines[0] = Text(text.value.lstrip(" "))
    return tuple(inlines)


def _is_empty_start(inline: Inline) -> bool:
    return isinstance(inline, Break) or inline == Text(" ")


def _collapse_run(run: Sequence[Inline]) -> list[Inline]:
    """Merge adjacent texts; collapse spaces and remove those around breaks."""
    inlines: list[Inline] = []
    for inline in merge_texts(run):
        last = inlines[-1] if inlines else None
        if isinstance(inline, Text):
            value = _SPACES.sub(" ", inline.value)
            if isinstance(last, Break):
                value = value.lstrip(" ")
            if value:
                inlines.append(Text(value))
            continue
        if isinstance(inline, Break):
            _strip_end(inlines)
        inlines.append(inline)
    return inlines


def _strip_end(inlines: list[Inline]) -> bool:
    """Remove spaces from the end; return whether there were any."""
    if not inlines or not isinstance(last := inlines[-1], Text) or not last.value.endswith(" "):
        return False
    stripped = last.value.rstrip(" ")
    inlines[-1:] = [Text(stripped)] if stripped else []
    return True


def _apply_style(
    style: Callable[[tuple[Inline, ...]], Inline], inner: Sequence[Inline]
) -> list[Inline]:
    """Apply a style; spaces and breaks at its edges move outside, as Markdown needs it."""
    inlines = _collapse_run(inner)
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
    """Return the break or space at this end and the remaining node; None if there is neither."""
    if isinstance(inline, Break):
        return inline, []
    if not isinstance(inline, Text):
        return None
    trimmed = inline.value.lstrip(" ") if first else inline.value.rstrip(" ")
    if trimmed == inline.value:
        return None
    return Text(" "), [Text(trimmed)] if trimmed else []


def _link(url: str, inner: Sequence[Inline]) -> list[Inline]:
    url = url.strip()
    if not _ALLOWED_URL.match(url):
        return list(linked(inner, url))
    if not plain_inlines(inner).strip():
        return [Link(url, (Text(url),))]
    return _apply_style(lambda children: Link(url, children), inner)


def _picture(element: Element) -> list[Inline]:
    """Read a picture: emoji have their character as `alt`, others become words or a link."""
    kind = element.attributes.get("itemtype", "").lower()
    if element.tag == "emoji" or kind.endswith("/emoji"):
        return _emoji(element, _alt(element))
    words = _words_for(element)
    label = Text(f"[image: {words}]" if words else "[image]")
    url = element.attributes.get("src", "")
    if _is_teams_hosted(element) or not _ALLOWED_URL.match(url):
        return [label]
    return [Link(url, (label,))]


def _alt(element: Element) -> str:
    return _SPACES.sub(" ", element.attributes.get("alt", "")).strip()


def _words_for(picture: Element) -> str:
    """Return the description by a person; `image` is the default of Teams."""
    alt = _alt(picture)
    return "" if alt.lower() == "image" else alt


def _is_teams_hosted(element: Element) -> bool:
    """Return whether Teams hosts the picture, which then needs a token."""
    return element.attributes.get("itemtype", "").lower().endswith("/amsimage")


def _emoji(element: Element, alt: str) -> list[Inline]:
    """Read an emoji by its character, or else by its name."""
    inside = next(element.elements(), element).attributes.get("alt", "")
    words = alt or inside.strip() or _SPACES.sub(" ", element.text()).strip()
    if words and not words.isascii():
        return [Emoji(words, unicode=words)]
    name = element.attributes.get("itemid") or element.attributes.get("id") or ""
    emoji = reaction_to_emoji(name)
    if not emoji.isascii():
        return [Emoji(name, unicode=emoji)]
    name_or_title = words or element.attributes.get("title", "")
    return [Emoji(name_or_title.strip(":() ") or "emoji")]


def _code_block(element: Element) -> list[Block]:
    classes = [element.attributes.get("class", "")]
    classes += [child.attributes.get("class", "") for child in element.elements()]
    return _code_of(element.text(), next((name for name in classes if name), ""))


def _code_of(value: str, named: str) -> list[Block]:
    language = _NO_LANGUAGE.sub("", named.split(" ")[0].removeprefix("language-")).lower()
    value = value.replace("\r\n", "\n").replace("\u00a0", " ").strip("\n")
    return [CodeBlock(value, language)] if value.strip() else []


def _rows(element: Element) -> Iterator[Element | str]:
    """Yield the rows, and the text outside of rows."""
    for child in element.children:
        if isinstance(child, str) or child.tag == "tr":
            yield child
        else:
            yield from _rows(child)


def _on_one_line(run: Sequence[Inline]) -> tuple[Inline, ...]:
    return _trim([Text(" ") if isinstance(inline, Break) else inline for inline in run])
