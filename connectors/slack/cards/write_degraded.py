"""Nodes without a Slack block, or with a block that cannot show all of them -> text; tasks ->
plans."""

from __future__ import annotations

from collections.abc import Iterable

from bridge.content.cards import degrade
from bridge.content.cards.tree import (
    Divider,
    Nodes,
    Prose,
    Task,
    Tasks,
)
from bridge.content.cards.writing import degraded
from bridge.content.text.inlines import plain_inlines
from bridge.content.text.tree import Document, Inline, Link, Table
from bridge.content.text.urls import safe_url
from connectors.slack.capabilities import TASK_TITLE, TASKS, URL
from connectors.slack.cards.write_pieces import Json, Piece, Writing
from connectors.slack.cards.write_size import size_of
from connectors.slack.cards.write_split import rich_text
from connectors.slack.cards.write_texts import length, lose_links, words

Line = tuple[Inline, ...]

_STATUS = {"pending": "pending", "running": "in_progress", "done": "complete", "failed": "error"}
_PLAN_CHARACTERS = 9_000
_NAMELESS = "…"


def write_divider(writing: Writing, node: Divider) -> None:
    """A divider block for a line; spacing without a line has no block."""
    if node.line:
        writing.pieces.append(Piece({"type": "divider"}))


write_alert = degraded(
    # The alert block is for modals only (catalog of blocks, 2026-08).
    degrade.alert_as_prose,
    lambda node: ("alert_as_prose", f"the level {node.level}", "a quote behind a sign"),
)
write_badge = degraded(
    degrade.badge_as_prose, lambda node: ("icon", node.icon, "") if node.icon else None
)
write_progress = degraded(
    degrade.progress_as_prose, lambda _: ("progress_as_prose", "a bar", "a bar of signs")
)
write_rating = degraded(degrade.rating_as_prose)
write_poll = degraded(
    degrade.poll_as_nodes,
    lambda node: ("poll_as_nodes", plain_inlines(node.question), "its answers as a list"),
)


# --- tasks ----------------------------------------------------------------------------------


def write_tasks(writing: Writing, node: Tasks) -> None:
    if not node.tasks and not writing.is_inside and _is_title(node):
        writing.pieces.append(Piece({"type": "plan", "title": words(node.title)}))
        return
    before = writing.checkpoint()
    cards = [] if writing.is_inside else _cards(writing, node)
    if cards:
        writing.pieces += [Piece(block) for block in _as_blocks(node, cards)]
        return
    writing.roll_back_to(before)
    writing.lose(node.at, "tasks_as_nodes", f"{len(node.tasks)} tasks", "a list")
    writing.write(degrade.tasks_as_nodes(node))


def _is_title(node: Tasks) -> bool:
    return 0 < length(words(node.title)) <= TASK_TITLE


def _as_blocks(node: Tasks, cards: list[Json]) -> Iterable[Json]:
    """A plan block if its tasks need one: a task card alone cannot be pending."""
    if node.title or any(card["status"] == "pending" for card in cards):
        return ({"type": "plan", "title": words(node.title) or _NAMELESS, "tasks": cards},)
    return cards


def _cards(writing: Writing, node: Tasks) -> list[Json]:
    """The blocks of all tasks; [] when one of them, or all together, exceed a limit."""
    if len(node.tasks) > TASKS or length(words(node.title)) > TASK_TITLE:
        return []
    cards: list[Json] = []
    for task in node.tasks:
        card = _card(writing, task)
        if card is None:
            return []
        cards.append(card)
    lose_links(writing, node.title, node.at)
    return cards if sum(map(size_of, cards)) <= _PLAN_CHARACTERS else []


def _card(writing: Writing, task: Task) -> Json | None:
    title = words(task.title)
    if length(title) > TASK_TITLE:
        return None
    lose_links(writing, task.title, task.at)
    card: Json = {
        "type": "task_card",
        "task_id": writing.numbered_id("task"),
        "title": title or _NAMELESS,
    }
    card["status"] = _STATUS[task.status]
    sources = _sources(task.sources)
    for key, nodes in (("details", task.details), ("output", task.output)):
        document = _document(nodes)
        if document is None or sources is None:
            return None
        if elements := rich_text(writing, document, task.at):
            card[key] = {"type": "rich_text", "elements": elements}
    if sources:
        card["sources"] = sources
    return card


def _document(nodes: Nodes) -> Document | None:
    """The document of nodes that are only text; else None."""
    blocks: list[object] = []
    for node in nodes:
        if not isinstance(node, Prose) or any(isinstance(block, Table) for block in node.text):
            return None
        blocks += node.text
    return tuple(blocks)  # pyright: ignore[reportReturnType]  # blocks of text


def _sources(line: Line) -> list[Json] | None:
    """The links of the sources; None when there is other text between them."""
    bodies: list[Json] = []
    for node in line:
        if isinstance(node, Link) and (url := safe_url(node.url)) and len(url) <= URL:
            text = plain_inlines(node.children).strip()
            bodies.append({"type": "url", "url": url, "text": text or url})
        elif any(char.isalnum() for char in plain_inlines((node,))) or isinstance(node, Link):
            return None
    return bodies
