"""An input of a card as text, for places where nobody can fill it in. Pure."""

from __future__ import annotations

from collections.abc import Sequence, Set
from itertools import groupby

from bridge.content.cards.degrade import timestamp
from bridge.content.cards.tree import (
    Choice,
    DateInput,
    Input,
    NumberInput,
    Option,
    Picker,
    TextInput,
    Toggle,
)
from bridge.content.text.inlines import linked
from bridge.content.text.tree import (
    Block,
    Break,
    Document,
    Emphasis,
    Inline,
    List,
    ListItem,
    Paragraph,
    Strong,
    Text,
)

Line = tuple[Inline, ...]


def input_as_blocks(node: Input) -> Document:
    """Returns `**label** value`, its options as a list, its hint below."""
    label: Line = (Strong(node.label),) if node.label else ()
    filled = _filled(node)
    gap: Line = (Text(" "),) if label and filled else ()
    blocks: list[Block] = [Paragraph((*label, *gap, *filled))] if label or filled else []
    if isinstance(node, Choice):
        ticked = frozenset(node.values) if node.many or node.values else None
        blocks += _options(node.options, ticked)
    if node.hint:
        blocks.append(Paragraph((Emphasis(node.hint),)))
    return tuple(blocks)


def _filled(node: Input) -> Line:
    match node:
        case TextInput(value=value, format="password") if value:
            return words("•" * 8)
        case DateInput(value=value, of="datetime") if value.isascii() and value.isdigit():
            return (timestamp(int(value)),) if len(value) < 20 else words(value)
        case TextInput(value=value) | DateInput(value=value) if value:
            return words(value)
        case NumberInput(value=float() | int() as number):
            return words(f"{number:g}")
        case Toggle(title=title, value=value):
            return (Text("☑ " if value else "☐ "), *title)
        case _:
            return (Emphasis(words(node.placeholder)),) if node.placeholder.strip() else ()


def _options(options: Sequence[Option], ticked: Set[str] | None) -> list[Block]:
    """A list for each group, below the group's name."""
    blocks: list[Block] = []
    for group, members in groupby(options, lambda option: option.group):
        blocks += [Paragraph(words(group))] if group.strip() else []
        items = tuple(
            ListItem((Paragraph(_option(member)),), _tick(member, ticked)) for member in members
        )
        blocks.append(List(items))
    return blocks


def _option(option: Option) -> Line:
    sign: Line = (Text(f"{option.emoji} "),) if option.emoji else ()
    label = linked(option.label, option.url)
    description: Line = (Text(": "), *option.description) if option.description else ()
    return (*sign, *label, *description)


def _tick(option: Option, ticked: Set[str] | None) -> bool | None:
    return None if ticked is None else option.value in ticked


def kind_of_input(node: Input) -> str:
    """Returns a name for an input that has no other."""
    match node:
        case DateInput(of=of):
            return {"date": "Date", "time": "Time", "datetime": "Date and time"}[of]
        case Picker(of=of):
            return of.capitalize()
        case NumberInput():
            return "Rating" if node.stars else "Number"
        case _:
            return _KINDS[node.type]


_KINDS = {"text_input": "Text", "toggle": "Yes or no", "choice": "Choice", "file_input": "File"}


def words(text: str) -> Line:
    """Returns plain text as inlines; none for blank text."""
    if not text.strip():
        return ()
    lines = [Text(line) for line in text.splitlines()]
    return tuple(inline for line in lines for inline in (Break(), line))[1:]
