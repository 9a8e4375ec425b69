"""Delivery -> calls. Pure and deterministic.

A bot has one name and picture in Teams, so the first line names the author in bold. A mention
needs an entity: only people of the delivery's counterparts get one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from bridge.content.cards.reader import NO_CARDS, Cards, is_rich
from bridge.content.markdown import markdown_to_text
from bridge.content.messages.calls import calls_in_slots, copy_call, post_call, standing_copies
from bridge.content.messages.parts import message_text
from bridge.content.messages.written_once import WrittenOnce
from bridge.content.safety.mentions import with_counterparts
from bridge.content.text.split import split_text, utf16_length
from bridge.content.text.tree import CodeBlock, Document, Heading, Spoiler, Table
from bridge.model import (
    Byline,
    Call,
    ChannelRef,
    Counterparts,
    DeleteMessage,
    Delivery,
    EditMessage,
    Encoded,
    Loss,
    OperationId,
    PostMessage,
    RateLimitKey,
    Receipt,
)
from bridge.ports.files import Files
from connectors.teams import ids
from connectors.teams.above import Above
from connectors.teams.ai_label import with_ai_label
from connectors.teams.capabilities import APP_AND_TENANT, CONVERSATION, TEXT_LIMIT
from connectors.teams.cards.write_text import knows_language
from connectors.teams.citations import with_citations, with_list_of, with_marks
from connectors.teams.feedback import with_question
from connectors.teams.marks import encode_mark
from connectors.teams.mentions import with_mentions
from connectors.teams.rich import Body, rich_bodies
from connectors.teams.text import text_to_teams

_WRITTEN = WrittenOnce[tuple[list[Body], tuple[Loss, ...]]]()


def encode(
    delivery: Delivery, app_id: str, cards: Cards = NO_CARDS, files: Files | None = None
) -> Encoded:
    """Return the calls of one delivery, and the losses; `app_id` selects the rate limits."""
    operation = delivery.operation
    match operation:
        case PostMessage(byline=byline) | EditMessage(byline=byline):
            bodies, losses = _bodies(delivery, byline, cards, files)
            return Encoded(calls=tuple(_calls(delivery, bodies, app_id)), losses=losses)
        case DeleteMessage():
            rate_limits = _rate_limits(operation.channel, app_id)
            copies = standing_copies(delivery)
            return Encoded(calls=tuple(_delete(delivery, rate_limits, copy) for copy in copies))
        case mark:
            return encode_mark(delivery, mark, _rate_limits(operation.channel, app_id))


@dataclass(frozen=True)
class Typing:
    """The typing indicator of one bot."""

    app_id: str

    def typing_call(self, channel: ChannelRef) -> Call | None:
        """Return the call; None in channels, which show no indicator (msteams-docs, 2026-08)."""
        if ids.has_threads(channel):
            return None
        return Call(
            kind="other",
            method="POST",
            operation=OperationId("typing"),
            channel=channel,
            rate_limits=_rate_limits(channel, self.app_id),
            body={"type": "typing"},
        )


def _bodies(
    delivery: Delivery, byline: Byline, cards: Cards, files: Files | None
) -> tuple[list[Body], tuple[Loss, ...]]:
    channel = delivery.operation.channel
    personal = channel if ids.is_personal(channel) else None
    apart = isinstance(delivery.operation, EditMessage)
    seen = (byline.name, byline.agent, delivery.sources, personal, apart, cards, files)
    write = partial(_written, delivery, byline, cards, files)
    return _WRITTEN.of(delivery, *seen, write=write)


def _written(
    delivery: Delivery, byline: Byline, cards: Cards, files: Files | None
) -> tuple[list[Body], tuple[Loss, ...]]:
    above, counterparts = Above(byline.name, delivery.quoted), delivery.counterparts
    rich = _rich(delivery, above, cards, files)
    if rich is None:
        markdown, losses = message_text(delivery.message)
        texts, more_losses = _texts(markdown, above, counterparts)
        rich = [_activity(text) for text in texts], (*losses, *more_losses)
    bodies, losses = rich
    bodies = [with_mentions(body, counterparts) for body in bodies]
    if delivery.feedback:
        bodies, unasked = with_question(bodies)
        losses = (*losses, *unasked)
    if not byline.agent:
        return bodies, losses
    cited = [with_citations(with_ai_label(body), delivery.sources) for body in bodies]
    return [body for body, _ in cited], (*losses, *(loss for _, cut in cited for loss in cut))


def _rich(
    delivery: Delivery, above: Above, cards: Cards, files: Files | None
) -> tuple[list[Body], tuple[Loss, ...]] | None:
    """Return activities with cards; None if the message needs no card."""
    message, operation = delivery.message, delivery.operation
    rich = is_rich(message)
    if not rich and not _has_native_tables(delivery):
        return None
    message, unquoted = with_list_of(message, delivery.sources)
    apart = isinstance(operation, EditMessage) or operation.grows
    bodies, losses = rich_bodies(
        message, above, operation.channel, cards, files, delivery.counterparts, apart=apart
    )
    return (bodies, (*losses, *unquoted)) if rich or len(bodies) == 1 else None


def _has_native_tables(delivery: Delivery) -> bool:
    """Return whether a card shows the text better: it has tables, which only cards show.

    Code in a language that cards do not know would lose it, so such a text stays text; so does a
    text that still grows.
    """
    if delivery.operation.grows:
        return False
    document = markdown_to_text(message_text(delivery.message)[0])
    if Table not in _kinds(document):
        return False
    languages = {node.language for node in _nodes(document) if isinstance(node, CodeBlock)}
    return all(map(knows_language, languages))


# --- text ---------------------------------------------------------------------------------------


def _texts(
    markdown: str, above: Above, counterparts: Counterparts
) -> tuple[list[str], tuple[Loss, ...]]:
    """Return the text of each native message (author, quote in the first, a part), and losses."""
    document = with_counterparts(markdown_to_text(markdown), counterparts)
    whole = text_to_teams(document)
    first, later = _heads(above)
    room = _room(first)
    fits = _weight(whole) <= room
    parts = [whole] if fits else [part for _, part in _split(markdown, room, counterparts)]
    texts = [_join_blocks(later if slot else first, part) for slot, part in enumerate(parts)]
    return texts, tuple(_losses(document))


def parts(delivery: Delivery, byline: Byline) -> list[tuple[str, str, Callable[[str], str]]]:
    """Return for each native message of a text: its heading lines, its Markdown, and a function
    that writes the Markdown without mentions."""
    markdown = message_text(delivery.message)[0]
    first, later = _heads(Above(byline.name, delivery.quoted))
    pieces = [piece for piece, _ in _split(markdown, _room(first), Counterparts())]
    return [
        (later if slot else first, piece, _write_without_mentions)
        for slot, piece in enumerate(pieces)
    ]


def _write_without_mentions(markdown: str) -> str:
    return with_marks(text_to_teams(markdown_to_text(markdown)))


def _heads(above: Above) -> tuple[str, str]:
    """Return the lines above the first message, and those above the others."""
    return _join_blocks(*above.lines()), _join_blocks(*above.without_quote().lines())


def _room(head: str) -> int:
    return max(TEXT_LIMIT - _weight(f"{head}\n\n\n\n"), 1000)


def _join_blocks(*blocks: str) -> str:
    return "\n\n".join(block for block in blocks if block)


def _split(markdown: str, room: int, counterparts: Counterparts) -> list[tuple[str, str]]:
    """Return each part and its written form, which fits `room`.

    The first cut estimates the written size, because writing is slower.
    """

    def write(piece: str) -> str:
        return text_to_teams(with_counterparts(markdown_to_text(piece), counterparts))

    parts: list[tuple[str, str]] = []
    for piece in split_text(markdown, room, _guess):
        written = write(piece)
        if _weight(written) <= room:
            parts.append((piece, written))
        else:
            smaller = split_text(piece, room, lambda part: _weight(write(part)))
            parts += [(part, write(part)) for part in smaller]
    return [part for part in parts if part[1].strip()] or [("", "")]


_GROWING = frozenset("\\`*_~[]{}|^=+$#!<>&\n-")


def _guess(markdown: str) -> int:
    """Return an upper estimate of the written size: references have 5 or 6 characters."""
    return _weight(markdown) + 5 * sum(map(markdown.count, _GROWING))


def _weight(text: str) -> int:
    """Return the size in UTF-16 units, with JSON escapes: the service measures the payload."""
    return utf16_length(text) + text.count('"') + text.count("\\") + text.count("\n")


_SUBSTITUTES: dict[type, tuple[str, str, str]] = {
    Heading: ("heading_as_bold", "a heading", "a bold line"),
    Spoiler: ("spoiler_shown", "a spoiler", "text behind the word spoiler"),
    Table: ("table_as_lines", "a table", "lines of cells"),
}


def _losses(document: Document) -> Iterator[Loss]:
    kinds = _kinds(document)
    for kind, (name, node_name, shown_as) in _SUBSTITUTES.items():
        if kind in kinds:
            yield Loss(path="/content", kind=name, what=node_name, shown_as=shown_as)


def _kinds(document: Document) -> set[type]:
    return {type(node) for node in _nodes(document)}


def _nodes(document: Document) -> Iterator[Any]:
    """Yield every node of a tree, in no particular order."""
    waiting: list[Any] = list(document)
    while waiting:
        node = waiting.pop()
        if isinstance(node, tuple):
            waiting += node
            continue
        yield node
        for name in _INNER:
            waiting += getattr(node, name, ())


_INNER = ("children", "blocks", "items", "header", "rows")  # fields that hold nodes


# --- calls --------------------------------------------------------------------------------------


def _calls(delivery: Delivery, bodies: list[Body], app_id: str) -> Iterator[Call]:
    rate_limits = _rate_limits(delivery.operation.channel, app_id)

    def post(slot: int, body: Body) -> Call:
        return post_call(
            delivery, slot, method="POST", body=body, rate_limits=rate_limits,
            thread=delivery.thread,
        )  # fmt: skip

    def edit(copy: Receipt, body: Body) -> Call:
        whole = body | {"id": copy.native_id}
        return copy_call(delivery, copy, "edit", method="PUT", body=whole, rate_limits=rate_limits)

    delete = partial(_delete, delivery, rate_limits)
    return calls_in_slots(delivery, bodies, post=post, edit=edit, delete=delete)


def _delete(delivery: Delivery, rate_limits: tuple[RateLimitKey, ...], copy: Receipt) -> Call:
    return copy_call(delivery, copy, "delete", method="DELETE", body={}, rate_limits=rate_limits)


def _activity(text: str) -> Body:
    return {"type": "message", "textFormat": "markdown", "text": text}


def _rate_limits(channel: ChannelRef, app_id: str) -> tuple[RateLimitKey, ...]:
    return (
        RateLimitKey(rule=CONVERSATION, of=f"{app_id} {channel.key}"),
        RateLimitKey(rule=APP_AND_TENANT, of=f"{app_id} {channel.workspace}"),
    )
