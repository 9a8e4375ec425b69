"""Reactions: a delivery -> the request by which our bot reacts. Pure.

Bots react by `PUT` and `DELETE .../activities/{id}/reactions/{type}` (msteams-docs, 2026-08; not in
botbuilder). Where the service does not know it yet, the note below the message says who reacts.
Nobody can pin by the Bot Framework.
"""

from __future__ import annotations

from bridge.model import (
    AddReaction,
    Call,
    Delivery,
    Encoded,
    Loss,
    Mark,
    NoteReactions,
    PinMessage,
    RateLimitKey,
    UnpinMessage,
)
from connectors.teams.emoji import emoji_to_reaction

REACTION = "reaction"  # the key of its type in the call's body


def takes_reaction(emoji: str) -> bool:
    return emoji_to_reaction(emoji) is not None


def encode_mark(delivery: Delivery, mark: Mark, budgets: tuple[RateLimitKey, ...]) -> Encoded:
    """One request on the first of the copies that stand there."""
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
    call = Call(
        kind="other",
        method="PUT" if isinstance(mark, AddReaction) else "DELETE",
        operation=mark.id,
        channel=mark.channel,
        slot=copy.slot,
        thread=copy.thread,
        native_id=copy.native_id,
        budgets=budgets,
        body={REACTION: kind},
    )
    return Encoded(calls=(call,))
