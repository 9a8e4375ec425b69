"""How many examples a property test takes: a fifth of them in `python -m tests --fast`."""

from __future__ import annotations

import os

FEW = "UACS_FEW_EXAMPLES"  # set: by --fast


def examples(count: int) -> int:
    """Return `count`, or a fifth of it, at least five, in the inner loop."""
    return max(count // 5, 5) if os.environ.get(FEW) else count
