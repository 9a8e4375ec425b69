"""`uacs-bridge db`: migrate, back up and restore the store's file."""

from __future__ import annotations

from pathlib import Path

import click

from bridge.app.cli.commands.options import config_option, settings_from

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.group("db")
def command() -> None:
    """Migrate, back up and restore the store, or begin a new one.

    A backup does not contain the key that seals the store's secrets (the `.key` file beside it, or
    UACS_BRIDGE_KEY): store the key separately.
    """


@command.command("migrate")
@config_option
def migrate(config: Path) -> None:
    """Bring a store that is not in use to this version's schema.

    Prints what was renamed in the store. `run` migrates by itself; a store of a newer version is
    refused, and nothing is changed.

    \b
    Examples:
      uacs-bridge db migrate -c bridge.yaml
    """
    from bridge.store.maintenance import migrate
    from bridge.store.schema import renamed_between

    before, after = migrate(settings_from(config).store.path)
    if before == after:
        click.echo(f"Schema {after}: nothing to do")
        return
    click.echo(f"Schema {before} -> {after}")
    for renaming in renamed_between(before, after):
        click.echo(f"Renamed: {renaming}")


@command.command("backup")
@click.argument("target", type=_FILE)
@config_option
def backup(target: Path, config: Path) -> None:
    """Copy the whole store, also while it is in use.

    \b
    Examples:
      uacs-bridge db backup /backups/bridge-2026-11-21.sqlite3
    """
    from bridge.store.maintenance import backup

    backup(settings_from(config).store.path, target)
    click.echo(f"Written: {target} ({target.stat().st_size:,} bytes)")


@command.command("new")
@config_option
def new(config: Path) -> None:
    """Begin an empty store where the old one's file is gone.

    `run` does so by itself in an empty folder. It refuses if a key or stored files of a store are
    still in the folder, because the file may have been removed, or not been mounted, by mistake.

    \b
    Examples:
      uacs-bridge db new -c bridge.yaml
    """
    from bridge.store.maintenance import create

    path = settings_from(config).store.path
    aside = create(path)
    click.echo(f"Created: {path}")
    if aside is not None:
        click.echo(f"The old store is now: {aside}")


@command.command("restore")
@click.argument("source", type=_FILE)
@config_option
def restore(source: Path, config: Path) -> None:
    """Replace the store by a backup; the old store is renamed, not removed.

    Stop the bridge first. At the next start the bridge catches up with what platforms still deliver
    from the time since the backup.

    \b
    Examples:
      uacs-bridge db restore /backups/bridge-2026-11-21.sqlite3
    """
    from bridge.store.maintenance import restore

    path = settings_from(config).store.path
    aside = restore(source, path)
    click.echo(f"Restored: {path}")
    if aside is not None:
        click.echo(f"The old store is now: {aside}")
