"""What every test starts from."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Generator
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest
import structlog
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

from tests.examples import examples

# How long an example takes says more of what runs beside it than of the code: what must be fast has
# tests of its own. Cards are large.
_UNHURRIED = settings(
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    database=None,
)
# The same examples at every run, so that a run is green or red by the code alone.
settings.register_profile("same", _UNHURRIED, derandomize=True, max_examples=examples(100))
# Other examples at every run: `python -m tests --search`.
settings.register_profile("search", _UNHURRIED, derandomize=False)
_SEARCHES = bool(os.environ.get("UACS_SEARCH"))
settings.load_profile("search" if _SEARCHES else "same")
if not _SEARCHES:
    # Hypothesis also draws the constants of all modules that are loaded: other ones in each worker.
    setattr(providers, "_get_local_constants", Constants)  # noqa: B010, nothing public switches it

_HERE = Path(__file__).parent
_DEFAULT_PORT = 8080  # of `web.port`
# What a folder's tests need beside Python; modules elsewhere say it themselves.
_FOLDERS = {"app/demo": "browser", "pictures": "browser", "corpus": "corpus", "e2e": "process"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what `python -m tests --fast` leaves out."""
    for item in items:
        if item.path.is_relative_to(_HERE):
            for folder, marker in _FOLDERS.items():
                if item.path.is_relative_to(_HERE / folder):
                    item.add_marker(marker)
            if isinstance(item, pytest.Function) and _runs_the_bridge(item.module):
                item.add_marker("process")


def pytest_collection_finish() -> None:
    """Take what the modules and tests are made of out of every later garbage collection."""
    gc.collect()
    gc.freeze()


@cache
def _runs_the_bridge(module: ModuleType) -> bool:
    """Whether a module of tests takes the whole bridge and its local platforms from `tests.e2e`."""
    return any(
        getattr(value, "__module__", "").startswith("tests.e2e") for value in vars(module).values()
    )


def _refuse_the_default_port(event: str, args: tuple[object, ...]) -> None:
    """Another program may listen at the default of `web.port` while tests run."""
    if event == "socket.bind" and isinstance(args[1], tuple) and args[1][1] == _DEFAULT_PORT:
        raise RuntimeError(f"A test listens at port {_DEFAULT_PORT}; give it web: {{port: 0}}")


sys.addaudithook(_refuse_the_default_port)


@pytest.fixture(autouse=True)
def logs_as_they_come() -> Generator[None]:
    """A command line that a test ran in this process set the logs of all up."""
    _plain_logs()
    yield
    _plain_logs()


def _plain_logs() -> None:
    """structlog's defaults with plain tracebacks: rich ones stop the event loop for seconds."""
    structlog.reset_defaults()
    *before, _ = structlog.get_config()["processors"]
    renderer = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(processors=[*before, renderer])
