"""Kept payloads as the store hands them out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bridge.model.raw import Raw

InboxState = Literal["waiting", "done", "failed"]


@dataclass(frozen=True)
class InboxRow:
    """A kept payload; ids rise in the order in which they were kept. Credentials stay sealed."""

    id: int
    raw: Raw
