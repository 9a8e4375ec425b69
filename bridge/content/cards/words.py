"""A card -> all that it says, as one UACS Markdown text. Pure."""

from __future__ import annotations

from bridge.content.cards.parts import card_parts
from bridge.content.cards.tree import Card
from bridge.content.messages.parts import parts_text


def card_words(card: Card) -> str:
    """Media are links or their names, buttons what stands on them."""
    return parts_text((detailed.part, detailed.details) for detailed in card_parts(card.nodes))
