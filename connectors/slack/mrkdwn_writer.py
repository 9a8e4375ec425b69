"""The text tree -> mrkdwn. Only pings notify people, and text is never read as markup.

mrkdwn has no headings, tables, underline or small print: they become bold lines, aligned code and
plain text. Lists are written as Slack writes the lists of rich text into `text`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import cast

from bridge.content.text.inlines import Style, moment_in_utc, plain_inlines
from bridge.content.text.normal import MAX_DEPTH, flat_blocks
from bridge.content.text.plain import aligned_table
from bridge.content.text.tree import (
    Block,
    Break,
    Broadcast,
    BroadcastPing,
    ChannelLink,
    ChannelThere,
    Code,
    CodeBlock,
    Document,
    Emoji,
    Emphasis,
    GroupMention,
    GroupPing,
    Heading,
    Inline,
    Link,
    List,
    ListItem,
    Mention,
    Paragraph,
    Ping,
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
from connectors.slack import ids
from connectors.slack.emoji import unicode_of
from connectors.slack.mrkdwn import (
    BORDER,
    BOXES,
    DATE_FORMS,
    EMOJI,
    INDENT,
    LOOK_LIKE_MORE,
    LOOKS_LIKE_MORE,
    RULE,
    escape,
    is_at_border,
    is_emoji_name,
    is_safe_url,
    literal,
)

_SIGNS: dict[type[Inline], str] = {Strong: "*", Emphasis: "_", Strike: "~", Spoiler: "|"}
# Inside a style the date of `literal` would end the style, so a look-alike character is used.
_ALIKE = {"*": "∗", "_": "ˍ", "~": "∼", "`": "ˋ", ":": "꞉"}
_ODD = re.compile(r"[\x00-\x1f\x7f*_~`:&<>]")
_MARKUP = re.compile(rf"[*_~`:](?:(?<!:)|(?={EMOJI}:))")
_EMOJI = re.compile(rf":({EMOJI}):")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def text_to_mrkdwn(document: Document) -> str:
    """Write mrkdwn; `mrkdwn_to_text` reads paragraphs, quotes, lists, code and styles back."""
    return _blocks(document, 0, in_quote=False)


# --- blocks ---------------------------------------------------------------------------------


def _blocks(blocks: Sequence[Block], depth: int, *, in_quote: bool) -> str:
    written: list[str] = []
    previous: Block | None = None
    for block in blocks if depth < MAX_DEPTH else flat_blocks(blocks):
        text = _block(block, depth + 1, in_quote=in_quote)
        if not text:
            continue
        if previous is not None:
            # The bar of a quote already separates it from its neighbours.
            tight = isinstance(previous, Quote) and not isinstance(block, Quote)
            written.append("\n" if tight else "\n\n")
        written.append(text)
        previous = block
    return "".join(written)


def _block(block: Block, depth: int, *, in_quote: bool) -> str:
    match block:
        case Paragraph(children):
            return _inlines(children)
        case Heading(_, children):
            return _inlines((Strong(children),))
        case Quote(blocks):
            sign = "&gt; " if in_quote else "> "  # Slack has one level of quotes
            return _prefixed(sign, _blocks(blocks, depth, in_quote=True))
        case CodeBlock(value):
            return _code_lines(value) if in_quote else _fenced(value)
        case List():
            return _list(block, depth, in_quote=in_quote)
        case Table():
            table = aligned_table(block, "|")
            return _code_lines(table) if in_quote else _fenced(table)
        case Rule():
            return RULE


def _prefixed(prefix: str, text: str) -> str:
    return "\n".join([(prefix + line).rstrip() for line in text.split("\n")]) if text else ""


def _fenced(value: str) -> str:
    inner = escape(_CONTROLS.sub("", value)).replace("```", f"`{BORDER}`{BORDER}`")
    return f"```\n{inner or ' '}\n```"


def _code_lines(value: str) -> str:
    """Code as single code spans, where a fence is not possible."""
    return "\n".join([_code(line) for line in value.split("\n")])


def _list(node: List, depth: int, *, in_quote: bool) -> str:
    lines: list[str] = []
    for number, item in enumerate(node.items, node.start or 0):
        sign = "•" if node.start is None else f"{number}."
        lines.append(f"{sign} {BOXES[item.checked]}{_item(item, depth, in_quote=in_quote)}")
    return "\n".join(lines)


def _item(item: ListItem, depth: int, *, in_quote: bool) -> str:
    """The lines below the first are indented, except fences, which would show the spaces."""
    written = ""
    previous: Block | None = None
    for block in item.blocks if depth < MAX_DEPTH else flat_blocks(item.blocks):
        text = _block(block, depth + 1, in_quote=in_quote)
        if not text:
            continue
        fenced = isinstance(block, CodeBlock | Table) and not in_quote
        if not fenced:
            text = _indented(text)
        if previous is not None or not isinstance(block, Paragraph):
            apart = isinstance(previous, Paragraph | List) and type(previous) is type(block)
            written += "\n\n" if apart else "\n"
            written += "" if fenced else INDENT
        written += text
        previous = block
    return written


def _indented(text: str) -> str:
    if "\n" not in text:
        return text
    first, *lines = text.split("\n")
    return "\n".join([first, *[INDENT + line if line else "" for line in lines]])


# --- inline ---------------------------------------------------------------------------------


def _inlines(children: Sequence[Inline], within: str = "", *, at_start: bool = True) -> str:
    """`within` has the signs of the enclosing styles; `at_start` means at the start of a line."""
    nodes = _simplified(children, within)
    written: list[str] = []
    previous: Inline | None = None
    last = "\n" if at_start else " "
    for index, node in enumerate(nodes):
        piece = _inline(node, last, within, more=index + 1 < len(nodes))
        if not piece:
            continue
        if previous is not None and _need_separator(previous, node, last, piece[0]):
            written.append(BORDER)
        written.append(piece)
        previous = node
        last = piece[-1]
    return "".join(written)


def _simplified(children: Sequence[Inline], within: str) -> list[Inline]:
    """Drop styles that Slack lacks or that already apply, and merge adjacent texts."""
    simplified: list[Inline] = []
    stack = [iter(children)]
    while stack:
        node = next(stack[-1], None)
        if node is None:
            stack.pop()
        elif isinstance(node, Text):
            last = simplified[-1] if simplified else None
            if isinstance(last, Text):
                simplified[-1] = Text(last.value + node.value)
            elif node.value:
                simplified.append(node)
        elif type(node) is Underline or ((sign := _SIGNS.get(type(node))) and sign in within):
            stack.append(iter(cast("Style", node).children))
        else:
            simplified.append(node)
    return simplified


def _need_separator(inline: Inline, other: Inline, end: str, start: str) -> bool:
    """Whether Slack would not read the sign where these two nodes meet."""
    if type(inline) is Text and type(other) is Text:
        return False
    if not (is_at_border(inline) or is_at_border(other)):
        return False
    binding = "*_~`:" if isinstance(inline, Emoji) or isinstance(other, Emoji) else "*_~`"
    return (end.isalnum() or end in binding) and (start.isalnum() or start in binding)


def _inline(node: Inline, before: str, within: str, *, more: bool) -> str:
    match node:
        case Text(value):
            return _text(value, before, within, more=more)
        case Break():
            return "\n"
        case Strong(inner) | Emphasis(inner) | Strike(inner):
            return _styled(_SIGNS[type(node)], inner, within)
        case Code(value):
            return _code(value)
        case Link(url, inner):
            return _link(url, inner, before, within, more=more)
        case Spoiler(inner):
            return f"||{_inlines(inner, within + '|', at_start=False)}||"
        case _:
            return _own_node(node, before, within, more=more)


def _own_node(node: Inline, before: str, within: str, *, more: bool) -> str:
    match node:
        case Ping() | GroupPing() | BroadcastPing() | ChannelThere():
            return ids.reference_of(node)
        case Mention(name=name) | GroupMention(name=name):
            text = f"@{name}"
        case Broadcast(range=range_):
            text = f"@{range_}"
        case ChannelLink(name=name):
            text = f"#{name}"
        case Emoji(name, unicode):
            if unicode is None and is_emoji_name(name):
                return f":{name}:"
            text = unicode or f":{name}:"
        case Timestamp(unix, style, fallback) if 0 <= unix < 10**11:
            form = DATE_FORMS.get(style, DATE_FORMS["f"])
            return f"<!date^{unix}^{form}|{_label(fallback) or moment_in_utc(unix, style)}>"
        case _:
            text = plain_inlines((node,))
    return _text(text, before, within, more=more)


def _styled(sign: str, children: Sequence[Inline], within: str) -> str:
    """A styled text: Slack's styles end with the line and do not begin or end with a space."""
    inner = _inlines(children, within + sign, at_start=False)
    if "\n" not in inner:
        return _styled_line(sign, inner)
    return "\n".join([_styled_line(sign, line) for line in inner.split("\n")])


def _styled_line(sign: str, line: str) -> str:
    body = line.strip()
    if not body.strip(BORDER):
        return line
    if body == line:
        return f"{sign}{body}{sign}"
    start = line.index(body)
    return f"{line[:start]}{sign}{body}{sign}{line[start + len(body) :]}"


def _code(value: str) -> str:
    if not value.isprintable():
        value = _CONTROLS.sub("", value.replace("\n", " "))
    value = value.replace("`", _ALIKE["`"])
    return f"`{escape(value)}`" if value and not value.isspace() else value


def _link(url: str, children: Sequence[Inline], before: str, within: str, *, more: bool) -> str:
    plain = plain_inlines(children)
    if not is_safe_url(url):
        return _text(plain, before, within, more=more)
    if len(children) == 1 and type(only := children[0]) in (Strong, Emphasis, Strike):
        link = Link(url, cast("Style", only).children)
        return _styled(_SIGNS[type(only)], (link,), within)
    label = _link_label(plain)
    scheme, _, address = url.partition(":")
    target = re.sub(r"[\s|<>]", lambda match: f"%{ord(match[0]):02X}", address)
    target = escape(f"{scheme.lower()}:{target}")
    return f"<{target}|{label}>" if label.strip() and plain != url else f"<{target}>"


def _link_label(text: str) -> str:
    """A label without markup, styles or emoji."""
    text = _label(text)
    if not _MARKUP.search(text):
        return text
    written, place = "", 0
    for match in _MARKUP.finditer(text):
        if _is_active(match, text, " ", "", more=False):
            written += text[place : match.start()] + _ALIKE[match[0]]
            place = match.end()
    return written + text[place:]


def _label(text: str) -> str:
    """One line without fences, which Slack reads before all other markup."""
    if "```" in text:
        text = text.replace("`", _ALIKE["`"])
    return escape(_CONTROLS.sub("", text.replace("\n", " ")))


def _text(value: str, before: str, within: str, *, more: bool) -> str:
    """Escaped text; signs that Slack would read as markup become literal."""
    if not _ODD.search(value):
        return BORDER + value if before == "\n" and _looks_like_more(value) else value
    value = _CONTROLS.sub("", value.replace("\n", " "))
    written = ""
    place = 0
    for match in _MARKUP.finditer(value):
        if _is_active(match, value, before, within, more=more):
            written += escape(value[place : match.start()])
            written += _ALIKE[match[0]] if within else literal(match[0])
            place = match.end()
    written += escape(value[place:])
    if before == "\n":
        if written.startswith("&gt;"):
            return literal(">") + written.removeprefix("&gt;")
        if _looks_like_more(value):
            return BORDER + written
    return written


def _looks_like_more(value: str) -> bool:
    """Whether Slack would read a line with this start as a list item or as indented."""
    return value[:1] in LOOK_LIKE_MORE and LOOKS_LIKE_MORE.match(value) is not None


def _is_active(match: re.Match[str], value: str, before: str, within: str, *, more: bool) -> bool:
    """Whether Slack might read this sign as the start of markup, or as the end of `within`."""
    sign, start = match[0], match.start()
    if sign in within:
        return True
    if sign == ":":
        name = _EMOJI.match(value, start)
        return name is not None and unicode_of(name[1]) is not None
    later = more or bool(within) or sign in value[start + 1 :]
    if sign == "`":
        return later
    previous = value[start - 1] if start else before
    next_character = value[start + 1 : start + 2]
    return later and not previous.isalnum() and not next_character.isspace()
