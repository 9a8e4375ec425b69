"""Slack's rich messages <-> the neutral card: `read.py` in, `write.py` out. Pure.

The package is a `bridge.content.cards.codec.Codec`; `read_message` reads a whole message and
`read_form` a view.
"""

from __future__ import annotations

from connectors.slack import ids
from connectors.slack.cards.copies import as_copy
from connectors.slack.cards.mistakes import mistakes
from connectors.slack.cards.read import payloads, read_form, read_message, read_payload
from connectors.slack.cards.read_left_out import left_out, unexpanded
from connectors.slack.cards.read_shapes import wrong_shapes
from connectors.slack.cards.schemas import SCHEMA_IDS
from connectors.slack.cards.write import write_card
from connectors.slack.native_press import native_press

PLATFORM: str = ids.PLATFORM

__all__ = [
    "PLATFORM",
    "SCHEMA_IDS",
    "as_copy",
    "left_out",
    "mistakes",
    "native_press",
    "payloads",
    "read_form",
    "read_message",
    "read_payload",
    "unexpanded",
    "write_card",
    "wrong_shapes",
]
