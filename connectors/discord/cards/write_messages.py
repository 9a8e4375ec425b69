"""Components -> messages of at most 40 components, 4,000 characters of text and 10 files. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pydantic import JsonValue

from bridge.content.cards.rendering import NativeMessage
from bridge.content.cards.tree import Asset
from connectors.discord.cards import limits, schemas
from connectors.discord.cards.write_state import Box, Json, Piece, content_of


def pack(pieces: Sequence[Piece]) -> tuple[NativeMessage, ...]:
    """Return as few messages as possible in order; adjacent texts are joined if that saves one."""
    if _fit_in_one(pieces):
        return (_message(pieces),) if pieces else ()
    if sum(piece.count for piece in pieces) > limits.COMPONENTS:
        pieces = _joined(pieces)
    return tuple(_message(piece) for piece in _split(pieces))


def _fit_in_one(pieces: Sequence[Piece]) -> bool:
    """Return whether the pieces fit one message, counting a container for each boxed piece."""
    count = text = files = 0
    for piece in pieces:
        count += piece.count + (piece.box is not None)
        text += piece.text
        files += len(piece.files)
    return count <= limits.COMPONENTS and text <= limits.TEXT and files <= limits.FILES


def _joined(pieces: Iterable[Piece]) -> list[Piece]:
    joined: list[Piece] = []
    for piece in pieces:
        last = joined[-1] if joined else None
        if last is not None and _may_join(last, piece):
            content = f"{content_of(last)}{_gap(last, piece)}{content_of(piece)}"
            body: Json = {"type": schemas.TEXT_DISPLAY, "content": content}
            joined[-1] = Piece(body, last.box, 1, len(content))
        else:
            joined.append(piece)
    return joined


def _may_join(first: Piece, second: Piece) -> bool:
    return (
        first.body["type"] == second.body["type"] == schemas.TEXT_DISPLAY
        and first.box is second.box
        and first.text + second.text + 2 <= limits.TEXT // 2
    )


def _gap(first: Piece, second: Piece) -> str:
    """Return the gap between two texts: none beside headings and small print."""
    return "\n" if first.leads or content_of(second).startswith("-# ") else "\n\n"


def _split(pieces: Iterable[Piece]) -> list[list[Piece]]:
    messages: list[list[Piece]] = [[]]
    room = _Room()
    for piece in pieces:
        if not room.has_room(piece):
            moved = _moved(messages[-1], piece)
            messages.append(moved)
            room = _Room(moved)
        room.take(piece)
        messages[-1].append(piece)
    return [message for message in messages if message]


def _moved(message: list[Piece], next_piece: Piece) -> list[Piece]:
    """Take the headings at the message's end, if the next message has room for them."""
    at = len(message)
    while at > 1 and message[at - 1].leads:
        at -= 1
    moved = message[at:]
    if at <= 1 or not _Room(moved).has_room(next_piece):
        return []
    del message[at:]
    return moved


class _Room:
    """The remaining room of a message."""

    def __init__(self, pieces: Iterable[Piece] = ()) -> None:
        self._count = self._text = self._files = 0
        self._box: Box | None = None
        for piece in pieces:
            self.take(piece)

    def has_room(self, piece: Piece) -> bool:
        return (
            self._count + self._cost(piece) <= limits.COMPONENTS
            and self._text + piece.text <= limits.TEXT
            and self._files + len(piece.files) <= limits.FILES
        )

    def take(self, piece: Piece) -> None:
        self._count += self._cost(piece)
        self._text += piece.text
        self._files += len(piece.files)
        self._box = piece.box

    def _cost(self, piece: Piece) -> int:
        opens = piece.box is not None and piece.box is not self._box
        return piece.count + opens


def _message(pieces: Sequence[Piece]) -> NativeMessage:
    top: list[Json] = []
    children: list[JsonValue] = []
    box: Box | None = None
    for piece in pieces:
        if piece.box is None:
            top.append(piece.body)
        else:
            if piece.box is not box:
                children = []
                top.append(_container(piece.box, children))
            children.append(piece.body)
        box = piece.box
    body: Json = {"flags": schemas.COMPONENTS_V2, "components": [*top]}
    return safe_message(body, tuple(file for piece in pieces for file in piece.files))


def safe_message(body: Json, files: tuple[Asset, ...] = ()) -> NativeMessage:
    """Return the message with `allowed_mentions` that ping nobody."""
    return NativeMessage({**body, "allowed_mentions": {"parse": []}}, files)


def _container(box: Box, children: list[JsonValue]) -> Json:
    body: Json = {"type": schemas.CONTAINER, "components": children}
    if box.color is not None:
        body["accent_color"] = box.color
    if box.spoiler:
        body["spoiler"] = True
    return body
