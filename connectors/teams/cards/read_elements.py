"""Text, facts, badges, progress and buttons of Adaptive Cards -> nodes."""

from __future__ import annotations

import re
from dataclasses import replace

from bridge.content.cards.tree import (
    Actions,
    Align,
    Asset,
    Badge,
    Button,
    Container,
    Fields,
    LabelledValue,
    Node,
    Progress,
    Prose,
    Rating,
    Size,
    Style,
)
from bridge.content.text import normal
from bridge.content.text.inlines import plain_inlines
from bridge.content.text.tree import (
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
    Paragraph,
    Strike,
    Strong,
    Text,
    Underline,
)
from bridge.content.text.urls import safe_url
from connectors.teams.cards.json_values import (
    Json,
    choice_of,
    flag,
    items,
    number,
    object_at,
    objects,
    string,
    whole,
)
from connectors.teams.cards.read_actions import (
    read_actions,
    selected_link,
    selected_nodes,
)
from connectors.teams.cards.read_text import cited, dated
from connectors.teams.cards.reading import ElementReader, Reading

Line = tuple[Inline, ...]

STYLES: dict[str, Style] = {
    "accent": "accent",
    "good": "good",
    "warning": "warning",
    "attention": "attention",
    "emphasis": "emphasis",
}
ALIGN: dict[str, Align] = {"left": "left", "center": "center", "right": "right"}
_SIZES: dict[str, Size] = {"small": "small", "large": "large", "extralarge": "huge"}
_LEVELS = {"extralarge": 1, "large": 2, "medium": 3}
_TAG = re.compile(r"<at>([^<]*)</at>")
_SHORT = 60  # characters; a shorter fact can share a row


def style_of(item: Json, key: str = "style") -> Style:
    return STYLES.get(choice_of(item, key), "default")


# --- text -----------------------------------------------------------------------------------


def _text_block(reading: Reading, item: Json, at: str, _depth: int) -> list[Node]:
    document = reading.marked(string(item, "text"))
    if not document:
        return []
    size = choice_of(item, "size")
    if "weight" in item or "style" in item or "fontType" in item:
        document = _shaped(item, document, size)
    is_heading = isinstance(document[0], Heading)
    return [
        Prose(
            document,
            size="normal" if is_heading else _SIZES.get(size, "normal"),
            style=style_of(item, "color"),
            subtle=flag(item, "isSubtle"),
            align=ALIGN.get(choice_of(item, "horizontalAlignment")),
            at=at,
        )
    ]


def _shaped(item: Json, document: Document, size: str) -> Document:
    """Return the document as a heading, in bold or in monospace."""
    if choice_of(item, "fontType") == "monospace":
        return tuple(_fixed_width(block) for block in document)
    style = choice_of(item, "style")
    is_bold = choice_of(item, "weight") == "bolder" or style == "columnheader"
    level = _LEVELS.get(size, 0) if is_bold else 0
    if style == "heading":
        level = _LEVELS.get(size, 2)
    match document:
        case (Paragraph(children),) if level:
            return (Heading(level, normal.one_line(normal.tidy(_unbroken(children)))),)
        case _ if is_bold or level:
            return tuple(_bold(block) for block in document)
        case _:
            return document


def _unbroken(run: Line) -> Line:
    """Return a run without breaks and bold, for a heading."""
    plain: list[Inline] = []
    for inline in run:
        if isinstance(inline, Strong):
            plain += inline.children
        else:
            plain.append(Text(" ") if isinstance(inline, Break) else inline)
    return tuple(plain)


def _bold(block: Block) -> Block:
    if not isinstance(block, Paragraph):
        return block
    return replace(block, children=tuple(normal.tidy((Strong(block.children),))))


def _fixed_width(block: Block) -> Block:
    match block:
        case Paragraph((Text(value),)):
            return Paragraph((Code(value),))
        case Paragraph(children) if all(isinstance(child, Text | Break) for child in children):
            return CodeBlock(plain_inlines(children))
        case _:
            return block


def _rich_text(reading: Reading, item: Json, at: str, depth: int) -> list[Node]:
    """Read runs as one paragraph; their actions other than links become buttons below."""
    runs: list[Inline] = []
    pressed: list[Node] = []
    for index, run in enumerate(items(item, "inlines")):
        if isinstance(run, str):
            runs += dated(reading.resolved(run))
        elif isinstance(run, dict):
            place = f"{at}/inlines/{index}"
            runs += _run(reading, run)
            if "selectAction" in run and not _run_link(reading, run):
                pressed += selected_nodes(reading, run, place, depth)
    document = tuple(normal.paragraphs(normal.tidy(runs)))
    if not document:
        return pressed
    text_runs = [
        text_run for text_run in objects(item, "inlines") if string(text_run, "text").strip()
    ]
    prose = Prose(
        document,
        size=_SIZES.get(_shared(text_runs, "size"), "normal"),
        style=STYLES.get(_shared(text_runs, "color"), "default"),
        subtle=bool(text_runs) and all(flag(text_run, "isSubtle") for text_run in text_runs),
        align=ALIGN.get(choice_of(item, "horizontalAlignment")),
        at=at,
    )
    return [prose, *pressed]


def _shared(runs: list[Json], key: str) -> str:
    """Return the value that all runs share, or an empty string."""
    values = {choice_of(run, key) for run in runs}
    return values.pop() if len(values) == 1 else ""


def _run(reading: Reading, run: Json) -> list[Inline]:
    match run.get("type"):
        case "IconRun":
            return [Emoji(name)] if (name := string(run, "name")) else []
        case "ImageRun":
            name = reading.text(run, "altText") or "image"
            return [Emoji(name, None, safe_url(string(run, "url")))]
        case "CitationRun":
            index = whole(run, "referenceIndex") or 0
            return cited(_characters(reading, run), index, reading.context)
        case _:
            return _styled(run, _characters(reading, run), _run_link(reading, run))


def _run_link(reading: Reading, run: Json) -> str:
    """Return the link of a run, if the words of its action are part of the run."""
    url, action = selected_link(run), object_at(run, "selectAction")
    action_words = f"{reading.text(action, 'title')} {reading.text(action, 'tooltip')}".split()
    return url if url and set(action_words) <= set(string(run, "text").split()) else ""


def _characters(reading: Reading, run: Json) -> list[Inline]:
    """Return the text of a run with its `<at>` tags; other markup is text."""
    text = reading.resolved(string(run, "text"))
    if choice_of(run, "fontType") == "monospace" and "\n" not in text:
        return [Code(text)] if text.strip() else [Text(text)]
    if "<at>" not in text:
        return dated(text)
    inlines: list[Inline] = []
    for index, part in enumerate(_TAG.split(text)):  # texts and names alternate
        inlines += [reading.context.mentions.by_text(part)] if index % 2 else dated(part)
    return inlines


def _styled(run: Json, children: list[Inline], url: str) -> list[Inline]:
    if choice_of(run, "weight") == "bolder" or flag(run, "highlight"):
        children = [Strong(tuple(children))]
    if flag(run, "italic"):
        children = [Emphasis(tuple(children))]
    if flag(run, "strikethrough"):
        children = [Strike(tuple(children))]
    if flag(run, "underline"):
        children = [Underline(tuple(children))]
    return [Link(url, tuple(children))] if url else children


def _code_block(reading: Reading, item: Json, at: str, _depth: int) -> list[Node]:
    value = reading.resolved(string(item, "codeSnippet"))
    if not value.strip():
        return []
    language = choice_of(item, "language")
    block = normal.code_block(value.strip("\r\n"), _LANGUAGES.get(language, language))
    return [Prose((block,), at=at)]


_LANGUAGES = {"plaintext": "", "vbnet": "vb", "dos": "bat", "objectivec": "objc"}


# --- facts ----------------------------------------------------------------------------------


def _fact_set(reading: Reading, item: Json, at: str, _depth: int) -> list[Node]:
    facts: list[LabelledValue] = []
    for index, fact in enumerate(items(item, "facts")):
        if isinstance(fact, dict):
            value = string(fact, "value")
            label = reading.marked_line(string(fact, "title"))
            document = reading.marked(value)
            if label or document:
                place = f"{at}/facts/{index}"
                facts.append(LabelledValue(label, document, len(value) <= _SHORT, at=place))
    return [Fields(tuple(facts), at=at)] if facts else []


# --- badges, progress, ratings --------------------------------------------------------------

_BADGES: dict[str, Style] = {**STYLES, "informative": "accent", "subtle": "emphasis"}


def _badge(reading: Reading, item: Json, at: str, _depth: int) -> list[Node]:
    text, icon = reading.line(item, "text"), string(item, "icon")
    hint = reading.line(item, "tooltip")
    if not text and not icon and not hint:
        return []
    style = _BADGES.get(choice_of(item, "style"), "default")
    return [Badge(text, icon=icon, hint=hint, style=style, at=at)]


def _icon(reading: Reading, item: Json, at: str, depth: int) -> list[Node]:
    name = string(item, "name")
    sign: list[Node] = [Badge(icon=name, style=style_of(item, "color"), at=at)] if name else []
    return [*sign, *selected_nodes(reading, item, at, depth)]


def _progress_bar(reading: Reading, item: Json, at: str, _depth: int) -> list[Node]:
    value, maximum = number(item, "value"), number(item, "max")
    label = reading.line(item, "label")
    style = style_of(item, "color")
    return [
        Progress(value, max=100 if maximum is None else maximum, label=label, style=style, at=at)
    ]


def _progress_ring(reading: Reading, item: Json, at: str, _depth: int) -> list[Node]:
    return [Progress(None, label=reading.line(item, "label"), at=at)]


def _rating(_reading: Reading, item: Json, at: str, _depth: int) -> list[Node]:
    value, maximum, count = number(item, "value"), whole(item, "max"), whole(item, "count")
    maximum = 5 if maximum is None or maximum < 1 else maximum
    return [Rating(value or 0.0, max=maximum, count=count, at=at)]


# --- buttons --------------------------------------------------------------------------------


def _action_set(reading: Reading, item: Json, at: str, depth: int) -> list[Node]:
    return read_actions(reading, item, at, depth + 1)


def _compound_button(reading: Reading, item: Json, at: str, depth: int) -> list[Node]:
    """Read a compound button: a button, its description and its badge."""
    title = reading.line(item, "title")
    pressed = selected_nodes(reading, item, at, depth)
    match pressed:
        case [Actions((Button() as button,))]:
            nodes: list[Node] = [Actions((_titled(reading, item, button, title),), at=at)]
        case _:
            nodes = [Prose((Paragraph((Strong(title),)),), at=at)] if title else []
            nodes += pressed
    if about := reading.line(item, "description"):
        nodes.append(Prose((Paragraph(about),), subtle=True, at=f"{at}/description"))
    if badge := reading.line(item, "badge"):
        nodes.append(Badge(badge, at=f"{at}/badge"))
    return nodes if len(nodes) == 1 else [Container(tuple(nodes), at=at)] if nodes else []


def _titled(reading: Reading, item: Json, button: Button, title: Line) -> Button:
    if title and title != button.label:
        action = object_at(item, "selectAction")
        hints = (reading.text(action, "title"), reading.text(action, "tooltip"))
        button = replace(button, label=title, hint=" ".join(hint for hint in hints if hint))
    icon = string(object_at(item, "icon"), "name")
    return replace(button, icon=Asset(name=f"icon:{icon}")) if icon and not button.icon else button


ELEMENTS: dict[str, ElementReader] = {
    "TextBlock": _text_block,
    "RichTextBlock": _rich_text,
    "TextRun": lambda reading, item, at, depth: _rich_text(reading, {"inlines": [item]}, at, depth),
    "CodeBlock": _code_block,
    "FactSet": _fact_set,
    "Badge": _badge,
    "Icon": _icon,
    "ProgressBar": _progress_bar,
    "ProgressRing": _progress_ring,
    "Rating": _rating,
    "ActionSet": _action_set,
    "CompoundButton": _compound_button,
}
