"""The text tree -> mrkdwn. Nothing in it notifies anybody, and what is text stays text.

mrkdwn has no headings, lists, tables or underline: they become bold lines, bullets, aligned code
and plain text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from bridge.content.inlines import merge_texts, plain_inlines
from bridge.content.plain import text_to_plain
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
from connectors.slack.mrkdwn import (
    BORDER,
    DATE_FORMS,
    EMOJI,
    escape,
    is_at_border,
    is_emoji_name,
    is_safe_url,
    literal,
)

_SIGNS: dict[type[Inline], str] = {Strong: "*", Emphasis: "_", Strike: "~"}
# Inside a style the trick of `literal` would end the style: a letter that looks alike stands there.
_ALIKE = {"*": "∗", "_": "ˍ", "~": "∼", "`": "ˋ", ":": "꞉"}
_MARKUP = re.compile(rf"[*_~`]|:(?={EMOJI}:)")
_EMOJI = re.compile(rf":({EMOJI}):")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_INDENT = "    "


def text_to_mrkdwn(document: Document) -> str:
    """Write mrkdwn; `mrkdwn_to_text` reads paragraphs, quotes, code and styles back."""
    return _blocks(document)


def _blocks(blocks: Sequence[Block], *, in_quote: bool = False) -> str:
    written = ""
    previous: Block | None = None
    for block in blocks:
        text = _block(block, in_quote=in_quote)
        if not text:
            continue
        if previous is not None:
            # The bar beside a quote sets it apart already.
            tight = isinstance(previous, Quote) and not isinstance(block, Quote)
            written += "\n" if tight else "\n\n"
        written += text
        previous = block
    return written


def _block(block: Block, *, in_quote: bool) -> str:
    match block:
        case Paragraph(children):
            return _inlines(children)
        case Heading(_, children):
            return _inlines((Strong(children),))
        case Quote(blocks):
            sign = "&gt; " if in_quote else "> "  # Slack has one level of quotes
            return _prefixed(sign, _blocks(blocks, in_quote=True))
        case CodeBlock(value):
            return _code_lines(value) if in_quote else _fenced(value)
        case List():
            return _list(block, in_quote=in_quote)
        case Table():
            table = _table(block)
            return _code_lines(table) if in_quote else _fenced(table)
        case Rule():
            return "———"


def _prefixed(prefix: str, text: str) -> str:
    return "\n".join((prefix + line).rstrip() for line in text.split("\n")) if text else ""


def _fenced(value: str) -> str:
    inner = escape(_CONTROLS.sub("", value)).replace("```", f"`{BORDER}`{BORDER}`")
    return f"```\n{inner or ' '}\n```"


def _code_lines(value: str) -> str:
    """Code where no fence can stand."""
    return "\n".join(_code(line) for line in value.split("\n"))


def _list(node: List, *, in_quote: bool) -> str:
    lines: list[str] = []
    for number, item in enumerate(node.items):
        sign = "•" if node.start is None else f"{node.start + number}."
        box = {None: "", True: "☑ ", False: "☐ "}[item.checked]
        lines.append(f"{sign} {box}{_item(item, in_quote=in_quote)}")
    return "\n".join(lines)


def _item(item: ListItem, *, in_quote: bool) -> str:
    """What stands below the first line is set in, but for fences: they take spaces as code."""
    parts: list[str] = []
    for block in item.blocks:
        text = _block(block, in_quote=in_quote)
        fenced = isinstance(block, CodeBlock | Table) and not in_quote
        parts.append(text if fenced else text.replace("\n", "\n" + _INDENT))
    first = item.blocks[0] if item.blocks else None
    head = "" if isinstance(first, Paragraph | None) else "\n"
    joined = head
    for index, (block, text) in enumerate(zip(item.blocks, parts, strict=True)):
        fenced = isinstance(block, CodeBlock | Table) and not in_quote
        joined += ("" if index == 0 else "\n") + ("" if fenced or not (index or head) else _INDENT)
        joined += text
    return joined


def _table(node: Table) -> str:
    rows = [[_cell(cell) for cell in row] for row in (node.header, *node.rows)]
    width = max((len(row) for row in rows), default=0)
    rows = [row + [""] * (width - len(row)) for row in rows]
    widths = [max(len(row[column]) for row in rows) for column in range(width)]
    lines = [" | ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) for row in rows]
    lines.insert(1, "-|-".join("-" * w for w in widths))
    return "\n".join(line.rstrip() for line in lines)


def _cell(children: Sequence[Inline]) -> str:
    return " ".join(text_to_plain((Paragraph(tuple(children)),)).split())


# --- inline ---------------------------------------------------------------------------------


def _inlines(children: Sequence[Inline], within: str = "") -> str:
    """`within` are the signs of the styles around."""
    nodes = merge_texts(_shown(children, within))
    written = ""
    previous: Inline = Break()
    for index, node in enumerate(nodes):
        more = index + 1 < len(nodes)
        piece = _inline(node, written, within, more=more)
        if not piece:
            continue
        written += BORDER + piece if _touch(previous, node, written[-1:], piece[0]) else piece
        previous = node
    return written


def _shown(children: Sequence[Inline], within: str) -> Iterator[Inline]:
    """Styles that Slack lacks, or that are on already, leave only what is in them."""
    for node in children:
        if isinstance(node, Underline) or (_SIGNS.get(type(node), "-") in within):
            yield from _shown(node.children, within)  # pyright: ignore[reportAttributeAccessIssue]  # a style
        else:
            yield node


def _touch(one: Inline, other: Inline, end: str, start: str) -> bool:
    """Whether a sign where these two meet would not be read as a sign."""
    if not (is_at_border(one) or is_at_border(other)):
        return False
    binding = "*_~`:" if isinstance(one, Emoji) or isinstance(other, Emoji) else "*_~`"
    return all(char.isalnum() or (char and char in binding) for char in (end, start))


def _inline(node: Inline, before: str, within: str, *, more: bool) -> str:
    match node:
        case Text(value):
            return _text(value, before, within, more=more)
        case Break():
            return "\n"
        case Strong(inner) | Emphasis(inner) | Strike(inner):
            return _styled(_SIGNS[type(node)], inner, within)
        case Spoiler(inner):
            return f"||{_inlines(inner, within)}||"
        case Code(value):
            return _code(value)
        case Link(url, inner):
            return _link(url, inner, before, within, more=more)
        case _:
            return _own_node(node, before, within, more=more)


def _own_node(node: Inline, before: str, within: str, *, more: bool) -> str:
    match node:
        case Mention(name=name) | GroupMention(name=name):
            shown = f"@{name}"
        case Broadcast(range=range_):
            shown = f"@{range_}"
        case ChannelLink(name=name):
            shown = f"#{name}"
        case Emoji(name, unicode):
            if unicode is None and is_emoji_name(name):
                return f":{name}:"
            shown = unicode or f":{name}:"
        case Timestamp(unix, style, fallback) if 0 <= unix < 10**11:
            form = DATE_FORMS.get(style, DATE_FORMS["f"])
            return f"<!date^{unix}^{form}|{_label(fallback) or unix}>"
        case _:
            shown = plain_inlines((node,))
    return _text(shown, before, within, more=more)


def _styled(sign: str, children: Sequence[Inline], within: str) -> str:
    """Slack's styles end with the line and do not begin or end with a space."""
    lines = _inlines(children, within + sign).split("\n")
    return "\n".join(_styled_line(sign, line) for line in lines)


def _styled_line(sign: str, line: str) -> str:
    body = line.strip()
    if not body.strip(BORDER):
        return line
    start = line.index(body)
    return f"{line[:start]}{sign}{body}{sign}{line[start + len(body) :]}"


def _code(value: str) -> str:
    value = _CONTROLS.sub("", value.replace("\n", " ")).replace("`", _ALIKE["`"])
    return f"`{escape(value)}`" if value.strip() else value


def _link(url: str, children: Sequence[Inline], before: str, within: str, *, more: bool) -> str:
    label = _label(plain_inlines(children))
    if not is_safe_url(url):
        return _text(plain_inlines(children), before, within, more=more)
    scheme, _, rest = url.partition(":")
    target = re.sub(r"[\s|<>]", lambda found: f"%{ord(found[0]):02X}", rest)
    target = escape(f"{scheme.lower()}:{target}")
    return f"<{target}|{label}>" if label.strip() and label != target else f"<{target}>"


def _label(text: str) -> str:
    return escape(_CONTROLS.sub("", " ".join(text.split("\n"))))


def _text(value: str, before: str, within: str, *, more: bool) -> str:
    """Characters as they are; what Slack would read as markup is made a mere sign."""
    value = _CONTROLS.sub("", value.replace("\n", " "))
    written = ""
    place = 0
    for found in _MARKUP.finditer(value):
        if _is_active(found, value, before, within, more=more):
            written += escape(value[place : found.start()])
            written += _ALIKE[found[0]] if within else literal(found[0])
            place = found.end()
    written += escape(value[place:])
    at_line_start = not before or before.endswith("\n")
    if at_line_start and not within and written.startswith("&gt;"):
        written = literal(">") + written.removeprefix("&gt;")
    return written


def _is_active(found: re.Match[str], value: str, before: str, within: str, *, more: bool) -> bool:
    """Whether Slack might read this sign as the start of something (or the end of `within`)."""
    sign, start = found[0], found.start()
    if sign in within:
        return True
    if sign == ":":
        name = _EMOJI.match(value, start)
        return name is not None and is_emoji_name(name[1])
    later = more or bool(within) or sign in value[start + 1 :]
    if sign == "`":
        return later
    previous = value[start - 1] if start else before[-1:]
    following = value[start + 1 : start + 2]
    return later and not previous.isalnum() and not following.isspace()
