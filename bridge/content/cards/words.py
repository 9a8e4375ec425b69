"""A card -> its whole content as one UACS Markdown text. Pure."""

from __future__ import annotations

from bridge.content.cards.parts import card_parts
from bridge.content.cards.tree import Card
from bridge.content.messages.parts import parts_text


def card_words(card: Card) -> str:
    """Returns the card as text; media become links or their names, buttons their labels."""
    return parts_text((detailed.part, detailed.details) for detailed in card_parts(card.nodes))
