"""Actions of Adaptive Cards -> buttons, and links of pictures, lines and rows."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import Literal

from pydantic import JsonValue

from bridge.content.cards.tree import (
    Actions,
    Asset,
    Button,
    Columns,
    Image,
    Node,
    Nodes,
    Prose,
    Section,
)
from bridge.content.text.inlines import merge_texts, plain_inlines
from bridge.content.text.plain import blocks_as_line
from bridge.content.text.tree import Emphasis, Heading, Inline, Link, Paragraph, Strong, Text
from bridge.content.text.urls import safe_url
from connectors.teams.cards.json_values import Json, choice_of, flag, items, object_at, string
from connectors.teams.cards.reading import ElementReader, Reading, as_it_is, targets_of

Line = tuple[Inline, ...]
Does = Literal["press", "submit", "open", "reveal", "toggle"]

_STYLES: dict[str, Literal["good", "danger"]] = {"positive": "good", "destructive": "danger"}
_NAMELESS = {
    "Action.OpenUrl": "Open",
    "Action.OpenUrlDialog": "Open",
    "Action.Submit": "Select",
    "Action.Execute": "Select",
    "Action.ResetInputs": "Reset",
    "Action.ToggleVisibility": "",  # the picture or row of the action is description enough
    "Action.InsertImage": "Insert image",
}


def read_actions(reading: Reading, holder: Json, at: str, depth: int) -> list[Node]:
    """Return the `actions` of a card or an action set as one row; other nodes split it."""
    if not (several := items(holder, "actions")):
        return []
    place = f"{at}/actions"
    rows = join_rows(reading.nodes(several, place, depth))
    if len(rows) == 1 and isinstance(only := rows[0], Actions):
        return [Actions(only.items, at=place)]
    return rows


def join_rows(nodes: list[Node]) -> list[Node]:
    """Merge consecutive rows of buttons; the merged row has the place of the first."""
    rows: list[Node] = []
    for is_row, group in groupby(nodes, lambda node: isinstance(node, Actions)):
        several = list(group)
        if is_row and len(several) > 1:
            inner = tuple(item for row in several if isinstance(row, Actions) for item in row.items)
            rows.append(Actions(inner, at=several[0].at))
        else:
            rows += several
    return rows


# --- buttons --------------------------------------------------------------------------------


def _open(reading: Reading, item: Json, at: str, depth: int) -> list[Node]:
    return _row(reading, item, _button(reading, item, at, "open", url=string(item, "url")), depth)


def _submit(reading: Reading, item: Json, at: str, depth: int) -> list[Node]:
    """Read a submit action; `data.msteams` of type signin opens a page instead."""
    extension = object_at(item, "data", "msteams")
    alone = not reading.asks or choice_of(item, "associatedInputs") == "none"
    button = _button(reading, item, at, "press" if alone else "submit", value=item.get("data"))
    if choice_of(extension, "type") == "signin" and (url := safe_url(string(extension, "value"))):
        button = replace(button, does="open", url=url)
    return _row(reading, item, button, depth)


def _show_card(reading: Reading, item: Json, at: str, depth: int) -> list[Node]:
    nodes = reading.nodes(item.get("card"), f"{at}/card", depth + 1)
    return _row(reading, item, _button(reading, item, at, "reveal", nodes=tuple(nodes)), depth)


def _popover(reading: Reading, item: Json, at: str, depth: int) -> list[Node]:
    nodes = reading.nodes(item.get("content"), f"{at}/content", depth + 1)
    return _row(reading, item, _button(reading, item, at, "reveal", nodes=tuple(nodes)), depth)


def _toggle(reading: Reading, item: Json, at: str, depth: int) -> list[Node]:
    """Read a toggle; the value has the targets if they name a visibility. A toggle without title
    and targets gives nothing."""
    if not (targets := targets_of(item)) and not string(item, "title").strip():
        return []
    several = items(item, "targetElements")
    explicit = any(isinstance(target, dict) and "isVisible" in target for target in several)
    value: JsonValue = several if explicit else None
    button = _button(reading, item, at, "toggle", targets=targets, value=value)
    return _row(reading, item, button, depth)


def _local(reading: Reading, item: Json, at: str, depth: int) -> list[Node]:
    """Read a client action of Teams: native, with a disabled button as fallback."""
    url = safe_url(string(item, "url")) or ""
    button = _button(reading, item, at, "open" if url else "press", url=url)
    row = _row(reading, item, button if url else replace(button, disabled=True), depth)
    return as_it_is(item, row, at)


ACTIONS: dict[str, ElementReader] = {
    "Action.OpenUrl": _open,
    "Action.OpenUrlDialog": _open,
    "Action.Submit": _submit,
    "Action.Execute": _submit,
    "Action.ShowCard": _show_card,
    "Action.Popover": _popover,
    "Action.ToggleVisibility": _toggle,
    "Action.ResetInputs": _local,
    "Action.InsertImage": _local,
}


def _button(
    reading: Reading,
    item: Json,
    at: str,
    does: Does,
    *,
    value: JsonValue = None,
    url: str = "",
    nodes: Nodes = (),
    targets: tuple[str, ...] = (),
) -> Button:
    hint = reading.text(item, "tooltip") if "tooltip" in item else ""
    label = reading.line(item, "title")
    if not label:
        words = hint or _name(item)
        hint, label = "", (Text(words),) if words else ()
    if "dialogTitle" in item:
        hint = f"{hint} {reading.text(item, 'dialogTitle')}".strip()
    return Button(
        label,
        does=does,
        id=string(item, "verb") or string(item, "id"),
        value=value,
        url=url,
        nodes=nodes,
        targets=targets,
        style=_STYLES.get(choice_of(item, "style"), "default"),
        icon=_icon(item),
        hint=hint,
        disabled="isEnabled" in item and not flag(item, "isEnabled", default=True),
        secondary=choice_of(item, "mode") == "secondary",
        at=at,
    )


def _name(item: Json) -> str:
    return _NAMELESS.get(string(item, "type"), "Show more")


def _icon(item: Json) -> Asset | None:
    """Return the icon: a picture, or `icon:Calendar,Filled` of the platform's own set."""
    url = string(item, "iconUrl")
    if not url:
        return None
    return Asset(name=url) if url.lower().startswith("icon:") else Asset(url=url)


def _row(reading: Reading, item: Json, button: Button, depth: int) -> list[Node]:
    """Return a button with the buttons of its menu."""
    row: list[Node] = [Actions((button,), at=button.at)]
    if "menuActions" not in item:
        return row
    menu = reading.nodes(item["menuActions"], f"{button.at}/menuActions", depth + 1)
    return join_rows([*row, *map(_secondary, menu)])


def _secondary(node: Node) -> Node:
    if not isinstance(node, Actions):
        return node
    return replace(
        node,
        items=tuple(
            replace(item, secondary=True) if isinstance(item, Button) else item
            for item in node.items
        ),
    )


# --- selectAction -----------------------------------------------------------------------


def selected_link(item: Json) -> str:
    """Return the link of an element's selectAction; empty for other actions."""
    action = item.get("selectAction")
    if not isinstance(action, dict) or action.get("type") != "Action.OpenUrl":
        return ""
    if (
        "requires" in action
        or "menuActions" in action
        or not flag(action, "isEnabled", default=True)
    ):
        return ""
    return safe_url(string(action, "url")) or ""


def selected_nodes(reading: Reading, item: Json, at: str, depth: int) -> list[Node]:
    """Return an element's selectAction as a button."""
    if "selectAction" not in item:
        return []
    return reading.nodes(item["selectAction"], f"{at}/selectAction", depth + 1)


def with_selected(
    reading: Reading, item: Json, nodes: list[Node], at: str, depth: int
) -> list[Node]:
    """Return an element's nodes with its selectAction: as a link if the nodes are one picture, one
    line or a row with text, otherwise as a button after them."""
    if "selectAction" not in item:
        return nodes
    if (url := selected_link(item)) and len(nodes) == 1:
        action = object_at(item, "selectAction")
        title = reading.text(action, "title") or reading.text(action, "tooltip")
        if (linked := _linked(nodes[0], url, title)) is not None:
            return [linked]
    return [*nodes, *selected_nodes(reading, item, at, depth)]


def _linked(node: Node, url: str, title: str) -> Node | None:
    """Return the node with a link, or None if words of the action would be lost.

    In a row, a title that adds words is appended to the first text.
    """
    match node:
        case Image(asset, link=""):
            if title and asset.alt and title != asset.alt:
                return None
            return replace(node, link=url, asset=replace(asset, alt=asset.alt or title))
        case Prose((Paragraph(children) | Heading(_, children) as block,)):
            if not all(isinstance(child, Text | Strong | Emphasis) for child in children):
                return None
            if title and not _says((node,), title):
                return None
            return replace(node, text=(replace(block, children=(Link(url, children),)),))
        case Columns(columns):
            title = "" if any(_says(cell.nodes, title) for cell in columns) else title
            for number, column in enumerate(columns):
                if (nodes := _first_linked(column.nodes, url, title)) is not None:
                    linked = replace(column, nodes=nodes)
                    return replace(
                        node, columns=(*columns[:number], linked, *columns[number + 1 :])
                    )
            return None
        case Section(nodes):
            title = "" if _says(nodes, title) else title
            linked_nodes = _first_linked(nodes, url, title)
            return None if linked_nodes is None else replace(node, nodes=linked_nodes)
        case _:
            return None


def _says(nodes: Nodes, title: str) -> bool:
    """Return whether one of the texts contains the title."""
    texts = (blocks_as_line(node.text) for node in nodes if isinstance(node, Prose))
    return any(_spaced(title) in _spaced(plain_inlines(text)) for text in texts)


def _spaced(text: str) -> str:
    """Return the words between spaces, for a search of whole words."""
    return f" {' '.join(text.casefold().split())} "


def _first_linked(nodes: Nodes, url: str, title: str) -> Nodes | None:
    """Return the nodes with a link on the first possible text, or None."""
    for number, node in enumerate(nodes):
        if isinstance(node, Prose) and (linked := _linked(node, url, "")) is not None:
            if title and isinstance(block := node.text[0], Paragraph | Heading):
                behind = Link(url, (Text(title),))
                children = merge_texts((*block.children, Text(" "), behind))
                linked = replace(node, text=(replace(block, children=children),))
            return (*nodes[:number], linked, *nodes[number + 1 :])
    return None
