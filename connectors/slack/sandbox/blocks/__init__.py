"""Blocks from apps -> blocks as Slack stores them, or Slack's refusal.

Called only for requests with blocks, never for plain text.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bridge.content.cards.json_tree import check_nesting
from bridge.errors import CodecError
from connectors.slack.sandbox.arguments import ApiError
from connectors.slack.sandbox.blocks.checks import Faults, Json
from connectors.slack.sandbox.blocks.kinds import BLOCK, MAX_MARKDOWN
from connectors.slack.sandbox.blocks.legacy import ATTACHMENT, VISIBLE_MEMBERS
from connectors.slack.sandbox.blocks.stored import stored_attachments, stored_blocks

__all__ = [
    "MAX_ATTACHMENTS",
    "MAX_BLOCKS",
    "Faults",
    "checked_attachments",
    "checked_blocks",
    "checked_view_blocks",
    "need_shallow",
    "refusal",
    "stored_attachments",
    "stored_blocks",
]  # fmt: skip

MAX_BLOCKS = 50
MAX_VIEW_BLOCKS = 100
MAX_ATTACHMENTS = 100
# Not documented: refusals were observed from about so many characters on (2026).
MAX_CHARACTERS = 13_200
_DEEPEST = 100
_TABLES = ("table", "data_table")
_TOGETHER = {"data_visualization": 2, "plan": 1}


def refusal(code: str, complaints: Iterable[str]) -> ApiError:
    """The error `code` with the messages as Slack sends them: each message twice, once with its
    level."""
    messages = list(complaints)
    about = {"messages": [f"[ERROR] {message}" for message in messages]}
    return ApiError(code, errors=messages, response_metadata=about)


def need_shallow(value: object, code: str, at: str) -> None:
    """Raise ApiError for deeper nesting than any documented payload has."""
    try:
        check_nesting(value, _DEEPEST)
    except CodecError:
        raise refusal(code, [f"failed to match all allowed schemas [json-pointer:{at}]"]) from None


def checked_blocks(blocks: list[Any], faults: Faults) -> list[Json]:
    """The stored blocks of a message. Raises ApiError (`invalid_blocks` and others)."""
    _check_all(blocks, "/blocks", faults, MAX_BLOCKS, "invalid_blocks")
    return stored_blocks(blocks)


def checked_view_blocks(blocks: Any, faults: Faults) -> list[Json]:
    """The stored blocks of a modal; faults raise `invalid_arguments`."""
    if not isinstance(blocks, list):
        raise refusal("invalid_arguments", ["must provide an array [json-pointer:/view/blocks]"])
    _check_all(blocks, "/view/blocks", faults, MAX_VIEW_BLOCKS, "invalid_arguments")
    return stored_blocks(blocks)


def checked_attachments(attachments: list[Any], faults: Faults) -> list[Json]:
    """The stored attachments, with legacy fields or blocks; empty ones are dropped. Raises
    ApiError."""
    if len(attachments) > MAX_ATTACHMENTS:
        raise ApiError("too_many_attachments")
    need_shallow(attachments, "invalid_attachments", "/attachments")
    for index, attachment in enumerate(attachments):
        at = f"/attachments/{index}"
        ATTACHMENT(attachment, at, faults)
        blocks = attachment.get("blocks") if isinstance(attachment, dict) else None
        if isinstance(blocks, list):
            _check_all(blocks, f"{at}/blocks", faults, MAX_BLOCKS, "invalid_attachments")
    if faults.messages:
        raise refusal("invalid_attachments", faults.messages)
    return stored_attachments(
        [a for a in attachments if any(a.get(name) for name in VISIBLE_MEMBERS)]
    )


def _check_all(blocks: list[Any], at: str, faults: Faults, maximum: int, code: str) -> None:
    if len(blocks) > maximum:
        raise refusal(code, [f"no more than {maximum} items allowed [json-pointer:{at}]"])
    need_shallow(blocks, code, at)
    for index, block in enumerate(blocks):
        BLOCK(block, f"{at}/{index}", faults)
    if not faults.messages:
        _check_together(blocks, at, faults)
    if faults.messages:
        raise refusal(code, faults.messages)
    if faults.surface == "message":
        _check_totals(blocks)


def _check_together(blocks: list[Json], at: str, faults: Faults) -> None:
    """Rules on all blocks together: unique ids, and the number of blocks of a type."""
    ids: set[str] = set()
    for index, block in enumerate(blocks):
        own = block.get("block_id")
        if own and own in ids:
            faults.say(f'`block_id` "{own}" already exists', f"{at}/{index}/block_id")
        ids.add(own or "")
    for kind, maximum in _TOGETHER.items():
        if sum(block["type"] == kind for block in blocks) > maximum:
            faults.say(f"no more than {maximum} {kind} blocks allowed", at)
    markdown = sum(len(block["text"]) for block in blocks if block["type"] == "markdown")
    if markdown > MAX_MARKDOWN:
        faults.say(f"must be less than {MAX_MARKDOWN + 1} characters", at)


def _check_totals(blocks: list[Json]) -> None:
    inner = [child for block in blocks for child in block.get("child_blocks", ())]
    if sum(block["type"] in _TABLES for block in [*blocks, *inner]) > 1:
        raise refusal("invalid_attachments", ["only_one_table_allowed"])
    if _characters(blocks) > MAX_CHARACTERS:
        raise ApiError("msg_blocks_too_long")


def _characters(blocks: list[Json]) -> int:
    """The number of characters of all texts, titles and captions."""
    total = 0
    waiting: list[Any] = [blocks]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting += node
        elif isinstance(node, dict):
            for name in ("text", "title", "caption", "label"):
                if isinstance(read := node.get(name), str):
                    total += len(read)
            waiting += [inner for inner in node.values() if isinstance(inner, list | dict)]
    return total
