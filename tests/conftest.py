"""Settings, markers and fixtures of all tests."""

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

# No deadline: the time of an example depends on the load of the machine. Other tests measure speed.
# Cards are large.
_UNHURRIED = settings(
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    database=None,
)
# The same examples at every run, so that the result depends on the code alone.
settings.register_profile("same", _UNHURRIED, derandomize=True, max_examples=examples(100))
# Other examples at every run: `python -m tests --search`.
settings.register_profile("search", _UNHURRIED, derandomize=False)
_LOCAL_CONSTANTS = "_get_local_constants"
_SEARCHES = bool(os.environ.get("UACS_SEARCH"))
settings.load_profile("search" if _SEARCHES else "same")
if not _SEARCHES:
    # Hypothesis also draws constants of the loaded modules, which differ between workers.
    # Nothing public switches that off.
    if not hasattr(providers, _LOCAL_CONSTANTS):
        raise RuntimeError(
            f"This version of Hypothesis has no {providers.__name__}.{_LOCAL_CONSTANTS}: adapt the "
            "patch in tests/conftest.py, or the examples differ between two runs"
        )
    setattr(providers, _LOCAL_CONSTANTS, Constants)

_HERE = Path(__file__).parent
_DEFAULT_PORT = 8080  # of `web.port`
# What the tests of a folder need beside Python; other modules mark themselves.
_FOLDERS = {"app/demo": "browser", "pictures": "browser", "corpus": "corpus", "e2e": "process"}
_LAST_LONG = 0.85  # of all files: after these, no file begins that may take a minute


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect no garbage while tests are collected: all that is made then stays."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the tests that `python -m tests --fast` omits; order files for several workers."""
    for item in items:
        module = item.module if isinstance(item, pytest.Function) else None
        for marker in _markers_of(item.path, module):
            item.add_marker(marker)
    if hasattr(config, "workerinput"):  # one of pytest-xdist's workers
        items[:] = _mixed(items)


def _mixed(items: list[pytest.Item]) -> list[pytest.Item]:
    """Files whose tests mostly wait stand evenly between those that compute, so that neither all
    workers wait at once nor all compete for the processors; the last files are short ones."""
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    waits = {path: any(map(_waits, tests)) for path, tests in files.items()}
    long = [path for path in files if waits[path]]
    long.sort(key=lambda path: not path.is_relative_to(_HERE / "e2e"))  # the longest are there
    short = [path for path in files if not waits[path]]
    places = [(at / (len(long) or 1) * _LAST_LONG, path) for at, path in enumerate(long)]
    places += [(at / len(short), path) for at, path in enumerate(short)]
    return [item for _, path in sorted(places) for item in files[path]]


def _waits(item: pytest.Item) -> bool:
    return any(item.get_closest_marker(marker) for marker in ("process", "browser"))


@cache
def _markers_of(path: Path, module: ModuleType | None) -> list[str]:
    if not path.is_relative_to(_HERE):
        return []
    markers = [marker for folder, marker in _FOLDERS.items() if path.is_relative_to(_HERE / folder)]
    return [*markers, *(["process"] if module is not None and _runs_the_bridge(module) else [])]


def pytest_collection_finish() -> None:
    """Exclude modules and tests from later collections of garbage, and let these be fewer."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)  # at 700, as by default, they take a tenth of all time


def _runs_the_bridge(module: ModuleType) -> bool:
    """Whether a test module uses the whole bridge and the local platforms of `tests.e2e`."""
    return any(
        getattr(value, "__module__", "").startswith("tests.e2e") for value in vars(module).values()
    )


def _refuse_the_default_port(event: str, args: tuple[object, ...]) -> None:
    """Fail a test that listens at the default of `web.port`: another program may use it."""
    if event == "socket.bind" and isinstance(args[1], tuple) and args[1][1] == _DEFAULT_PORT:
        raise RuntimeError(f"A test listens at port {_DEFAULT_PORT}; give it web: {{port: 0}}")


sys.addaudithook(_refuse_the_default_port)


@pytest.fixture(autouse=True)
def reset_logs() -> Generator[None]:
    """Reset the logging, which a command line that a test ran in this process has configured."""
    _plain_logs()
    yield
    _plain_logs()


def _plain_logs() -> None:
    """structlog's defaults with plain tracebacks: rich ones stop the event loop for seconds."""
    structlog.reset_defaults()
    *before, _ = structlog.get_config()["processors"]
    renderer = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(processors=[*before, renderer])
