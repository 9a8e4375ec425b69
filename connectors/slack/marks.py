"""Reactions and pins: a delivery -> the call that sets our bot's own. Pure.

Source: docs.slack.dev, `reactions.add`, `reactions.remove`, `pins.add`, `pins.remove` (2026-08).
"""

from __future__ import annotations

from pydantic import JsonValue

from bridge.content.messages.calls import copy_call
from bridge.errors import FormRefused, Refused
from bridge.model import (
    AddReaction,
    Delivery,
    Encoded,
    Loss,
    PinMessage,
    RateLimitKey,
    ReactionOrPin,
    RemoveReaction,
    UnpinMessage,
)
from connectors.slack.capabilities import ADD_PIN, ADD_REACTION, REMOVE_PIN, REMOVE_REACTION
from connectors.slack.emoji import emoji_to_reaction

_METHODS: dict[type[ReactionOrPin], str] = {
    AddReaction: ADD_REACTION,
    RemoveReaction: REMOVE_REACTION,
    PinMessage: ADD_PIN,
    UnpinMessage: REMOVE_PIN,
}
# The mark is already as wanted, or its message is gone.
IN_VAIN = frozenset({
    "already_pinned", "already_reacted", "message_not_found", "no_pin", "no_reaction", "not_pinned",
})  # fmt: skip
_CANNOT = frozenset({
    "cannot_pin", "invalid_name", "missing_scope", "not_pinnable", "too_many_emoji",
    "too_many_pins", "too_many_reactions",
})  # fmt: skip


def takes_reaction(emoji: str) -> bool:
    """Whether the emoji has a Slack name. Only Slack knows which custom emoji a workspace has."""
    return emoji_to_reaction(emoji) is not None


def encode_mark(delivery: Delivery, mark: ReactionOrPin) -> Encoded:
    """One call on the first of the copies in the delivery; none when there is no copy."""
    method = _METHODS.get(type(mark))
    if method is None or not delivery.copies:
        return Encoded(calls=())
    copy = delivery.copies[0]
    body: dict[str, JsonValue] = {"channel": mark.channel.channel, "timestamp": copy.native_id}
    if isinstance(mark, AddReaction | RemoveReaction):
        name = emoji_to_reaction(mark.emoji)
        if name is None:
            lost = Loss(path="", kind="reaction_unknown", what=mark.emoji, shown_as="a note")
            return Encoded(calls=(), losses=(lost,))
        body["name"] = name
    rate_limits = (RateLimitKey(rule=method, of=mark.account),)
    call = copy_call(delivery, copy, "other", method=method, body=body, rate_limits=rate_limits)
    return Encoded(calls=(call,))


def refusal_of_mark(error: Refused) -> Refused | None:
    """The error of a refused mark: None when nothing is left to do, a FormRefused when the bridge
    is to post words instead."""
    if error.code in IN_VAIN:
        return None
    return FormRefused(str(error), code=error.code) if error.code in _CANNOT else error
