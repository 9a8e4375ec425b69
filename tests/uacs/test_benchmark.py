"""The benchmark measures what its bars speak of."""

from __future__ import annotations

import pytest

from tests.benchmarks.uacs_codec import BARS, measure, rich_message, table, text_message

pytestmark = pytest.mark.process


def test_the_benchmark_has_messages_of_200_bytes_and_8_kilobytes() -> None:
    assert 190 <= len(text_message()) <= 210
    assert 7_800 <= len(rich_message()) <= 8_600


def test_the_benchmark_gives_a_ratio_for_each_bar() -> None:
    rows = measure(runs=1)

    assert {row["message"]: row["bar"] for row in rows} == BARS
    assert all(row["ratio_min"] <= row["ratio"] <= row["ratio_max"] for row in rows)
    assert len(table(rows).splitlines()) == 1 + len(BARS)
