"""A message with more than text -> activities. Pure and deterministic.

A Teams card is copied with only the allowed mentions; a card of another platform, or one whose
buttons would not work, is written anew. The author is written in bold above: a bot has one name.
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
_MAX_CARD = 25_000  # UTF-16 units of JSON; Teams accepts 28 KB for the whole activity
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
    """Return the activities of a message, and the losses.

    In a personal chat, file consent cards follow the message that names the files. With `apart` no
    body has both text and attachments, which Teams refuses in an edit.
    """
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
    """Return the activity with its author: in the first card if the activity is a single card or
    must not have text; otherwise in the text."""
    text, attachments = body.get("text"), body.get("attachments")
    leads = isinstance(attachments, list) and (apart or len(attachments) == 1)
    if not text and leads and (authored := _with_author(attachments, above)) is not None:
        return {"type": "message", **body, "attachments": authored}
    lines = [*above.lines(), *([text] if isinstance(text, str) and text else [])]
    return {**body, "type": "message", "textFormat": "markdown", "text": "\n\n".join(lines)}


def _with_author(attachments: JsonValue, above: Above) -> list[JsonValue] | None:
    """Add the author to the first card; None if that is no Adaptive Card."""
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
    """Return the card with a token in the data of each Action.Submit.

    The data is all that Teams sends about a press. The author of the card receives it without the
    token.
    """
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
    """Return the activity with copies of Teams' own cards; None if they must be written anew."""
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
