"""A fresh local Teams for each test, and one for all tests of a module that change nothing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.sandbox.teams.running import RunningTeams


@pytest.fixture
def teams() -> Iterator[RunningTeams]:
    with RunningTeams() as running:
        yield running


@pytest.fixture(scope="module")
def untouched() -> Iterator[RunningTeams]:
    with RunningTeams() as running:
        yield running
