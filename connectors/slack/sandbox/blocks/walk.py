"""The interactive elements of blocks and attachments. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from connectors.slack.sandbox.blocks.stored import INTERACTIVE

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Control:
    """An interactive element, its block, and the attachment that has the block (1 is the first)."""

    block: Json
    element: Json
    attachment: int | None = None

    @property
    def block_id(self) -> str:
        return self.block.get("block_id", "")

    @property
    def action_id(self) -> str:
        return self.element.get("action_id", "")

    @property
    def kind(self) -> str:
        return self.element["type"]

    @property
    def in_input(self) -> bool:
        return self.block["type"] == "input"

    @property
    def words(self) -> str:
        """The text on the element or of its label."""
        for holder in (self.element.get("text"), self.block.get("label")):
            if isinstance(holder, dict) and isinstance(holder.get("text"), str):
                return holder["text"]
        return ""


def controls(blocks: list[Json], attachment: int | None = None) -> Iterator[Control]:
    """All interactive elements in reading order."""
    for block in blocks:
        for element in _elements(block):
            if element.get("type") in INTERACTIVE:
                yield Control(block, element, attachment)
        for name in ("child_blocks", "elements"):
            inner = [b for b in block.get(name) or () if _is_block(b)]
            yield from controls(inner, attachment)


def message_controls(blocks: list[Json] | None, attachments: list[Json] | None) -> list[Control]:
    all_controls = list(controls(blocks or []))
    for attachment in attachments or ():
        all_controls += controls(attachment.get("blocks") or [], attachment["id"])
    return all_controls


def control_named(candidates: list[Control], name: str) -> Control | None:
    """The control with this action_id, block_id, "block_id/action_id" or label."""
    for matches in (
        lambda c: c.action_id == name,
        lambda c: f"{c.block_id}/{c.action_id}" == name,
        lambda c: c.block_id == name,
        lambda c: c.words == name,
    ):
        for control in candidates:
            if matches(control):
                return control
    return None


def _elements(block: Json) -> list[Json]:
    single = [block[name] for name in ("accessory", "element") if isinstance(block.get(name), dict)]
    many = [
        element
        for name in ("elements", "actions")
        for element in block.get(name) or ()
        if isinstance(element, dict)
    ]
    return single + many


def _is_block(node: Any) -> bool:
    return isinstance(node, dict) and node.get("type") not in INTERACTIVE and "block_id" in node
