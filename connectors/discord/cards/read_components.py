"""Components, of messages and of modals -> nodes. Pure; total, however deep they are nested."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import JsonValue

from bridge.content.cards.json_tree import pointer
from bridge.content.cards.tree import (
    Actions,
    Button,
    Container,
    Divider,
    Input,
    Node,
    Nodes,
    Picker,
    Section,
)
from connectors.discord.cards import schemas
from connectors.discord.cards.colors import style_of
from connectors.discord.cards.read_inputs import labelled, read_action
from connectors.discord.cards.read_media import read_file, read_gallery, read_thumbnail
from connectors.discord.cards.read_source import (
    DEEPEST,
    Json,
    Source,
    flagged,
    kind_of,
    mapping,
    text,
    whole,
)
from connectors.discord.cards.read_unknown import unknown, words_as_nodes
from connectors.discord.cards.read_words import read_text
from connectors.discord.cards.schemas import COMPONENTS

# The documented types of a component's fields.
_SHAPES: dict[str, type] = {
    "components": list, "items": list, "options": list, "default_values": list, "content": str,
    "label": str, "placeholder": str, "custom_id": str, "url": str, "description": str,
    "emoji": dict, "media": dict, "file": dict, "accessory": dict, "component": dict,
}  # fmt: skip
_NOTHING: frozenset[str] = frozenset()
_REQUIRED_KEYS = {
    schemas.ACTION_ROW: frozenset({"components"}),
    schemas.SECTION: frozenset({"components"}),
    schemas.CONTAINER: frozenset({"components"}),
    schemas.LABEL: frozenset({"component"}),
}
_CHILD_KEYS = ("components", "component", "accessory", "items")
_LARGE = 2  # the spacing of a separator


def read_components(data: JsonValue, source: Source, at: str, depth: int = 0) -> Nodes:
    """Return the nodes of a component or of a list of components; never raises."""
    if depth >= DEEPEST:
        return tuple(_flat(data, source, at))
    if not isinstance(data, list):
        return _component(data, source, at, depth)
    return tuple(
        node
        for index, component in enumerate(data)
        for node in _component(component, source, f"{at}/{index}", depth)
    )


def _component(native: JsonValue, source: Source, at: str, depth: int) -> Nodes:
    if not isinstance(native, dict) or not _has_documented_shape(native):
        return (unknown(native, COMPONENTS, at),)
    match kind_of(native):
        case schemas.ACTION_ROW:
            return _row(native, source, at, depth)
        case schemas.SECTION:
            return _section(native, source, at, depth)
        case schemas.CONTAINER:
            return (_container(native, source, at, depth),)
        case schemas.LABEL:
            return _label(native, source, at, depth)
        case _:
            leaf = _leaf(native, source, at)
            return (_unknown_component(native, source, at, depth),) if leaf is None else leaf


def _has_documented_shape(native: Json) -> bool:
    if not _REQUIRED_KEYS.get(kind_of(native) or 0, _NOTHING) <= native.keys():
        return False
    for key, value in native.items():
        shape = _SHAPES.get(key)
        if shape is not None and value is not None and not isinstance(value, shape):
            return False
    return True


def _leaf(native: Json, source: Source, at: str) -> Nodes | None:
    """Return the nodes of a component without children; None for any other."""
    match kind := kind_of(native):
        case schemas.TEXT_DISPLAY:
            return read_text(text(native, "content"), source, f"{at}/content")
        case schemas.THUMBNAIL:
            return (read_thumbnail(native, source, at),)
        case schemas.MEDIA_GALLERY:
            return (read_gallery(native, source, at),)
        case schemas.FILE:
            return (read_file(native, source, at),)
        case schemas.SEPARATOR:
            large = whole(native, "spacing") == _LARGE
            return (Divider(line=native.get("divider") is not False, large=large, at=at),)
        case int():
            action = read_action(native, kind, at)
            if isinstance(action, Picker) and native.get("options"):
                return action, unknown(native["options"], COMPONENTS, f"{at}/options")
            return None if action is None else (action,)
        case _:
            return None


def _unknown_component(native: Json, source: Source, at: str, depth: int) -> Node:
    """Return an unknown component with the nodes of its children as fallback."""
    children = [(key, native[key]) for key in _CHILD_KEYS if native.get(key)]
    if not children:
        return unknown(native, COMPONENTS, at)
    own = {key: value for key, value in native.items() if key not in _CHILD_KEYS}
    node_groups = [words_as_nodes(own, at)]
    node_groups += [
        read_components(value, source, f"{at}/{key}", depth + 1) for key, value in children
    ]
    return unknown(native, COMPONENTS, at, tuple(node for group in node_groups for node in group))


# --- components with children ---------------------------------------------------------------


def _child_nodes(native: Json, source: Source, at: str, depth: int) -> Nodes:
    children = native.get("components")
    return read_components(children, source, f"{at}/components", depth + 1) if children else ()


def _row(native: Json, source: Source, at: str, depth: int) -> Nodes:
    """Return the row's actions, grouped; other nodes stand between the groups."""
    nodes: list[Node] = []
    actions: list[Button | Input] = []
    for node in _child_nodes(native, source, at, depth):
        if isinstance(node, Button | Input):
            actions.append(node)
            continue
        nodes += [Actions(tuple(actions), at=at)] if actions else []
        nodes.append(node)
        actions = []
    return (*nodes, Actions(tuple(actions), at=at)) if actions else tuple(nodes)


def _section(native: Json, source: Source, at: str, depth: int) -> Nodes:
    nodes = _child_nodes(native, source, at, depth)
    accessory = mapping(native, "accessory")
    accessory_nodes = (
        read_components(accessory, source, f"{at}/accessory", depth + 1) if accessory else ()
    )
    if len(accessory_nodes) == 1 and nodes:
        return (Section(nodes, accessory_nodes[0], at=at),)
    return (*nodes, *accessory_nodes)


def _container(native: Json, source: Source, at: str, depth: int) -> Container:
    style, color = style_of(native.get("accent_color"))
    return Container(
        _child_nodes(native, source, at, depth),
        form="card",
        style=style,
        color=color,
        spoiler=flagged(native, "spoiler"),
        at=at,
    )


def _label(native: Json, source: Source, at: str, depth: int) -> Nodes:
    component = mapping(native, "component")
    input_nodes = (
        read_components(component, source, f"{at}/component", depth + 1) if component else ()
    )
    match input_nodes:
        case (node,) if isinstance(node, Input):
            return (labelled(node, native),)
        case _:
            texts = {key: native[key] for key in ("label", "description") if key in native}
            return (unknown(native, COMPONENTS, at, (*words_as_nodes(texts, at), *input_nodes)),)


# --- excessive nesting ----------------------------------------------------------------------


def _flat(data: JsonValue, source: Source, at: str) -> Iterator[Node]:
    """Yield the leaves below a component in order, without their containers."""
    stack = [(data, at)]
    while stack:
        native, path = stack.pop()
        if isinstance(native, list):
            stack += reversed([(child, pointer(path, i)) for i, child in enumerate(native)])
        elif not isinstance(native, dict) or not _has_documented_shape(native):
            yield from words_as_nodes(native, path)
        elif (leaf := _leaf(native, source, path)) is not None:
            yield from leaf
        else:
            own = {key: value for key, value in native.items() if key not in _CHILD_KEYS}
            yield from words_as_nodes(own, path)
            stack += [
                (native[key], pointer(path, key)) for key in reversed(_CHILD_KEYS) if key in native
            ]
