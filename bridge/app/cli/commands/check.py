"""`uacs-bridge check`: find every problem before the start."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bridge.app.cli.commands.options import (
    config_option,
    env_file_option,
    json_option,
    quiet_settings_from,
)
from bridge.app.printing import heading, many, print_json, printable
from bridge.errors import ConfigError
from bridge.ports.findings import Finding

if TYPE_CHECKING:
    from bridge.app.checks.examine import Chapter

_COLOURS = {"ok": "green", "warning": "yellow", "error": "red"}


@click.command("check")
@config_option
@env_file_option
@click.option(
    "--offline", is_flag=True, help="Send no requests: check the file, secrets and packages."
)
@json_option
def command(config: Path, env_file: Path | None, offline: bool, as_json: bool) -> None:
    """Find problems before the start, and say how to solve them.

    Asks the platforms for tokens, scopes, intents, permissions and channels, sends one cheap
    request to the API of each agent, and starts each tool server until it has listed its tools.
    Changes nothing, and can run beside a running bridge. Exits with 1 if there is an error: `run`
    would refuse to start, or would report it.

    \b
    Examples:
      uacs-bridge check -c bridge.yaml
      uacs-bridge check -c bridge.yaml --offline
      uacs-bridge check --json
    """
    chapters = _chapters(config, env_file, offline=offline)
    failed = any(finding.level == "error" for _, findings in chapters for finding in findings)
    if as_json:
        print_json({"ok": not failed, "findings": list(_facts(chapters))})
    else:
        click.echo("\n".join(_lines(chapters)))
    raise SystemExit(1 if failed else 0)


def _chapters(config: Path, env_file: Path | None, *, offline: bool) -> list[Chapter]:
    """Every chapter that could be examined; only one if the configuration is not valid."""
    try:
        settings = quiet_settings_from(config, env_file)
    except ConfigError as error:
        todo = "correct it, then run check again: everything else depends on it"
        return [("Configuration", [Finding("error", str(error), todo)])]

    from bridge.app.checks.examine import examine

    return asyncio.run(examine(config, settings, offline=offline))


def _facts(chapters: Sequence[Chapter]) -> Iterator[dict[str, str]]:
    for about, findings in chapters:
        for finding in findings:
            yield {
                "about": about,
                "level": finding.level,
                "what": finding.what,
                "todo": finding.todo,
            }


def _lines(chapters: Sequence[Chapter]) -> Iterator[str]:
    counts = {"error": 0, "warning": 0}
    for about, findings in chapters:
        yield heading(about)
        for finding in findings:
            counts[finding.level] = counts.get(finding.level, 0) + 1
            level = click.style(f"{finding.level:7}", fg=_COLOURS[finding.level])
            first, *more = finding.what.splitlines() or [""]
            yield f"  {level}  {printable(first)}"
            yield from (f"           {printable(line)}" for line in more)
            if finding.todo and finding.level != "ok":
                yield f"           -> {printable(finding.todo)}"
        yield ""
    errors, warnings = counts["error"], counts["warning"]
    yield (
        f"{many(errors, 'error')}, {many(warnings, 'warning')}"
        if errors or warnings
        else "No problems found"
    )
