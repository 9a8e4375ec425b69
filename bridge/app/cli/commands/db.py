"""`uacs-bridge db`: migrate, back up, restore and encrypt the store's file."""

from __future__ import annotations

from pathlib import Path

import click

from bridge.app.cli.commands.db_blobs import blobs, files_text, recrypt_in_bucket
from bridge.app.cli.commands.options import config_option, json_option, settings_from

_FILE = click.Path(path_type=Path, dir_okay=False)


@click.group("db")
def command() -> None:
    """Migrate, back up and restore the store, or begin a new one.

    A backup does not contain the key that seals the store's secrets (the `.key` file beside it, or
    UACS_BRIDGE_KEY): store the key separately.
    """


command.add_command(blobs)


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


@command.command("size")
@config_option
@json_option
def size(config: Path, as_json: bool) -> None:
    """Show where the bytes of the store are, by subject.

    Reads the whole database, about 2 s per GB; the bridge may run meanwhile.

    \b
    Examples:
      uacs-bridge db size
    """
    import dataclasses

    from bridge.app.printing import bytes_text, print_json, table
    from bridge.store.sizes import size_of, sizes_by_subject

    store = settings_from(config).store
    path = store.path
    whole, subjects = size_of(path), sizes_by_subject(path)
    if as_json:
        print_json({**dataclasses.asdict(whole), "subjects": dict(subjects)})
        return
    rows = [(subject, bytes_text(own)) for subject, own in subjects.items()]
    rows += [("free pages", bytes_text(whole.free)), ("write-ahead log", bytes_text(whole.log))]
    rows.append((f"{whole.file_count:,} files", bytes_text(whole.files)))
    if store.blobs is not None:
        rows.append(files_text(store))
    click.echo(table(("what", "size"), rows, indent=""))


@command.command("vacuum")
@config_option
def vacuum(config: Path) -> None:
    """Write the database anew, without free pages, so that its file shrinks.

    Stop the bridge first. It needs as much free disk space as the database has, for a while; an
    interrupted call changes nothing.

    \b
    Examples:
      uacs-bridge db vacuum
    """
    from bridge.app.printing import bytes_text
    from bridge.store.maintenance import vacuum
    from bridge.store.sizes import size_of

    path = settings_from(config).store.path
    before = size_of(path).database
    vacuum(path)
    click.echo(f"{path}: {bytes_text(before)} -> {bytes_text(size_of(path).database)}")


@command.command("encrypt")
@config_option
def encrypt(config: Path) -> None:
    """Encrypt the whole store and its files at rest.

    The key is in UACS_BRIDGE_STORE_KEY, or in the file that UACS_BRIDGE_STORE_KEY_FILE names; every
    command and the bridge need it from then on. Whoever loses it loses the store. Stop the bridge
    first. An interrupted call is finished by the next one.

    \b
    Examples:
      UACS_BRIDGE_STORE_KEY=$(openssl rand -base64 32) uacs-bridge db encrypt
    """
    from bridge.store.maintenance import encrypt
    from bridge.store.vault import vault_of

    store = settings_from(config).store
    path = store.path
    files = encrypt(path, recrypt_in_bucket(store))
    click.echo(f"Encrypted: {path} and {files:,} files")
    click.echo(f"Back up {vault_of(path)} with the store; keep the key elsewhere")


@command.command("decrypt")
@config_option
def decrypt(config: Path) -> None:
    """Decrypt the store and its files.

    Stop the bridge first. An interrupted call is finished by the next one.

    \b
    Examples:
      uacs-bridge db decrypt
    """
    from bridge.store.maintenance import decrypt

    store = settings_from(config).store
    path = store.path
    files = decrypt(path, recrypt_in_bucket(store))
    click.echo(f"Decrypted: {path} and {files:,} files")


@command.command("change-key")
@config_option
def change_key(config: Path) -> None:
    """Change the key of an encrypted store.

    The old key is in UACS_BRIDGE_STORE_KEY, the new one in UACS_BRIDGE_NEW_STORE_KEY (each also
    with _FILE). The data stay as they are, so that it takes no time. Who has the old key and an old
    copy of the vault can still read: to encrypt the data anew, decrypt and encrypt.

    \b
    Examples:
      UACS_BRIDGE_NEW_STORE_KEY_FILE=/run/secrets/new uacs-bridge db change-key
    """
    from bridge.store.maintenance import change_key

    path = settings_from(config).store.path
    change_key(path)
    click.echo(f"The key of {path} is changed: put the new one into UACS_BRIDGE_STORE_KEY")
