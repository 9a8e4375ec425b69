"""`uacs-bridge reload`: have the running bridge read its file again."""

from __future__ import annotations

from pathlib import Path

import click

from bridge.app.commands.options import config_option, settings_from
from bridge.errors import BridgeError


@click.command("reload")
@config_option
def command(config: Path) -> None:
    """Have the running bridge read its configuration again.

    Accounts that did not change stay connected. A file that is wrong changes nothing. The same
    happens when the bridge gets the signal SIGHUP.

    \b
    Examples:
      uacs-bridge reload -c bridge.yaml
    """
    from bridge.app.admin import running_bridge

    settings = settings_from(config)
    running = running_bridge(settings.store.path)
    if running is None:
        raise BridgeError("No bridge runs with this store; it reads the file when it starts")
    changes = running.ask("/admin/reload", {})["changes"]
    click.echo("\n".join(changes) if changes else "Nothing changed")
