"""IRC lines <-> the text tree. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from bridge.content.text.inlines import plain_inlines
from bridge.content.text.normal import MAX_DEPTH, flat_blocks, normal
from bridge.content.text.plain import aligned_table
from bridge.content.text.tree import (
    BREAK,
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
from bridge.model import ActorId
from connectors.irc.formatting import (
    NONE,
    Run,
    Style,
    nested,
    read_runs,
    with_style,
    write_runs,
)

_ORDER: tuple[Style, ...] = ("spoiler", "bold", "italic", "underline", "strike", "monospace")
_BOX = {None: "", True: "[x] ", False: "[ ] "}
_RULE = "-" * 20


# --- IRC -> tree ----------------------------------------------------------------------------


def irc_to_text(lines: str, people: Mapping[str, ActorId] | None = None) -> Document:
    """What somebody wrote: several lines where the server joined them. `people` are the nicks that
    may be addressed in it (`nick: ...`, `nick, ...`, `@nick`), with their actors."""
    inlines: list[Inline] = []
    for number, line in enumerate(lines.split("\n")):
        if number:
            inlines.append(BREAK)
        inlines += _inlines(read_runs(line), people or {}, at_start=number == 0)
    return normal((Paragraph(tuple(inlines)),))


def _inlines(
    runs: Sequence[Run], people: Mapping[str, ActorId], *, at_start: bool = False
) -> list[Inline]:
    inlines: list[Inline] = []
    for style, inner in nested(runs, _ORDER):
        if style is None and any(run.styles for run in inner):
            inlines += _inlines(inner, people, at_start=at_start and not inlines)
            continue
        if style is None:
            for run in inner:
                inlines += _mentions(run.text, people, at_start=at_start and not inlines)
            continue
        if style == "monospace":
            inlines.append(Code("".join(run.text for run in inner)))
            continue
        inlines.append(_STYLED[style](tuple(_inlines(inner, people))))
    return inlines


_STYLED = {
    "spoiler": Spoiler,
    "bold": Strong,
    "italic": Emphasis,
    "underline": Underline,
    "strike": Strike,
}


def _mentions(text: str, people: Mapping[str, ActorId], *, at_start: bool) -> Iterator[Inline]:
    """The nick that a line begins with, and every `@nick`."""
    if not people:
        yield Text(text)
        return
    nicks = "|".join(re.escape(nick) for nick in sorted(people, key=len, reverse=True))
    led = rf"\A(?:{nicks})(?=[:,](?:\s|\Z))|" if at_start else ""
    at = 0
    lower = {nick.lower(): actor for nick, actor in people.items()}
    for match in re.finditer(rf"{led}(?<![\w@])@(?:{nicks})(?![\w-])", text, re.IGNORECASE):
        name = match[0].removeprefix("@")
        yield Text(text[at : match.start()])
        yield Mention(lower[name.lower()], name)
        at = match.end()
    yield Text(text[at:])


# --- tree -> IRC ----------------------------------------------------------------------------


def text_to_irc(document: Document) -> list[str]:
    """The lines that say it, each complete in itself; never an empty one."""
    lines = (write_runs(runs) for runs in _lines(document, 0))
    return [line for line in lines if line.strip()]


def _lines(blocks: Iterable[Block], depth: int) -> Iterator[list[Run]]:
    for block in blocks if depth < MAX_DEPTH else flat_blocks(blocks):
        yield from _block(block, depth)


def _block(block: Block, depth: int) -> Iterator[list[Run]]:
    match block:
        case Paragraph(children):
            yield from _split(_runs(children, NONE))
        case Heading(_, children):
            yield from _split(_runs(children, frozenset({"bold"})))
        case Quote(blocks):
            yield from (_led("> ", line) for line in _lines(blocks, depth + 1))
        case CodeBlock(value):
            yield from ([Run(line.expandtabs(4), NONE)] for line in value.split("\n"))
        case List(items, start):
            for index, item in enumerate(items):
                mark = ("• " if start is None else f"{start + index}. ") + _BOX[item.checked]
                for number, line in enumerate(_lines(item.blocks, depth + 1)):
                    yield _led(" " * len(mark) if number else mark, line)
        case Table():
            yield from ([Run(line, NONE)] for line in aligned_table(block, "+").split("\n"))
        case Rule():
            yield [Run(_RULE, NONE)]


def _led(mark: str, line: list[Run]) -> list[Run]:
    return [Run(mark, NONE), *line]


def _split(runs: Iterable[Run | None]) -> Iterator[list[Run]]:
    """None stands for a line break."""
    line: list[Run] = []
    for run in runs:
        if run is None:
            yield line
            line = []
        else:
            line.append(run)
    yield line


def _runs(inlines: Iterable[Inline], styles: frozenset[Style]) -> Iterator[Run | None]:
    for node in inlines:
        match node:
            case Break():
                yield None
            case Strong(children):
                yield from _runs(children, with_style(styles, "bold"))
            case Emphasis(children):
                yield from _runs(children, with_style(styles, "italic"))
            case Underline(children):
                yield from _runs(children, with_style(styles, "underline"))
            case Strike(children):
                yield from _runs(children, with_style(styles, "strike"))
            case Spoiler(children):
                yield from _runs(children, with_style(styles, "spoiler"))
            case Code(value):
                yield Run(value, with_style(styles, "monospace"))
            case Link(url, children):
                yield from _link(url, children, styles)
            case _:
                yield Run(_word(node), styles)


def _link(url: str, children: Sequence[Inline], styles: frozenset[Style]) -> Iterator[Run | None]:
    """The address alone where the words say nothing else, else both."""
    words = plain_inlines(children).strip()
    if words in ("", url, url.removeprefix("mailto:"), url.partition("://")[2]):
        yield Run(url, styles)
        return
    yield from _runs(children, styles)
    yield Run(f" ({url})", styles)


def _word(node: Inline) -> str:
    match node:
        case Ping(_, name):
            return name  # a nick on its own is what rings on IRC
        case Mention(_, name) | GroupMention(_, name):
            return f"@{name}"
        case ChannelLink(_, name):
            return name if name.startswith(("#", "&")) else f"#{name}"
        case Broadcast(range=range_):
            return f"@{range_}"
        case Emoji(name, unicode):
            return unicode or f":{name}:"
        case Timestamp():
            return plain_inlines((node,))
        case Text(value):
            return value
        case _:
            return plain_inlines((node,))


# --- /me ------------------------------------------------------------------------------------


def as_action(document: Document) -> Document | None:
    """The words of a message that is emphasised as a whole, which is `/me` on IRC; else None."""
    match document:
        case (Paragraph((Emphasis(children),)),) if BREAK not in children:
            return (Paragraph(children),)
        case _:
            return None


def from_action(document: Document) -> Document:
    """The text of a `/me`, emphasised as a whole."""
    match document:
        case (Paragraph(children),):
            return normal((Paragraph((Emphasis(children),)),))
        case _:
            return document
