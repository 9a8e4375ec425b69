"""Nodes without a Discord component -> texts with the same content, in order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from math import isfinite

from bridge.content.cards.degrade import (
    alert_as_prose,
    badge_as_prose,
    is_decorative,
    labelled,
    lead,
    line_prose,
    poll_as_nodes,
    progress_as_prose,
    rating_as_prose,
    tasks_as_nodes,
)
from bridge.content.cards.tree import (
    Alert,
    Badge,
    Context,
    Divider,
    Fields,
    Gallery,
    Image,
    LabelledValue,
    Node,
    Nodes,
    Progress,
    Prose,
    Rating,
    Style,
    Tasks,
)
from bridge.content.cards.writing import degraded
from bridge.content.text.tree import Break, Emoji, Inline, Paragraph, Text
from connectors.discord.cards import schemas
from connectors.discord.cards.colors import color_of
from connectors.discord.cards.write_media import (
    linked,
    lose_decoration,
    write_gallery,
)
from connectors.discord.cards.write_state import Box, Json, Writing
from connectors.discord.cards.write_text import (
    as_it_is,
    is_small_print,
    joined,
    line_in,
    lines_of,
    say,
    say_small,
    supported_markdown,
)

Line = tuple[Inline, ...]

_ALERTS: dict[str, tuple[Style, str]] = {
    "info": ("accent", "ℹ️"),
    "success": ("good", "✅"),
    "warning": ("warning", "⚠️"),
    "error": ("attention", "⛔"),
}

# --- text -----------------------------------------------------------------------------------


def write_divider(w: Writing, node: Divider) -> None:
    body: Json = {"type": schemas.SEPARATOR}
    if not node.line:
        body["divider"] = False
    if node.large:
        body["spacing"] = 2
    w.add(body)


def write_context(w: Writing, node: Context) -> None:
    """Write a line of small print; items that do not fit a line are written separately."""
    pictures = tuple(item for item in node.items if isinstance(item, Image))
    if all(map(is_decorative, node.items)):
        for picture in pictures:
            lose_decoration(w, picture)
        return
    if len(pictures) == len(node.items):
        write_gallery(w, Gallery(pictures, at=node.at))
        return
    if not is_small_print(Context(tuple(item for item in node.items if isinstance(item, Prose)))):
        separate = (
            replace(item, subtle=True) if isinstance(item, Prose) else item for item in node.items
        )
        w.write(separate)
        return
    lines = (
        _small_image(w, item) if isinstance(item, Image) else lines_of(item) for item in node.items
    )
    say_small(w, joined(lines), node.at)


def _small_image(w: Writing, node: Image) -> Line:
    """Return a picture in small print as its title: Discord has no pictures of that size."""
    asset = node.asset
    words = asset.alt or asset.name or w.url_of(asset) or "picture"
    w.lose(node.at, "small_picture", words, "its title" if node.title else "")
    return linked(w, node.title, node.link, node.at)


def write_fields(w: Writing, node: Fields) -> None:
    """Write fields as lines `**label** value`."""
    if sum(item.short for item in node.items) > 1:
        w.lose(node.at, "fields_as_prose", "fields side by side", "lines")
    lines = [_field(w, item) for item in node.items]
    say(w, "\n".join([line for line in lines if line.strip()]))


def _field(w: Writing, node: LabelledValue) -> str:
    label, value = as_it_is(node.label), as_it_is(line_in(node.value))
    if label and value:
        return f"**{label}** {value}"
    return supported_markdown(w, tuple(labelled(node)), node.at)


# --- alerts, progress, tasks, polls ---------------------------------------------------------


def write_alert(w: Writing, node: Alert) -> None:
    """Write a container in the colour of its level; inside a container, a quote with its sign."""
    if w.box is not None:
        w.lose(node.at, "alert_as_prose", node.level, "a quote")
        say(w, supported_markdown(w, alert_as_prose(node).text, node.at))
        return
    style, sign = _ALERTS[node.level]
    w.box = Box(color_of(style, None), spoiler=False)
    say(w, supported_markdown(w, lead((Emoji(sign, sign), Text(" ")), node.text), node.at))
    w.box = None


def write_badge(w: Writing, node: Badge) -> None:
    lost = " ".join(text for text in (node.icon, node.style) if text and text != "default")
    w.lose(node.at, "badge_as_prose", lost or "badge", "words")
    say(w, supported_markdown(w, badge_as_prose(node).text, node.at))


def write_progress(w: Writing, node: Progress) -> None:
    is_number = node.value is not None and isfinite(node.value) and isfinite(node.max)
    w.lose(node.at, "progress_as_prose", "bar", "signs")
    say(
        w,
        supported_markdown(
            w, progress_as_prose(node if is_number else replace(node, value=None)).text, node.at
        ),
    )


def write_rating(w: Writing, node: Rating) -> None:
    value = node.value if isfinite(node.value) else 0.0
    w.lose(node.at, "rating_as_prose", "stars", "signs")
    say(w, supported_markdown(w, rating_as_prose(replace(node, value=value)).text, node.at))


def write_tasks(w: Writing, node: Tasks) -> None:
    w.lose(node.at, "tasks_as_nodes", f"{len(node.tasks)} tasks", "lines behind signs")
    w.write(_lines_joined(tasks_as_nodes(node)))


def _lines_joined(nodes: Nodes) -> Iterator[Node]:
    """Yield the nodes with adjacent lines joined into one text."""
    for is_line, group in groupby(nodes, _is_plain_line):
        if is_line:
            lines = [lines_of(line_node) for line_node in group if isinstance(line_node, Prose)]
            spaced = [inline for line in lines for inline in (Break(), *line)]
            yield line_prose(tuple(spaced[1:]), getattr(nodes[0], "at", ""))
        else:
            yield from group


def _is_plain_line(node: Node) -> bool:
    match node:
        case Prose((Paragraph(),) as text):
            return node == Prose(text)
        case _:
            return False


# A Discord poll would count its votes separately from the original's.
write_poll = degraded(
    poll_as_nodes,
    lambda node: (
        "poll_as_prose",
        "poll" + " with several answers" * node.multiple + ", closed" * node.closed,
        "its question and answers",
    ),
)
write_native = degraded(
    lambda node: node.fallback,
    lambda node: ("native", node.schema_id, "what it says" if node.fallback else ""),
)
