"""Reactions and pins: a delivery -> the request by which the bot reacts. Pure.

Bots react by `PUT` and `DELETE .../activities/{id}/reactions/{type}` (msteams-docs, 2026-08; not in
botbuilder). If the service does not support it, a note below the message names who reacts. The Bot
Framework has no request for pins.
"""

from __future__ import annotations

from bridge.content.messages.calls import copy_call
from bridge.model import (
    AddReaction,
    Delivery,
    Encoded,
    Loss,
    NoteReactions,
    PinMessage,
    RateLimitKey,
    ReactionOrPin,
    UnpinMessage,
)
from connectors.teams.emoji import emoji_to_reaction

REACTION = "reaction"  # the key of its type in the call's body


def takes_reaction(emoji: str) -> bool:
    """Return whether Teams has a reaction for this emoji."""
    return emoji_to_reaction(emoji) is not None


def encode_mark(
    delivery: Delivery, mark: ReactionOrPin, rate_limits: tuple[RateLimitKey, ...]
) -> Encoded:
    """Return one request for the first copy of the message, or a loss that a note replaces."""
    if isinstance(mark, NoteReactions) or not delivery.copies:
        return Encoded(calls=())
    if isinstance(mark, PinMessage | UnpinMessage):
        lost = Loss(path="", kind="pin_unknown", what="a pin", shown_as="a note")
        return Encoded(calls=(), losses=(lost,))
    kind = emoji_to_reaction(mark.emoji)
    if kind is None:
        lost = Loss(path="", kind="reaction_unknown", what=mark.emoji, shown_as="a note")
        return Encoded(calls=(), losses=(lost,))
    copy = delivery.copies[0]
    method = "PUT" if isinstance(mark, AddReaction) else "DELETE"
    call = copy_call(
        delivery, copy, "other", method=method, body={REACTION: kind}, rate_limits=rate_limits
    )
    return Encoded(calls=(call,))
