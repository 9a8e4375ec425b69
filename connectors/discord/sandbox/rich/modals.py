"""Modals: the published limits of their components. Pure."""

from __future__ import annotations

from connectors.discord.sandbox.rich.components import (
    CHANNEL,
    MENTIONABLE,
    ROLE,
    ROW,
    SELECTS,
    STRING,
    TEXT,
    TEXT_INPUT,
    USER,
    Usage,
    assign_ids,
    custom_id,
    options,
    select,
)
from connectors.discord.sandbox.rich.fields import Json, Node

LABEL, UPLOAD, RADIO, BOXES, BOX = 18, 19, 21, 22, 23
_CONTROLS = (
    STRING, TEXT_INPUT, USER, ROLE, MENTIONABLE, CHANNEL, UPLOAD, RADIO, BOXES, BOX,
)  # fmt: skip


def read_modal(data: Node) -> Json:
    """Return the modal in the `data` of a callback of type 9; errors go to the form."""
    data.text("custom_id", 100, min_length=1, required=True)
    data.text("title", 45, min_length=1, required=True)
    usage = Usage()
    nodes = data.children("components", 1, 5, required=True)
    checked = [component for node in nodes if (component := _checked_component(node, usage))]
    assign_ids(checked, usage.ids)
    return {**data.value, "components": checked}


def controls(modal: Json) -> list[tuple[Json, Json]]:
    """Return the inputs of a modal, each after its parent: a label, or a row of the older kind."""
    pairs: list[tuple[Json, Json]] = []
    for holder in modal["components"]:
        if holder["type"] == LABEL:
            pairs.append((holder, holder["component"]))
        elif holder["type"] == ROW:
            pairs += [(holder, inner) for inner in holder["components"]]
    return pairs


def _checked_component(node: Node, usage: Usage) -> Json | None:
    match node.choice("type", (ROW, TEXT, LABEL), required=True):
        case 10:
            node.text("content", 4000, min_length=1, required=True)
            return dict(node.value)
        case 18:
            node.text("label", 45, min_length=1, required=True)
            node.text("description", 100)
            inner = node.child("component", required=True)
            control = _control(inner, usage, _CONTROLS) if inner else None
            return {**node.value, "component": control} if control else None
        case 1:
            rows = node.children("components", 1, 1, required=True)
            held_all = [
                child for component in rows if (child := _control(component, usage, (TEXT_INPUT,)))
            ]
            for row in rows:
                row.text("label", 45, min_length=1, required=True)
            return {**node.value, "components": held_all}
        case _:
            return None


def _control(node: Node, usage: Usage, allowed: tuple[int, ...]) -> Json | None:
    kind = node.value.get("type")
    if isinstance(kind, bool) or kind not in allowed:
        listed = ", ".join(map(str, allowed))
        text = f'Value of field "type" must be one of ({listed}).'
        node.fail("type", "UNION_TYPE_CHOICES", text)
        return None
    node.flag("required")
    if kind in SELECTS:
        select(node, usage)
        if node.value.get("disabled"):
            text = "Components in modals cannot be disabled"
            node.fail("disabled", "MODAL_COMPONENT_DISABLED", text)
        return dict(node.value)
    custom_id(node, usage.custom_ids)
    _check(kind, node)
    return dict(node.value)


def _check(kind: int, node: Node) -> None:
    if kind == TEXT_INPUT:
        node.choice("style", (1, 2), required=True)
        node.text("value", 4000)
        node.text("placeholder", 100)
        min_length = node.integer("min_length", 0, 4000)
        max_length = node.integer("max_length", 1, 4000)
        if min_length is not None and max_length is not None and min_length > max_length:
            text = f"int value should be less than or equal to {max_length}."
            node.fail("min_length", "NUMBER_TYPE_MAX", text)
    elif kind in (UPLOAD, BOXES):
        node.integer("min_values", 0, 10)
        max_length = node.integer("max_values", 1, 10)
        if kind == BOXES:
            options(node, 1, 10, max_length or 1)
    elif kind == RADIO:
        options(node, 2, 10, 1)
    else:
        node.flag("default")
