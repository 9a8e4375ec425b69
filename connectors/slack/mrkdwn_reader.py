"""mrkdwn -> the text tree. Total: any string gives a tree, in time linear in its length."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import cast

from bridge.content.text.inlines import linked, plain_inlines
from bridge.content.text.tree import (
    BREAK,
    Block,
    Broadcast,
    ChannelLink,
    Code,
    CodeBlock,
    Document,
    GroupMention,
    Inline,
    Link,
    List,
    ListItem,
    Mention,
    Paragraph,
    Quote,
    Rule,
    Text,
)
from connectors.slack import ids
from connectors.slack.emoji import NAME, named_emoji
from connectors.slack.mrkdwn import (
    BORDER,
    INDENT,
    ITEM,
    LITERAL_FORM,
    LOOK_LIKE_MORE,
    RANGES,
    RULE,
    STYLES,
    dated,
    is_safe_url,
    unescape,
    without_borders,
)

_DEEPEST = 8  # nesting of lists
_FENCE = re.compile(r"```(.+?)```", re.DOTALL)
_QUOTED = re.compile(r"(?:&gt;|>) ?")
_QUOTE_CONTINUATION = re.compile(r"(?:&gt;&gt;&gt;|>>>) ?")
_FIRST_OF_ITEM = frozenset(" •◦▪‣0123456789—\u200b")
# A leading character set: the regex engine then searches for the next sign by comparison.
_tokens = re.compile(
    rf"""([<`:&*_~](?:
      (?<=<)[^<>\n]+>
    | (?<=`)[^`\n]+`
    | (?<=:)(?<!\w:){NAME}:(?!\w)
    | (?<=&)(?:amp|lt|gt);
    | (?<=[*_~])))""",
    re.VERBOSE,
).split
_ENTITIES = {"&amp;": "&", "&lt;": "<", "&gt;": ">"}
_BOXES = {"☑": True, "☐": False}


def mrkdwn_to_text(mrkdwn: str, team: str) -> Document:
    """Read mrkdwn of the workspace `team`.

    A mention without a name gets its id as the name. Bullets, numbers and boxes that Slack writes
    for its lists become lists.
    """
    text = mrkdwn.replace("\r\n", "\n") if "\r" in mrkdwn else mrkdwn
    if "```" not in text:
        return tuple(_blocks(text.split("\n"), team))
    blocks: list[Block] = []
    place = 0
    for fence in _FENCE.finditer(text):
        blocks += _blocks(text[place : fence.start()].split("\n"), team)
        code = fence[1].removeprefix("\n").removesuffix("\n")
        blocks.append(CodeBlock(unescape(code)))
        place = fence.end()
    return (*blocks, *_blocks(text[place:].split("\n"), team))


# --- blocks ---------------------------------------------------------------------------------


def _blocks(lines: Sequence[str], team: str) -> Iterator[Block]:
    """Runs of quoted and of other lines; `>>>` quotes all lines that follow."""
    run: list[str] = []
    quoted = False
    for number, line in enumerate(lines):
        if line[:1] not in (">", "&"):
            quote = None
        elif _QUOTE_CONTINUATION.match(line):
            yield from _run(run, team, quoted=quoted)
            remaining = [_QUOTE_CONTINUATION.sub("", line, count=1), *lines[number + 1 :]]
            yield from _run(remaining, team, quoted=True)
            return
        else:
            quote = _QUOTED.match(line)
        if bool(quote) != quoted:
            yield from _run(run, team, quoted=quoted)
            run, quoted = [], bool(quote)
        run.append(line[quote.end() :] if quote else line)
    yield from _run(run, team, quoted=quoted)


def _run(lines: Sequence[str], team: str, *, quoted: bool) -> Sequence[Block]:
    blocks = _lines(lines, team, 0)
    return [Quote(tuple(blocks))] if quoted and blocks else blocks


def _lines(lines: Sequence[str], team: str, depth: int) -> list[Block]:
    """Paragraphs, which an empty line ends, and lists."""
    blocks: list[Block] = []
    children: list[Inline] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        blank = not line or line.isspace()
        if not blank and line[0] in _FIRST_OF_ITEM:
            if depth < _DEEPEST and (item := ITEM.fullmatch(line)):
                _end(children, blocks)
                block, at = _list(lines, at - 1, item, team, depth)
                blocks.append(block)
                continue
            if line.rstrip() == RULE:
                _end(children, blocks)
                blocks.append(Rule())
                continue
            if line[0] == BORDER and line[1:2] in LOOK_LIKE_MORE:
                line = line[1:]
        if blank:
            _end(children, blocks)
        else:
            children += [BREAK] * bool(children)
            children += _inlines(line, team)
    _end(children, blocks)
    return blocks


def _end(children: list[Inline], blocks: list[Block]) -> None:
    if children:
        blocks.append(Paragraph(tuple(children)))
        children.clear()


def _list(
    lines: Sequence[str], at: int, first: re.Match[str], team: str, depth: int
) -> tuple[List, int]:
    """The items with the indent of the first; deeper lines belong to the item above them."""
    indent, number = first[1], first[2]
    items: list[ListItem] = []
    item: re.Match[str] | None = first
    while item and item[1] == indent and (item[2] is None) == (number is None):
        inside, at = _in_item(lines, at + 1, len(indent))
        items.append(_item([item[3] or "", *inside], team, depth))
        item = ITEM.fullmatch(lines[at]) if at < len(lines) else None
    return List(tuple(items), None if number is None else int(number)), at


def _in_item(lines: Sequence[str], at: int, indent: int) -> tuple[list[str], int]:
    """The indented lines below an item, with the empty lines between them, and the index of the
    next line."""
    inside: list[str] = []
    deep = " " * indent + INDENT
    empty = 0
    while at < len(lines):
        line = lines[at]
        if line.startswith(deep) and not line.isspace():
            inside += [""] * empty
            inside.append(line[len(deep) :])
            empty = 0
        elif not line or line.isspace():
            empty += 1
        else:
            break
        at += 1
    return inside, at - empty


def _item(lines: list[str], team: str, depth: int) -> ListItem:
    checked = _BOXES.get(lines[0][:1]) if lines[0][1:2] == " " else None
    if checked is not None:
        lines[0] = lines[0][2:]
    return ListItem(tuple(_lines(lines, team, depth + 1)), checked)


# --- inlines --------------------------------------------------------------------------------


def _inlines(line: str, team: str) -> list[Inline]:
    """The inlines of one line: an opening sign waits for the next sign of its kind that may close
    it."""
    pieces = _tokens(line)
    if len(pieces) == 1:
        return [Text(line)]
    parsed: list[Inline | str] = [pieces[0]]
    open_signs: list[tuple[str, int]] = []
    waiting: Counter[str] = Counter()
    last = pieces[0][-1:]
    for at in range(1, len(pieces), 2):
        token, after = pieces[at], pieces[at + 1]
        if len(token) > 1:
            parsed += _nodes(token, team)
        else:
            follows = after[:1] or (pieces[at + 2][0] if at + 2 < len(pieces) else "")
            _sign(token, last, follows, parsed, open_signs, waiting)
        if after:
            parsed.append(after)
        last = after[-1:] or token[-1]
    return _joined(parsed)


def _sign(
    sign: str, before: str, after: str, parsed: list[Inline | str],
    open_signs: list[tuple[str, int]], waiting: Counter[str],
) -> None:  # fmt: skip
    if waiting[sign] and not (
        before.isspace() or before == sign or after.isalnum() or after == sign
    ):
        _close(sign, parsed, open_signs, waiting)
        return
    if after and not (after.isspace() or after == sign or before.isalnum() or before == sign):
        open_signs.append((sign, len(parsed)))
        waiting[sign] += 1
    parsed.append(sign)


def _close(
    sign: str, parsed: list[Inline | str], open_signs: list[tuple[str, int]], waiting: Counter[str]
) -> None:
    """Wrap everything since the opening sign; signs that opened inside stay text."""
    while True:
        opened, start = open_signs.pop()
        waiting[opened] -= 1
        if opened == sign:
            break
    parsed[start:] = [STYLES[sign](tuple(_joined(parsed[start + 1 :])))]


def _joined(pieces: Sequence[Inline | str]) -> list[Inline]:
    """Merge adjacent texts, and drop the spaces that only made a word boundary."""
    if len(pieces) == 1 and isinstance(only := pieces[0], str):
        return [Text(only)] if only else []
    nodes: list[Inline] = []
    bordered = False
    for is_text, group in groupby(pieces, lambda piece: isinstance(piece, str)):
        if not is_text:
            nodes += cast("list[Inline]", list(group))
        elif text := "".join(cast("list[str]", list(group))):
            bordered = bordered or BORDER in text
            nodes.append(Text(text))
    return [node for node in without_borders(nodes) if node != Text("")] if bordered else nodes


def _nodes(token: str, team: str) -> Sequence[Inline | str]:
    match token[0]:
        case "<" if token.startswith("<!date^"):
            target, _, label = token[1:-1].partition("|")
            return _date(target.split("^")[1:], unescape(label))
        case "<":
            return [_control(token[1:-1], team)]
        case "`":
            return [Code(unescape(token[1:-1]))]
        case "&":
            return [_ENTITIES[token]]
        case _:
            return [named_emoji(token[1:-1]) or token]


def _control(inner: str, team: str) -> Inline | str:
    """The node of a control sequence <...>: a mention, a channel, a command or a link."""
    target, _, marked = inner.partition("|")
    label = unescape(marked)
    kind, address = target[:1], target[1:]
    if kind == "@" and address:
        return Mention(ids.actor_id(team, address), label.removeprefix("@") or address)
    if kind == "#" and address:
        return ChannelLink(ids.channel_ref(team, address).key, label.removeprefix("#") or address)
    if kind == "!" and address:
        return _command(address, label, team)
    url = unescape(target)
    if is_safe_url(url):
        linked_text = (
            _inlines(marked, team) if marked else []
        )  # Slack shows styles and emoji in labels
        return Link(url, tuple(linked_text) or (Text(url.removeprefix("mailto:")),))
    return plain_inlines(linked((Text(label),), url)) if label else _unlinked(url)


def _unlinked(url: str) -> str:
    return url if ":" in url else f"<{url}>"


def _command(target: str, label: str, team: str) -> Inline | str:
    word, *details = target.split("^")
    if word in RANGES:
        return Broadcast(word)  # pyright: ignore[reportArgumentType]  # one of the literals
    if word == "subteam" and details:
        return GroupMention(ids.group_key(team, details[0]), label.removeprefix("@") or details[0])
    return label or f"@{word}"


def _date(details: list[str], label: str) -> Sequence[Inline | str]:
    if len(details) < 2:
        return [label or "@date"]
    unix, form = details[:2]
    if form == LITERAL_FORM or not (unix.isascii() and unix.isdigit() and len(unix) < 12):
        return [label]
    moment = dated(int(unix), unescape(form), label)
    link = unescape(details[2]) if len(details) > 2 else ""
    return [Link(link, tuple(moment))] if is_safe_url(link) else moment
