"""A clock that tests move."""

from __future__ import annotations

import pytest

from tests.router.fake_clock import FakeClock


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()
