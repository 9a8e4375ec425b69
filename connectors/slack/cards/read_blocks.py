"""Slack blocks -> nodes of a card. Total: a block that violates Slack's schema is a Native node.

Source: npm @slack/types 3.2.0 and docs.slack.dev "Blocks" (2026-08).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal, cast

from bridge.content.cards.degrade import head_of_container
from bridge.content.cards.tree import (
    Actions,
    Alert,
    Asset,
    Button,
    Container,
    Context,
    Divider,
    Fields,
    File,
    Image,
    Input,
    Native,
    Node,
    Nodes,
    Prose,
    Section,
)
from bridge.content.text.tree import Heading, Link, Paragraph, Text
from connectors.slack.cards.read_boxes import card, carousel, plan, task_card
from connectors.slack.cards.read_data import chart, table
from connectors.slack.cards.read_elements import is_element, read_element
from connectors.slack.cards.read_files import read_file
from connectors.slack.cards.read_json import items_at, string_at, url_at
from connectors.slack.cards.read_markdown import markdown_block_to_text
from connectors.slack.cards.read_media import file_id, is_picture, picture, video
from connectors.slack.cards.read_rows import rows
from connectors.slack.cards.read_texts import document, field, line, prose
from connectors.slack.cards.read_unknown import unknown
from connectors.slack.cards.schemas import BLOCKS
from connectors.slack.json_values import Json

Reader = Callable[[Json, str, str], list[Node]]

_DEEPEST = 16  # nesting of containers; deeper ones are replaced by their content
_LONGEST = 400  # of a pointer; deeper blocks get the pointer of their ancestor


def read_blocks(blocks: Sequence[object], at: str, team: str, depth: int = 0) -> list[Node]:
    """The nodes of all blocks of a list at the pointer `at`, in order."""
    nodes: list[Node] = []
    for index, block in enumerate(blocks):
        nodes += read_block(block, f"{at}/{index}", team, depth)
    return nodes


def read_block(block: object, at: str, team: str, depth: int = 0) -> list[Node]:
    """The nodes of one block; none when it shows nothing."""
    if not isinstance(block, dict):
        return [unknown(block, at, team)]
    members = cast("Json", block)
    kind = members.get("type")
    if kind == "container":
        return _container(members, at, team, depth) or _native(members, at, team)
    reader = _READERS.get(kind) if isinstance(kind, str) else None
    if reader is None:
        return [_named(members, at, team)]
    return reader(members, at, team) or _native(members, at, team)


def is_block(kind: object) -> bool:
    """Whether the type is a known block type."""
    return isinstance(kind, str) and (kind in _READERS or kind == "container")


def _native(block: Json, at: str, team: str) -> list[Node]:
    """A block of a known type that could not be read: kept if any of it can be shown."""
    native = unknown(block, at, team)
    return [native] if native.fallback else []


def _named(block: Json, at: str, team: str) -> Native:
    """A block of an unknown type; it is named by its type when it has no text."""
    native = unknown(block, at, team)
    kind = block.get("type")
    if native.fallback or not isinstance(kind, str):
        return native
    return replace(native, fallback=(Prose((Paragraph((Text(f"[{kind}]"),)),), at=at),))


# --- text -----------------------------------------------------------------------------------


def _section(block: Json, at: str, team: str) -> list[Node]:
    nodes: list[Node] = []
    if (text := block.get("text")) is not None and (
        body := prose(text, f"{at}/text", team)
    ) is not None:
        nodes.append(body)
    if (values := block.get("fields")) is not None:
        nodes += _fields(values, f"{at}/fields", team)
    accessory = block.get("accessory")
    if accessory is None:
        return nodes
    place = f"{at}/accessory"
    accessory_node = _accessory(accessory, place, team)
    if accessory_node is None:
        return nodes
    return [accessory_node] if not nodes else [Section(tuple(nodes), accessory_node, at=at)]


def _fields(values: object, at: str, team: str) -> list[Node]:
    if not isinstance(values, list):
        return [unknown(values, at, team)]

    def read(value: object, place: str, team: str) -> Sequence[Any]:
        item = field(value, place, team)
        return () if item is None else (item,)

    return rows(cast("list[object]", values), at, at, team, read, Fields)


def _accessory(value: object, at: str, team: str) -> Node | None:
    """The node of an accessory; None for an image that shows nothing."""
    if (node := picture(value, at, team, "small")) is not None:
        return node
    match read_element(value, at, team):
        case [element]:
            return element
        case []:
            node = unknown(value, at, team)
            return node if node.fallback or not is_picture(value) else None
        case several:
            return Actions(tuple(several), at=at)


def _header(block: Json, at: str, team: str) -> list[Node]:
    text = line(block.get("text"), team)
    level = block.get("level")
    size = level if isinstance(level, int) and 1 <= level <= 4 else 2
    return [Prose((Heading(size, text),), at=at)] if text else []


def _rich_text(block: Json, at: str, team: str) -> list[Node]:
    body = prose(block, at, team)
    return [body] if body is not None else []


def _markdown(block: Json, at: str, team: str) -> list[Node]:
    document_ = markdown_block_to_text(string_at(block, "text"), team)
    return [Prose(document_, at=at)] if document_ else []


def _context(block: Json, at: str, team: str) -> list[Node]:
    elements = items_at(block, "elements")
    return rows(elements, f"{at}/elements", at, team, _in_context, Context)


def _in_context(value: object, at: str, team: str) -> Sequence[Prose | Image]:
    if not is_element(value) and (text_node := prose(value, at, team)) is not None:
        return (text_node,)
    icon = picture(value, at, team, "icon")
    return (icon,) if icon is not None else ()


def _alert(block: Json, at: str, team: str) -> list[Node]:
    text = document(block.get("text"), team)
    level: Literal["info", "success", "warning", "error"]
    match block.get("level"):
        case "success" | "warning" | "error" as status:
            level = status
        case _:
            level = "info"
    return [Alert(level, text, at=at)] if text else []


def _divider(block: Json, at: str, team: str) -> list[Node]:
    return [Divider(at=at)]


# --- actions and inputs ---------------------------------------------------------------------


def _actions(block: Json, at: str, team: str) -> list[Node]:
    elements = items_at(block, "elements")
    return rows(elements, f"{at}/elements", at, team, read_element, Actions)


def _input(block: Json, at: str, team: str) -> list[Node]:
    """An input with its label; an element that is not an input is placed below it."""
    label, hint = line(block.get("label"), team), line(block.get("hint"), team)
    match read_element(block.get("element"), f"{at}/element", team):
        case [element] if isinstance(element, Input):
            labelled = replace(
                element,
                label=label,
                hint=hint,
                required=block.get("optional") is not True,
                dispatches=block.get("dispatch_action") is True,
            )
            return [labelled]
        case _:
            return []


# --- pictures, films, files -----------------------------------------------------------------


def _image(block: Json, at: str, team: str) -> list[Node]:
    image = picture(block, at, team)
    return [image] if image is not None else []


def _file(block: Json, at: str, team: str) -> list[Node]:
    """A remote file: its details are in `file`, or only its ids are present."""
    if isinstance(file := block.get("file"), dict):
        return read_file(cast("Json", file), f"{at}/file")
    native, external = file_id(block.get("file_id")), string_at(block, "external_id")
    fallback: Nodes = (File(Asset(file_id=native, name=external), at=at),)
    return [Native(BLOCKS, block, fallback, at=at)] if native or external else []


def _call(block: Json, at: str, team: str) -> list[Node]:
    """A call: its name as a link to join it."""
    call: object = block.get("call")
    inner = cast("Json", call).get("v1") if isinstance(call, dict) else None
    details = cast("Json", inner) if isinstance(inner, dict) else {}
    url = url_at(details, "join_url")
    name = Text(string_at(details, "name").strip() or "Call")
    title = Paragraph((Link(url, (name,)) if url else name,))
    return [Native(BLOCKS, block, (Prose((title,), at=at),), at=at)]


def _share_shortcut(block: Json, at: str, team: str) -> list[Node]:
    """A shared workflow: its name, its description, a button that starts it."""
    title, url = line(block.get("title"), team), url_at(block, "url") or url_at(block, "share_url")
    nodes: list[Node] = []
    if title:
        nodes.append(Prose((Paragraph((Link(url, title),) if url else title),), at=at))
    if description := prose(block.get("description"), f"{at}/description", team):
        nodes.append(description)
    if url and (label := line(block.get("button_label"), team)):
        nodes.append(Actions((Button(label, does="open", url=url, at=at),), at=at))
    return [Native(BLOCKS, block, tuple(nodes), at=at)] if nodes else []


# --- containers -----------------------------------------------------------------------------


def _container(block: Json, at: str, team: str, depth: int) -> list[Node]:
    if depth >= _DEEPEST:
        return list(_flat(block, at, team))
    inner = read_blocks(items_at(block, "child_blocks"), f"{at}/child_blocks", team, depth + 1)
    node = _container_with(block, at, team, tuple(inner))
    return [node] if inner or _has_head(node) else []


def _container_with(block: Json, at: str, team: str, nodes: Nodes) -> Container:
    foldable = block.get("is_collapsible") is True
    return Container(
        nodes,
        title=line(block.get("rich_text_title"), team) or line(block.get("title"), team),
        subtitle=line(block.get("subtitle"), team),
        thumbnail=picture(block.get("icon"), f"{at}/icon", team, "small"),
        collapsed=block.get("default_collapsed") is True if foldable else None,
        at=at,
    )


def _has_head(node: Container) -> bool:
    return bool(node.title or node.subtitle or node.thumbnail)


def _flat(block: Json, at: str, team: str) -> Iterator[Node]:
    """The titles and content of nested containers, one after the other; without recursion."""
    stack = [_level([block], at, None)]
    while stack:
        item, place = next(stack[-1], (None, ""))
        if not place:
            stack.pop()
        elif isinstance(item, dict) and cast("Json", item).get("type") == "container":
            inner = cast("Json", item)
            yield from head_of_container(_container_with(inner, place, team, ()))
            stack.append(_level(items_at(inner, "child_blocks"), place, "child_blocks"))
        else:
            yield from read_block(item, place, team, _DEEPEST)


def _level(blocks: Sequence[object], at: str, key: str | None) -> Iterator[tuple[object, str]]:
    for index, block in enumerate(blocks):
        yield block, at if key is None or len(at) > _LONGEST else f"{at}/{key}/{index}"


# --- block types ----------------------------------------------------------------------------


_READERS: dict[str, Reader] = {
    "section": _section,
    "header": _header,
    "divider": _divider,
    "image": _image,
    "context": _context,
    "context_actions": _actions,
    "actions": _actions,
    "input": _input,
    "rich_text": _rich_text,
    "markdown": _markdown,
    "alert": _alert,
    "video": video,
    "table": table,
    "data_table": table,
    "data_visualization": chart,
    "card": card,
    "carousel": carousel,
    "task_card": task_card,
    "plan": plan,
    "file": _file,
    "call": _call,
    "share_shortcut": _share_shortcut,
}
