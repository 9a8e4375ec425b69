"""The export formats of the installed connectors, and those of no platform."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path

from bridge.app.archive.chat_lines import CHAT_FORMATS
from bridge.archive.formats.html import Html
from bridge.archive.formats.markdown import Markdown
from bridge.archive.formats.matrix import Matrix
from bridge.archive.formats.mbox import Mbox
from bridge.archive.formats.parquet import Parquet
from bridge.archive.formats.uacs_json import UacsJson
from bridge.archive.formats.uacs_lines import UacsLines
from bridge.content.cards.reader import Cards
from bridge.errors import ConfigError, ExportUnreadable
from bridge.ports.exports import ExportFormat, HasExports
from bridge.runtime.discovery import CONNECTORS, connector_type, names_of

NEUTRAL: tuple[ExportFormat, ...] = (
    UacsLines(), UacsJson(), Matrix(), Html(), Markdown(), Mbox(), Parquet(), *CHAT_FORMATS,
)  # fmt: skip


def export_formats() -> Sequence[ExportFormat]:
    """Return all formats, those of platforms first."""
    formats: list[ExportFormat] = []
    for platform in names_of(CONNECTORS):
        kind = connector_type(platform)
        if isinstance(kind, HasExports):
            formats += kind.export_formats()
    return [*formats, *NEUTRAL]


def all_cards() -> Cards:
    """Return the reader of the rich payloads of all platforms; its buttons belong to no bridge."""
    return Cards.over((connector_type(name).codec() for name in names_of(CONNECTORS)), bytes(32))


def format_named(name: str) -> ExportFormat:
    """Return the format of this name. Raises ConfigError when there is none."""
    by_name = {form.name: form for form in export_formats()}
    if name in by_name:
        return by_name[name]
    nearest = difflib.get_close_matches(name, by_name, n=1, cutoff=0.5)
    hint = f" Did you mean {nearest[0]!r}?" if nearest else ""
    raise ConfigError(f"There is no format {name!r}.{hint} Formats: {', '.join(sorted(by_name))}")


def format_of(path: Path) -> ExportFormat:
    """Return the format that recognises a file or folder.

    Raises:
        ExportUnreadable: there is nothing, or no format recognises it.
    """
    if not path.exists():
        raise ExportUnreadable(f"There is no file or folder {str(path)!r}")
    for form in export_formats():
        if form.recognises(path):
            return form
    names = ", ".join(sorted(form.name for form in export_formats()))
    raise ExportUnreadable(
        f"{str(path)!r} is of no format that the bridge knows. If you know its format, name it "
        f"with --format: {names}"
    )
