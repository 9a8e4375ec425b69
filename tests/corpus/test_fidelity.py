"""docs/fidelity.md has a table for every way between platforms."""

from __future__ import annotations

from tests.corpus.examples import EXAMPLES
from tests.corpus.fidelity import PAGE, page
from tests.corpus.laws import PLATFORMS, judge
from tests.corpus.payloads import Case
from tests.corpus.platforms import LABELS

TEXT = PAGE.read_text("utf-8")


def test_every_pair_of_platforms_has_a_table() -> None:
    ways = [(a, b) for a in PLATFORMS for b in PLATFORMS if a != b]

    assert [(a, b) for a, b in ways if f"\n## {LABELS[a]} to {LABELS[b]}\n" not in TEXT] == []


def test_an_element_without_a_loss_counts_as_kept_and_one_with_a_loss_as_degraded() -> None:
    cases = [Case("slack", name, EXAMPLES["slack"][name]) for name in ("header", "table")]

    written = page([judge(case, "discord") for case in cases])

    assert "| `header` | 1 | 100% |  |  |  |" in written
    assert "| `table` | 1 |  | 100% |  | `table_as_code` |" in written
