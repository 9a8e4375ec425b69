"""Codec of Teams: Adaptive Cards, Bot Framework cards, files and messages <-> cards."""

from __future__ import annotations

from connectors.teams import ids
from connectors.teams.cards.copies import as_copy
from connectors.teams.cards.mistakes import mistakes
from connectors.teams.cards.read import (
    left_out,
    payloads,
    read_message,
    read_payload,
    unexpanded,
)
from connectors.teams.cards.read_shapes import wrong_shapes
from connectors.teams.cards.schemas import SCHEMA_IDS
from connectors.teams.cards.write import write_card
from connectors.teams.native_press import native_press

PLATFORM: str = ids.PLATFORM

__all__ = [
    "PLATFORM",
    "SCHEMA_IDS",
    "as_copy",
    "left_out",
    "mistakes",
    "native_press",
    "payloads",
    "read_message",
    "read_payload",
    "unexpanded",
    "write_card",
    "wrong_shapes",
]
