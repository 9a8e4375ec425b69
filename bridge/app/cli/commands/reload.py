"""`uacs-bridge reload`: make the running bridge read its file again."""

from __future__ import annotations

from pathlib import Path

import click

from bridge.app.cli.commands.options import config_option, settings_from
from bridge.errors import BridgeError, ConfigError

_DEADLINE = 120.0  # seconds: all channels are looked for, at platforms that may be slow


@click.command("reload")
@config_option
def command(config: Path) -> None:
    """Make the running bridge read its configuration again.

    Accounts that did not change stay connected. An invalid file changes nothing, and the command
    prints the errors. The signal SIGHUP does the same.

    \b
    Examples:
      uacs-bridge reload -c bridge.yaml
    """
    from bridge.app.control import running_bridge
    from bridge.app.settings.yaml_file import store_named_in

    try:
        store, wrong = settings_from(config).store.path, None
    except ConfigError as error:  # the bridge shall say so itself, and `status` shall show it
        store, wrong = store_named_in(config), error
    running = running_bridge(store)
    if running is None:
        raise wrong or BridgeError(
            "No bridge runs with this store; it reads the file when it starts"
        )
    changes = running.ask("/admin/reload", {}, seconds=_DEADLINE)["changes"]
    click.echo("\n".join(changes) if changes else "Nothing changed")
