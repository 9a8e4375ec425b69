"""mrkdwn -> the text tree. Total: any string gives a tree, in time that grows with its length."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from bridge.content.inlines import merge_texts
from bridge.content.text import (
    Block,
    Break,
    Broadcast,
    ChannelLink,
    Code,
    CodeBlock,
    Document,
    Emoji,
    GroupMention,
    Inline,
    Link,
    Mention,
    Paragraph,
    Quote,
    Text,
    Timestamp,
)
from connectors.slack import ids
from connectors.slack.mrkdwn import (
    EMOJI,
    LITERAL_FORM,
    RANGES,
    STYLES,
    date_style,
    is_emoji_name,
    is_safe_url,
    unescape,
    without_borders,
)

_FENCE = re.compile(r"```(.+?)```", re.DOTALL)
_QUOTED = re.compile(r"(?:&gt;|>) ?")
_QUOTED_REST = re.compile(r"(?:&gt;&gt;&gt;|>>>) ?")
_TOKEN = re.compile(
    r"<(?P<control>[^<>\n]+)>"
    r"|`(?P<code>[^`\n]+)`"
    rf"|(?<![\w:]):(?P<emoji>{EMOJI}):(?![\w:])"
    r"|&(?P<entity>amp|lt|gt);"
    r"|(?P<sign>[*_~])"
)
_ENTITIES = {"amp": "&", "lt": "<", "gt": ">"}


def mrkdwn_to_text(mrkdwn: str, team: str) -> Document:
    """Read mrkdwn of the workspace `team`; who or what is mentioned without a name has its id."""
    text = mrkdwn.replace("\r\n", "\n")
    blocks: list[Block] = []
    place = 0
    for fence in _FENCE.finditer(text):
        blocks += _blocks(text[place : fence.start()], team)
        code = fence[1].removeprefix("\n").removesuffix("\n")
        blocks.append(CodeBlock(unescape(code)))
        place = fence.end()
    return (*blocks, *_blocks(text[place:], team))


def _blocks(text: str, team: str) -> Iterator[Block]:
    """Runs of quoted and of plain lines; an empty line ends a paragraph."""
    run: list[str] = []
    quoted = False
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if _QUOTED_REST.match(line):
            yield from _run(run, team, quoted=quoted)
            rest = [_QUOTED_REST.sub("", line, count=1), *lines[number + 1 :]]
            yield from _run(rest, team, quoted=True)
            return
        quote = _QUOTED.match(line)
        if bool(quote) != quoted:
            yield from _run(run, team, quoted=quoted)
            run, quoted = [], bool(quote)
        run.append(line[quote.end() :] if quote else line)
    yield from _run(run, team, quoted=quoted)


def _run(lines: list[str], team: str, *, quoted: bool) -> Iterator[Block]:
    paragraphs = list(_paragraphs(lines, team))
    if quoted and paragraphs:
        yield Quote(tuple(paragraphs))
    elif not quoted:
        yield from paragraphs


def _paragraphs(lines: list[str], team: str) -> Iterator[Block]:
    children: list[Inline] = []
    for line in [*lines, ""]:
        if line.strip():
            children += [Break()] * bool(children)
            children += _inlines(line, team)
        elif children:
            yield Paragraph(tuple(children))
            children = []


def _inlines(line: str, team: str) -> list[Inline]:
    """One line: signs that open wait for the next one of their kind that may close them."""
    found: list[Inline] = []
    open_signs: list[tuple[str, int]] = []
    waiting: Counter[str] = Counter()
    place = 0
    for token in _TOKEN.finditer(line):
        found.append(Text(line[place : token.start()]))
        place = token.end()
        sign = token["sign"]
        if not sign:
            found.append(_node(token, team))
        elif waiting[sign] and _may_close(line, token.start(), sign):
            _close(sign, found, open_signs, waiting)
        else:
            if _may_open(line, token.start(), sign):
                open_signs.append((sign, len(found)))
                waiting[sign] += 1
            found.append(Text(sign))
    return _tidied([*found, Text(line[place:])])


def _close(
    sign: str, found: list[Inline], open_signs: list[tuple[str, int]], waiting: Counter[str]
) -> None:
    """Wrap everything since the sign opened; signs that opened inside it stay text."""
    while True:
        opened, start = open_signs.pop()
        waiting[opened] -= 1
        if opened == sign:
            break
    found[start:] = [STYLES[sign](tuple(_tidied(found[start + 1 :])))]


def _may_open(line: str, at: int, sign: str) -> bool:
    before, after = line[at - 1] if at else " ", line[at + 1 : at + 2]
    return bool(after) and not (
        after.isspace() or after == sign or before.isalnum() or before == sign
    )


def _may_close(line: str, at: int, sign: str) -> bool:
    before, after = line[at - 1], line[at + 1 : at + 2]
    return not (before.isspace() or before == sign or after.isalnum() or after == sign)


def _tidied(nodes: list[Inline]) -> list[Inline]:
    return list(merge_texts(without_borders(list(merge_texts(nodes)))))


def _node(token: re.Match[str], team: str) -> Inline:
    if control := token["control"]:
        return _control(control, team)
    if code := token["code"]:
        return Code(unescape(code))
    if entity := token["entity"]:
        return Text(_ENTITIES[entity])
    name: str = token["emoji"]
    return Emoji(name) if is_emoji_name(name) else Text(f":{name}:")


def _control(inner: str, team: str) -> Inline:
    """What stands in <...>: a mention, a channel, a command or a link."""
    target, _, label = inner.partition("|")
    label = unescape(label)
    kind, rest = target[:1], target[1:]
    if kind == "@" and rest:
        return Mention(ids.actor_id(team, rest), label.removeprefix("@") or rest)
    if kind == "#" and rest:
        return ChannelLink(ids.channel_ref(team, rest).key, label.removeprefix("#") or rest)
    if kind == "!" and rest:
        return _command(rest, label, team)
    url = unescape(target)
    if is_safe_url(url):
        return Link(url, (Text(label or url.removeprefix("mailto:")),))
    return Text(label or (url if ":" in url else f"<{url}>"))


def _command(target: str, label: str, team: str) -> Inline:
    word, *details = target.split("^")
    if word in RANGES:
        return Broadcast(word)  # pyright: ignore[reportArgumentType]  # one of the literals
    if word == "subteam" and details:
        return GroupMention(ids.group_key(team, details[0]), label.removeprefix("@") or details[0])
    if word == "date" and len(details) > 1:
        return _date(details, label)
    return Text(label or f"@{word}")


def _date(details: list[str], label: str) -> Inline:
    unix, form = details[:2]
    if form == LITERAL_FORM or not (unix.isascii() and unix.isdigit() and len(unix) < 12):
        return Text(label)
    moment = Timestamp(int(unix), date_style(form), label)
    link = unescape(details[2]) if len(details) > 2 else ""
    return Link(link, (moment,)) if is_safe_url(link) else moment
