"""Stored payloads of platforms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bridge.model.raw import Raw

InboxState = Literal["waiting", "done", "failed"]


@dataclass(frozen=True)
class InboxRow:
    """A stored payload; ids increase in the order of arrival. Credentials stay sealed."""

    id: int
    raw: Raw
