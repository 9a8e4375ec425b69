"""What `check` finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Finding:
    """One thing that `check` found: what is wrong (or right), and what to do about it."""

    level: Literal["ok", "warning", "error"]
    what: str
    todo: str = ""
