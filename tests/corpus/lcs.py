"""How much of one sequence is found in another in the same order. Bits instead of tables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence


def longest_common(first: Sequence[Hashable], second: Sequence[Hashable]) -> int:
    """The length of the longest common subsequence (Crochemore et al. 2001)."""
    places: dict[Hashable, int] = defaultdict(int)
    for index, item in enumerate(first):
        places[item] |= 1 << index
    every = (1 << len(first)) - 1
    row = every
    for item in second:
        matching = row & places.get(item, 0)
        row = ((row + matching) | (row - matching)) & every
    return len(first) - row.bit_count()
