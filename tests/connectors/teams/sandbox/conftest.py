"""A fresh local Teams for each test, and a shared one for tests that change nothing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.connectors.teams.sandbox.running import Host, RunningTeams


@pytest.fixture(scope="session")
def host() -> Iterator[Host]:
    with Host() as running:
        yield running


@pytest.fixture
def teams(host: Host) -> Iterator[RunningTeams]:
    with RunningTeams(host) as running:
        yield running


@pytest.fixture(scope="module")
def untouched(host: Host) -> Iterator[RunningTeams]:
    with RunningTeams(host) as running:
        yield running
