"""`uacs-bridge run`: the bridge itself."""

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
    quiet_settings_from,
    read_environment,
)

if TYPE_CHECKING:
    from bridge.app.settings.file import Settings


@click.command("run")
@config_option
@env_file_option
def command(config: Path, env_file: Path | None) -> None:
    """Run the bridge until it is stopped.

    SIGINT (Ctrl-C) and SIGTERM let it finish what it has begun, then it exits with 0. What is not
    finished by then goes on at the next start. SIGHUP has the configuration read again.

    \b
    Examples:
      uacs-bridge run -c bridge.yaml
      uacs-bridge run -c sandbox/bridge.yaml --env-file sandbox/sandbox.env
    """
    with _leaving_at_once():
        set_before = frozenset(os.environ)
        settings = quiet_settings_from(config, env_file)

        from bridge.app.logs.setup import configure_logs
        from bridge.app.run import run, settle_memory, warn_of_renamed_keys
        from bridge.app.settings.file import read_settings

        def again() -> Settings:
            if env_file is not None:
                read_environment(env_file, set_before)
            settings = read_settings(config)
            warn_of_renamed_keys(config, settings)
            return settings

        configure_logs(settings.log)
        warn_of_renamed_keys(config, settings)
        asyncio.run(run(settings, ready=lambda *_: settle_memory(), source=again))


@contextmanager
def _leaving_at_once() -> Generator[None]:
    """SIGINT and SIGTERM end the program with 0 while it imports, SIGHUP does nothing: the file is
    read yet; then the loop has its own."""
    wanted = {signal.SIGINT: _leave, signal.SIGTERM: _leave, signal.SIGHUP: signal.SIG_IGN}
    before = [signal.signal(number, handler) for number, handler in wanted.items()]
    try:
        yield
    finally:
        for number, handler in zip(wanted, before, strict=True):
            signal.signal(number, handler)


def _leave(_number: int, _frame: object) -> NoReturn:
    """Nothing has begun yet: there is nothing to finish."""
    raise SystemExit(0)
