"""`uacs-bridge run`: the bridge itself."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from bridge.app.commands.options import config_option, env_file_option, settings_from


@click.command("run")
@config_option
@env_file_option
def command(config: Path, env_file: Path | None) -> None:
    """Run the bridge until it is stopped.

    SIGINT (Ctrl-C) and SIGTERM let it finish what it has begun, then it exits with 0. What is not
    finished by then goes on at the next start.

    \b
    Examples:
      uacs-bridge run -c bridge.yaml
      uacs-bridge run -c sandbox/bridge.yaml --env-file sandbox/sandbox.env
    """
    settings = settings_from(config, env_file)

    from bridge.app.logs import configure_logs
    from bridge.app.run import run

    configure_logs(settings.log)
    asyncio.run(run(settings))
