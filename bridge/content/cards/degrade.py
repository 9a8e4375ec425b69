"""A node that a destination lacks -> the nearest simpler nodes, one named fallback each. Pure.

Every function keeps all text, in order. The writer that calls one adds the Loss, named after it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from bridge.content.cards.tree import (
    Alert,
    Asset,
    Badge,
    Carousel,
    Chart,
    Columns,
    Container,
    Context,
    Credit,
    Fields,
    File,
    Image,
    LabelledValue,
    Node,
    Nodes,
    Player,
    Poll,
    Progress,
    Prose,
    Rating,
    Section,
    Table,
    Task,
    Tasks,
)
from bridge.content.text.graphemes import display_width
from bridge.content.text.inlines import linked, moment_in_utc, plain_inlines
from bridge.content.text.plain import blocks_as_line
from bridge.content.text.tree import (
    Block,
    Break,
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
    Strong,
    Text,
    Timestamp,
)
from bridge.content.text.tree import Table as TextTable
from bridge.content.text.urls import safe_url
from bridge.model import Loss

Line = tuple[Inline, ...]

_ALERT_SIGNS = {"info": "ℹ️", "success": "✅", "warning": "⚠️", "error": "⛔"}
_TASK_SIGNS = {"pending": "⏳", "running": "🔄", "done": "✅", "failed": "❌"}
_BAR = 10
_SHORT = 50  # characters of a text that may share its line


def loss(node: Node | Asset, kind: str, what: str, shown_as: str = "", at: str = "") -> Loss:
    """Returns a Loss at the place of the node."""
    return Loss(path=at or getattr(node, "at", ""), kind=kind, what=what, shown_as=shown_as)


def prose(*blocks: Block, at: str = "", subtle: bool = False) -> Prose:
    """Returns a prose node of these blocks."""
    return Prose(blocks, at=at, subtle=subtle)


def line_prose(line: Line, at: str = "", *, subtle: bool = False) -> Prose:
    """Returns a prose node of one paragraph."""
    return Prose((Paragraph(line),), at=at, subtle=subtle)


# --- structure ------------------------------------------------------------------------------


def open_container(node: Container) -> Nodes:
    """Returns a container's own nodes with its head above and its foot below them."""
    return (*head_of_container(node), *node.nodes, *foot_of_container(node))


def head_of_container(node: Container) -> Nodes:
    """Returns a container's hero, author, linked title and subtitle, with the thumbnail at their
    side."""
    head: list[Node] = []
    if node.hero is not None:
        head.append(node.hero)
    if node.author is not None:
        head.append(credit_as_context(node.author))
    titled: list[Node] = []
    if node.title:
        title = linked(node.title, node.link)
        titled.append(prose(Heading(3, title), at=node.at))
    if node.subtitle:
        titled.append(line_prose(node.subtitle, node.at, subtle=True))
    if node.thumbnail is not None and titled:
        head.append(Section(tuple(titled), node.thumbnail, at=node.at))
    else:
        head += titled
        head += [node.thumbnail] if node.thumbnail is not None else []
    return tuple(head)


def foot_of_container(node: Container) -> Nodes:
    """Returns a container's source and time as small print."""
    if node.footer is None and node.time is None:
        return ()
    credit = node.footer or Credit((), at=node.at)
    parts = credit_as_context(credit).items if node.footer is not None else ()
    if node.time is not None:
        moment = line_prose((timestamp(node.time),), credit.at)
        parts = (*parts, moment)
    return (Context(parts, at=credit.at),)


def credit_as_context(credit: Credit) -> Context:
    """Returns a credit as small print: `[icon] name`, linked."""
    text: Line = linked(credit.text, credit.link) if credit.text else ()
    icon = (Image(credit.icon, size="icon", at=credit.at),) if credit.icon is not None else ()
    return Context((*icon, *((line_prose(text, credit.at),) if text else ())), at=credit.at)


def timestamp(unix: int) -> Timestamp:
    """Returns a moment in the reader's time zone, in UTC on platforms that do not know it.

    Args:
        unix: Seconds since 1970.
    """
    return Timestamp(unix, "f", moment_in_utc(unix))


def stack_columns(node: Columns) -> Nodes:
    """Returns the nodes of all columns, one column below the other."""
    return tuple(node for column in node.columns for node in column.nodes)


def is_decorative(node: Node) -> bool:
    """Whether the node is a small picture without text, link or description: an icon between
    texts."""
    if not isinstance(node, Image) or node.size not in ("icon", "small"):
        return False
    return not (node.title or node.link or node.asset.alt.strip() or node.asset.spoiler)


def short_texts(columns: Sequence[Nodes]) -> list[Prose | None]:
    """Returns for each column the short text that is its whole content, or None.

    Such a text is one line, and no large heading, unless all columns have the same size. Text that
    is larger than usual becomes bold.
    """
    sizes = {_size(nodes) for nodes in columns}
    alike = len(columns) > 1 and len(sizes) == 1 and None not in sizes
    return [
        _short_text(nodes) if alike or _size(nodes) in _USUAL_SIZES else None for nodes in columns
    ]


_USUAL_SIZES = ("small", "normal", "medium")


def _size(nodes: Nodes) -> str | None:
    """The size of a single line; None for everything else. A heading of the third level is hardly
    larger than text."""
    match nodes:
        case (Prose((Paragraph(),), size=size),):
            return size
        case (Prose((Heading(level),), size="normal" | "small"),):
            return "medium" if level > 2 else f"heading {level}"
        case _:
            return None


def _short_text(nodes: Nodes) -> Prose | None:
    match nodes:
        case (Prose((Paragraph(children) | Heading(_, children) as block,)) as only,):
            if any(isinstance(child, Break) for child in children):
                return None
            if not 0 < len(plain_inlines(children).strip()) <= _SHORT:
                return None
            if isinstance(block, Paragraph) and only.size in ("small", "normal"):
                return only
            strong = all(isinstance(child, Strong) for child in children)
            line = children if strong else (Strong(children),)
            return replace(only, text=(Paragraph(line),), size="normal")
        case _:
            return None


def columns_as_line(texts: Sequence[Prose]) -> Line:
    """Returns short texts side by side as one line; of two texts, the first becomes the label of
    the second."""
    lines = [blocks_as_line(text.text) for text in texts]
    if len(lines) == 2:
        label, value = lines
        styled = any(isinstance(inline, Strong | Link) for inline in (*label, *value))
        return (*(label if styled else (Strong(label),)), Text(" "), *value)
    return tuple(inline for line in lines for inline in (Text(" · "), *line))[1:]


def is_row_of_texts(node: Columns) -> bool:
    """Whether the columns can be a row of a table in a fixed-width font: short texts without
    links."""
    if len(node.columns) < 2 or any(column.link for column in node.columns):
        return False
    texts = short_texts([column.nodes for column in node.columns])
    return all(text is not None and _is_unlinked(text) for text in texts)


def columns_as_table(rows: Sequence[Columns]) -> Table:
    """Returns neighbouring rows of short texts as one table; a first row in bold is its header."""
    texts = [short_texts([column.nodes for column in row.columns]) for row in rows]
    cells = tuple(tuple((text,) if text else () for text in row) for row in texts)
    return Table(cells, header=all(map(_is_bold, cells[0])), at=rows[0].at)


def _is_unlinked(cell: Prose) -> bool:
    """Whether a code block can represent the whole cell."""
    return all(isinstance(inline, Text | Strong | Emphasis) for inline in blocks_as_line(cell.text))


def _is_bold(cell: Nodes) -> bool:
    lines = [blocks_as_line(node.text) for node in cell if isinstance(node, Prose)]
    return all(isinstance(node, Strong) for line in lines for node in line)


def stack_section(node: Section) -> Nodes:
    """Returns a section's nodes with its accessory before or after them."""
    return (node.accessory, *node.nodes) if node.leading else (*node.nodes, node.accessory)


def stack_carousel(node: Carousel) -> Nodes:
    """Returns the cards of a carousel, one below the other."""
    return node.cards


# --- text -----------------------------------------------------------------------------------


def fields_as_prose(node: Fields) -> Prose:
    """Returns `**label** value` lines; a value of several blocks is below its label."""
    return Prose(tuple(block for item in node.items for block in labelled(item)), at=node.at)


def labelled(field: LabelledValue) -> Iterator[Block]:
    """Yields the blocks of one field: the label in bold, followed by the value."""
    label: Line = (Strong(field.label),) if field.label else ()
    first, *rest = field.value or (Paragraph(()),)
    if isinstance(first, Paragraph):
        gap: Line = (Text(" "),) if label and first.children else ()
        yield Paragraph((*label, *gap, *first.children))
        yield from rest
    else:
        yield from (Paragraph(label),) if label else ()
        yield from field.value


def alert_as_prose(node: Alert) -> Prose:
    """Returns an alert as a quote that begins with the emoji of its level."""
    return Prose((Quote(lead(_sign(_ALERT_SIGNS[node.level]), node.text)),), at=node.at)


def badge_as_prose(node: Badge) -> Prose:
    """Returns a badge as bold text, its tooltip in brackets."""
    text: Line = (Strong(node.text),) if node.text else ()
    hint: Line = (Text(" ("), *node.hint, Text(")")) if node.hint and text else node.hint
    return line_prose((*text, *hint), node.at)


def progress_as_prose(node: Progress) -> Prose:
    """Returns a progress bar in characters: `label ▓▓▓░░░░░░░ 30 %`."""
    label: Line = (*node.label, Text(" ")) if node.label else ()
    if node.value is None or not node.max:
        return line_prose((*label, *_sign("⏳")), node.at)
    share = min(max(node.value / node.max, 0.0), 1.0)
    full = round(share * _BAR)
    bar = f"{'▓' * full}{'░' * (_BAR - full)} {share * 100:.0f} %"
    return line_prose((*label, Text(bar)), node.at)


def rating_as_prose(node: Rating) -> Prose:
    """Returns a rating in characters: `★★★★☆ 4.2/5 (37)`."""
    total = min(max(node.max, 1), 10)
    filled = min(max(round(node.value / max(node.max, 1) * total), 0), total)
    count = "" if node.count is None else f" ({node.count})"
    stars = f"{'★' * filled}{'☆' * (total - filled)} {node.value:g}/{node.max}{count}"
    return line_prose((Text(stars),), node.at)


def tasks_as_nodes(node: Tasks) -> Nodes:
    """Returns a title, then each task with the emoji of its status and its details below it."""
    title = (line_prose((Strong(node.title),), node.at),) if node.title else ()
    return (*title, *(task_node for task in node.tasks for task_node in _task(task)))


def _task(task: Task) -> Nodes:
    first = line_prose((*_sign(_TASK_SIGNS[task.status]), *task.title), task.at)
    sources = (line_prose(task.sources, task.at, subtle=True),) if task.sources else ()
    return (first, *task.details, *task.output, *sources)


def poll_as_nodes(node: Poll) -> Nodes:
    """Returns the question and its answers, with the votes where they are known."""
    items = tuple(
        ListItem((Paragraph(_answer(answer.emoji, answer.text, answer.votes)),))
        for answer in node.answers
    )
    blocks: list[Block] = [Paragraph((*_sign("📊"), Strong(node.question)))]
    blocks += [List(items)] if items else []
    nodes = [prose(*blocks, at=node.at)]
    if node.ends is not None and not node.closed:
        nodes.append(line_prose((Text("until "), timestamp(node.ends)), node.at, subtle=True))
    return tuple(nodes)


def _answer(emoji: str, text: Line, votes: int | None) -> Line:
    sign: Line = (Text(f"{emoji} "),) if emoji else ()
    return (*sign, *text, *(() if votes is None else (Text(f": {votes}"),)))


# --- tables and charts ----------------------------------------------------------------------


def chart_as_table(node: Chart) -> Table:
    """Returns a chart's data: a row for each label, a column for each series."""
    labels = list(dict.fromkeys(p.label for series in node.series for p in series.points))
    head = [node.x_title, *(series.name or node.y_title for series in node.series)]
    rows: list[list[str]] = [head]
    values = [{p.label: p.value for p in series.points} for series in node.series]
    rows += [
        [label, *(f"{value[label]:g}" if label in value else "" for value in values)]
        for label in labels
    ]
    if node.value is not None:
        rows.append(["", f"{node.value:g}"])
    cells = tuple(tuple(_cell(text, node.at) for text in row) for row in rows)
    return Table(cells, title=(Text(node.title),) if node.title else (), at=node.at)


def _cell(text: str, at: str) -> Nodes:
    return (line_prose((Text(text),), at),) if text else ()


def text_table(node: Table) -> tuple[TextTable, Nodes]:
    """Returns the text of a table's cells, and the nodes that are no text (pictures, actions)."""
    rest: list[Node] = []
    rows: list[tuple[Line, ...]] = []
    width = max((len(row) for row in node.rows), default=0)
    for row in node.rows:
        lines = [_cell_line(cell, rest) for cell in row]
        rows.append((*lines, *(((),) * (width - len(lines)))))
    header = rows[0] if node.header and rows else ((),) * width
    body = tuple(rows[1:] if node.header else rows)
    align = (*node.align, *((None,) * (width - len(node.align))))[:width]
    return TextTable(header, body, align), tuple(rest)


def _cell_line(cell: Nodes, rest: list[Node]) -> Line:
    line: list[Inline] = []
    for node in cell:
        text = _line_in_cell(node)
        if text is None:
            rest.append(node)
            continue
        line += [Break()] if line and text else []
        line += text
    return tuple(line)


def _line_in_cell(node: Node) -> Line | None:
    match node:
        case Prose(text):
            return blocks_as_line(text)
        case Badge():
            return blocks_as_line(badge_as_prose(node).text)
        case Progress():
            return blocks_as_line(progress_as_prose(node).text)
        case Rating():
            return blocks_as_line(rating_as_prose(node).text)
        case _:
            return None


def table_as_code(table: TextTable, width: int = 60) -> CodeBlock | None:
    """Returns a table as columns in a fixed-width block.

    Args:
        table: The table.
        width: The maximum width of the block, in cells of the font.

    Returns:
        The block; None if the table is wider than `width`.
    """
    rows = [
        [plain_inlines(cell).replace("\n", " ") for cell in row]
        for row in (table.header, *table.rows)
    ]
    columns = [max(display_width(row[i]) for row in rows) for i in range(len(table.header))]
    if sum(columns) + 3 * max(len(columns) - 1, 0) > width:
        return None
    lines = [_padded(row, columns, table.align) for row in rows]
    if any(rows[0]):
        lines.insert(1, "─┼─".join("─" * column for column in columns))
    else:
        del lines[0]
    return CodeBlock("\n".join(lines))


def _padded(row: Sequence[str], columns: Sequence[int], align: Sequence[str | None]) -> str:
    cells: list[str] = []
    for index, (text, width) in enumerate(zip(row, columns, strict=True)):
        room = width - display_width(text)
        alignment = align[index] if index < len(align) else None
        left = room if alignment == "right" else room // 2 if alignment == "center" else 0
        cells.append(" " * left + text + " " * (room - left))
    return " │ ".join(cells).rstrip()


def table_as_prose(table: TextTable) -> Document:
    """Returns a table as text: the header in bold, then each row as a list item with bars between
    its cells."""
    head: Line = _barred([(Strong(cell),) if cell else () for cell in table.header])
    items = tuple(ListItem((Paragraph(row),)) for cells in table.rows if (row := _barred(cells)))
    return (*((Paragraph(head),) if head else ()), *((List(items),) if items else ()))


def _barred(cells: Sequence[Line]) -> Line:
    """Cells with bars between them; no bar follows the last cell that has text."""
    line: list[Inline] = []
    end = 0
    for index, cell in enumerate(cells):
        line += [Text(" | ")] if index else []
        line += cell
        end = len(line) if cell else end
    return tuple(line[:end])


# --- media ----------------------------------------------------------------------------------


def image_as_prose(node: Image, url: str) -> Prose:
    """Returns a picture as text: `🖼 title (description)`, linked if there is a URL."""
    title = node.title or _text(node.asset.alt) or _text(node.asset.name) or (Text("image"),)
    linked_title = _linked(title, url or node.asset.page)
    return line_prose((*_sign("🖼"), *linked_title, *_beside(title, node.asset.alt)), node.at)


def file_as_prose(node: File, url: str) -> Prose:
    """Returns a file as text: `📎 title`, linked if there is a URL."""
    title = node.title or _text(node.asset.name) or _text(node.asset.alt) or (Text("file"),)
    return line_prose((*_sign("📎"), *_linked(title, url or node.asset.page)), node.at)


def player_as_nodes(node: Player, url: str) -> Nodes:
    """Returns a video or sound as a link behind an emoji, with author and description; its poster
    above."""
    sign = "🎬" if node.kind == "video" else "🔊"
    name = node.title or _text(node.asset.alt) or _text(node.asset.name) or (Text(node.kind),)
    linked_name, beside = _linked(name, node.link or url), (node.asset.alt, node.asset.name)
    lines: list[Block] = [Paragraph((*_sign(sign), *linked_name, *_beside(name, *beside)))]
    lines += [Paragraph(text) for text in (node.author, node.description) if text]
    poster = (Image(node.poster, at=node.at),) if node.poster is not None else ()
    return (*poster, prose(*lines, at=node.at))


def _beside(title: Line, *names: str) -> Line:
    """The other names of the asset, in brackets."""
    title_text = plain_inlines(title).strip()
    more = [name for name in dict.fromkeys(names) if name.strip() and name.strip() != title_text]
    return (Text(f" ({', '.join(more)})"),) if more else ()


def _linked(title: Line, url: str) -> Line:
    safe = safe_url(url) if url else None
    return (Link(safe, title),) if safe else title


# --- small ----------------------------------------------------------------------------------


def lead(sign: Line, document: Document) -> Document:
    """Returns the document with an emoji before its first text."""
    match document:
        case (Paragraph(children), *rest):
            return (Paragraph((*sign, *children)), *rest)
        case (Heading(level, children), *rest):
            return (Heading(level, (*sign, *children)), *rest)
        case _:
            return (Paragraph(sign), *document)


def _sign(emoji: str) -> Line:
    return (Emoji(emoji, emoji), Text(" "))


def _text(value: str) -> Line:
    return (Text(value),) if value.strip() else ()
