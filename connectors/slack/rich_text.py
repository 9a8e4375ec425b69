"""A rich_text block -> the text tree. Total: an unknown element becomes its text or its type.

Source: npm @slack/types 3.2.0 and docs.slack.dev "Rich text block" (2026-08).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import cast

from bridge.content.text.inlines import linked, merge_texts, plain_inlines
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
    Inline,
    Link,
    List,
    ListItem,
    Mention,
    Paragraph,
    Quote,
    Strike,
    Strong,
    Text,
    Underline,
)
from connectors.slack import ids
from connectors.slack.emoji import unicode_of
from connectors.slack.json_values import Json, object_at, objects_at, text_at, whole_at
from connectors.slack.mrkdwn import LITERAL_FORM, RANGES, dated, is_safe_url

_MAX_INDENT = 8
_STYLES: tuple[tuple[str, type[Strong | Emphasis | Strike | Underline]], ...] = (
    ("underline", Underline),
    ("strike", Strike),
    ("italic", Emphasis),
    ("bold", Strong),
)
_Styled = Strong | Emphasis | Strike | Underline
_STYLED: frozenset[type[Inline]] = frozenset((Strong, Emphasis, Strike, Underline))


def rich_text_to_text(block: Json, team: str) -> Document:
    """The text of one rich_text block of the workspace `team`."""
    blocks: list[Block | list[Block]] = []
    lists: list[_Level] = []
    for element in objects_at(block, "elements"):
        level = _level(element, team) if element.get("type") == "rich_text_list" else None
        if lists and (level is None or level.bordered != lists[-1].bordered):
            _add(blocks, _nested(lists), bordered=lists[-1].bordered)
            lists = []
        if level is not None:
            lists.append(level)
        else:
            _add_element(blocks, element, team)
    if lists:
        _add(blocks, _nested(lists), bordered=lists[-1].bordered)
    return tuple(Quote(tuple(item)) if isinstance(item, list) else item for item in blocks)


def element_to_inlines(element: Json, team: str) -> tuple[Inline, ...]:
    """The inlines of one inline element of rich text."""
    return tuple(_inline(element, team))


def _add(blocks: list[Block | list[Block]], added: list[Block], *, bordered: bool) -> None:
    """A list with a border continues the quote (a list of blocks) before it."""
    if not bordered:
        blocks += added
    elif blocks and isinstance(last := blocks[-1], list):
        last += added
    elif added:
        blocks.append(added)


def _add_element(blocks: list[Block | list[Block]], element: Json, team: str) -> None:
    match element.get("type"):
        case "rich_text_quote":
            paragraphs = list[Block](_paragraphs(_inlines(element, team)))
            blocks += [paragraphs] if paragraphs else []
        case "rich_text_preformatted":
            code = "".join(map(_plain_of, _leaves(element)))
            code_block = CodeBlock(code.removesuffix("\n"), text_at(element, "language"))
            _add(blocks, [code_block], bordered=_has_border(element))
        case _:
            blocks += _paragraphs(_inlines(element, team))


def _has_border(element: Json) -> bool:
    return element.get("border") == 1


def _paragraphs(nodes: Sequence[Inline]) -> Iterator[Paragraph]:
    """An empty line ends a paragraph."""
    lines: list[list[Inline]] = [[]]
    for node in nodes:
        if isinstance(node, Break):
            lines.append([])
        else:
            lines[-1].append(node)
    children: list[Inline] = []
    for line in [*lines, []]:
        if _is_blank(line):
            if children:
                yield Paragraph(tuple(children))
            children = []
        else:
            children += [Break()] * bool(children) + line


def _is_blank(line: Sequence[Inline]) -> bool:
    return all(isinstance(node, Text) and not node.value.strip() for node in line)


# --- lists ----------------------------------------------------------------------------------


@dataclass
class _Level:
    """One rich_text_list; the indent of the lists after it determines the nesting."""

    indent: int
    start: int | None
    bordered: bool
    items: list[list[Block]] = field(default_factory=list[list[Block]])


def _level(element: Json, team: str) -> _Level:
    ordered = element.get("style") == "ordered"
    indent = min(max(whole_at(element, "indent") or 0, 0), _MAX_INDENT)
    start = max(whole_at(element, "offset") or 0, 0) + 1 if ordered else None
    items = [list[Block](_paragraphs(_inlines(e, team))) for e in objects_at(element, "elements")]
    return _Level(indent, start, _has_border(element), items)


def _nested(levels: Sequence[_Level]) -> list[Block]:
    """A list with a larger indent belongs to the last item of the one before it; a list that
    continues after a nested one is the same list."""
    nested: list[Block | _Level] = []
    at = 0
    while at < len(levels):
        level, end = levels[at], at + 1
        while end < len(levels) and levels[end].indent > level.indent:
            end += 1
        below = _nested(levels[at + 1 : end])
        if below and level.items:
            level.items[-1] += below
        else:
            nested += below
        last = nested[-1] if nested else None
        if isinstance(last, _Level) and _continues(last, level):
            last.items += level.items
        elif level.items:
            nested.append(level)
        at = end
    return [_as_list(item) if isinstance(item, _Level) else item for item in nested]


def _continues(last: _Level, level: _Level) -> bool:
    if last.start is None or level.start is None:
        return last.start is level.start
    return level.start in (1, last.start + len(last.items))


def _as_list(level: _Level) -> List:
    return List(tuple([ListItem(tuple(blocks)) for blocks in level.items]), level.start)


# --- inline ---------------------------------------------------------------------------------


def _inlines(element: Json, team: str) -> list[Inline]:
    return list(_merged(node for inner in _leaves(element) for node in _inline(inner, team)))


def _leaves(element: Json) -> Iterator[Json]:
    """The innermost elements; Slack does not document nested elements."""
    stack = [iter(objects_at(element, "elements"))]
    while stack:
        inner = next(stack[-1], None)
        if inner is None:
            stack.pop()
        elif "elements" in inner:
            stack.append(iter(objects_at(inner, "elements")))
        else:
            yield inner


def _inline(element: Json, team: str) -> Iterable[Inline]:
    """The inlines of one element; text is split at its line breaks, and each part has the style."""
    style = object_at(element, "style")
    kind = element.get("type")
    if kind == "date":
        return [_with_style(node, style) for node in _date(element)]
    if kind != "text":
        return [_with_style(_node(str(kind), element, team), style)]
    pieces: list[Inline] = []
    for number, line in enumerate(text_at(element, "text").replace("\r\n", "\n").split("\n")):
        if number:
            pieces.append(Break())
        if line:
            pieces.append(_with_style(Code(line) if style.get("code") else Text(line), style))
    return pieces


def _node(kind: str, element: Json, team: str) -> Inline:
    match kind:
        case "link":
            url = text_at(element, "url")
            label = " ".join((text_at(element, "text") or url).split("\n"))
            return _linked(label, url)
        case "emoji":
            return _emoji(element)
        case "user" if user := text_at(element, "user_id"):
            return Mention(ids.actor_id(team, user), user)
        case "channel" if channel := text_at(element, "channel_id"):
            return ChannelLink(ids.channel_ref(team, channel).key, channel)
        case "usergroup" if group := text_at(element, "usergroup_id"):
            return GroupMention(ids.group_key(team, group), group)
        case "broadcast" if element.get("range") in RANGES:
            return Broadcast(element["range"])
        case _:
            label = " ".join((_plain_of(element) or f"[{kind}]").split("\n"))
            url = text_at(element, "url")
            return _linked(label, url)


def _linked(label: str, url: str) -> Inline:
    if is_safe_url(url):
        return Link(url, (Text(label),))
    return Text(plain_inlines(linked((Text(label),), url)))


def _date(element: Json) -> list[Inline]:
    unix, form = whole_at(element, "timestamp"), text_at(element, "format")
    fallback = " ".join(text_at(element, "fallback").split("\n"))
    if unix is None or form == LITERAL_FORM:
        return [Text(fallback or "[date]")]
    moment = dated(unix, form, fallback)
    url = text_at(element, "url")
    return [Link(url, tuple(moment))] if is_safe_url(url) else moment


def _emoji(element: Json) -> Emoji:
    """The Unicode emoji, else a custom emoji of the workspace."""
    name, tone = text_at(element, "name"), whole_at(element, "skin_tone")
    toned = f"{name}::skin-tone-{tone}" if tone and "::" not in name else name
    url = text_at(element, "url")
    characters = _characters(element) or unicode_of(toned) or unicode_of(name)
    return Emoji(toned or "unknown", characters, url if is_safe_url(url) else None)


def _characters(element: Json) -> str | None:
    """`"1f44b-1f3fd"` -> the characters; None when it is not a Unicode emoji."""
    codes = text_at(element, "unicode")
    try:
        points = [int(code, 16) for code in codes.split("-")] if codes else []
        return "".join(map(chr, points)).encode().decode() or None
    except (ValueError, OverflowError):
        return None


def _plain_of(element: Json) -> str:
    """The first text among the fields that may have one."""
    fields = ("text", "fallback", "value", "title", "name", "url", "team_id")
    return next((text for name in fields if (text := text_at(element, name))), "")


def _with_style(node: Inline, style: Json) -> Inline:
    for name, wrap in _STYLES:
        if style.get(name) is True:
            node = wrap((node,))
    return node


def _merged(nodes: Iterable[Inline]) -> tuple[Inline, ...]:
    """Merge neighbours of the same style: Slack repeats the full style for every run."""
    merged: list[Inline] = []
    for kind, group in groupby(nodes, type):
        if kind in _STYLED:
            children = [child for node in group for child in cast("_Styled", node).children]
            merged.append(cast("type[_Styled]", kind)(_merged(children)))
        else:
            merged += group
    return merge_texts(merged)
