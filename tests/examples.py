"""How much property tests and tests of large input do: a fifth in `python -m tests --fast`."""

from __future__ import annotations

import os

FAST = "UACS_FAST_TESTS"  # set: by --fast


def examples(count: int) -> int:
    """Return `count`, or a fifth of it, at least five, in the inner loop."""
    return max(count // 5, 5) if os.environ.get(FAST) else count


def large(count: int) -> int:
    """Return `count`, or a fifth of it in the inner loop."""
    return count // 5 if os.environ.get(FAST) else count
