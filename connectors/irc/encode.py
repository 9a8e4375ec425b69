"""A delivery -> the calls that carry it out, for what a connection can carry. Pure and stable."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from pydantic import JsonValue

from bridge.content.cards.bodies import rendering_of
from bridge.content.cards.reader import NO_CARDS, Cards, is_rich
from bridge.content.cards.tree import Asset
from bridge.content.markdown import markdown_to_text
from bridge.content.messages.calls import copy_call, post_call, standing_copies
from bridge.content.messages.parts import message_text
from bridge.content.messages.written_once import WrittenOnce
from bridge.content.safety.mentions import with_counterparts
from bridge.content.text.plain import text_to_plain
from bridge.content.text.split import cut_text
from bridge.content.text.tree import Document
from bridge.model import (
    AddReaction,
    Byline,
    Call,
    DeleteMessage,
    Delivery,
    EditMessage,
    Encoded,
    Loss,
    PinMessage,
    PostMessage,
    QuotedMessage,
    RateLimitKey,
    RemoveReaction,
    UnpinMessage,
)
from bridge.model.blob_ids import file_id_of
from bridge.ports.files import Files
from connectors.irc import ids
from connectors.irc.actions import numbered
from connectors.irc.bylines import byline, quieted, shown_name
from connectors.irc.capabilities import LINES
from connectors.irc.cards import NO_TEXT, card_document
from connectors.irc.form import ACTION_BYTES, Form
from connectors.irc.formatting import clean
from connectors.irc.splitting import Piece, split_line
from connectors.irc.text import as_action, text_to_irc

POST, CORRECT, REDACT, REACT, UNREACT = "post", "correct", "redact", "react", "unreact"
PASTE_NAME, PASTE_TYPE = "message.txt", "text/plain"
_EXCERPT = 40  # characters of the quoted message
_EDITED = "(edited) "
_MAX_TOKENS = 100  # lines of a call that count against the budget


@dataclass(frozen=True, slots=True)
class _Content:
    """A message as IRC shows it: its lines, its whole text, and the code of its card."""

    lines: tuple[str, ...]
    whole: str
    is_action: bool = False
    card: str = ""


_WRITTEN = WrittenOnce[tuple[_Content, tuple[Loss, ...]]]()


def encode(
    delivery: Delivery, form: Form, cards: Cards = NO_CARDS, files: Files | None = None
) -> Encoded:
    """Return the calls of a delivery and their losses.

    A post or an edit that was interrupted continues after the copies that exist. An edit posts the
    whole message again, as lines that begin with `(edited)`. A deletion redacts all copies, if the
    server can redact.
    """
    operation = delivery.operation
    match operation:
        case PostMessage(byline=by) | EditMessage(byline=by):
            content, losses = _content(delivery, cards, files)
            method, first_slot = POST, 0
            if isinstance(operation, EditMessage) and standing_copies(delivery):
                method, first_slot = CORRECT, ids.correction_slot(operation.id)
                content = _as_correction(content)
            bodies = _bodies(delivery, by, content, form, files)
            calls = _posts(delivery, bodies, method, first_slot)
            return Encoded(calls=tuple(calls), losses=losses)
        case DeleteMessage():
            return _deletion(delivery, form)
        case AddReaction() | RemoveReaction():
            return _reaction(delivery, operation)
        case PinMessage() | UnpinMessage() if standing_copies(delivery):
            loss = Loss(path="", kind="pin_unknown", what="a pin", shown_as="a note")
            return Encoded(calls=(), losses=(loss,))
        case _:
            return Encoded(calls=())


# --- content ----------------------------------------------------------------------------------


def _content(
    delivery: Delivery, cards: Cards, files: Files | None
) -> tuple[_Content, tuple[Loss, ...]]:
    write = partial(_written, delivery, cards, files)
    return _WRITTEN.of(delivery, cards, files, write=write)


def _written(
    delivery: Delivery, cards: Cards, files: Files | None
) -> tuple[_Content, tuple[Loss, ...]]:
    message, losses = delivery.message, ()
    code = ""
    if is_rich(message):
        document, losses, code = _rich(delivery, cards, files)
    else:
        markdown, losses = message_text(message)
        document = with_counterparts(markdown_to_text(markdown), delivery.counterparts)
    action = as_action(document) if not code and delivery.quoted is None else None
    lines = text_to_irc(action or document) or [NO_TEXT]
    if delivery.quoted is not None:
        lines[0] = f"{_quote(delivery.quoted)} {lines[0]}"
    return _Content(tuple(lines), text_to_plain(document), action is not None, code), losses


def _rich(
    delivery: Delivery, cards: Cards, files: Files | None
) -> tuple[Document, tuple[Loss, ...], str]:
    """The text of a card, the losses, and its code if its actions work."""
    message = delivery.message
    read, unread = cards.read(message)
    read = with_counterparts(read, delivery.counterparts)
    url_of = None if files is None else files.url_of
    rendering = rendering_of(message, cards, url_of, uploads=False)
    code = ids.card_code(message.message_id)
    document, losses = card_document(read, rendering, code)
    live = rendering.token is not None and bool(numbered(read))
    return document, (*unread, *losses), code if live else ""


def _quote(quoted: QuotedMessage) -> str:
    """The author and the first words of the quoted message; the name notifies nobody."""
    who = quieted(shown_name(quoted.author))
    excerpt = cut_text(" ".join(clean(quoted.excerpt).split()), _EXCERPT)
    return f"↪ {who} “{excerpt}”:" if excerpt else f"↪ {who}:"


# --- lines and messages -----------------------------------------------------------------------


def _bodies(
    delivery: Delivery, by: Byline, content: _Content, form: Form, files: Files | None
) -> list[dict[str, JsonValue]]:
    """One body for each native message."""
    room = _room(delivery, by, content, form)
    pieces = [piece for line in content.lines for piece in split_line(line, room)]
    paste: dict[str, JsonValue] = {}
    if len(pieces) > form.max_lines and (link := _link(content, files)):
        first_pieces = pieces[: form.max_lines - 1]
        rest = f"… {len(pieces) - len(first_pieces)} more lines: {link}"
        if len(rest.encode()) <= room:
            pieces = [*first_pieces, Piece(rest, None)]
            paste["paste"] = content.whole
    bodies = [_body(delivery, by, content, form, group) for group in _groups(pieces, form, by)]
    bodies[0] |= paste
    if content.card:
        bodies[-1]["card"] = content.card
    return bodies


def _room(delivery: Delivery, by: Byline, content: _Content, form: Form) -> int:
    """Bytes of a line that are left for text."""
    room = form.room(delivery.operation.channel.channel) - len(_name(by, form).encode())
    return max(room - (ACTION_BYTES if content.is_action else 0), 40)


def _name(by: Byline, form: Form) -> str:
    return byline(by.name, quiet=form.quiet)


def _groups(pieces: Sequence[Piece], form: Form, by: Byline) -> Iterator[list[Piece]]:
    """The lines of each native message: one, or as many as a multiline message takes."""
    if form.multiline is None:
        yield from ([piece] for piece in pieces)
        return
    limits, size = form.multiline, 0
    group: list[Piece] = []
    for piece in pieces:
        added = len(piece.text.encode()) + 1
        if group and (len(group) >= limits.max_lines or size + added > limits.max_bytes):
            yield group
            group, size = [], 0
        size += added + (0 if group else len(_name(by, form).encode()))
        group.append(piece)
    yield group


def _body(
    delivery: Delivery, by: Byline, content: _Content, form: Form, group: Sequence[Piece]
) -> dict[str, JsonValue]:
    body: dict[str, JsonValue] = {
        "name": shown_name(by.name),
        "byline": _name(by, form),
        "lines": [piece.text for piece in group],
        "gaps": [piece.gap if number else None for number, piece in enumerate(group)],
    }
    if content.is_action:
        body["action"] = True
    if reply := _reply(delivery, form):
        body["reply"] = reply
    return body


def _reply(delivery: Delivery, form: Form) -> str:
    """The native id of the message that this one answers, if a tag can name it."""
    quoted = delivery.quoted.native_id if delivery.quoted else None
    target = quoted or delivery.thread or ""
    return target if form.replies and target and not ids.is_made(target) else ""


def _link(content: _Content, files: Files | None) -> str:
    """The address of the whole text; empty if the bridge serves no files."""
    if files is None:
        return ""
    digest = hashlib.sha256(paste_bytes(content.whole)).hexdigest()
    size = len(paste_bytes(content.whole))
    return files.url_of(
        Asset(file_id=file_id_of(digest), media_type=PASTE_TYPE, name=PASTE_NAME, size=size)
    )


def paste_bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


# --- calls ------------------------------------------------------------------------------------


def _as_correction(content: _Content) -> _Content:
    """Return the lines of an edit. An action becomes text: it cannot begin with `(edited)`."""
    first, *rest = content.lines
    return replace(content, lines=(f"{_EDITED}{first}", *rest), is_action=False)


def _posts(
    delivery: Delivery, bodies: Sequence[dict[str, JsonValue]], method: str, first_slot: int
) -> Iterator[Call]:
    existing = {copy.slot for copy in standing_copies(delivery)}
    for slot, body in enumerate(bodies, first_slot):
        if slot not in existing:
            yield post_call(
                delivery, slot, method=method, body=body, rate_limits=_rate_limits(delivery, body),
                thread=None,
            )  # fmt: skip


def _deletion(delivery: Delivery, form: Form) -> Encoded:
    copies = standing_copies(delivery)
    redactable = [copy for copy in copies if not ids.is_made(copy.native_id)]
    if not form.redacts or not redactable:
        loss = Loss(path="", kind="deletion_not_shown", what="that the message was deleted")
        return Encoded(calls=(), losses=(loss,) if copies else ())
    rate_limits = _rate_limits(delivery, {})
    return Encoded(
        calls=tuple(
            copy_call(delivery, copy, "delete", method=REDACT, body={}, rate_limits=rate_limits)
            for copy in redactable
        )
    )


def _reaction(delivery: Delivery, reaction: AddReaction | RemoveReaction) -> Encoded:
    copies = standing_copies(delivery)
    if not copies or ids.is_made(copies[0].native_id):
        return Encoded(calls=())
    call = copy_call(
        delivery, copies[0], "other",
        method=REACT if isinstance(reaction, AddReaction) else UNREACT,
        body={"emoji": reaction.emoji}, rate_limits=_rate_limits(delivery, {}),
    )  # fmt: skip
    return Encoded(calls=(call,))


def _rate_limits(delivery: Delivery, body: dict[str, JsonValue]) -> tuple[RateLimitKey, ...]:
    """Return one key for each line: a message of several lines counts as often."""
    lines = body.get("lines")
    count = len(lines) if isinstance(lines, list) else 1
    key = RateLimitKey(rule=LINES, of=delivery.operation.account)
    return (key,) * min(max(count, 1), _MAX_TOKENS)
