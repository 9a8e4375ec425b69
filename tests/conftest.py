"""What every test starts from."""

from __future__ import annotations

from collections.abc import Generator

import pytest
import structlog


@pytest.fixture(autouse=True)
def logs_as_they_come() -> Generator[None]:
    """A command line that a test ran in this process set the logs of all up."""
    structlog.reset_defaults()
    yield
    structlog.reset_defaults()
