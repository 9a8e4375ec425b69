"""A clock that tests move, and servers that may take long to connect."""

from __future__ import annotations

import pytest

from tests.router.fake_clock import FakeClock
from tests.waiting import LONGEST_WAIT


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(autouse=True)
def servers_may_be_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Importing the SDK alone takes seconds on a busy machine."""
    for name in ("_FIRST_WAIT_S", "_CONNECT_S"):
        monkeypatch.setattr(f"bridge.tools.mcp_server.{name}", LONGEST_WAIT)
