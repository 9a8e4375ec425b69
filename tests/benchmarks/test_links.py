"""The benchmark of look-ups builds and asks the stores of today's schema."""

import pytest

from tests.benchmarks.links import ENGINES, measure


@pytest.mark.parametrize("engine", ENGINES)
async def test_the_same_questions_are_asked_of_stores_of_all_sizes(engine: str) -> None:
    results = await measure((300, 900), engine, rounds=1)

    assert [row["pairs"] for row in results["sizes"]] == [300, 900]
    assert all(row["us"].keys() == results["sizes"][0]["us"].keys() for row in results["sizes"])
