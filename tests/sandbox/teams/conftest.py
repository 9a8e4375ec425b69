"""A fresh local Teams for each test, limits off."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.sandbox.teams.running import RunningTeams


@pytest.fixture
def teams() -> Iterator[RunningTeams]:
    with RunningTeams() as running:
        yield running
