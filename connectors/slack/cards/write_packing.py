"""Blocks in order -> messages within Slack's limits of blocks, tables, charts and characters.

What exceeds a message continues in the next one. A bar at the side is an attachment: attachments
are below all blocks of a message, so everything after a bar is an attachment, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from bridge.content.cards.rendering import NativeMessage
from bridge.content.cards.tree import Asset
from connectors.slack.capabilities import (
    ATTACHMENTS_PER_MESSAGE,
    BLOCKS_PER_MESSAGE,
    CHARTS_PER_MESSAGE,
    FILES_PER_MESSAGE,
    MESSAGE_CHARACTERS,
    PLANS_PER_MESSAGE,
    TABLES_PER_MESSAGE,
)
from connectors.slack.cards.write_notification import notification
from connectors.slack.cards.write_pieces import Frame, Json, Piece
from connectors.slack.cards.write_size import is_small, size_of

_MAX_PER_MESSAGE = {
    "table": TABLES_PER_MESSAGE,
    "data_visualization": CHARTS_PER_MESSAGE,
    "plan": PLANS_PER_MESSAGE,
}
# Attachments support the block types that existed when Slack made them legacy.
_ONLY_BLOCKS = frozenset(
    ("container", "card", "carousel", "data_visualization", "plan", "task_card", "markdown")
)
_FRAMELESS = Frame()


@dataclass(slots=True)
class _Message:
    blocks: list[Json] = field(default_factory=list[Json])
    attachments: list[tuple[Frame, list[Json]]] = field(
        default_factory=list[tuple[Frame, list[Json]]]
    )
    files: list[Asset] = field(default_factory=list[Asset])
    counts: dict[str, int] = field(default_factory=dict[str, int])
    used: int = 0
    size: int = 0

    @property
    def is_empty(self) -> bool:
        return not (self.blocks or self.attachments or self.files)


def packed(pieces: Sequence[Piece], summary: str) -> tuple[NativeMessage, ...]:
    """The messages, in order; the first notification is the summary, if there is one."""
    if _is_small(pieces):
        message = _Message([piece.block for piece in pieces])
        return (_native(message, summary),)
    messages = _messages(pieces)
    return tuple(
        _native(message, summary if index == 0 else "") for index, message in enumerate(messages)
    )


def _is_small(pieces: Sequence[Piece]) -> bool:
    """Whether everything fits in one message: a fast check that suffices for nearly every card."""
    if len(pieces) > BLOCKS_PER_MESSAGE or any(piece.frame or piece.files for piece in pieces):
        return False
    counts: dict[str, int] = {}
    for piece in pieces:
        _count(piece.block, counts)
    if any(count > _MAX_PER_MESSAGE[kind] for kind, count in counts.items()):
        return False
    blocks = [piece.block for piece in pieces]
    return bool(blocks) and is_small(blocks, MESSAGE_CHARACTERS)


def _count(block: Json, counts: dict[str, int]) -> None:
    kind = block.get("type", "")
    if kind in _MAX_PER_MESSAGE:
        counts[kind] = counts.get(kind, 0) + 1
    elif kind == "container":
        for inner in block["child_blocks"]:
            _count(inner, counts)


# --- many -----------------------------------------------------------------------------------


def _messages(pieces: Iterable[Piece]) -> list[_Message]:
    messages = [_Message()]
    for piece in pieces:
        counts: dict[str, int] = {}
        _count(piece.block, counts)
        size = size_of(piece.block)
        if not _fits(messages[-1], piece, size, counts):
            messages.append(_Message())
        _add(messages[-1], piece, size, counts)
    return [message for message in messages if not message.is_empty]


def _fits(message: _Message, piece: Piece, size: int, counts: dict[str, int]) -> bool:
    if message.is_empty:
        return True
    if len(message.files) + len(piece.files) > FILES_PER_MESSAGE:
        return False
    if message.used == BLOCKS_PER_MESSAGE or message.size + size > MESSAGE_CHARACTERS:
        return False
    if any(message.counts.get(kind, 0) + n > _MAX_PER_MESSAGE[kind] for kind, n in counts.items()):
        return False
    if piece.frame is None and message.attachments and piece.block.get("type") in _ONLY_BLOCKS:
        return False
    is_new = not message.attachments or message.attachments[-1][0] is not _frame(message, piece)
    return not is_new or len(message.attachments) < ATTACHMENTS_PER_MESSAGE


def _add(message: _Message, piece: Piece, size: int, counts: dict[str, int]) -> None:
    message.files += piece.files
    if not piece.block:
        return
    frame = _frame(message, piece)
    if frame is None:
        message.blocks.append(piece.block)
    elif message.attachments and message.attachments[-1][0] is frame:
        message.attachments[-1][1].append(piece.block)
    else:
        message.attachments.append((frame, [piece.block]))
    message.used += 1
    message.size += size
    for kind, count in counts.items():
        message.counts[kind] = message.counts.get(kind, 0) + count


def _frame(message: _Message, piece: Piece) -> Frame | None:
    """The frame of a block: after a bar in the same message it is a bar without a colour."""
    return _FRAMELESS if piece.frame is None and message.attachments else piece.frame


# --- bodies ---------------------------------------------------------------------------------


def _native(message: _Message, summary: str) -> NativeMessage:
    """The body of a message. Without blocks, the notification is the fallback of the attachments,
    because Slack would show the text above them. Files without text are a message of their own."""
    first = message.blocks or [block for _, inner in message.attachments for block in inner]
    text = notification(summary, first)
    if not first and message.files:
        return NativeMessage({}, tuple(message.files))
    body: Json = {"text": text}
    if message.blocks:
        body["blocks"] = message.blocks
    if message.attachments:
        body["attachments"] = [_attachment(frame, inner) for frame, inner in message.attachments]
        if not message.blocks:
            body["text"] = ""
            body["attachments"][0]["fallback"] = text
    return NativeMessage(body, tuple(message.files))


def _attachment(frame: Frame, blocks: list[Json]) -> Json:
    return {"color": frame.color, "blocks": blocks} if frame.color else {"blocks": blocks}
