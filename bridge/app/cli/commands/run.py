"""`uacs-bridge run`: run the bridge."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from bridge.app.cli.commands.options import (
    config_option,
    env_file_option,
    first_reading,
    read_environment,
)

if TYPE_CHECKING:
    from bridge.app.settings.sections import Settings


@click.command("run")
@config_option
@env_file_option
def command(config: Path, env_file: Path | None) -> None:
    """Run the bridge until it is stopped.

    On SIGINT (Ctrl-C) and SIGTERM it finishes running work and exits with 0; the rest continues at
    the next start. On SIGHUP it reads the configuration again.

    \b
    Examples:
      uacs-bridge run -c bridge.yaml
      uacs-bridge run -c sandbox/bridge.yaml --env-file sandbox/sandbox.env
    """
    with _leaving_at_once():
        set_before = frozenset(os.environ)
        from bridge.runtime.memory import uncollected

        with uncollected():
            reader, settings = first_reading(config, env_file)

        from bridge.app.logs.setup import configure_logs
        from bridge.app.run import run, warn_of_renamed_keys

        def again() -> Settings:
            if env_file is not None:
                read_environment(env_file, set_before)
            settings = reader.read()
            warn_of_renamed_keys(config, settings)
            return settings

        configure_logs(settings.log)
        warn_of_renamed_keys(config, settings)
        asyncio.run(run(settings, source=again, alone=True))


@contextmanager
def _leaving_at_once() -> Generator[None]:
    """While the program imports, SIGINT and SIGTERM end it with 0, and SIGHUP does nothing, because
    the file is read later anyway. Afterwards the event loop handles them."""
    handlers = {signal.SIGINT: _leave, signal.SIGTERM: _leave, signal.SIGHUP: signal.SIG_IGN}
    before = [signal.signal(number, handler) for number, handler in handlers.items()]
    try:
        yield
    finally:
        for number, handler in zip(handlers, before, strict=True):
            signal.signal(number, handler)


def _leave(_number: int, _frame: object) -> NoReturn:
    """Exit with 0: no work has begun yet."""
    raise SystemExit(0)
