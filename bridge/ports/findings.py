"""The results of `uacs-bridge check`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Finding:
    """One result of a check: `what` is wrong or right, and `todo` says how to correct it."""

    level: Literal["ok", "warning", "error"]
    what: str
    todo: str = ""
