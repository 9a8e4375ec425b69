"""What every test starts from."""

from __future__ import annotations

from collections.abc import Generator

import pytest
import structlog
from hypothesis import HealthCheck, settings

# How long an example takes says more of what runs beside it than of the code: what must be fast has
# tests of its own. Cards are large.
settings.register_profile(
    "here",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("here")


@pytest.fixture(autouse=True)
def logs_as_they_come() -> Generator[None]:
    """A command line that a test ran in this process set the logs of all up."""
    structlog.reset_defaults()
    yield
    structlog.reset_defaults()
