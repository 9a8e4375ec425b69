"""`uacs-bridge archive import`, `export`, `convert` and `formats`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import click

from bridge.app.cli.commands.options import config_option, json_option, seconds_of, settings_from
from bridge.errors import ConfigError

if TYPE_CHECKING:
    from bridge.app.archive.transfer import Archive
    from bridge.archive.exporting import ExportReport
    from bridge.archive.importing import ImportReport, Progress
    from bridge.content.safety.personal_data import Kind
    from bridge.model.export_records import ArchiveFilter
    from bridge.ports.exports import ExportFormat, ReadOptions

Command = TypeVar("Command", bound=Callable[..., Any])
_PATH = click.Path(path_type=Path)


def _store_option(command: Command) -> Command:
    return click.option(
        "--store", type=_PATH, help="The store's file, instead of the one of the configuration."
    )(command)


def _reading_options(command: Command) -> Command:
    """What an export does not say itself."""
    for option in (
        click.option("--workspace", metavar="ID", help="The workspace, guild, tenant or network of "
                     "an export that does not say it."),
        click.option("--timezone", metavar="NAME", help="The time zone of times without one, such "
                     "as Europe/Berlin."),
    ):  # fmt: skip
        command = option(command)
    return command


def _files_option(command: Command) -> Command:
    return click.option(
        "--files/--no-files", default=True, show_default=True, help="With the files of messages."
    )(command)


def _redact_option(command: Command) -> Command:
    return click.option(
        "--redact", metavar="KINDS",
        help="Without personal data in texts: any of email,phone,card,iban,key, or all.",
    )(command)  # fmt: skip


@click.command("import")
@click.argument("path", type=_PATH)
@click.option("--format", "name", help="The format; otherwise it is recognised.")
@_reading_options
@_files_option
@_store_option
@config_option
@json_option
def import_(
    path: Path,
    name: str | None,
    workspace: str | None,
    timezone: str | None,
    files: bool,
    store: Path | None,
    config: Path,
    as_json: bool,
) -> None:
    """Add the messages of an export to the archive.

    Messages that the archive has already stay one, whether they came live or from an import. An
    import that was stopped goes on where it was; files of an export that did not change since are
    skipped. Nothing is sent to any channel or agent. The bridge must not run meanwhile.

    \b
    Examples:
      uacs-bridge archive import acme-export.zip
      uacs-bridge archive import discord-exports/
      uacs-bridge archive import messages.json --workspace TENANT-ID
      uacs-bridge archive import acme-export.zip --store archive.sqlite3
    """
    from bridge.app.archive.transfer import import_file

    archive = _archive(store, config)
    form = _format_of(path, name)
    with _progress() as shown:
        report = asyncio.run(
            import_file(
                path,
                form,
                _options(workspace, timezone),
                archive,
                key=_key(archive),
                files=files,
                on_progress=shown,
            )
        )
    _tell_import(report, form, as_json=as_json)


@click.command("export")
@click.argument("target", type=_PATH)
@click.option("--format", "name", required=True, help="The format; `archive formats` lists them.")
@click.option(
    "--only", "names", metavar="NAME", multiple=True,
    help="A room, or a channel by its name or key; several times for several.",
)  # fmt: skip
@click.option("--since", metavar="TIME", help="From this time on (2026-01-31, 2026-01-31T08:00Z).")
@click.option("--until", metavar="TIME", help="Before this time.")
@click.option("--deleted", is_flag=True, help="With deleted messages, where the format has them.")
@_files_option
@_redact_option
@_store_option
@config_option
@json_option
def export(
    target: Path,
    name: str,
    names: tuple[str, ...],
    since: str | None,
    until: str | None,
    deleted: bool,
    files: bool,
    redact: str | None,
    store: Path | None,
    config: Path,
    as_json: bool,
) -> None:
    """Write the archive, or a part of it, as an export.

    Writes TARGET and, beside it, TARGET.sha256 with the digests of all files, for `sha256sum
    --check`. Each room becomes one channel of the export; so does each channel that is in no room.
    Private messages (whispers, `dm`) are not exported. The bridge may run meanwhile.

    \b
    Examples:
      uacs-bridge archive export archive.jsonl --format uacs-lines
      uacs-bridge archive export chats.jsonl --format openai-chat --redact email,phone
      uacs-bridge archive export general.zip --format slack-zip --only general --since 2026-01-01
    """
    from bridge.app.archive.formats import format_named
    from bridge.app.archive.transfer import export_file
    from bridge.app.cli.commands.stores import note_access

    archive = _archive(store, config)
    form = format_named(name)
    selection = _filter(since, until, deleted=deleted)
    facts = {"format": name, "only": names, "since": since, "until": until, "redact": redact}
    note_access(archive.store, config, "export", target=str(target), **facts)
    report = asyncio.run(
        export_file(
            target,
            form,
            archive,
            selection,
            names=names or None,
            files=files,
            redact=_kinds(redact),
        )
    )
    _tell_export(report, target, as_json=as_json)


@click.command("convert")
@click.argument("source", type=_PATH)
@click.argument("target", type=_PATH)
@click.option("--from", "read", metavar="FORMAT", help="The format of SOURCE; otherwise it is "
              "recognised.")  # fmt: skip
@click.option("--to", "written", metavar="FORMAT", required=True, help="The format of TARGET.")
@_reading_options
@_files_option
@_redact_option
@json_option
def convert(
    source: Path,
    target: Path,
    read: str | None,
    written: str,
    workspace: str | None,
    timezone: str | None,
    files: bool,
    redact: str | None,
    as_json: bool,
) -> None:
    """Convert an export into another format, without a configuration or a bridge.

    \b
    Examples:
      uacs-bridge archive convert acme-export.zip acme.jsonl --to uacs-lines
    """
    from bridge.app.archive.formats import format_named
    from bridge.app.archive.transfer import convert_file

    form = _format_of(source, read)
    to = format_named(written)
    with _progress() as shown:
        imported, exported = asyncio.run(
            convert_file(
                source,
                form,
                _options(workspace, timezone),
                target,
                to,
                files=files,
                redact=_kinds(redact),
                on_progress=shown,
            )
        )
    _tell_import(imported, form, as_json=False, err=as_json)
    _tell_export(exported, target, as_json=as_json)


@click.command("formats")
@json_option
def formats(as_json: bool) -> None:
    """List the formats of exports, and whether they can be written.

    \b
    Examples:
      uacs-bridge archive formats
    """
    from bridge.app.archive.formats import export_formats
    from bridge.app.printing import print_json, table

    listed = export_formats()
    if as_json:
        print_json(
            [
                {"name": form.name, "title": form.title, "reads": form.reads, "writes": form.writes}
                for form in listed
            ]
        )
        return
    rows = [(form.name, form.title, ", ".join(_uses(form))) for form in listed]
    click.echo(table(("name", "format", "can be"), rows, indent=""))


def _uses(form: ExportFormat) -> list[str]:
    return [*(["read"] if form.reads else []), *(["write"] if form.writes else [])]


COMMANDS: Sequence[click.Command] = (import_, export, convert, formats)


# --- what the options say ---------------------------------------------------------------------


def _archive(store: Path | None, config: Path) -> Archive:
    from bridge.app.archive.transfer import Archive
    from bridge.app.cli.commands.stores import bucket_of

    path = settings_from(config).store.path if store is None else store
    return Archive(path, bucket_of(path, config))


def _kinds(redact: str | None) -> Sequence[Kind]:
    from bridge.content.safety.personal_data import KINDS

    if redact is None:
        return ()
    if redact == "all":
        return KINDS
    kinds = [name.strip() for name in redact.split(",")]
    if unknown := [name for name in kinds if name not in KINDS]:
        raise ConfigError(
            f"--redact {unknown[0]!r} is no kind; write some of {','.join(KINDS)}, or all"
        )
    return [kind for kind in KINDS if kind in kinds]


def _key(archive: Archive) -> bytes | None:
    from bridge.app.settings.keys import known_key

    return known_key(archive.store)


def _format_of(path: Path, name: str | None) -> ExportFormat:
    from bridge.app.archive.formats import format_named, format_of

    return format_of(path) if name is None else format_named(name)


def _options(workspace: str | None, timezone: str | None) -> ReadOptions:
    from bridge.ports.exports import ReadOptions

    try:
        zone = None if timezone is None else ZoneInfo(timezone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ConfigError(
            f"There is no time zone {timezone!r}; a name is such as Europe/Berlin or UTC"
        ) from None
    return ReadOptions(workspace, zone)


def _filter(since: str | None, until: str | None, *, deleted: bool) -> ArchiveFilter:
    from bridge.model.export_records import ArchiveFilter

    span = (seconds_of("--since", since), seconds_of("--until", until))
    return ArchiveFilter(*span, deleted=deleted)


# --- what is printed --------------------------------------------------------------------------


@contextmanager
def _progress() -> Generator[Callable[[Progress], None]]:
    """A bar on stderr, where that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    with click.progressbar(length=1, label="Import", file=sys.stderr) as bar:

        def show(progress: Progress) -> None:
            bar.length = max(progress.size, 1)
            bar.label = f"{progress.messages:,} messages"
            bar.update(progress.done - bar.pos)

        yield show


def _tell_import(
    report: ImportReport, form: ExportFormat, *, as_json: bool, err: bool = False
) -> None:
    if as_json:
        from bridge.app.printing import print_json

        print_json(_import_json(report, form))
        return
    counts = report.counts
    click.echo(
        f"{form.title}: {counts.added:,} messages added, {counts.changed:,} changed, "
        f"{counts.known:,} known already; {report.files:,} files",
        err=err,
    )
    if report.units_before:
        click.echo(f"{report.units_before:,} of {report.units:,} parts had been imported", err=err)
    for what, count in report.not_understood.most_common():
        first = report.examples[what][0]
        detail = f": {first.detail}" if first.detail else ""
        click.echo(f"Not understood: {count:,} x {what} (first: {first.where}{detail})", err=err)
    for unit, reason in report.unreadable:
        click.echo(f"Not readable: {unit}: {reason}", err=err)


def _import_json(report: ImportReport, form: ExportFormat) -> dict[str, Any]:
    counts = report.counts
    return {
        "format": form.name,
        "added": counts.added,
        "changed": counts.changed,
        "known": counts.known,
        "files": report.files,
        "parts": report.units,
        "parts_before": report.units_before,
        "not_understood": dict(report.not_understood),
        "unreadable": dict(report.unreadable),
    }


def _tell_export(report: ExportReport, target: Path, *, as_json: bool) -> None:
    if as_json:
        from bridge.app.printing import print_json

        print_json(
            {
                "target": str(target),
                "channels": report.channels,
                "messages": report.messages,
                "not_written": dict(report.not_written),
            }
        )
        return
    click.echo(f"Written: {target} ({report.channels:,} channels, {report.messages:,} messages)")
    for what, count in report.not_written.most_common():
        click.echo(f"Not in the format: {count:,} x {what}")
