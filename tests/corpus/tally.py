"""Many verdicts -> the numbers that the bars are set on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

from tests.corpus.laws import Verdict


@dataclass(slots=True)
class Sums:
    """Counts of one way, added up."""

    messages: int = 0
    refused: int = 0
    words: int = 0
    kept: int = 0
    ordered: int = 0
    in_order: int = 0
    acts: int = 0
    usable: int = 0
    acts_named: int = 0
    full: int = 0
    full_lost: int = 0
    nodes: int = 0
    nodes_kept: int = 0
    faults: int = 0

    def add(self, verdict: Verdict) -> None:
        self.messages += 1
        self.refused += bool(verdict.refused)
        self.faults += len(verdict.faults)
        for name in _COUNTED:
            setattr(self, name, getattr(self, name) + getattr(verdict, name))

    def share(self, part: str, whole: str, *, otherwise: float = 1.0) -> float:
        total = getattr(self, whole)
        return getattr(self, part) / total if total else otherwise


_COUNTED = frozenset(field.name for field in fields(Sums)) - {"messages", "refused", "faults"}


def sums(verdicts: Iterable[Verdict]) -> dict[tuple[str, str], Sums]:
    """By source and target."""
    totals: dict[tuple[str, str], Sums] = {}
    for verdict in verdicts:
        totals.setdefault((verdict.case.platform, verdict.target), Sums()).add(verdict)
    return totals


def table(verdicts: Sequence[Verdict]) -> str:
    """A line for each way."""
    head = (
        f"\n{'way':20} {'msgs':>5} {'refused':>7} {'words':>7} {'kept':>7} {'order':>7} "
        f"{'acts':>5} {'usable':>7} {'named':>6} {'full':>6} {'lossy':>6} {'nodes':>6} {'home':>6} "
        f"{'faults':>6}"
    )
    return "\n".join([head, *(_row(way, total) for way, total in sorted(sums(verdicts).items()))])


def _row(way: tuple[str, str], total: Sums) -> str:
    return (
        f"{' -> '.join(way):20} {total.messages:5} {total.refused:7} {total.words:7} "
        f"{total.share('kept', 'words'):7.2%} {total.share('in_order', 'ordered'):7.2%} "
        f"{total.acts:5} {total.share('usable', 'acts'):7.2%} {total.acts_named:6} {total.full:6} "
        f"{total.share('full_lost', 'full', otherwise=0):6.2%} {total.nodes:6} "
        f"{total.share('nodes_kept', 'nodes'):6.1%} {total.faults:6}"
    )
