"""The bars that translation must clear on every way, over many messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tests.corpus.tally import Sums

WORDS_IN_OUTPUT = 0.98
WORDS_IN_ORDER = 0.97
ACTIONS_USABLE = 0.95
FULL_NODES_WITH_A_LOSS = 0.05
NODES_AT_HOME = 0.95


def below(
    way: tuple[str, str], total: Sums, exceptions: Mapping[str, float] | None = None
) -> Iterator[str]:
    """Each bar that this way does not clear, with what it has; `known` ones have bars of their
    own."""
    bars = exceptions or {}
    name = " -> ".join(way)
    shares = (
        ("words in the output", total.share("kept", "words"), WORDS_IN_OUTPUT),
        ("words in order", total.share("in_order", "ordered"), WORDS_IN_ORDER),
        ("usable actions", total.share("usable", "acts"), ACTIONS_USABLE),
        ("nodes at home", total.share("nodes_kept", "nodes"), NODES_AT_HOME),
    )
    for name_of_bar, share, usual in shares:
        if share < (bar := bars.get(f"{name}: {name_of_bar}", usual)):
            yield f"{name}: {name_of_bar} {share:.2%} < {bar:.1%}"
    lossy = total.share("full_lost", "full", otherwise=0)
    limit = bars.get(f"{name}: full nodes with a loss", FULL_NODES_WITH_A_LOSS)
    if lossy > limit:
        yield f"{name}: full nodes with a loss {lossy:.2%} > {limit:.1%}"
