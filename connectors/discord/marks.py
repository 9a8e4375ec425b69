"""Reactions and pins: a delivery -> the bot's request. Pure.

A webhook can neither react nor pin: the bot itself reacts to and pins its webhook's posts.
Source: docs, resources/message (2026-08).
"""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import JsonValue

from bridge.content.messages.calls import copy_call
from bridge.model import (
    AccountId,
    AddReaction,
    Call,
    ChannelRef,
    Delivery,
    Encoded,
    OperationId,
    PinMessage,
    RateLimitKey,
    ReactionOrPin,
    RemoveReaction,
    UnpinMessage,
)
from connectors.discord.capabilities import GLOBAL, PIN, REACTION, TYPING

REACT, UNREACT, PUT_PIN, TAKE_PIN = "reaction.add", "reaction.remove", "pin.add", "pin.remove"
TYPE = "typing"
_METHODS: dict[type[ReactionOrPin], str] = {
    AddReaction: REACT,
    RemoveReaction: UNREACT,
    PinMessage: PUT_PIN,
    UnpinMessage: TAKE_PIN,
}


@dataclass(frozen=True)
class Typing:
    """The typing indicator of one account."""

    account: AccountId

    def typing_call(self, channel: ChannelRef) -> Call:
        """Return the call that shows the bot as typing; Discord shows it for ten seconds."""
        return Call(
            kind="other",
            method=TYPE,
            operation=OperationId("typing"),
            channel=channel,
            rate_limits=(
                RateLimitKey(rule=TYPING, of=channel.channel),
                RateLimitKey(rule=GLOBAL, of=self.account),
            ),
            body={},
        )


def takes_reaction(emoji: str) -> bool:
    """Return whether Discord may accept the emoji.

    All Unicode emoji pass; only Discord knows whether the server has a custom emoji.
    """
    return emoji != "\ufffd"


def encode_mark(delivery: Delivery, mark: ReactionOrPin) -> Encoded:
    """Return one request, on the first copy of the message; no call if there is no copy."""
    method = _METHODS.get(type(mark))
    if method is None or not delivery.copies:
        return Encoded(calls=())
    copy = delivery.copies[0]
    body: dict[str, JsonValue] = {}
    if isinstance(mark, AddReaction | RemoveReaction):
        body["emoji"] = mark.emoji
    rate_limits = (
        RateLimitKey(rule=REACTION if body else PIN, of=mark.channel.channel),
        RateLimitKey(rule=GLOBAL, of=mark.account),
    )
    call = copy_call(delivery, copy, "other", method=method, body=body, rate_limits=rate_limits)
    return Encoded(calls=(call,))
