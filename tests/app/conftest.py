"""Commands that run in this process set logging up for it: each test leaves it as it was."""

from __future__ import annotations

import logging
import sys
from collections.abc import Generator

import pytest
import structlog


@pytest.fixture(autouse=True)
def logs_as_they_were() -> Generator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    # A bridge that runs beside a command in this process does not write into what it prints.
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.__stderr__))
    yield
    logging.captureWarnings(capture=False)
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()
