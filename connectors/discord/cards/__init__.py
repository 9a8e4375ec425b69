"""Discord's rich content <-> cards: the bridge's `Codec`, and Discord's modals."""

from __future__ import annotations

from connectors.discord import ids
from connectors.discord.cards.copies import as_copy
from connectors.discord.cards.mistakes import mistakes
from connectors.discord.cards.read import payloads, read_form, read_message, read_payload
from connectors.discord.cards.read_shapes import wrong_shapes
from connectors.discord.cards.schemas import SCHEMA_IDS
from connectors.discord.cards.write import write_card, write_components
from connectors.discord.cards.write_forms import form_behind, write_form
from connectors.discord.cards.write_inputs import chosen_values, option_values
from connectors.discord.cards.write_state import token_of
from connectors.discord.native_press import native_press

PLATFORM: str = ids.PLATFORM

__all__ = [
    "PLATFORM",
    "SCHEMA_IDS",
    "as_copy",
    "chosen_values",
    "form_behind",
    "mistakes",
    "native_press",
    "option_values",
    "payloads",
    "read_form",
    "read_message",
    "read_payload",
    "token_of",
    "write_card",
    "write_components",
    "write_form",
    "wrong_shapes",
]
