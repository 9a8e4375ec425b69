"""`uacs-bridge db`: examine, migrate, back up, restore, encrypt and copy the store."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bridge.app.cli.commands.db_blobs import blobs, files_text, recrypt_in_bucket
from bridge.app.cli.commands.options import config_option, json_option, settings_from

if TYPE_CHECKING:
    from bridge.app.settings.store import StoreSettings
    from bridge.store.postgresql.copying import Progress

_FILE = click.Path(path_type=Path, dir_okay=False)
_FOLDER = click.Path(path_type=Path, file_okay=False)


@click.group("db")
def command() -> None:
    """Examine, migrate, back up and restore the store, or begin a new one.

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
    import asyncio

    from bridge.app.opening import migrate
    from bridge.store.schema import renamed_between

    settings = settings_from(config).store
    before, after = asyncio.run(migrate(settings))
    if before == after:
        click.echo(f"Schema {after}: nothing to do")
        return
    click.echo(f"Schema {before} -> {after}")
    for renaming in renamed_between(before, after) if settings.url is None else ():
        click.echo(f"Renamed: {renaming}")


@command.command("backup")
@click.argument("target", type=_FILE, required=False)
@click.option("--into", type=_FOLDER, help="A folder of backups, each with what changed.")
@click.option("--keep", type=click.IntRange(1), help="With --into: how many backups stay.")
@config_option
def backup(target: Path | None, into: Path | None, keep: int | None, config: Path) -> None:
    """Copy the whole store, also while it is in use.

    With --into, it writes into a folder only what changed since the last backup there, with the
    stored files, each once. `db backups` lists what is in such a folder.

    \b
    Examples:
      uacs-bridge db backup /backups/bridge-2026-11-21.sqlite3
      uacs-bridge db backup --into /backups/bridge --keep 30
    """
    if (target is None) == (into is None) or (keep is not None and into is None):
        raise click.UsageError("Give a TARGET, or --into FOLDER, to which --keep belongs")
    from bridge.app.opening import must_be_file

    path = must_be_file(settings_from(config).store, "back it up with pg_dump or pg_basebackup")
    if into is not None:
        from bridge.app.cli.commands.db_backups import back_up_into

        back_up_into(path, into, keep)
    if target is None:
        return

    from bridge.store.maintenance import backup

    backup(path, target)
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
    from bridge.app.opening import must_be_file
    from bridge.store.maintenance import create

    path = must_be_file(settings_from(config).store, "name an empty database")
    aside = create(path)
    click.echo(f"Created: {path}")
    if aside is not None:
        click.echo(f"The old store is now: {aside}")


@command.command("restore")
@click.argument("source", type=click.Path(path_type=Path))
@click.option("--at", metavar="TIME", help="Of a folder: the newest backup until this time.")
@config_option
def restore(source: Path, at: str | None, config: Path) -> None:
    """Replace the store by a backup; the old store is renamed, not removed.

    SOURCE is a file, or a folder that `db backup --into` wrote: then files that are missing are put
    back, too. Stop the bridge first. At the next start the bridge catches up with what platforms
    still deliver from the time since the backup.

    \b
    Examples:
      uacs-bridge db restore /backups/bridge-2026-11-21.sqlite3
      uacs-bridge db restore /backups/bridge --at 2026-11-21T08:00Z
    """
    from bridge.app.cli.commands.options import seconds_of
    from bridge.app.opening import must_be_file
    from bridge.store.maintenance import restore

    path = must_be_file(settings_from(config).store, "restore it with pg_restore")
    until = seconds_of("--at", at)
    if source.is_dir():
        from bridge.app.cli.commands.db_backups import restore_from_folder

        aside = restore_from_folder(source, path, until)
    elif at is not None:
        raise click.UsageError("--at chooses a backup of a folder; SOURCE is no folder")
    else:
        aside = restore(source, path)
    click.echo(f"Restored: {path}")
    if aside is not None:
        click.echo(f"The old store is now: {aside}")


@command.command("backups")
@click.argument("folder", type=_FOLDER)
@click.option("--verify", is_flag=True, help="Read the newest one, and compare all digests.")
@json_option
def backups(folder: Path, verify: bool, as_json: bool) -> None:
    """List the backups in a folder that `db backup --into` wrote.

    \b
    Examples:
      uacs-bridge db backups /backups/bridge --verify
    """
    from bridge.app.cli.commands.db_backups import list_backups

    if not list_backups(folder, with_verification=verify, as_json=as_json):
        raise SystemExit(1)


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
    import asyncio
    import dataclasses

    from bridge.app.opening import size_of, sizes_by_subject
    from bridge.app.printing import bytes_text, print_json, table

    settings = settings_from(config).store
    whole = asyncio.run(size_of(settings))
    subjects = asyncio.run(sizes_by_subject(settings))
    if as_json:
        print_json({**dataclasses.asdict(whole), "subjects": dict(subjects)})
        return
    rows = [(subject, bytes_text(own)) for subject, own in subjects.items()]
    rows += [("free pages", bytes_text(whole.free)), ("write-ahead log", bytes_text(whole.log))]
    rows.append((f"{whole.file_count:,} files", bytes_text(whole.files)))
    if settings.blobs is not None:
        rows.append(files_text(settings))
    click.echo(table(("what", "size"), rows, indent=""))


@command.command("check")
@click.argument("store", type=_FILE, required=False)
@click.option("--files", type=_FOLDER, help="The folder of the store's files.")
@click.option("--no-files", is_flag=True, help="Do not read the files.")
@config_option
@json_option
def check(
    store: Path | None, files: Path | None, no_files: bool, config: Path, as_json: bool
) -> None:
    """Examine the whole store, or a backup of it, and say what is damaged.

    Compares the database's pages, the rows of its tables with one another, conversations, the
    search index, the hash chain, sealed values, and each file that the store names with its digest.
    The bridge may run meanwhile; nothing is changed. Files that nothing names are counted. The
    command fails if anything is damaged.

    \b
    Examples:
      uacs-bridge db check
      uacs-bridge db check /backups/bridge-2026-11-21.sqlite3 --files /backups/bridge.blobs
    """
    from bridge.app.cli.commands.db_check import examine
    from bridge.app.opening import must_be_file

    settings = settings_from(config).store
    path = must_be_file(settings, "pg_amcheck checks it") if store is None else settings.path
    if not examine(path, store, files, with_files=not no_files, as_json=as_json):
        raise SystemExit(1)


@command.command("reindex")
@config_option
def reindex(config: Path) -> None:
    """Build the search index anew, from the messages.

    Stop the bridge first. `db check` says when that is needed.

    \b
    Examples:
      uacs-bridge db reindex
    """
    from bridge.app.opening import must_be_file
    from bridge.store.maintenance import reindex

    path = must_be_file(settings_from(config).store, "REINDEX in the database builds it anew")
    reindex(path)
    click.echo(f"The search index of {path} is built anew")


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
    from bridge.app.opening import must_be_file
    from bridge.app.printing import bytes_text
    from bridge.store.maintenance import vacuum
    from bridge.store.sizes import size_of

    path = must_be_file(settings_from(config).store, "its server does so by itself, or VACUUM FULL")
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
    from bridge.app.opening import must_be_file
    from bridge.store.maintenance import encrypt
    from bridge.store.vault import vault_of

    settings = settings_from(config).store
    path = must_be_file(settings, "encrypt the disk of its server")
    files = encrypt(path, recrypt_in_bucket(settings))
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
    from bridge.app.opening import must_be_file
    from bridge.store.maintenance import decrypt

    settings = settings_from(config).store
    path = must_be_file(settings, "only its server can decrypt it")
    files = decrypt(path, recrypt_in_bucket(settings))
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
    from bridge.app.opening import must_be_file
    from bridge.store.maintenance import change_key

    path = must_be_file(settings_from(config).store, "only its server has a key")
    change_key(path)
    click.echo(f"The key of {path} is changed: put the new one into UACS_BRIDGE_STORE_KEY")


@command.command("copy")
@click.argument("target", metavar="TO")
@click.option("--store", type=_FILE, help="The SQLite file, in place of the configuration's.")
@click.option("--password-env", metavar="NAME", help="The variable with the database's password.")
@config_option
def copy(target: str, store: Path | None, password_env: str | None, config: Path) -> None:
    """Copy an SQLite store into a PostgreSQL database, also while a bridge uses it.

    TO is postgresql://USER@HOST:PORT/DATABASE, an empty database; its password is in PGPASSWORD, a
    password file, or the variable of --password-env. A call that was interrupted is continued by
    the next one, and a later call brings over what has changed since. So a move takes a short
    stop only: copy, stop the bridge, copy again, set store.url, start.

    At the end it compares both stores; the exit code is 1 if they differ.

    \b
    Examples:
      uacs-bridge db copy postgresql://bridge@db.example/bridge
      uacs-bridge db copy postgresql://bridge@db.example/bridge --store old.sqlite3
    """
    import asyncio
    import time

    from bridge.app.cli.commands.stores import store_of
    from bridge.app.opening import address_of, must_be_file
    from bridge.app.printing import table

    path = must_be_file(store_of(store, config), "name the SQLite file with --store")
    address = asyncio.run(address_of(_database(target, password_env)))
    from bridge.store.postgresql.copying import copy_store

    began = time.monotonic()
    with _progress() as shown:
        report = copy_store(path, address, shown)
    rows = [(name, f"{count:,}") for name, count in report.rows.items() if count]
    click.echo(table(("table", "rows"), rows, indent=""))
    click.echo(
        f"{sum(report.rows.values()):,} rows equal, {report.copied:,} of {report.pieces:,} pieces "
        f"copied, {time.monotonic() - began:.1f} s"
    )
    if report.in_use:
        click.echo(f"A bridge uses {path}: stop it and run this once more, which takes less time")
    else:
        click.echo(f"The move is complete: set store.url to {target} and start the bridge")


def _database(url: str, password_env: str | None) -> StoreSettings:
    """Raises ConfigError for what is no address."""
    from urllib.parse import urlsplit

    from bridge.app.settings.store import StoreSettings
    from bridge.errors import ConfigError
    from bridge.model.secret_refs import SecretRef

    parts = urlsplit(url)
    if parts.scheme not in ("postgresql", "postgres"):
        raise ConfigError("TO is no address of a database: postgresql://USER@HOST/DATABASE")
    if parts.password is not None:
        raise ConfigError(
            "Other users of this machine can read the command line; put the password into an "
            "environment variable and name it: --password-env NAME"
        )
    return StoreSettings(url=url, password=SecretRef(env=password_env) if password_env else None)


@contextmanager
def _progress() -> Generator[Callable[[Progress], None]]:
    """A bar on stderr, where that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    with click.progressbar(length=1, label="Copy", file=sys.stderr) as bar:

        def show(progress: Progress) -> None:
            bar.length = progress.total
            bar.update(progress.done - bar.pos)

        yield show
