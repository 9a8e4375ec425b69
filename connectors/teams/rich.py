"""A message with more than text -> activities. Pure and stable.

A card of Teams' goes out as it came, with its mentions as a copy may have them; elsewhere, and
where its buttons would be dead, what it says is written anew. The author stands in bold above: a
bot has one name.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import cast

from pydantic import JsonValue

from bridge.content.cards.bodies import native_payloads, rendering_of
from bridge.content.cards.json_tree import at_pointer
from bridge.content.cards.reader import Cards
from bridge.content.cards.tree import Card
from bridge.content.cards.walk import actions_of
from bridge.content.messages.authors import workspace_in
from bridge.content.messages.metadata import has_summary
from bridge.content.safety.mentions import with_counterparts
from bridge.model import ChannelRef, Counterparts, Loss
from bridge.model.operations import NO_COUNTERPARTS
from bridge.ports.files import Files
from bridge.uacs import Message
from connectors.teams.above import Above
from connectors.teams.cards import as_copy, write_card
from connectors.teams.cards.schemas import CARDS
from connectors.teams.consent import questions
from connectors.teams.ids import PLATFORM, is_personal

Body = dict[str, JsonValue]
_MAX_CARD = 25_000  # UTF-16 units of JSON; Teams takes 28 KB with all around it
_MAX_SUMMARY = 200  # characters
_ADAPTIVE = "application/vnd.microsoft.card.adaptive"


def rich_bodies(
    message: Message,
    above: Above,
    channel: ChannelRef,
    cards: Cards,
    files: Files | None,
    counterparts: Counterparts = NO_COUNTERPARTS,
    *,
    apart: bool = False,
) -> tuple[list[Body], tuple[Loss, ...]]:
    """In the chat of one person files that we hold follow what names them. With `apart` no body has
    text and attachments at once, which Teams refuses in an edit."""
    card, losses = cards.read(message)
    if (body := _original_body(message, card, cards, counterparts)) is not None:
        whole = _with_byline(body, above, apart=apart)
        if not (apart and whole.get("text")):
            return [whole], losses
    card = with_counterparts(card, counterparts)
    url_of, uploads = None if files is None else files.url_of, is_personal(channel)
    rendering = rendering_of(message, cards, url_of, uploads=uploads)
    written = write_card(card, rendering, apart=apart)
    bodies: list[Body] = []
    for native in written.messages:
        over = above.without_quote() if bodies else above
        bodies.append(_with_byline(dict(native.body), over, apart=apart))
        bodies += questions(native.files, channel.channel, cards.key)
    if bodies and has_summary(message):
        bodies[0] = {**bodies[0], "summary": " ".join(card.summary.split())[:_MAX_SUMMARY]}
    return bodies, (*losses, *written.losses)


def _with_byline(body: Body, above: Above, *, apart: bool) -> Body:
    """The message with its author: in the card where it is one, or the first of several where no
    text may stand beside them; else in the text."""
    text, attachments = body.get("text"), body.get("attachments")
    leads = isinstance(attachments, list) and (apart or len(attachments) == 1)
    if not text and leads and (authored := _with_author(attachments, above)) is not None:
        return {"type": "message", **body, "attachments": authored}
    lines = [*above.lines(), *([text] if isinstance(text, str) and text else [])]
    return {**body, "type": "message", "textFormat": "markdown", "text": "\n\n".join(lines)}


def _with_author(attachments: JsonValue, above: Above) -> list[JsonValue] | None:
    """In the first card; None where that is no Adaptive Card."""
    match attachments:
        case [
            {"contentType": kind, "content": {"body": list(elements), **card}, **attachment_fields},
            *more,
        ] if kind == _ADAPTIVE:
            content: JsonValue = {**card, "body": [*above.elements(), *elements]}
            return [{**attachment_fields, "contentType": kind, "content": content}, *more]
        case _:
            return None


def _with_tokens(
    content: JsonValue, at: str, card: Card, token_of: Callable[[str], str]
) -> JsonValue:
    """With our token in the data of each Action.Submit: Teams tells nothing else of what was
    pressed. What the author receives has it not."""
    marked = deepcopy(content)
    for action in actions_of(card):
        target = at_pointer(marked, action.at[len(at) :]) if action.at.startswith(at) else None
        if isinstance(target, dict) and target.get("type") == "Action.Submit":
            data = target.get("data")
            if data is None or isinstance(data, dict):
                target["data"] = {**(data or {}), "token": token_of(action.at)}
    return marked


def _original_body(
    message: Message, card: Card, cards: Cards, counterparts: Counterparts
) -> Body | None:
    """Teams' own cards with their mentions as the rule has them, where they may be shown."""
    token_of = cards.live_tokens(message)
    attachments: list[JsonValue] = []
    for index, part in native_payloads(message, card, cards, CARDS):
        kind = _ADAPTIVE if part.schema_id == f"{_ADAPTIVE}+json" else part.schema_id
        content = cast("JsonValue", part.data)
        if token_of is not None:
            content = _with_tokens(content, f"/content/{index}/data", card, token_of)
        attachments.append({"contentType": kind, "content": content})
    if not attachments:
        return None
    tenant = workspace_in(message, PLATFORM)
    copied = as_copy({"attachments": attachments}, cards.rule(message, counterparts), tenant)
    return cast("Body", copied) if len(str(copied)) <= _MAX_CARD else None
