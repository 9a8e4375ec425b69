"""Blocks that combine several parts but no further blocks: cards, carousels, tasks and plans."""

from __future__ import annotations

from typing import Literal, cast

from bridge.content.cards.tree import (
    Actions,
    Badge,
    Carousel,
    Container,
    Node,
    Nodes,
    Prose,
    Task,
    Tasks,
)
from bridge.content.text.tree import Inline, Link, Text
from connectors.slack.cards.read_elements import read_element
from connectors.slack.cards.read_json import items_at, string_at, url_at
from connectors.slack.cards.read_media import picture
from connectors.slack.cards.read_rows import rows
from connectors.slack.cards.read_texts import Line, line, prose, words
from connectors.slack.cards.read_unknown import unknown
from connectors.slack.json_values import Json

_STATUS: dict[str, Literal["pending", "running", "done", "failed"]] = {
    "pending": "pending",
    "in_progress": "running",
    "complete": "done",
    "error": "failed",
}


# --- cards ----------------------------------------------------------------------------------


def card(block: Json, at: str, team: str) -> list[Node]:
    """A container with the texts and buttons of a card; text below the body is small."""
    icon = picture(block.get("icon"), f"{at}/icon", team, "small")
    node = Container(
        _inside(block, at, team),
        form="card",
        title=line(block.get("title"), team),
        subtitle=line(block.get("subtitle"), team),
        hero=picture(block.get("hero_image"), f"{at}/hero_image", team),
        thumbnail=icon,
        at=at,
    )
    has_content = node.nodes or node.title or node.subtitle or node.hero or node.thumbnail
    return [node] if has_content else []


def _inside(block: Json, at: str, team: str) -> Nodes:
    nodes: list[Node] = []
    icon = block.get("slack_icon")
    if isinstance(icon, dict) and (name := string_at(cast("Json", icon), "name")):
        nodes.append(Badge(icon=name, at=f"{at}/slack_icon"))
    if body := prose(block.get("body"), f"{at}/body", team):
        nodes.append(body)
    if small := prose(block.get("subtext"), f"{at}/subtext", team):
        nodes.append(Prose(small.text, subtle=True, at=small.at))
    actions = items_at(block, "actions")
    nodes += rows(actions, f"{at}/actions", at, team, read_element, Actions)
    return tuple(nodes)


def carousel(block: Json, at: str, team: str) -> list[Node]:
    """A carousel; an element that is not a card gets a container of its own."""
    cards = tuple(
        _leaf(item, f"{at}/elements/{index}", team)
        for index, item in enumerate(items_at(block, "elements"))
    )
    return [Carousel(cards, at=at)] if cards else []


def _leaf(value: object, at: str, team: str) -> Container:
    block = cast("Json", value) if isinstance(value, dict) else {}
    read = card(block, at, team) if block.get("type") == "card" else []
    match read:
        case [Container() as container]:
            return container
        case _:
            return Container((unknown(value, at, team),), form="card", at=at)


# --- tasks ----------------------------------------------------------------------------------


def task_card(block: Json, at: str, team: str) -> list[Node]:
    """The task list of a task card."""
    return [Tasks((_task(block, at, team),), at=at)]


def plan(block: Json, at: str, team: str) -> list[Node]:
    """The task list of a plan block."""
    tasks = tuple(
        _any_task(item, f"{at}/tasks/{index}", team)
        for index, item in enumerate(items_at(block, "tasks"))
    )
    title = line(block.get("title"), team)
    return [Tasks(tasks, title=title, at=at)] if tasks or title else []


def _any_task(value: object, at: str, team: str) -> Task:
    if isinstance(value, dict):
        return _task(cast("Json", value), at, team)
    return Task(line(value, team), details=(unknown(value, at, team),), at=at)


def _task(task: Json, at: str, team: str) -> Task:
    return Task(
        line(task.get("title"), team),
        _STATUS.get(string_at(task, "status"), "pending"),
        _field_nodes(task, "details", at, team),
        _field_nodes(task, "output", at, team),
        _sources(task),
        at=at,
    )


def _field_nodes(task: Json, key: str, at: str, team: str) -> Nodes:
    value = task.get(key)
    if value is None:
        return ()
    place = f"{at}/{key}"
    if text := prose(value, place, team):
        return (text,)
    native = unknown(value, place, team)
    return (native,) if native.fallback else ()


def _sources(task: Json) -> Line:
    """Links, one after the other."""
    run: list[Inline] = []
    for item in items_at(task, "sources"):
        if not isinstance(item, dict):
            continue
        source = cast("Json", item)
        url = url_at(source, "url")
        label = words(source.get("text")) or url
        if label.strip():
            run += [Text(", ")] if run else []
            run.append(Link(url, (Text(label),)) if url else Text(label))
    return tuple(run)
