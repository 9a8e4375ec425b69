"""How much property tests and tests of large input do: half of what they say, all of it in
`python -m tests --whole` and `--search`, a fifth in `--fast`. Tests that are marked `long` do all.
"""

from __future__ import annotations

import os

FAST = "UACS_FAST_TESTS"  # set: by --fast
WHOLE = "UACS_WHOLE_TESTS"  # set: by --whole and --search
_DIVISOR = 5 if os.environ.get(FAST) else 1 if os.environ.get(WHOLE) else 2


def examples(count: int) -> int:
    """Return the part of `count` that this run takes, at least five."""
    return max(count // _DIVISOR, 5)


def large(count: int) -> int:
    """Return the part of `count` that this run takes."""
    return count // _DIVISOR
