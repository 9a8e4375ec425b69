"""CPU of writing one message for ten channels of a platform: written once, against ten times.

`python -m tests.benchmarks.copies`. Microseconds for each channel, medians of 21 turns.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from unittest.mock import patch

from bridge.content.cards.json import SCHEMA_ID
from bridge.content.cards.reader import Cards
from bridge.content.messages.written_once import WrittenOnce
from bridge.model import (
    AccountId,
    Byline,
    ChannelRef,
    Delivery,
    Encoded,
    MessageId,
    OperationId,
    PostMessage,
    RoomId,
)
from bridge.uacs import Actor, ContentPart, Message, StructuredDataPart, TextPart
from connectors.discord import cards as discord
from connectors.discord.encode import encode as encode_discord
from connectors.slack import cards as slack
from connectors.slack.encode import encode as encode_slack
from connectors.teams import cards as teams
from connectors.teams.encode import encode as encode_teams
from tests.benchmarks.cards import card_json
from tests.benchmarks.turns import in_turns

CHANNELS = 10
TURNS = 21
_REPEATS = 10
_CARDS = Cards.over((slack, discord, teams), bytes(32))
_ENCODERS: dict[str, Callable[[Delivery], Encoded]] = {
    "slack": lambda delivery: encode_slack(delivery, _CARDS),
    "discord": lambda delivery: encode_discord(delivery, _CARDS),
    "teams": lambda delivery: encode_teams(delivery, "app", _CARDS),
}
_NUMBERS = count()


def _content() -> dict[str, ContentPart]:
    words = "The build of **main** passed; read [the notes](https://example.com/4.2.1) first."
    return {
        "text": TextPart(text=words),
        "card": StructuredDataPart(data=card_json(), schema_id=SCHEMA_ID),
    }


def _deliveries(platform: str, part: ContentPart) -> Sequence[Delivery]:
    """One new message, as each lane reads it from the store by itself."""
    number = next(_NUMBERS)
    message = Message(
        message_id=f"api:{number}", timestamp="2026-01-01T00:00:00Z", content=(part,),
        actor=Actor(id="api:api:watch", role="assistant"),
    )  # fmt: skip
    return [
        Delivery(
            operation=PostMessage(
                id=OperationId(f"{number}-{channel}"), account=AccountId("a"), room=RoomId("r"),
                message=MessageId(message.message_id), byline=Byline(name="Watch"),
                channel=ChannelRef(platform=platform, workspace="T1", channel=f"C{channel}"),
            ),
            message=Message.model_validate_json(message.model_dump_json()),
        )
        for channel in range(CHANNELS)
    ]  # fmt: skip


def _encode(platform: str, part: ContentPart) -> None:
    for delivery in _deliveries(platform, part):
        _ENCODERS[platform](delivery)


def _encode_each(platform: str, part: ContentPart) -> None:
    """Without the memory of what was written."""
    with patch.object(WrittenOnce, "of", lambda _self, _delivery, *_seen, write: write()):
        _encode(platform, part)


def main() -> None:
    print(f"{'platform':<9}{'message':<9}{'each time us':>13}{'once us':>9}{'ratio (min-max)':>20}")
    for platform in _ENCODERS:
        for name, part in _content().items():
            works = [partial(work, platform, part) for work in (_encode_each, _encode, _deliveries)]
            each, once, made = in_turns(works, TURNS, _REPEATS)
            anew_us = statistics.median(map(float.__sub__, each, made)) / CHANNELS
            once_us = statistics.median(map(float.__sub__, once, made)) / CHANNELS
            ratios = sorted((w - m) / (a - m) for a, w, m in zip(each, once, made, strict=True))
            spread = f"{statistics.median(ratios):.2f} ({ratios[0]:.2f}-{ratios[-1]:.2f})"
            print(f"{platform:<9}{name:<9}{anew_us:>13.0f}{once_us:>9.0f}{spread:>20}")


if __name__ == "__main__":
    main()
