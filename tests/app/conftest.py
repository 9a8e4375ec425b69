"""Commands that run in this process configure its logging; each test restores it."""

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
    # A bridge in this process must not write into the output of a command.
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.__stderr__))
    yield
    logging.captureWarnings(capture=False)
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()
